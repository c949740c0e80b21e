//! Copies of signatures that remain where the signature itself is gone: what a program that
//! repairs would begin with.
//!
//! A row of [`KNOWN`] says where the copies of one format lie, how one is recognised, and which
//! program uses it. Most are recognised by more than their magic number: a superblock of ext4 has
//! to say that it is the copy of this very block group.

mod places;
mod recognise;

use places::CopyPlace;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// A copy of a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SignatureCopy {
    /// Name of the format, as libblkid has it.
    pub name: &'static str,
    pub at_byte: u64,
    /// What lies there, for people.
    pub what: &'static str,
    /// What would begin with it.
    pub rescue: String,
}

/// Where copies of a format lie.
struct Row {
    what: &'static str,
    /// Places on a device of so many bytes.
    places: fn(u64) -> Vec<CopyPlace>,
    /// Read at each place, bytes.
    length: u64,
    /// Name of the format, if these bytes are such a copy.
    recognise: fn(&[u8], &CopyPlace) -> Option<&'static str>,
    rescue: fn(&CopyPlace) -> String,
}

const MAGIC_ANEW: &str =
    "LUKS\\xba\\xbe written to byte 0 for cryptsetup, or cryptsetup luksHeaderRestore";

/// All formats whose copies are looked for.
const KNOWN: [Row; 16] = [
    Row {
        what: "a copy of the superblock",
        places: places::ext,
        length: 1024,
        recognise: recognise::ext,
        rescue: |place| format!("e2fsck -b {} -B {}", place.at_byte / place.unit, place.unit),
    },
    Row {
        what: "the superblock of a later allocation group",
        places: places::xfs,
        length: 512,
        recognise: recognise::xfs,
        rescue: |_| "xfs_repair".to_owned(),
    },
    Row {
        what: "a copy of the superblock",
        places: places::btrfs,
        length: 4096,
        recognise: recognise::btrfs,
        rescue: |_| "btrfs rescue super-recover".to_owned(),
    },
    Row {
        what: "the second superblock",
        places: |_| places::at(&[4096 + 1024, 16384 + 1024]),
        length: 4,
        recognise: |bytes, _| bytes.starts_with(recognise::F2FS).then_some("f2fs"),
        rescue: |_| "fsck.f2fs".to_owned(),
    },
    Row {
        what: "the boot sector at the end",
        places: places::ntfs,
        length: 512,
        recognise: |bytes, _| recognise::boot_sector(bytes, 3, b"NTFS    ").then_some("ntfs"),
        rescue: |_| "ntfsfix".to_owned(),
    },
    Row {
        what: "the backup boot sector",
        places: |_| places::sectors(12),
        length: 512,
        recognise: |bytes, _| recognise::boot_sector(bytes, 3, b"EXFAT   ").then_some("exfat"),
        rescue: |_| "fsck.exfat, or a copy of the 12 sectors from here to byte 0".to_owned(),
    },
    Row {
        what: "the backup boot sector",
        places: |_| places::sectors(6),
        length: 512,
        recognise: |bytes, _| recognise::boot_sector(bytes, 82, b"FAT32   ").then_some("vfat"),
        rescue: |_| "a copy of this sector to byte 0, then fsck.fat".to_owned(),
    },
    Row {
        what: "the alternate volume header",
        places: |size_bytes| places::from_end(size_bytes, &[1024]),
        length: 512,
        recognise: recognise::hfs,
        rescue: |_| "fsck.hfsplus or fsck.hfs".to_owned(),
    },
    Row {
        what: "the second superblock",
        places: |_| places::at(&[0xf000]),
        length: 4,
        recognise: |bytes, _| bytes.starts_with(b"JFS1").then_some("jfs"),
        rescue: |_| "jfs_fsck".to_owned(),
    },
    Row {
        what: "a copy of the superblock",
        places: |_| places::at(&[32 * 512, 160 * 512, 192 * 512]),
        length: 1376,
        recognise: recognise::ufs,
        rescue: |place| format!("fsck_ffs -b {}", place.at_byte / 512),
    },
    Row {
        what: "a copy of the superblock",
        places: |_| places::at(&[1 << 30, 4 << 30, 16 << 30, 64 << 30, 256 << 30, 1 << 40]),
        length: 6,
        recognise: |bytes, _| bytes.starts_with(b"OCFSV2").then_some("ocfs2"),
        rescue: |_| "fsck.ocfs2 -r 1".to_owned(),
    },
    Row {
        what: "the copy of the table that ended a smaller disk",
        places: places::grown,
        length: 4096,
        recognise: recognise::gpt,
        rescue: |place| {
            let end = place.at_byte + 4096;
            format!("gdisk (r, b, c) on a loop device of losetup --sizelimit {end}")
        },
    },
    Row {
        what: "a header without its magic number",
        places: |_| places::at(&[0]),
        length: 592,
        recognise: recognise::luks1,
        rescue: |_| MAGIC_ANEW.to_owned(),
    },
    Row {
        what: "the description of key slots",
        places: places::luks2,
        length: 16,
        recognise: |bytes, _| bytes.starts_with(b"{\"keyslots\"").then_some("crypto_LUKS"),
        rescue: |_| MAGIC_ANEW.to_owned(),
    },
    Row {
        what: "metadata of a volume group",
        places: places::lvm,
        length: 512,
        recognise: |bytes, _| bytes[4..].starts_with(b" LVM2 x[5A%r0N*>").then_some("LVM2_member"),
        rescue: |_| "pvck --repair -f BACKUP, or vgcfgrestore".to_owned(),
    },
    Row {
        what: "the beginning of a partition that no table has",
        places: |_| places::partition_starts(),
        length: 68 << 10,
        recognise: recognise::at_start,
        rescue: |place| format!("sfdisk, with a partition that begins at byte {}", place.at_byte),
    },
];

/// Copies of signatures on the device, one of each row: the first that is found.
///
/// # Errors
/// When a place on the device cannot be read, with that place.
pub(super) fn find_copies(device: &File, size_bytes: u64) -> io::Result<Vec<SignatureCopy>> {
    let mut copies = Vec::new();
    for row in &KNOWN {
        for place in (row.places)(size_bytes) {
            let Some(bytes) = read(device, size_bytes, place.at_byte, row.length)? else {
                continue;
            };
            if let Some(name) = (row.recognise)(&bytes, &place) {
                let rescue = (row.rescue)(&place);
                copies.push(SignatureCopy { name, at_byte: place.at_byte, what: row.what, rescue });
                break;
            }
        }
    }
    Ok(copies)
}

/// `None` where that is beyond the end.
fn read(device: &File, size_bytes: u64, place: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
    if place.checked_add(length).is_none_or(|end| end > size_bytes) {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    device.read_exact_at(&mut bytes, place).map_err(|error| {
        io::Error::new(error.kind(), format!("byte {place} cannot be read: {error}"))
    })?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests;
