//! A file that this process has open, for other processes.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// A path by which others can open it: by the number that the mounted /proc has for this process.
///
/// # Errors
/// Without /proc.
pub fn path_of_open(file: &File) -> io::Result<PathBuf> {
    let process = fs::read_link("/proc/self")?;
    Ok(Path::new("/proc").join(process).join("fd").join(file.as_raw_fd().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_has_a_path() {
        let file = tempfile::tempfile().unwrap();
        let other = File::open(path_of_open(&file).unwrap()).unwrap();
        let inode = |file: &File| std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap());
        assert_eq!(inode(&file), inode(&other));
    }
}
