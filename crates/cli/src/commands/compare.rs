//! `fsarena compare`: several RUNs next to each other, both sides of a change, or one RUN with the
//! exit codes of a test.

use super::{loaded, open, watched};
use crate::args::{CompareArgs, FailOn};
use crate::context::{self, Usage, exit};
use anyhow::Result;
use fsarena_model::run::{RunHeader, RunSession, RunState};
use fsarena_model::score::TrialScore;
use fsarena_model::units::parse_share;
use fsarena_model::verdict::{InterimAnalysis, METHOD_VERSION, Stop, Verdict};
use fsarena_store::{RunId, Store};
use fsarena_study::facts;
use fsarena_verdict::Verdicts;
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

/// Compares RUNs.
pub fn run(args: &CompareArgs, db: Option<&Path>) -> Result<ExitCode> {
    match compare(args, db) {
        Ok(found) => Ok(code(args, &found)),
        // Neither 1 nor 2 may come out of a mistake here: both would be a bad revision.
        Err(error) if args.bisect && !context::is_broken_pipe(&error) => {
            say!("fsarena: {error:#}");
            Ok(ExitCode::from(bisect::STOP))
        }
        Err(error) => Err(error),
    }
}

/// What a comparison came to.
#[derive(Debug, Default)]
struct Found {
    /// The verdict of each comparison that has figures on both sides.
    verdicts: Vec<Verdict>,
    /// What was asked and has none, in words.
    missing: Vec<String>,
    /// Whether something is SLOWER and that was the machine: more time, equal processor time, and
    /// others beside it.
    by_machine: usize,
}

impl Found {
    /// Takes one comparison: `figures` says whether both sides have some.
    fn add(&mut self, verdict: Verdict, figures: bool, name: impl FnOnce() -> String) {
        if figures {
            self.verdicts.push(verdict);
        } else {
            self.missing.push(name());
        }
    }

    fn count(&self, wanted: Verdict) -> usize {
        self.verdicts.iter().filter(|verdict| **verdict == wanted).count()
    }
}

/// The exit code for everything that was said. Comparing nothing is never a pass.
fn code(args: &CompareArgs, found: &Found) -> ExitCode {
    let fails_on = |what| args.fail_on.contains(&what);
    let slower = found.count(Verdict::Slower);
    let open = found.count(Verdict::Undecided) > 0 || !found.missing.is_empty();
    if args.bisect {
        return ExitCode::from(match slower.cmp(&found.by_machine) {
            Ordering::Greater => bisect::BAD,
            _ if open || slower > 0 || found.verdicts.is_empty() => bisect::SKIP,
            _ => 0,
        });
    }
    if fails_on(FailOn::Slower) && slower > 0 {
        return ExitCode::from(exit::SLOWER);
    }
    if found.verdicts.is_empty() || (fails_on(FailOn::Missing) && !found.missing.is_empty()) {
        return ExitCode::from(exit::MISSING);
    }
    if args.require_decision && open { ExitCode::from(exit::UNDECIDED) } else { ExitCode::SUCCESS }
}

/// Says what has no figures, and that nothing was compared where that is so.
fn print_missing(found: &Found) {
    for one in &found.missing {
        say!("not compared: {one}");
    }
    if found.verdicts.is_empty() {
        say!(
            "nothing was compared: no question that was asked has figures on both sides; \
             `fsarena show RUN` says what failed and what was not run"
        );
    }
}

/// Prints the comparison that is asked for.
fn compare(args: &CompareArgs, db: Option<&Path>) -> Result<Found> {
    let found = printed(args, db)?;
    print_missing(&found);
    Ok(found)
}

fn printed(args: &CompareArgs, db: Option<&Path>) -> Result<Found> {
    let store = open::existing(db)?;
    if !args.before.is_empty() {
        let load = |names: &[String]| -> Result<Vec<ComparedRun>> {
            names.iter().map(|name| ComparedRun::read(&store, name, true)).collect()
        };
        return both_sides(args, &load(&args.before)?, &load(&args.after)?);
    }
    if let Some(verdict) = watched::compare(args, &store)? {
        return Ok(Found { verdicts: vec![verdict], ..Found::default() });
    }
    match args.runs.as_slice() {
        [] => one_run(args, &store, "latest"),
        [run] => one_run(args, &store, run),
        several => {
            let load = |name: &String| ComparedRun::read(&store, name, false);
            let runs: Vec<ComparedRun> = several.iter().map(load).collect::<Result<_>>()?;
            side_by_side(args, &runs)
        }
    }
}

/// A RUN with all that its comparison needs.
struct ComparedRun {
    name: String,
    header: RunHeader,
    sessions: Vec<RunSession>,
    scores: Vec<TrialScore>,
    stop: Option<Stop>,
    looks: Vec<InterimAnalysis>,
    facts: Facts,
}

impl ComparedRun {
    fn read(store: &Store, selector: &str, with_facts: bool) -> Result<Self> {
        let run = store.find(selector)?;
        let header = store.header(run)?;
        print_notes(store, run, &header)?;
        // Records are read whole for what mkfs and programs said of themselves.
        let facts = if with_facts { facts(&header, &store.records(run)?) } else { Facts::new() };
        Ok(Self {
            name: run.to_string(),
            sessions: store.sessions(run)?,
            scores: store.scores(run)?,
            stop: store.stop(run)?,
            looks: store.looks(run)?,
            header,
            facts,
        })
    }

    fn run(&self) -> RunOf<'_> {
        RunOf {
            name: self.name.clone(),
            header: &self.header,
            sessions: &self.sessions,
            scores: &self.scores,
            stop: self.stop,
            looks: &self.looks,
            facts: self.facts.clone(),
        }
    }
}

fn runs_of(side: &[ComparedRun]) -> Vec<RunOf<'_>> {
    side.iter().map(ComparedRun::run).collect()
}

/// What has to be known of a RUN before its figures are read.
fn print_notes(store: &Store, run: RunId, header: &RunHeader) -> Result<()> {
    let state = store.run(run)?.state;
    if state != RunState::Done {
        say!("RUN {run} is {}: its figures cover the blocks so far", state.name());
    }
    if let Some(ask) = header.plan.verdict.as_ref().filter(|ask| ask.method != METHOD_VERSION) {
        say!(
            "RUN {run} was planned by version {} of the method; its verdicts are computed again by \
             version {METHOD_VERSION}",
            ask.method
        );
    }
    Ok(())
}

fn both_sides(args: &CompareArgs, before: &[ComparedRun], after: &[ComparedRun]) -> Result<Found> {
    let all: Vec<&RunHeader> = before.iter().chain(after).map(|run| &run.header).collect();
    let ask = ask(args, &all)?;
    let (before, after) = (runs_of(before), runs_of(after));
    let found = sides(&before, &after, &ask).map_err(refused)?;
    let tables = |width, style| fsarena_report::sides_tables(&found, width, style);
    context::print_as(args.json, || fsarena_report::compare_json("compare-sides", &found), tables)?;
    let mut outcome = Found::default();
    for question in &found.questions {
        let name = |label: &str, why: &str| {
            format!("{label} in {}:{}: {why}", question.workload, question.phase)
        };
        for row in &question.rows {
            let why = row.why.as_deref().unwrap_or("a side has no figures");
            outcome.add(row.verdict, row.ratio.is_some(), || name(&row.label, why));
        }
        for label in labels_of(&all, ask.pair.as_ref()) {
            if !question.rows.iter().any(|row| row.label == label) {
                outcome.missing.push(name(label, "neither side has figures"));
            }
        }
    }
    Ok(outcome)
}

/// Labels of all contenders, or of the pair that is asked for, each once.
fn labels_of<'h>(headers: &[&'h RunHeader], pair: Option<&(String, String)>) -> BTreeSet<&'h str> {
    let contenders = headers.iter().flat_map(|header| &header.plan.contenders);
    let labels = contenders.map(|contender| contender.label.as_str());
    labels.filter(|label| pair.is_none_or(|(a, b)| label == a || label == b)).collect()
}

fn side_by_side(args: &CompareArgs, runs: &[ComparedRun]) -> Result<Found> {
    let all: Vec<&RunHeader> = runs.iter().map(|run| &run.header).collect();
    let ask = ask(args, &all)?;
    let found = forest(&runs_of(runs), &ask).map_err(refused)?;
    require_order(args, found.baseline.is_some())?;
    let tables = |width, style| fsarena_report::forest_tables(&found, width, style);
    context::print_as(args.json, || fsarena_report::compare_json("compare-runs", &found), tables)?;
    let mut outcome = Found::default();
    for question in &found.questions {
        for pair in &question.pairs {
            outcome.add(pair.verdict, pair.ratio.is_some(), || {
                let why: Vec<String> = pair
                    .without
                    .iter()
                    .map(|one| format!("RUN {}: {}", one.run, one.why))
                    .collect();
                format!(
                    "{} with {} in {}:{}: {}",
                    pair.a_label,
                    pair.b_label,
                    question.workload,
                    question.phase,
                    why.join("; ")
                )
            });
        }
    }
    Ok(outcome)
}

fn one_run(args: &CompareArgs, store: &Store, selector: &str) -> Result<Found> {
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
    let tables = |width, style| fsarena_report::one_run_text(&run.to_string(), &some, width, style);
    context::print_as(args.json, || fsarena_report::compare_run_json(&some), tables)?;
    Ok(found_in(&some, args.pair.is_some()))
}

/// What the verdicts of one RUN came to. Contenders without figures are named once a question, also
/// those that no pair was asked of.
fn found_in(verdicts: &Verdicts, only_pair: bool) -> Found {
    let mut outcome = Found::default();
    for question in &verdicts.questions {
        let place = format!("{}:{}", question.workload, question.phase);
        let is_asked = |label: &str| {
            !only_pair || question.pairs.iter().any(|p| p.a_label == label || p.b_label == label)
        };
        for left in question.left.iter().filter(|left| is_asked(&left.label)) {
            outcome.missing.push(format!("{} in {place}: {}", left.label, left.why));
        }
        for pair in &question.pairs {
            let is_known = |label: &str| question.left.iter().any(|left| left.label == label);
            if pair.ratio.is_some() {
                outcome.verdicts.push(pair.verdict);
                let by_machine = pair.verdict == Verdict::Slower && pair.machine_effect.is_some();
                outcome.by_machine += usize::from(by_machine);
            } else if !is_known(&pair.a_label) && !is_known(&pair.b_label) {
                let why = pair.why.as_deref().unwrap_or("no block has values of both");
                let (a, b) = (&pair.a_label, &pair.b_label);
                outcome.missing.push(format!("{a} with {b} in {place}: {why}"));
            }
        }
    }
    outcome
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
    Ok(Ask { margin: margin(args, headers)?, pair, question, all: args.all })
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

/// The margin that is given, or that all RUNs have.
fn margin(args: &CompareArgs, headers: &[&RunHeader]) -> Result<f64> {
    let own = headers.iter().filter_map(|header| header.plan.verdict.as_ref());
    let own: Vec<f64> = own.map(|ask| ask.margin).collect();
    if let Some(text) = &args.margin {
        let given = parse_share(text).ok().filter(|margin| (0.0001..=1.0).contains(margin));
        let Some(given) = given else {
            refuse!("--margin {text}: expected a share from 0.01% to 100%, such as 2%");
        };
        if own.len() < headers.len() || own.iter().any(|margin| margin.to_bits() != given.to_bits())
        {
            say!("the margin of {text} was chosen after the results were known");
        }
        return Ok(given);
    }
    match own.as_slice() {
        [first, rest @ ..] if rest.iter().all(|margin| margin.to_bits() == first.to_bits()) => {
            Ok(*first)
        }
        [] => refuse!("the RUNs have no margin: give one with --margin"),
        _ => {
            refuse!("the RUNs have different margins: give one with --margin")
        }
    }
}

/// What cannot be compared was asked for in vain.
fn refused(error: CompareError) -> anyhow::Error {
    Usage(error.to_string()).into()
}
