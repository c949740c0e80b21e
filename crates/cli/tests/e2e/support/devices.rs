//! Devices of the test's own, which stand for those of a user: loop devices over images that
//! fsarena did not make, and what the machine has next to them.

use super::{TestEnv, sh, tool};
use fsarena_devices::mountinfo;
use fsarena_testkit::machine::{queue_of, why_no_zram};
use fsarena_trace::{TraceError, Tracefs};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// Others use loop devices too, and release them.
const PATIENCE: Duration = Duration::from_secs(60);

/// A loop device over an image, attached until it is dropped. Its image lies outside of the test
/// environment, so that it may stay attached while the test looks whether fsarena has left
/// something.
pub struct Disk {
    dir: tempfile::TempDir,
    device: Option<String>,
    losetup: String,
}

impl Disk {
    /// An empty one; `None`, with the reason printed, without losetup.
    pub fn new(size: &str) -> Option<Self> {
        Self::with(size, |_| {})
    }

    /// One whose image is prepared before it is attached.
    pub fn with(size: &str, prepare: impl FnOnce(&str)) -> Option<Self> {
        let losetup = tool("losetup")?;
        let dir = tempfile::Builder::new().prefix("fsarena-e2e-disk-").tempdir_in("/var/tmp");
        let mut disk = Self { dir: dir.unwrap(), device: None, losetup };
        sh(&format!("truncate -s {size} {}", disk.image()));
        prepare(&disk.image());
        disk.attach();
        Some(disk)
    }

    /// Path of the image.
    pub fn image(&self) -> String {
        self.dir.path().join("disk").display().to_string()
    }

    /// Path of the device.
    pub fn device(&self) -> &str {
        self.device.as_deref().expect("attached")
    }

    /// Kernel's name of the device.
    pub fn name(&self) -> &str {
        self.device().trim_start_matches("/dev/")
    }

    /// The option that gives up the device, with what is on it.
    pub fn wipe(&self, signatures: &str) -> String {
        match signatures {
            "" => self.device().to_owned(),
            names => format!("{}={names}", self.device()),
        }
    }

    /// Attaches it to any free device.
    fn attach(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let args = ["-f", "-P", "--show", &self.image()];
            let ran = Command::new(&self.losetup).args(args).output().unwrap();
            if ran.status.success() {
                self.device = Some(String::from_utf8(ran.stdout).unwrap().trim().to_owned());
                return;
            }
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(Instant::now() < deadline, "no free loop device: {said}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Detaches it and attaches `image` to the same number; what is said of it is then said of
    /// another medium.
    pub fn replace(&mut self, image: &str) {
        let device = self.device().to_owned();
        sh(&format!("{} -d {device}", self.losetup));
        let deadline = Instant::now() + PATIENCE;
        while !backing(&device).is_empty() {
            assert!(Instant::now() < deadline, "{device} stays attached");
            std::thread::sleep(Duration::from_millis(5));
        }
        sh(&format!("{} {device} {image}", self.losetup));
    }

    /// Detaches it.
    pub fn detach(&mut self) {
        let Some(device) = self.device.take() else { return };
        sh(&format!("{} -d {device}", self.losetup));
    }

    /// SHA-256 of all that is on it.
    pub fn hash(&self) -> String {
        hash(&self.image())
    }

    /// The signature that blkid sees; empty where there is none.
    pub fn signature(&self) -> String {
        sh(&format!("blkid -p -o value -s TYPE {} || true", self.device()))
    }

    /// Settings of its queue that are factors.
    pub fn queue(&self) -> BTreeMap<&'static str, String> {
        queue_of(self.name())
    }

    /// Not mounted in any way, and still over its own image.
    #[track_caller]
    pub fn assert_free(&self) {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(&format!(" {} ", self.device())), "{mounts}");
        assert_eq!(backing(self.device()), self.image());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Some(device) = self.device.take() {
            let args = ["-d", &device];
            let _ = Command::new(&self.losetup).args(args).output();
        }
    }
}

/// SHA-256 of a file or a device.
pub fn hash(path: &str) -> String {
    sh(&format!("sha256sum {path} | cut -d' ' -f1"))
}

fn backing(device: &str) -> String {
    let name = device.trim_start_matches("/dev/");
    let file = format!("/sys/block/{name}/loop/backing_file");
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

/// Whether zram can be had; prints the reason where it cannot.
pub fn has_zram() -> bool {
    let reason = why_no_zram();
    reason.iter().for_each(|reason| println!("not run: {reason}"));
    reason.is_none()
}

/// Something mounted by the test; unmounted with it.
pub struct Mounted(String);

impl Mounted {
    pub fn at(device: &str, dir: &str) -> Self {
        sh(&format!("mount {device} {dir}"));
        Self(dir.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

impl TestEnv {
    /// Instances of tracing of this test environment's RUNs.
    pub fn traces(&self) -> Vec<String> {
        let uids: Vec<String> = self.runs().into_iter().map(|run| run.uid).collect();
        traces_of(&uids)
    }
}

/// Instances of tracing of these RUNs; none where this user may not see, and so not make, any.
pub fn traces_of(uids: &[String]) -> Vec<String> {
    open().map(|tracefs| tracefs.instances_of(uids)).unwrap_or_default()
}

/// Whether block requests can be traced; prints the reason where they cannot.
pub fn has_tracing() -> bool {
    match open() {
        Ok(tracefs) if tracefs.path().join("events/block").exists() => true,
        Ok(_) => {
            println!("not run: this kernel has no block tracepoints");
            false
        }
        Err(error) => {
            println!("not run: {error}");
            false
        }
    }
}

fn open() -> Result<Tracefs, TraceError> {
    Tracefs::open(&mountinfo::text().unwrap())
}
