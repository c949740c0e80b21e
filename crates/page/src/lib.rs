//! The report: one HTML page that needs no network, complete without its script.
//!
//! Views come from `fsarena-study`, sentences from `fsarena-report`, drawings from `fsarena-chart`;
//! what is laid out here is computed in none of these again. Every inserted string is escaped by
//! the templates (`maud`); what a RUN says is text, never markup.
#![forbid(unsafe_code)]

mod answer;
mod appendix;
mod bytes;
mod data;
mod fairness;
mod frame;
mod parts;
mod periodic;
mod pictures;
mod series;
mod speed;
mod sweeps;
mod then;
mod watched;

use fsarena_chart::Svg;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_reference::Article;
use fsarena_report::OwnPhase;
use fsarena_study::Study;
use fsarena_study::verdict::Verdicts;

/// A RUN as the page takes it: what was read from the database, and what was computed from it. What
/// is not to be passed on was taken out before.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Number in the database.
    pub id: i64,
    /// What was planned.
    pub header: &'a RunHeader,
    /// Uninterrupted pieces.
    pub sessions: &'a [RunSession],
    /// Latest record of each trial.
    pub records: &'a [TrialRecord],
    /// Views.
    pub study: &'a Study,
    /// Verdicts; none where nothing was asked.
    pub verdicts: Option<&'a Verdicts>,
    /// The article that its experiment repeats.
    pub article: Option<Repeats<'a>>,
}

/// An article, and what repeats it.
#[derive(Clone, Copy, Debug)]
pub struct Repeats<'a> {
    /// The article.
    pub article: &'a Article,
    /// Which phase of ours repeats which test of it.
    pub phases: &'a [OwnPhase],
    /// In what the experiment does otherwise, a line each.
    pub notes: &'a [String],
}

/// The page of one or several RUNs.
#[must_use]
pub fn page(runs: &[Run<'_>], program_version: &str) -> String {
    frame::page(runs, program_version).into_string()
}

/// Every chart of the page, in its order; ids are unique over all RUNs.
#[must_use]
pub fn charts(runs: &[Run<'_>]) -> Vec<Svg> {
    pictures::all(runs)
}
