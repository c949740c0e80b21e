//! `cargo xtask test`: set-up, checks, every test tier this machine allows, and the count.
//!
//! Each [`Step`] is carried out even if an earlier one failed. A step that cannot be carried out
//! is "not run" with its reason and never counts as passed. The last line is always
//! `N passed, N failed, N skipped`, where every test and every other step counts as one.

mod doc_examples;
mod leftovers;
mod libtest;
mod parallel;
pub mod processes;
mod setup;
mod steps;
mod tally;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use processes::Session;
use steps::StepContext;
use tally::{NotRun, Outcome, Tally};

/// The whole task ends by itself within this time; what runs then is stopped and has failed. With a
/// guest kernel that is built first, and this task itself, it stays below 90 minutes.
const TIME_MAX: Duration = Duration::from_secs(75 * 60);

/// A part of the task.
struct Step {
    name: &'static str,
    run: fn(&mut StepContext) -> Outcome,
}

/// The cheap ones first. The guest kernel is there from an earlier run, or takes some minutes that
/// do not count. chaos, clippy, docs and the blind fuzzing run next to the machine tests, which
/// mostly wait. cargo-deny is waited for as late as possible, because it may still be under
/// construction; the benchmark runs after it, on a quiet machine; leftovers come last.
const STEPS: &[Step] = &[
    Step { name: "set-up", run: steps::set_up },
    Step { name: "format", run: steps::format },
    Step { name: "tidy", run: steps::tidy },
    Step { name: "build", run: steps::build },
    Step { name: "guest kernel", run: steps::guest_kernel },
    Step { name: "i386 programs", run: steps::i386_programs },
    Step { name: "tests", run: steps::tests },
    Step { name: "machine tests", run: steps::machine_tests },
    Step { name: "chaos", run: steps::chaos },
    Step { name: "clippy", run: steps::clippy },
    Step { name: "docs", run: steps::docs },
    Step { name: "fuzz", run: steps::fuzz },
    Step { name: "cargo deny", run: steps::deny },
    Step { name: "benchmark", run: steps::benchmark },
    Step { name: "leftovers", run: steps::leftovers },
];

/// Runs every step; `Ok(false)` if anything failed. With `full` the tests go through every file
/// system.
pub fn run(full: bool) -> anyhow::Result<bool> {
    let session = Session::start(crate::tidy::root(), TIME_MAX, full)?;
    let mut context = StepContext::new(session);
    let mut tally = Tally::default();
    let mut times = String::new();
    for (index, step) in STEPS.iter().enumerate() {
        println!("[{}/{}] {}", index + 1, STEPS.len(), step.name);
        let started = Instant::now();
        let outcome = match context.session.over() {
            // Leftovers are looked for even then: that is when there are some.
            Some(why) if step.name != "leftovers" => {
                Outcome::not_run(vec![NotRun::new(step.name, why)])
            }
            _ => (step.run)(&mut context),
        };
        for text in &outcome.output {
            println!("{}", text.trim_end());
        }
        let seconds = started.elapsed().as_secs_f64();
        println!("[{}/{}] {}: {} ({seconds:.1} s)", index + 1, STEPS.len(), step.name, outcome);
        let _ = writeln!(times, "  {seconds:7.1} s  {}", step.name);
        tally.add(step.name, outcome);
    }
    if let Some(why) = context.session.over() {
        tally.fail(&format!("the task did not reach its end: {why}"));
    }
    let seconds = context.session.elapsed().as_secs_f64();
    print!("\nSteps:\n{times}  {seconds:7.1} s  in all, logs in target/xtask\n{}", tally.closing());
    Ok(tally.failed() == 0)
}
