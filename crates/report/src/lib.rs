//! Text and JSON of what was measured: functions from plain values to a `String` or a JSON value.
//!
//! Nothing here prints, asks for the width of a terminal, or computes a figure that is not in the
//! study: callers say how wide and whether in colour, and `fsarena-study` does the arithmetic.
#![forbid(unsafe_code)]

mod accounts;
pub mod article;
mod bars;
pub mod cells;
mod command;
mod csv;
mod cycles;
mod datasets;
mod devices;
mod doctor;
mod experiments;
mod forest;
mod honesty;
mod identity;
mod job;
pub mod json;
mod latency;
mod ledger;
mod list;
mod manner;
mod markdown;
mod marks;
mod merged;
mod notes;
mod phases;
mod plan;
mod raw;
mod sweeps;
mod table;
mod verdict;
mod watched;
mod words;

pub use accounts::{
    LEGEND as ACCOUNT_LEGEND, account_notes, account_tables, account_title, account_words,
};
pub use article::{
    ArticleCell, ArticleRow, Beside, OwnPhase, OwnRun, PlainTable, ThenAndNow, article,
    article_2003, articles, beside, in_shape_of,
};
pub use command::{RUN_FLAGS, arguments, command, experiment_file, file_name};
pub use csv::csv;
pub use cycles::{
    LEGEND as CYCLES_LEGEND, cycles_lines, cycles_tables, cycles_title, factor_text, load,
};
pub use datasets::{
    ClassLine, DatasetLine, contents_text, dataset_text, datasets_table, files_text,
};
pub use devices::{DeviceLine, devices_table};
pub use doctor::{doctor_lines, doctor_table, noise_table};
pub use experiments::{ExperimentLine, experiments_table};
pub use forest::{compare_json, forest_tables, one_run_text, sides_tables};
pub use honesty::honesty_tables;
pub use identity::anonymous;
pub use ledger::ledger_tables;
pub use list::{RunLine, runs_list};
pub use markdown::markdown;
pub use merged::{MergedLine, merged_table};
pub use notes::{closing_lists, closing_notes, heading, sampling};
pub use phases::phase_tables;
pub use plan::{PlanCost, PlanCostRow, PlanNeed, plan_table};
pub use raw::raw_values;
pub use sweeps::{LEGEND as SWEEP_LEGEND, sweep_tables, sweep_title};
pub use verdict::{Detail, answers, verdict_headline, verdict_json, verdict_tables};
pub use watched::{totals as watched_totals, watched_pair_tables, watched_tables};

/// How text looks, beside its width (which every function takes in columns; less than
/// [`MIN_WIDTH`] is taken as that).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether headings and warnings carry ANSI colour; the caller knows the terminal and
    /// `NO_COLOR`.
    pub colour: bool,
    /// Whether bars of block characters stand beside figures; the caller knows the terminal.
    pub bars: bool,
    /// How rates are written; `None` takes what the RUN's plan says.
    pub rate: Option<fsarena_model::run::RateStyle>,
}

/// Narrowest layout.
pub const MIN_WIDTH: usize = 80;
