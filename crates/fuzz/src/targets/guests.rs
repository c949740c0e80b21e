//! Guests and their kernels: the disk that they ask, what they leave, sources and programs.

use crate::scratch;
use crate::target::{PLAIN, Target, choice, chosen, texts};
use fsarena_crash::medium_error::record::MediumErrorWork;
use fsarena_crash::sequence::tree::SequenceRecord;
use fsarena_disk_server::{ConstantDisk, DiskOrder, serve};
use fsarena_executor::crash::{CrashTask, WorkRecord};
use fsarena_guests::guest::{Record, Task};
use fsarena_guests::kernel::{Configuration, Identity};
use fsarena_guests::parsers::{
    FUSE_TRANSFER_MAX_BYTES, fuse_request, guest_panic, interpreter, mapped_libraries, version_in,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::path::Path;

pub(super) const GUEST_DISK: Target = Target {
    name: "guest-disk",
    reads: "messages of a guest's block driver",
    shares: 2,
    most_bytes: 4096,
    seeds: disk_seeds,
    run: guest_disk,
};

pub(super) const FUSE_REQUEST: Target = Target {
    name: "fuse-request",
    reads: "requests of /dev/fuse to a modelled disk",
    seeds: fuse_seeds,
    run: fuse,
    ..PLAIN
};

pub(super) const GUEST_RECORD: Target = Target {
    name: "guest-record",
    reads: "tasks and records of guests, and their consoles",
    seeds: || {
        texts([
            "{\"probe\":{\"sleep_ns\":5}}",
            "{\"shell\":{\"exit_code\":0,\"stdout\":\"x\",\"stderr\":\"\",\"elapsed_ns\":9}}",
            "{\"trial\":{\"spec\":\"{}\",\"delay_ns\":1}}",
            "{\"failed\":\"the task: x\"}",
            "[ 0.0 ] Kernel panic - not syncing: VFS: Unable to mount root fs\n[ 0.1 ] x",
        ])
    },
    run: guest_record,
    ..PLAIN
};

pub(super) const GUEST_PROGRAM: Target = Target {
    name: "guest-program",
    reads: "ELF headers of programs for guests, and /proc/self/maps",
    seeds: || {
        vec![elf(), chosen(1, "1-2 r-xp 0 fd:01 2     /lib/libc.so.6\n3-4 r--p 0 fd:01 3 /x\n")]
    },
    run: guest_program,
    ..PLAIN
};

pub(super) const KERNEL_SOURCE: Target = Target {
    name: "kernel-source",
    reads: "Makefiles and configurations of kernels, and identities in the cache",
    seeds: || {
        vec![
            chosen(0, "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 7\nEXTRAVERSION = -rc3\n"),
            chosen(1, &Configuration::default().required()),
            chosen(
                2,
                "{\"format\":1,\"key\":\"a\",\"release\":\"6.1.7\",\"sha256\":\"x\",\
                       \"source\":\"s\",\"source_sha256\":\"x\",\"patches_sha256\":\"x\",\
                       \"config\":\"full\",\"config_sha256\":\"x\",\"hz\":250,\
                       \"compiler\":\"gcc\"}",
            ),
        ]
    },
    run: kernel_source,
    ..PLAIN
};

/// Bytes of a message.
const MESSAGE: usize = 40;

fn message(op: u32, tag: u32, [now_ns, sector, bytes, flags]: [u64; 4], data: &[u8]) -> Vec<u8> {
    let mut message = op.to_le_bytes().to_vec();
    message.extend(tag.to_le_bytes());
    for word in [now_ns, sector, bytes, flags] {
        message.extend(word.to_le_bytes());
    }
    message.extend(data);
    message
}

/// The first byte chooses the disk.
fn disk_seeds() -> Vec<Vec<u8>> {
    let whole = [
        message(0, 0, [0, 0, 1, 0], &[]),
        message(3, 0, [100, 8, 512, 1], &[7; 512]),
        message(1, 0, [2_000_000, 0, 0, 0], &[]),
        message(2, 1, [2_000_001, 8, 1024, 0], &[]),
        message(4, 2, [2_000_002, 0, 0, 0], &[]),
        message(5, 3, [2_000_003, 64, 4096, 0], &[]),
        message(6, 4, [2_000_004, 64, 4096, 0], &[]),
        message(1, 0, [1 << 40, 0, 0, 0], &[]),
    ]
    .concat();
    (0..3).map(|disk| [&[disk], whole.as_slice()].concat()).collect()
}

/// What a guest sends; what it is answered goes nowhere.
struct Wire<'a>(&'a [u8]);

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A guest is answered, or refused with a reason; nothing that it sends is beyond its disk.
fn guest_disk(input: &[u8]) {
    let Some((disk, sent)) = input.split_first() else { return };
    let mut wire = Wire(sent);
    let order = |model| DiskOrder { model, size_bytes: 16 << 20, store_dir: None };
    let served = match disk % 3 {
        0 => serve(&mut wire, &mut ConstantDisk::new(1 << 20, 1000)),
        1 => serve(&mut wire, &mut order("hdd-2007").make(1).expect("a built-in model")),
        _ => serve(&mut wire, &mut order("ssd-sata").make(1).expect("a built-in model")),
    };
    match served {
        Ok(count) => assert!(count as usize <= sent.len() / MESSAGE),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn fuse_seeds() -> Vec<Vec<u8>> {
    let request = |opcode: u32, body: &[u8]| {
        let mut bytes = vec![0; 40];
        bytes[4..8].copy_from_slice(&opcode.to_le_bytes());
        bytes[16] = 2;
        bytes.extend(body);
        bytes
    };
    let mut write = vec![0; 40];
    write[9] = 16;
    write[16] = 2;
    write.extend([5, 6]);
    let mut allocate = [0; 32];
    (allocate[9], allocate[17], allocate[24]) = (16, 16, 3);
    vec![
        request(15, &write[..40]),
        request(16, &write),
        request(43, &allocate),
        request(26, &[7, 0, 0, 0, 31, 0, 0, 0]),
        request(1, b"disk\0"),
    ]
}

/// A write has the data that it says.
fn fuse(input: &[u8]) {
    if let Some((_, bytes, came)) = fuse_request(input, 8192)
        && came > 0
    {
        assert!(bytes == came as u64 && came <= input.len().max(FUSE_TRANSFER_MAX_BYTES));
    }
}

/// What a guest says is written and read the same.
fn stays_the_same<T: Serialize + DeserializeOwned + PartialEq>(input: &[u8]) {
    let Ok(said) = serde_json::from_slice::<T>(input) else { return };
    let text = serde_json::to_string(&said).expect("plain data");
    let again = serde_json::from_str::<T>(&text);
    assert!(again.is_ok_and(|again| again == said), "{text}");
}

fn guest_record(input: &[u8]) {
    stays_the_same::<Task>(input);
    stays_the_same::<Record>(input);
    stays_the_same::<CrashTask>(input);
    stays_the_same::<WorkRecord>(input);
    stays_the_same::<MediumErrorWork>(input);
    stays_the_same::<Vec<SequenceRecord>>(input);
    if let Some(reason) = guest_panic(&String::from_utf8_lossy(input)) {
        assert!(!reason.contains('\n'), "{reason:?}");
    }
}

/// A header with one entry, which names a loader.
fn elf() -> Vec<u8> {
    let mut file = b"\0\x7fELF\x02\x01".to_vec();
    file.resize(1 + 64 + 56, 0);
    file[1 + 32] = 64;
    file[1 + 54] = 56;
    file[1 + 56] = 1;
    file[1 + 64] = 3;
    file[1 + 64 + 8] = 120;
    file[1 + 64 + 32] = 20;
    file.extend(b"/lib64/ld-linux.so.2\0");
    file
}

fn guest_program(input: &[u8]) {
    let Some((which, rest)) = input.split_first() else { return };
    if which % 2 == 0 {
        let path = scratch::file("program", rest);
        match interpreter(&path) {
            Ok(Some(name)) => assert!(name.len() <= 3 * 4096),
            Ok(None) => {}
            Err(error) => assert!(error.to_string().contains("program"), "{error}"),
        }
    } else {
        let maps = String::from_utf8_lossy(rest);
        let all = mapped_libraries(&maps, Path::new("/opt/fsarena"));
        assert!(all.iter().all(|path| path.is_absolute() && path != Path::new("/opt/fsarena")));
    }
}

fn kernel_source(input: &[u8]) {
    let Some((which, text)) = choice(input) else { return };
    match which % 3 {
        0 => {
            if let Some(version) = version_in(&text) {
                let shown = version.to_string();
                assert!(shown.starts_with(|c: char| c.is_ascii_digit()) && !shown.contains('\n'));
            }
        }
        1 => {
            let asked = Configuration { trimmed: true, hz: 250 };
            let lost = asked.lost(&text);
            assert!(lost.len() <= asked.required().lines().count());
        }
        _ => {
            if let Ok(identity) = serde_json::from_str::<Identity>(&text) {
                assert!(!identity.level().is_empty());
            }
        }
    }
}
