//! The subcommands: each reads its arguments, calls the crates below and prints what they give. The
//! hidden ones are here: this same binary as executor and as worker.

pub mod advice;
pub mod advise;
mod alike;
pub mod article;
mod browse;
pub mod bundle;
mod chart_files;
pub mod compare;
mod confirm;
pub mod crash;
pub mod crash_states;
pub mod dataset;
pub mod delete;
pub mod describe;
mod device_model;
pub mod doc;
pub mod experiments;
pub mod fleet;
pub mod history;
pub mod import;
mod install;
pub mod kernel;
mod loaded;
pub mod machine;
mod margin;
pub mod merge;
mod open;
mod output_file;
mod plan_cost;
pub mod programs;
pub mod rank;
pub mod reference;
mod remote;
pub mod report;
pub mod run;
pub mod schema;
pub mod selftest;
pub mod show;
mod stored_run;
mod trust;
pub mod watch;
mod watched;

use crate::context;
use anyhow::{Context as _, Result};
use fsarena_executor::{Namespaces, Outside, executor_inside, executor_outside};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One trial. Its lock on the journal lasts as long as the process.
///
/// Where it cannot begin, its parent hears why, and keeps that with the trial.
pub fn executor(journal: Option<&Path>, parent: Option<u32>, inside: bool) -> Result<ExitCode> {
    executor_or_error(journal, parent, inside).inspect_err(|error| {
        let refused = fsarena_executor::ExecutorSays::Refused(context::reason(error));
        if let Ok(line) = serde_json::to_string(&refused) {
            // A parent that is gone needs no answer.
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    })
}

fn executor_or_error(
    journal: Option<&Path>,
    parent: Option<u32>,
    inside: bool,
) -> Result<ExitCode> {
    outlive_signals()?;
    let _lock = journal.map(fsarena_runner::live_in).transpose()?;
    let program = context::program();
    let outside = match (inside, context::is_root()) {
        (true, _) => Outside::Without(Namespaces::Own),
        (false, false) => Outside::Without(Namespaces::NotAllowed),
        (false, true) => executor_outside(&program, parent)?,
    };
    match outside {
        // As a shell says it where the inner one was killed.
        Outside::Ended(status) => Ok(status
            .code()
            .or_else(|| status.signal().map(|signal| 128 + signal))
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::FAILURE, ExitCode::from)),
        // Also a container without the right to namespaces: a directory can be worked in there.
        Outside::Without(namespaces) => {
            executor_inside(&program, parent, namespaces)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// One trial in a guest. Its lock on the journal lasts as long as the process.
pub fn virtual_executor(
    journal: Option<&Path>,
    parent: Option<u32>,
    cpu_index: usize,
) -> Result<ExitCode> {
    outlive_signals()?;
    let _lock = journal.map(fsarena_runner::live_in).transpose()?;
    if let Some(parent) = parent {
        fsarena_process::child::death_signal(parent).context("death signal")?;
    }
    let input = std::io::BufReader::new(std::io::stdin());
    fsarena_process::processor::keep_to_one_processor(cpu_index);
    fsarena_guests::virtual_trial::run(&context::kernels()?, input, std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// Tasks of crash safety under the kernel of this machine.
pub fn crash_executor(is_inside: bool) -> Result<ExitCode> {
    outlive_signals()?;
    if is_inside {
        fsarena_executor::crash::crash_executor_inside()?;
        return Ok(ExitCode::SUCCESS);
    }
    let ended = fsarena_executor::crash::crash_executor_outside(&context::program())?;
    Ok(if ended.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A stop of a whole service or session reaches every process: those inside go on until their
/// parent, which is told as well, asks them to end or is gone. What they start is not held back: a
/// handler, unlike an ignored signal, is not inherited.
fn outlive_signals() -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .context("signals cannot be caught")?;
    }
    Ok(())
}

/// A rank on this host for a runner on another one.
pub fn rank_server() -> Result<ExitCode> {
    outlive_signals()?;
    let (input, output) = (std::io::stdin(), std::io::stdout());
    fsarena_executor::serve_rank(&context::program(), input.as_fd(), output.lock())?;
    Ok(ExitCode::SUCCESS)
}

/// The agent of a host whose ranks are those of a runner on another one.
pub fn agent(inside: Option<u32>) -> Result<ExitCode> {
    outlive_signals()?;
    match inside {
        Some(outside_pid) => fsarena_executor::agent_inside(outside_pid)?,
        None => fsarena_executor::agent_outside(&context::program())?,
    }
    Ok(ExitCode::SUCCESS)
}

pub fn worker(parent: Option<u32>) -> Result<ExitCode> {
    outlive_signals()?;
    if let Some(parent) = parent {
        fsarena_process::child::death_signal(parent).context("death signal")?;
    }
    let input = std::io::BufReader::new(std::io::stdin());
    fsarena_worker::worker_main(input, std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}
