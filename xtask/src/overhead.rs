//! What the harness costs: fsarena's engine against bare loops of system calls, against fio, and
//! against nothing at all.
//!
//! `cargo xtask overhead` runs sections, one file each. Where two sides are compared, they run in
//! processes of their own in interleaved pairs, in random order within each pair. It is a benchmark
//! and no timed test: fewer pairs or files than the figures ask for run it without judging. It
//! fails when a figure is missed; what cannot be run here is said, and is no figure that was met.

mod agreement;
mod child_job;
mod corpus;
mod cost;
mod crash;
mod fio;
mod fleet;
mod floor;
mod guests;
mod image;
mod load;
mod null;
mod options;
mod pairs;
mod process_status;
mod reference;
mod release;
mod rendezvous;
mod small;
mod table;
mod threads;
mod uring;
mod vdisk;

use anyhow::{Context as _, Result, ensure};
pub(crate) use crash::mount_crash_states;
pub(crate) use floor::serve_disk;
pub(crate) use guests::run_as_init;
pub(crate) use options::Options;
use options::{Section, Verdict};

/// In the order of the run. A new section is a file with such an entry, a line here, and its name
/// and its line of help in [`options`].
const SECTIONS: &[Section] = &[
    small::SECTION,
    threads::SECTION,
    null::SECTION,
    uring::SECTION,
    corpus::SECTION,
    vdisk::SECTION,
    guests::SECTION,
    crash::SECTION,
    agreement::SECTION,
    fleet::SECTION,
    cost::SECTION,
    rendezvous::SECTION,
    load::SECTION,
];

/// Runs the sections, or one child job in a child process (`--child`, …).
///
/// # Errors
/// A side that cannot be built or run, or a figure that is missed.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(text) = &options.child {
        return child_job::run_child(text);
    }
    if let Some(text) = &options.corpus_child {
        return corpus::run_child(text);
    }
    if let Some(text) = &options.merge_child {
        return fleet::merge_child(text);
    }
    let wanted = |one: &&Section| options.wants(one.name);
    let sections: Vec<&Section> = SECTIONS.iter().filter(wanted).collect();
    let judged = |section: &Section| !options.smoke && (section.judged)(options);
    if cfg!(debug_assertions) && sections.iter().any(|section| judged(section)) {
        return release::run_again();
    }
    pairs::heed_signals()?;
    match rustix::process::setpriority_process(None, -20) {
        Ok(()) => println!("all sides run at nice -20, so that other work disturbs less"),
        Err(error) => println!("all sides run at the usual priority (nice -20: {error})"),
    }
    let mut all = Verdict::default();
    for section in &sections {
        println!("\n== {}", section.name);
        let verdict = (section.run)(options).with_context(|| section.name.to_owned())?;
        let named = |what: String| format!("{}: {what}", section.name);
        all.not_run.extend(verdict.not_run);
        if judged(section) {
            all.missed.extend(verdict.missed.into_iter().map(named));
        } else {
            println!("not judged: so few pairs or files show only that it works");
        }
    }
    println!();
    if !all.not_run.is_empty() {
        println!("figures that could not be looked at here: {}", all.not_run.join(", "));
    }
    ensure!(all.missed.is_empty(), "figures missed: {}", all.missed.join("; "));
    let unjudged: Vec<_> =
        sections.iter().filter(|section| !judged(section)).map(|section| section.name).collect();
    match unjudged.as_slice() {
        [] => println!("all figures that were looked at are met"),
        names => println!("no figure missed; not judged: {}", names.join(", ")),
    }
    Ok(())
}
