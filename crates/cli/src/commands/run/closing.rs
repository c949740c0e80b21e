//! What is said at the end of `fsarena run`, and its exit code.

use crate::args::RunArgs;
use crate::commands::{report, study};
use crate::exit;
use fsarena_model::record::CacheState;
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use fsarena_study::verdict::Verdicts;
use std::process::ExitCode;

pub(super) fn words(store: &Store, finished: &fsarena_runner::Finished, args: &RunArgs) {
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
    if finished.state == RunState::Interrupted {
        say!("interrupted; what was measured before is kept");
    }
    if !args.json {
        say!("RUN {} is stored in {}", finished.run, store.path().display());
    }
}

/// Writes the page; whether it is there. What was measured is in the database however that ends.
pub(super) fn report(store: &Store, run: RunId, args: &RunArgs) -> bool {
    if args.no_report {
        return false;
    }
    let written = report::of_run(store, run, args.report.as_deref());
    if let Err(error) = &written {
        say!("no report: {error:#}; `fsarena report {run} -o FILE` writes it elsewhere");
    }
    written.is_ok()
}

/// Whether the schedule was gone through; what was measured is for another command to judge.
pub(super) fn silent_exit_code(finished: &fsarena_runner::Finished) -> ExitCode {
    ExitCode::from(if finished.state == RunState::Interrupted { exit::INTERRUPTED } else { 0 })
}

pub(super) fn exit_code(
    finished: &fsarena_runner::Finished,
    study: &fsarena_study::Study,
    verdicts: Option<&Verdicts>,
    args: &RunArgs,
) -> ExitCode {
    if finished.state == RunState::Interrupted {
        return ExitCode::from(exit::INTERRUPTED);
    }
    if !study.failures.is_empty() || !finished.left.is_empty() {
        return ExitCode::from(exit::FAILED);
    }
    // The plan does not ask a directory to be cold; a user who does shall not think that it was.
    let by_name = args.cache.as_deref() == Some("cold");
    let mut rows = study.tables.iter().flat_map(|table| &table.rows);
    let unproved = rows
        .any(|row| row.cache == CacheState::Warm && (by_name || row.not_cold_because.is_some()));
    if unproved {
        say!("cold phases were asked for, and not all could be proved cold: see the rows");
        return ExitCode::from(exit::INVALID);
    }
    if args.require_decision && verdicts.is_none_or(study::is_open) {
        return ExitCode::from(exit::UNDECIDED);
    }
    ExitCode::SUCCESS
}
