//! English: figures as they come, and the words of the verdicts elsewhere.

use super::{Against, Now, Phrases, ThenClaim, ThenTest, Title, decided_and_open};
use crate::format::count;
use crate::row_state::RowState;
use crate::verdict::text::{figure, listed, needs};
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_reference::Finding;

#[derive(Debug)]
pub(in super::super) struct English;

impl Phrases for English {
    fn tag(&self) -> &'static str {
        "en"
    }

    fn name(&self) -> &'static str {
        "English"
    }

    fn figure(&self, text: &str) -> String {
        text.to_owned()
    }

    fn words(&self, text: &str) -> String {
        text.to_owned()
    }

    fn title(&self, title: Title) -> &'static str {
        match title {
            Title::Method => "Machine and method",
            Title::Conditions => "Conditions",
            Title::Mind => "What to mind with the figures",
            Title::Results => "Results",
            Title::AsThen => "The author's table, from this RUN",
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

    fn answer(
        &self,
        about: &str,
        best: &str,
        metric: Metric,
        others: &[Against],
        rest: &[Against],
    ) -> String {
        let against: Vec<String> = others.iter().map(|one| other(one, metric, false)).collect();
        let first = match (against.as_slice(), rest) {
            ([], []) => return format!("{about}: {best} alone has a figure."),
            ([], _) => format!("{about}: the least median is that of {best}."),
            (parts, _) => {
                format!("{about}: the least median is that of {best}; {}.", parts.join("; "))
            }
        };
        let (decided, open) = decided_and_open(rest, "and");
        let decided: Vec<String> =
            decided.into_iter().map(|one| other(one, metric, true)).collect();
        match (decided.as_slice(), open.as_slice()) {
            ([], []) => first,
            ([], _) => format!("{first} No other pair is decided."),
            (decided, []) => format!("{first} The other pairs: {}.", decided.join("; ")),
            (decided, open) => format!(
                "{first} The other pairs: {}; undecided: {}.",
                decided.join("; "),
                open.join(", ")
            ),
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

    fn then(&self, year: u16, test: &ThenTest) -> String {
        let claim = |own: &ThenClaim| {
            let times = |(on, times): &(String, String)| match on.as_str() {
                "" => times.clone(),
                on => format!("{times} ({on})"),
            };
            let then: Vec<String> = own.then.iter().map(times).collect();
            let with = |(ratio, interval): &(String, Option<String>)| match interval {
                Some(interval) => format!("{ratio} times {interval}"),
                None => format!("{ratio} times"),
            };
            let now = match &own.now {
                Now::Likewise(found) => format!("now too, {}", with(found)),
                Now::Reversed(found) => {
                    format!(
                        "now it is the other way round, {} as fast is {}",
                        with(found),
                        own.slow
                    )
                }
                Now::Same => "now they are the same within the margin".to_owned(),
            };
            let (fast, slow) = (&own.fast, &own.slow);
            format!("in {year} {fast} was {} times as fast as {slow}; {now}", listed(&then))
        };
        let mut text = test.title.clone();
        if let Some(work) = &test.other_work {
            text.push_str(&format!(" (here other work: {work})"));
        }
        let claims: Vec<String> = test.claims.iter().map(claim).collect();
        if !claims.is_empty() {
            text.push_str(&format!(": {}", claims.join(". ")));
        }
        if !test.not_compared.is_empty() {
            let before = if claims.is_empty() { ": not compared" } else { ". Not compared" };
            text.push_str(&format!("{before}: {}", test.not_compared.join("; ")));
        }
        text + "."
    }

    fn conclusions(&self) -> &'static str {
        "Its conclusions, held against its own numbers"
    }

    fn conclusion(&self, finding: &Finding) -> String {
        format!("{}: {}. {}.", finding.claim, finding.holds.name(), finding.why)
    }

    fn no_rows(&self, year: u16) -> String {
        format!(
            "No two of what {year} compared are contenders here with the same question, the same \
             clock and a difference that can be told then and now: nothing is said of then and now."
        )
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

/// What is said of one against the best, or against the other of a pair.
fn other(one: &Against, metric: Metric, names_both: bool) -> String {
    let (before, times) = needs(metric, Verdict::Slower);
    let ratio = one.ratio.as_ref().map(|(ratio, interval)| match interval {
        Some(interval) => format!("{ratio} times {times} {interval}"),
        None => format!("{ratio} times {times}"),
    });
    let label = &one.label;
    let both = if names_both { format!("{label} and {}", one.than) } else { label.clone() };
    let are = if names_both { "are" } else { "is" };
    let than = if names_both { format!(" than {}", one.than) } else { String::new() };
    let bare = ratio.as_ref().map_or_else(String::new, |ratio| format!(" ({ratio})"));
    let mut text = match (one.verdict, ratio) {
        (Verdict::Same, _) => format!("{both} {are} the same within the margin{bare}"),
        (Verdict::Undecided, _) => format!("{both} {are} undecided{bare}"),
        (Verdict::Slower, Some(ratio)) if names_both => {
            format!("{label} against {}: {before}{ratio}", one.than)
        }
        (Verdict::Slower, Some(ratio)) => format!("{label} {before}{ratio}"),
        (Verdict::Slower, None) => format!("{label} needs more{than}"),
        (Verdict::Faster, _) => format!("{label} needs less{than} nevertheless{bare}"),
    };
    if one.by_machine {
        text.push_str(", by the machine");
    }
    text
}
