//! What the tests need from the system, and how it is got.
//!
//! On Debian and its relatives, as root, missing packages are installed; elsewhere they are named
//! and the tests that need them say `not run`. Nothing is upgraded and nothing is removed.

use std::path::Path;

use super::processes::{End, Session, call, cargo};
use super::tally::{NotRun, Outcome};
use fsarena_process::cmd::find;

/// A program the tests start and the Debian package that brings it.
type Need = (String, String);

/// Besides the programs of the drivers of file systems, which name their packages themselves.
const NEEDS: &[(&str, &str)] = &[
    ("xfs_info", "xfsprogs"),
    ("fuse2fs", "fuse2fs"),
    ("fio", "fio"),
    ("sqlite3", "sqlite3"),
    // States of devices that must be refused.
    ("sfdisk", "fdisk"),
    ("parted", "parted"),
    ("mkfs.vfat", "dosfstools"),
    ("mkfs.exfat", "exfatprogs"),
    ("mkfs.ntfs", "ntfs-3g"),
    ("mkfs.udf", "udftools"),
    ("mksquashfs", "squashfs-tools"),
    ("mkfs.erofs", "erofs-utils"),
    ("cryptsetup", "cryptsetup-bin"),
    ("make-bcache", "bcache-tools"),
    ("hformat", "hfsutils"),
    ("pvcreate", "lvm2"),
    ("mount", "mount"),
    ("losetup", "mount"),
    ("wipefs", "util-linux"),
    // Hosts that are reached by ssh.
    ("sshd", "openssh-server"),
    ("ssh", "openssh-client"),
    ("ip", "iproute2"),
    // A file system that they share.
    ("mfsmaster", "moosefs-master"),
    ("mfschunkserver", "moosefs-chunkserver"),
    ("mfsmount", "moosefs-client"),
    // The report is looked at.
    ("chromium", "chromium"),
];
/// Launchers of ranks, which only `--all` tries all.
const NEEDS_OF_ALL: &[(&str, &str)] = &[
    ("mpirun", "openmpi-bin"),
    ("munged", "munge"),
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("srun", "slurm-client"),
];
/// For kernels with modules: the kernel starts it when a file system is mounted.
const MODULES: (&str, &str) = ("modprobe", "kmod");
/// Components of the toolchain, by the cargo command they bring.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Installs what is missing and may be installed.
pub fn run(session: &Session) -> Outcome {
    let mut outcome = Outcome::default();
    let components = components(session, &mut outcome);
    let missing = || missing(session.full);
    let packages = packages(missing());
    if !packages.is_empty() {
        let reason = match forbidden() {
            Some(reason) => Err(reason),
            None => install(session, &packages, &mut outcome),
        };
        let still = self::packages(missing());
        let reason = reason.err().unwrap_or_else(|| "the package does not bring it".to_owned());
        for package in &still {
            let why = format!("{reason}; install it by hand (`{package}` on Debian)");
            outcome.not_run.push(NotRun::new(format!("set-up of {package}"), why));
        }
    }
    outcome.passed = usize::from(components && outcome.not_run.is_empty());
    outcome
}

fn missing(full: bool) -> Vec<Need> {
    let modules = Path::new("/proc/modules").exists().then_some(MODULES);
    let of_all = if full { NEEDS_OF_ALL } else { &[] };
    let own = NEEDS.iter().chain(of_all).copied().chain(modules);
    let own = own.map(|(program, package)| (program.to_owned(), package.to_owned()));
    let drivers = fsarena_filesystems::builtin().iter().flat_map(|driver| driver.tools());
    let drivers = drivers.filter_map(|need| Some((need.program, need.package?)));
    drivers.chain(own).filter(|(program, _)| find(program).is_none()).collect()
}

/// Each package once, in order.
fn packages(missing: Vec<Need>) -> Vec<String> {
    let mut packages: Vec<_> = missing.into_iter().map(|(_, package)| package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// Why packages cannot be installed here.
fn forbidden() -> Option<String> {
    if find("apt-get").is_none() {
        return Some("there is no apt-get here".to_owned());
    }
    let root = rustix::process::geteuid().is_root();
    (!root).then(|| "only root may install it".to_owned())
}

fn install(session: &Session, packages: &[String], outcome: &mut Outcome) -> Result<(), String> {
    let apt = |log: &str, args: &[&str]| {
        let wait = ["-o", "DPkg::Lock::Timeout=120", "-q", "-y"];
        let mut command = call("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(wait).args(args);
        let ended = session.run(log, &mut command);
        match ended.end {
            End::Good => Ok(()),
            End::Bad(how) | End::Stopped(how) => {
                let last = ended.text.lines().rev().find(|line| !line.trim().is_empty());
                Err(format!("apt-get {}: {how}: {}", args[0], last.unwrap_or("no output")))
            }
        }
    };
    outcome.output.push(format!("  installing {}", packages.join(" ")));
    // Old lists are tried too: a mirror that is down for updates may still have the packages.
    let updated = apt("apt-update", &["update"]);
    let mut args = vec!["install", "--no-install-recommends"];
    args.extend(packages.iter().map(String::as_str));
    apt("apt-install", &args).map_err(|error| match updated {
        Ok(()) => error,
        Err(update) => format!("{update}; {error}"),
    })
}

/// Adds rustfmt and clippy where rustup can.
fn components(session: &Session, outcome: &mut Outcome) -> bool {
    let mut all = true;
    for (command, component) in COMPONENTS {
        let there = || {
            let log = format!("{component} version");
            matches!(session.run(&log, cargo().args([command, "--version"])).end, End::Good)
        };
        if there() {
            continue;
        }
        let added = session.run("rustup", call("rustup").args(["component", "add", component]));
        if !there() {
            all = false;
            let why = match added.end {
                End::Good => "rustup added it and cargo does not find it".to_owned(),
                End::Bad(how) | End::Stopped(how) => format!("rustup could not add it: {how}"),
            };
            outcome.not_run.push(NotRun::new(format!("set-up of {component}"), why));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_once() {
        let missing =
            [("mkfs.xfs", "xfsprogs"), ("btrfs", "btrfs-progs"), ("xfs_info", "xfsprogs")];
        let missing = missing.map(|(program, package)| (program.to_owned(), package.to_owned()));
        assert_eq!(packages(missing.into()), ["btrfs-progs", "xfsprogs"]);
        assert!(packages(Vec::new()).is_empty());
    }

    #[test]
    fn programs_are_listed_once() {
        let mut programs: Vec<_> = NEEDS.iter().map(|(program, _)| program).collect();
        programs.sort_unstable();
        programs.dedup();
        assert_eq!(programs.len(), NEEDS.len());
    }
}
