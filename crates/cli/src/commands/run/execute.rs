//! Running what a header plans, and what is printed at the end; shared by a new RUN and the rest of
//! an interrupted one.

use super::programs;
use crate::args::RunArgs;
use crate::commands::loaded::{self, Identity, LoadedRun};
use crate::commands::{advice, open, plan_cost, report, show};
use crate::context::{self, exit};
use crate::progress::Bar;
use anyhow::{Context as _, Result};
use fsarena_devices::vet::WipeConsent;
use fsarena_executor::fault;
use fsarena_guests::kernel::HeldKernel;
use fsarena_metrics::WallClock;
use fsarena_model::contender::{AskedBy, DeviceLevel};
use fsarena_model::record::CacheState;
use fsarena_model::run::{RunHeader, RunPlan, RunState};
use fsarena_model::spec::RankHost;
use fsarena_runner::{Finished, Request, Resumed};
use fsarena_store::{RunId, Store};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs what `header` plans, or the rest of it, and prints the tables.
pub(super) fn execute(
    header: &RunHeader,
    resumed: Option<Resumed>,
    args: &RunArgs,
    (consents, hosts): (&[WipeConsent], &[RankHost]),
    db: Option<&Path>,
) -> Result<ExitCode> {
    let _held = hold_kernels(&header.plan)?;
    let programs = header.place.as_ref().and_then(|place| place.programs.as_ref());
    let held_programs = programs.map(programs::hold).transpose()?;
    let interrupts = context::count_interrupts()?;
    let mut store = open::for_writing(db)?;
    let expected_ns = plan_cost::trials_ns(&header.plan, &store)?;
    let request = Request {
        header,
        resumed,
        program: &context::program(),
        state_dir: &context::state_dir()?,
        consents,
        hosts,
        i386_usr: held_programs.as_ref().map(|(_, usr)| usr.as_path()),
        crash_states: &context::crash_states()?,
        keep: args.keep,
        clock: WallClock::set_now(),
        interrupts: &interrupts,
        expected_ns: &expected_ns,
    };
    let mut bar = Bar::new(header.plan.schedule.len(), args.quiet);
    let finished = fsarena_runner::run(&request, &mut store, &mut bar);
    bar.finish();
    let finished = finished?;
    if args.silent {
        print_closing(&store, &finished, header.plan.is_crash_alone(), args);
        return Ok(silent_exit_code(&finished));
    }
    let loaded = LoadedRun::read(&store, finished.run, Identity::Kept)?;
    // Written even if the reader of what is printed is gone.
    let page = write_report(&store, finished.run, header.plan.is_crash_alone(), args);
    let output = show::Output { is_json: args.json, is_full: args.full, is_raw: args.raw };
    let shown = match args.quiet {
        true => Ok(()),
        false if header.plan.is_crash_alone() && (args.is_crash || !args.json) => {
            show::show_crash_runs(&loaded, args.json, args.cases)
        }
        false if !args.purposes.is_empty() => advice::print(&loaded, &args.purposes, args.json),
        false => show::show(&loaded, output, page.as_deref()),
    };
    print_closing(&store, &finished, header.plan.is_crash_alone(), args);
    shown?;
    let code = exit_code(&finished, &loaded, args);
    let report_failed = args.report.is_some() && page.is_none() && code == ExitCode::SUCCESS;
    Ok(if report_failed { ExitCode::from(exit::FAILED) } else { code })
}

/// SHA-256 of this program's file: a RUN is not resumed by another one. With short waits it is that
/// of the file's identity, as reading the file takes longer than the trials of a test.
pub(super) fn program_sha256() -> Result<String> {
    let program = context::program();
    let path = program.path();
    let identity = || {
        let file = std::fs::metadata(path)?;
        Ok(format!("{}:{} {} B", file.dev(), file.ino(), file.len()).into_bytes())
    };
    let bytes = if fault::is_fast() { identity() } else { std::fs::read(path) };
    let bytes = bytes.with_context(|| format!("{}", path.display()))?;
    Ok(fsarena_model::seed::hex(&Sha256::digest(&bytes)))
}

/// The guest kernels of these trials, which are not deleted meanwhile. A file of the user's is
/// theirs.
fn hold_kernels(plan: &RunPlan) -> Result<Vec<HeldKernel>> {
    let cache = context::kernels()?;
    let levels: BTreeSet<&str> = plan
        .contenders
        .iter()
        .filter_map(|contender| match &contender.levels.device {
            DeviceLevel::Virtual { kernel, .. } => Some(kernel.as_str()),
            _ => None,
        })
        .collect();
    let found = levels.into_iter().filter_map(|level| cache.called(level));
    found
        .map(|kernel| {
            let path = || format!("{}: the guest kernel is being deleted", kernel.binary.display());
            kernel.hold().with_context(path)
        })
        .collect()
}

fn print_closing(store: &Store, finished: &Finished, is_crash_alone: bool, args: &RunArgs) {
    for path in &finished.kept {
        if path.is_dir() {
            say!("kept: {}", path.display());
        } else if path.starts_with("/dev") {
            say!("kept: {0} (mount {0} DIR)", path.display());
        } else {
            say!("kept: {0} (mount -o loop {0} DIR)", path.display());
        }
    }
    for left in &finished.left {
        say!("left behind: {left}");
    }
    // Who asks for as many equal runs as fit has planned for more than that.
    if let Some(cut_off) = finished.cut_off.as_ref().filter(|_| !args.silent) {
        say!("{cut_off}");
    }
    if finished.state == RunState::Interrupted {
        let what = if is_crash_alone { "crash runs" } else { "trials" };
        say!("interrupted; the {what} that were done are stored; `fsarena run --resume` goes on");
    }
    if !args.json {
        say!("RUN {} is stored in {}", finished.run, store.path().display());
    }
}

/// Writes the report; where it lies. The results are in the database in either case.
fn write_report(
    store: &Store,
    run: RunId,
    is_crash_alone: bool,
    args: &RunArgs,
) -> Option<PathBuf> {
    if args.no_report {
        return None;
    }
    match report::write_run_report(store, run, args.report.as_deref()) {
        // The answer names it.
        Ok(path) if !(args.json || args.full || args.raw || is_crash_alone) => Some(path),
        Ok(path) => {
            say!("report: {}", path.display());
            Some(path)
        }
        Err(error) => {
            say!(
                "no report: {}; `fsarena report {run} -o FILE` writes it to another place",
                context::reason(&error)
            );
            None
        }
    }
}

/// Whether the schedule was completed; the results are judged by another command.
fn silent_exit_code(finished: &Finished) -> ExitCode {
    ExitCode::from(if finished.state == RunState::Interrupted { exit::INTERRUPTED } else { 0 })
}

fn exit_code(finished: &Finished, loaded: &LoadedRun, args: &RunArgs) -> ExitCode {
    let study = &loaded.study;
    if finished.state == RunState::Interrupted {
        return ExitCode::from(exit::INTERRUPTED);
    }
    if let Some(view) = loaded.crash.as_ref().filter(|_| loaded.header.plan.is_crash_alone()) {
        return match (view.breaks_the_contract(), view.is_whole() && finished.left.is_empty()) {
            (true, _) => ExitCode::from(exit::BROKEN),
            (false, true) => ExitCode::SUCCESS,
            (false, false) => ExitCode::from(exit::FAILED),
        };
    }
    if !study.failures.is_empty() || !finished.left.is_empty() {
        return ExitCode::from(exit::FAILED);
    }
    if let Some(why) = why_not_cold(loaded) {
        say!("{why}: see the rows marked (warm)");
        return ExitCode::from(exit::INVALID);
    }
    if study.tables.iter().flat_map(|t| &t.rows).any(|row| row.cache == CacheState::NotWarm) {
        say!("some phases were to be warm and were not: see the rows");
        return ExitCode::from(exit::INVALID);
    }
    if args.require_decision && loaded.verdicts.as_ref().is_none_or(loaded::is_undecided) {
        return ExitCode::from(exit::UNDECIDED);
    }
    ExitCode::SUCCESS
}

/// What is wrong where rows are warm that were to be cold. A contender that never can be cold
/// counts where the user asked for it, and not where a default or an experiment of ours did: a RUN
/// that falls back to a directory is valid.
fn why_not_cold(loaded: &LoadedRun) -> Option<&'static str> {
    let contenders = &loaded.header.plan.contenders;
    let rows = loaded.study.tables.iter().flat_map(|table| &table.rows);
    let mut warm =
        rows.filter(|row| row.cache == CacheState::Warm && row.not_cold_because.is_some());
    warm.find_map(|row| {
        let never = contenders.get(row.contender).and_then(|one| one.asked_cache());
        match never.map(|(_, asked)| asked.by) {
            None => Some("some phases were to be cold and could not be proved cold"),
            Some(AskedBy::User) => Some("cold caches were asked for and cannot be had"),
            Some(AskedBy::Program) => None,
        }
    })
}
