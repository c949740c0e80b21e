//! Whether this machine has what a driver needs: the kernel's type and the programs.

use super::{Backing, FileSystem};
use fsarena_process::cmd::SearchPath;
use std::fs;
use std::path::Path;

/// Whether a file system can be used here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Availability {
    /// Yes.
    Ready,
    /// No.
    Missing {
        /// What is missing and what to do.
        reason: String,
        /// Debian package that brings it, where one does.
        package: Option<String>,
    },
}

/// Whether this machine has what `driver` needs; `proc_root` is `/proc`.
#[must_use]
pub fn availability(driver: &dyn FileSystem, proc_root: &Path) -> Availability {
    availability_with(driver, proc_root, Path::new("/lib/modules"), &SearchPath::from_env())
}

/// The same with every root given: `modules_root` is `/lib/modules`.
#[must_use]
pub fn availability_with(
    driver: &dyn FileSystem,
    proc_root: &Path,
    modules_root: &Path,
    search: &SearchPath,
) -> Availability {
    if driver.backing() != Backing::Directory
        && let Some(kernel_type) = driver.kernel_type()
        && !kernel_has(kernel_type, proc_root, modules_root)
    {
        let reason = format!(
            "this kernel has no {kernel_type} (not in {}, and no module of that name)",
            proc_root.join("filesystems").display()
        );
        return Availability::Missing { reason, package: None };
    }
    tools_availability(driver, search)
}

/// Whether the programs that `driver` needs are there.
#[must_use]
pub fn tools_availability(driver: &dyn FileSystem, search: &SearchPath) -> Availability {
    for need in driver.tools() {
        if search.find(&need.program).is_none() {
            let remedy = match &need.package {
                Some(package) => format!("; install the package {package}"),
                None => String::new(),
            };
            let reason = format!("{}{remedy}", search.why_missing(&need.program));
            return Availability::Missing { reason, package: need.package };
        }
    }
    Availability::Ready
}

/// Built in or loaded, or a module that mount(2) would load.
fn kernel_has(kernel_type: &str, proc_root: &Path, modules_root: &Path) -> bool {
    let listed = fs::read_to_string(proc_root.join("filesystems")).unwrap_or_default();
    if listed.lines().any(|line| line.split_whitespace().last() == Some(kernel_type)) {
        return true;
    }
    has_module(kernel_type, proc_root, modules_root)
}

/// Whether a module of this name is installed for the running kernel, loaded or not.
pub fn has_module(name: &str, proc_root: &Path, modules_root: &Path) -> bool {
    let release = fs::read_to_string(proc_root.join("sys/kernel/osrelease")).unwrap_or_default();
    let release = release.trim();
    if release.is_empty() {
        return false;
    }
    let modules = fs::read_to_string(modules_root.join(release).join("modules.dep"));
    let name = format!("/{name}.ko");
    modules.unwrap_or_default().lines().any(|line| {
        let path = line.split(':').next().unwrap_or_default();
        path.contains(&name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver;
    use fsarena_model::contender::FsLevel;

    #[test]
    fn the_kernel_must_know_the_type_or_have_the_module() {
        let dir = tempfile::tempdir().unwrap();
        let proc_root = dir.path().join("proc");
        fs::create_dir_all(proc_root.join("sys/kernel")).unwrap();
        fs::write(proc_root.join("filesystems"), "nodev\ttmpfs\n\text4\n").unwrap();
        let xfs = driver(&FsLevel::plain("xfs")).unwrap();
        let ask = |proc_root: &Path| {
            availability_with(&*xfs, proc_root, dir.path(), &SearchPath::from_env())
        };
        let Availability::Missing { reason, package } = ask(&proc_root) else { panic!() };
        assert!(reason.contains("this kernel has no xfs") && package.is_none(), "{reason}");
        fs::write(proc_root.join("sys/kernel/osrelease"), "6.18.0\n").unwrap();
        fs::create_dir(dir.path().join("6.18.0")).unwrap();
        fs::write(dir.path().join("6.18.0/modules.dep"), "kernel/fs/xfs/xfs.ko.xz: a.ko\n")
            .unwrap();
        let after = ask(&proc_root);
        let kernel =
            matches!(&after, Availability::Missing { reason, .. } if reason.contains("kernel"));
        assert!(!kernel, "{after:?}");
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("filesystems"), "\txfs\n\text4\n\tbtrfs\nnodev\ttmpfs\n")
            .unwrap();
        let nothing = SearchPath::new(vec![dir.path().join("empty")]);
        for (name, wanted) in [("ext4", "e2fsprogs"), ("xfs", "xfsprogs"), ("btrfs", "btrfs-progs")]
        {
            let driver = driver(&FsLevel::plain(name)).unwrap();
            let got = availability_with(&*driver, dir.path(), dir.path(), &nothing);
            let Availability::Missing { reason, package } = got else { panic!("{name}") };
            assert_eq!(package.as_deref(), Some(wanted));
            assert!(reason.contains(wanted), "{reason}");
        }
    }

    #[test]
    fn a_directory_needs_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let driver = driver(&FsLevel::plain("directory")).unwrap();
        let nothing = SearchPath::new(Vec::new());
        let got = availability_with(&*driver, dir.path(), dir.path(), &nothing);
        assert_eq!(got, Availability::Ready);
    }
}
