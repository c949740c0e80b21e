//! Packages unpacked and laid together as one `/usr`: what a package has in `bin`, `sbin` or `lib`
//! goes below `usr`, as it does on a machine whose `/bin` is a link to `/usr/bin`.

use fsarena_process::cmd::{self, CmdError, Conditions};
use fsarena_process::limits::Limits;
use fsarena_process::program::TrustedProgram;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For one package.
const LIMIT: Duration = Duration::from_secs(300);
/// Directories of the root that are links into `/usr`.
const MERGED: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// Which package each file of the tree is of, by its path below `usr`.
pub(super) type Owners = BTreeMap<PathBuf, usize>;

/// Unpacks `package` by dpkg-deb into `raw`, which is not there yet.
pub(super) fn unpack(
    dpkg_deb: &TrustedProgram,
    package: &Path,
    raw: &Path,
) -> Result<(), CmdError> {
    let args = ["--extract".as_ref(), package.as_os_str(), raw.as_os_str()];
    let conditions = Conditions { limits: Limits::of_writer(), ..Conditions::within(LIMIT) };
    cmd::run_with(dpkg_deb, &args, &conditions).map(drop)
}

/// Moves what package number `number` has unpacked in `raw` into `usr`; what lies elsewhere
/// (`/etc`, `/var`) is left.
pub(super) fn lay_over(
    raw: &Path,
    usr: &Path,
    number: usize,
    owners: &mut Owners,
) -> io::Result<()> {
    let parts = MERGED.iter().map(|name| (raw.join(name), usr.join(name)));
    for (from, to) in parts.chain([(raw.join("usr"), usr.to_owned())]) {
        if is_dir(&from) {
            merge(&from, &to, &mut |path| {
                if let Ok(below) = path.strip_prefix(usr) {
                    owners.insert(below.to_owned(), number);
                }
            })?;
        }
    }
    Ok(())
}

fn is_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn merge(from: &Path, to: &Path, moved: &mut dyn FnMut(&Path)) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            merge(&entry.path(), &target, moved)?;
        } else {
            fs::rename(entry.path(), &target)?;
            moved(&target);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_the_root_go_below_usr() {
        let dir = tempfile::tempdir().unwrap();
        let (raw, usr) = (dir.path().join("raw"), dir.path().join("tree/usr"));
        for (path, text) in [("bin/tar", "t"), ("usr/bin/flac", "f"), ("etc/x", "x")] {
            let path = raw.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(raw.join("lib/i386-linux-gnu")).unwrap();
        std::os::unix::fs::symlink("i386-linux-gnu/ld.so", raw.join("lib/ld-linux.so.2")).unwrap();
        let mut owners = Owners::new();
        lay_over(&raw, &usr, 7, &mut owners).unwrap();
        let files: Vec<&str> = owners.keys().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(files, ["bin/flac", "bin/tar", "lib/ld-linux.so.2"]);
        assert!(owners.values().all(|number| *number == 7));
        assert_eq!(fs::read_to_string(usr.join("bin/tar")).unwrap(), "t");
        assert!(!usr.parent().unwrap().join("etc").exists());
    }
}
