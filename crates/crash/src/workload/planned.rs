//! How much is to be done, and actions with their times.

use crate::op::Action;

/// How much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Of the ops that are judged. Shorter than 120 s says little where data are written back
    /// after 30 s.
    pub duration_ns: u64,
    /// Bytes of the files that are made and deleted at the begin, in files of 1 MiB. As much as
    /// the ops will write, so that they get blocks that held something.
    pub prefill_bytes: u64,
}

/// An action and the earliest time for it, counted from the begin of the plan. Actions are done
/// one after the other, in this order, by one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    pub at_ns: u64,
    pub action: Action,
}

/// Time for what comes before the ops that are judged.
pub(crate) const BEGIN_NS: u64 = 10_000_000_000;
