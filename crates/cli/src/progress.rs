//! Progress on standard error: a bar on a terminal, a line a block and a trial elsewhere.

use crate::context;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::units::Bytes;
use fsarena_model::visible;
use fsarena_runner::{BlockProgress, Blocks, CrashProgress, Progress, TrialProgress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Where progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    /// As a bar.
    Bar,
    /// As lines.
    Lines,
    /// Not at all; what went wrong is said in any case.
    Nowhere,
}

/// Progress of a RUN.
pub struct Bar {
    bar: ProgressBar,
    shown: Shown,
    /// The block under way, as it is said.
    block: String,
    /// When the RUN is expected to end, once that is known, and its budget.
    end: Option<Instant>,
    budget_ns: Option<u64>,
    decided: Option<(usize, usize)>,
    title: String,
    image: Option<String>,
}

impl Bar {
    /// A bar over `trials`, lines where standard error is no terminal, nothing where `is_quiet`.
    pub fn new(trials: usize, is_quiet: bool) -> Self {
        let shown = match std::io::stderr().is_terminal() {
            _ if is_quiet => Shown::Nowhere,
            true => Shown::Bar,
            false => Shown::Lines,
        };
        let target = match shown {
            Shown::Bar => ProgressDrawTarget::stderr_with_hz(4),
            Shown::Lines | Shown::Nowhere => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(trials as u64), target);
        let style = ProgressStyle::with_template("{bar:16} {wide_msg}");
        bar.set_style(style.expect("the template is constant and tested"));
        Self {
            bar,
            shown,
            block: String::new(),
            end: None,
            budget_ns: None,
            decided: None,
            title: String::new(),
            image: None,
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, text: &str) {
        match self.shown {
            Shown::Bar => self.bar.println(visible::lines(text)),
            Shown::Lines | Shown::Nowhere => context::print_message(text),
        }
    }

    /// Block, time and what is decided, in front of what is done now.
    fn show(&self, doing: &str) {
        let now = Instant::now();
        let left = self.end.map(|end| end.saturating_duration_since(now));
        let time = time_words(left, self.budget_ns);
        let decided = self.decided.map(decided_words);
        let parts = [Some(self.block.clone()), time, decided, Some(doing.to_owned())];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|p| !p.is_empty()).collect();
        self.bar.set_message(visible::one_line(&parts.join(" \u{b7} ")).into_owned());
    }
}

impl Progress for Bar {
    fn image(&mut self, name: &str, done_bytes: u64, total_bytes: u64) {
        self.bar.set_message(format!(
            "writing {name}: {} of {}",
            Bytes(done_bytes),
            Bytes(total_bytes)
        ));
        if self.image.as_deref() != Some(name) {
            self.image = Some(name.to_owned());
            if self.shown == Shown::Lines {
                say!("writing {name} ({})", Bytes(total_bytes));
            }
        }
    }

    fn block(&mut self, block: &BlockProgress) {
        self.block = block_words(block);
        self.end = block.left_ns.map(|ns| Instant::now() + Duration::from_nanos(ns));
        (self.budget_ns, self.decided) = (block.budget_ns, block.decided);
        if self.shown == Shown::Lines {
            let trials = if block.trials == 1 { "trial" } else { "trials" };
            let left = block.left_ns.map(Duration::from_nanos);
            let more = [time_words(left, block.budget_ns), block.decided.map(decided_words)];
            let more: String =
                more.into_iter().flatten().map(|text| format!(" \u{b7} {text}")).collect();
            say!("{}: {} {trials}{more}", self.block, block.trials);
        }
    }

    fn trial(&mut self, trial: &TrialProgress<'_>) {
        self.title = format!("{} on {}", trial.workload, trial.contender);
        self.bar.set_length(trial.of as u64);
        self.bar.set_position(trial.number as u64 - 1);
        self.end = trial.left_ns.map(|ns| Instant::now() + Duration::from_nanos(ns));
        self.show(&self.title);
        if self.shown == Shown::Lines {
            say!("[{}/{}] {}", trial.number, trial.of, self.title);
        }
    }

    fn step(&mut self, step: &str, phase: Option<&str>) {
        let phase = phase.map(|phase| format!(" {phase}")).unwrap_or_default();
        self.show(&format!("{}: {step}{phase}", self.title));
    }

    fn trial_done(&mut self, record: &TrialRecord) {
        self.bar.inc(1);
        if let Outcome::Failed { step, error, remedy } = &record.outcome {
            let remedy = remedy.as_ref().map(|text| format!("; {text}")).unwrap_or_default();
            self.line(&format!("{}: {step}: {error}{remedy}", self.title));
        }
    }

    fn crash_run(&mut self, crash: &CrashProgress<'_>) {
        let doing = format!("crash run of {} on {}", crash.workload, crash.contender);
        self.bar.set_length(crash.of as u64);
        self.bar.set_position(crash.number as u64 - 1);
        self.end = crash.left_ns.map(|ns| Instant::now() + Duration::from_nanos(ns));
        (self.block, self.budget_ns, self.decided) = (String::new(), None, None);
        self.show(&doing);
        if self.shown == Shown::Lines {
            say!("[{}/{}] {doing}", crash.number, crash.of);
        }
    }

    fn message(&mut self, text: &str) {
        if self.shown != Shown::Nowhere {
            self.line(text);
        }
    }
}

/// `block 3 of 9`, `block 3 of at most 32`.
fn block_words(block: &BlockProgress) -> String {
    let of = match block.blocks {
        Blocks::Exactly(blocks) => format!(" of {blocks}"),
        Blocks::AtMost(blocks) => format!(" of at most {blocks}"),
        Blocks::About(blocks) => format!(" of about {}", blocks.max(block.number)),
        Blocks::Unknown => String::new(),
    };
    format!("block {}{of}", block.number)
}

/// `1m10 left of 4m00`.
fn time_words(left: Option<Duration>, budget_ns: Option<u64>) -> Option<String> {
    let budget = budget_ns.map(Duration::from_nanos).map(short);
    match (left, budget) {
        (Some(left), Some(budget)) => Some(format!("{} left of {budget}", short(left))),
        (Some(left), None) => Some(format!("{} left", short(left))),
        (None, Some(budget)) => Some(format!("at most {budget}")),
        (None, None) => None,
    }
}

/// `5 of 8 decided`.
fn decided_words((decided, asked): (usize, usize)) -> String {
    format!("{decided} of {asked} decided")
}

/// `45s`, `1m10`, `2h05`: to the second, from an hour on to the minute.
fn short(length: Duration) -> String {
    match length.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m{:02}", seconds / 60, seconds % 60),
        seconds => format!("{}h{:02}", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn block(blocks: Blocks) -> BlockProgress {
        BlockProgress {
            number: 3,
            blocks,
            trials: 12,
            decided: Some((5, 8)),
            left_ns: Some(70 * SECOND_NS),
            budget_ns: Some(240 * SECOND_NS),
        }
    }

    #[test]
    fn a_block_says_where_it_is_and_what_is_left() {
        let fixed = block(Blocks::Exactly(9));
        assert_eq!(block_words(&fixed), "block 3 of 9");
        assert_eq!(block_words(&block(Blocks::AtMost(32))), "block 3 of at most 32");
        assert_eq!(block_words(&block(Blocks::About(2))), "block 3 of about 3");
        assert_eq!(block_words(&block(Blocks::Unknown)), "block 3");
        let left = fixed.left_ns.map(Duration::from_nanos);
        assert_eq!(time_words(left, fixed.budget_ns).unwrap(), "1m10 left of 4m00");
        assert_eq!(time_words(None, fixed.budget_ns).unwrap(), "at most 4m00");
        assert_eq!(time_words(left, None).unwrap(), "1m10 left");
        assert_eq!(decided_words((5, 8)), "5 of 8 decided");
    }

    #[test]
    fn lengths_are_short() {
        let lengths = [0, 59, 60, 3599, 3600, 9 * 3600 + 61];
        let texts = lengths.map(|seconds| short(Duration::from_secs(seconds)));
        assert_eq!(texts, ["0s", "59s", "1m00", "59m59", "1h00", "9h01"]);
    }
}
