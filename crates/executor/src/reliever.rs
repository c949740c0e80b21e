//! Relief of a memory cgroup: what a small machine would do by itself.
//!
//! Reading a file marks its inode dirty (relatime), and a dirty inode cannot be reclaimed. On a
//! machine that is short of memory the kernel then wakes the flusher threads and goes on; in a
//! memory cgroup no thread does that, and the kernel kills the task instead (seen here: ext3 and
//! ext4 reading 50,000 files under 64 MiB; not with `noatime`). So while a limited phase runs, a
//! thread looks at the cgroup, and where it is nearly full and the kernel's own memory is more than
//! half of it, syncs the file system, at most five times a second. How often is part of the record.

use crate::cgroup::{MemoryCgroup, Usage};
use rustix::fs::{Mode, OFlags, open, syncfs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the thread looks, and so how often it syncs at most.
const PERIOD: Duration = Duration::from_millis(200);

/// A thread that relieves one cgroup until it is stopped.
#[derive(Debug)]
pub struct MemoryReliever {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl MemoryReliever {
    /// Begins to watch `cgroup`, whose worker is at work on the file system mounted at `mounted`.
    #[must_use]
    pub fn start(cgroup: &MemoryCgroup, limit_bytes: u64, mounted: &Path) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (seen, mounted) = (Arc::clone(&stop), mounted.to_owned());
        let usage = [cgroup.kernel_usage(), cgroup.usage()];
        let thread = std::thread::Builder::new().name("fsarena-relief".to_owned());
        // Without a thread there is no relief, and the phase may end as the kernel sees fit.
        let thread = thread.spawn(move || watch(&seen, &usage, limit_bytes, &mounted)).ok();
        Self { stop, thread }
    }

    /// Ends it; how often it synced.
    #[must_use]
    pub fn stop(mut self) -> u64 {
        self.halt()
    }

    fn halt(&mut self) -> u64 {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().map_or(0, |thread| {
            thread.thread().unpark();
            thread.join().unwrap_or(0)
        })
    }
}

impl Drop for MemoryReliever {
    fn drop(&mut self) {
        self.halt();
    }
}

fn watch(
    stop: &AtomicBool,
    [kernel, whole]: &[Usage; 2],
    limit_bytes: u64,
    mounted: &PathBuf,
) -> u64 {
    let mut syncs = 0;
    loop {
        std::thread::park_timeout(PERIOD);
        if stop.load(Ordering::SeqCst) {
            return syncs;
        }
        let over = |usage: &Usage, tenths: u64| {
            usage.read_bytes().is_some_and(|used| used > limit_bytes / 10 * tenths)
        };
        if !over(kernel, 5) || !over(whole, 9) {
            continue;
        }
        // Opened only now: nothing touches the tree of a phase that needs no relief.
        let root =
            open(mounted, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        if root.is_ok_and(|root| syncfs(root).is_ok()) {
            syncs += 1;
        }
    }
}
