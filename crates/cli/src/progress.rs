//! Progress on standard error: a bar on a terminal, a line a trial elsewhere.

use crate::context;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::units::Bytes;
use fsarena_runner::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;

/// Progress of a RUN.
pub struct Bar {
    bar: ProgressBar,
    on_terminal: bool,
    title: String,
    image: Option<String>,
}

impl Bar {
    /// A bar over `trials`; hidden where standard error is no terminal.
    pub fn new(trials: usize) -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(
            Some(trials as u64),
            if on_terminal {
                ProgressDrawTarget::stderr_with_hz(4)
            } else {
                ProgressDrawTarget::hidden()
            },
        );
        let style =
            ProgressStyle::with_template("{bar:24} {pos}/{len}  {elapsed} (left {eta})  {msg}")
                .expect("the template is constant and tested");
        bar.set_style(style);
        Self { bar, on_terminal, title: String::new(), image: None }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, text: &str) {
        if self.on_terminal {
            self.bar.println(text);
        } else {
            context::print_message(text);
        }
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
            if !self.on_terminal {
                say!("writing {name} ({})", Bytes(total_bytes));
            }
        }
    }

    fn block(&mut self, number: usize, most: usize, trials: usize) {
        if !self.on_terminal {
            let trials =
                if trials == 1 { "1 trial".to_owned() } else { format!("{trials} trials") };
            say!("block {number} of at most {most}: {trials}");
        }
    }

    fn trial(&mut self, number: usize, of: usize, contender: &str, workload: &str) {
        self.title = format!("{workload} on {contender}");
        self.bar.set_length(of as u64);
        self.bar.set_position(number as u64 - 1);
        self.bar.set_message(self.title.clone());
        if !self.on_terminal {
            say!("[{number}/{of}] {}", self.title);
        }
    }

    fn step(&mut self, step: &str, phase: Option<&str>) {
        let phase = phase.map(|phase| format!(" {phase}")).unwrap_or_default();
        self.bar.set_message(format!("{}: {step}{phase}", self.title));
    }

    fn trial_done(&mut self, record: &TrialRecord) {
        self.bar.inc(1);
        if let Outcome::Failed { step, error, remedy } = &record.outcome {
            let remedy = remedy.as_ref().map(|text| format!("; {text}")).unwrap_or_default();
            self.line(&format!("{}: {step}: {error}{remedy}", self.title));
        }
    }

    fn message(&mut self, text: &str) {
        self.line(text);
    }
}
