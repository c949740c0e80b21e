//! The competitors: a schedule, a stop rule and a verdict each.
//!
//! The rules named after tools are made here of what each tool prints, on one value a run: most
//! publish no verdict of this kind, and those that do are usually run on other values (iterations
//! within one process). Their sources and manuals were read; nothing was taken from them.

mod bootstrap;
mod means;
mod ours;
mod peeking;
mod rule;
mod tools;

pub use ours::ours;
pub use rule::{Rule, RuleRun};

/// All of them, ours first. SAME means within 1 ÷ (1 + margin) and 1 + margin, for the rules that
/// can say it.
#[must_use]
pub fn all(margin: f64) -> Vec<Rule> {
    vec![
        ours::sequential(margin),
        ours::fixed(margin),
        means::mean_of_3(),
        means::bars("bars-3", "mean of 3, SE bars", 3),
        means::bars("bars-10", "mean of 10, SE bars", 10),
        tools::phoronix_like(),
        tools::pytest_like(),
        tools::hyperfine_like(),
        tools::benchstat_like(false),
        tools::benchstat_like(true),
        bootstrap::criterion_like(),
        peeking::peeking(margin),
    ]
}
