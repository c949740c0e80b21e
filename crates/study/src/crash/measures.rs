//! How often something was found, of every kind of campaign alike: what answers and comparisons are
//! made of.

use super::CrashRunsView;
use super::share::CrashShare;
use crate::JsonSchema;
use serde::Serialize;

/// A share of one contender with one workload.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CrashMeasure {
    pub contender: String,
    pub workload: String,
    /// Class of crash states, or kind of request; empty where there is none.
    pub state: String,
    /// What was found.
    pub measure: String,
    pub hits: u64,
    /// Of so many crash points, states, sequences, programs or cases.
    pub of: u64,
    /// The interval at 95 % of the share; absent where nothing was drawn at random.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl CrashRunsView {
    /// All of them, in the order of the rows; of each row what breaks a promise of fsync first.
    #[must_use]
    pub fn measures(&self) -> Vec<CrashMeasure> {
        let mut all = Vec::new();
        for one in &self.rows {
            let row = &one.row;
            let names = [&row.contender, &row.workload, &row.state];
            let of_points = |measure, share: &CrashShare| {
                let hits = (share.crash_points, row.crash_points);
                measured(names, measure, hits, Some(share))
            };
            all.push(of_points("synced work lost", &row.acknowledged_lost));
            all.push(of_points("documents broken", &row.documented_broken));
            all.push(of_points("replaced damaged", &row.replaced_damaged));
            all.extend(row.mounted_as_before.iter().map(|share| of_points("mounted", share)));
        }
        for row in &self.hunts {
            let names = [&row.contender, &row.workload, &String::new()];
            let of = row.states_checked;
            all.push(measured(names, "fsync broken", (row.contract_broken, of), None));
            all.push(measured(names, "documents broken", (row.documented_broken, of), None));
        }
        for row in &self.applications {
            let names = [&row.contender, &row.application, &row.state];
            let lost = &row.acknowledged_lost;
            let of_points = (lost.crash_points, row.crash_points);
            all.push(measured(names, "acknowledged work lost", of_points, Some(lost)));
            let failed = &row.check_failed;
            let hits = (failed.hits, failed.of);
            all.push(measured(names, "check failed", hits, Some(failed)));
        }
        for row in &self.sequences {
            let names = [&row.contender, &format!("length {}", row.length), &String::new()];
            let of = row.sequences;
            all.push(measured(names, "fsync broken", (row.contract_broken, of), None));
            all.push(measured(names, "custom not kept", (row.customary_broken, of), None));
            all.push(measured(names, "damaged", (row.damaged, of), None));
        }
        for row in &self.litmus {
            let names = [&row.contender, &row.litmus, &String::new()];
            let hits = (row.programs_broken, row.programs);
            all.push(measured(names, "does not hold", hits, None));
        }
        for row in &self.medium_errors {
            let names = [&row.contender, &row.workload, &format!("{} {}", row.request, row.fails)];
            let of_cases = |measure, share: &CrashShare| {
                measured(names, measure, (share.hits, share.of), Some(share))
            };
            all.push(of_cases("synced work lost", &row.lost));
            all.push(of_cases("lost and not reported", &row.silent));
            all.push(of_cases("reported", &row.reported));
        }
        all
    }
}

fn measured(
    [contender, workload, state]: [&String; 3],
    measure: &str,
    (hits, of): (u64, u64),
    share: Option<&CrashShare>,
) -> CrashMeasure {
    CrashMeasure {
        contender: contender.clone(),
        workload: workload.clone(),
        state: state.clone(),
        measure: measure.to_owned(),
        hits,
        of,
        low: share.and_then(|share| share.low),
        high: share.and_then(|share| share.high),
    }
}
