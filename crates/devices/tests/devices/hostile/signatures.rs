//! Every signature that the programs here can write, and some by hand: refused without the exact
//! consent, accepted with it, unchanged by both.

use super::bytes;
use super::fixture::{Build, HostileFixture, MIB, output, run, shell};
use super::{State, listed, never, only_with};
use std::path::Path;

/// Name, size in MiB, shell command on the image `$1`, and what lies there then; `?` marks what
/// only some versions of libblkid see.
type Made = (&'static str, u64, &'static str, &'static [&'static str]);

const MADE: &[Made] = &[
    ("empty device", 16, ":", &[]),
    ("random bytes", 16, "head -c 16M /dev/urandom > $1", &["unknown"]),
    ("ext2", 16, "mke2fs -q -F -t ext2 $1", &["ext2"]),
    ("ext3", 16, "mke2fs -q -F -t ext3 $1", &["ext3"]),
    ("ext4", 16, "mke2fs -q -F -t ext4 $1", &["ext4"]),
    ("external journal of ext4", 16, "mke2fs -q -F -O journal_dev $1", &["jbd"]),
    ("xfs", 300, "mkfs.xfs -q $1", &["xfs"]),
    ("btrfs", 16, "mkfs.btrfs -q -M $1", &["btrfs"]),
    ("f2fs", 64, "mkfs.f2fs -q $1", &["f2fs"]),
    ("jfs", 16, "mkfs.jfs -q $1", &["jfs"]),
    ("nilfs2", 129, "mkfs.nilfs2 -q $1", &["nilfs2"]),
    ("reiserfs", 48, "mkreiserfs -q -ff $1", &["reiserfs"]),
    ("vfat 12", 16, "mkfs.vfat -F 12 -s 16 $1", &["vfat"]),
    ("vfat 16", 16, "mkfs.vfat -F 16 $1", &["vfat"]),
    ("vfat 32", 40, "mkfs.vfat -F 32 $1", &["vfat"]),
    ("vfat with a partition table", 16, "mkfs.vfat --mbr=y $1", &["vfat", "dos?"]),
    ("exfat", 16, "mkfs.exfat $1", &["exfat", "dos?"]),
    ("ntfs", 16, "mkntfs -q -Q -F $1", &["ntfs", "dos?"]),
    ("minix 1", 16, "mkfs.minix -1 $1", &["minix"]),
    ("minix 2", 16, "mkfs.minix -2 $1", &["minix"]),
    ("minix 3", 16, "mkfs.minix -3 $1", &["minix"]),
    ("udf", 16, "mkudffs --blocksize=512 $1", &["udf"]),
    ("bfs", 16, "mkfs.bfs $1", &["bfs"]),
    ("cramfs", 16, "mkfs.cramfs /etc/apt $1.c; dd if=$1.c of=$1 conv=notrunc", &["cramfs"]),
    ("romfs", 16, "genromfs -d /etc/apt -f $1.r; dd if=$1.r of=$1 conv=notrunc", &["romfs"]),
    (
        "squashfs",
        16,
        "mksquashfs /etc/apt $1.s -quiet; dd if=$1.s of=$1 conv=notrunc",
        &["squashfs"],
    ),
    ("erofs", 16, "mkfs.erofs $1.e /etc/apt; dd if=$1.e of=$1 conv=notrunc", &["erofs"]),
    ("hfs", 16, "HOME=$(dirname $1) hformat $1", &["hfs"]),
    ("gfs2", 64, "mkfs.gfs2 -q -O -K -p lock_nolock -j 1 -J 8 $1", &["gfs2"]),
    ("ocfs2", 64, "mkfs.ocfs2 -q -x -F -M local -N 1 $1 </dev/null", &["ocfs2"]),
    ("swap", 16, "mkswap $1", &["swap"]),
    (
        "luks 1",
        16,
        "echo x | cryptsetup -q luksFormat --type luks1 --pbkdf-force-iterations 1000 $1 -",
        &["crypto_LUKS"],
    ),
    (
        "luks 2",
        20,
        "echo x | cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 \
         --pbkdf-force-iterations 1000 $1 -",
        &["crypto_LUKS"],
    ),
    ("dos table", 16, "echo 'label: dos\n,8M' | sfdisk -q $1", &["dos"]),
    ("gpt", 16, "echo 'label: gpt\n,8M' | sfdisk -q $1", &["gpt"]),
    ("sgi table", 16, "echo 'label: sgi' | sfdisk -q $1", &["sgi"]),
    ("sun table", 16, "echo 'label: sun' | sfdisk -q $1", &["sun"]),
    ("mac table", 16, "parted -s $1 mklabel mac", &["mac"]),
    ("bsd table", 16, "parted -s $1 mklabel bsd", &["bsd"]),
    ("atari table", 16, "parted -s $1 mklabel atari mkpart primary 1MiB 8MiB", &["atari"]),
    (
        "ext4 on the whole disk and a dos table",
        16,
        "mke2fs -q -F -t ext4 $1; echo ',8M' | sfdisk -q --label dos --wipe never --force $1",
        &["dos", "ext4"],
    ),
    (
        "xfs superblock behind a gpt that came later",
        20,
        "echo 'label: gpt\n,8M' | sfdisk -q $1; mkswap $1.s $((16*1024)) 2>&1 || true; \
         dd if=/dev/zero of=$1.s bs=1M count=20; mkswap $1.s; \
         dd if=$1.s of=$1 bs=1 skip=4086 seek=4086 count=10 conv=notrunc; \
         dd if=$1.s of=$1 bs=1 skip=1024 seek=1024 count=1024 conv=notrunc",
        &["gpt", "swap"],
    ),
];

/// Name, writer, and what lies there then.
type ByHand = (&'static str, fn(&Path, u64), &'static [&'static str]);

const BY_HAND: &[ByHand] = &[
    ("LVM2 physical volume", bytes::lvm2, &["LVM2_member"]),
    ("md 0.90", bytes::md_0_90, &["linux_raid_member"]),
    ("md 1.0", bytes::md_1_0, &["linux_raid_member"]),
    ("md 1.1", bytes::md_1_1, &["linux_raid_member"]),
    ("md 1.2", bytes::md_1_2, &["linux_raid_member"]),
    ("zfs", bytes::zfs, &["zfs_member"]),
    ("last zfs label alone", bytes::zfs_end, &["zfs_member"]),
    ("iso9660", bytes::iso9660, &["iso9660"]),
    ("bcachefs", bytes::bcachefs, &["bcachefs"]),
    ("apfs", bytes::apfs, &["apfs"]),
    ("ReFS", bytes::refs, &["ReFS"]),
    ("geli of FreeBSD", bytes::geom, &["geom_member"]),
    ("second header of luks 2 alone", bytes::luks2_second, &["crypto_LUKS"]),
    ("BitLocker", bytes::bitlocker, &["BitLocker"]),
    ("Oracle ASM", bytes::oracleasm, &["oracleasm"]),
    ("Ceph bluestore", bytes::ceph, &["ceph_bluestore"]),
    ("VDO", bytes::vdo, &["vdo"]),
    ("Intel RAID", bytes::isw, &["isw_raid_member"]),
];

pub fn states() -> Vec<State> {
    let mut states = Vec::new();
    for (name, size_mib, script, exact) in MADE {
        states.push(State::new(name, move |fixture| made(fixture, *size_mib, script, exact)));
    }
    for (name, write, exact) in BY_HAND {
        states.push(State::new(name, move |fixture| {
            let image = fixture.image("image", 16 * MIB);
            write(&image, 16 * MIB);
            let device = fixture.attach(&image, &[])?;
            only_with(&device, &image, exact);
            Ok(())
        }));
    }
    states.push(State::new("bcache", bcache));
    states.push(State::new("gpt copy at the end alone", |fixture| {
        damaged_gpt(fixture, bytes::gpt_backup, &["gpt"])
    }));
    states.push(State::new("protective MBR alone", |fixture| {
        damaged_gpt(fixture, bytes::gpt_pmbr, &["PMBR"])
    }));
    states.push(State::new("btrfs over what remains of ext4", two_file_systems));
    states.push(State::new("a partition with ext4 in a gpt", in_a_partition));
    states
}

fn made(fixture: &mut HostileFixture, size_mib: u64, script: &str, exact: &[&str]) -> Build<()> {
    let image = fixture.image("image", size_mib * MIB);
    shell(script, &[&image])?;
    // Some programs write no more than they need.
    std::fs::File::options().write(true).open(&image).unwrap().set_len(size_mib * MIB).unwrap();
    let device = fixture.attach(&image, &[])?;
    // Versions of libblkid differ in whether a boot sector is also a partition table.
    let there = listed(&device);
    let exact = exact.iter().filter_map(|name| match name.strip_suffix('?') {
        Some(name) => there.iter().any(|listed| listed == name).then_some(name),
        None => Some(*name),
    });
    only_with(&device, &image, &exact.collect::<Vec<_>>());
    Ok(())
}

fn bcache(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    let device = fixture.attach(&image, &[])?;
    run("make-bcache", &["-B", device.to_str().unwrap()])?;
    only_with(&device, &image, &["bcache"]);
    Ok(())
}

fn damaged_gpt(fixture: &mut HostileFixture, damage: fn(&Path, u64), exact: &[&str]) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    shell("echo 'label: gpt\n,8M' | sfdisk -q $1", &[&image])?;
    damage(&image, 16 * MIB);
    let device = fixture.attach(&image, &[])?;
    only_with(&device, &image, exact);
    Ok(())
}

/// What blkid cannot decide is not for the user to decide here either.
fn two_file_systems(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    let other = fixture.image("other", 16 * MIB);
    run("mke2fs", &["-q", "-F", "-t", "ext4", image.to_str().unwrap()])?;
    run("mkfs.btrfs", &["-q", "-M", other.to_str().unwrap()])?;
    bytes::btrfs_superblock(&image, &other);
    let device = fixture.attach(&image, &[])?;
    let text = output("wipefs", &["--noheadings", "--output", "TYPE", device.to_str().unwrap()])?;
    assert!(text.contains("ext4") && text.contains("btrfs"), "{text}");
    never(&device, &[&image], "ambivalent");
    Ok(())
}

fn in_a_partition(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 40 * MIB);
    shell("echo 'label: gpt\n2048,36M' | sfdisk -q $1", &[&image])?;
    let device = fixture.attach(&image, &["--partscan"])?;
    let part = fixture.add_partition(&device, 1, 2048, 36 * 2048)?;
    run("mke2fs", &["-q", "-F", "-t", "ext4", part.to_str().unwrap()])?;
    let vetted = only_with(&part, &image, &["ext4"]);
    assert_eq!(vetted.identity().hardware["partition"], "1");
    assert_eq!(vetted.identity().hardware["start_bytes"], (MIB).to_string());
    // Who gives up the disk gives up what lies in its partitions, and says so.
    only_with(&device, &image, &["ext4", "gpt"]);
    Ok(())
}
