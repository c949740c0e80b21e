//! What a guest is asked to do, and what it answers: the two files of its directory.

use serde::{Deserialize, Serialize};

/// What a guest does before it powers itself off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// Say what it is, after sleeping this long, and use its first disk, if there is one.
    Probe { sleep_ns: u64 },
    /// Run a command of the shell. Its working directory is the guest's own; `/mnt` is in memory,
    /// disks are `/dev/vdisk0` and following, everything else of the host is read-only.
    Shell { command: String },
    /// Do a trial, after this much virtual time; its spec is in the form of the executor's.
    Trial { spec: String, delay_ns: u64 },
    /// Work until the power goes, or check what it left; in the form of the executor's.
    Crash { task: String },
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    Probe(ProbeRecord),
    Shell(CommandRecord),
    /// In the form of the executor's.
    Trial(String),
    /// In the form of the executor's.
    Crash(String),
    /// It could not be done.
    Failed(String),
}

/// What a guest says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct ProbeRecord {
    pub release: String,
    /// Whether the kernel knows what `time-travel` on its command line means.
    pub has_time_travel: bool,
    /// How long the sleep took, by its own clock.
    pub slept_ns: u64,
    /// Ticks a second.
    pub hz: u32,
    /// Those on devices, in the order of the kernel.
    pub filesystems: Vec<String>,
    /// Random numbers of the kernel: of the seed, and of all that went into them.
    pub random: String,
    /// Memory of the guest when its task began. It depends on where the kernel's process has its
    /// heap, and so tells random addresses.
    pub memory: MemoryProbe,
    /// What the first disk did, or why it could not be used.
    pub disk: Result<DiskProbe, String>,
}

/// Memory of a guest, as `/proc/meminfo` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct MemoryProbe {
    pub total_kib: u64,
    pub free_kib: u64,
}

/// How the first disk answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct DiskProbe {
    pub bytes: u64,
    /// Each of some writes of 4 KiB, until it was on the medium.
    pub write_ns: Vec<u64>,
    /// All of them read again from the disk, whose contents were right.
    pub read_ns: u64,
}

/// How a command ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CommandRecord {
    /// `None`: it was killed.
    pub exit_code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// In the time of the guest.
    pub elapsed_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_with_a_field_that_is_unknown_is_refused() {
        let text = serde_json::to_string(&Task::Probe { sleep_ns: 5 }).unwrap();
        assert_eq!(text, r#"{"probe":{"sleep_ns":5}}"#);
        assert_eq!(serde_json::from_str::<Task>(&text).unwrap(), Task::Probe { sleep_ns: 5 });
        let unknown = r#"{"probe":{"sleep_ns":5,"again":1}}"#;
        assert!(serde_json::from_str::<Task>(unknown).is_err());
    }
}
