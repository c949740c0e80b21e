//! How often something was found, of every kind of campaign alike: what answers and comparisons are
//! made of.

use super::CrashRunsView;
use super::share::CrashShare;
use crate::JsonSchema;
use fsarena_stats::wilson;
use serde::Serialize;

/// Intervals are of 95 %.
const ALPHA: f64 = 0.05;

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
    /// The interval at 95 % of the share; absent where states were not drawn at random.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// All that there are were carried out, and none drawn: two such shares differ or do not.
    pub is_complete: bool,
    /// The disk did what an honest one does not: this is found of the disk.
    pub is_of_disk: bool,
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
                let is_of_disk = row.disk_fault.is_some();
                CrashMeasure { is_of_disk, ..measured(names, measure, hits, Some(share)) }
            };
            all.push(of_points("synced work lost", &row.acknowledged_lost));
            all.push(of_points("documents broken", &row.documented_broken));
            all.push(of_points("replaced damaged", &row.replaced_damaged));
            all.extend(row.mounted_as_before.iter().map(|share| of_points("mounted", share)));
        }
        for row in &self.hunts {
            let names = [&row.contender, &row.workload, &String::new()];
            let of_states = |measure, hits| {
                let is_of_disk = row.disk_fault.is_some();
                let hits = (hits, row.states_checked);
                CrashMeasure { is_of_disk, ..measured(names, measure, hits, None) }
            };
            all.push(of_states("fsync broken", row.contract_broken));
            all.push(of_states("documents broken", row.documented_broken));
        }
        for row in &self.applications {
            let names = [&row.contender, &row.application, &row.state];
            let is_of_disk = row.state.starts_with("lying");
            let (lost, failed) = (&row.acknowledged_lost, &row.check_failed);
            // Lost is what a check that passed did not find.
            let passed = failed.of.saturating_sub(failed.hits);
            let hits = [(lost.crash_points, passed), (failed.hits, failed.of)];
            let names_of = ["acknowledged work lost", "check failed"];
            for ((measure, hits), share) in names_of.into_iter().zip(hits).zip([lost, failed]) {
                let one = measured(names, measure, hits, Some(share));
                all.push(CrashMeasure { is_of_disk, ..one });
            }
        }
        for row in &self.sequences {
            let names = [&row.contender, &format!("length {}", row.length), &String::new()];
            for (measure, hits) in [
                ("fsync broken", row.contract_broken),
                ("custom not kept", row.customary_broken),
                ("damaged", row.damaged),
            ] {
                let of = row.sequences.saturating_sub(row.not_judged);
                all.push(match self.is_drawn {
                    true => drawn(names, measure, (hits, of)),
                    false => {
                        let one = measured(names, measure, (hits, of), None);
                        CrashMeasure { is_complete: true, ..one }
                    }
                });
            }
        }
        for row in &self.litmus {
            let names = [&row.contender, &row.litmus, &String::new()];
            let hits = (row.programs_broken, row.programs);
            all.push(drawn(names, "does not hold", hits));
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

/// Of programs that a seed draws: as many of all there are as were carried out.
fn drawn(names: [&String; 3], measure: &str, (hits, of): (u64, u64)) -> CrashMeasure {
    let bounds = wilson(hits, of, ALPHA).ok().and_then(|it| it.bounds.attained());
    CrashMeasure {
        low: bounds.as_ref().map(|bounds| bounds.low),
        high: bounds.as_ref().map(|bounds| bounds.high),
        ..measured(names, measure, (hits, of), None)
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
        is_complete: false,
        is_of_disk: false,
    }
}
