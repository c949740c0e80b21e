//! What power cuts leave of the work of applications, by their own checks.

use super::share::{CASES_MOST, CrashShare};
use crate::JsonSchema;
use fsarena_crash::application::{
    Application, ApplicationFigures, ApplicationFindings, application, application_figures,
};
use fsarena_crash::figures::{FigureError, FigureOptions};
use fsarena_crash::record::ApplicationRecord;
use fsarena_crash::state::Class;
use serde::Serialize;
use std::collections::BTreeMap;

/// An application that was run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct CrashApplication {
    pub name: String,
    pub title: String,
    /// Where it is written what should be safe.
    pub source: String,
    pub notes: Vec<String>,
}

impl CrashApplication {
    /// The application of this name, by its description among `described`, or as it is built in.
    pub(super) fn named(name: &str, described: &BTreeMap<String, String>) -> Option<Self> {
        let of_text = || Application::parse(described.get(name)?, name).ok();
        let Application { name, title, source, notes, .. } =
            of_text().or_else(|| application(name))?;
        Some(Self { name, title, source, notes })
    }
}

/// One contender with one application and one class of crash states.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CrashApplicationRow {
    pub contender: String,
    pub application: String,
    /// Which writes that no flush covers are there.
    pub state: String,
    pub runs: u32,
    pub crash_points: u64,
    /// Mount and superblock options in force while it worked.
    pub mount_options: String,
    /// Units that it acknowledged in all runs.
    pub acknowledged_units: u64,
    /// Of those that were acknowledged before a cut, at all crash points at which the check
    /// passed; the interval is of the share of these crash points with any that is lost.
    pub acknowledged_lost: CrashShare,
    /// Most of them at one crash point.
    pub lost_max: u64,
    /// Age of the oldest lost one, where the last ones are lost.
    pub lost_age_max_ns: u64,
    /// Crash points at which the check did not pass, of those at which it was run.
    pub check_failed: CrashShare,
    /// Crash points at which it could be mounted without a repair; absent where documents or
    /// kernel ask for one first.
    pub mounted_as_before: Option<CrashShare>,
    /// Crash points at which the kernel reported damage.
    pub kernel_reported: u64,
    /// First cases of what is wrong, each with its seed, its time and what the check said.
    pub cases: Vec<String>,
}

/// The rows of a contender with one application: one for each class of states.
///
/// # Errors
/// Findings of which no rates can be made.
pub(super) fn application_rows(
    contender: &str,
    application: &str,
    records: &[&ApplicationRecord],
) -> Result<Vec<CrashApplicationRow>, FigureError> {
    let runs: Vec<Vec<ApplicationFindings>> =
        records.iter().map(|record| record.findings.clone()).collect();
    let of_classes = application_figures(&runs, &FigureOptions::default())?;
    let row = |(class, of): &(Class, ApplicationFigures)| {
        let found = || records.iter().flat_map(|record| &record.findings);
        let of_class = || found().filter(|found| found.class == *class);
        let units = records.iter().map(|record| record.acknowledged_units);
        let is_repaired_first = records.iter().any(|record| record.is_repaired_first);
        CrashApplicationRow {
            contender: contender.to_owned(),
            application: application.to_owned(),
            state: class.name(),
            runs: of.runs,
            crash_points: of.crash_points,
            mount_options: records.last().map(|it| it.mount_options.clone()).unwrap_or_default(),
            acknowledged_units: units.fold(0, u64::saturating_add),
            acknowledged_lost: CrashShare::new(&of.lost_units, &of.lost_points),
            lost_max: of.lost_units_max,
            lost_age_max_ns: of.lost_age_max_ns,
            check_failed: CrashShare::new(&of.check_failed, &of.check_failed),
            mounted_as_before: (!is_repaired_first)
                .then(|| CrashShare::new(&of.mounted, &of.mounted)),
            kernel_reported: of_class().filter(|found| found.kernel_messages > 0).count() as u64,
            cases: cases(*class, records),
        }
    };
    Ok(of_classes.iter().map(row).collect())
}

/// The first cases of what is wrong.
fn cases(class: Class, records: &[&ApplicationRecord]) -> Vec<String> {
    let of_record = |record: &&ApplicationRecord| {
        let (seed, begin_ns) = (record.seed, record.begin_ns);
        let wrong =
            record.findings.iter().filter(|found| found.class == class && found.is_broken());
        let words = wrong.map(|found| {
            let after_s = found.at_ns.saturating_sub(begin_ns) as f64 / 1e9;
            format!("seed {seed}, cut at {after_s:.3} s: {}", found.words)
        });
        words.take(CASES_MOST).collect::<Vec<_>>()
    };
    records.iter().flat_map(of_record).take(CASES_MOST).collect()
}
