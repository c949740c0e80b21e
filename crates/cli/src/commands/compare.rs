//! `fsarena compare`: several RUNs next to each other, both sides of a change, or one RUN with the
//! exit codes of a test.

use super::loaded::{Identity, LoadedRun};
use super::stored_run::{StoredRun, print_notes, refused};
use super::{loaded, margin, open, watched};
use crate::args::{CompareArgs, FailOn};
use crate::context::{self, exit};
use anyhow::Result;
use fsarena_model::run::RunHeader;
use fsarena_model::verdict::Verdict;
use fsarena_report::{Compared, Style};
use fsarena_store::Store;
use fsarena_study::facts;
use fsarena_verdict::compare::{Ask, CompareError, Facts, RunOf, forest, only, sides};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

/// What `git bisect run` takes for good, bad, untestable, and a reason to stop.
mod bisect {
    pub const BAD: u8 = 1;
    pub const SKIP: u8 = 125;
    pub const STOP: u8 = 128;
}

/// What files that other programs show are called.
const TITLE: &str = "fsarena compare";

/// Compares RUNs.
pub fn run(args: &CompareArgs, db: Option<&Path>) -> Result<ExitCode> {
    compare(args, db).or_else(|error| {
        // Neither 1 nor 2 may come out of a mistake here: both would be a bad revision.
        if !args.bisect || context::is_broken_pipe(&error) {
            return Err(error);
        }
        say!("fsarena: {}", context::reason(&error));
        Ok(ExitCode::from(bisect::STOP))
    })
}

/// The exit code for everything that was said. Comparing nothing is never a pass.
fn code(args: &CompareArgs, found: &Compared) -> ExitCode {
    let fails_on = |what| args.fail_on.contains(&what);
    let slower = found.count(Verdict::Slower);
    let open = found.count(Verdict::Undecided) > 0 || !found.missing.is_empty();
    if args.bisect {
        let by_machine = found.rows.iter().filter(|row| row.by_machine).count();
        return ExitCode::from(match slower.cmp(&by_machine) {
            Ordering::Greater => bisect::BAD,
            _ if open || slower > 0 || found.rows.is_empty() => bisect::SKIP,
            _ => 0,
        });
    }
    if fails_on(FailOn::Slower) && slower > 0 {
        return ExitCode::from(exit::SLOWER);
    }
    if found.rows.is_empty() || (fails_on(FailOn::Missing) && !found.missing.is_empty()) {
        return ExitCode::from(exit::MISSING);
    }
    if args.require_decision && open { ExitCode::from(exit::UNDECIDED) } else { ExitCode::SUCCESS }
}

/// Says in one line what has no figures, and in one that nothing was compared where that is so.
fn print_missing(found: &Compared) {
    if let Some(text) = found.missing_text() {
        say!("{text}");
    }
    if found.rows.is_empty() {
        say!(
            "nothing was compared: no question that was asked has figures on both sides; \
             `fsarena show RUN` says what failed and what was not run"
        );
    }
}

/// Prints the comparison that is asked for.
fn compare(args: &CompareArgs, db: Option<&Path>) -> Result<ExitCode> {
    let store = open::existing(db)?;
    let found = if !args.before.is_empty() {
        let load = |names: &[String]| -> Result<Vec<StoredRun>> {
            names.iter().map(|name| stored(&store, name, true)).collect()
        };
        both_sides(args, &load(&args.before)?, &load(&args.after)?)?
    } else if crash_runs(args, &store)? {
        return Ok(ExitCode::SUCCESS);
    } else if watched::compare(args, &store)? {
        // One interval a side decides nothing.
        return Ok(ExitCode::from(match (args.bisect, args.require_decision) {
            (true, _) => bisect::SKIP,
            (false, true) => exit::UNDECIDED,
            (false, false) => 0,
        }));
    } else {
        match args.runs.as_slice() {
            [] => one_run(args, &store, "latest")?,
            [run] => one_run(args, &store, run)?,
            several => {
                let load = |name: &String| stored(&store, name, false);
                let runs: Vec<StoredRun> = several.iter().map(load).collect::<Result<_>>()?;
                side_by_side(args, &runs)?
            }
        }
    };
    print_missing(&found);
    Ok(code(args, &found))
}

/// Prints RUNs of crash runs alone next to each other; whether they are such.
fn crash_runs(args: &CompareArgs, store: &Store) -> Result<bool> {
    let mut all = Vec::new();
    for name in &args.runs {
        // A part of a watch is none.
        let Ok(run) = store.find(name) else { return Ok(false) };
        // A RUN with trials has a long header, which the comparison of trials reads itself.
        let has_trials = store.run(run)?.trials_planned > 0;
        all.push((run, !has_trials && store.header(run)?.plan.is_crash_alone()));
    }
    match all.as_slice() {
        [(run, true)] => {
            refuse!("RUN {run} has crash runs alone: name a second one, or see fsarena show {run}")
        }
        [_, ..] if all.iter().all(|(_, is_alone)| *is_alone) => {}
        _ => {
            let Some((run, _)) = all.iter().find(|(_, is_alone)| *is_alone) else {
                return Ok(false);
            };
            refuse!("RUN {run} has crash runs alone and others have trials: compare like with like")
        }
    }
    refuse_for_crash_runs(args)?;
    let read = |(run, _): &(_, bool)| LoadedRun::read(store, *run, Identity::Kept);
    let loaded: Vec<LoadedRun> = all.iter().map(read).collect::<Result<_>>()?;
    let kind = |one: &LoadedRun| {
        one.header.plan.crash.as_ref().map(|crash| std::mem::discriminant(&crash.campaign))
    };
    if loaded.windows(2).any(|pair| kind(&pair[0]) != kind(&pair[1])) {
        refuse!("the crash runs of these RUNs are of different kinds: compare like with like");
    }
    let heads: Vec<String> = loaded
        .iter()
        .map(|one| fsarena_report::crash_runs_line(&one.as_run()).unwrap_or_default())
        .collect();
    let views: Vec<_> = loaded.iter().filter_map(|one| one.crash.as_ref()).collect();
    let rows = fsarena_report::compare_crash_runs(&views);
    let names: Vec<String> = all.iter().map(|(run, _)| run.to_string()).collect();
    let both = serde_json::json!({"runs": names, "rows": rows});
    let document = || fsarena_report::json::document("compare-crash", "compared", &both);
    let tables =
        |width, style| fsarena_report::compared_crash_text(&names, &heads, &rows, width, style);
    context::print_as(args.json, document, tables)?;
    Ok(true)
}

/// Refuses what asks for a question or a verdict.
fn refuse_for_crash_runs(args: &CompareArgs) -> Result<()> {
    let asked = [
        ("--pair", args.pair.is_some()),
        ("--question", args.question.is_some()),
        ("--all", args.all),
        ("--margin", args.margin.is_some()),
        ("--csv", args.csv),
        ("--markdown", args.markdown),
        ("--junit", args.junit),
        ("--fail-on", !args.fail_on.is_empty()),
        ("--require-decision", args.require_decision),
        ("--bisect", args.bisect),
    ];
    match context::first_given(&asked) {
        None => Ok(()),
        Some(option) => {
            refuse!("{option}: crash runs have no questions and no verdicts; leave it out")
        }
    }
}

/// Prints a comparison in the form that is asked for.
fn print(
    args: &CompareArgs,
    found: &Compared,
    document: impl FnOnce() -> serde_json::Value,
    tables: impl FnOnce(usize, Style) -> String,
) -> Result<()> {
    if args.csv {
        return context::print(&found.csv());
    }
    if args.markdown {
        return context::print(&fsarena_report::compared_markdown(TITLE, found));
    }
    if args.junit {
        return context::print(&fsarena_report::compared_junit(TITLE, found));
    }
    context::print_as(args.json, document, tables)
}

/// The RUN that is named, with what mkfs and programs said of themselves where that is needed:
/// records are read whole for it.
fn stored(store: &Store, selector: &str, with_facts: bool) -> Result<StoredRun> {
    let run = store.find(selector)?;
    let header = store.header(run)?;
    let facts = if with_facts { facts(&header, &store.records(run)?) } else { Facts::new() };
    StoredRun::read(store, run, header, facts)
}

fn runs_of(side: &[StoredRun]) -> Vec<RunOf<'_>> {
    side.iter().map(StoredRun::run).collect()
}

fn both_sides(args: &CompareArgs, before: &[StoredRun], after: &[StoredRun]) -> Result<Compared> {
    let all: Vec<&RunHeader> = before.iter().chain(after).map(|run| &run.header).collect();
    let ask = ask(args, &all)?;
    let (before, after) = (runs_of(before), runs_of(after));
    let found = sides(&before, &after, &ask).map_err(refused)?;
    let compared = Compared::of_sides(&found, &labels_of(&all, ask.pair.as_ref()));
    let document = || fsarena_report::compare_json("compare-sides", &found, &compared.missing);
    let tables = |width, style| fsarena_report::sides_tables(&found, width, style);
    print(args, &compared, document, tables)?;
    Ok(compared)
}

/// Labels of all contenders, or of the pair that is asked for, each once.
fn labels_of<'h>(headers: &[&'h RunHeader], pair: Option<&(String, String)>) -> BTreeSet<&'h str> {
    let contenders = headers.iter().flat_map(|header| &header.plan.contenders);
    let labels = contenders.map(|contender| contender.label.as_str());
    labels.filter(|label| pair.is_none_or(|(a, b)| label == a || label == b)).collect()
}

fn side_by_side(args: &CompareArgs, runs: &[StoredRun]) -> Result<Compared> {
    let all: Vec<&RunHeader> = runs.iter().map(|run| &run.header).collect();
    let ask = ask(args, &all)?;
    let found = forest(&runs_of(runs), &ask).map_err(refused)?;
    require_order(args, found.baseline.is_some())?;
    let compared = Compared::of_runs(&found, &labels_of(&all, ask.pair.as_ref()));
    let document = || fsarena_report::compare_json("compare-runs", &found, &compared.missing);
    let tables = |width, style| fsarena_report::forest_tables(&found, width, style);
    print(args, &compared, document, tables)?;
    Ok(compared)
}

fn one_run(args: &CompareArgs, store: &Store, selector: &str) -> Result<Compared> {
    let run = store.find(selector)?;
    let header = store.header(run)?;
    print_notes(store, run, &header)?;
    if args.margin.is_some() {
        refuse!(
            "--margin: the looks of one RUN were taken with its own margin, which cannot be \
             changed afterwards"
        );
    }
    let Some(verdicts) = loaded::verdicts(store, run, &header)? else {
        return Err(refused(CompareError::AskedNothing { run: run.to_string() }));
    };
    require_order(args, verdicts.baseline.is_some())?;
    let some = only(&verdicts, &ask(args, &[&header])?).map_err(refused)?;
    let compared = Compared::of_run(&some, args.pair.is_some());
    let document = || fsarena_report::compare_run_json(&some, &compared.missing);
    let tables = |width, style| fsarena_report::one_run_text(&run.to_string(), &some, width, style);
    print(args, &compared, document, tables)?;
    Ok(compared)
}

/// Of every pair one is slower, where both can be the first: then somebody has to say which.
fn require_order(args: &CompareArgs, has_baseline: bool) -> Result<()> {
    let by_slower = args.bisect || args.fail_on.contains(&FailOn::Slower);
    if by_slower && !has_baseline && args.pair.is_none() {
        refuse!(
            "there is no baseline, and SLOWER needs one: name the contender and what it is \
             compared with, as in --pair new,old"
        );
    }
    Ok(())
}

/// What is asked of these RUNs.
fn ask(args: &CompareArgs, headers: &[&RunHeader]) -> Result<Ask> {
    let question = match &args.question {
        None => None,
        Some(text) => match text.split_once(':') {
            Some((workload, phase)) if !workload.is_empty() && !phase.is_empty() => {
                Some((workload.to_owned(), phase.to_owned()))
            }
            _ => {
                refuse!("--question {text}: expected WORKLOAD:PHASE, as in small-files:create");
            }
        },
    };
    let pair = args.pair.as_deref().map(|text| pair(text, headers)).transpose()?;
    Ok(Ask {
        margin: margin::of_runs(args.margin.as_deref(), headers)?,
        pair,
        question,
        all: args.all,
    })
}

/// Labels may have commas of their own: of all the ways to cut the text, the one that gives two
/// labels.
fn pair(text: &str, headers: &[&RunHeader]) -> Result<(String, String)> {
    let is_known = |label: &str| {
        let mut all = headers.iter().flat_map(|header| &header.plan.contenders);
        all.any(|contender| contender.label == label)
    };
    let cuts = || text.match_indices(',').map(|(at, _)| (text[..at].trim(), text[at + 1..].trim()));
    let known = cuts().find(|(a, b)| is_known(a) && is_known(b));
    match known.or_else(|| cuts().next()) {
        Some((a, b)) if !a.is_empty() && !b.is_empty() => Ok((a.to_owned(), b.to_owned())),
        _ => refuse!("--pair {text}: expected two contenders, as in xfs,ext4"),
    }
}
