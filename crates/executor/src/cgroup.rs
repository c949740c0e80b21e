//! A memory cgroup for the worker, version 1 or 2.
//!
//! Kernel interfaces: Documentation/admin-guide/cgroup-v1/memory.rst and
//! Documentation/admin-guide/cgroup-v2.rst. Pages belong to the cgroup of the task that touched
//! them first, so a worker that joins after its buffers are touched does not pay for them: what is
//! limited is the page cache and the kernel's own memory of the phase. Limits nothing but memory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where memory cgroups can be made on this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    root: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    V1,
    V2,
}

impl Hierarchy {
    /// Finds the memory controller in `mountinfo` (the text of /proc/self/mountinfo): a v1
    /// hierarchy with it first, else a v2 one that offers it.
    ///
    /// # Errors
    /// A sentence that says why memory cannot be limited here.
    pub fn find(mountinfo: &str) -> Result<Self, String> {
        let mut unified = None;
        for line in mountinfo.lines() {
            let Some((left, right)) = line.split_once(" - ") else { continue };
            let Some(point) = left.split(' ').nth(4) else { continue };
            let mut right = right.split(' ');
            let fstype = right.next().unwrap_or_default();
            let options = right.nth(1).unwrap_or_default();
            match fstype {
                "cgroup" if options.split(',').any(|option| option == "memory") => {
                    return Ok(Self { root: PathBuf::from(point), version: Version::V1 });
                }
                "cgroup2" => unified = Some(PathBuf::from(point)),
                _ => {}
            }
        }
        let root = unified.ok_or("no cgroup file system is mounted")?;
        let offered = fs::read_to_string(root.join("cgroup.controllers"))
            .map_err(|error| format!("{}: {error}", root.join("cgroup.controllers").display()))?;
        if !offered.split_whitespace().any(|controller| controller == "memory") {
            return Err("the kernel offers no memory controller to cgroups here".to_owned());
        }
        Ok(Self { root, version: Version::V2 })
    }

    /// Directory of the cgroup called `name`, whether it exists or not.
    #[must_use]
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Makes the cgroup `name` with a limit; swap is not to be had above it.
    ///
    /// # Errors
    /// A sentence that names the file that could not be made or written.
    pub fn create(&self, name: &str, limit_bytes: u64) -> Result<MemoryCgroup, String> {
        let path = self.path_of(name);
        if self.version == Version::V2 {
            // Needed once; harmless where it is on already.
            write(&self.root.join("cgroup.subtree_control"), "+memory")?;
        }
        match fs::create_dir(&path) {
            // Of this RUN, which is alone with its name: an earlier trial could not remove it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => done.map_err(|error| format!("{}: {error}", path.display()))?,
        }
        let cgroup = MemoryCgroup { path, version: self.version };
        let limit = limit_bytes.to_string();
        match self.version {
            Version::V1 => {
                write(&cgroup.path.join("memory.limit_in_bytes"), &limit)?;
                write_where_present(&cgroup.path.join("memory.memsw.limit_in_bytes"), &limit)?;
            }
            Version::V2 => {
                write(&cgroup.path.join("memory.max"), &limit)?;
                write_where_present(&cgroup.path.join("memory.swap.max"), "0")?;
            }
        }
        Ok(cgroup)
    }
}

/// A memory cgroup of ours; removed when dropped.
#[derive(Debug)]
pub struct MemoryCgroup {
    path: PathBuf,
    version: Version,
}

impl MemoryCgroup {
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As tables name its interface.
    #[must_use]
    pub fn version_name(&self) -> &'static str {
        match self.version {
            Version::V1 => "cgroup v1",
            Version::V2 => "cgroup v2",
        }
    }

    /// Moves a process into it. What the process touched before stays where it was charged.
    ///
    /// # Errors
    /// A sentence that names the file.
    pub fn add(&self, pid: u32) -> Result<(), String> {
        write(&self.path.join("cgroup.procs"), &pid.to_string())
    }

    /// Highest use so far, bytes, where the kernel tells.
    #[must_use]
    pub fn peak_bytes(&self) -> Option<u64> {
        let file = match self.version {
            Version::V1 => "memory.max_usage_in_bytes",
            Version::V2 => "memory.peak",
        };
        fs::read_to_string(self.path.join(file)).ok()?.trim().parse().ok()
    }

    /// Where the kernel's own memory (inodes, directory entries) can be read.
    #[must_use]
    pub fn kernel_usage(&self) -> Usage {
        let (file, key) = match self.version {
            Version::V1 => ("memory.kmem.usage_in_bytes", ""),
            Version::V2 => ("memory.stat", "kernel "),
        };
        Usage { file: self.path.join(file), key }
    }

    /// Where its whole use can be read.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let file = match self.version {
            Version::V1 => "memory.usage_in_bytes",
            Version::V2 => "memory.current",
        };
        Usage { file: self.path.join(file), key: "" }
    }

    /// How many tasks the limit has killed.
    #[must_use]
    pub fn kills(&self) -> u64 {
        let file = match self.version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        };
        Usage { file: self.path.join(file), key: "oom_kill " }.read_bytes().unwrap_or(0)
    }

    /// Removes it; an ending task may hold it for a moment.
    fn remove(&self) -> io::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(2);
        loop {
            match fs::remove_dir(&self.path) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) if Instant::now() >= deadline => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

impl Drop for MemoryCgroup {
    fn drop(&mut self) {
        // What cannot be removed now is in the journal, and the next start removes it.
        let _ = self.remove();
    }
}

/// Where a use of memory in a cgroup can be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// File of the cgroup.
    pub file: PathBuf,
    /// Key of its line; empty where the file is the number alone.
    pub key: &'static str,
}

impl Usage {
    /// Bytes in use, where the kernel tells.
    #[must_use]
    pub fn read_bytes(&self) -> Option<u64> {
        let text = std::fs::read_to_string(&self.file).ok()?;
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(self.key)?.trim().parse().ok())
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn write_where_present(path: &Path, text: &str) -> Result<(), String> {
    if path.exists() { write(path, text) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_is_found_by_its_controller() {
        let text = "30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                    34 20 0:30 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
                    40 20 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let found = Hierarchy::find(text).unwrap();
        assert_eq!(found.version, Version::V1);
        assert_eq!(found.path_of("x"), Path::new("/sys/fs/cgroup/memory/x"));
    }

    #[test]
    fn v2_needs_the_controller() {
        let tree = tempfile::tempdir().unwrap();
        let line = format!("40 20 0:36 / {} rw - cgroup2 cgroup2 rw", tree.path().display());
        assert!(Hierarchy::find(&line).unwrap_err().contains("cgroup.controllers"));
        fs::write(tree.path().join("cgroup.controllers"), "cpu io\n").unwrap();
        assert!(Hierarchy::find(&line).unwrap_err().contains("no memory controller"));
        fs::write(tree.path().join("cgroup.controllers"), "cpu memory io\n").unwrap();
        assert_eq!(Hierarchy::find(&line).unwrap().version, Version::V2);
    }

    #[test]
    fn none_is_said() {
        assert!(Hierarchy::find("").unwrap_err().contains("no cgroup"));
    }

    /// The files of a v2 cgroup, written as the kernel's documentation names them.
    #[test]
    fn v2_writes_the_documented_files() {
        let tree = tempfile::tempdir().unwrap();
        let hierarchy = Hierarchy { root: tree.path().to_owned(), version: Version::V2 };
        let cgroup = hierarchy.create("fsarena-t", 64 << 20).unwrap();
        cgroup.add(42).unwrap();
        let read = |name: &str| fs::read_to_string(cgroup.path().join(name)).unwrap();
        assert_eq!(read("memory.max"), (64u64 << 20).to_string());
        assert_eq!(read("cgroup.procs"), "42");
        assert_eq!(
            fs::read_to_string(tree.path().join("cgroup.subtree_control")).unwrap(),
            "+memory"
        );
        fs::write(cgroup.path().join("memory.peak"), "1234\n").unwrap();
        fs::write(cgroup.path().join("memory.events"), "low 0\noom 1\noom_kill 2\n").unwrap();
        assert_eq!((cgroup.peak_bytes(), cgroup.kills()), (Some(1234), 2));
        for file in fs::read_dir(cgroup.path()).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }

    #[test]
    fn both_kinds_of_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("usage");
        std::fs::write(&file, "4096\n").unwrap();
        assert_eq!(Usage { file: file.clone(), key: "" }.read_bytes(), Some(4096));
        std::fs::write(&file, "anon 1\nkernel 8192\nkernel_stack 3\n").unwrap();
        assert_eq!(Usage { file: file.clone(), key: "kernel " }.read_bytes(), Some(8192));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(Usage { file, key: "" }.read_bytes(), None);
    }
}
