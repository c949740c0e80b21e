//! On what RUNs of cases work, and whether this machine has it.

use crate::chaos::ranks::Ranks;
use crate::chaos::shape::{Nature, Stored};
use crate::chaos::victim::Victim;
use fsarena_filesystems::{Availability, availability, driver};
use fsarena_guests::kernel::Cache;
use fsarena_model::contender::FsLevel;
use fsarena_process::cmd::{find, why_missing};
use fsarena_testkit::machine::why_no_zram;
use fsarena_testkit::why_no_loop_devices;
use std::path::Path;

/// On what a RUN works.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunTarget {
    pub(super) name: &'static str,
    pub(super) nature: Nature,
    /// File systems that are made on it; none in a directory.
    pub(super) file_systems: &'static [&'static str],
    /// The level of the factor `device` for these file systems; the path where it is a directory.
    pub(super) device: fn(&[&str], &Path) -> String,
    /// Whether it is a device of this kernel, with memory cgroups, accounts and cold caches.
    pub(super) is_device: bool,
    /// Whether the experiment may say if caches are cold or warm.
    pub(super) has_cache: bool,
    /// What defines its file systems in the experiment file, where the program does not know them.
    pub(super) definition: &'static str,
    /// Whose work it is, besides that of one worker.
    pub(super) ranks: Ranks,
    /// How its file systems are aged; none where they are fresh.
    pub(super) age: Option<&'static str>,
    /// Whether its work is done in guest kernels.
    pub(super) is_in_guests: bool,
    /// Guess of the length of a trial, ms.
    pub(super) trial_ms: u64,
    pub(super) why_not: fn() -> Option<String>,
}

const STEPS: &[&str] =
    &["reset", "mount", "make-dirs", "settle", "chill", "measure", "teardown", "store"];
const AGED_STEPS: &[&str] = &["reset", "age", "mount", "measure", "teardown", "store"];

const ON_DEVICES: &[&str] = &["ext4", "xfs", "btrfs", "ext2", "ext3", "f2fs", "jfs", "nilfs2"];

pub(super) const LOOP: RunTarget = RunTarget {
    name: "loop",
    nature: Nature {
        victims: &[Victim::Executor, Victim::InnerExecutor, Victim::Worker, Victim::Tool],
        steps: STEPS,
        words: &[],
        stored: &[Stored::Database, Stored::Journals, Stored::Images],
        has_database: true,
        has_images: true,
        is_long: false,
        may_fail: false,
        is_seen_by_all: false,
    },
    file_systems: ON_DEVICES,
    device: |file_systems, _| format!("loop:{}", size(file_systems)),
    is_device: true,
    has_cache: true,
    definition: "",
    ranks: Ranks::None,
    age: None,
    is_in_guests: false,
    trial_ms: 500,
    why_not: no_loop_devices,
};

/// The age is made anew by each trial, or kept in a directory by the first and read by others.
pub(super) const AGES: RunTarget = RunTarget {
    name: "ages",
    nature: Nature { steps: AGED_STEPS, ..LOOP.nature },
    file_systems: &["ext4", "xfs", "btrfs"],
    device: |_, _| "loop:320M".to_owned(),
    age: Some("45%:churn=0.5"),
    trial_ms: 2500,
    ..LOOP
};

pub(super) const RAM: RunTarget = RunTarget {
    name: "ram",
    nature: Nature {
        stored: &[Stored::Database, Stored::Journals],
        has_images: false,
        ..LOOP.nature
    },
    device: |file_systems, _| format!("ram:{}", size(file_systems)),
    trial_ms: 350,
    ..LOOP
};

pub(super) const ZRAM: RunTarget = RunTarget {
    name: "zram",
    device: |file_systems, _| format!("zram:{}", size(file_systems)),
    nature: Nature { is_seen_by_all: true, ..RAM.nature },
    trial_ms: 350,
    why_not: || no_loop_devices().or_else(|| why_no_zram().map(str::to_owned)),
    ..LOOP
};

pub(super) const DIRECTORY: RunTarget = RunTarget {
    name: "directory",
    nature: Nature { victims: &[Victim::Executor, Victim::Worker], ..RAM.nature },
    file_systems: &[],
    device: |_, dir| dir.display().to_string(),
    is_device: false,
    trial_ms: 200,
    why_not: || None,
    ..LOOP
};

pub(super) const RENDEZVOUS: RunTarget = RunTarget {
    name: "rendezvous",
    nature: Nature {
        victims: &[Victim::Executor, Victim::Worker, Victim::Rank, Victim::RankConnection],
        // A rank that is killed takes its trial with it.
        may_fail: true,
        ..DIRECTORY.nature
    },
    ranks: Ranks::Dial,
    trial_ms: 400,
    ..DIRECTORY
};

pub(super) const HOSTS: RunTarget = RunTarget {
    name: "hosts",
    nature: Nature {
        victims: &[Victim::Executor, Victim::Worker, Victim::Rank],
        ..RENDEZVOUS.nature
    },
    ranks: Ranks::ByShell,
    trial_ms: 500,
    ..DIRECTORY
};

pub(super) const TMPFS: RunTarget = RunTarget {
    name: "tmpfs",
    nature: Nature { victims: LOOP.nature.victims, ..RAM.nature },
    file_systems: &["tmpfs"],
    device: |_, _| "ram:128M".to_owned(),
    why_not: || (!rustix::process::geteuid().is_root()).then(|| "needs root".to_owned()),
    ..DIRECTORY
};

pub(super) const VDISK: RunTarget = RunTarget {
    name: "vdisk",
    file_systems: &["ext4", "xfs", "btrfs"],
    device: |_, _| "vdisk:1G:model=hdd-laptop".to_owned(),
    nature: Nature {
        victims: &[
            Victim::Executor,
            Victim::InnerExecutor,
            Victim::Worker,
            Victim::DiskServer,
            Victim::Tool,
        ],
        // The disk may be late.
        may_fail: true,
        ..RAM.nature
    },
    is_device: false,
    trial_ms: 2000,
    why_not: || no_loop_devices().or_else(no_fuse),
    ..LOOP
};

pub(super) const VIRTUAL: RunTarget = RunTarget {
    name: "virtual",
    file_systems: &["ext4", "xfs", "btrfs", "ext2"],
    device: |_, _| "virtual:1G:model=hdd-2007".to_owned(),
    nature: Nature { victims: &[Victim::VirtualExecutor, Victim::Guest], ..RAM.nature },
    has_cache: false,
    is_in_guests: true,
    trial_ms: 1200,
    why_not: no_guest_kernel,
    ..DIRECTORY
};

/// A file system in user space: a daemon, and commands that make and mount it.
pub(super) const FUSE: RunTarget = RunTarget {
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

/// Why there are no guests.
pub(super) fn no_guest_kernel() -> Option<String> {
    match Cache::of_user() {
        Ok(cache) if !cache.list().is_empty() => None,
        Ok(cache) => Some(format!("no guest kernel in {}", cache.dir().display())),
        Err(error) => Some(error.to_string()),
    }
}

/// Why there is no file system or disk in user space.
pub(super) fn no_fuse() -> Option<String> {
    (!Path::new("/dev/fuse").exists()).then(|| "no /dev/fuse".to_owned())
}

pub(super) fn no_loop_devices() -> Option<String> {
    why_no_loop_devices().map(str::to_owned)
}

impl RunTarget {
    /// Why file systems cannot be made on it here: what is missing, and the reason.
    pub(super) fn why_not_with(&self, file_systems: &[&str]) -> Option<(String, String)> {
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
}
