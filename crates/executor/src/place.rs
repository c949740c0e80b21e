//! The place of a trial: a process of its own, as root with its own mounts and processes.
//!
//! ```text
//! fsarena run ── executor (outside: makes the namespaces, waits) ── executor --inside ── worker
//! ```
//! The inner process is the first of its process namespace: when it ends, the kernel ends all that
//! it started (also a FUSE daemon), and with the last of them the mounts go. Each process dies with
//! its parent. That is what keeps `kill -9` from leaving anything but files.

use crate::stop::Stop;
use crate::{ExecutorSays, blank_record, parse_spec, run_trial};
use fsarena_bounded::Bounded;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::spec::{TargetSpec, TrialSpec};
use fsarena_model::work::LINE_MOST_BYTES;
use fsarena_process::child;
use fsarena_process::command::ProgramCommand;
use fsarena_process::program::TrustedProgram;
use fsarena_process::trust;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::Arc;

const MOUNTS: &str = "mount namespace";

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
    Start { program: String, source: io::Error },
    /// Standard input or output failed.
    #[error("the executor's standard input or output: {0}")]
    Talk(#[from] io::Error),
}

/// Mounts and processes of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Namespaces {
    /// Its own: what it mounts and starts goes with it.
    Own,
    /// Those of its parent, where it may not make any: the kernel refuses it mounts too.
    NotAllowed,
    /// Those of its parent, because `/` is no mount point, as after a plain chroot(1), and mounts
    /// cannot be made private there. Mounts would be allowed and would stay, so none is made.
    NotPrivate,
}

/// What the outer process came to.
#[derive(Debug)]
pub enum Outside {
    /// The inner process has ended.
    Ended(ExitStatus),
    /// Nothing has been started: the trial has to be done with these.
    Without(Namespaces),
}

fn in_place(what: &'static str) -> impl Fn(io::Error) -> PlaceError {
    move |source| PlaceError::Namespace { what, source }
}

/// The outer process: makes the namespaces as root and runs `program executor --inside` in them.
///
/// `parent` is the process that must be alive for this one to go on. Where root may not make
/// namespaces (a container), or cannot make them private (a plain chroot), nothing has been
/// started.
///
/// # Errors
/// When the inner process cannot be started.
pub fn executor_outside(
    program: &TrustedProgram,
    parent: Option<u32>,
) -> Result<Outside, PlaceError> {
    if let Some(parent) = parent {
        child::death_signal(parent).map_err(in_place("death signal"))?;
    }
    match start_inside(program, &["executor", "--inside"]) {
        Ok(status) => Ok(Outside::Ended(status)),
        Err(error) => without(&error).map(Outside::Without).ok_or(error),
    }
}

/// Makes namespaces, runs this program with arguments as the first process in them, and waits for
/// its end.
pub(crate) fn start_inside(
    program: &TrustedProgram,
    arguments: &[&str],
) -> Result<ExitStatus, PlaceError> {
    Ok(spawn_inside(program, arguments)?.wait()?)
}

/// As [`start_inside`], and does not wait for its end.
pub(crate) fn spawn_inside(
    program: &TrustedProgram,
    arguments: &[&str],
) -> Result<Child, PlaceError> {
    child::enter_private_mounts().map_err(in_place(MOUNTS))?;
    child::unshare_pids().map_err(in_place("process namespace"))?;
    let start =
        |source| PlaceError::Start { program: program.path().display().to_string(), source };
    ProgramCommand::new(program).args(arguments).spawn().map_err(start)
}

/// As [`start_inside`]; nothing has been started where such namespaces are not to be had.
pub(crate) fn in_own_namespaces(
    program: &TrustedProgram,
    arguments: &[&str],
) -> Result<Option<ExitStatus>, PlaceError> {
    match start_inside(program, arguments) {
        Ok(status) => Ok(Some(status)),
        Err(error) => without(&error).map(|_| None).ok_or(error),
    }
}

/// Of the first process in them: it dies with who has started it. `/proc` stays that of outside.
pub(crate) fn end_with_outside() -> Result<(), PlaceError> {
    child::death_signal(0).map_err(in_place("death signal"))
}

/// Of the first process in them: it dies with who has started it, and sees its own processes.
pub(crate) fn enter_own_processes() -> Result<(), PlaceError> {
    end_with_outside()?;
    child::mount_proc().map_err(in_place("mount of /proc"))
}

/// What a trial has where its own namespaces could not be made; nothing where that is no reason to
/// go on.
fn without(error: &PlaceError) -> Option<Namespaces> {
    let PlaceError::Namespace { what, source } = error else { return None };
    match source.kind() {
        io::ErrorKind::PermissionDenied => Some(Namespaces::NotAllowed),
        // mount(2): the propagation of what is no mount point cannot be changed.
        io::ErrorKind::InvalidInput if *what == MOUNTS => Some(Namespaces::NotPrivate),
        _ => None,
    }
}

/// Whether a trial would mount what nobody takes away where it is killed.
fn mounts_would_stay(namespaces: Namespaces, target: &TargetSpec) -> bool {
    namespaces == Namespaces::NotPrivate && !matches!(target, TargetSpec::Directory { .. })
}

/// The record of such a trial, which is not begun.
fn refused(spec: &TrialSpec) -> TrialRecord {
    let error = "/ is no mount point (a plain chroot?), so that mounts cannot be kept private";
    let remedy = "outside of the chroot, mount its root on itself (mount --bind ROOT ROOT) and \
                  enter it again; or use a directory as the target";
    let outcome = Outcome::Failed {
        step: "executor".to_owned(),
        error: error.to_owned(),
        remedy: Some(remedy.to_owned()),
    };
    TrialRecord { outcome, ..blank_record(spec) }
}

/// The inner process: one spec in, one record out.
///
/// `parent` as for [`executor_outside`]; 0 where the parent is in another process namespace.
///
/// # Errors
/// When standard input or output fails, or the process cannot be prepared.
pub fn executor_inside(
    program: &TrustedProgram,
    parent: Option<u32>,
    namespaces: Namespaces,
) -> Result<(), PlaceError> {
    // Here kernel threads are to be seen, in a process namespace of our own they are not.
    let host_proc = File::open("/proc").ok();
    if namespaces == Namespaces::Own {
        enter_own_processes()?;
    } else if let Some(parent) = parent {
        child::death_signal(parent).map_err(in_place("death signal"))?;
    }
    let mut input = Bounded::new(BufReader::new(io::stdin()), LINE_MOST_BYTES);
    let line = input.next_text_line()?.unwrap_or_default();
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
    trust::accept(&spec.trust);
    if mounts_would_stay(namespaces, &spec.target) {
        say(&ExecutorSays::Record(Box::new(refused(&spec))));
        return Ok(());
    }
    if namespaces != Namespaces::Own && spec.programs.is_some() {
        let reason = "programs of one width need mounts of their own, which root has".to_owned();
        let outcome = Outcome::NotRun { reason };
        say(&ExecutorSays::Record(Box::new(TrialRecord { outcome, ..blank_record(&spec) })));
        return Ok(());
    }
    let stop = Arc::new(Stop::default());
    let listener = Arc::clone(&stop);
    // Not joined: it ends with the process, when the parent closes the pipe or not.
    std::thread::spawn(move || listener.listen(input));
    let host_proc = host_proc.as_ref().map(|proc| format!("/proc/self/fd/{}", proc.as_raw_fd()));
    let host_proc = host_proc.unwrap_or_else(|| "/proc".to_owned());
    let record = run_trial(&spec, (program, Path::new(&host_proc)), &stop, &mut say);
    say(&ExecutorSays::Record(Box::new(record)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    fn missing_namespaces(what: &'static str, errno: Errno) -> Option<Namespaces> {
        without(&in_place(what)(errno.into()))
    }

    #[test]
    fn what_is_left_without_namespaces_of_its_own() {
        assert_eq!(missing_namespaces(MOUNTS, Errno::PERM), Some(Namespaces::NotAllowed));
        assert_eq!(
            missing_namespaces("process namespace", Errno::PERM),
            Some(Namespaces::NotAllowed)
        );
        assert_eq!(
            missing_namespaces(MOUNTS, Errno::INVAL),
            Some(Namespaces::NotPrivate),
            "a plain chroot"
        );
        assert_eq!(
            missing_namespaces("process namespace", Errno::INVAL),
            None,
            "a kernel without them"
        );
        assert_eq!(missing_namespaces(MOUNTS, Errno::NOSPC), None, "too many of them");
        assert_eq!(without(&PlaceError::Talk(Errno::PERM.into())), None);
    }

    #[test]
    fn only_directories_are_worked_in_where_mounts_would_stay() {
        let directory = TargetSpec::Directory { path: "/d".into() };
        let memory = TargetSpec::Memory { size_bytes: 1 };
        assert!(mounts_would_stay(Namespaces::NotPrivate, &memory));
        assert!(!mounts_would_stay(Namespaces::NotPrivate, &directory));
        for namespaces in [Namespaces::Own, Namespaces::NotAllowed] {
            assert!(!mounts_would_stay(namespaces, &memory), "{namespaces:?}");
        }
    }
}
