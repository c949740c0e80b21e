//! `fsarena crash medium-errors`: writes and flushes of the work fail, and which calls report it.

use super::crash::{CASES_MOST, SECOND_NS, list};
use super::crash_contenders::{AllowedDevices, ContenderOrder, ResolvedContenders, contenders};
use super::crash_guest::guest_of;
use crate::args::MediumErrorsArgs;
use crate::context::{self, exit};
use anyhow::Result;
use fsarena_crash::figures::{FigureOptions, Share};
use fsarena_crash::medium_error::figures::{MediumErrorFigures, medium_error_figures};
use fsarena_crash::medium_error::judge::MediumErrorCase;
use fsarena_crash::medium_error::plan::{Lasting, RequestKind};
use fsarena_crash::workload::Kind;
use fsarena_crash_runs::medium_error_run::{
    MediumErrorOrder, MediumErrorRun, MediumErrorRunError, medium_error_run,
};
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_guests::kernel::Kernels;
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_report::{MediumErrorHead, MediumErrorRow, medium_errors_text};
use fsarena_study::CrashShare;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Of files that are deleted before the work.
const PREFILL_BYTES: u64 = 16 << 20;
/// Real time after which a guest is given up: with an error, an op may never return.
const LIMIT: Duration = Duration::from_secs(300);

/// The cases of a contender with one workload.
struct Group {
    contender: String,
    workload: &'static str,
    mount_options: String,
    cases: Vec<MediumErrorCase>,
}

pub fn run(args: &MediumErrorsArgs) -> Result<ExitCode> {
    let kinds = list(&args.workload, "--workload", Kind::from_name)?;
    let own = context::scratch_dir()?;
    let mut kernels = Kernels::new(context::kernels()?);
    let order = ContenderOrder {
        fs: &args.fs,
        on: &args.on,
        allowed: AllowedDevices::Guests("errors of the medium are made"),
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
    let head = head(args, first)?;
    let program = Program::this(own.path())?;
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    let bar = ProgressBar::new((contenders.len() * kinds.len()) as u64 * u64::from(args.runs));
    let (mut groups, mut is_whole) = (Vec::new(), true);
    for contender in &contenders {
        for kind in &kinds {
            let job = Job { args, kernels: &kernels, program: &program, kind: *kind };
            let who = format!("{}, {}", contender.label, kind.name());
            match job.group(contender, &stop, &bar) {
                Ok(group) => {
                    if bar.is_hidden() {
                        say!("{who}: {} runs", args.runs);
                    }
                    groups.push(group);
                }
                Err(error) if is_stop(&error) => break,
                Err(error) if fails_anyway(&error) => {
                    bar.suspend(|| say!("not run: {who}: {}", context::reason(&error)))
                }
                Err(error) => {
                    is_whole = false;
                    bar.suspend(|| say!("{who}: not judged: {}", context::reason(&error)));
                }
            }
        }
    }
    bar.finish_and_clear();
    if stop() {
        say!("stopped: what was finished before is all there is");
    }
    let mut rows = Vec::new();
    for group in &groups {
        rows.extend(group.rows()?);
    }
    print(args, &head, &rows, &groups)?;
    let is_broken = rows.iter().any(MediumErrorRow::breaks_the_contract);
    Ok(match (stop(), is_broken, is_whole) {
        (true, _, _) => ExitCode::from(exit::INTERRUPTED),
        (false, true, _) => ExitCode::from(exit::BROKEN),
        (false, false, true) => ExitCode::SUCCESS,
        (false, false, false) => ExitCode::FAILURE,
    })
}

fn print(
    args: &MediumErrorsArgs,
    head: &MediumErrorHead,
    rows: &[MediumErrorRow],
    groups: &[Group],
) -> Result<()> {
    let cases: Vec<serde_json::Value> = groups.iter().flat_map(Group::documents).collect();
    let all = serde_json::json!({"head": head, "rows": rows, "cases": cases});
    let document = || fsarena_report::json::document("medium-errors", "medium_errors", &all);
    context::print_as(args.json, document, |width, style| {
        medium_errors_text(head, rows, width, style)
    })
}

fn head(args: &MediumErrorsArgs, contender: &Contender) -> Result<MediumErrorHead> {
    let DeviceLevel::Virtual { size_bytes, model, kernel, .. } = &contender.levels.device else {
        anyhow::bail!("{} is in no guest", contender.label);
    };
    Ok(MediumErrorHead {
        kernel: kernel.clone(),
        memory_bytes: GuestOptions::new(Path::new("")).memory_bytes,
        device_model: model.clone(),
        device_bytes: *size_bytes,
        seconds: args.seconds,
        runs: args.runs,
        cases: args.cases,
        seed: args.seed,
    })
}

fn is_stop(error: &anyhow::Error) -> bool {
    error.downcast_ref::<MediumErrorRunError>().is_some_and(MediumErrorRunError::is_stop)
}

/// Whether it lacks what the workload needs, as ext3 lacks fallocate.
fn fails_anyway(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<MediumErrorRunError>();
    matches!(error, Some(MediumErrorRunError::FailsAnyway { .. }))
}

/// One workload on contenders.
struct Job<'a> {
    args: &'a MediumErrorsArgs,
    kernels: &'a Kernels,
    program: &'a Program,
    kind: Kind,
}

impl Job<'_> {
    fn group(
        &self,
        contender: &Contender,
        stop: &(dyn Fn() -> bool + Sync),
        bar: &ProgressBar,
    ) -> Result<Group> {
        let (contender_label, workload) = (contender.label.clone(), self.kind.name());
        let (mut cases, mut mount_options) = (Vec::new(), String::new());
        for number in 0..self.args.runs {
            let seed = self.args.seed.wrapping_add(u64::from(number));
            let ran = self.one(contender, seed, stop)?;
            anyhow::ensure!(
                ran.is_whole_without,
                "seed {seed}: synced work is lost without any error of the medium"
            );
            mount_options = ran.work.mount_options;
            cases.extend(ran.cases);
            bar.inc(1);
        }
        Ok(Group { contender: contender_label, workload, mount_options, cases })
    }

    fn one(
        &self,
        contender: &Contender,
        seed: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<MediumErrorRun> {
        let (disk, options) = guest_of(contender, self.kernels, LIMIT)?;
        let order = MediumErrorOrder {
            fs: &contender.levels.fs,
            disk,
            options: &options,
            program: self.program,
            kind: self.kind,
            seed,
            duration_ns: self.args.seconds * SECOND_NS,
            prefill_bytes: PREFILL_BYTES,
            cases: self.args.cases as usize,
            guests_at_once: std::thread::available_parallelism().map_or(1, usize::from),
        };
        Ok(medium_error_run(&order, stop)?)
    }
}

impl Group {
    /// Each case with what it is of.
    fn documents(&self) -> impl Iterator<Item = serde_json::Value> {
        self.cases.iter().map(|case| {
            serde_json::json!({
                "contender": self.contender,
                "workload": self.workload,
                "verdict": case.verdict(),
                "case": case,
            })
        })
    }

    /// A row for each kind of request that failed.
    fn rows(&self) -> Result<Vec<MediumErrorRow>> {
        let mut rows = Vec::new();
        for kind in RequestKind::ALL {
            for lasting in Lasting::ALL {
                let is_it = |case: &&MediumErrorCase| {
                    (case.request.kind, case.request.lasting) == (kind, lasting)
                };
                let cases: Vec<&MediumErrorCase> = self.cases.iter().filter(is_it).collect();
                if !cases.is_empty() {
                    let of = medium_error_figures(&cases, &FigureOptions::default())?;
                    rows.push(self.row((kind, lasting), &of, &cases));
                }
            }
        }
        Ok(rows)
    }

    fn row(
        &self,
        (kind, lasting): (RequestKind, Lasting),
        of: &MediumErrorFigures,
        cases: &[&MediumErrorCase],
    ) -> MediumErrorRow {
        let share = |share: &Share| CrashShare::new(share, share);
        let mut worst: Vec<&&MediumErrorCase> =
            cases.iter().filter(|case| is_reported(case)).collect();
        worst.sort_by_key(|case| std::cmp::Reverse(case.verdict()));
        MediumErrorRow {
            contender: self.contender.clone(),
            workload: self.workload.to_owned(),
            request: kind.name().to_owned(),
            fails: lasting.name().to_owned(),
            runs: of.runs,
            cases: of.cases,
            struck: of.struck,
            not_ended: of.not_ended,
            not_as_drawn: of.not_as_drawn,
            reported: share(&of.reported),
            stopped: share(&of.stopped),
            silent: share(&of.silent),
            lost: share(&of.lost),
            damaged: share(&of.damaged),
            again: share(&of.again),
            missing_after_sync: share(&of.missing_after_sync),
            only_in_memory: share(&of.only_in_memory),
            kernel_alone: share(&of.kernel_alone),
            mounted_as_before: share(&of.mounted_as_it_was),
            needs_repair: share(&of.needs_repair),
            reported_calls: reported_calls(cases),
            mount_options: self.mount_options.clone(),
            reported_cases: worst.iter().take(CASES_MOST).map(|case| words(case)).collect(),
        }
    }
}

/// Whether the report describes a case in words.
fn is_reported(case: &MediumErrorCase) -> bool {
    case.not_ended.is_some() || !case.lost.is_empty() || !case.damaged.is_empty()
}

/// What calls failed with, and how often, the most frequent first.
fn reported_calls(cases: &[&MediumErrorCase]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for failed in cases.iter().flat_map(|case| &case.failed) {
        let call = format!("{}: {}", failed.call.name(), errno_name(failed.errno));
        *counts.entry(call).or_default() += 1;
    }
    let mut reported: Vec<(String, u64)> = counts.into_iter().collect();
    reported.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    reported
}

fn errno_name(errno: i32) -> String {
    match errno {
        0 => "returned 0".to_owned(),
        5 => "EIO".to_owned(),
        28 => "ENOSPC".to_owned(),
        30 => "EROFS".to_owned(),
        61 => "ENODATA".to_owned(),
        117 => "EUCLEAN".to_owned(),
        other => format!("error {other}"),
    }
}

/// A case in words: what failed, what was lost, and which call reported it.
fn words(case: &MediumErrorCase) -> String {
    let after = |at_ns: u64| at_ns.saturating_sub(case.begin_ns) as f64 / SECOND_NS as f64;
    let request = &case.request;
    let what = match request.kind {
        RequestKind::Flush => "a flush".to_owned(),
        RequestKind::Data | RequestKind::Metadata => {
            format!("{} sectors at {}", request.sectors, request.sector)
        }
    };
    let mut words = format!("seed {}, {what}", case.seed);
    if let Some(why) = &case.not_ended {
        return words + &format!(": {why}");
    }
    let failed_s = after(request.at_ns);
    words.push_str(&format!(" failed at {failed_s:.3} s ({} requests): ", case.failed_requests));
    let mut found = Vec::new();
    if let Some(lost) = case.lost.first() {
        let mut when = if lost.is_before_error { ", before the error" } else { "" }.to_owned();
        if let Some(call) = lost.reported_by {
            when.push_str(&format!(", where {} failed then", call.name()));
        }
        let others = case.lost.len() - 1;
        let others = if others > 0 { format!(", and {others} files more") } else { String::new() };
        found.push(format!(
            "{} lost what was acknowledged at {:.3} s{when}: {}{others}",
            lost.path,
            after(lost.acknowledged_ns),
            lost.found
        ));
    }
    if let Some(damaged) = case.damaged.first() {
        found.push(format!("{} is damaged: {}", damaged.path, damaged.found));
    }
    found.push(match case.failed.first() {
        None if case.is_stopped() => "no op failed, and it takes no writes any more".to_owned(),
        None => "no op reported an error".to_owned(),
        Some(failed) => {
            let again = failed.again.map(|again| format!(", again: {}", errno_name(again)));
            format!(
                "{} of {} ops failed, the first in {} with {}{}",
                case.failed.len(),
                case.ops,
                failed.call.name(),
                errno_name(failed.errno),
                again.unwrap_or_default()
            )
        }
    });
    if let Some(line) = case.kernel_messages.first() {
        found.push(format!("kernel: {line}"));
    }
    words + &found.join("; ")
}
