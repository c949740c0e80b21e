//! Devices that the kernel makes for a claim: what this machine has is claimed, used and removed.

use super::fixture::{LoopFixture, device, mounted, ready};
use fsarena_devices::TargetError;
use fsarena_devices::claim::{self, Claimed, Hooks, Made, Order, claim, device_availability};
use fsarena_devices::format::format;
use fsarena_devices::inventory::Roots;
use fsarena_devices::ssd::{self, Precondition};
use fsarena_filesystems::Availability;
use fsarena_model::contender::{DeviceLevel, Discard, FsLevel};
use fsarena_model::device::{Conditioning, DeviceIdentity, SsdPolicy};
use fsarena_model::memory_device::MemoryDevice;
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_testkit::records::memory_device;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

const SIZE: u64 = 64 << 20;

/// Notes what is made.
#[derive(Default)]
struct Noted(Vec<Made>);

impl Hooks for Noted {
    fn will_make(&mut self, what: &Made) -> Result<(), String> {
        if let Made::Device(identity) = what
            && identity.name.starts_with("zram")
        {
            let size = fs::read_to_string(format!("/sys/block/{}/disksize", identity.name));
            assert_eq!(size.unwrap().trim(), "0", "it takes nothing before it is written down");
        }
        self.0.push(what.clone());
        Ok(())
    }

    fn written(&mut self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn claimed(
    fixture: &LoopFixture,
    level: &DeviceLevel,
) -> Result<(Claimed, Vec<Made>), TargetError> {
    let mut noted = Noted::default();
    let mut order = Order {
        name: "fsarena-image",
        image_dir: fixture.dir(),
        memory_dir: Path::new("/dev/shm"),
        vetted: &[],
        hooks: &mut noted,
    };
    let claimed = claim(level, &mut order)?;
    Ok((claimed, noted.0))
}

/// Whether the kind is there; prints why not.
fn has(kind: &str) -> bool {
    match device_availability(kind, &Roots::default()) {
        Availability::Ready => true,
        Availability::Missing { reason, .. } => {
            println!("not run: {kind}: {reason}");
            false
        }
    }
}

/// Whether this very device is still there: other programs make zram devices too.
fn is_there(identity: &DeviceIdentity) -> bool {
    let file = format!("/sys/block/{}/diskseq", identity.name);
    let now = fs::read_to_string(file).ok().and_then(|text| text.trim().parse::<u64>().ok());
    now.is_some() && now == identity.diskseq
}

fn identity(target: &TargetSpec) -> DeviceIdentity {
    target.identity().expect("a made device has an identity").clone()
}

#[test]
fn loop_devices_of_the_kernel_live_and_leave_nothing() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for kind in MemoryDevice::all() {
        let level = DeviceLevel::Memory { kind, size_bytes: SIZE };
        let Some(ext4) = ready("ext4").filter(|_| has(level.kind())) else { continue };
        let (claimed, made) = match claimed(&fixture, &level) {
            Err(error) if level.kind() == "brd" => {
                println!("not run: brd: {error}");
                continue;
            }
            claimed => claimed.unwrap(),
        };
        println!("{level}: {:?} {:?}", claimed.facts(), claimed.notices());
        let target = claimed.target();
        assert!(matches!(
            target,
            TargetSpec::Block { in_memory: true, under: Under::Made { .. }, size_bytes: SIZE, .. }
        ));
        assert_eq!(made.len(), usize::from(level.kind() != "brd"), "{made:?}");
        assert!(claimed.notices()[0].text.contains("memory"));
        assert_eq!(claimed.facts()["in_memory"], "true");
        for _ in 0..2 {
            let made = format(&target, &*ext4, &FsLevel::plain("ext4"), Discard::None).unwrap();
            let tree = mounted(&made, &fixture);
            fs::write(tree.path().join("file"), vec![7; 1 << 20]).unwrap();
            // Neither mkfs nor recovery touches it while it is mounted.
            assert!(format(&target, &*ext4, &FsLevel::plain("ext4"), Discard::None).is_err());
            tree.unmount().unwrap();
        }
        if level.kind() == "zram" {
            let held = claimed.facts()["zram_mm_stat"].clone();
            let first = held.split(' ').next().and_then(|bytes| bytes.parse::<u64>().ok());
            assert!(first.is_some_and(|bytes| bytes > 0), "as it is now: {held}");
            assert_eq!(claimed.facts()["zram_algorithm"].split_whitespace().count(), 1);
        }
        let mut quiet = |_| ControlFlow::Continue(());
        let plan = Precondition::default();
        let done = ssd::apply(&target, SsdPolicy::Blkdiscard, &plan, &mut quiet).unwrap();
        assert!(matches!(done, Some(Conditioning::Discarded { discarded_bytes: SIZE, .. })));
        assert!(fs::read(device(&target)).unwrap().iter().all(|byte| *byte == 0));
        let was = identity(&target);
        assert!(is_there(&was));
        claimed.release().unwrap();
        assert!(level.kind() == "brd" || !is_there(&was), "{} is still there", was.name);
    }
    fixture.assert_nothing_left();
}

#[test]
fn loop_every_file_system_lives_on_sectors_of_a_page() {
    let Some(fixture) = LoopFixture::enter() else { return };
    if !has("zram") {
        return;
    }
    let level = memory_device("zram", 320 << 20);
    let (claimed, _) = match claimed(&fixture, &level) {
        Err(error) => return println!("not run: {error}"),
        Ok(claimed) => claimed,
    };
    assert_eq!(claimed.facts()["logical_sector_bytes"], "4096");
    let target = claimed.target();
    let plain =
        ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "nilfs2", "jfs", "reiserfs", "exfat"];
    let mut levels: Vec<FsLevel> = plain.into_iter().chain(["ntfs3"]).map(FsLevel::plain).collect();
    let mkfs = [("sector_size".to_owned(), "4096".to_owned())].into();
    levels.push(FsLevel { mkfs, ..FsLevel::plain("vfat") });
    for level in levels {
        let name = &*level.name;
        let driver = fsarena_filesystems::driver(&level).unwrap();
        if driver.tools().iter().any(|need| fsarena_process::cmd::find(&need.program).is_none()) {
            println!("not run: {name}: its tools are not installed");
            continue;
        }
        let made = format(&target, &*driver, &level, Discard::None).unwrap();
        driver.effective_features(device(&target)).unwrap();
        if ready(name).is_some() {
            let tree = mounted(&made, &fixture);
            fs::write(tree.path().join("file"), vec![7; 1 << 20]).unwrap();
            tree.unmount().unwrap();
        }
    }
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_zram_of_a_dead_run_is_removed_and_no_other() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4").filter(|_| has("zram")) else { return };
    let (claimed, made) = claimed(&fixture, &memory_device("zram", SIZE)).unwrap();
    let target = claimed.target();
    let [Made::Device(noted)] = &made[..] else { panic!("{made:?}") };
    assert_eq!(*noted, identity(&target), "what was written down is what was made");
    let formatted = format(&target, &*ext4, &FsLevel::plain("ext4"), Discard::None).unwrap();

    // Another device of that number, another size, a device that is no zram: nothing happens.
    let another = DeviceIdentity { diskseq: noted.diskseq.map(|seq| seq + 1), ..noted.clone() };
    assert!(!claim::remove_made(&another).unwrap());
    let larger = DeviceIdentity { size_bytes: 2 * SIZE, ..noted.clone() };
    assert!(!claim::remove_made(&larger).unwrap());
    let disk = DeviceIdentity { name: "sda".to_owned(), ..noted.clone() };
    assert!(claim::remove_made(&disk).is_err());
    // Mounted by somebody, it is not taken away under them.
    let tree = mounted(&formatted, &fixture);
    let error = claim::remove_made(noted).unwrap_err();
    assert_eq!(error.errno(), Some(16), "EBUSY: {error}");
    tree.unmount().unwrap();
    drop(formatted);

    // As after a kill: nobody holds it, and the journal names it.
    let mut claimed = claimed;
    claimed.keep();
    claimed.release().unwrap();
    assert!(is_there(noted), "kept");
    assert!(claim::remove_made(noted).unwrap());
    assert!(!claim::remove_made(noted).unwrap(), "a second time there is nothing to do");
    assert!(!is_there(noted));
    fixture.assert_nothing_left();
}

const VICTIM: &str = "FSARENA_TEST_ZRAM_VICTIM";

/// Writes down what is made, as a journal does, and waits for its death there or later.
struct Victim {
    dir: std::path::PathBuf,
    dies_first: bool,
}

impl Hooks for Victim {
    fn will_make(&mut self, what: &Made) -> Result<(), String> {
        let Made::Device(identity) = what else { return Err("no device".to_owned()) };
        let text = serde_json::to_string(identity).unwrap();
        fs::write(self.dir.join("new"), text).unwrap();
        fs::rename(self.dir.join("new"), self.dir.join("noted")).unwrap();
        if self.dies_first {
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
        Ok(())
    }

    fn written(&mut self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn loop_zram_victim() {
    let Some(when) = std::env::var_os(VICTIM) else {
        return println!("not run: the child of another test");
    };
    let dir = std::path::PathBuf::from(std::env::var_os("FSARENA_TEST_VICTIM_DIR").unwrap());
    let mut hooks = Victim { dir: dir.clone(), dies_first: when == "noted" };
    let mut order = Order {
        name: "fsarena-image",
        image_dir: &dir,
        memory_dir: &dir,
        vetted: &[],
        hooks: &mut hooks,
    };
    let claimed = claim(&memory_device("zram", SIZE), &mut order).unwrap();
    let ext4 = ready("ext4").unwrap();
    format(&claimed.target(), &*ext4, &FsLevel::plain("ext4"), Discard::None).unwrap();
    fs::write(dir.join("formatted"), "").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn loop_a_zram_outlives_a_kill_and_is_found_again_by_the_journal() {
    let Some(fixture) = LoopFixture::enter() else { return };
    if ready("ext4").is_none() || !has("zram") {
        return;
    }
    for when in ["noted", "formatted"] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "loop_targets::loop_alone_made::loop_zram_victim"])
            .env(VICTIM, when)
            .env("FSARENA_TEST_VICTIM_DIR", fixture.dir())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !fixture.dir().join(when).exists() {
            let alive = child.try_wait().unwrap().is_none();
            assert!(alive && std::time::Instant::now() < deadline, "no victim");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let text = fs::read_to_string(fixture.dir().join("noted")).unwrap();
        let noted: DeviceIdentity = serde_json::from_str(&text).unwrap();
        assert!(is_there(&noted), "{when}: it outlives its process");
        assert!(claim::remove_made(&noted).unwrap(), "{when}");
        assert!(!claim::remove_made(&noted).unwrap());
        assert!(!is_there(&noted));
        fs::remove_file(fixture.dir().join("noted")).unwrap();
    }
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_zram_that_changed_is_not_formatted() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4").filter(|_| has("zram")) else { return };
    let (claimed, _) = claimed(&fixture, &memory_device("zram", SIZE)).unwrap();
    let TargetSpec::Block { device, size_bytes, in_memory, .. } = claimed.target() else {
        panic!()
    };
    let was = identity(&claimed.target());
    // The path leads elsewhere by now.
    let elsewhere = TargetSpec::Block {
        device: "/dev/loop0".into(),
        size_bytes,
        in_memory,
        under: Under::Made { identity: was.clone() },
        members: Vec::new(),
    };
    let level = FsLevel::plain("ext4");
    let text = format(&elsewhere, &*ext4, &level, Discard::None).unwrap_err().to_string();
    assert!(text.contains("which was vetted"), "{text}");
    let changed = TargetSpec::Block {
        device,
        size_bytes,
        in_memory,
        under: Under::Made {
            identity: DeviceIdentity { diskseq: was.diskseq.map(|seq| seq - 1), ..was },
        },
        members: Vec::new(),
    };
    let text =
        format(&changed, &*ext4, &FsLevel::plain("ext4"), Discard::None).unwrap_err().to_string();
    assert!(text.contains("diskseq"), "{text}");
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_level_is_claimed_through_one_door() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let (claimed, made) = claimed(&fixture, &DeviceLevel::Loop { size_bytes: 1 << 20 }).unwrap();
    assert_eq!(made, [Made::Image(fixture.image())]);
    assert_eq!(claimed.target().image(), Some(&*fixture.image()));
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}
