//! Why a step of a trial failed, in words, with what to do about it.

use crate::machine::{self, errno_in};
use crate::worker::WorkerFailure;
use fsarena_devices::TargetError;
use fsarena_model::work::{OpError, Phase, WorkerSays};

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum StepError {
    /// What went wrong and what to do.
    Failed { error: String, remedy: Option<String> },
    /// The machine is at fault, and not the work: it is done again.
    OfMachine { error: String, remedy: Option<String> },
    /// This file system cannot do what is asked for, and nothing went wrong.
    NotRun { reason: String },
    /// A stop was asked for.
    Stopped,
}

impl StepError {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        let error = error.into();
        Self::Failed { remedy: machine::remedy(&error), error }
    }
}

impl From<TargetError> for StepError {
    fn from(error: TargetError) -> Self {
        let words = error.to_string();
        let known = || remedy_in(&words);
        Self::Failed { remedy: error.remedy().or_else(known), error: words }
    }
}

impl From<WorkerFailure> for StepError {
    fn from(failure: WorkerFailure) -> Self {
        match failure {
            WorkerFailure::Stopped => Self::Stopped,
            WorkerFailure::Rank { rank, host, failure } => match Self::from(*failure) {
                Self::Failed { error, remedy } => {
                    Self::Failed { error: format!("rank {rank} on {host}: {error}"), remedy }
                }
                other => other,
            },
            WorkerFailure::Refused(reason) => {
                let remedy = remedy_in(&reason);
                Self::Failed { error: reason, remedy }
            }
            WorkerFailure::HostTime(error) => {
                let remedy = Some(error.remedy().to_owned());
                Self::Failed { error: error.to_string(), remedy }
            }
            other => Self::new(other.to_string()),
        }
    }
}

impl From<fsarena_metrics::MetricError> for StepError {
    fn from(error: fsarena_metrics::MetricError) -> Self {
        Self::new(error.to_string())
    }
}

pub(crate) fn out_of_order(step: &str, missing: &str) -> StepError {
    StepError::new(format!("the spec asks for {step} before {missing}"))
}

pub(crate) fn unexpected(said: &WorkerSays) -> StepError {
    StepError::new(format!("the worker answered {said:?}"))
}

/// The error of a phase whose op failed, with the remedy. `inodes_free` is known where their number
/// is fixed.
pub(crate) fn op_failure(error: &OpError, phase: &Phase, inodes_free: Option<u64>) -> StepError {
    let own = out_of_inodes(error.errno, inodes_free).or_else(|| no_attribute(error));
    let remedy = own.map(str::to_owned).or_else(|| remedy_for(error.errno));
    StepError::Failed { error: describe(error, phase), remedy }
}

/// The same for a failure in words.
pub(crate) fn refusal(failed: StepError, inodes_free: Option<u64>) -> StepError {
    let StepError::Failed { error, remedy } = failed else { return failed };
    let inodes = errno_in(&error).and_then(|errno| out_of_inodes(errno, inodes_free));
    StepError::Failed { error, remedy: inodes.map(str::to_owned).or(remedy) }
}

fn out_of_inodes(errno: i32, inodes_free: Option<u64>) -> Option<&'static str> {
    let is_full = errno == rustix::io::Errno::NOSPC.raw_os_error();
    (is_full && inodes_free == Some(0)).then_some(OUT_OF_INODES)
}

/// What to do where the file system has no place for an extended attribute of this size.
fn no_attribute(error: &OpError) -> Option<&'static str> {
    use rustix::io::Errno;
    let too_large = [Errno::NOSPC, Errno::TOOBIG, Errno::RANGE].map(Errno::raw_os_error);
    (error.call == "setxattr" && too_large.contains(&error.errno))
        .then_some("use a smaller value (bs): the file system has no place for it at an inode")
}

const OUT_OF_INODES: &str = "its inodes are used up: ask mkfs for more (mkfs.inode_ratio), make the \
     device larger (--on loop:SIZE), or the work smaller (--scale)";

/// What to do about an error of the system in the middle of the work.
fn remedy_for(errno: i32) -> Option<String> {
    use rustix::io::Errno;
    // 0 where a program did not say which.
    if !(1..4096).contains(&errno) {
        return None;
    }
    let errno = Errno::from_raw_os_error(errno);
    let own = match errno {
        Errno::NOSPC => "make the device larger (--on loop:SIZE) or the work smaller (--scale)",
        Errno::DQUOT => "raise the quota, or choose another directory",
        // Of metadata that are damaged: EBADMSG by a checksum, EUCLEAN by their contents.
        Errno::ROFS | Errno::IO | Errno::BADMSG | Errno::UCLEAN => {
            "see the kernel's log (dmesg): the file system or its device reported an error"
        }
        Errno::ACCESS | Errno::PERM => "run as root, or choose a directory that you may write to",
        Errno::OPNOTSUPP => "this file system does not support the call: leave it or the phase out",
        Errno::NOMEM => "raise the memory limit (--memory), or see the kernel's log (dmesg)",
        _ => return machine::remedy_for(errno),
    };
    Some(own.to_owned())
}

/// The same for words that end with the system's: `… (os error 28)`.
pub(crate) fn remedy_in(words: &str) -> Option<String> {
    remedy_for(errno_in(words)?)
}

fn describe(error: &OpError, phase: &Phase) -> String {
    let OpError { op_index, thread, call, path, text, .. } = error;
    // A program has one end and no ops; its words name the phase.
    if text.starts_with(&format!("phase {}: ", phase.name)) {
        return text.clone();
    }
    let whose = thread.map_or(String::new(), |thread| format!("thread {thread} in "));
    format!("{call} {path}: {text} (op {op_index} of {whose}phase {})", phase.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_system_have_a_remedy() {
        let full = "directory d00099: cannot make it: No space left on device (os error 28)";
        assert!(remedy_in(full).is_some_and(|remedy| remedy.contains("larger")));
        assert!(remedy_in("directory d00099: Permission denied (os error 13); see").is_some());
        let other = "Operation not supported (os error 95)";
        assert!(remedy_in(other).is_some_and(|remedy| remedy.contains("does not support")));
        for damaged in ["Bad message (os error 74)", "Structure needs cleaning (os error 117)"] {
            assert!(remedy_in(damaged).is_some_and(|remedy| remedy.contains("dmesg")), "{damaged}");
        }
        assert_eq!(remedy_in("File exists (os error 17)"), None);
        assert_eq!(remedy_in("a bad spec"), None);
        assert!([0, -1, 4096, i32::MIN].into_iter().all(|errno| remedy_for(errno).is_none()));
    }
}
