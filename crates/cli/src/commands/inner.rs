//! The hidden subcommands: this same binary as executor and as worker.

use crate::context;
use anyhow::{Context as _, Result};
use std::path::Path;
use std::process::ExitCode;

/// One trial. Its lock on the journal lasts as long as the process.
pub fn executor(journal: Option<&Path>, parent: Option<u32>, inside: bool) -> Result<ExitCode> {
    let _lock = journal.map(fsarena_runner::live_in).transpose()?;
    let program = context::program();
    if inside || !context::is_root() {
        fsarena_executor::executor_inside(&program, parent, inside)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(status) = fsarena_executor::executor_outside(&program, parent)? else {
        // A container without the right to namespaces: a directory can be worked in all the same.
        fsarena_executor::executor_inside(&program, parent, false)?;
        return Ok(ExitCode::SUCCESS);
    };
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}

/// One phase.
pub fn worker(parent: Option<u32>) -> Result<ExitCode> {
    if let Some(parent) = parent {
        fsarena_targets::namespace::death_signal(parent).context("death signal")?;
    }
    fsarena_engine::worker_main(std::io::stdin().lock(), std::io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}
