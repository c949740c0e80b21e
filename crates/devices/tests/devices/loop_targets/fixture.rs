//! What the tests share: one at a time, a directory of their own, and the proof that nothing is
//! left.

use fsarena_devices::claim::{Claimed, claim_image};
use fsarena_devices::format::{Formatted, format};
use fsarena_devices::mount::{Mounted, mount};
use fsarena_devices::{leftovers, mountinfo, vet};
use fsarena_filesystems::{Availability, Driver, FileSystem, availability, driver};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::TargetSpec;
use fsarena_testkit::why_no_loop_devices;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The only test that runs, with its directory.
pub struct LoopFixture {
    _turn: MutexGuard<'static, ()>,
    dir: tempfile::TempDir,
}

impl LoopFixture {
    /// Waits for its turn; `None` with a printed reason where it cannot run.
    pub fn enter() -> Option<Self> {
        if let Some(reason) = why_no_loop_devices() {
            println!("not run: {reason}");
            return None;
        }
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::Builder::new().prefix("fsarena-test-").tempdir_in("/var/tmp").unwrap();
        std::fs::create_dir(dir.path().join("mnt")).unwrap();
        Some(Self { _turn: turn, dir })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn mnt(&self) -> PathBuf {
        self.dir().join("mnt")
    }

    pub fn image(&self) -> PathBuf {
        self.dir().join("fsarena-image")
    }

    /// An image of this size on a loop device.
    pub fn claim(&self, size_bytes: u64) -> Claimed {
        let dir = vet::vet_image_dir(self.dir(), size_bytes).unwrap();
        claim_image(&dir, "fsarena-image", size_bytes, false, &mut |_| {
            std::ops::ControlFlow::Continue(())
        })
        .unwrap()
    }

    /// No mount, no loop device, no image.
    pub fn assert_nothing_left(&self) {
        let left: Vec<_> = mountinfo::current()
            .unwrap()
            .into_iter()
            .filter(|entry| entry.mount_point.starts_with(self.dir()))
            .collect();
        assert!(left.is_empty(), "still mounted: {left:?}");
        assert_eq!(leftovers::loop_devices_of(&self.image()).unwrap(), Vec::<PathBuf>::new());
        assert!(!self.image().exists(), "the image is still there");
    }
}

/// The driver of this name where it can be used here.
pub fn ready(name: &str) -> Option<Driver> {
    let driver = driver(&FsLevel::plain(name)).unwrap();
    match availability(&*driver, Path::new("/proc")) {
        Availability::Ready => Some(driver),
        Availability::Missing { reason, .. } => {
            println!("not run: {name}: {reason}");
            None
        }
    }
}

pub fn device(target: &TargetSpec) -> &Path {
    match target {
        TargetSpec::Block { device, .. } => device,
        other => panic!("no device: {other:?}"),
    }
}

pub fn formatted(
    claimed: &Claimed,
    driver: &dyn FileSystem,
    level: &FsLevel,
    discard: Discard,
) -> Formatted {
    format(&claimed.target(), driver, level, discard).unwrap()
}

pub fn mounted(formatted: &Formatted, fixture: &LoopFixture) -> Mounted {
    mount(formatted, &fixture.mnt()).unwrap()
}
