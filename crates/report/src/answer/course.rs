//! How far a RUN came and why not farther, how long it took, on what, and for what that holds.

use super::model::{AnswerRow, Mark, RunProgress};
use crate::context::Run;
use crate::verdict::rule::scope_sentence;
use crate::verdict::text::about;
use fsarena_model::contender::{DeviceLevel, kernel_release};
use fsarena_model::run::{RunPlan, RunState};
use fsarena_model::units::Bytes;
use fsarena_model::verdict::{Rule, StopWhy};

pub(super) fn course(run: &Run<'_>, rows: &[AnswerRow]) -> RunProgress {
    let plan = &run.header.plan;
    let rule = plan.verdict.as_ref().map(|verdict| verdict.rule);
    let stop = run.verdicts.and_then(|verdicts| verdicts.stop).map(|stop| stop.why);
    let is_open = rows.iter().flat_map(|row| &row.cells).any(|cell| cell.mark == Mark::Unknown);
    let is_over = run.study.state == RunState::Done;
    let ended_by_budget = stop == Some(StopWhy::Budget);
    // With looks, a RUN that its budget ended before all was decided would have gone on.
    let is_cut_off = match (is_over, rule) {
        (false, _) => run.study.trials_recorded < plan.schedule.len(),
        (true, Some(Rule::Looks { .. })) => ended_by_budget && is_open,
        (true, _) => ended_by_budget,
    };
    let recorded = run.records.iter().map(|record| record.key.block + 1).max().unwrap_or(0);
    let blocks = run.verdicts.map_or(recorded, |verdicts| verdicts.blocks_done);
    let blocks_counted = run.verdicts.map_or(recorded, |verdicts| verdicts.blocks_counted);
    let blocks_planned = match (rule, run.verdicts) {
        // The first block has said how many fit.
        (Some(Rule::Fit { .. }), Some(verdicts)) => verdicts.most_blocks,
        (rule, _) => rule.map_or(plan.blocks, Rule::blocks),
    };
    let in_plan = plan.schedule.iter().filter(|slot| slot.block < blocks_planned).count();
    RunProgress {
        state: run.study.state,
        rule,
        blocks,
        blocks_counted,
        blocks_planned,
        crash_runs: run.crash.filter(|_| plan.is_crash_alone()).map(|it| it.crash_runs_done),
        trials: run.study.trials_recorded,
        trials_planned: if is_cut_off { in_plan } else { run.study.trials_planned },
        sessions: run.study.sessions,
        boots: run.study.boots,
        is_cut_off,
        ended: ended(run, stop, is_open),
    }
}

/// Why it ended, in words that may stand behind "since".
fn ended(run: &Run<'_>, stop: Option<StopWhy>, is_open: bool) -> String {
    let words = match (run.study.state, stop) {
        (RunState::Running, _) => "it is not at its end, or its process died without a word",
        (RunState::Interrupted, _) => "it was interrupted",
        (RunState::Failed, _) => "it could not go on",
        (RunState::Done, None | Some(StopWhy::Cap)) => "all blocks of the plan were done",
        (RunState::Done, Some(StopWhy::Decided)) if is_open => {
            "no contender was left that could still be decided"
        }
        (RunState::Done, Some(StopWhy::Decided)) => "all that was asked is decided",
        (RunState::Done, Some(StopWhy::Budget)) => {
            let budget_ns = run.verdicts.and_then(|verdicts| verdicts.budget_ns);
            return match budget_ns {
                Some(ns) => format!("its budget of {} was used up", about(ns as f64 / 1e9)),
                None => "its budget was used up".to_owned(),
            };
        }
    };
    words.to_owned()
}

/// From the start of each session to the end of its last trial.
pub(super) fn elapsed_ns(run: &Run<'_>) -> Option<u64> {
    let mut all_ns = 0u64;
    for (at, session) in run.sessions.iter().enumerate() {
        let until = run.sessions.get(at + 1).map_or(u32::MAX, |next| next.first_sequence);
        let own = run
            .records
            .iter()
            .filter(|record| (session.first_sequence..until).contains(&record.key.sequence));
        let end = own.map(|record| record.started_unix_ns.saturating_add(record.elapsed_ns)).max();
        let end = end.unwrap_or(session.started_unix_ns);
        all_ns = all_ns.saturating_add(end.saturating_sub(session.started_unix_ns));
    }
    (all_ns > 0).then_some(all_ns)
}

/// `3m52`, `47 s`, `2h05`: a time that was used.
pub(super) fn used(ns: u64) -> String {
    let seconds = ns.saturating_add(500_000_000) / 1_000_000_000;
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6_000 => format!("{}m{:02}", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Where the file systems lay, each kind once; what is in memory by itself lies nowhere.
pub(super) fn device_words(plan: &RunPlan) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let on_device = plan.contenders.iter().filter(|one| !one.levels.is_in_memory());
    for contender in on_device {
        let sized = |what: &str, size: &u64| format!("{what} {}", Bytes(*size));
        let words = match &contender.levels.device {
            DeviceLevel::Loop { size_bytes } => sized("loop image", size_bytes),
            DeviceLevel::Ram { size_bytes } => sized("image in memory", size_bytes),
            DeviceLevel::Memory { kind, size_bytes } => sized(kind.row().phrase, size_bytes),
            DeviceLevel::Vdisk { size_bytes, model } => {
                sized(&format!("modelled {model}"), size_bytes)
            }
            DeviceLevel::Virtual { size_bytes, model, kernel, .. } => {
                let release = kernel_release(kernel);
                sized(&format!("guests of Linux {release}, modelled {model}"), size_bytes)
            }
            DeviceLevel::Block { path, .. } => path.display().to_string(),
            DeviceLevel::Directory { path } => format!("directory {}", path.display()),
            several @ DeviceLevel::Several { .. } => several.to_string(),
            DeviceLevel::Elsewhere { .. } => continue,
        };
        if !all.contains(&words) {
            all.push(words);
        }
    }
    if plan.contenders.iter().all(|contender| contender.levels.is_in_memory()) {
        all.push("memory".to_owned());
    }
    all
}

/// For what all this holds; empty where nothing is said.
pub(super) fn scope(run: &Run<'_>) -> String {
    let Some(verdicts) = run.verdicts else { return String::new() };
    if verdicts.questions.iter().all(|question| question.pairs.is_empty()) {
        return String::new();
    }
    match run.measured_by() {
        Some(_) => "Holds for the trials that were brought in.".to_owned(),
        None => scope_sentence(verdicts).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_were_used() {
        let text = |seconds: u64| used(seconds * 1_000_000_000);
        assert_eq!([text(0), text(47), text(99)], ["0 s", "47 s", "99 s"]);
        assert_eq!([text(100), text(232), text(3_600)], ["1m40", "3m52", "60m00"]);
        assert_eq!([text(6_000), text(7_530)], ["1h40", "2h05"]);
    }
}
