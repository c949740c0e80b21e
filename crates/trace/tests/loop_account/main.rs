//! Traces of real devices: needs root, loop devices, the tools of each file system and a kernel
//! with block tracepoints; what cannot run says why. Serial; nothing is left.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, with their helpers")]

mod cases;
mod sessions;

use fsarena_devices::claim::{Claimed, claim_image};
use fsarena_devices::format::{Formatted, format};
use fsarena_devices::map::map_of_files;
use fsarena_devices::mount::mount;
use fsarena_devices::vet;
use fsarena_filesystems::{Availability, Driver, availability, driver};
use fsarena_model::account::{Account, Map, Part, Written};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::TargetSpec;
use fsarena_testkit::why_no_loop_devices;
use fsarena_trace::{BlockDevice, Session, Tracefs, account};
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Buffers of all sessions here.
pub const BUFFER_BYTES: u64 = 8 << 20;

/// The only test that runs, with a directory and tracefs.
pub struct TraceFixture {
    _turn: MutexGuard<'static, ()>,
    dir: tempfile::TempDir,
    pub tracefs: Tracefs,
}

impl TraceFixture {
    /// Waits for its turn; `None` with a printed reason where it cannot run.
    pub fn enter() -> Option<Self> {
        if let Some(reason) = why_no_loop_devices() {
            println!("not run: {reason}");
            return None;
        }
        let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let tracefs = match Tracefs::open(&mountinfo) {
            Ok(tracefs) => tracefs,
            Err(error) => {
                println!("not run: {error}");
                return None;
            }
        };
        if !tracefs.path().join("events/block/block_rq_complete").exists() {
            println!("not run: this kernel has no block tracepoints");
            return None;
        }
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::Builder::new().prefix("fsarena-trace-").tempdir_in("/var/tmp").unwrap();
        fs::create_dir(dir.path().join("mnt")).unwrap();
        Some(Self { _turn: turn, dir, tracefs })
    }

    /// An image of this size on a loop device.
    pub fn claim(&self, size_bytes: u64) -> Claimed {
        let dir = vet::vet_image_dir(self.dir.path(), size_bytes).unwrap();
        let go_on = &mut |_| ControlFlow::Continue(());
        claim_image(&dir, "fsarena-image", size_bytes, false, go_on).unwrap()
    }

    pub fn mnt(&self) -> PathBuf {
        self.dir.path().join("mnt")
    }

    /// Instances of ours that are there.
    pub fn instances(&self) -> Vec<String> {
        let names = fs::read_dir(self.tracefs.path().join("instances")).unwrap();
        let own = format!("fsarena-trace-test-{}", std::process::id());
        let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(&own)).collect()
    }

    /// A name for an instance of this process.
    pub fn name(&self) -> String {
        format!("fsarena-trace-test-{}", std::process::id())
    }

    /// Makes the file system, does `prepare`, then traces `work` to the end of the unmount; `None`
    /// with a printed reason where it is not to be had here.
    pub fn account(
        &self,
        level: &FsLevel,
        size_bytes: u64,
        prepare: impl FnOnce(&Path),
        work: impl FnOnce(&Path),
    ) -> Option<Account> {
        let driver = ready(level)?;
        let claimed = self.claim(size_bytes);
        let formatted: Formatted =
            format(&claimed.target(), &*driver, level, Discard::None).unwrap();
        let device = device(&claimed).to_owned();
        let mnt = self.mnt();
        let mounted = mount(&formatted, &mnt).unwrap();
        prepare(&mnt);
        syncfs(&mnt);
        let before = written_bytes(&device);
        let number = number(&device);
        let session = Session::start(&self.tracefs, &self.name(), number, BUFFER_BYTES).unwrap();
        work(&mnt);
        syncfs(&mnt);
        let map: Map = map_of_files(&mnt).unwrap();
        mounted.unmount().unwrap();
        let total_bytes = written_bytes(&device) - before;
        let trace = session.stop().unwrap();
        let layout = driver.layout(&device).unwrap();
        drop(formatted);
        claimed.release().unwrap();
        assert_eq!(self.instances(), Vec::<String>::new());
        let account = account(&trace, &layout, &[map], &[], total_bytes);
        println!("{}: {account:#?}", level.name);
        assert_eq!(account.lost_events, 0);
        Some(account)
    }
}

/// The level with these mkfs and mount options.
pub fn level(name: &str, mkfs: &[(&str, &str)], mount: &[&str]) -> FsLevel {
    FsLevel {
        mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        mount: mount.iter().map(|option| (*option).to_owned()).collect(),
        ..FsLevel::plain(name)
    }
}

fn ready(level: &FsLevel) -> Option<Driver> {
    let driver = driver(level).unwrap();
    match availability(&*driver, Path::new("/proc")) {
        Availability::Ready => Some(driver),
        Availability::Missing { reason, .. } => {
            println!("not run: {}: {reason}", level.name);
            None
        }
    }
}

pub fn device(claimed: &Claimed) -> PathBuf {
    match claimed.target() {
        TargetSpec::Block { device, .. } => device,
        other => panic!("no device: {other:?}"),
    }
}

pub fn number(device: &Path) -> BlockDevice {
    let rdev = fs::metadata(device).unwrap().rdev();
    BlockDevice { major: rustix::fs::major(rdev), minor: rustix::fs::minor(rdev) }
}

pub fn syncfs(dir: &Path) {
    rustix::fs::syncfs(File::open(dir).unwrap()).unwrap();
}

/// The device's own counter (Documentation/block/stat.rst).
pub fn written_bytes(device: &Path) -> u64 {
    let name = device.file_name().unwrap().to_str().unwrap();
    let stat = fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    stat.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
}

/// What of the account is of that part.
pub fn part(account: &Account, part: Part) -> Written {
    account.parts().get(&part).copied().unwrap_or_default()
}

/// The parts and the counter agree but for this share.
pub fn assert_attributed(account: &Account) {
    let share = account.unattributed_share().unwrap();
    println!("unattributed: {:.4} % of {} bytes", share * 100.0, account.total_bytes);
    assert!(share < 0.01, "{share}: {account:#?}");
}
