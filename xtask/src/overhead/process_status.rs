//! What the kernel says of a process in `/proc/PID/status` (proc_pid_status(5)).

use std::fs;

/// Text of that file.
pub(super) struct ProcessStatus(String);

impl ProcessStatus {
    /// Of a process that is there.
    pub(super) fn of_pid(pid: u32) -> Option<Self> {
        fs::read_to_string(format!("/proc/{pid}/status")).ok().map(Self)
    }

    /// The most memory that it has had so far, bytes.
    pub(super) fn peak_bytes(&self) -> Option<u64> {
        self.number("VmHWM:").map(|kib| kib << 10)
    }

    pub(super) fn threads(&self) -> Option<u64> {
        self.number("Threads:")
    }

    fn number(&self, name: &str) -> Option<u64> {
        let value = self.0.lines().find_map(|line| line.strip_prefix(name))?;
        value.split_whitespace().next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_threads_and_has_had_memory() {
        let own = ProcessStatus::of_pid(std::process::id()).unwrap();
        assert!(own.threads().unwrap() >= 1 && own.peak_bytes().unwrap() > 1 << 20);
        let made_up = ProcessStatus("Name:\tVmHWM: 7\nVmHWM:\t   12 kB\n".to_owned());
        assert_eq!((made_up.peak_bytes(), made_up.threads()), (Some(12 << 10), None));
    }
}
