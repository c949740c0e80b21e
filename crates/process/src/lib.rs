//! External programs: found, started without a shell, captured, limited in time, output, memory and
//! file size, and ended with all they have started; namespaces in which mounts and daemons end with
//! a process.
//!
//! Orphans are processes that a killed parent leaves behind: the compressor of a tar, the command
//! of a shell. They would work on, and keep the file system from being unmounted. They come to this
//! process once it is their reaper. Whatever becomes a child of it after another process was
//! started, and is not that one, descends from it. What was a child before (the daemon of a file
//! system in user space) is left alone.
//!
//! Code that is started again and again can be kept in memory ([`resident`]).
//!
//! This is the place where programs are started, and a [`program::TrustedProgram`] is all that is.
//! It must not know what a program is for.
#![expect(unsafe_code, reason = "what happens between fork and exec, and mappings of files")]

pub mod child;
pub mod cmd;
pub mod command;
pub mod exec_events;
pub mod guarded;
pub mod held;
pub mod limits;
pub mod memory_group;
pub mod open_file;
pub mod owner;
pub mod partner;
pub mod piped;
pub mod private;
pub mod processor;
pub mod program;
pub mod resident;
pub mod script;
pub mod search;
pub mod trust;
pub mod tunables;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};
use std::fs;

/// A tree of processes is at most this deep; one that forks faster than it is killed is given up.
const ROUNDS: usize = 1000;

/// The children that were there before a program was started.
#[derive(Debug)]
pub struct OrphanReaper {
    before: Vec<Pid>,
}

impl OrphanReaper {
    /// Remembers the children that there are, and has orphans come to this process.
    #[must_use]
    pub fn mark() -> Self {
        adopt_orphans();
        Self { before: children() }
    }

    /// Kills all others; see [`kill_orphans`].
    pub fn end(&self) -> u64 {
        kill_orphans(|pid| self.is_new(pid))
    }

    /// Whether a child came after the mark.
    #[must_use]
    pub fn is_new(&self, pid: Pid) -> bool {
        !self.before.contains(&pid)
    }
}

/// Has orphans of this process's descendants come to it.
pub fn adopt_orphans() {
    // Where it cannot be had they go to another process; nothing is ended then.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Kills every child of this process for which `is_ours`, and those that become its children by
/// that; how many were still running. To be called when the program itself was waited for.
///
/// A process that this user may not end (a `sudo`) is left.
pub fn kill_orphans(is_ours: impl Fn(Pid) -> bool) -> u64 {
    kill_orphans_by(is_ours, |pid| kill_process(pid, Signal::KILL))
}

/// Likewise, by `kill`.
pub fn kill_orphans_by(
    is_ours: impl Fn(Pid) -> bool,
    kill: impl Fn(Pid) -> Result<(), Errno>,
) -> u64 {
    let (mut ended, mut left) = (0, Vec::new());
    for _ in 0..ROUNDS {
        let is_new = |pid: &Pid| !left.contains(pid) && is_ours(*pid);
        let new: Vec<Pid> = children().into_iter().filter(is_new).collect();
        if new.is_empty() {
            break;
        }
        for pid in new {
            let killed = kill(pid).is_ok();
            // One that will not end is not waited for.
            let options = if killed { WaitOptions::empty() } else { WaitOptions::NOHANG };
            // Its own children come to this process now.
            let status = waitpid(Some(pid), options).ok().flatten().map(|(_, status)| status);
            if !killed && status.is_none() {
                left.push(pid);
            }
            // One that had ended by itself has another status.
            let signal = status.and_then(|status| status.terminating_signal());
            ended += u64::from(signal == Some(Signal::KILL.as_raw()));
        }
    }
    ended
}

/// Children of the calling thread and of the first one, which orphans come to (proc(5),
/// `/proc/pid/task/tid/children`): what another thread has started is not for this one to end.
fn children() -> Vec<Pid> {
    let first = format!("/proc/self/task/{}/children", getpid().as_raw_pid());
    let lists = [first.as_str(), "/proc/thread-self/children"].map(fs::read_to_string);
    let all = lists.iter().flatten().flat_map(|list| list.split_whitespace());
    let mut found: Vec<i32> = all.filter_map(|pid| pid.parse().ok()).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().filter_map(Pid::from_raw).collect()
}
