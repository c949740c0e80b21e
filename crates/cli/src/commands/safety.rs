//! `fsarena safety`: what a power cut leaves of work on a modelled disk, in guest kernels.

use crate::args::SafetyArgs;
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_places::crash_run::{CrashOrder, CrashRun, CrashRunError, crash_run};
use fsarena_places::disk::DiskOrder;
use fsarena_places::guest::{GuestError, GuestOptions, Program};
use fsarena_places::kernel::{Kernels, Named};
use fsarena_plan::Overrides;
use fsarena_report::{SafetyRow, SafetyShare, safety_text};
use fsarena_runner::DriverRules;
use fsarena_safety::figures::{FigureOptions, Figures, Share, figures};
use fsarena_safety::op::Op;
use fsarena_safety::oracle::Oracle;
use fsarena_safety::promise::Promises;
use fsarena_safety::state::Class;
use fsarena_safety::workload::Kind;
use fsarena_safety::{Findings, Violation};
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// Contenders need an experiment; its workload is not used.
const EXPERIMENT: &str = "schema = 1\nname = \"safety\"\n[factors]\nfs = \"ext4\"\n\
     device = \"virtual:8G:model=hdd-2007\"\n[[workload]]\nuse = \"small-files\"\n";
const SECOND_NS: u64 = 1_000_000_000;
/// Of files that are deleted before the work, so that stale bytes are known.
const PREFILL_BYTES: u64 = 64 << 20;
/// Cases of broken promises that are told.
const CASES_MOST: usize = 3;

pub fn run(args: &SafetyArgs) -> Result<ExitCode> {
    let kinds = list(&args.workload, "--workload", Kind::from_name)?;
    let classes = list(&args.state, "--state", class)?;
    let own = tempfile::tempdir().context("a directory for the guests")?;
    let mut kernels = Kernels::new(context::kernels()?);
    let (contenders, not_run) = contenders(args, &mut kernels, own.path())?;
    for line in &not_run {
        say!("not run: {line}");
    }
    let program = Program::this(own.path())?;
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    let bar = ProgressBar::new(contenders.len() as u64 * kinds.len() as u64 * u64::from(args.runs));
    let mut rows = Vec::new();
    for contender in &contenders {
        for kind in &kinds {
            let job = Job { args, kernels: &kernels, program: &program, kind: *kind };
            match job.rows(contender, &classes, &stop, &bar) {
                Ok(found) => {
                    if bar.is_hidden() {
                        say!("{}, {}: {} runs", contender.label, kind.name(), args.runs);
                    }
                    rows.extend(found);
                }
                Err(error) if is_stop(&error) => {
                    say!("stopped; nothing was kept");
                    return Ok(ExitCode::from(exit::INTERRUPTED));
                }
                Err(error) => say!("{}, {}: failed: {error:#}", contender.label, kind.name()),
            }
        }
    }
    bar.finish_and_clear();
    let document = || fsarena_report::json::document("safety", "rows", &rows);
    context::print_as(args.json, document, |width, style| safety_text(&rows, width, style))?;
    let is_whole = rows.len() == contenders.len() * kinds.len() * classes.len();
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_stop(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CrashRunError::Guest(GuestError::Stopped)))
}

fn list<T>(text: &str, option: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>> {
    let one = |word: &str| {
        let known = || Usage(format!("{option}: {word:?} is none; see fsarena safety --help"));
        read(word).ok_or_else(|| known().into())
    };
    text.split(',').map(|word| one(word.trim())).collect()
}

/// `prefix`, `lying=2`.
fn class(word: &str) -> Option<Class> {
    match word {
        "prefix" => Some(Class::Prefix),
        "dropall" => Some(Class::Dropall),
        "drop-one" => Some(Class::DropOne),
        "keep-one" => Some(Class::KeepOne),
        "subset" => Some(Class::Subset),
        "torn" => Some(Class::Torn),
        _ => {
            let seconds: u64 = word.strip_prefix("lying=")?.parse().ok()?;
            Some(Class::Lying { younger_ns: seconds.checked_mul(SECOND_NS)? })
        }
    }
}

fn class_words(class: Class) -> String {
    match class {
        Class::Prefix => "prefix".to_owned(),
        Class::Dropall => "dropall".to_owned(),
        Class::DropOne => "drop-one".to_owned(),
        Class::KeepOne => "keep-one".to_owned(),
        Class::Subset => "subset".to_owned(),
        Class::Torn => "torn".to_owned(),
        Class::Lying { younger_ns } => format!("lying={}", younger_ns / SECOND_NS),
    }
}

/// Those that can be had here, and why the others cannot.
fn contenders(
    args: &SafetyArgs,
    kernels: &mut Kernels,
    own: &Path,
) -> Result<(Vec<Contender>, Vec<String>)> {
    let experiment = fsarena_plan::parse(EXPERIMENT, "safety")?;
    let overrides =
        Overrides { fs: Some(args.fs.clone()), on: vec![args.on.clone()], ..Overrides::default() };
    for path in fsarena_plan::kernel_files(&experiment, &overrides)? {
        let added = kernels.add_file(&path, own, &|| false);
        added.map_err(|error| Usage(format!("the guest kernel {error}")))?;
    }
    let rules = DriverRules::new(kernels.clone());
    let mut plan = fsarena_plan::expand(&experiment, &overrides, &rules)?;
    if !plan.contenders.iter().all(|one| one.levels.device.is_virtual()) {
        let what = "--on: power is cut in guests alone; write --on virtual:8G:model=hdd-2007";
        return Err(Usage(what.to_owned()).into());
    }
    let roots = fsarena_metrics::Roots::default();
    fsarena_runner::drop_unavailable(&mut plan, false, &roots, kernels);
    let not_run: Vec<String> = plan
        .not_run
        .iter()
        .map(|row| format!("{}: {}", plan.contenders[row.contender].label, row.reason))
        .collect();
    let is_run = |at: &usize| !plan.not_run.iter().any(|row| row.contender == *at);
    let there = (0..plan.contenders.len()).filter(is_run).map(|at| plan.contenders[at].clone());
    Ok((there.collect(), not_run))
}

/// One workload on contenders.
struct Job<'a> {
    args: &'a SafetyArgs,
    kernels: &'a Kernels,
    program: &'a Program,
    kind: Kind,
}

impl Job<'_> {
    /// A row for each class of states.
    fn rows(
        &self,
        contender: &Contender,
        classes: &[Class],
        stop: &(dyn Fn() -> bool + Sync),
        bar: &ProgressBar,
    ) -> Result<Vec<SafetyRow>> {
        let mut runs: Vec<Vec<Findings>> = Vec::new();
        let mut syncs_ns = Vec::new();
        let fs = &contender.levels.fs;
        let options: Vec<&str> = fs.mount.iter().map(String::as_str).collect();
        for number in 0..self.args.runs {
            let seed = self.args.seed + u64::from(number);
            let ran = self.crash_run(contender, seed, classes, stop)?;
            let promises = Promises::documented(&fs.name, &options);
            let oracle = Oracle::new(&ran.work.ops, seed, promises)?;
            let judged = ran.work.ops.iter().filter(|op| op.begin_ns >= ran.work.begin_ns);
            syncs_ns.extend(judged.filter_map(sync_ns));
            runs.push(ran.states.iter().map(|(state, seen)| oracle.judge(state, seen)).collect());
            bar.inc(1);
        }
        syncs_ns.sort_unstable();
        let of_classes = figures(&runs, &FigureOptions::default())?;
        let of = |(class, found): (Class, Figures)| {
            let findings = runs.iter().flatten().filter(|one| one.class == class);
            let violations: Vec<&Violation> =
                findings.flat_map(|found| &found.violations).collect();
            self.row(contender, class, &found, &syncs_ns, &violations)
        };
        Ok(of_classes.into_iter().map(of).collect())
    }

    fn crash_run(
        &self,
        contender: &Contender,
        seed: u64,
        classes: &[Class],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<CrashRun> {
        let DeviceLevel::Virtual { size_bytes, model, kernel, syscall_ns } =
            &contender.levels.device
        else {
            anyhow::bail!("{} is in no guest", contender.label);
        };
        let binary = |named: Named<'_>| match named {
            Named::Built(kernel) => kernel.binary.clone(),
            Named::File { about, .. } => about.path.clone(),
        };
        let found = self.kernels.named(kernel, binary).context("its guest kernel is gone")?;
        let options = GuestOptions { syscall_ns: *syscall_ns, ..GuestOptions::new(&found) };
        let order = CrashOrder {
            fs: &contender.levels.fs,
            disk: DiskOrder { model, size_bytes: *size_bytes, store_dir: None },
            options: &options,
            program: self.program,
            kind: self.kind,
            seed,
            duration_ns: self.args.seconds * SECOND_NS,
            prefill_bytes: PREFILL_BYTES,
            points: self.args.points,
            classes: classes.to_vec(),
            guests_at_once: std::thread::available_parallelism().map_or(1, usize::from),
        };
        Ok(crash_run(&order, stop)?)
    }

    fn row(
        &self,
        contender: &Contender,
        class: Class,
        of: &Figures,
        syncs_ns: &[u64],
        violations: &[&Violation],
    ) -> SafetyRow {
        let at = |share: f64| {
            let last = syncs_ns.len().checked_sub(1)?;
            Some(syncs_ns[(share * last as f64).round() as usize])
        };
        let mut broken: BTreeMap<String, u64> = BTreeMap::new();
        for violation in violations {
            *broken.entry(violation.promise.sentence().to_owned()).or_default() += 1;
        }
        let case = |violation: &&Violation| match &violation.path {
            Some(path) => format!("{path}: {}", violation.found),
            None => violation.found.clone(),
        };
        SafetyRow {
            contender: contender.label.clone(),
            workload: self.kind.name().to_owned(),
            class: class_words(class),
            runs: of.runs,
            crash_points: of.crash_points,
            sync_p50_ns: at(0.5),
            sync_p99_ns: at(0.99),
            loss_window_p50_ns: of.loss_window.p50_ns.value,
            loss_window_max_ns: of.loss_window.max_ns,
            acknowledged_lost: share(&of.acknowledged_files_lost),
            documented_broken: share(&of.documented_broken),
            replaced_damaged: share(&of.replaced_files_damaged),
            stale_bytes: of.stale_bytes,
            mounted_as_before: share(&of.mounted_as_it_was),
            needs_repair: of.needs_repair.as_ref().map(share),
            broken: broken.into_iter().collect(),
            cases: violations.iter().take(CASES_MOST).map(case).collect(),
        }
    }
}

fn share(of: &Share) -> SafetyShare {
    SafetyShare { hits: of.hits, of: of.of, low: of.share.low, high: of.share.high }
}

/// Length of an op that syncs.
fn sync_ns(op: &Op) -> Option<u64> {
    op.action.sync().covers_contents().then(|| op.end_ns - op.begin_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_and_written_alike() {
        for word in ["prefix", "dropall", "drop-one", "keep-one", "subset", "torn", "lying=2"] {
            assert_eq!(class(word).map(class_words).as_deref(), Some(word));
        }
        for wrong in ["", "lying", "lying=x", "all"] {
            assert_eq!(class(wrong), None, "{wrong}");
        }
        let error = list("unsynced,none", "--workload", Kind::from_name).unwrap_err().to_string();
        assert!(error.contains("--workload: \"none\""), "{error}");
    }
}
