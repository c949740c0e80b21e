//! What a guest reports of an application: its acknowledged work, and a check in one crash state.

use crate::observation::{MountAttempt, MountStep};
use serde::{Deserialize, Serialize};

/// A unit of work that the command has printed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acknowledged {
    /// When the line was read, outside of the file system.
    pub at_ns: u64,
    pub line: String,
}

/// How a command ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Code(i32),
    Signal(i32),
    /// It did not end within its limit, in seconds.
    TimedOut(u64),
    /// It did not stop printing.
    TooMuchOutput,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
            Self::TimedOut(limit_s) => write!(f, "not ended after {limit_s} s"),
            Self::TooMuchOutput => write!(f, "killed, as it did not stop printing"),
        }
    }
}

/// A check that was run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRun {
    pub ending: Ending,
    /// The number of its last line `found N`.
    pub found: Option<u64>,
    /// What it said besides, its last lines in one.
    pub output: String,
}

impl CheckRun {
    /// It ended with 0 and said how many units there are.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.ending == Ending::Code(0) && self.found.is_some()
    }
}

/// `found N`, the last one of the lines.
#[must_use]
pub fn found_units(stdout: &str) -> Option<u64> {
    let number = |line: &str| line.trim().strip_prefix("found ")?.trim().parse().ok();
    stdout.lines().rev().find_map(number)
}

/// Why an application cannot be judged: without any power cut it is not right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApplicationFault {
    #[error("its setup failed ({ending}){}; mend `setup`", tail(.output))]
    Setup { ending: Ending, output: String },
    #[error("its command failed ({ending}) without any power cut{}; mend `command`", tail(.output))]
    Command { ending: Ending, output: String },
    #[error(
        "its command printed no line, so that nothing is acknowledged; print one for each unit of \
         work when it is durable"
    )]
    Silent,
    #[error(
        "its check failed ({ending}) though no power was cut{}; mend `check` or the application",
        tail(.output)
    )]
    Check { ending: Ending, output: String },
    #[error("its check printed no line `found N`; print how many units of work are there")]
    NotCounted,
    #[error(
        "its check found {found} of {acknowledged} acknowledged units though no power was cut; \
         mend `check` or the application"
    )]
    Fewer { found: u64, acknowledged: u64 },
}

fn tail(output: &str) -> String {
    if output.is_empty() { String::new() } else { format!(": {output}") }
}

/// What was done until the command ended, in the time of the disk's write log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplicationWork {
    pub acknowledged: Vec<Acknowledged>,
    /// The command was started.
    pub begin_ns: u64,
    /// It has ended.
    pub end_ns: u64,
    /// Mount and superblock options in force.
    pub mount_options: String,
    /// `None`: it is right as long as the power does not go.
    pub fault: Option<ApplicationFault>,
}

impl ApplicationWork {
    /// Units that were acknowledged before the power went.
    #[must_use]
    pub fn acknowledged_at(&self, at_ns: u64) -> usize {
        self.acknowledged.partition_point(|unit| unit.at_ns <= at_ns)
    }
}

/// What was seen in one crash state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplicationSeen {
    /// In the order in which they were made, those for writing alone.
    pub mounts: Vec<MountAttempt>,
    /// `None`: it could not be mounted.
    pub check: Option<CheckRun>,
    pub unmount_errno: Option<i32>,
    /// Lines of the kernel that tell of damage.
    pub kernel_messages: Vec<String>,
}

impl ApplicationSeen {
    /// The way in which it was mounted; `None`: in none.
    #[must_use]
    pub fn mounted(&self) -> Option<MountStep> {
        self.mounts.iter().find(|mount| mount.errno.is_none()).map(|mount| mount.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_counts() {
        assert_eq!(found_units("ok\nfound 3\nfound 12 \n"), Some(12));
        assert_eq!(found_units("found many\nfound -1\n found 7"), Some(7));
        assert_eq!(found_units("12\n"), None);
    }

    #[test]
    fn a_line_that_was_read_at_the_time_of_the_cut_is_acknowledged() {
        let unit = |at_ns| Acknowledged { at_ns, line: String::new() };
        let work = ApplicationWork {
            acknowledged: vec![unit(5), unit(5), unit(9)],
            begin_ns: 1,
            end_ns: 10,
            mount_options: String::new(),
            fault: None,
        };
        assert_eq!([4, 5, 8, 9].map(|at_ns| work.acknowledged_at(at_ns)), [0, 2, 2, 3]);
    }

    #[test]
    fn faults_say_what_to_do() {
        let output = "no such table".to_owned();
        let fault = ApplicationFault::Check { ending: Ending::Code(3), output };
        assert_eq!(
            fault.to_string(),
            "its check failed (exit code 3) though no power was cut: no such table; mend `check` \
             or the application"
        );
        let check = |ending, found| CheckRun { ending, found, output: String::new() };
        assert!(check(Ending::Code(0), Some(0)).passes());
        assert!(!check(Ending::Code(0), None).passes());
        assert!(!check(Ending::Code(1), Some(1)).passes());
        assert!(!check(Ending::TimedOut(60), Some(1)).passes());
    }
}
