//! `/proc/PID/schedstat` of all kernel threads: processor time in ns of write-back, journals,
//! workers of file systems and of loop devices, which is in no account of the worker's.
//!
//! Which of them work for the file system under test cannot be told: those of a work queue do
//! whatever comes. So it is the sum of all, also of what they do for others; of those that ended
//! meanwhile nothing is known. The first value is the task clock (fs/proc/base.c,
//! `proc_pid_schedstat`; with `CONFIG_SCHED_INFO`), up to date to within a tick of the scheduler.

use crate::read_file::{ReadFile, Records, number, words};
use crate::worker::fields;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Process id of kthreadd, the parent of all kernel threads.
const PARENT: u64 = 2;

/// The kernel threads of the machine, with what each had used when this was made.
pub struct KernelThreads {
    proc: PathBuf,
    /// Every process that was there, so that later only new ones are looked at.
    seen: BTreeSet<u32>,
    threads: BTreeMap<u32, Thread>,
}

struct Thread {
    schedstat: ReadFile,
    before_ns: u64,
}

impl KernelThreads {
    /// Finds and reads them below `proc`; `None` where they are not to be seen: in a process
    /// namespace of its own, or where the kernel does not count.
    #[must_use]
    pub fn find(proc: &Path) -> Option<Self> {
        let mut found =
            Self { proc: proc.to_owned(), seen: BTreeSet::new(), threads: BTreeMap::new() };
        found.add_new(|used_ns| used_ns);
        let counts = found.threads.values().any(|thread| thread.before_ns > 0);
        counts.then_some(found)
    }

    /// What all of them have used since, ns; of new ones everything.
    #[must_use]
    pub fn used_ns(&mut self) -> u64 {
        self.add_new(|_| 0);
        let used = self.threads.values_mut().map(|thread| {
            // One that has ended: what it used since is not known.
            used_ns(&mut thread.schedstat).map_or(0, |ns| ns.saturating_sub(thread.before_ns))
        });
        used.fold(0, u64::saturating_add)
    }

    /// Adds the threads that were not there yet; `before` says from where they count.
    fn add_new(&mut self, before: fn(u64) -> u64) {
        let listed = std::fs::read_dir(&self.proc).into_iter().flatten().flatten();
        let pids = listed.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        for pid in pids {
            if !self.seen.insert(pid) || !is_kernel_thread(&self.proc, pid) {
                continue;
            }
            let path = self.proc.join(pid.to_string()).join("schedstat");
            let Ok(mut schedstat) = ReadFile::open(path, Records::One) else { continue };
            let Some(used_ns) = used_ns(&mut schedstat) else { continue };
            self.threads.insert(pid, Thread { schedstat, before_ns: before(used_ns) });
        }
    }
}

fn is_kernel_thread(proc: &Path, pid: u32) -> bool {
    let stat = std::fs::read(proc.join(pid.to_string()).join("stat")).unwrap_or_default();
    fields(&stat, [4]).is_ok_and(|[parent]| parent == PARENT) || {
        u64::from(pid) == PARENT && stat.starts_with(b"2 (kthreadd)")
    }
}

fn used_ns(schedstat: &mut ReadFile) -> Option<u64> {
    let text = schedstat.read().ok()??;
    number(words(text).next()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(proc: &Path, pid: u32, name: &str, parent: u32, schedstat: &str) {
        let dir = proc.join(pid.to_string());
        fs::create_dir_all(&dir).unwrap();
        let rest = "0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n";
        fs::write(dir.join("stat"), format!("{pid} ({name}) S {parent} {rest}")).unwrap();
        fs::write(dir.join("schedstat"), schedstat).unwrap();
    }

    #[test]
    fn kernel_threads_are_counted_and_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let proc = dir.path();
        put(proc, 1, "init", 0, "900 1 1\n");
        put(proc, 2, "kthreadd", 0, "10 1 1\n");
        put(proc, 11, "kworker/0:1 (x) y", 2, "1000 1 1\n");
        put(proc, 30, "sh", 1, "5000 1 1\n");
        let mut threads = KernelThreads::find(proc).unwrap();
        assert_eq!(threads.used_ns(), 0);
        put(proc, 11, "kworker/0:1 (x) y", 2, "1700 1 1\n");
        put(proc, 30, "sh", 1, "9000 1 1\n");
        put(proc, 44, "jbd2/loop0-8", 2, "250 1 1\n");
        put(proc, 45, "cp", 30, "888 1 1\n");
        assert_eq!(threads.used_ns(), 950, "a new one with all that it used");
        assert_eq!(threads.used_ns(), 950);
    }

    #[test]
    fn where_none_is_seen_nothing_is_claimed() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), 1, "fsarena", 0, "900 1 1\n");
        put(dir.path(), 2, "sh", 1, "900 1 1\n");
        assert!(KernelThreads::find(dir.path()).is_none(), "a container");
        put(dir.path(), 2, "kthreadd", 0, "0 0 0\n");
        assert!(KernelThreads::find(dir.path()).is_none(), "a kernel that does not count");
    }
}
