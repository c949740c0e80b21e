//! Single processes of a fixture: which part of the program each is, and what it is doing.

use rustix::process::Pid;
use std::fs;

/// Whether a process is the program with this subcommand, as executors and workers are.
#[must_use]
pub fn runs_as(pid: Pid, subcommand: &str) -> bool {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(subcommand.as_bytes())
}

/// `R`, `S`, `T`, … of proc(5); `None` where it is gone.
#[must_use]
pub fn state_of(pid: Pid) -> Option<char> {
    fields(pid)?.chars().next()
}

/// Process that has to wait for it; `None` where it is gone.
#[must_use]
pub fn parent_of(pid: Pid) -> Option<Pid> {
    Pid::from_raw(fields(pid)?.split(' ').nth(1)?.parse().ok()?)
}

/// When it was started, in clock ticks since the boot; `None` where it is gone.
#[must_use]
pub fn start_ticks(pid: Pid) -> Option<u64> {
    fields(pid)?.split(' ').nth(19)?.parse().ok()
}

/// `/proc/PID/stat` from the third field on; the second may have any characters in it.
fn fields(pid: Pid) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    Some(text.rsplit_once(") ")?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{getpid, getppid};

    #[test]
    fn this_process_is_what_it_is() {
        assert_eq!(parent_of(getpid()), getppid());
        assert!(matches!(state_of(getpid()), Some('R' | 'S')));
        assert!(!runs_as(getpid(), "worker"));
        assert!(start_ticks(getpid()).is_some_and(|ticks| ticks > 0));
    }

    #[test]
    fn a_subcommand_is_the_first_argument() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let pid = Pid::from_child(&child);
        while !runs_as(pid, "600") {
            std::thread::yield_now();
        }
        assert!(!runs_as(pid, "60"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(state_of(pid), None);
    }
}
