//! What lies on a device that is to be given up, and what the kernel says of all devices.

use crate::scratch;
use crate::target::{PLAIN, Target, chosen};
use fsarena_devices::inventory::{Inventory, Recognised, Roots, recognised};
use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

pub(super) const DEVICE_BYTES: Target = Target {
    name: "device-bytes",
    reads: "bytes of a device: signatures, copies of superblocks, tables, what is unknown",
    shares: 2,
    seeds: byte_seeds,
    run: device_bytes,
    ..PLAIN
};

pub(super) const DEVICE_LIST: Target = Target {
    name: "device-list",
    reads: "/sys/block: disks, partitions, what each is known by",
    seeds: || {
        let text = |number: usize| ATTRIBUTES[number].1;
        (0..ATTRIBUTES.len()).map(|number| chosen(number, text(number))).collect()
    },
    run: device_list,
    ..PLAIN
};

/// Size of the device; a hole but for what an input writes.
const SIZE_BYTES: u64 = 64 << 20;
/// Places at which something is looked for, from the start and, negative, from the end.
const PLACES: [i64; 32] = [
    0,
    32,
    64,
    510,
    512,
    1024,
    1080,
    4096,
    4120,
    5120,
    8192,
    16384,
    17408,
    32768,
    65536,
    65600,
    81920,
    98304,
    131_072,
    524_288,
    1 << 20,
    8193 << 10,
    16 << 20,
    32 << 20,
    128 << 10,
    0x4000,
    -512,
    -1024,
    -4096,
    -65536,
    -(128 << 10),
    -(1 << 20),
];

/// Signatures that are known, at their places, and some of our own fill.
fn byte_seeds() -> Vec<Vec<u8>> {
    let at = |place: u8, bytes: &[u8]| {
        let length = u16::try_from(bytes.len()).expect("a short seed");
        [&[place], length.to_le_bytes().as_slice(), bytes].concat()
    };
    let mut ext = vec![0; 104];
    ext[24] = 2;
    ext[56..58].copy_from_slice(b"\x53\xef");
    ext[92] = 4;
    let mut xfs = b"XFSB\0\0\x10\0".to_vec();
    xfs.resize(96, 0);
    xfs[84..88].copy_from_slice(&4096_u32.to_be_bytes());
    let mut gpt = b"EFI PART".to_vec();
    gpt.resize(92, 0);
    vec![
        at(5, &ext),
        at(22, &xfs),
        at(4, &gpt),
        at(26, &gpt),
        [at(0, b"\xebX\x90NTFS    "), at(3, b"\x55\xaa")].concat(),
        at(0, b"LUKS\xba\xbe\0\x01"),
        at(25, b"SKUL\xba\xbe"),
        at(15, b"_BHRfS_M"),
        at(1, b"NXSB"),
        at(20, b"XFSB"),
        at(29, b"GEOM::ELI"),
        at(9, &[0x10, 0x20, 0xf5, 0xf2]),
        at(28, &[1; 64]),
    ]
}

/// The same bytes are recognised as the same, and whatever is there is seen as something.
fn device_bytes(input: &[u8]) {
    let device = File::options()
        .read(true)
        .write(true)
        .open(scratch::file("device", b""))
        .expect("a file of our own");
    device.set_len(SIZE_BYTES).expect("a file of our own");
    let mut rest = input;
    let mut written: Vec<(u64, u64)> = Vec::new();
    while let [place, low, high, more @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(more.len());
        let (bytes, after) = more.split_at(length);
        let place = PLACES[usize::from(*place) % PLACES.len()];
        let from = if place < 0 { SIZE_BYTES - place.unsigned_abs() } else { place.unsigned_abs() };
        let fits = bytes.len().min(usize::try_from(SIZE_BYTES - from).unwrap_or(0));
        device.write_all_at(&bytes[..fits], from).expect("a file of our own");
        written.push((from, fits as u64));
        rest = after;
    }
    let found = recognised(&device, SIZE_BYTES).expect("every place of the device can be read");
    let again = recognised(&device, SIZE_BYTES).expect("every place of the device can be read");
    assert_eq!(found, again);
    let Recognised { copies, unknown_at, signatures } = found;
    for (name, place) in copies {
        assert!(place < SIZE_BYTES, "{name} at {place}");
    }
    // Holes alone have nothing on them.
    let is_empty = written.iter().all(|(_, length)| *length == 0);
    assert!(!is_empty || (unknown_at.is_none() && signatures.is_empty()));
    // The first and last MiB are read whole: a byte that is even and not zero is none of ours.
    if let Some(place) = unknown_at {
        let is_written = |(from, length): &(u64, u64)| {
            place / 4096 <= (from + length.saturating_sub(1)) / 4096 && from / 4096 <= place / 4096
        };
        assert!(written.iter().any(is_written), "nothing was written at {place}");
    }
}

/// Files of a disk and its partition, as a kernel has them.
const ATTRIBUTES: [(&str, &str); 17] = [
    ("sda/dev", "8:0\n"),
    ("sda/size", "2097152\n"),
    ("sda/ro", "0\n"),
    ("sda/removable", "0\n"),
    ("sda/diskseq", "7\n"),
    ("sda/hidden", "0\n"),
    ("sda/queue/rotational", "1\n"),
    ("sda/queue/logical_block_size", "512\n"),
    ("sda/queue/physical_block_size", "4096\n"),
    ("sda/queue/scheduler", "none [mq-deadline] bfq\n"),
    ("sda/device/wwid", "naa.5000c500a1b2c3d4\n"),
    ("sda/device/vpd_pg80", "\0\u{80}\0\u{8}WD-12345"),
    ("sda/sda1/partition", "1\n"),
    ("sda/sda1/dev", "8:1\n"),
    ("sda/sda1/start", "2048\n"),
    ("sda/sda1/size", "1048576\n"),
    ("sda/sda1/ro", "0\n"),
];

thread_local! {
    /// Whether the files are there.
    static IS_MADE: Cell<bool> = const { Cell::new(false) };
}

/// Either a list, or an error that names the file; nothing is left out in silence.
fn device_list(input: &[u8]) {
    let Some((number, text)) = input.split_first() else { return };
    let root = scratch::kept_dir("devices");
    let block = root.join("sys/block");
    if !IS_MADE.replace(true) {
        for (file, text) in ATTRIBUTES {
            put(&block.join(file), text.as_bytes());
        }
        for dir in ["sda/holders", "sda/slaves", "sda/sda1/holders"] {
            fs::create_dir_all(block.join(dir)).expect("a directory of our own");
        }
    }
    let (file, sound) = ATTRIBUTES[usize::from(*number) % ATTRIBUTES.len()];
    put(&block.join(file), text);
    let of = |name: &str| root.join(name);
    let roots = Roots { proc: of("proc"), sys: of("sys"), dev: of("dev"), run: of("run") };
    match Inventory::read(&roots) {
        Ok(inventory) => {
            let disk = inventory.get("sda");
            assert!(disk.is_some() || file == "sda/hidden", "{file}: the disk is left out");
            for device in ["sda", "sda1"].into_iter().filter_map(|name| inventory.get(name)) {
                let _ = device.impossible();
                assert!(!device.hardware.values().any(String::is_empty), "{device:?}");
            }
        }
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains("sys/block"), "{file}: {error}");
        }
    }
    put(&block.join(file), sound.as_bytes());
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a file in a directory"))
        .expect("a directory of our own");
    fs::write(path, bytes).expect("a file of our own");
}
