//! A file system of a case's own with limited space, in memory. The campaign is in a mount
//! namespace of its own, so that however it ends, nothing stays mounted.

use anyhow::{Context as _, Result};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};

/// Mounted until it is dropped.
pub(super) struct SmallFileSystem {
    dir: PathBuf,
}

impl SmallFileSystem {
    /// Makes the directory `dir` and mounts it there.
    pub(super) fn mount(dir: &Path, size_mib: u64) -> Result<Self> {
        let place = || dir.display().to_string();
        fs::create_dir_all(dir).with_context(place)?;
        // Not for everybody, as a tmpfs is by itself: root uses no database there.
        let options = format!("size={size_mib}M,mode=755");
        let options = CString::new(options).expect("there is no zero in it");
        let mounted = mount("none", dir, "tmpfs", MountFlags::empty(), options.as_c_str());
        if let Err(error) = mounted {
            fs::remove_dir(dir).with_context(place)?;
            return Err(error).with_context(place);
        }
        Ok(Self { dir: dir.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.dir
    }

    /// Copies the files in its root to a directory that stays.
    pub(super) fn copy_files(&self, to: &Path) -> Result<()> {
        for entry in fs::read_dir(&self.dir)?.flatten() {
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        Ok(())
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        let gone = unmount(&self.dir, UnmountFlags::empty())
            .or_else(|_| unmount(&self.dir, UnmountFlags::DETACH));
        let removed = gone.map_err(Into::into).and_then(|()| fs::remove_dir(&self.dir));
        if let Err(error) = removed {
            eprintln!("{}: {error}; it goes when this process ends", self.dir.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_limited_and_files_are_saved() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: needs root");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let small = SmallFileSystem::mount(&dir.path().join("small"), 2).unwrap();
        fs::write(small.path().join("kept"), "x").unwrap();
        assert!(fs::write(small.path().join("large"), vec![0; 4 << 20]).is_err());
        fs::remove_file(small.path().join("large")).unwrap();
        small.copy_files(dir.path()).unwrap();
        drop(small);
        assert_eq!(fs::read_to_string(dir.path().join("kept")).unwrap(), "x");
        assert!(!dir.path().join("small").exists());
    }
}
