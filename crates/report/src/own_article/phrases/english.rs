//! English: figures as they come, and the words of the verdicts elsewhere.

use super::{Against, Phrases, Ranked, Title};
use crate::format::count;
use crate::row_state::RowState;
use crate::verdict::text::figure;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_reference::Finding;

#[derive(Debug)]
pub(in super::super) struct English;

impl Phrases for English {
    fn tag(&self) -> &'static str {
        "en"
    }

    fn figure(&self, text: &str) -> String {
        text.to_owned()
    }

    fn title(&self, title: Title) -> &'static str {
        match title {
            Title::Method => "Machine and method",
            Title::Results => "Results",
            Title::ThenAndNow => "Then and now",
            Title::LeftOut => "Left out",
        }
    }

    fn metric(&self, metric: Metric, clock: Clock, changes: bool) -> String {
        figure(metric, clock, changes)
    }

    fn own_title(&self, title: &str) -> String {
        title.to_owned()
    }

    fn machine(&self, machine: &str, devices: &[String]) -> String {
        match devices {
            [] => format!("Machine: {machine}."),
            devices => format!("Machine: {machine}. Devices: {}.", devices.join("; ")),
        }
    }

    fn trials(&self, done: usize, at_most: Option<usize>) -> String {
        let trials = count(done, "trial");
        match at_most {
            None => trials,
            Some(most) => format!("{trials} of {most} at most: the RUN is not whole"),
        }
    }

    fn not_asked_before(&self, trials: &str) -> String {
        format!(
            "{trials}. Nothing was asked before the RUN: whether differences are real is not said."
        )
    }

    fn brought_in(&self, program: &str) -> String {
        format!("Measured by {program} and brought in: caches and order are unknown.")
    }

    fn blocks(&self) -> &'static str {
        "Each block does the trials of all contenders that are still needed, once, in a random \
         order of its own."
    }

    fn made_anew(&self) -> &'static str {
        "Each trial begins with a file system that is made anew."
    }

    fn counted(&self, trials: &str, blocks: usize) -> String {
        format!("{trials}; {} count.", count(blocks, "block"))
    }

    fn virtual_time(&self) -> &'static str {
        "Times are virtual: of a guest kernel on a modelled disk."
    }

    fn row_state(&self, state: RowState) -> &'static str {
        state.words()
    }

    fn never_cold(&self, labels: &str) -> String {
        format!("Cold caches were asked for; those of {labels} cannot be cold and were warm.")
    }

    fn scaled(&self, scale: f64) -> String {
        format!("Datasets are scaled by {scale}.")
    }

    fn rule(&self, margin: &str) -> String {
        format!(
            "Whether a difference is real was decided by a rule that was fixed before the first \
             block; the same means within ±{margin}."
        )
    }

    fn phase(&self) -> &'static str {
        "phase"
    }

    fn table(&self, workload: &str) -> String {
        format!("{workload}: medians, less is better")
    }

    fn heat(&self, reference: &str) -> String {
        format!("All times as ratios to {reference}; above 1 is slower")
    }

    fn times(&self, workload: &str, phase: &str) -> String {
        format!("{workload}, {phase}: medians, with every trial as a dot; less is better")
    }

    fn answer(&self, phase: &str, best: &str, metric: Metric, others: &[Against<'_>]) -> String {
        let much = if metric == Metric::Written { "as much" } else { "as long" };
        let parts: Vec<String> = others.iter().map(|one| other(one, much)).collect();
        match parts.as_slice() {
            [] => format!("{phase}: {best} alone has a figure."),
            parts => format!("{phase}: the least median is that of {best}; {}.", parts.join("; ")),
        }
    }

    fn nothing_asked(&self) -> &'static str {
        "Nothing was asked of this RUN, so nothing is compared; its figures: fsarena report"
    }

    fn nothing_to_compare(&self, label: Option<&str>) -> String {
        match label {
            Some(label) => {
                format!("{label} is the only contender with figures: nothing is compared.")
            }
            None => "No contender has a figure: there is nothing to compare.".to_owned(),
        }
    }

    fn then_not_now(&self, year: u16) -> String {
        format!(
            "Hardware, kernels and file systems are not those of {year}: how far contenders lay \
             apart within each time can be set side by side, absolute figures cannot."
        )
    }

    fn then_chart(&self, year: u16) -> String {
        format!("Ratios to the best of each time: hatched {year}, filled this machine")
    }

    fn then(
        &self,
        year: u16,
        test: &str,
        then: &Ranked<'_>,
        now: &Ranked<'_>,
        is_same: Option<bool>,
    ) -> String {
        let place = |place: &Ranked<'_>| match &place.spread {
            None => format!("{} alone", place.best),
            Some(spread) => {
                format!("{} of {}, the last at {spread} times", place.best, place.count)
            }
        };
        let verdict = match is_same {
            None => "; the first of then is not here",
            Some(true) => ": the first is the same",
            Some(false) => ": the first is another one",
        };
        format!(
            "{test}: in {year} first was {}; now, by medians, {}{verdict}.",
            place(then),
            place(now)
        )
    }

    fn conclusions(&self) -> &'static str {
        "Its conclusions, held against its own numbers"
    }

    fn conclusion(&self, finding: &Finding) -> String {
        format!("{}: {}. {}.", finding.claim, finding.holds.name(), finding.why)
    }

    fn no_rows(&self, year: u16) -> String {
        format!("No test of {year} has a figure of this machine that was measured as asked.")
    }

    fn not_run(&self, label: &str, why: &str) -> String {
        format!("{label} was not run: {why}")
    }

    fn failed(&self, label: &str, workload: &str, why: &str) -> String {
        format!("{label} failed in {workload}: {why}")
    }

    fn excluded(&self, workload: &str, phase: &str, label: &str, why: &str) -> String {
        format!("{workload} {phase}: {label} is excluded: {why}")
    }

    fn figure_word(&self) -> &'static str {
        "Fig."
    }
}

fn other(one: &Against<'_>, much: &str) -> String {
    let ratio = one.ratio.as_ref().map(|(ratio, interval)| match interval {
        Some(interval) => format!("{ratio} times {much} {interval}"),
        None => format!("{ratio} times {much}"),
    });
    let label = one.label;
    let mut text = match (one.verdict, ratio) {
        (Verdict::Same, Some(ratio)) => format!("{label} is the same within the margin ({ratio})"),
        (Verdict::Same, None) => format!("{label} is the same within the margin"),
        (Verdict::Undecided, Some(ratio)) => format!("{label} is undecided ({ratio})"),
        (Verdict::Undecided, None) => format!("{label} is undecided"),
        (Verdict::Slower, Some(ratio)) => format!("{label} takes {ratio}"),
        (Verdict::Slower, None) => format!("{label} takes more"),
        (Verdict::Faster, _) => format!("{label} takes less nevertheless"),
    };
    if one.by_machine {
        text.push_str(", by the machine");
    }
    text
}
