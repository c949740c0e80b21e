//! Devices on which nothing is recognised, or a partition table alone, and that a repair or a
//! backup would bring back: file systems without their superblock, disks without their table, data
//! without a file system. Made by the programs that make them, then damaged.

use super::fixture::{Build, HostileFixture, MIB, put, run, shell};
use super::{State, accepted_only_with, consent, listed, only_with, roots, vet};
use fsarena_devices::image::Image;
use fsarena_devices::inventory::{Verdict, survey};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

/// A state: made by a program, then overwritten with zeros.
struct Damaged {
    name: &'static str,
    size_mib: u64,
    /// Shell command on the image `$1`.
    script: &'static str,
    /// Place and length in bytes; a place below zero counts from the end.
    zeroed: &'static [(i64, u64)],
    /// What has to be named; `?` marks what only some versions of libblkid see.
    exact: &'static [&'static str],
    /// Part of the refusal.
    says: &'static str,
}

const KIB: u64 = 1 << 10;

const LUKS1: &str =
    "echo x | cryptsetup -q luksFormat --type luks1 --pbkdf-force-iterations 1000 $1 -";
const LUKS2: &str = "echo x | cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 \
                     --pbkdf-force-iterations 1000 $1 -";
const DOS_WITH_EXT4: &str =
    "echo 'label: dos\n2048,12M' | sfdisk -q $1; mke2fs -q -F -t ext4 -E offset=1048576 $1 12M";
const GPT_WITH_EXT4: &str =
    "echo 'label: gpt\n2048,12M' | sfdisk -q $1; mke2fs -q -F -t ext4 -E offset=1048576 $1 12M";

/// File systems without their first superblock, whose copies are good.
const WITH_COPIES: &[Damaged] = &[
    Damaged {
        name: "ext4 without its superblock",
        size_mib: 16,
        script: "mke2fs -q -F -t ext4 -b 1024 $1",
        zeroed: &[(1024, 1024)],
        exact: &["ext4", "unknown"],
        says: "ext4: a copy of the superblock, at byte 8389632 (rescue: e2fsck -b 8193 -B 1024",
    },
    Damaged {
        name: "ext4 without its first 64 KiB",
        size_mib: 16,
        script: "mke2fs -q -F -t ext4 -b 1024 $1",
        zeroed: &[(0, 64 * KIB)],
        exact: &["ext4", "unknown"],
        says: "e2fsck -b 8193",
    },
    Damaged {
        name: "ext4 without its first block group",
        size_mib: 32,
        script: "mke2fs -q -F -t ext4 -b 1024 $1",
        zeroed: &[(0, 9 * MIB)],
        exact: &["ext4", "unknown?"],
        says: "e2fsck -b 24577",
    },
    Damaged {
        name: "ext4 with blocks of 4 KiB without its first MiB",
        size_mib: 136,
        script: "mke2fs -q -F -t ext4 -b 4096 $1",
        zeroed: &[(0, MIB)],
        exact: &["ext4", "unknown?"],
        says: "e2fsck -b 32768 -B 4096",
    },
    Damaged {
        name: "ext4 with blocks of 2 KiB without its superblock",
        size_mib: 48,
        script: "mke2fs -q -F -t ext4 -b 2048 $1",
        zeroed: &[(1024, 1024)],
        exact: &["ext4", "unknown"],
        says: "e2fsck -b 16384 -B 2048",
    },
    Damaged {
        name: "ext4 with two copies alone without its first two block groups",
        size_mib: 96,
        script: "mke2fs -q -F -t ext4 -b 1024 -O sparse_super2 $1",
        zeroed: &[(0, 17 * MIB)],
        exact: &["ext4", "unknown?"],
        says: "e2fsck -b 90113",
    },
    Damaged {
        name: "ext3 without its superblock",
        size_mib: 16,
        script: "mke2fs -q -F -t ext3 -b 1024 $1",
        zeroed: &[(1024, 1024)],
        exact: &["ext3", "unknown"],
        says: "e2fsck",
    },
    Damaged {
        name: "ext2 without its superblock",
        size_mib: 16,
        script: "mke2fs -q -F -t ext2 -b 1024 $1",
        zeroed: &[(1024, 1024)],
        exact: &["ext2", "unknown"],
        says: "e2fsck",
    },
    Damaged {
        name: "xfs without its first sector",
        size_mib: 300,
        script: "mkfs.xfs -q $1",
        zeroed: &[(0, 512)],
        exact: &["xfs", "unknown"],
        says: "a later allocation group, at byte 78643200 (rescue: xfs_repair",
    },
    Damaged {
        name: "xfs without its first allocation group",
        size_mib: 300,
        script: "mkfs.xfs -q $1",
        zeroed: &[(0, 75 * MIB)],
        exact: &["xfs", "unknown?"],
        says: "xfs_repair",
    },
    Damaged {
        name: "xfs with its last allocation group alone",
        size_mib: 300,
        script: "mkfs.xfs -q $1",
        zeroed: &[(0, 225 * MIB)],
        exact: &["xfs", "unknown?"],
        says: "at byte 235929600 (rescue: xfs_repair",
    },
    Damaged {
        name: "xfs with three allocation groups without the first",
        size_mib: 300,
        script: "mkfs.xfs -q -d agcount=3 $1",
        zeroed: &[(0, 90 * MIB)],
        exact: &["xfs", "unknown?"],
        says: "xfs_repair",
    },
    Damaged {
        name: "a dos table over the first sector of an xfs",
        size_mib: 300,
        script: "mkfs.xfs -q $1; dd if=/dev/zero of=$1 bs=512 count=1 conv=notrunc; \
                 echo ',8M' | sfdisk -q --label dos --wipe never --force $1",
        zeroed: &[],
        exact: &["dos", "unknown?", "xfs"],
        says: "xfs_repair",
    },
    Damaged {
        name: "btrfs without its first superblock",
        size_mib: 80,
        script: "mkfs.btrfs -q -M $1",
        zeroed: &[(64 * 1024, 4096)],
        exact: &["btrfs", "unknown"],
        says: "at byte 67108864 (rescue: btrfs rescue super-recover",
    },
    Damaged {
        name: "btrfs without its first MiB",
        size_mib: 128,
        script: "mkfs.btrfs -q $1",
        zeroed: &[(0, MIB)],
        exact: &["btrfs", "unknown?"],
        says: "btrfs rescue super-recover",
    },
    Damaged {
        name: "f2fs without its first superblock",
        size_mib: 64,
        script: "mkfs.f2fs -q $1",
        zeroed: &[(1024, 3072)],
        exact: &["f2fs", "unknown"],
        says: "f2fs: the second superblock, at byte 5120 (rescue: fsck.f2fs",
    },
    Damaged {
        name: "jfs without its first superblock",
        size_mib: 16,
        script: "mkfs.jfs -q $1",
        zeroed: &[(0x8000, 4096)],
        exact: &["jfs", "unknown"],
        says: "at byte 61440 (rescue: jfs_fsck",
    },
    Damaged {
        name: "nilfs2 without its first superblock",
        size_mib: 129,
        script: "mkfs.nilfs2 -q $1",
        zeroed: &[(1024, 1024)],
        exact: &["nilfs2"],
        says: "nilfs2",
    },
    Damaged {
        name: "ntfs without its boot sector",
        size_mib: 16,
        script: "mkntfs -q -Q -F $1",
        zeroed: &[(0, 512)],
        exact: &["ntfs", "unknown"],
        says: "ntfs: the boot sector at the end, at byte 16776704 (rescue: ntfsfix",
    },
    Damaged {
        name: "ntfs without its first MiB",
        size_mib: 16,
        script: "mkntfs -q -Q -F $1",
        zeroed: &[(0, MIB)],
        exact: &["ntfs", "unknown"],
        says: "ntfsfix",
    },
    Damaged {
        name: "exfat without its boot sector",
        size_mib: 16,
        script: "mkfs.exfat $1",
        zeroed: &[(0, 512)],
        exact: &["exfat", "unknown"],
        says: "exfat: the backup boot sector, at byte 6144 (rescue: fsck.exfat",
    },
    Damaged {
        name: "exfat without its boot region",
        size_mib: 16,
        script: "mkfs.exfat $1",
        zeroed: &[(0, 12 * 512)],
        exact: &["exfat", "unknown"],
        says: "fsck.exfat",
    },
    Damaged {
        name: "vfat 32 without its boot sector",
        size_mib: 40,
        script: "mkfs.vfat -F 32 $1",
        zeroed: &[(0, 512)],
        exact: &["unknown", "vfat"],
        says: "vfat: the backup boot sector, at byte 3072 (rescue: a copy",
    },
    Damaged {
        name: "vfat 32 without its first 3 KiB",
        size_mib: 40,
        script: "mkfs.vfat -F 32 $1",
        zeroed: &[(0, 3072)],
        exact: &["unknown", "vfat"],
        says: "fsck.fat",
    },
    Damaged {
        name: "hfs without its master directory block",
        size_mib: 16,
        script: "HOME=$(dirname $1) hformat $1",
        zeroed: &[(1024, 512)],
        exact: &["hfs", "unknown"],
        says: "at byte 16776192 (rescue: fsck.hfs",
    },
    Damaged {
        name: "hfs without its first MiB",
        size_mib: 16,
        script: "HOME=$(dirname $1) hformat $1",
        zeroed: &[(0, MIB)],
        exact: &["hfs", "unknown"],
        says: "fsck.hfs",
    },
    Damaged {
        name: "hfs+ without its volume header",
        size_mib: 16,
        script: "mkfs.hfsplus $1",
        zeroed: &[(1024, 512)],
        exact: &["hfsplus", "unknown"],
        says: "fsck.hfsplus",
    },
    Damaged {
        name: "ufs without its first superblock",
        size_mib: 16,
        script: "mkdir $1.d; makefs -t ffs -o version=2 -s 16m $1.u $1.d; \
                 dd if=$1.u of=$1 conv=notrunc",
        zeroed: &[(8192, 8192)],
        exact: &["ufs", "unknown"],
        says: "ufs: a copy of the superblock, at byte 16384 (rescue: fsck_ffs -b 32",
    },
];

/// Disks without their partition table, or with half of it.
const WITHOUT_TABLE: &[Damaged] = &[
    Damaged {
        name: "gpt of a disk that was grown",
        size_mib: 32,
        script: "truncate -s 16M $1; echo 'label: gpt\n,8M' | sfdisk -q $1; truncate -s 32M $1",
        zeroed: &[],
        exact: &["gpt"],
        says: "gpt",
    },
    Damaged {
        name: "gpt copy in the middle of a disk that was grown",
        size_mib: 32,
        script: "truncate -s 16M $1; echo 'label: gpt\n,8M' | sfdisk -q $1; truncate -s 32M $1",
        zeroed: &[(0, MIB)],
        exact: &["gpt", "unknown?"],
        says: "the table that ended a smaller disk, at byte 16773120 (rescue: gdisk",
    },
    Damaged {
        name: "gpt copy in the middle of a disk that became larger by a third",
        size_mib: 32,
        script: "truncate -s 24M $1; echo 'label: gpt\n,8M' | sfdisk -q $1; truncate -s 32M $1",
        zeroed: &[(0, MIB)],
        exact: &["gpt", "unknown?"],
        says: "gdisk",
    },
    Damaged {
        name: "ext4 at 1 MiB behind a zeroed MBR",
        size_mib: 16,
        script: DOS_WITH_EXT4,
        zeroed: &[(0, 512)],
        exact: &["ext4", "unknown"],
        says: "at byte 1048576 (rescue: sfdisk, with a partition that begins at byte 1048576",
    },
    Damaged {
        name: "ext4 at 1 MiB behind an MBR without entries",
        size_mib: 16,
        script: DOS_WITH_EXT4,
        zeroed: &[(446, 64)],
        exact: &["dos?", "ext4", "unknown"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "ext4 at 1 MiB behind a gpt that is gone",
        size_mib: 16,
        script: GPT_WITH_EXT4,
        zeroed: &[(0, 64 * KIB), (-65536, 64 * KIB)],
        exact: &["ext4", "unknown"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "ext4 at 1 MiB behind a protective MBR alone",
        size_mib: 16,
        script: GPT_WITH_EXT4,
        zeroed: &[(512, 64 * KIB), (-65536, 64 * KIB)],
        exact: &["PMBR", "ext4", "unknown"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "ext4 at sector 63 behind a zeroed MBR",
        size_mib: 16,
        script: "mke2fs -q -F -t ext4 -E offset=32256 $1 12M",
        zeroed: &[],
        exact: &["ext4", "unknown"],
        says: "a partition that begins at byte 32256",
    },
    Damaged {
        name: "ntfs at 1 MiB behind a zeroed MBR",
        size_mib: 16,
        script: "truncate -s 12M $1.p; mkntfs -q -Q -F $1.p; dd if=$1.p of=$1 bs=1M seek=1",
        zeroed: &[],
        exact: &["ntfs", "unknown"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "vfat at 1 MiB behind a zeroed MBR",
        size_mib: 16,
        script: "truncate -s 12M $1.p; mkfs.vfat -F 16 $1.p; dd if=$1.p of=$1 bs=1M seek=1",
        zeroed: &[],
        exact: &["unknown?", "vfat"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "exfat at 1 MiB behind a zeroed MBR",
        size_mib: 16,
        script: "truncate -s 12M $1.p; mkfs.exfat $1.p; dd if=$1.p of=$1 bs=1M seek=1",
        zeroed: &[],
        exact: &["exfat", "unknown"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "btrfs at 1 MiB behind a zeroed MBR",
        size_mib: 24,
        script: "truncate -s 20M $1.p; mkfs.btrfs -q -M $1.p; dd if=$1.p of=$1 bs=1M seek=1",
        zeroed: &[],
        exact: &["btrfs", "unknown"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "f2fs at 1 MiB behind a zeroed MBR",
        size_mib: 64,
        script: "truncate -s 60M $1.p; mkfs.f2fs -q $1.p; dd if=$1.p of=$1 bs=1M seek=1",
        zeroed: &[],
        exact: &["f2fs", "unknown"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "luks 1 at 1 MiB behind a zeroed MBR",
        size_mib: 16,
        script: "truncate -s 12M $1.p; echo x | cryptsetup -q luksFormat --type luks1 \
                 --pbkdf-force-iterations 1000 $1.p -; dd if=$1.p of=$1 bs=1M seek=1",
        zeroed: &[],
        exact: &["crypto_LUKS", "unknown"],
        says: "a partition that begins at byte 1048576",
    },
    Damaged {
        name: "swap at 1 MiB behind a zeroed MBR",
        size_mib: 16,
        script: "truncate -s 12M $1.p; mkswap $1.p; dd if=$1.p of=$1 bs=1M seek=1",
        zeroed: &[],
        exact: &["swap", "unknown?"],
        says: "a partition that begins at byte 1048576",
    },
];

/// Headers of encryption that are damaged.
const LUKS: &[Damaged] = &[
    Damaged {
        name: "luks 1 without its magic number",
        size_mib: 16,
        script: LUKS1,
        zeroed: &[(0, 6)],
        exact: &["crypto_LUKS", "unknown"],
        says: "crypto_LUKS: a header without its magic number, at byte 0 (rescue: LUKS",
    },
    Damaged {
        name: "luks 2 without its first magic number",
        size_mib: 20,
        script: LUKS2,
        zeroed: &[(0, 6)],
        exact: &["crypto_LUKS"],
        says: "crypto_LUKS",
    },
    Damaged {
        name: "luks 2 without its first header",
        size_mib: 20,
        script: LUKS2,
        zeroed: &[(0, 16 * KIB)],
        exact: &["crypto_LUKS"],
        says: "crypto_LUKS",
    },
    Damaged {
        name: "luks 2 without both magic numbers",
        size_mib: 20,
        script: LUKS2,
        zeroed: &[(0, 6), (16384, 6)],
        exact: &["crypto_LUKS", "unknown"],
        says: "crypto_LUKS: the description of key slots, at byte 4096 (rescue: LUKS",
    },
];

/// Contents without any signature or copy of one.
const CONTENTS: &[Damaged] = &[
    unknown("a raw tar", "tar cf - /etc/apt | dd of=$1 conv=notrunc", &[]),
    unknown(
        "a raw tar in the middle",
        "head -c 300000 /bin/sh > $1.f; tar cf - $1.f | dd of=$1 conv=notrunc bs=1M seek=7",
        &[],
    ),
    unknown("a compressed tar", "tar czf - /etc/apt | dd of=$1 conv=notrunc", &[]),
    unknown("text", "cat /etc/passwd | dd of=$1 conv=notrunc", &[]),
    unknown("random bytes behind a MiB of zeros", "head -c 16M /dev/urandom > $1", &[(0, MIB)]),
    unknown(
        "random bytes between two MiB of zeros",
        "head -c 16M /dev/urandom > $1",
        &[(0, MIB), (-1_048_576, MIB)],
    ),
    unknown("erased flash", "head -c 16M /dev/zero | tr '\\000' '\\377' > $1", &[]),
    unknown("one byte at the end", "printf x | dd of=$1 bs=1 seek=16777215 conv=notrunc", &[]),
    unknown("swap without its magic number", "mkswap $1", &[(4086, 10)]),
    unknown("minix 3 without its superblock", "mkfs.minix -3 $1", &[(1024, 1024)]),
    unknown("vfat 16 without its boot sector", "mkfs.vfat -F 16 $1", &[(0, 512)]),
    unknown(
        "squashfs without its superblock",
        "mksquashfs /etc/apt $1.s -quiet; dd if=$1.s of=$1 conv=notrunc",
        &[(0, 96)],
    ),
    unknown(
        "erofs without its superblock",
        "mkfs.erofs $1.e /etc/apt; dd if=$1.e of=$1 conv=notrunc",
        &[(1024, 128)],
    ),
    Damaged {
        name: "reiserfs without its superblock",
        size_mib: 48,
        script: "mkreiserfs -q -ff $1",
        zeroed: &[(65536, 4096)],
        exact: &["unknown"],
        says: UNEXPLAINED,
    },
    Damaged {
        name: "a raw tar behind a dos table without partitions",
        size_mib: 16,
        script: "head -c 3000000 /dev/urandom > $1.f; \
                 tar cf - $1.f | dd of=$1 conv=notrunc bs=1M seek=4; \
                 echo 'label: dos' | sfdisk -q --wipe never $1",
        zeroed: &[],
        exact: &["dos", "unknown"],
        says: UNEXPLAINED,
    },
];

const UNEXPLAINED: &str = "contents that no signature explains, at byte";

/// A state of 16 MiB that takes the word for what is not known alone.
const fn unknown(
    name: &'static str,
    script: &'static str,
    zeroed: &'static [(i64, u64)],
) -> Damaged {
    Damaged { name, size_mib: 16, script, zeroed, exact: &["unknown"], says: UNEXPLAINED }
}

/// All of them, or every fourth of the tables.
pub fn states(is_full: bool) -> Vec<State> {
    let tables = [WITH_COPIES, WITHOUT_TABLE, LUKS, CONTENTS];
    let rows = tables.into_iter().flatten().step_by(if is_full { 1 } else { 4 });
    let mut states: Vec<State> =
        rows.map(|row| State::new(row.name, move |fixture| damaged(fixture, row))).collect();
    states.extend([
        State::new("alternate volume header of hfs+ alone", |fixture| {
            let image = fixture.image("image", 16 * MIB);
            put(&image, 16 * MIB - 1024, b"H+\0\x04");
            let device = fixture.attach(&image, &[])?;
            only_with(&device, &image, &["hfsplus", "unknown"]);
            Ok(())
        }),
        State::new("LVM physical volume", |fixture| {
            physical_volume(fixture, &[], &["LVM2_member"], "LVM2_member")
        }),
        State::new("LVM physical volume without its label", |fixture| {
            let says = "metadata of a volume group, at byte 4096 (rescue: pvck";
            physical_volume(fixture, &[(0, 4 * KIB)], &["LVM2_member", "unknown"], says)
        }),
        State::new("LVM physical volume without its first MiB", |fixture| {
            let says = "metadata of a volume group, at byte 32505856 (rescue: pvck";
            physical_volume(fixture, &[(0, MIB)], &["LVM2_member", "unknown"], says)
        }),
        State::new("our own fill", |fixture| own_fill(fixture, None)),
        State::new("our own fill with one byte of somebody else's", |fixture| {
            own_fill(fixture, Some(300_000))
        }),
        State::new("random bytes in a partition", |fixture| {
            in_a_partition(fixture, "head -c 20M /dev/urandom > $1", &["unknown"])
        }),
        State::new("ext4 without its superblock in a partition", |fixture| {
            let script = "mke2fs -q -F -t ext4 -b 1024 $1; \
                          dd if=/dev/zero of=$1 bs=1024 seek=1 count=1 conv=notrunc";
            in_a_partition(fixture, script, &["ext4", "unknown"])
        }),
        State::new("contents that came after vetting", came_later),
        State::new("the survey says so of a damaged ext4", survey_agrees),
    ]);
    states
}

/// Overwrites parts with zeros; a place below zero counts from the end.
fn zero(path: &Path, size_bytes: u64, zeroed: &[(i64, u64)]) {
    for (place, length) in zeroed {
        let place = u64::try_from(*place).unwrap_or_else(|_| size_bytes - place.unsigned_abs());
        put(path, place, &vec![0; usize::try_from(*length).unwrap()]);
    }
}

/// Refused without exactly these words, and the refusal says what would be lost.
fn takes(device: &Path, image: &Path, exact: &[&str], says: &str) {
    // What only some versions of libblkid see, or only some places of the sample show.
    let refusal = vet(device, &[]).expect_err("accepted without consent").to_string();
    let there = |name: &str| listed(device).iter().any(|listed| listed == name);
    let may = |name: &str| there(name) || (name == "unknown" && refusal.contains(UNEXPLAINED));
    let exact = exact.iter().filter_map(|name| match name.strip_suffix('?') {
        Some(name) => may(name).then_some(name),
        None => Some(*name),
    });
    accepted_only_with(device, image, &exact.collect::<Vec<_>>(), false);
    assert!(refusal.contains(says), "no {says:?} in: {refusal}");
}

fn damaged(fixture: &mut HostileFixture, row: &Damaged) -> Build<()> {
    let size_bytes = row.size_mib * MIB;
    let image = fixture.image("image", size_bytes);
    shell(row.script, &[&image])?;
    File::options().write(true).open(&image).unwrap().set_len(size_bytes).unwrap();
    zero(&image, size_bytes, row.zeroed);
    let device = fixture.attach(&image, &[])?;
    takes(&device, &image, row.exact, row.says);
    Ok(())
}

fn physical_volume(
    fixture: &mut HostileFixture,
    zeroed: &[(i64, u64)],
    exact: &[&str],
    says: &str,
) -> Build<()> {
    let image = fixture.image("image", 32 * MIB);
    let device = fixture.attach(&image, &[])?;
    let path = device.to_str().unwrap();
    run("pvcreate", &["-q", "-y", "--metadatacopies", "2", path])?;
    zero(&device, 32 * MIB, zeroed);
    takes(&device, &image, exact, says);
    Ok(())
}

/// A device that we have filled takes no word, and one byte that is not ours is one too many.
fn own_fill(fixture: &mut HostileFixture, strange: Option<u64>) -> Build<()> {
    let path = fixture.path("fsarena-image");
    let filled = Image::create(&path, 16 * MIB, &mut |_| ControlFlow::Continue(())).unwrap();
    if let Some(place) = strange {
        put(&path, place, b"\0");
    }
    let device = fixture.attach(&path, &[])?;
    match strange {
        Some(_) => takes(&device, &path, &["unknown"], UNEXPLAINED),
        None => drop(only_with(&device, &path, &[])),
    }
    drop(filled);
    Ok(())
}

/// What lies in a partition has to be named for it and for its disk.
fn in_a_partition(fixture: &mut HostileFixture, script: &str, exact: &[&str]) -> Build<()> {
    let image = fixture.image("image", 24 * MIB);
    let part_image = fixture.image("part", 20 * MIB);
    shell("echo 'label: gpt\n2048,20M' | sfdisk -q $1", &[&image])?;
    shell(script, &[&part_image])?;
    shell("dd if=$1 of=$2 bs=1M seek=1 conv=notrunc", &[&part_image, &image])?;
    let device = fixture.attach(&image, &["--partscan"])?;
    let part = fixture.add_partition(&device, 1, 2048, 20 * 2048)?;
    takes(&part, &image, exact, UNEXPLAINED);
    let mut whole = [exact, &["gpt"]].concat();
    whole.sort_unstable();
    takes(&device, &image, &whole, &format!("{}: contents", part.display()));
    Ok(())
}

fn came_later(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    let device = fixture.attach(&image, &[])?;
    let vetted = vet(&device, &[consent(&device, &[])]).unwrap();
    drop(vetted.recheck(&roots()).expect("nothing has changed yet"));
    shell("tar cf - /etc/apt | dd of=$1 conv=notrunc,fsync", &[&device])?;
    let error = vetted.recheck(&roots()).expect_err("let through").to_string();
    assert!(error.contains("it was nothing that has a signature and is unknown"), "{error}");
    Ok(())
}

fn survey_agrees(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    run("mke2fs", &["-q", "-F", "-t", "ext4", "-b", "1024", image.to_str().unwrap()])?;
    zero(&image, 16 * MIB, &[(1024, 1024)]);
    let device = fixture.attach(&image, &[])?;
    let rows = survey(&roots()).unwrap();
    let row = rows.iter().find(|row| row.identity.path == device).unwrap();
    let option = format!("--wipe {}=ext4+unknown", device.display());
    assert_eq!(row.verdict, Verdict::WithConsent { option }, "{row:?}");
    Ok(())
}
