//! `fsarena safety`: what a power cut leaves of work on a modelled disk, in guest kernels.

use crate::args::SafetyArgs;
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_executor::crash::check_programs;
use fsarena_model::contender::{Contender, DeviceLevel, FsLevel};
use fsarena_places::crash_run::{CrashOrder, CrashRun, CrashRunError, crash_run};
use fsarena_places::disk::DiskOrder;
use fsarena_places::guest::{GuestOptions, Program};
use fsarena_places::kernel::{Kernels, Named};
use fsarena_plan::Overrides;
use fsarena_process::cmd;
use fsarena_report::{SafetyHead, SafetyRow, SafetyShare, safety_text};
use fsarena_runner::DriverRules;
use fsarena_safety::figures::{FigureOptions, Figures, Share, figures};
use fsarena_safety::observation::Rung;
use fsarena_safety::op::Op;
use fsarena_safety::oracle::Oracle;
use fsarena_safety::promise::{PromiseClass, Promises};
use fsarena_safety::state::Class;
use fsarena_safety::workload::Kind;
use fsarena_safety::{Findings, Violation};
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Contenders need an experiment; its workload is not used.
const EXPERIMENT: &str = "schema = 1\nname = \"safety\"\n[factors]\nfs = \"ext4\"\n\
     device = \"virtual:8G:model=hdd-2007\"\n[[workload]]\nuse = \"small-files\"\n";
const SECOND_NS: u64 = 1_000_000_000;
/// Of files that are deleted before the work, so that stale bytes are known.
const PREFILL_BYTES: u64 = 64 << 20;
/// Real time after which a guest is given up.
const LIMIT: Duration = Duration::from_secs(1200);
/// Cases of broken promises that are told.
const CASES_MOST: usize = 3;

pub fn run(args: &SafetyArgs) -> Result<ExitCode> {
    let kinds = list(&args.workload, "--workload", Kind::from_name)?;
    let classes = list(&args.state, "--state", class)?;
    if (args.points as usize) < classes.len() {
        let what = format!("--points: {} for {} states; give each one", args.points, classes.len());
        return Err(Usage(what).into());
    }
    let own = tempfile::tempdir().context("a directory for the guests")?;
    let mut kernels = Kernels::new(context::kernels()?);
    let (contenders, not_run) = contenders(args, &mut kernels, own.path())?;
    for line in &not_run {
        say!("not run: {line}");
    }
    let Some(first) = contenders.first() else {
        anyhow::bail!("nothing can be run");
    };
    let head = head(args, first)?;
    let program = Program::this(own.path())?;
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    let all = contenders.len() * kinds.len();
    let bar = ProgressBar::new(all as u64 * u64::from(args.runs));
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
                Err(error) if is_stop(&error) => break,
                Err(error) => say!("{}, {}: failed: {error:#}", contender.label, kind.name()),
            }
        }
    }
    bar.finish_and_clear();
    if stop() {
        say!("stopped: what was finished before is all there is");
    }
    let both = serde_json::json!({"head": head, "rows": rows});
    let document = || fsarena_report::json::document("safety", "safety", &both);
    context::print_as(args.json, document, |width, style| safety_text(&head, &rows, width, style))?;
    let is_whole = rows.len() == all * classes.len();
    Ok(match (stop(), is_whole) {
        (true, _) => ExitCode::from(exit::INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

fn head(args: &SafetyArgs, contender: &Contender) -> Result<SafetyHead> {
    let DeviceLevel::Virtual { size_bytes, model, kernel, .. } = &contender.levels.device else {
        anyhow::bail!("{} is in no guest", contender.label);
    };
    Ok(SafetyHead {
        kernel: kernel.clone(),
        memory_bytes: GuestOptions::new(Path::new("")).memory_bytes,
        device_model: model.clone(),
        device_bytes: *size_bytes,
        seconds: args.seconds,
        runs: args.runs,
        points: args.points,
        seed: args.seed,
    })
}

fn is_stop(error: &anyhow::Error) -> bool {
    error.downcast_ref::<CrashRunError>().is_some_and(CrashRunError::is_stop)
}

/// The words of an option, each once.
fn list<T: PartialEq>(
    text: &str,
    option: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for word in text.split(',').map(str::trim) {
        let none = || Usage(format!("{option}: {word:?} is none; see fsarena safety --help"));
        let one = read(word).ok_or_else(none)?;
        if all.contains(&one) {
            return Err(Usage(format!("{option}: {word:?} is named twice")).into());
        }
        all.push(one);
    }
    Ok(all)
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
    let mut lacking = Vec::new();
    let there = there.filter(|contender| {
        let mut programs = check_programs(&contender.levels.fs.name);
        let missing = programs.find(|program| cmd::find(program).is_none());
        let why = |program| format!("{}: {program} is not installed", contender.label);
        lacking.extend(missing.map(why));
        missing.is_none()
    });
    let there = there.collect();
    Ok((there, not_run.into_iter().chain(lacking).collect()))
}

/// The documented promises of a file system with its options.
fn promises(fs: &FsLevel) -> Promises {
    let has_journal = !fs.mkfs.get("features").is_some_and(|list| list.contains("^has_journal"));
    let options: Vec<&str> = fs.mount.iter().map(String::as_str).collect();
    if has_journal { Promises::documented(&fs.name, &options) } else { Promises::default() }
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
        let mut facts = Facts::default();
        for number in 0..self.args.runs {
            let seed = self.args.seed.wrapping_add(u64::from(number));
            let ran = self.crash_run(contender, seed, classes, stop)?;
            let oracle = Oracle::new(&ran.work.ops, seed, promises(&contender.levels.fs))?;
            let findings: Vec<Findings> =
                ran.observed().map(|(state, seen)| oracle.judge(state, seen)).collect();
            facts.add(seed, &ran, &findings);
            runs.push(findings);
            bar.inc(1);
        }
        facts.syncs_ns.sort_unstable();
        let of_classes = figures(&runs, &FigureOptions::default())?;
        let of = |(class, found): (Class, Figures)| {
            let findings: Vec<&Findings> =
                runs.iter().flatten().filter(|one| one.class == class).collect();
            self.row(contender, class, &found, &facts, &findings)
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
        let options =
            GuestOptions { syscall_ns: *syscall_ns, limit: LIMIT, ..GuestOptions::new(&found) };
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
        facts: &Facts,
        findings: &[&Findings],
    ) -> SafetyRow {
        let is_lying = matches!(class, Class::Lying { .. });
        // A disk that lies breaks what it promised, and nobody else does.
        let counts = |violation: &&Violation| {
            !is_lying || violation.promise.class() == PromiseClass::Contract
        };
        let mut broken: BTreeMap<String, u64> = BTreeMap::new();
        for violation in findings.iter().flat_map(|found| &found.violations).filter(counts) {
            *broken.entry(violation.promise.sentence().to_owned()).or_default() += 1;
        }
        let cases = facts.cases.iter().filter(|case| case.class == class);
        let of_points = |share: &Share| self::share(share, share);
        SafetyRow {
            contender: contender.label.clone(),
            workload: self.kind.name().to_owned(),
            state: class_words(class),
            runs: of.runs,
            crash_points: of.crash_points,
            mount_options: facts.mount_options.clone(),
            ops: facts.ops,
            failed_ops: facts.failed_ops,
            first_errno: facts.first_errno,
            sync_p50_ns: facts.sync_ns(0.5),
            sync_p99_ns: facts.sync_ns(0.99),
            loss_window_p50_ns: of.loss_window.p50_ns.value,
            loss_window_max_ns: of.loss_window.max_ns,
            acknowledged_lost: share(&of.acknowledged_files_lost, &of.contract_broken),
            documented_broken: of_points(&of.documented_broken),
            replaced_damaged: share(&of.replaced_files_damaged, &of.replace_damaged),
            stale_bytes: of.stale_bytes,
            stale_files: of.stale_files,
            mounted_as_before: (!facts.is_repaired_first).then(|| of_points(&of.mounted_as_it_was)),
            needs_repair: of
                .needs_repair
                .as_ref()
                .filter(|_| !facts.is_repaired_first)
                .map(of_points),
            told_by_kernel: findings.iter().filter(|found| found.kernel_messages > 0).count()
                as u64,
            broken: broken.into_iter().collect(),
            cases: cases.map(|case| case.words.clone()).take(CASES_MOST).collect(),
        }
    }
}

/// What is kept of all runs of a contender beside its figures.
#[derive(Default)]
struct Facts {
    syncs_ns: Vec<u64>,
    ops: u64,
    failed_ops: u64,
    first_errno: Option<i32>,
    mount_options: String,
    /// Its documents ask for a repair before the mount.
    is_repaired_first: bool,
    cases: Vec<Case>,
}

/// A promise that was broken.
struct Case {
    class: Class,
    words: String,
}

impl Facts {
    fn add(&mut self, seed: u64, ran: &CrashRun, findings: &[Findings]) {
        let judged = ran.work.ops.iter().filter(|op| op.begin_ns >= ran.work.begin_ns);
        self.syncs_ns.extend(judged.filter_map(sync_ns));
        self.ops += ran.work.ops.len() as u64;
        let mut failed = ran.work.ops.iter().filter_map(|op| op.error).peekable();
        self.first_errno = self.first_errno.or_else(|| failed.peek().copied());
        self.failed_ops += failed.count() as u64;
        self.mount_options.clone_from(&ran.work.mount_options);
        let mut firsts = ran.observed().filter_map(|(_, seen)| seen.mounts.first());
        self.is_repaired_first |= firsts.any(|mount| mount.rung == Rung::AfterRepair);
        for found in findings {
            let class = found.class;
            let after_s = found.at_ns.saturating_sub(ran.work.begin_ns) as f64 / SECOND_NS as f64;
            for violation in &found.violations {
                let many = self.cases.iter().filter(|case| case.class == class).count();
                if many >= CASES_MOST {
                    break;
                }
                let path = violation.path.as_deref().unwrap_or("the file system");
                let words =
                    format!("seed {seed}, cut at {after_s:.3} s: {path}: {}", violation.found);
                self.cases.push(Case { class, words });
            }
        }
    }

    /// The length of syncs that so large a share of them does not exceed; they are sorted.
    fn sync_ns(&self, share: f64) -> Option<u64> {
        let last = self.syncs_ns.len().checked_sub(1)?;
        Some(self.syncs_ns[(share * last as f64).round() as usize])
    }
}

/// Hits of checks, with the interval of the share of crash points at which there was any.
fn share(checks: &Share, points: &Share) -> SafetyShare {
    SafetyShare {
        hits: checks.hits,
        of: checks.of,
        crash_points: points.hits,
        low: points.share.low,
        high: points.share.high,
    }
}

/// Length of an op that syncs and did not fail.
fn sync_ns(op: &Op) -> Option<u64> {
    let is_whole = op.error.is_none() && op.action.sync().covers_contents();
    is_whole.then(|| op.end_ns - op.begin_ns)
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
        let twice = list("prefix,prefix", "--state", class).unwrap_err().to_string();
        assert!(twice.contains("named twice"), "{twice}");
        let error = list("unsynced,none", "--workload", Kind::from_name).unwrap_err().to_string();
        assert!(error.contains("--workload: \"none\""), "{error}");
    }
}
