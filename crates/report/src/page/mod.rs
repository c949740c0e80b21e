//! The report: one HTML page that needs no network, complete without its script.
//!
//! Views come from `fsarena-study`, sentences from the rest of this crate, drawings from
//! `fsarena-chart`; what is laid out here is computed in none of these again. Every inserted string
//! is escaped by the templates (`maud`); what a RUN says is text, never markup.

mod frame;

use crate::context::Run;
use fsarena_chart::Svg;

/// The page of one or several RUNs.
#[must_use]
pub fn page(runs: &[Run<'_>], program_version: &str) -> String {
    frame::page(runs, program_version).into_string()
}

/// Every chart of the page, in its order; ids are unique over all RUNs.
#[must_use]
pub fn charts(runs: &[Run<'_>]) -> Vec<Svg> {
    frame::charts(runs)
}
