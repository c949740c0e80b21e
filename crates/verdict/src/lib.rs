//! Which is faster, by how much, and is the difference real: everything that decides.
//!
//! [`Judge`] decides, look by look, from the plan and the scores of trials alone; the runner asks
//! it which trials are still needed, and anyone who opens the file later gets the same answers from
//! the same numbers. [`verdicts`] says what it found, with what [`watchers`] saw and which
//! [`factors`] explain the differences; [`compare`] takes several RUNs as the sample. The method is
//! described in `docs/verdict.md`; its pieces are in `fsarena-stats`.
//! [`honesty`] replays it on tapes.
//!
//! Pure: nothing here reads a file, a clock or the machine. Only whole trials are replicates.
//! Absence of a difference is never called "the same".
#![forbid(unsafe_code)]

mod build;
pub mod compare;
mod data;
pub mod factors;
pub mod honesty;
mod judge;
mod once;
mod parallel;
mod points;
mod suite;
mod view;
pub mod watchers;

pub use judge::{BlockEnd, Judge};
pub use once::{PairResult, look_once};
pub use points::{Class, Point, Points};
pub use view::{
    Estimator, Excluded, Forecast, ForecastFor, PairView, QuestionView, RankRow, RerunBlock,
    SuiteView, Verdicts, WorkloadShare,
};

use fsarena_model::run::RunHeader;
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{InterimAnalysis, Stop};

/// Everything that is said of the questions of a RUN; `None` where it was planned without any.
///
/// `scores` are the latest attempts, in any order; `stop` and `looks` are as stored.
#[must_use]
pub fn verdicts(
    header: &RunHeader,
    scores: &[TrialScore],
    stop: Option<Stop>,
    looks: &[InterimAnalysis],
) -> Option<Verdicts> {
    let judge = Judge::replay(&header.plan, scores, stop, looks)?;
    Some(build::verdicts(&header.plan, &judge, stop, looks))
}
