//! Times of sources that guests read: copies take them along (`cp -a`), and equal trials are
//! to have equal disks.
//!
//! The kernel of the host notes when a file is read, where its access time is not later than its
//! last change: the second of two equal trials would find another time than the first. So access
//! times are set to one that is still to come. Data of the user's own that stay where they are are
//! read once instead: for a day after that nothing is noted.

use crate::request::RunError;
use fsarena_model::job::{Origin, Source};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// 2037-01-01: as late as every file system has times.
const READ_UNIX_S: i64 = 2_114_380_800;
/// Where the clocks of guests begin, 2023-11-14: no file is younger than its copy.
const CHANGED_UNIX_S: i64 = 1_700_000_000;

/// Sets the times of a staged source, all its files and directories.
pub(crate) fn set(source: &Source, path: &Path) -> Result<(), RunError> {
    let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let at = |tv_sec| Timespec { tv_sec, tv_nsec: 0 };
    let times = Timestamps {
        last_access: at(READ_UNIX_S),
        last_modification: match source.origin {
            Origin::Made { .. } => at(CHANGED_UNIX_S),
            // The user's own have their times.
            Origin::Own { .. } => omit,
        },
    };
    set_below(path, &times)
        .map_err(|error| RunError::target(format!("{}: {error}", path.display()), None))
}

/// Reads a little of every file, directory and link of the user's own, for its access time.
pub(crate) fn read_once(path: &Path) -> Result<(), RunError> {
    read_below(path).map_err(|error| RunError::target(format!("{}: {error}", path.display()), None))
}

fn read_below(path: &Path) -> io::Result<()> {
    let kind = path.symlink_metadata()?.file_type();
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            read_below(&entry?.path())?;
        }
    } else if kind.is_symlink() {
        fs::read_link(path)?;
    } else if kind.is_file() {
        io::copy(&mut File::open(path)?.take(1), &mut io::sink())?;
    }
    Ok(())
}

fn set_below(path: &Path, times: &Timestamps) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            set_below(&entry?.path(), times)?;
        }
    }
    Ok(utimensat(CWD, path, times, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::job::{Contents, SourcePlace};
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn reading_changes_no_time() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("data");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("sub/file"), "x").unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("link")).unwrap();
        let source = |origin: Origin| Source {
            name: "data".to_owned(),
            origin,
            place: SourcePlace::Memory,
            archive: None,
            contents: Contents::default(),
        };
        let all = ["", "sub", "sub/file", "link"];
        let times = || {
            all.map(|name| {
                let meta = root.join(name).symlink_metadata().unwrap();
                (meta.atime(), meta.mtime())
            })
        };
        let before = times();
        set(&source(Origin::Own { path: root.clone() }), &root).unwrap();
        let own = before.map(|(_, mtime)| (READ_UNIX_S, mtime));
        assert_eq!(times(), own);
        set(&source(Origin::Made { description: String::new() }), &root).unwrap();
        fs::read(root.join("sub/file")).unwrap();
        fs::read_dir(&root).unwrap().count();
        fs::read_link(root.join("link")).unwrap();
        assert_eq!(times(), [(READ_UNIX_S, CHANGED_UNIX_S); 4]);
    }
}
