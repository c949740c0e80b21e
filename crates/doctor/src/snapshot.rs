//! What all checks look at: read once, in one place.

use crate::layers::{Layer, Stack, by_path, covering, device_of};
use crate::read;
use crate::sample::Sample;
use crate::target::Target;
use fsarena_devices::inventory::{self, Inventory};
use fsarena_devices::mountinfo::{self, MountEntry};
use fsarena_metrics::KernelRoots;
use fsarena_model::host::Host;
use fsarena_process::cmd::SearchPath;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The machine and the targets as they are now.
pub(crate) struct SystemSnapshot {
    /// Where the kernel's files are.
    pub roots: KernelRoots,
    /// Where programs are looked for.
    pub tools: SearchPath,
    /// Facts of the machine.
    pub host: Host,
    /// What is mounted, or why that is not known.
    pub mounts: Result<Vec<MountEntry>, String>,
    /// Devices, the named ones before those below them.
    pub layers: Vec<Layer>,
    pub directories: Vec<Directory>,
    /// The load over a short window.
    pub sample: Sample,
    /// Subjects, or what is below them, that could not be found: the place and the reason.
    pub unseen: Vec<(String, String)>,
}

/// A directory with its file system.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub path: PathBuf,
    /// The mount that it is on.
    pub mount: MountEntry,
    /// Room on its file system, or why that is not known.
    pub room: Result<Room, String>,
    /// Kernel name of the device of its file system, where it has one.
    pub device: Option<String>,
}

/// Room on a file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    pub all_bytes: u64,
    /// For this user, bytes.
    pub free_bytes: u64,
    /// Inodes; 0 where there is no fixed number of them.
    pub all_inodes: u64,
    /// Unused inodes.
    pub free_inodes: u64,
}

impl Directory {
    /// Its path, as a place of findings.
    pub fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// Whether the mount or its superblock has this option, alone or with a value.
    pub fn option(&self, name: &str) -> Option<&str> {
        let all = self.mount.mount_options.split(',').chain(self.mount.super_options.split(','));
        let mut hits = all.filter_map(|option| match option.split_once('=') {
            Some((key, value)) => (key == name).then_some(value),
            None => (option == name).then_some(""),
        });
        hits.next()
    }
}

impl SystemSnapshot {
    /// Finds the targets and what is below them, then watches the load for as long as `window`.
    pub fn read(
        roots: &KernelRoots,
        targets: &[Target],
        tools: SearchPath,
        window: Duration,
    ) -> Self {
        let mounts = mounts(roots);
        let (inventory, unlisted) = match Inventory::read(&under(roots)) {
            Ok(inventory) => (inventory, None),
            Err(error) => (Inventory::default(), Some(error.to_string())),
        };
        let known_mounts = mounts.as_deref().unwrap_or_default();
        let mut stack =
            Stack { roots, inventory: &inventory, mounts: known_mounts, layers: Vec::new() };
        let (mut directories, mut unseen) = (Vec::new(), Vec::new());
        for target in targets {
            let found = match target {
                Target::Host => Ok(()),
                Target::Device(path) => device(path, &mut stack),
                Target::Directory(path) => {
                    directory(path, &mounts, &mut stack).map(|found| directories.push(found))
                }
            };
            if let Err((place, reason)) = found {
                let reason = unlisted.clone().unwrap_or(reason);
                unseen.push((place.display().to_string(), reason));
            }
        }
        let layers = stack.layers;
        let names: Vec<&str> = layers.iter().map(|layer| layer.device.name.as_str()).collect();
        let sample = Sample::take(roots, &names, window);
        let host = fsarena_metrics::host(roots);
        Self { roots: roots.clone(), tools, host, mounts, layers, directories, sample, unseen }
    }
}

/// The same roots, as those who list devices take them.
pub(crate) fn under(roots: &KernelRoots) -> inventory::Roots {
    inventory::Roots {
        proc: roots.proc.clone(),
        sys: roots.sys.clone(),
        ..inventory::Roots::default()
    }
}

/// What is mounted, or why that is not known.
pub(crate) fn mounts(roots: &KernelRoots) -> Result<Vec<MountEntry>, String> {
    let path = roots.proc.join("self/mountinfo");
    let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let all = mountinfo::parse(&text);
    if all.is_empty() { Err(format!("{}: names no mount", path.display())) } else { Ok(all) }
}

/// A place that was not found, with the reason.
pub(crate) type Unseen = (PathBuf, String);

/// Finds a device that was named.
pub(crate) fn device(path: &Path, stack: &mut Stack<'_>) -> Result<(), Unseen> {
    let reason = || (path.to_owned(), "the kernel does not list this block device".to_owned());
    let found = by_path(stack.inventory, path).ok_or_else(reason)?;
    stack.add(found, true);
    Ok(())
}

/// Finds a directory that was named, and its device.
pub(crate) fn directory(
    path: &Path,
    mounts: &Result<Vec<MountEntry>, String>,
    stack: &mut Stack<'_>,
) -> Result<Directory, Unseen> {
    let unseen = |reason: &str| (path.to_owned(), reason.to_owned());
    let mounts = mounts.as_ref().map_err(|reason| unseen(reason))?;
    let mount = covering(mounts, path).ok_or_else(|| unseen("no mount is known for it"))?;
    let below = device_of(mount, stack.inventory);
    if let Some(device) = below {
        stack.add(device, true);
    }
    let room = rustix::fs::statvfs(path).map_err(|error| error.to_string()).map(|stat| Room {
        all_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
        free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
        all_inodes: stat.f_files,
        free_inodes: stat.f_ffree,
    });
    let device = below.map(|device| device.name.clone());
    Ok(Directory { path: path.to_owned(), mount: mount.clone(), room, device })
}

/// Areas of swap, or why they are not known.
pub(crate) fn swaps(roots: &KernelRoots) -> Result<Vec<Swap>, String> {
    let path = roots.proc.join("swaps");
    let text = read::text(&path)?;
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let kib = |index: usize| words.get(index)?.parse::<u64>().ok()?.checked_mul(1024);
        let name = PathBuf::from((*words.first()?).replace("\\040", " "));
        Some(Swap { name, all_bytes: kib(2)?, used_bytes: kib(3)? })
    };
    let bad = |text: &str| format!("{}: line {text:?} is not understood", path.display());
    text.lines().skip(1).map(|text| line(text).ok_or_else(|| bad(text))).collect()
}

/// An area of swap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Swap {
    /// Device or file.
    pub name: PathBuf,
    /// Its size, bytes.
    pub all_bytes: u64,
    /// Of it in use, bytes.
    pub used_bytes: u64,
}
