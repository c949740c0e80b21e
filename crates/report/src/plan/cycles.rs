//! Cycles as the plan shows them.

use crate::format::{bytes, count, ns};
use fsarena_model::cycle::{Cycle, Disturb, Load, UpdateKind};
use fsarena_model::run::RunPlan;
use fsarena_model::work::{Phase, Workload};

/// A line for each phase of cycles: `periodic / cycle: 3 cycles of 5m00s, …`.
pub(super) fn lines(plan: &RunPlan) -> Vec<String> {
    let of = |workload: &Workload| -> Vec<String> {
        let line = |phase: &Phase| Some(line(workload, phase, phase.cycle.as_ref()?, plan.scale));
        workload.phases.iter().filter_map(line).collect()
    };
    plan.workloads.iter().flat_map(of).collect()
}

fn line(workload: &Workload, phase: &Phase, cycle: &Cycle, scale: f64) -> String {
    let kinds = UpdateKind::ALL.iter().zip(cycle.shares.weights());
    let shares: Vec<String> = kinds
        .filter(|(_, weight)| *weight > 0)
        .map(|(kind, weight)| format!("{weight} {}", kind.name()))
        .collect();
    let files = workload.dataset.files;
    let mut text = format!(
        "{} / {}: {} of {}, each {} of {files} files, {} of contents in all; shares: {}; overrun: \
         {}",
        workload.name,
        phase.name,
        count(cycle.cycles as usize, "cycle"),
        ns(Some(cycle.period_ns)),
        count(usize::try_from(cycle.updates).unwrap_or(usize::MAX), "update"),
        bytes(Some(workload.dataset.bytes())),
        shares.join(", "),
        cycle.overrun.name(),
    );
    if let Some(disturb) = &cycle.disturb {
        text.push_str(&beside(disturb));
    }
    if scale != 1.0 {
        let (period, limit) = match cycle.period_limit() {
            None => (", period", String::new()),
            Some(limit) => ("", format!(", the period is {limit}")),
        };
        text.push_str(&format!(
            "; files, updates{period} and second load are those of the whole times {scale}{limit}"
        ));
    }
    text
}

fn beside(disturb: &Disturb) -> String {
    let rate = |rate: u64, text: String| match rate {
        0 => "as fast as it goes".to_owned(),
        _ => format!("{text} a second"),
    };
    let load = match disturb.load {
        Load::Create { files, size_bytes, rate: each } => format!(
            "{files} files of {} are made, {}",
            bytes(Some(size_bytes)),
            rate(each, format!("{each} files"))
        ),
        Load::Write { size_bytes, rate_bytes, .. } => format!(
            "a file of {} is written, {}",
            bytes(Some(size_bytes)),
            rate(rate_bytes, bytes(Some(rate_bytes)))
        ),
        Load::Read { size_bytes, rate_bytes, .. } => format!(
            "a file of {} is read, {}",
            bytes(Some(size_bytes)),
            rate(rate_bytes, bytes(Some(rate_bytes)))
        ),
    };
    let when = match disturb.cycles.as_slice() {
        [] => "every cycle".to_owned(),
        [one] => format!("cycle {one}"),
        some => {
            let numbers: Vec<String> = some.iter().map(u32::to_string).collect();
            format!("cycles {}", numbers.join(", "))
        }
    };
    format!("; beside {when}: {load}")
}
