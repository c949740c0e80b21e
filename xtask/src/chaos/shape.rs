//! What a target is like, as far as whoever disturbs it has to know before anything is started.

use super::victim::Victim;

/// What of a start lies where there may be no space any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stored {
    Database,
    Journals,
    Images,
    /// `TMPDIR`.
    Temporary,
    /// What is written because somebody asked for it.
    Output,
}

/// What is the same for all cases of a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nature {
    /// Processes besides the one that is started.
    pub(super) victims: &'static [Victim],
    /// Steps at which a RUN can be made to wait (docs/testing.md); none where it is no RUN.
    pub(super) steps: &'static [&'static str],
    /// What it says on standard error as it goes on.
    pub(super) words: &'static [&'static str],
    pub(super) stored: &'static [Stored],
    /// Whether it reads or writes the database.
    pub(super) has_database: bool,
    /// Whether there are loop devices over files in the directory of images.
    pub(super) has_images: bool,
    /// Whether all of it takes minutes: where nothing else has ended it, it is interrupted.
    pub(super) is_long: bool,
    /// Whether it may fail where the machine is busy, or what was killed is not done again.
    pub(super) may_fail: bool,
    /// Whether other tests look at all devices of its kind.
    pub(super) is_seen_by_all: bool,
}

impl Nature {
    /// Whether there are trials, with journals and workers.
    pub(super) fn is_run(&self) -> bool {
        !self.steps.is_empty()
    }
}

/// What is disturbed, as far as it is known before.
pub(super) struct Shape {
    pub(super) nature: &'static Nature,
    /// One where it is no RUN.
    pub(super) trials: usize,
    /// Expected length.
    pub(super) length_ms: u64,
}
