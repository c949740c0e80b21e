//! What an executor has started, seen from outside: the first process of its namespaces.
//!
//! An executor that is killed is waited for, and what it had started is not: that dies by itself a
//! moment later, and with the last process of a mount namespace go its mounts. They write what
//! their files hold before that process is gone (exit(2) does the unmounts), so its end is the
//! event by which their devices are free; the kernel has no other.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs;
use std::time::{Duration, Instant};

/// Processes that an executor has started.
#[derive(Debug)]
pub(crate) struct InnerProcesses(Vec<OwnedFd>);

impl InnerProcesses {
    /// The children that process `pid` has now; it is a child of this process that was not waited
    /// for. None are seen where the kernel does not tell (`CONFIG_PROC_CHILDREN`).
    pub(crate) fn of_executor(pid: u32) -> Self {
        let path = format!("/proc/{pid}/task/{pid}/children");
        let list = fs::read_to_string(path).unwrap_or_default();
        let children = list.split_whitespace().filter_map(|word| word.parse().ok());
        Self(children.filter_map(|child| opened(child, pid)).collect())
    }

    /// Waits until all have ended, for `limit` at most.
    pub(crate) fn wait(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        for process in &self.0 {
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                let left = Timespec::try_from(left).ok();
                match poll(&mut [PollFd::new(process, PollFlags::IN)], left.as_ref()) {
                    Err(rustix::io::Errno::INTR) => {}
                    _ => break,
                }
            }
        }
    }
}

/// A handle of process `pid`, if that is a child of `parent`: its number may be another's by now.
fn opened(pid: i32, parent: u32) -> Option<OwnedFd> {
    let process = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(1);
    (fields.next()?.parse() == Ok(parent)).then_some(process)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn children_of_another_process_are_waited_for() {
        let mut parent = Command::new("sh");
        parent.args(["-c", "sleep 0.4 & sleep 1000 & echo; wait"]).stdout(Stdio::piped());
        let mut parent = parent.spawn().unwrap();
        let mut line = [0];
        std::io::Read::read_exact(parent.stdout.as_mut().unwrap(), &mut line).unwrap();
        let inner = InnerProcesses::of_executor(parent.id());
        assert_eq!(inner.0.len(), 2);
        let began = Instant::now();
        inner.wait(Duration::from_millis(700));
        assert!(began.elapsed() >= Duration::from_millis(700), "one sleeps on");
        for process in &inner.0 {
            // The one that has ended already is as good.
            let kill = rustix::process::Signal::KILL;
            let _ = rustix::process::pidfd_send_signal(process, kill);
        }
        inner.wait(Duration::from_secs(60));
        assert!(began.elapsed() < Duration::from_secs(30));
        parent.wait().unwrap();
        assert!(InnerProcesses::of_executor(parent.id()).0.is_empty());
        assert!(opened(i32::try_from(std::process::id()).unwrap(), 1_000_000).is_none());
    }
}
