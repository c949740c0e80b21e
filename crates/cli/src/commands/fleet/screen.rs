//! Progress of all hosts on one screen: a line for each on a terminal, and lines that begin with
//! the host elsewhere. What hosts print is shown with everything hidden as escapes.

use crate::context;
use fsarena_fleet::Progress;
use fsarena_hosts::HostList;
use fsarena_model::visible;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Columns of names, at most.
const NAME_MAX_COLUMNS: usize = 30;
/// What `run` prints of where it works on a host; nothing is left there.
const NOT_SHOWN: [&str; 3] = ["RUN 1 is stored in ", "report: ", "no report: "];

/// One line for each host.
pub(super) struct Screen {
    names: Vec<String>,
    /// Empty where standard error is no terminal.
    bars: Vec<ProgressBar>,
    multi: MultiProgress,
}

impl Screen {
    /// All hosts, doing nothing.
    pub(super) fn new(hosts: &HostList) -> Self {
        let names: Vec<String> = hosts.as_slice().iter().map(ToString::to_string).collect();
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(4));
        let columns = names.iter().map(String::len).max().unwrap_or(0).min(NAME_MAX_COLUMNS);
        let style = ProgressStyle::with_template("{prefix} {spinner} {wide_msg}");
        let style = style.expect("the template is constant and tested");
        let bar = |name: &String| {
            let bar = multi.add(ProgressBar::new_spinner().with_style(style.clone()));
            bar.set_prefix(format!("{name:columns$}"));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        };
        let is_terminal = std::io::stderr().is_terminal();
        let bars = if is_terminal { names.iter().map(bar).collect() } else { Vec::new() };
        Self { names, bars, multi }
    }

    /// What a host does now.
    fn show(&self, host: usize, text: &str) {
        match self.bars.get(host) {
            Some(bar) => bar.set_message(visible::one_line(text).into_owned()),
            None => self.line(host, text),
        }
    }

    /// A line about a host that stays.
    fn line(&self, host: usize, text: &str) {
        self.print(&format!("{}: {text}", self.names[host]));
    }

    /// A line that stays.
    pub(super) fn print(&self, text: &str) {
        match self.bars.is_empty() {
            true => context::print_message(text),
            // Its screen may be gone; the work goes on.
            false => drop(self.multi.println(visible::lines(text))),
        }
    }

    /// Takes the lines away.
    pub(super) fn finish(&self) {
        self.bars.iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Progress for Screen {
    /// Where there is no terminal, it is not worth a line.
    fn show_state(&self, host: usize, text: &str) {
        if !self.bars.is_empty() {
            self.show(host, text);
        }
    }

    fn line_of_run(&self, host: usize, line: &str) {
        let line = line.trim();
        if line.is_empty() || NOT_SHOWN.iter().any(|start| line.starts_with(start)) {
            return;
        }
        match is_progress(line) {
            true => self.show(host, line),
            false => self.line(host, line),
        }
    }
}

/// `[3/12] small-files on ext4`, `block 2 of 9: 4 trials`, `writing image (4 GiB)`.
fn is_progress(line: &str) -> bool {
    let is_count = |text: &str| {
        let mut numbers = text.split('/');
        numbers.clone().count() == 2 && numbers.all(|number| number.parse::<u64>().is_ok())
    };
    let counted = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    counted.is_some_and(|(count, _)| is_count(count))
        || line.starts_with("block ")
        || line.starts_with("writing ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_progress_are_known() {
        for line in ["[1/12] small-files on ext4", "block 2 of at most 32: 4 trials", "writing x"] {
            assert!(is_progress(line), "{line}");
        }
        for line in ["[x] y", "[1/2/3] y", "[1/2]", "fsarena: no", "kept: /x"] {
            assert!(!is_progress(line), "{line}");
        }
    }

    #[test]
    fn the_template_is_one() {
        let hosts = HostList::from_names("--hosts", "a,b").unwrap();
        let screen = Screen::new(&hosts);
        screen.show(0, "x");
        screen.finish();
    }
}
