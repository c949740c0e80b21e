//! Where tracefs is, and an instance of it that is ours (Documentation/trace/ftrace.rst, section
//! Instances).

use crate::error::{DESCRIPTORS, TraceError, shown};
use crate::request::BlockDevice;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the names of our instances begin with; nothing else is ever removed.
const OURS: &str = "fsarena-";
/// More is not read of a file of tracefs.
const FILE_MAX_BYTES: usize = 64 << 10;

/// tracefs: the one that is mounted, else one that nobody else sees. There is but one behind both:
/// an instance that is made in one is in all.
#[derive(Clone, Debug)]
pub struct Tracefs {
    path: PathBuf,
    /// The mount at no place, which is gone when this is closed for the last time.
    _mount: Option<Arc<OwnedFd>>,
}

impl Tracefs {
    /// Where it is mounted by `mountinfo`, the text of `/proc/self/mountinfo` (proc(5)); else
    /// mounted at no place (fsopen(2), fsmount(2)), so that nothing is left of it however this
    /// process ends.
    ///
    /// # Errors
    /// When it is not mounted (or not to be reached) and the kernel has none, or does not let this
    /// process mount it.
    pub fn open(mountinfo: &str) -> Result<Self, TraceError> {
        let reached = |path: &PathBuf| path.join("instances").is_dir();
        if let Some(path) = mounted(mountinfo).into_iter().find(reached) {
            return Ok(Self { path, _mount: None });
        }
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)
            .map_err(|error| TraceError::mount("fsopen", error))?;
        fsconfig_create(&context).map_err(|error| TraceError::mount("fsconfig", error))?;
        let flags = FsMountFlags::FSMOUNT_CLOEXEC;
        let mount = fsmount(&context, flags, MountAttrFlags::empty())
            .map_err(|error| TraceError::mount("fsmount", error))?;
        let path = Path::new(DESCRIPTORS).join(mount.as_raw_fd().to_string());
        if !reached(&path) {
            return Err(TraceError::NoTracefs);
        }
        Ok(Self { path, _mount: Some(Arc::new(mount)) })
    }

    /// Its root, for this process alone and for as long as this is kept.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes an instance that a killed run left; says where, if there was one.
    ///
    /// # Errors
    /// When the name is not one of ours, or the kernel refuses: `EBUSY` where a process still
    /// reads it.
    pub fn remove_instance(&self, name: &str) -> Result<Option<String>, TraceError> {
        let path = self.instance_path(name)?;
        match fs::remove_dir(&path) {
            Ok(()) => Ok(Some(shown(&path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(TraceError::io("rmdir", &path, error)),
        }
    }

    /// Names of the instances of the RUNs with these ids.
    #[must_use]
    pub fn instances_of(&self, uids: &[String]) -> Vec<String> {
        let all = fs::read_dir(self.path.join("instances")).into_iter().flatten().flatten();
        let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| uids.iter().any(|uid| name.contains(uid.as_str()))).collect()
    }

    fn instance_path(&self, name: &str) -> Result<PathBuf, TraceError> {
        if name.starts_with(OURS) && !name.contains(['/', '\0']) {
            return Ok(self.path.join("instances").join(name));
        }
        Err(TraceError::Name { name: name.to_owned() })
    }
}

/// Where tracefs is mounted, whole.
fn mounted(mountinfo: &str) -> Vec<PathBuf> {
    let mounted = |line: &str| {
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, mount_point) = (fields.next()?, fields.next()?);
        let is_tracefs = kind.split(' ').next() == Some("tracefs");
        (is_tracefs && root == "/").then(|| PathBuf::from(unescaped(mount_point)))
    };
    mountinfo.lines().filter_map(mounted).collect()
}

/// `\040` is a space, and so on.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                all.push(char::from(code));
                all.push_str(&part[3..]);
            }
            None => {
                all.push('\\');
                all.push_str(part);
            }
        }
    }
    all
}

/// An instance of ours; removed when dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    path: PathBuf,
    /// What the path leads through.
    _tracefs: Tracefs,
}

impl Instance {
    /// Makes it. Nothing is traced in it yet.
    pub(crate) fn create(tracefs: &Tracefs, name: &str) -> Result<Self, TraceError> {
        let path = tracefs.instance_path(name)?;
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self { path, _tracefs: tracefs.clone() }),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::AlreadyExists => TraceError::Exists { path },
                io::ErrorKind::NotFound => TraceError::NoTracefs,
                _ => TraceError::io("mkdir", &path, error),
            }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self, name: &str) -> Result<String, TraceError> {
        let path = self.path.join(name);
        // Some of these files give what fits into the first read, and then nothing more.
        let mut bytes = vec![0; FILE_MAX_BYTES];
        let mut length = 0;
        let error = |error| TraceError::io("read", &path, error);
        let mut file = fs::File::open(&path).map_err(error)?;
        loop {
            match file.read(&mut bytes[length..]).map_err(error)? {
                0 => break,
                count => length += count,
            }
        }
        bytes.truncate(length);
        String::from_utf8(bytes).map_err(|_| TraceError::malformed(&path, "no text"))
    }

    pub(crate) fn write(&self, name: &str, value: &str) -> Result<(), TraceError> {
        let path = self.path.join(name);
        fs::write(&path, value).map_err(|error| TraceError::io("write", &path, error))
    }

    /// The processors that have a buffer.
    pub(crate) fn cpus(&self) -> Result<Vec<String>, TraceError> {
        let path = self.path.join("per_cpu");
        let error = |error| TraceError::io("read", &path, error);
        let mut cpus = Vec::new();
        for entry in fs::read_dir(&path).map_err(error)? {
            let name = entry.map_err(error)?.file_name().to_string_lossy().into_owned();
            if name.starts_with("cpu") {
                cpus.push(format!("per_cpu/{name}"));
            }
        }
        cpus.sort();
        match cpus.is_empty() {
            true => Err(TraceError::malformed(&path, "no directory of a processor")),
            false => Ok(cpus),
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.write("tracing_on", "0");
        let _ = fs::remove_dir(&self.path);
    }
}

/// Which events tell of the requests of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Subject {
    pub(crate) whole: BlockDevice,
    /// First sector of the device or partition on it.
    pub(crate) start_sector: u64,
    /// The first after its last.
    pub(crate) end_sector: u64,
    /// Whether the device takes bios as they come, without making requests of them.
    pub(crate) takes_bios: bool,
}

impl Subject {
    /// Looks below `sys_root`, which is `/sys`, Documentation/ABI/stable/sysfs-block.
    pub(crate) fn find(sys_root: &Path, device: BlockDevice) -> Result<Self, TraceError> {
        let path = sys_root.join("dev/block").join(device.to_string());
        let Ok(own) = path.canonicalize() else {
            return Err(TraceError::NoDevice { device, path });
        };
        // Only devices with queues of requests have this (blk_mq_sysfs_register).
        if !own.join("partition").exists() {
            let takes_bios = !own.join("mq").exists();
            return Ok(Self { whole: device, start_sector: 0, end_sector: u64::MAX, takes_bios });
        }
        let disk = own.parent().unwrap_or(&own);
        if !disk.join("mq").exists() {
            let problem = "it is a partition of a device without queues of requests";
            return Err(TraceError::Device { device, problem });
        }
        let start_sector = number(&own.join("start"))?;
        let end_sector = start_sector.saturating_add(number(&own.join("size"))?);
        let whole = number_of_device(&disk.join("dev"))?;
        Ok(Self { whole, start_sector, end_sector, takes_bios: false })
    }
}

fn number(path: &Path) -> Result<u64, TraceError> {
    let text = fs::read_to_string(path).map_err(|error| TraceError::io("read", path, error))?;
    text.trim().parse().map_err(|_| TraceError::malformed(path, "no number"))
}

fn number_of_device(path: &Path) -> Result<BlockDevice, TraceError> {
    let text = fs::read_to_string(path).map_err(|error| TraceError::io("read", path, error))?;
    let parsed = text.trim().split_once(':').and_then(|(major, minor)| {
        Some(BlockDevice { major: major.parse().ok()?, minor: minor.parse().ok()? })
    });
    parsed.ok_or_else(|| TraceError::malformed(path, "no device number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefs_is_found_where_it_is_mounted() {
        let text = "\
22 28 0:21 / /sys rw,nosuid - sysfs sysfs rw
31 22 0:7 / /sys/kernel/debug rw shared:15 - debugfs debugfs rw
99 31 0:12 /instances /mnt rw - tracefs none rw
33 22 0:12 / /sys/kernel/tra\\040cing rw,relatime shared:16 master:3 - tracefs none rw
";
        assert_eq!(mounted(text), [Path::new("/sys/kernel/tra cing")]);
        for text in ["31 22 0:7 / /sys/kernel/debug rw - debugfs tracefs rw", ""] {
            assert!(mounted(text).is_empty(), "{text}");
        }
        assert!(mounted(" - \n\u{e9} - tracefs\n").is_empty());
        assert_eq!(unescaped("a\\1\\999\\\u{e9}b\\134"), "a\\1\\999\\\u{e9}b\\");
    }

    #[test]
    fn only_our_instances_are_made_and_removed() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("instances")).unwrap();
        let hidden = "1 1 0:1 / /nonexistent rw - tracefs none rw";
        let at = format!("{hidden}\n2 1 0:1 / {} rw - tracefs none rw", root.path().display());
        let tracefs = Tracefs::open(&at).unwrap();
        assert_eq!(tracefs.path(), root.path(), "that which is to be reached");
        for name in ["", "other", "fsarena-../x", "fsarena-\0"] {
            let error = tracefs.remove_instance(name).unwrap_err();
            assert!(matches!(error, TraceError::Name { .. }), "{error}");
            let error = Instance::create(&tracefs, name).unwrap_err();
            assert!(error.to_string().contains("fsarena-"), "{error}");
        }
        assert_eq!(tracefs.remove_instance("fsarena-1").unwrap(), None);
        let path = root.path().join("instances/fsarena-1");
        let instance = Instance::create(&tracefs, "fsarena-1").unwrap();
        let error = Instance::create(&tracefs, "fsarena-1").unwrap_err().to_string();
        assert!(error.contains("already") && error.contains("rmdir"), "{error}");
        // Here the files of an instance stay behind, which the kernel takes away with it.
        drop(instance);
        fs::remove_file(path.join("tracing_on")).unwrap();
        let removed = tracefs.remove_instance("fsarena-1").unwrap();
        assert_eq!(removed, Some(path.display().to_string()));
        assert!(!path.exists());
        fs::remove_dir(root.path().join("instances")).unwrap();
        let error = Instance::create(&tracefs, "fsarena-1").unwrap_err();
        assert!(matches!(error, TraceError::NoTracefs));
    }

    #[test]
    fn partitions_and_devices_without_queues_are_known() {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("devices/sda");
        let partition = disk.join("sda1");
        let plain = sys.path().join("devices/zram0");
        let below_plain = plain.join("zram0p1");
        for dir in [&disk.join("mq"), &partition, &below_plain, &sys.path().join("dev/block")] {
            fs::create_dir_all(dir).unwrap();
        }
        for (path, text) in [
            (disk.join("dev"), "8:0\n"),
            (partition.join("partition"), "1\n"),
            (partition.join("start"), "2048\n"),
            (partition.join("size"), "1000\n"),
            (below_plain.join("partition"), "1\n"),
        ] {
            fs::write(path, text).unwrap();
        }
        for (number, to) in
            [("8:0", &disk), ("8:1", &partition), ("252:0", &plain), ("252:1", &below_plain)]
        {
            std::os::unix::fs::symlink(to, sys.path().join("dev/block").join(number)).unwrap();
        }
        let find = |major, minor| Subject::find(sys.path(), BlockDevice { major, minor });
        let whole = BlockDevice { major: 8, minor: 0 };
        let expected = Subject { whole, start_sector: 0, end_sector: u64::MAX, takes_bios: false };
        assert_eq!(find(8, 0).unwrap(), expected);
        let expected = Subject { start_sector: 2048, end_sector: 3048, ..expected };
        assert_eq!(find(8, 1).unwrap(), expected);
        assert!(find(252, 0).unwrap().takes_bios);
        assert!(find(252, 1).unwrap_err().to_string().starts_with("252:1: it is a partition"));
        assert!(find(9, 9).unwrap_err().to_string().contains("is 9:9 a block device"));
        fs::write(partition.join("size"), "many").unwrap();
        assert!(find(8, 1).unwrap_err().to_string().contains("size: no number"));
    }
}
