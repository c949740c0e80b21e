//! A block device of the user's, from vetting to release; a loop device stands for a disk.

use super::fixture::{LoopFixture, mounted, ready};
use fsarena_devices::claim::{Claimed, Hooks, Made, Order, claim};
use fsarena_devices::format::format;
use fsarena_devices::inventory::Roots;
use fsarena_devices::loopdev;
use fsarena_devices::vet::{WipeConsent, vet_block};
use fsarena_model::contender::{DeviceLevel, Discard, FsLevel};
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_process::cmd;
use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub const SIZE: u64 = 64 << 20;

/// A device that is not ours; detached when dropped.
pub struct Disk {
    pub node: PathBuf,
}

impl Disk {
    pub fn attach(file: &Path) -> Option<Self> {
        fs::File::create(file).unwrap().set_len(SIZE).unwrap();
        let losetup = cmd::find("losetup")?;
        let args = ["-f", "--show"].map(OsStr::new);
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let all = [args[0], args[1], file.as_os_str()];
            match cmd::run(&losetup, &all, Duration::from_secs(20)) {
                Ok(ran) => return Some(Self { node: ran.stdout.trim().into() }),
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let losetup = cmd::find("losetup").unwrap();
        let args = [OsStr::new("-d"), self.node.as_os_str()];
        cmd::run(&losetup, &args, Duration::from_secs(20)).unwrap();
    }
}

/// Nothing is made.
pub struct Silent;

impl Hooks for Silent {
    fn will_make(&mut self, what: &Made) -> Result<(), String> {
        Err(format!("{what:?}"))
    }

    fn written(&mut self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What was given up, taken.
pub fn taken(fixture: &LoopFixture, node: &Path, consent: &str) -> Claimed {
    let consent = [WipeConsent::parse(&format!("{}{consent}", node.display())).unwrap()];
    let vetted = vet_block(node, &consent, &[], &Roots::default()).unwrap();
    let mut order = Order {
        name: "fsarena-image",
        image_dir: fixture.dir(),
        memory_dir: fixture.dir(),
        vetted: std::slice::from_ref(&vetted),
        hooks: &mut Silent,
    };
    claim(&DeviceLevel::Block { path: node.to_owned(), size_bytes: SIZE }, &mut order).unwrap()
}

#[test]
fn loop_a_device_that_was_given_up_is_used_and_left() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let file = fixture.dir().join("disk");
    let Some(disk) = Disk::attach(&file) else { return println!("not run: no losetup") };
    let consent = [WipeConsent::parse(disk.node.to_str().unwrap()).unwrap()];
    let roots = Roots::default();
    assert!(vet_block(&disk.node, &[], &[], &roots).is_err(), "never without consent");
    let vetted = vet_block(&disk.node, &consent, &[], &roots).unwrap();
    let order = |vetted| Order {
        name: "fsarena-image",
        image_dir: fixture.dir(),
        memory_dir: fixture.dir(),
        vetted,
        hooks: Box::leak(Box::new(Silent)),
    };
    let level = |size_bytes| DeviceLevel::Block { path: disk.node.clone(), size_bytes };
    let text = claim(&level(SIZE), &mut order(&[])).unwrap_err().to_string();
    assert!(text.contains("not vetted"), "{text}");
    let text =
        claim(&level(2 * SIZE), &mut order(std::slice::from_ref(&vetted))).unwrap_err().to_string();
    assert!(text.contains("was planned for"), "{text}");

    let claimed = claim(&level(SIZE), &mut order(std::slice::from_ref(&vetted))).unwrap();
    println!("{:?} {:?}", claimed.facts(), claimed.notices());
    let target = claimed.target();
    assert!(matches!(
        &target,
        TargetSpec::Block {
            in_memory: false,
            under: Under::Real { identity, signatures, backing_file },
            size_bytes: SIZE,
            ..
        } if identity == vetted.identity()
            && signatures.is_empty()
            && backing_file.as_deref() == Some(&*file)
    ));
    let facts = claimed.facts();
    assert_eq!(facts["backing_file"], file.display().to_string());
    assert!(facts.contains_key("backing_fs") && facts.contains_key("direct_io"), "{facts:?}");
    assert!(fs::read(&file).unwrap().iter().all(|byte| *byte == 0), "a claim writes nothing");
    let text =
        claim(&level(SIZE), &mut order(std::slice::from_ref(&vetted))).unwrap_err().to_string();
    assert!(text.contains("another run of fsarena"), "{text}");
    for _ in 0..2 {
        let made = format(&target, &*ext4, &FsLevel::plain("ext4"), Discard::None).unwrap();
        let tree = mounted(&made, &fixture);
        fs::write(tree.path().join("file"), "x").unwrap();
        assert!(format(&target, &*ext4, &FsLevel::plain("ext4"), Discard::None).is_err());
        tree.unmount().unwrap();
    }
    claimed.release().unwrap();
    assert_eq!(loopdev::backing_file(&disk.node).as_deref(), Some(&*file), "still the user's");
    drop(disk);
    fixture.assert_nothing_left();
}
