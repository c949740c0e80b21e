//! Which kinds there are, and what is said where one is missing.

use super::*;
use fsarena_model::memory_device::MemoryDevice;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

fn roots(dir: &Path) -> Roots {
    Roots { proc: dir.join("proc"), sys: dir.join("sys"), dev: dir.join("dev"), run: dir.into() }
}

fn reason(kind: &str, dir: &Path) -> Option<String> {
    match availability_with(kind, &roots(dir), &dir.join("modules")) {
        Availability::Ready => None,
        Availability::Missing { reason, .. } => Some(reason),
    }
}

#[test]
fn every_level_has_its_kind() {
    let size_bytes = 1 << 20;
    let path = PathBuf::from("/x");
    let memory = MemoryDevice::all().map(|kind| DeviceLevel::Memory { kind, size_bytes });
    for level in memory.chain([
        DeviceLevel::Loop { size_bytes },
        DeviceLevel::Ram { size_bytes },
        DeviceLevel::Vdisk { size_bytes, model: "const".to_owned() },
        DeviceLevel::Virtual {
            size_bytes,
            model: "const".to_owned(),
            kernel: String::new(),
            syscall_ns: 0,
        },
        DeviceLevel::Block { path: path.clone(), size_bytes },
        DeviceLevel::Directory { path },
    ]) {
        assert!(kinds().any(|(name, _)| name == level.kind()), "{level}");
    }
    assert!(kinds().all(|(_, summary)| !summary.is_empty()));
}

#[test]
fn what_is_missing_is_said_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    for (kind, text) in [
        ("zram", "this kernel has no zram"),
        ("brd", "this kernel has no brd"),
        ("null-blk", "this kernel has no null_blk"),
        ("loop", "modprobe loop"),
        ("ram", "modprobe loop"),
        ("tape", "no kind of device called"),
    ] {
        let reason = reason(kind, dir.path()).unwrap();
        assert!(reason.contains(text), "{kind}: {reason}");
    }
    assert_eq!(reason("block", dir.path()), None);
    assert_eq!(reason("directory", dir.path()), None);

    let at = |file: &str| dir.path().join(file);
    std::fs::create_dir_all(at("proc/sys/kernel")).unwrap();
    std::fs::create_dir_all(at("modules/6.18.0")).unwrap();
    std::fs::write(at("proc/sys/kernel/osrelease"), "6.18.0\n").unwrap();
    let modules = "kernel/drivers/block/brd.ko.zst:\nkernel/drivers/block/null_blk/null_blk.ko:\n\
                   kernel/drivers/block/zram/zram.ko: a.ko\n";
    std::fs::write(at("modules/6.18.0/modules.dep"), modules).unwrap();
    for (kind, text) in
        [("zram", "modprobe zram"), ("brd", "rd_size=KIB"), ("null-blk", "nr_devices=0")]
    {
        assert!(reason(kind, dir.path()).unwrap().contains(text), "{kind}");
    }

    std::fs::create_dir_all(at("sys/module/null_blk")).unwrap();
    assert!(reason("null-blk", dir.path()).unwrap().contains("configfs"));
    for made in ["sys/kernel/config/nullb", "sys/block/ram0", "sys/class/zram-control/hot_add"] {
        std::fs::create_dir_all(at(made)).unwrap();
    }
    for kind in ["zram", "brd", "null-blk"] {
        assert_eq!(reason(kind, dir.path()), None, "{kind}");
    }
}

struct Refuses;

impl Hooks for Refuses {
    fn will_make(&mut self, _: &Made) -> Result<(), String> {
        Err("the disk is full".to_owned())
    }

    fn written(&mut self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn what_cannot_be_written_down_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let level = DeviceLevel::Directory { path: dir.path().to_owned() };
    let mut order = Order {
        name: "fsarena-x",
        image_dir: dir.path(),
        memory_dir: dir.path(),
        vetted: &[],
        hooks: &mut Refuses,
    };
    let text = claim(&level, &mut order).unwrap_err().to_string();
    assert!(text.contains("the disk is full"), "{text}");
    assert!(!dir.path().join("fsarena-x").exists());
    let block = DeviceLevel::Block { path: "/dev/sda".into(), size_bytes: 1 };
    let text = claim(&block, &mut order).unwrap_err().to_string();
    assert!(text.contains("not vetted"), "{text}");
}

#[test]
fn only_what_we_make_is_removed() {
    let identity = DeviceIdentity {
        path: "/dev/sda".into(),
        name: "sda".to_owned(),
        number: (8, 0),
        size_bytes: 1,
        diskseq: Some(1),
        hardware: BTreeMap::new(),
    };
    for name in ["sda", "ram0", "nullb0", "loop0", "dm-0"] {
        let identity = DeviceIdentity { name: name.to_owned(), ..identity.clone() };
        assert!(remove_made(&identity).unwrap_err().to_string().contains("left alone"), "{name}");
    }
}
