//! Files that are made as root for somebody: under sudo they belong to the user who called it.

use rustix::fs::{Gid, Uid, fchown};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::lchown;
use std::path::Path;

/// The user who called sudo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SudoCaller {
    pub uid: u32,
    pub gid: u32,
}

impl SudoCaller {
    /// `None` where this is not root, or nobody but root called sudo.
    #[must_use]
    pub fn from_env() -> Option<Self> {
        let number = |name: &str| std::env::var(name).ok()?.parse().ok();
        Self::for_root(rustix::process::geteuid().is_root(), number("SUDO_UID"), number("SUDO_GID"))
    }

    fn for_root(is_root: bool, uid: Option<u32>, gid: Option<u32>) -> Option<Self> {
        Some(Self { uid: uid?, gid: gid? }).filter(|caller| is_root && caller.uid != 0)
    }

    /// Makes an open file or directory theirs.
    ///
    /// # Errors
    /// Where the file system has no owners, or this is not root.
    pub fn give(self, file: &File) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        Ok(fchown(file, Some(uid), Some(gid))?)
    }

    fn give_tree(self, path: &Path) -> io::Result<()> {
        if path.symlink_metadata()?.is_dir() {
            for entry in fs::read_dir(path)? {
                self.give_tree(&entry?.path())?;
            }
        }
        // A file system without owners keeps it as it is.
        let _ = lchown(path, Some(self.uid), Some(self.gid));
        Ok(())
    }
}

/// Gives a new file to whoever called sudo. A file system without owners keeps it as it is.
pub fn give_to_caller(file: &File) {
    if let Some(caller) = SudoCaller::from_env() {
        let _ = caller.give(file);
    }
}

/// Gives a file, or a directory with all that is in it, to whoever called sudo; links are not
/// followed. It has to be in a directory that nobody else may write.
///
/// # Errors
/// Where a directory cannot be read.
pub fn give_tree_to_caller(path: &Path) -> io::Result<()> {
    SudoCaller::from_env().map_or(Ok(()), |caller| caller.give_tree(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn only_root_gives_and_only_to_another() {
        let (ann, caller) = (Some(1000), Some(SudoCaller { uid: 1000, gid: 1000 }));
        assert_eq!(SudoCaller::for_root(true, ann, ann), caller);
        assert_eq!(SudoCaller::for_root(false, ann, ann), None);
        assert_eq!(SudoCaller::for_root(true, Some(0), Some(0)), None);
        assert_eq!(SudoCaller::for_root(true, None, ann), None);
    }

    #[test]
    fn files_change_their_owner() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: root alone gives files away");
            return;
        }
        let file = tempfile::tempfile().unwrap();
        SudoCaller { uid: 65534, gid: 65533 }.give(&file).unwrap();
        let meta = file.metadata().unwrap();
        assert_eq!((meta.uid(), meta.gid()), (65534, 65533));
    }

    #[test]
    fn trees_change_their_owner_and_what_links_lead_to_does_not() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: root alone gives files away");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let (outside, tree) = (dir.path().join("outside"), dir.path().join("tree"));
        fs::write(&outside, "").unwrap();
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::write(tree.join("a/file"), "").unwrap();
        for name in ["a/link", "a/b/link"] {
            std::os::unix::fs::symlink(&outside, tree.join(name)).unwrap();
        }
        SudoCaller { uid: 65534, gid: 65533 }.give_tree(&tree).unwrap();
        let owner = |path: &Path| {
            let meta = path.symlink_metadata().unwrap();
            (meta.uid(), meta.gid())
        };
        for name in ["", "a", "a/b", "a/file", "a/link", "a/b/link"] {
            assert_eq!(owner(&tree.join(name)), (65534, 65533), "{name}");
        }
        assert_eq!(owner(&outside), (0, 0));
    }
}
