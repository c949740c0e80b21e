//! What a run of fsarena could leave on a machine, found by the word `fsarena` in its name.
//!
//! Only looks; removing things is the business of the program's own recovery. What was there
//! before the tests is not theirs, so that a run that lives next to them is not accused.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Everything we create carries this in its name.
const OURS: &str = "fsarena";
/// Images and directories of tests lie at most this deep below a place for temporary files.
const DEPTH: usize = 2;

/// Where to look.
pub struct LeftoverSearch {
    /// `/proc/self/mountinfo`
    pub mounts: PathBuf,
    /// `/sys/block`
    pub blocks: PathBuf,
    /// `/sys/fs/cgroup`
    pub cgroups: PathBuf,
    /// `/sys/kernel/tracing/instances`, where it is mounted; elsewhere the end to end tests look
    /// for themselves, each after its own runs.
    pub traces: PathBuf,
    /// Places for temporary files and images.
    pub temporary: BTreeSet<PathBuf>,
}

impl LeftoverSearch {
    /// Those of this machine; `target` is cargo's directory.
    pub fn of_this_machine(target: &Path) -> LeftoverSearch {
        let fixed = ["/tmp", "/var/tmp", "/dev/shm", "/run"].map(PathBuf::from);
        let temporary = fixed.into_iter().chain([std::env::temp_dir(), target.join("tmp")]);
        LeftoverSearch {
            mounts: PathBuf::from("/proc/self/mountinfo"),
            blocks: PathBuf::from("/sys/block"),
            cgroups: PathBuf::from("/sys/fs/cgroup"),
            traces: PathBuf::from("/sys/kernel/tracing/instances"),
            temporary: temporary.collect(),
        }
    }

    /// One line for each thing of ours. What cannot be read is not there for us either.
    pub fn list(&self) -> BTreeSet<String> {
        let mut found = self.mounted();
        found.extend(self.looped());
        for dir in below(&self.cgroups, usize::MAX, true) {
            found.insert(format!("cgroup {}", dir.display()));
        }
        for dir in below(&self.traces, 1, true) {
            found.insert(format!("trace {}", dir.display()));
        }
        for place in &self.temporary {
            for path in below(place, DEPTH, false) {
                let kind = if path.is_dir() { "directory" } else { "file" };
                found.insert(format!("{kind} {}", path.display()));
            }
        }
        found
    }

    fn mounted(&self) -> BTreeSet<String> {
        let text = fs::read_to_string(&self.mounts).unwrap_or_default();
        // The fifth field is the mount point; the source is the second behind the ` - `.
        let ours = text.lines().filter_map(|line| {
            let point = line.split(' ').nth(4)?;
            let source = line.split_once(" - ")?.1.split(' ').nth(1)?;
            [point, source].iter().any(|name| name.contains(OURS)).then_some(point)
        });
        ours.map(|point| format!("mount {point}")).collect()
    }

    fn looped(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(&self.blocks).into_iter().flatten().flatten() {
            let file = entry.path().join("loop/backing_file");
            let image = fs::read_to_string(file).unwrap_or_default();
            if image.contains(OURS) {
                let device = entry.file_name().to_string_lossy().into_owned();
                found.insert(format!("loop device {device} of {}", image.trim()));
            }
        }
        found
    }
}

/// The paths of ours at most `depth` below `dir`; nothing inside one of ours is named again.
fn below(dir: &Path, depth: usize, dirs_only: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if entry.file_name().to_string_lossy().contains(OURS) && (is_dir || !dirs_only) {
            found.push(entry.path());
        } else if is_dir && depth > 1 {
            found.extend(below(&entry.path(), depth - 1, dirs_only));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(dir: &Path) -> LeftoverSearch {
        LeftoverSearch {
            mounts: dir.join("mountinfo"),
            blocks: dir.join("block"),
            cgroups: dir.join("cgroup"),
            traces: dir.join("instances"),
            temporary: BTreeSet::from([dir.join("tmp")]),
        }
    }

    #[test]
    fn a_clean_machine_has_nothing_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("block/loop0/loop")).unwrap();
        fs::write(dir.path().join("block/loop0/loop/backing_file"), "/srv/other.img\n").unwrap();
        fs::create_dir_all(dir.path().join("cgroup/system.slice")).unwrap();
        fs::create_dir_all(dir.path().join("tmp/a/b")).unwrap();
        let line = "30 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n";
        fs::write(dir.path().join("mountinfo"), line).unwrap();
        assert_eq!(fake(dir.path()).list(), BTreeSet::new());
        assert_eq!(fake(&dir.path().join("nowhere")).list(), BTreeSet::new());
    }

    #[test]
    fn each_kind_of_leftover_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("block/loop3/loop")).unwrap();
        fs::write(at("block/loop3/loop/backing_file"), "/var/tmp/fsarena-a.img\n").unwrap();
        fs::create_dir_all(at("cgroup/memory/fsarena-7/worker")).unwrap();
        fs::create_dir_all(at("instances/fsarena-8")).unwrap();
        fs::create_dir_all(at("instances/other")).unwrap();
        fs::create_dir_all(at("tmp/x/y")).unwrap();
        fs::write(at("tmp/x/fsarena-b.img"), "").unwrap();
        fs::write(at("tmp/x/y/fsarena-too-deep.img"), "").unwrap();
        let lines = "40 1 7:3 / /run/fsarena-1/mnt rw - ext4 /dev/loop3 rw\n\
                     41 1 0:9 / /srv/x rw - tmpfs fsarena-ram rw\n";
        fs::write(at("mountinfo"), lines).unwrap();
        let expected = BTreeSet::from([
            format!("cgroup {}", at("cgroup/memory/fsarena-7").display()),
            format!("file {}", at("tmp/x/fsarena-b.img").display()),
            "loop device loop3 of /var/tmp/fsarena-a.img".to_owned(),
            "mount /run/fsarena-1/mnt".to_owned(),
            "mount /srv/x".to_owned(),
            format!("trace {}", at("instances/fsarena-8").display()),
        ]);
        assert_eq!(fake(dir.path()).list(), expected);
    }
}
