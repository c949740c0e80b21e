//! The place of a trial: a process of its own, as root with its own mounts and processes.
//!
//! ```text
//! fsarena run ── executor (outside: makes the namespaces, waits) ── executor --inside ── worker
//! ```
//! The inner process is the first of its process namespace: when it ends, the kernel ends all that
//! it started (also a FUSE daemon), and with the last of them the mounts go. Each process dies with
//! its parent. That is what keeps `kill -9` from leaving anything but files.

use crate::stop::Stop;
use crate::{ExecutorSays, parse_spec, run_trial};
use fsarena_targets::namespace;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;

/// Why the executor could not begin.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A namespace could not be made or entered.
    #[error("{what}: {source}; run as root, or use a directory as the target")]
    Namespace {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The inner process could not be started.
    #[error("{program}: cannot be started: {source}")]
    Start {
        /// The binary.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// Standard input or output failed.
    #[error("the executor's standard input or output: {0}")]
    Talk(#[from] io::Error),
}

fn in_place(what: &'static str) -> impl Fn(io::Error) -> PlaceError {
    move |source| PlaceError::Namespace { what, source }
}

/// The outer process: makes the namespaces as root and runs `program executor --inside` in them.
///
/// `parent` is the process that must be alive for this one to go on. Where root may not make
/// namespaces (a container), the answer is `None` and nothing has been started.
///
/// # Errors
/// When the inner process cannot be started.
pub fn executor_outside(
    program: &Path,
    parent: Option<u32>,
) -> Result<Option<ExitStatus>, PlaceError> {
    if let Some(parent) = parent {
        namespace::death_signal(parent).map_err(in_place("death signal"))?;
    }
    let made = namespace::enter_private_mounts()
        .map_err(in_place("mount namespace"))
        .and_then(|()| namespace::unshare_pids().map_err(in_place("process namespace")));
    match made {
        Err(PlaceError::Namespace { source, .. })
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            return Ok(None);
        }
        made => made?,
    }
    let start = |source| PlaceError::Start { program: program.display().to_string(), source };
    let mut inner = Command::new(program).args(["executor", "--inside"]).spawn().map_err(start)?;
    Ok(Some(inner.wait()?))
}

/// The inner process: one spec in, one record out.
///
/// `parent` as for [`executor_outside`]; 0 where the parent is in another process namespace.
///
/// # Errors
/// When standard input or output fails, or the process cannot be prepared.
pub fn executor_inside(
    program: &Path,
    parent: Option<u32>,
    own_namespace: bool,
) -> Result<(), PlaceError> {
    if own_namespace {
        namespace::death_signal(0).map_err(in_place("death signal"))?;
        namespace::mount_proc().map_err(in_place("mount of /proc"))?;
    } else if let Some(parent) = parent {
        namespace::death_signal(parent).map_err(in_place("death signal"))?;
    }
    let mut input = BufReader::new(io::stdin());
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut output = io::stdout();
    let mut say = |says: &ExecutorSays| {
        let text = serde_json::to_string(says).expect("what it says is plain data");
        // A parent that is gone ends this process by other means.
        let _ = writeln!(output, "{text}").and_then(|()| output.flush());
    };
    let spec = match parse_spec(&line) {
        Ok(spec) => spec,
        Err(reason) => {
            say(&ExecutorSays::Refused(reason));
            return Ok(());
        }
    };
    let stop = Arc::new(Stop::default());
    let listener = Arc::clone(&stop);
    // Not joined: it ends with the process, when the parent closes the pipe or not.
    std::thread::spawn(move || listener.listen(input));
    let record = run_trial(&spec, program, &stop, &mut say);
    say(&ExecutorSays::Record(Box::new(record)));
    Ok(())
}
