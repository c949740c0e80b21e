//! Which paths may become targets. Looks, and changes nothing.

mod block;
mod consent;

pub use block::{VettedDevice, vet_block};
pub use consent::{ConsentError, WipeConsent};

use crate::{Refusal, loopdev, mountinfo};
use fsarena_model::units::Bytes;
use rustix::fs::{Access, AtFlags, CWD, FileType, accessat, stat, statfs};
use std::path::{Path, PathBuf};

/// Space that must be left free next to an image, bytes.
pub const IMAGE_MARGIN_BYTES: u64 = 64 << 20;

/// A directory in which images may be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VettedImageDir {
    path: PathBuf,
    in_memory: bool,
}

impl VettedImageDir {
    /// The directory, absolute and without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it lies in memory (tmpfs, ramfs).
    #[must_use]
    pub fn in_memory(&self) -> bool {
        self.in_memory
    }

    /// Where an image of this name lies.
    #[must_use]
    pub fn image_path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// A directory in which a directory of ours may be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VettedDirectory {
    path: PathBuf,
    fs_type: String,
    in_memory: bool,
}

impl VettedDirectory {
    /// The user's directory, absolute and without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Type of the file system it is on, as in mountinfo.
    #[must_use]
    pub fn fs_type(&self) -> &str {
        &self.fs_type
    }

    /// Whether it lies in memory (tmpfs, ramfs).
    #[must_use]
    pub fn in_memory(&self) -> bool {
        self.in_memory
    }

    /// Where a directory of ours of this name lies.
    #[must_use]
    pub fn ours(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Magic numbers of statfs(2) (`linux/magic.h`) of file systems that hold no files of ours.
const PSEUDO: [(i64, &str); 17] = [
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x7363_6673, "securityfs"),
    (0x1cd1, "devpts"),
    (0x6265_6570, "configfs"),
    (0xcafe_4a11, "bpf"),
    (0x6165_676c, "pstore"),
    (0xde5e_81e4, "efivarfs"),
    (0x9584_58f6, "hugetlbfs"),
    (0x1980_0202, "mqueue"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x6573_5543, "fusectl"),
    (0x6e73_6673, "nsfs"),
];
const TMPFS: i64 = 0x0102_1994;
const RAMFS: i64 = 0x8584_58f6;

/// Vets the directory of images: it must exist, be writable, hold files, and have room for
/// `size_bytes` and the margin. Images that are there already count as used.
///
/// # Errors
/// Says what is wrong and what to do.
pub fn vet_image_dir(dir: &Path, size_bytes: u64) -> Result<VettedImageDir, Refusal> {
    const REMEDY: &str = "name another directory with --image-dir";
    let path = writable_directory(dir, REMEDY)?;
    let magic = magic(&path, REMEDY)?;
    let free = free_bytes(&path)
        .map_err(|error| Refusal::new(dir, format!("free space unknown: {error}"), REMEDY))?;
    let needed = size_bytes.saturating_add(IMAGE_MARGIN_BYTES);
    if free < needed {
        let reason = format!(
            "{} free, {} needed for the image and a margin: {} missing",
            Bytes(free),
            Bytes(needed),
            Bytes(needed - free)
        );
        return Err(Refusal::new(dir, reason, format!("free some space, or {REMEDY}")));
    }
    let in_memory = matches!(magic, TMPFS | RAMFS);
    if in_memory {
        enough_memory(dir, needed)?;
    }
    Ok(VettedImageDir { path, in_memory })
}

/// Vets a directory as a target: it must exist, be writable and hold files.
///
/// # Errors
/// Says what is wrong and what to do; block devices are refused by name.
pub fn vet_directory(dir: &Path) -> Result<VettedDirectory, Refusal> {
    const REMEDY: &str = "name a writable directory, or --on loop:SIZE";
    let path = writable_directory(dir, REMEDY)?;
    let magic = magic(&path, REMEDY)?;
    let entry = mountinfo::find_for_path(&path).ok().flatten();
    let fs_type = entry.map_or_else(|| "unknown".to_owned(), |entry| entry.fstype);
    Ok(VettedDirectory { path, fs_type, in_memory: matches!(magic, TMPFS | RAMFS) })
}

/// Free for this user, bytes.
pub(crate) fn free_bytes(dir: &Path) -> Result<u64, std::io::Error> {
    let fs = rustix::fs::statvfs(dir)?;
    Ok(fs.f_bavail.saturating_mul(fs.f_frsize))
}

fn writable_directory(dir: &Path, remedy: &str) -> Result<PathBuf, Refusal> {
    let refuse = |reason: String| Refusal::new(dir, reason, remedy);
    let meta = stat(dir).map_err(|error| match error {
        rustix::io::Errno::NOENT => {
            Refusal::new(dir, "does not exist", format!("create it, or {remedy}"))
        }
        error => refuse(std::io::Error::from(error).to_string()),
    })?;
    match FileType::from_raw_mode(meta.st_mode) {
        FileType::Directory => {}
        FileType::BlockDevice => {
            return Err(Refusal::new(
                dir,
                "is a block device, not a directory",
                "give the device itself with --on and --wipe, or name a directory of a file \
                 system on it",
            ));
        }
        _ => return Err(refuse("is not a directory".to_owned())),
    }
    let path = dir.canonicalize().map_err(|error| refuse(error.to_string()))?;
    if path.to_str().is_none_or(|text| text.chars().any(char::is_control)) {
        return Err(refuse("its name is not plain UTF-8".to_owned()));
    }
    let below_ours = below_our_mount(&path)
        .map_err(|error| refuse(format!("what it is on is not known: mountinfo: {error}")))?;
    if below_ours {
        return Err(refuse("is on a file system that a run of ours has mounted".to_owned()));
    }
    accessat(CWD, &path, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
        .map_err(|error| refuse(format!("not writable: {}", std::io::Error::from(error))))?;
    Ok(path)
}

/// Whether the path is on a file system of ours: its source is our name, or a loop device over
/// an image of ours.
fn below_our_mount(path: &Path) -> std::io::Result<bool> {
    Ok(mountinfo::find_for_path(path)?.is_some_and(|entry| {
        let image = loopdev::backing_file(Path::new(&entry.source));
        let name = image.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
        entry.source == "fsarena" || name.is_some_and(|name| name.starts_with("fsarena-"))
    }))
}

fn magic(path: &Path, remedy: &str) -> Result<i64, Refusal> {
    let fs = statfs(path)
        .map_err(|e| Refusal::new(path, std::io::Error::from(e).to_string(), remedy))?;
    #[expect(clippy::useless_conversion, reason = "the type differs between architectures")]
    let magic = i64::from(fs.f_type) & 0xffff_ffff;
    match PSEUDO.iter().find(|(number, _)| *number == magic) {
        Some((_, name)) => {
            let reason = format!("is on {name}, which holds no files of users");
            Err(Refusal::new(path, reason, remedy))
        }
        None => Ok(magic),
    }
}

/// Memory that may be used without swapping, bytes. `proc_root` is `/proc`.
pub(crate) fn available_bytes(proc_root: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(proc_root.join("meminfo")).unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .map(|kib| kib << 10)
}

/// A tmpfs may promise more than the machine has.
fn enough_memory(dir: &Path, needed: u64) -> Result<(), Refusal> {
    match available_bytes(Path::new("/proc")) {
        Some(bytes) if bytes < needed => Err(Refusal::new(
            dir,
            format!(
                "it lies in memory, and only {} of the {} needed are available: {} missing",
                Bytes(bytes),
                Bytes(needed),
                Bytes(needed - bytes)
            ),
            "use a smaller size, or --on loop:SIZE",
        )),
        _ => Ok(()),
    }
}
