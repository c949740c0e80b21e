//! What every section of the benchmark is: a name, its figures, and what came of it.

use super::options::Options;
use anyhow::Result;

pub(super) const MIB: u64 = 1 << 20;

/// A part of the benchmark, with figures of its own.
pub(super) struct Section {
    pub(super) name: &'static str,
    /// Whether its figures mean something with these options.
    pub(super) judged: fn(&Options) -> bool,
    pub(super) run: fn(&Options) -> Result<Verdict>,
}

/// What came of a section.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Figures that were missed.
    pub(super) missed: Vec<String>,
    /// What could not be run here.
    pub(super) not_run: Vec<String>,
}

impl Verdict {
    /// A part that cannot run here; said at once and again at the end.
    pub(super) fn not_run(&mut self, what: &str, why: &str) {
        println!("not run: {what}: {why}");
        self.not_run.push(what.to_owned());
    }
}
