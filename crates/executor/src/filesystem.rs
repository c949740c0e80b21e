//! The file system under test: made, mounted, watched, taken down.
//!
//! Where it is mounted, what its device does, how much room it has. What is said of it goes into
//! the record by the caller.

use crate::error::{StepError, out_of_order};
use fsarena_devices::format::{self, Formatted};
use fsarena_devices::mount::{self, Mounted};
use fsarena_devices::{cache, settle};
use fsarena_filesystems::{Backing, Driver};
use fsarena_metrics::{BlockStat, KernelRoots, Watch, block_stat};
use fsarena_model::capacity::Predicted;
use fsarena_model::record::{Effective, Notice, Space};
use fsarena_model::spec::{TargetSpec, TrialSpec};
use fsarena_process::private;
use rustix::fs::{CWD, FileType, Mode, StatVfs};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The file system of a trial.
pub(crate) struct TestedFs<'a> {
    pub(crate) spec: &'a TrialSpec,
    pub(crate) roots: KernelRoots,
    pub(crate) driver: Driver,
    used_empty_bytes: Option<u64>,
    // Declared last: dropped in this order, so that a mount goes before what is under it.
    mounted: Option<Mounted>,
    formatted: Option<Formatted>,
}

impl<'a> TestedFs<'a> {
    /// Not made yet.
    pub(crate) fn new(spec: &'a TrialSpec, driver: Driver) -> Self {
        let roots = KernelRoots::default();
        Self { spec, roots, driver, used_empty_bytes: None, mounted: None, formatted: None }
    }

    /// Makes it, and says in `effective` how.
    pub(crate) fn make(&mut self, effective: &mut Effective) -> Result<Option<Notice>, StepError> {
        let levels = &self.spec.contender.levels;
        let formatted =
            format::format(&self.spec.target, &*self.driver, &levels.fs, levels.discard)?;
        effective.mkfs_argv = formatted.mkfs_argv().to_vec();
        let mut unread = None;
        let devices = self.spec.target.devices();
        devices.iter().try_for_each(|device| cache::flush_device(device))?;
        if !devices.is_empty() {
            match formatted.features(&*self.driver) {
                Ok(features) => effective.features = features,
                Err(error) => unread = Some(notice("features-unread", error.to_string(), None)),
            }
        }
        self.formatted = Some(formatted);
        Ok(unread)
    }

    /// Mounts it, and says in `effective` how. Whether this is the first time: the tree is touched
    /// then only, never after a chill.
    pub(crate) fn mount(&mut self, effective: &mut Effective) -> Result<bool, StepError> {
        let formatted = self.formatted.as_ref().ok_or_else(|| out_of_order("mount", "reset"))?;
        let mounted = mount::mount(formatted, &self.spec.scratch_dir.join("mnt"))?;
        let is_first = self.used_empty_bytes.is_none();
        let root = work_root(&mounted, self.spec);
        if is_first && matches!(self.spec.target, TargetSpec::Directory { .. }) {
            // What is put into it may be for the eyes of the user alone.
            let own = private::create_dir(&root);
            own.map_err(|error| StepError::new(format!("{}: {error}", root.display())))?;
        }
        if let Some(user) = self.spec.user.filter(|_| is_first) {
            change_owner(&root, user)?;
        }
        if self.spec.contender.levels.is_raw() {
            self.put_node(&root)?;
        }
        effective.mounted_type = Some(mounted.fstype().to_owned());
        effective.mounted_options = Some(mounted.options().to_owned());
        effective.mount_asked = formatted.mount_asked();
        if let Some(device) = self.spec.target.device() {
            effective.served_by = self.driver.served_by(&self.roots.sys, device);
        }
        self.mounted = Some(mounted);
        if is_first {
            self.used_empty_bytes = Some(self.space_used().map_or(0, |(_, used)| used));
        }
        Ok(is_first)
    }

    /// Puts a node of the device into `root`, under the name of the one file of the workload.
    fn put_node(&self, root: &Path) -> Result<(), StepError> {
        let device = self.spec.target.device().ok_or_else(|| out_of_order("node", "reset"))?;
        let path = root.join(self.spec.workload.dataset.first_name());
        let failed = |error: std::io::Error| StepError::new(format!("{}: {error}", path.display()));
        let number = std::fs::metadata(device).map_err(failed)?.rdev();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(CWD, &path, FileType::BlockDevice, mode, number)
            .map_err(|errno| failed(errno.into()))?;
        self.spec.user.map_or(Ok(()), |user| change_owner(&path, user))
    }

    /// Mounts it for what happens before its first mount; that is not taken for the first.
    pub(crate) fn mount_for_age(&self) -> Result<Mounted, StepError> {
        let formatted = self.formatted.as_ref().ok_or_else(|| out_of_order("age", "reset"))?;
        Ok(mount::mount(formatted, &self.spec.scratch_dir.join("mnt"))?)
    }

    /// Whether it is mounted now.
    pub(crate) fn is_mounted(&self) -> bool {
        self.mounted.is_some()
    }

    /// Unmounts it, where it is mounted; how long that took, ns.
    pub(crate) fn unmount(&mut self) -> Result<Option<u64>, StepError> {
        let Some(mounted) = self.mounted.take() else { return Ok(None) };
        match mounted.unmount() {
            Ok(elapsed_ns) => Ok(Some(elapsed_ns)),
            Err(refused) => {
                let (mounted, error) = *refused;
                self.mounted = Some(mounted);
                Err(error.into())
            }
        }
    }

    /// Removes it, or leaves it where the spec says so.
    pub(crate) fn remove(&mut self) -> Result<(), StepError> {
        match self.formatted.take() {
            Some(formatted) if self.spec.keep => formatted.keep(),
            Some(formatted) => formatted.destroy()?,
            None => {}
        }
        Ok(())
    }

    /// The directory that holds the dataset.
    pub(crate) fn work_root(&self) -> Result<PathBuf, StepError> {
        let mounted = self.mounted.as_ref().ok_or_else(|| out_of_order("work", "mount"))?;
        Ok(work_root(mounted, self.spec))
    }

    /// Kernel names of the devices (`loop3`), where there are any of our own.
    pub(crate) fn device_names(&self) -> Vec<String> {
        if self.driver.backing() != Backing::Block {
            return Vec::new();
        }
        let names = self.spec.target.devices().into_iter().filter_map(Path::file_name);
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// The device that is flushed after syncfs, for `durable`: of a file system that may write
    /// behind the last flush of its own.
    pub(crate) fn device_to_flush(&self) -> Option<PathBuf> {
        let device = self.spec.target.device()?;
        let waits = self.driver.syncs_to_device(&self.spec.contender.levels.fs);
        (self.driver.backing() == Backing::Block && !waits).then(|| device.to_owned())
    }

    /// What `devices` have done and are doing, all together.
    pub(crate) fn activity(&self, devices: &[String]) -> std::io::Result<settle::Activity> {
        let mut all = settle::Activity { completed: 0, in_flight: 0 };
        for device in devices {
            let stat = block_stat(&self.roots, device).map_err(std::io::Error::other)?;
            let others = stat.discards.unwrap_or(0) + stat.flushes.unwrap_or(0);
            all.completed += stat.reads + stat.writes + others;
            all.in_flight += stat.in_flight;
        }
        Ok(all)
    }

    /// Waits until `devices` are idle, within the limits of the spec.
    pub(crate) fn wait_idle(&self, devices: &[String]) -> Result<settle::Quiet, StepError> {
        self.wait_idle_for(devices, self.spec.drain.idle_ns)
    }

    /// Waits until all `devices` were idle for `idle_ns`, as long as the spec allows.
    pub(crate) fn wait_idle_for(
        &self,
        devices: &[String],
        idle_ns: u64,
    ) -> Result<settle::Quiet, StepError> {
        let mut read = || self.activity(devices);
        settle::wait_idle(&mut read, idle_ns, self.spec.drain.cap_ns)
            .map_err(|error| StepError::new(error.to_string()))
    }

    /// The files on a disk under loop devices, of ours or of the user's: their pages may be cached
    /// a second time.
    pub(crate) fn cached_backings(&self) -> Vec<PathBuf> {
        let backing = |part: &TargetSpec| match part {
            TargetSpec::Block { in_memory: true, .. } => None,
            part => part.image().or_else(|| part.backing_file()).map(Path::to_owned),
        };
        self.spec.target.parts().iter().filter_map(backing).collect()
    }

    /// Bytes that its devices have delivered so far.
    pub(crate) fn read_bytes(&self) -> Option<u64> {
        self.counted(|stat| stat.read_bytes)
    }

    /// Bytes that were written to its devices so far.
    pub(crate) fn written_bytes(&self) -> Option<u64> {
        self.counted(|stat| stat.written_bytes)
    }

    /// A counter of all its devices together; absent where there are none, or one cannot be read.
    fn counted(&self, counter: fn(BlockStat) -> u64) -> Option<u64> {
        let names = self.device_names();
        let of_one = |name: &String| block_stat(&self.roots, name).ok().map(counter);
        names.iter().map(of_one).sum::<Option<u64>>().filter(|_| !names.is_empty())
    }

    pub(crate) fn watch(&self, worker_pid: Option<u32>) -> Watch {
        Watch { devices: self.device_names(), worker_pid, ..Watch::default() }
    }

    /// What the mounted file system tells of its room; nothing where there is none.
    fn statvfs(&self) -> Option<StatVfs> {
        let mounted = self.mounted.as_ref().filter(|_| !self.spec.contender.levels.is_raw())?;
        rustix::fs::statvfs(mounted.path()).ok()
    }

    /// Capacity and use of the mounted file system by statvfs(3), bytes.
    pub(crate) fn space_used(&self) -> Option<(u64, u64)> {
        let stat = self.statvfs()?;
        let total = stat.f_blocks.saturating_mul(stat.f_frsize);
        Some((total, total.saturating_sub(stat.f_bfree.saturating_mul(stat.f_frsize))))
    }

    /// Free inodes, where their number is fixed.
    pub(crate) fn inodes_free(&self) -> Option<u64> {
        let stat = self.statvfs()?;
        (stat.f_files > 0).then_some(stat.f_ffree)
    }

    /// Says where there is more or less room than the plan went by.
    pub(crate) fn compare_with_prediction(&self) -> Option<Notice> {
        let predicted = self.spec.predicted?;
        let stat = self.statvfs()?;
        let found = Predicted {
            free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            inodes: (stat.f_files > 0).then_some(stat.f_ffree),
        };
        let text = format!("after the mount statfs tells {}", predicted.is_off(&found)?);
        let remedy = "whether work fits was decided by the prediction: tell the authors";
        Some(notice("prediction-off", text, Some(remedy.to_owned())))
    }

    /// Space after the last phase, of which `stored_bytes` are contents.
    pub(crate) fn space(&self, stored_bytes: u64) -> Option<Space> {
        let stat = self.statvfs()?;
        let (total_bytes, used_bytes) = self.space_used()?;
        let fixed = stat.f_files > 0;
        Some(Space {
            total_bytes,
            used_bytes,
            used_empty_bytes: self.used_empty_bytes.unwrap_or(0),
            stored_bytes,
            inodes_total: fixed.then_some(stat.f_files),
            inodes_free: fixed.then_some(stat.f_ffree),
        })
    }
}

/// A notice without a figure.
pub(crate) fn notice(code: &str, text: String, remedy: Option<String>) -> Notice {
    Notice { code: code.to_owned(), text, remedy, measure: None }
}

/// The root of the file system; in a directory target a directory of this trial alone, so that it
/// meets neither the grown directory nor the remembered names of the trial before.
fn work_root(mounted: &Mounted, spec: &TrialSpec) -> PathBuf {
    match spec.target {
        TargetSpec::Directory { .. } => {
            mounted.path().join(format!("fsarena-trial-{}", spec.key.sequence))
        }
        _ => mounted.path().to_owned(),
    }
}

/// Gives the root of a fresh file system to the user that will work in it.
fn change_owner(root: &Path, user: fsarena_model::work::UserIds) -> Result<(), StepError> {
    std::os::unix::fs::chown(root, Some(user.uid), Some(user.gid)).map_err(|error| {
        StepError::Failed {
            error: format!("{}: cannot be given to user {}: {error}", root.display(), user.uid),
            remedy: Some("leave --user out, or use a file system with owners".to_owned()),
        }
    })
}
