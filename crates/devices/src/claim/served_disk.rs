//! Disks of a process of ours that are no target of a trial: one that answers at once, one whose
//! writes are logged, and crash states, one after the other.

use super::vdisk::{HeldDisk, floor_ns, slower_than};
use crate::inventory::{Roots, identify};
use crate::{TargetError, cache, served};
use fsarena_model::contender::DeviceLevel;
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_vdisk::{Logged, Served, ServedDisk};
use std::path::{Path, PathBuf};

/// A disk that answers everything at once and keeps nothing: what FUSE and the loop device cost.
#[derive(Debug)]
pub struct NullDisk {
    disk: HeldDisk,
}

impl NullDisk {
    /// Starts its process, which is this program with the argument `vdisk_server`, and puts it
    /// under a loop device.
    ///
    /// # Errors
    /// When FUSE or loop devices are missing, or the process does not start.
    pub fn new(size_bytes: u64) -> Result<Self, TargetError> {
        let name = format!("fsarena-null-{}", std::process::id());
        let told = ServedDisk {
            model: "const".to_owned(),
            size_bytes,
            store_dir: None,
            socket: format!("{name}-vdisk"),
            is_logged: false,
            states_dir: None,
            is_beside_another: false,
        };
        let mut disk = HeldDisk::begin(&told)?;
        disk.attach(&name)?;
        Ok(Self { disk })
    }

    /// Its device node.
    ///
    /// # Errors
    /// When it was released.
    pub fn path(&self) -> Result<PathBuf, TargetError> {
        self.disk.path()
    }
}

/// A disk under a loop device, served by a process that ends with this one.
#[derive(Debug)]
pub struct NativeDisk {
    disk: HeldDisk,
    device: PathBuf,
    told: ServedDisk,
}

impl NativeDisk {
    /// An empty one that answers in the time of its model and logs what is written to it. `name` is
    /// that of its loop device.
    ///
    /// # Errors
    /// As a claim of such a device: what is missing, flushes that do not arrive, a model that is
    /// faster than a native disk can be.
    pub fn logged(
        (model, size_bytes): (&str, u64),
        name: &str,
        seed: u64,
    ) -> Result<Self, TargetError> {
        let disk = Self::begin((model, size_bytes), name, (None, false))?;
        disk.disk.see_flushes(&disk.device, &disk.told.socket)?;
        slower_than(&disk.level(), floor_ns(&disk.device)?)?;
        served::fresh(&disk.told.socket, seed)?;
        cache::flush_device(&disk.device)?;
        Ok(disk)
    }

    /// The crash states of a directory; none is shown yet. Whether other ones are shown beside them
    /// is said, because who waits awake takes their time.
    ///
    /// # Errors
    /// What is missing, or states that cannot be read.
    pub fn of_states(
        (model, size_bytes): (&str, u64),
        name: &str,
        (states_dir, is_beside_another): (&Path, bool),
    ) -> Result<Self, TargetError> {
        let states_dir = Some(states_dir.to_owned());
        Self::begin((model, size_bytes), name, (states_dir, is_beside_another))
    }

    fn begin(
        (model, size_bytes): (&str, u64),
        name: &str,
        (states_dir, is_beside_another): (Option<PathBuf>, bool),
    ) -> Result<Self, TargetError> {
        let told = ServedDisk {
            model: model.to_owned(),
            size_bytes,
            store_dir: None,
            socket: format!("{name}-vdisk"),
            is_logged: states_dir.is_none(),
            states_dir,
            is_beside_another,
        };
        let mut disk = HeldDisk::begin(&told)?;
        disk.attach(name)?;
        let device = disk.path()?;
        let begun = Self { disk, device, told };
        // File systems choose their options by it.
        begun.disk.announce(&begun.level())?;
        Ok(begun)
    }

    fn level(&self) -> DeviceLevel {
        DeviceLevel::Vdisk { size_bytes: self.told.size_bytes, model: self.told.model.clone() }
    }

    /// The disk as who makes and mounts file systems is told of it.
    ///
    /// # Errors
    /// When it is gone.
    pub fn target(&self) -> Result<TargetSpec, TargetError> {
        Ok(TargetSpec::Block {
            device: self.device.clone(),
            size_bytes: self.told.size_bytes,
            in_memory: false,
            under: Under::Modelled {
                identity: identify(&self.device, &Roots::default())?,
                socket: self.told.socket.clone(),
            },
            members: Vec::new(),
        })
    }

    /// Shows the crash state of this number; nothing may use the one before.
    ///
    /// # Errors
    /// When the process says why not.
    pub fn show_state(&self, number: u32, is_logged: bool) -> Result<(), TargetError> {
        // Nothing of the state before is in the page cache, nor what somebody has read meanwhile.
        cache::flush_device(&self.device)?;
        served::state(&self.told.socket, number, is_logged)?;
        cache::forget_device(&self.device)
    }

    /// Writes its log to a new file, packed.
    ///
    /// # Errors
    /// When it has none, or the file cannot be written.
    pub fn log(&self, file: &Path) -> Result<Logged, TargetError> {
        served::log(&self.told.socket, file)
    }

    /// What was served since the last question, and how late.
    ///
    /// # Errors
    /// When its process is gone.
    pub fn report(&self) -> Result<Served, TargetError> {
        served::report(&self.told.socket)
    }
}
