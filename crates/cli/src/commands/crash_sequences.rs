//! `fsarena crash sequences` and `fsarena crash litmus`: short programs, each on a file system of
//! its own, and every state that a power cut may leave of it.

use super::crash::{LIMIT, is_stop, list};
use super::crash_contenders::{AllowedDevices, ContenderOrder, ResolvedContenders, contenders};
use super::crash_guest::guest_of;
use crate::args::{LitmusArgs, SequencesArgs};
use crate::context::{self, exit};
use anyhow::Result;
use fsarena_crash::observation::MountStep;
use fsarena_crash::sequence::bounds::Bounds;
use fsarena_crash::sequence::judge::{Broken, Progress, Rule, RuleClass, judge};
use fsarena_crash::sequence::litmus::{Litmus, LitmusOutcome, LitmusProgram};
use fsarena_crash::sequence::model::History;
use fsarena_crash::sequence::op::FileOp;
use fsarena_crash::sequence::program::{one_line, program};
use fsarena_crash::sequence::tree::{SequenceRecord, TreeObservation};
use fsarena_crash::state::CrashState;
use fsarena_crash_runs::crash_run::CrashRunError;
use fsarena_crash_runs::sequence_run::{
    CrashMoments, SequenceJob, SequenceOrder, SequenceRun, run_sequences,
};
use fsarena_guests::guest::Program;
use fsarena_guests::kernel::Kernels;
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_report::{
    BrokenRule, LitmusRow, SequenceCase, SequenceHead, SequenceRow, litmus_text, sequences_text,
};
use indicatif::ProgressBar;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// Sequences of two operations where no number is given.
const SAMPLE: usize = 1000;

/// Programs on every contender: what `on_contender` makes of each is printed by `print`.
struct Campaign<'a> {
    fs: &'a str,
    on: &'a str,
    seed: u64,
    what: String,
    jobs: Vec<SequenceJob>,
}

/// A job that was carried out, or why not.
type Outcome<'a> = (usize, &'a Result<SequenceRun, CrashRunError>);

impl Campaign<'_> {
    /// Carries out all jobs on each contender; `judge` makes something of each as it comes, and
    /// `rows` of all of them, in the order of the jobs.
    fn run<T: Send, R>(
        &self,
        judge: impl Fn(Outcome<'_>) -> T + Sync,
        rows: impl Fn(&Contender, Vec<T>) -> Vec<R>,
    ) -> Result<(SequenceHead, Vec<R>, ExitCode)> {
        let own = context::scratch_dir()?;
        let mut kernels = Kernels::new(context::kernels()?);
        let order = ContenderOrder {
            fs: self.fs,
            on: self.on,
            allowed: AllowedDevices::Guests("sequences are carried out"),
            phases: None,
        };
        let ResolvedContenders { contenders, not_run, .. } =
            contenders(&order, &mut kernels, own.path())?;
        for line in &not_run {
            say!("not run: {line}");
        }
        let Some(first) = contenders.first() else {
            anyhow::bail!("nothing can be run");
        };
        let head = self.head(first)?;
        let program = Program::this(own.path())?;
        let interrupts = context::count_interrupts()?;
        let stop = || interrupts.load(Ordering::SeqCst) > 0;
        let bar = ProgressBar::new(contenders.len() as u64 * self.jobs.len() as u64);
        let (mut all, mut is_whole) = (Vec::new(), true);
        for contender in &contenders {
            let judged = Mutex::new(BTreeMap::new());
            let take = |number: usize, run: Result<SequenceRun, CrashRunError>| {
                let made = judge((number, &run));
                if let Ok(mut judged) = judged.lock() {
                    judged.insert(number, made);
                }
                bar.inc(1);
            };
            match self.on_contender(contender, &kernels, &program, &stop, &take) {
                Ok(()) => {
                    if bar.is_hidden() {
                        say!("{}: {} programs", contender.label, self.jobs.len());
                    }
                    let judged = judged.into_inner().unwrap_or_default();
                    all.extend(rows(contender, judged.into_values().collect()));
                }
                Err(error) if is_stop(&error) => break,
                Err(error) => {
                    is_whole = false;
                    say!("{}: failed: {}", contender.label, context::reason(&error));
                }
            }
        }
        bar.finish_and_clear();
        if stop() {
            say!("stopped: what was finished before is all there is");
        }
        let code = match (stop(), is_whole) {
            (true, _) => ExitCode::from(exit::INTERRUPTED),
            (false, true) => ExitCode::SUCCESS,
            (false, false) => ExitCode::FAILURE,
        };
        Ok((head, all, code))
    }

    fn head(&self, contender: &Contender) -> Result<SequenceHead> {
        let DeviceLevel::Virtual { size_bytes, model, kernel, .. } = &contender.levels.device
        else {
            anyhow::bail!("{} is in no guest", contender.label);
        };
        Ok(SequenceHead {
            kernel: kernel.clone(),
            device_model: model.clone(),
            device_bytes: *size_bytes,
            seed: self.seed,
            what: self.what.clone(),
        })
    }

    fn on_contender(
        &self,
        contender: &Contender,
        kernels: &Kernels,
        program: &Program,
        stop: &(dyn Fn() -> bool + Sync),
        take: &(dyn Fn(usize, Result<SequenceRun, CrashRunError>) + Sync),
    ) -> Result<()> {
        let (disk, options) = guest_of(contender, kernels, LIMIT)?;
        let order = SequenceOrder {
            fs: &contender.levels.fs,
            disk,
            options: &options,
            program,
            seed: self.seed,
            guests_at_once: std::thread::available_parallelism().map_or(1, usize::from),
        };
        Ok(run_sequences(&order, &self.jobs, stop, take)?)
    }
}

pub fn run(args: &SequencesArgs) -> Result<ExitCode> {
    let length = usize::try_from(args.length)?;
    let bounds = if args.published { Bounds::published() } else { Bounds::all() };
    let sample = args.sample.map(usize::try_from).transpose()?;
    let most = sample.unwrap_or(if length == 1 { usize::MAX } else { SAMPLE });
    let all = bounds.skeletons(length).len();
    let skeletons = bounds.sample(length, most, args.seed);
    let programs: Result<Vec<Vec<FileOp>>, _> = skeletons.iter().map(program).collect();
    let moments = if args.every_entry { CrashMoments::EveryEntry } else { CrashMoments::Returns };
    let jobs = programs?.into_iter().map(|ops| SequenceJob { ops, moments }).collect::<Vec<_>>();
    let when = if args.every_entry {
        "at every write, flush and discard"
    } else {
        "when fsync, fdatasync, msync or sync returns"
    };
    let many = if length == 1 { "operation" } else { "operations" };
    let what =
        format!("{} of {all} sequences of {length} {many}, the power cut {when}", jobs.len());
    let campaign = Campaign { fs: &args.fs, on: &args.on, seed: args.seed, what, jobs };
    let (head, rows, code) = campaign.run(
        |(number, run)| judge_sequence(&campaign.jobs[number].ops, run),
        |contender, judged| vec![sequence_row(&contender.label, length, &judged)],
    )?;
    let both = serde_json::json!({"head": head, "rows": rows});
    let document = || fsarena_report::json::document("crash-sequences", "crash_sequences", &both);
    context::print_as(args.json, document, |width, style| {
        sequences_text(&head, &rows, args.cases, width, style)
    })?;
    Ok(code)
}

/// A sequence that was judged.
#[derive(Default)]
struct Judged {
    /// The operation that failed, with its errno.
    failed: Option<String>,
    died: bool,
    states: u64,
    different: u64,
    mounted: u64,
    failed_replays: u64,
    cases: Vec<(Rule, SequenceCase)>,
    states_of_rule: BTreeMap<Rule, u64>,
}

fn judge_sequence(ops: &[FileOp], run: &Result<SequenceRun, CrashRunError>) -> Judged {
    let Ok(run) = run else { return Judged { died: true, ..Judged::default() } };
    let done = run.record.done();
    let mut judged = Judged {
        failed: ops.get(done).map(|op| {
            let errno = run.record.ops.get(done).and_then(|op| op.errno).unwrap_or(0);
            format!("{op}: errno {errno}")
        }),
        ..Judged::default()
    };
    let Ok(history) = History::new(&ops[..done]) else { return judged };
    let mut known = BTreeSet::new();
    for (state, seen) in run.observed() {
        let is_new = known.insert(state.contents);
        judged.states += 1;
        judged.different += u64::from(is_new);
        let is_mounted = is_mounted_as_before(seen);
        judged.mounted += u64::from(is_new && is_mounted);
        judged.failed_replays += u64::from(is_new && seen.whole.replay_failed);
        if judged.failed.is_some() {
            continue;
        }
        let progress = progress(&run.record, state.at_ns);
        let mut rules = BTreeSet::new();
        for broken in judge(&history, progress, seen) {
            rules.insert(broken.rule);
            let is_known = judged
                .cases
                .iter()
                .any(|(rule, case)| *rule == broken.rule && case.path == broken.path);
            if !is_known {
                let case = case(ops, 0, progress, state, &broken);
                judged.cases.push((broken.rule, case));
            }
        }
        for rule in rules {
            *judged.states_of_rule.entry(rule).or_default() += 1;
        }
    }
    judged
}

/// In its first attempt, read-write, or after the repair that is asked for first.
fn is_mounted_as_before(seen: &TreeObservation) -> bool {
    let first = seen.whole.mounts.first();
    first.is_some_and(|mount| {
        mount.errno.is_none() && matches!(mount.step, MountStep::ReadWrite | MountStep::AfterRepair)
    })
}

/// Operations that had returned and begun at this time.
fn progress(record: &SequenceRecord, at_ns: u64) -> Progress {
    let done = &record.ops[..record.done()];
    Progress {
        returned: done.iter().filter(|op| op.end_ns < at_ns).count(),
        begun: done.iter().filter(|op| op.begin_ns <= at_ns).count(),
    }
}

/// `from`: the operations before are not told.
fn case(
    ops: &[FileOp],
    from: usize,
    progress: Progress,
    state: &CrashState,
    broken: &Broken,
) -> SequenceCase {
    let begun = &ops[from..progress.begun.clamp(from, ops.len())];
    let mut program = one_line(begun);
    if progress.begun > progress.returned {
        program.push_str(" (had not returned)");
    }
    SequenceCase {
        class: class_name(broken.rule.class()).to_owned(),
        sentence: broken.rule.sentence().to_owned(),
        program,
        state: state.class.name(),
        entries: state.count,
        path: broken.path.clone(),
        expected: broken.expected.clone(),
        found: broken.found.clone(),
    }
}

fn class_name(class: RuleClass) -> &'static str {
    match class {
        RuleClass::Contract => "contract",
        RuleClass::Customary => "customary",
        RuleClass::Damage => "damage",
    }
}

fn sequence_row(label: &str, length: usize, judged: &[Judged]) -> SequenceRow {
    let count = |is: &dyn Fn(&Judged) -> bool| judged.iter().filter(|one| is(one)).count() as u64;
    let has = |class: RuleClass| {
        count(&|one| one.states_of_rule.keys().any(|rule| rule.class() == class))
    };
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    for op in judged.iter().filter_map(|one| one.failed.clone()) {
        *failed.entry(op).or_default() += 1;
    }
    let rules: BTreeSet<Rule> =
        judged.iter().flat_map(|one| one.states_of_rule.keys().copied()).collect();
    let mut broken: Vec<BrokenRule> = Vec::new();
    let mut cases = Vec::new();
    for rule in rules {
        let states = judged.iter().filter_map(|one| one.states_of_rule.get(&rule)).sum();
        broken.push(BrokenRule {
            class: class_name(rule.class()).to_owned(),
            sentence: rule.sentence().to_owned(),
            sequences: count(&|one| one.states_of_rule.contains_key(&rule)),
            states,
        });
        let mut of_rule: Vec<SequenceCase> = judged
            .iter()
            .flat_map(|one| &one.cases)
            .filter(|(of, _)| *of == rule)
            .map(|(_, case)| case.clone())
            .collect();
        // The shortest program says most.
        of_rule.sort_by_key(|case| case.program.len());
        cases.extend(of_rule);
    }
    SequenceRow {
        contender: label.to_owned(),
        length,
        sequences: judged.len() as u64,
        not_judged: count(&|one| one.failed.is_some() || one.died),
        failed: failed.into_iter().collect(),
        died: count(&|one| one.died),
        states: judged.iter().map(|one| one.states).sum(),
        different: judged.iter().map(|one| one.different).sum(),
        mounted: judged.iter().map(|one| one.mounted).sum(),
        failed_replays: judged.iter().map(|one| one.failed_replays).sum(),
        contract_broken: has(RuleClass::Contract),
        customary_broken: has(RuleClass::Customary),
        damaged: has(RuleClass::Damage),
        rules: broken,
        cases,
    }
}

pub fn run_litmus(args: &LitmusArgs) -> Result<ExitCode> {
    let litmus = list(&args.litmus, "--litmus", Litmus::from_name)?;
    let seeds = (0..args.programs).map(|number| args.seed.wrapping_add(number));
    let programs: Vec<(Litmus, LitmusProgram)> = litmus
        .iter()
        .flat_map(|litmus| seeds.clone().map(|seed| (*litmus, litmus.program(seed))))
        .collect();
    let states_most = usize::try_from(args.states)?;
    let jobs = programs.iter().zip((args.seed..).cycle()).map(|((_, program), seed)| {
        let after_ops = program.asked_from;
        let moments = CrashMoments::Parts { after_ops, states_most, seed };
        SequenceJob { ops: program.ops.clone(), moments }
    });
    let what = format!("{} programs of each name, up to {states_most} states each", args.programs);
    let jobs = jobs.collect();
    let campaign = Campaign { fs: &args.fs, on: &args.on, seed: args.seed, what, jobs };
    let (head, rows, code) = campaign.run(
        |(number, run)| judge_litmus(programs[number].0, &programs[number].1, run),
        |contender, judged| litmus_rows(&contender.label, &litmus, &judged),
    )?;
    let both = serde_json::json!({"head": head, "rows": rows});
    let document = || fsarena_report::json::document("crash-litmus", "crash_litmus", &both);
    context::print_as(args.json, document, |width, style| litmus_text(&head, &rows, width, style))?;
    Ok(code)
}

/// A litmus program that was asked.
struct LitmusAnswer {
    litmus: Litmus,
    states: u64,
    mounted: u64,
    outcomes: BTreeMap<LitmusOutcome, u64>,
    cases: Vec<(LitmusOutcome, SequenceCase)>,
}

fn judge_litmus(
    litmus: Litmus,
    program: &LitmusProgram,
    run: &Result<SequenceRun, CrashRunError>,
) -> LitmusAnswer {
    let (outcomes, cases) = (BTreeMap::new(), Vec::new());
    let mut asked = LitmusAnswer { litmus, states: 0, mounted: 0, outcomes, cases };
    let Ok(run) = run else { return asked };
    for (state, seen) in run.observed() {
        asked.states += 1;
        if seen.whole.mounted().is_none() {
            continue;
        }
        asked.mounted += 1;
        let outcome = litmus.outcome(program, seen);
        *asked.outcomes.entry(outcome).or_default() += 1;
        if !outcome.holds() && asked.cases.iter().all(|(known, _)| *known != outcome) {
            let progress = progress(&run.record, state.at_ns);
            let broken = Broken {
                rule: Rule::SyncedContents,
                path: Some("file".to_owned()),
                expected: String::new(),
                found: outcome.name().to_owned(),
            };
            let case = case(&program.ops, program.asked_from, progress, state, &broken);
            asked
                .cases
                .push((outcome, SequenceCase { sentence: litmus.name().to_owned(), ..case }));
        }
    }
    asked
}

fn litmus_rows(label: &str, litmus: &[Litmus], asked: &[LitmusAnswer]) -> Vec<LitmusRow> {
    let row = |litmus: &Litmus| {
        let all: Vec<&LitmusAnswer> = asked.iter().filter(|one| one.litmus == *litmus).collect();
        let mut outcomes: BTreeMap<LitmusOutcome, u64> = BTreeMap::new();
        for (outcome, states) in all.iter().flat_map(|one| &one.outcomes) {
            *outcomes.entry(*outcome).or_default() += states;
        }
        let mut cases: BTreeMap<LitmusOutcome, SequenceCase> = BTreeMap::new();
        for (outcome, case) in all.iter().flat_map(|one| &one.cases) {
            cases.entry(*outcome).or_insert_with(|| case.clone());
        }
        LitmusRow {
            contender: label.to_owned(),
            litmus: litmus.name().to_owned(),
            programs: all.len() as u64,
            programs_broken: all.iter().filter(|one| !one.cases.is_empty()).count() as u64,
            states: all.iter().map(|one| one.states).sum(),
            mounted: all.iter().map(|one| one.mounted).sum(),
            outcomes: outcomes.iter().map(|(one, many)| (one.name().to_owned(), *many)).collect(),
            cases: cases.into_values().collect(),
        }
    };
    litmus.iter().map(row).collect()
}
