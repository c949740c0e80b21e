//! On what a RUN of a case works, and whether this machine has it.

use fsarena_filesystems::{Availability, availability, driver};
use fsarena_model::contender::FsLevel;
use fsarena_places::kernel::Cache;
use fsarena_process::cmd::{find, why_missing};
use fsarena_testkit::machine::why_no_zram;
use fsarena_testkit::why_no_loop_devices;
use std::path::Path;

/// A kind of target. A new one is a constant here and a line in [`TARGETS`].
#[derive(Debug)]
pub(super) struct Target {
    pub(super) name: &'static str,
    /// File systems that are made on it; none in a directory.
    pub(super) file_systems: &'static [&'static str],
    /// The level of the factor `device` for these file systems; the path where it is a directory.
    pub(super) device: fn(&[&str], &Path) -> String,
    /// Whether it is a device of this kernel, with memory cgroups, accounts and cold caches.
    pub(super) is_device: bool,
    /// Whether the experiment may say if caches are cold or warm.
    pub(super) has_cache: bool,
    /// Whether its trials may fail where the machine is busy: the disk is late.
    pub(super) may_be_late: bool,
    /// Whether other tests look at all devices of its kind.
    pub(super) is_seen_by_all: bool,
    /// What defines its file systems in the experiment file, where the program does not know them.
    pub(super) definition: &'static str,
    /// Whose work it is, besides that of one worker.
    pub(super) ranks: Ranks,
    /// Guess of the length of a trial, ms.
    pub(super) trial_ms: u64,
    why_not: fn() -> Option<String>,
}

/// How the ranks of a RUN come to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ranks {
    /// There are none.
    None,
    /// They dial the runner, when it has said how.
    Dial,
    /// The runner starts them by a shell that stands for ssh.
    ByShell,
}

/// All of them.
pub(super) const TARGETS: &[Target] =
    &[LOOP, RAM, ZRAM, FUSE, DIRECTORY, TMPFS, VDISK, VIRTUAL, RENDEZVOUS, HOSTS];

/// The names of those without ranks.
pub(super) const WITHOUT_RANKS: &[&str] =
    &["loop", "ram", "zram", "fuse", "directory", "tmpfs", "vdisk", "virtual"];

const ON_DEVICES: &[&str] = &["ext4", "xfs", "btrfs", "ext2", "ext3", "f2fs", "jfs", "nilfs2"];

const LOOP: Target = Target {
    name: "loop",
    file_systems: ON_DEVICES,
    device: |file_systems, _| format!("loop:{}", size(file_systems)),
    is_device: true,
    has_cache: true,
    may_be_late: false,
    is_seen_by_all: false,
    definition: "",
    ranks: Ranks::None,
    trial_ms: 500,
    why_not: no_loop_devices,
};

const RAM: Target = Target {
    name: "ram",
    device: |file_systems, _| format!("ram:{}", size(file_systems)),
    trial_ms: 350,
    ..LOOP
};

const ZRAM: Target = Target {
    name: "zram",
    device: |file_systems, _| format!("zram:{}", size(file_systems)),
    is_seen_by_all: true,
    trial_ms: 350,
    why_not: || no_loop_devices().or_else(|| why_no_zram().map(str::to_owned)),
    ..LOOP
};

const DIRECTORY: Target = Target {
    name: "directory",
    file_systems: &[],
    device: |_, dir| dir.display().to_string(),
    is_device: false,
    has_cache: true,
    may_be_late: false,
    is_seen_by_all: false,
    definition: "",
    ranks: Ranks::None,
    trial_ms: 200,
    why_not: || None,
};

const RENDEZVOUS: Target = Target {
    name: "rendezvous",
    // A rank that is killed takes its trial with it.
    may_be_late: true,
    ranks: Ranks::Dial,
    trial_ms: 400,
    ..DIRECTORY
};

const HOSTS: Target =
    Target { name: "hosts", may_be_late: true, ranks: Ranks::ByShell, trial_ms: 500, ..DIRECTORY };

const TMPFS: Target = Target {
    name: "tmpfs",
    file_systems: &["tmpfs"],
    device: |_, _| "ram:128M".to_owned(),
    why_not: || (!rustix::process::geteuid().is_root()).then(|| "needs root".to_owned()),
    ..DIRECTORY
};

const VDISK: Target = Target {
    name: "vdisk",
    file_systems: &["ext4", "xfs", "btrfs"],
    device: |_, _| "vdisk:1G:model=hdd-laptop".to_owned(),
    is_device: false,
    may_be_late: true,
    trial_ms: 2000,
    why_not: || no_loop_devices().or_else(no_fuse),
    ..LOOP
};

const VIRTUAL: Target = Target {
    name: "virtual",
    file_systems: &["ext4", "xfs", "btrfs", "ext2"],
    device: |_, _| "virtual:1G:model=hdd-2007".to_owned(),
    has_cache: false,
    trial_ms: 1200,
    why_not: || match Cache::of_user() {
        Ok(cache) if !cache.list().is_empty() => None,
        Ok(cache) => Some(format!("no guest kernel in {}", cache.dir().display())),
        Err(error) => Some(error.to_string()),
    },
    ..DIRECTORY
};

/// A file system in user space: a daemon, and commands that make and mount it.
const FUSE: Target = Target {
    name: "fuse",
    file_systems: &["fuse2fs"],
    device: |_, _| "loop:128M".to_owned(),
    is_device: false,
    definition: "[[filesystem]]\nname = \"fuse2fs\"\n\
        create = \"mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0 {dev}\"\n\
        mount = \"fuse2fs -o rw,allow_other {dev} {mnt}\"\nunmount = \"umount {mnt}\"\n\
        programs = [\"mkfs.ext4\", \"fuse2fs\"]\n",
    why_not: || {
        let programs = ["mkfs.ext4", "fuse2fs"];
        let missing = programs.into_iter().find(|name| find(name).is_none());
        no_loop_devices().or_else(no_fuse).or_else(|| missing.map(why_missing))
    },
    trial_ms: 800,
    ..LOOP
};

/// xfs wants the most.
fn size(file_systems: &[&str]) -> &'static str {
    if file_systems.contains(&"xfs") { "300M" } else { "128M" }
}

fn no_fuse() -> Option<String> {
    (!Path::new("/dev/fuse").exists()).then(|| "no /dev/fuse".to_owned())
}

fn no_loop_devices() -> Option<String> {
    why_no_loop_devices().map(str::to_owned)
}

impl Target {
    /// Why a case with these file systems cannot be run here: what is missing, and the reason.
    pub(super) fn why_not(&self, file_systems: &[&str]) -> Option<(String, String)> {
        if let Some(reason) = (self.why_not)() {
            return Some((self.name.to_owned(), reason));
        }
        // Those that an experiment defines are known by their programs. Those of guests are made in
        // the guest, but by the programs of this machine.
        file_systems.iter().find_map(|name| {
            let driver = driver(&FsLevel::plain(name)).ok()?;
            match availability(&*driver, Path::new("/proc")) {
                Availability::Ready => None,
                Availability::Missing { reason, .. } => Some(((*name).to_owned(), reason)),
            }
        })
    }

    /// Whether it is this kind of target.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }
}
