//! The memory that the control groups of this process leave it, where reclaim waits for writeback.
//!
//! When a group of cgroup v1 is full, the kernel lets a process that allocates in it wait for the
//! pages that are being written. A process that serves the disk to which they are written would
//! wait for itself, in a state in which no signal ends it. cgroup v2 does not wait, nor does a
//! process that is an `IO_FLUSHER` (prctl(2)), which takes `CAP_SYS_RESOURCE`.

use fsarena_bounded::Bounded;
use std::fs::File;
use std::path::Path;

/// From so many bytes on a limit of v1 is none: it is the largest number, cut to pages.
pub const NO_LIMIT_BYTES: u64 = 1 << 62;
/// Bytes of a file of the kernel, at most.
const FILE_MOST_BYTES: u64 = 64 << 10;

/// The smallest limit of the memory groups of cgroup v1 that this process is in, bytes; none where
/// no group has one, or where cgroup v1 does not limit memory here.
#[must_use]
pub fn waiting_limit_bytes(proc: &Path, sys: &Path) -> Option<u64> {
    let groups = text(&proc.join("self/cgroup"))?;
    let of_memory = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, path) = (parts.next()?, parts.next()?);
        names
            .split(',')
            .any(|name| name == "memory")
            .then(|| path.trim_start_matches('/').to_owned())
    };
    let own = groups.lines().find_map(of_memory)?;
    let root = sys.join("fs/cgroup/memory");
    let limit = |group: &Path| {
        let limit: u64 =
            text(&root.join(group).join("memory.limit_in_bytes"))?.trim().parse().ok()?;
        (limit < NO_LIMIT_BYTES).then_some(limit)
    };
    Path::new(&own).ancestors().filter_map(limit).min()
}

fn text(path: &Path) -> Option<String> {
    let bytes = Bounded::new(File::open(path).ok()?, FILE_MOST_BYTES).beginning().ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_smallest_limit_up_to_the_root_counts() {
        let dir = tempfile::tempdir().unwrap();
        let (proc, sys) = (dir.path().join("proc"), dir.path().join("sys"));
        let of = |group: &str, limit: u64| {
            let group = sys.join("fs/cgroup/memory").join(group);
            fs::create_dir_all(&group).unwrap();
            fs::write(group.join("memory.limit_in_bytes"), format!("{limit}\n")).unwrap();
        };
        fs::create_dir_all(proc.join("self")).unwrap();
        let found = || waiting_limit_bytes(&proc, &sys);
        assert_eq!(found(), None, "there is no list of groups");
        fs::write(proc.join("self/cgroup"), "2:cpu,cpuacct:/a\n1:memory:/a/b\n0::/\n").unwrap();
        assert_eq!(found(), None, "there are no limits");
        of("", u64::MAX >> 1);
        of("a/b", 900);
        assert_eq!(found(), Some(900));
        of("a", 800);
        assert_eq!(found(), Some(800));
        fs::write(proc.join("self/cgroup"), "0::/user.slice\n").unwrap();
        assert_eq!(found(), None, "cgroup v2 does not wait");
    }
}
