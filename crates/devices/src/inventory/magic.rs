//! Our own look at a few places that some versions of libblkid do not look at, and the proof that
//! both ends of the device can be read.
//!
//! What is found here counts as what wipefs and blkid find. It errs towards finding: a header whose
//! checksum is wrong is still somebody's header.

use fsarena_model::contender::RAW;
use fsarena_model::stamp::is_of_device_itself;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Read at each end, bytes.
const END_BYTES: u64 = 1 << 20;
/// Size of a ZFS label; two at the start, two at the end.
const ZFS_LABEL_BYTES: u64 = 256 << 10;
/// `UBERBLOCK_MAGIC` of ZFS, in the byte order of the machine that wrote it.
const ZFS_UBERBLOCK: u64 = 0x00ba_b10c;

/// Bytes at a place from the start, and the name as libblkid has it.
const AT_START: [(usize, &[u8], &str); 5] = [
    (512, b"EFI PART", "gpt"),
    (4096, b"EFI PART", "gpt"),
    (32, b"NXSB", "apfs"),
    (0, b"\0\0\0ReFS\0", "ReFS"),
    // BCHFS_MAGIC of bcachefs_format.h, in the superblock at sector 8.
    (4096 + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef", "bcachefs"),
];

/// Bytes at a place from the end.
const AT_END: [(usize, &[u8], &str); 4] = [
    (512, b"EFI PART", "gpt"),
    (4096, b"EFI PART", "gpt"),
    // g_mirror, g_eli and all other classes of FreeBSD's GEOM that write metadata.
    (512, b"GEOM::", "geom_member"),
    (4096, b"GEOM::", "geom_member"),
];

/// Where a BSD disk label may lie: libblkid sees it on some disks and not on others.
const BSD_LABELS: [usize; 2] = [64, 512];
/// `d_magic` of a BSD disk label, and again 132 bytes on (`d_magic2`).
const BSD_MAGIC: &[u8] = b"\x57\x45\x56\x82";

/// Offsets of the second header of LUKS2 (LUKS2 On-Disk Format Specification, 2.2).
const LUKS2_SECOND: [u64; 9] =
    [0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000];

/// Names of what is there.
///
/// # Errors
/// When an end of the device cannot be read.
pub(super) fn find_signatures(device: &File, size_bytes: u64) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let length = END_BYTES.min(size_bytes);
    let start = read(device, 0, length)?;
    let end = read(device, size_bytes - length, length)?;
    for (place, magic, name) in AT_START {
        if start.get(place..).is_some_and(|rest| rest.starts_with(magic)) {
            found.insert(name.to_owned());
        }
    }
    let is_magic =
        |place: usize| start.get(place..).is_some_and(|rest| rest.starts_with(BSD_MAGIC));
    if BSD_LABELS.iter().any(|place| is_magic(*place) && is_magic(*place + 132)) {
        found.insert("bsd".to_owned());
    }
    for (back, magic, name) in AT_END {
        let place = end.len().checked_sub(back);
        if place.is_some_and(|place| end[place..].starts_with(magic)) {
            found.insert(name.to_owned());
        }
    }
    for place in LUKS2_SECOND.into_iter().filter(|place| place + 512 <= size_bytes) {
        if read(device, place, 6)? == b"SKUL\xba\xbe" {
            found.insert("crypto_LUKS".to_owned());
        }
    }
    if is_of_device_itself(&start, 0) {
        found.insert(RAW.to_owned());
    }
    if zfs(device, size_bytes)? {
        found.insert("zfs_member".to_owned());
    }
    Ok(found)
}

/// Whether one of the four labels has an uberblock.
fn zfs(device: &File, size_bytes: u64) -> io::Result<bool> {
    let whole = size_bytes - size_bytes % ZFS_LABEL_BYTES;
    if whole < 4 * ZFS_LABEL_BYTES {
        return Ok(false);
    }
    let labels = [0, ZFS_LABEL_BYTES, whole - 2 * ZFS_LABEL_BYTES, whole - ZFS_LABEL_BYTES];
    for label in labels {
        // The second half of a label is the ring of uberblocks, each of 1 KiB or more.
        let ring = read(device, label + ZFS_LABEL_BYTES / 2, ZFS_LABEL_BYTES / 2)?;
        let is_uberblock = |block: &[u8]| {
            block.starts_with(&ZFS_UBERBLOCK.to_le_bytes())
                || block.starts_with(&ZFS_UBERBLOCK.to_be_bytes())
        };
        if ring.chunks(1024).any(is_uberblock) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read(device: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    device.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::stamp::Stamp;

    const SIZE: u64 = 16 << 20;

    fn with(writes: &[(u64, &[u8])]) -> Vec<String> {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        for (place, bytes) in writes {
            file.write_all_at(bytes, *place).unwrap();
        }
        find_signatures(&file, SIZE).unwrap().into_iter().collect()
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        assert_eq!(with(&[]), Vec::<String>::new());
        assert_eq!(with(&[(0, &[0xff; 1 << 20])]), Vec::<String>::new());
    }

    #[test]
    fn work_on_the_device_itself_is_found() {
        let stamp = |file: u64, offset: u64| {
            Stamp { layout: 1, version: 2, dataset_tag: 3, file, offset }.encode()
        };
        assert_eq!(with(&[(0, &stamp(0, 0))]), [RAW]);
        assert_eq!(with(&[(512, &stamp(0, 512))]), Vec::<String>::new());
        assert_eq!(with(&[(0, &stamp(0, 512))]), Vec::<String>::new(), "a part of a file");
        assert_eq!(with(&[(0, &stamp(1, 0))]), Vec::<String>::new(), "another file");
    }

    #[test]
    fn headers_are_found_at_both_ends() {
        assert_eq!(with(&[(512, b"EFI PART")]), ["gpt"]);
        assert_eq!(with(&[(SIZE - 512, b"EFI PART")]), ["gpt"]);
        assert_eq!(with(&[(SIZE - 4096, b"EFI PART")]), ["gpt"]);
        assert_eq!(with(&[(SIZE - 512, b"GEOM::ELI")]), ["geom_member"]);
        assert_eq!(with(&[(32, b"NXSB"), (4120, AT_START[4].1)]), ["apfs", "bcachefs"]);
        assert_eq!(with(&[(0, b"\0\0\0ReFS\0")]), ["ReFS"]);
        let bsd: &[u8] = b"\x57\x45\x56\x82";
        assert_eq!(with(&[(64, bsd), (196, bsd)]), ["bsd"]);
        assert_eq!(with(&[(64, bsd)]), Vec::<String>::new());
        assert_eq!(with(&[(0x4000, b"SKUL\xba\xbe")]), ["crypto_LUKS"]);
    }

    #[test]
    fn a_single_uberblock_in_any_label_is_enough_in_either_byte_order() {
        for label in [0, 256 << 10, SIZE - (512 << 10), SIZE - (256 << 10)] {
            let place = label + (128 << 10) + 5 * 1024;
            assert_eq!(with(&[(place, &0x00ba_b10c_u64.to_le_bytes())]), ["zfs_member"]);
            assert_eq!(with(&[(place, &0x00ba_b10c_u64.to_be_bytes())]), ["zfs_member"]);
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        assert!(find_signatures(&file, SIZE).is_err());
    }
}
