//! What became of calls and ops: failures and counts in the loop, words for the report after it.
//!
//! The loops make `Failure` and `Tally` only, without memory or text; everything that formats
//! is called when the last clock has been read. Depends on no other part of a phase.

use crate::clock::monotonic_ns;
use fsarena_model::work::{OpError, WorkerReport};
use rustix::io::Errno;

/// A call that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    /// System call.
    pub call: &'static str,
    /// Its error; `None` where it did less than asked without one.
    pub errno: Option<Errno>,
}

impl Failure {
    /// Error number and words. A write that took less than it was given has no error; where the
    /// space that is left is less than a call of `call_bytes`, it gets the error of the next one:
    /// no space.
    pub fn describe(
        &self,
        call_bytes: u64,
        free_bytes: impl FnOnce() -> Option<u64>,
    ) -> (i32, String) {
        let is_full = || self.call == "write" && free_bytes().is_some_and(|free| free < call_bytes);
        let errno = self.errno.or_else(|| is_full().then_some(Errno::NOSPC));
        let text = match errno {
            Some(errno) => errno.to_string(),
            None if matches!(self.call, "read" | "getxattr") => {
                "fewer bytes than the file should hold".to_owned()
            }
            None => "fewer bytes taken than given".to_owned(),
        };
        (errno.map_or(0, Errno::raw_os_error), text)
    }
}

/// What a loop did.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Ops completed.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Of these, written; counted only where reads and writes are mixed.
    pub written_bytes: u64,
    /// Why it ended early; the cursor is at the file.
    pub failure: Option<Failure>,
    /// Number of the op that failed, where it is not the one after `ops`: others were in flight.
    pub failed_op: Option<u64>,
}

impl Tally {
    /// Counts an op; `false` at a failure.
    #[inline(always)]
    pub fn count(&mut self, outcome: Result<usize, Failure>) -> bool {
        match outcome {
            Ok(bytes) => {
                self.ops += 1;
                self.bytes += bytes as u64;
                true
            }
            Err(failure) => {
                self.failure = Some(failure);
                false
            }
        }
    }
}

/// Names the call of an error.
#[inline(always)]
pub(crate) fn at<T>(call: &'static str, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| Failure { call, errno: Some(errno) })
}

/// A call that must move exactly `asked` bytes.
#[inline(always)]
pub(crate) fn full(
    call: &'static str,
    asked: usize,
    result: Result<usize, Errno>,
) -> Result<usize, Failure> {
    let moved = at(call, result)?;
    if moved == asked { Ok(moved) } else { Err(Failure { call, errno: None }) }
}

/// The failure of the syncfs that ends a phase, after `ops` ops.
#[must_use]
pub fn sync_error(ops: u64, errno: Errno) -> OpError {
    OpError {
        op_index: ops,
        thread: None,
        call: "syncfs".to_owned(),
        path: ".".to_owned(),
        errno: errno.raw_os_error(),
        text: errno.to_string(),
    }
}

/// The report of a phase whose threads could not be made.
pub(crate) fn not_started(source: &std::io::Error) -> WorkerReport {
    let now_ns = monotonic_ns();
    WorkerReport {
        start_monotonic_ns: now_ns,
        returned_monotonic_ns: now_ns,
        error: Some(OpError {
            op_index: 0,
            thread: None,
            call: "clone".to_owned(),
            path: ".".to_owned(),
            errno: source.raw_os_error().unwrap_or(0),
            text: format!("cannot start a thread: {source}; use fewer threads"),
        }),
        ..WorkerReport::default()
    }
}
