//! Processes that a worker leaves behind when it is killed: the compressor of a tar, the command of
//! a shell. They would work on, and keep the file system from being unmounted.
//!
//! Whatever becomes a child of this process after a worker was started, and is not it, descends
//! from it. What was a child before (the daemon of a file system in user space) is left alone.

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};
use std::fs;

/// A tree of processes is at most this deep; one that forks faster than it is killed is given up.
const ROUNDS: usize = 1000;

/// The children that were there before a worker.
#[derive(Debug)]
pub(crate) struct OrphanReaper {
    before: Vec<i32>,
}

impl OrphanReaper {
    /// Takes down who is here, and has orphans come to this process.
    pub(crate) fn mark() -> Self {
        // Where it cannot be had they go to another process; nothing is ended then.
        let _ = set_child_subreaper(Some(getpid()));
        Self { before: children() }
    }

    /// Ends everybody else. To be called when the worker has ended and was waited for.
    ///
    /// A process that this user may not end (a `sudo`) is left.
    pub(crate) fn end(&self) {
        self.end_by(|pid| kill_process(pid, Signal::KILL));
    }

    fn end_by(&self, kill: impl Fn(Pid) -> Result<(), Errno>) {
        let mut left = self.before.clone();
        for _ in 0..ROUNDS {
            let new: Vec<i32> = children().into_iter().filter(|pid| !left.contains(pid)).collect();
            if new.is_empty() {
                return;
            }
            for pid in new.into_iter().filter_map(Pid::from_raw) {
                let killed = kill(pid).is_ok();
                // One that will not end is not waited for.
                let options = if killed { WaitOptions::empty() } else { WaitOptions::NOHANG };
                // Its own children come to this process now.
                let ended = matches!(waitpid(Some(pid), options), Ok(Some(_)));
                if !killed && !ended {
                    left.push(pid.as_raw_nonzero().get());
                }
            }
        }
    }
}

/// Children of all threads of this process (proc(5), `/proc/pid/task/tid/children`).
fn children() -> Vec<i32> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|p| p.parse().ok()).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};

    /// A shell with two below it that work on when it is killed; their process ids.
    fn family() -> (Child, Vec<i32>) {
        let script = "sleep 1000 & echo $!; sh -c 'sleep 1000 & echo $!; wait' & wait";
        let mut shell = Command::new("sh");
        let mut shell = shell.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        let pids = lines.take(2).map(|line| line.unwrap().parse().unwrap()).collect();
        (shell, pids)
    }

    fn lives(pid: i32) -> bool {
        PathBuf::from(format!("/proc/{pid}")).exists()
    }

    /// One test: each of them ends every child of this process that came after its own mark.
    #[test]
    fn those_of_a_killed_parent_are_ended_and_those_before_are_not() {
        let mut daemon = Command::new("sleep").arg("1000").spawn().unwrap();
        let orphans = OrphanReaper::mark();
        let (mut worker, pids) = family();
        worker.kill().unwrap();
        worker.wait().unwrap();
        assert!(pids.iter().all(|pid| lives(*pid)));
        orphans.end();
        assert!(!pids.iter().any(|pid| lives(*pid)), "{pids:?}");
        assert!(daemon.try_wait().unwrap().is_none(), "the one before");

        // One that may not be ended is left, and not waited for; the others are ended.
        let orphans = OrphanReaper::mark();
        let (mut worker, pids) = family();
        worker.kill().unwrap();
        worker.wait().unwrap();
        orphans.end_by(|pid| match pid.as_raw_nonzero().get() == pids[0] {
            true => Err(Errno::PERM),
            false => kill_process(pid, Signal::KILL),
        });
        assert_eq!((lives(pids[0]), lives(pids[1])), (true, false));
        orphans.end();
        assert!(!lives(pids[0]));
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }
}
