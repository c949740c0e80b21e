//! Programs of a trial that have to be of one width: those of the other are laid over `/usr` in the
//! mounts of the trial, and each program that is started while work is done is looked at.
//!
//! The worker is this program itself, and none of the trial: the executor listens from when it is
//! ready, and not while it makes and mounts file systems.

use crate::error::StepError;
use fsarena_model::spec::TrialPrograms;
use fsarena_model::work::{OpError, WorkerReport};
use fsarena_process::child::lay_over_usr;
use fsarena_process::exec_events::{ExecEvents, StartedProgram, StartedPrograms};
use std::io;

/// Listens while a worker lives; does nothing where no width was asked for.
#[derive(Debug)]
pub(crate) struct WidthProof(Option<(u32, ExecEvents)>);

/// Lays the programs of a trial over `/usr`. It stays so until the mounts of this trial are gone.
///
/// # Errors
/// Why they cannot be had here, in one sentence.
pub(crate) fn lay_over(programs: Option<&TrialPrograms>) -> Result<(), String> {
    let Some(TrialPrograms { usr: Some(usr), .. }) = programs else { return Ok(()) };
    lay_over_usr(usr)
        .map_err(|error| format!("{} cannot be laid over /usr (overlayfs): {error}", usr.display()))
}

fn not_proved(error: io::Error) -> StepError {
    StepError::NotRun {
        reason: format!("the width of programs cannot be proved (fanotify): {error}"),
    }
}

impl WidthProof {
    /// Listens from now on to what is started; the worker is ready.
    pub(crate) fn listen(programs: Option<&TrialPrograms>) -> Result<Self, StepError> {
        let Some(programs) = programs else { return Ok(Self(None)) };
        let events = ExecEvents::listen().map_err(not_proved)?;
        Ok(Self(Some((programs.elf_bits, events))))
    }

    /// A program of the other width fails what was done; how many files were started goes into the
    /// report of a phase that a program did.
    pub(crate) fn end_phase(self, phase: &str, report: &mut WorkerReport) -> Result<(), StepError> {
        let Some((bits, started)) = self.started()? else { return Ok(()) };
        if let Some(program) = &mut report.program {
            program.figures.insert(format!("elf_{bits}_files_started"), started.opened.to_string());
        }
        if let Some(text) = other_width(bits, &started) {
            report.error.get_or_insert_with(|| OpError {
                op_index: report.ops,
                thread: None,
                call: "execve".to_owned(),
                path: ".".to_owned(),
                errno: 0,
                text: format!("phase {phase}: {text}"),
            });
        }
        Ok(())
    }

    /// The same of a task that has no report.
    pub(crate) fn end_task(self) -> Result<(), StepError> {
        let Some((bits, started)) = self.started()? else { return Ok(()) };
        other_width(bits, &started).map_or(Ok(()), |text| Err(StepError::new(text)))
    }

    fn started(self) -> Result<Option<(u32, StartedPrograms)>, StepError> {
        let Some((bits, events)) = self.0 else { return Ok(None) };
        Ok(Some((bits, events.end().map_err(not_proved)?)))
    }
}

/// What is wrong with the programs that were started.
fn other_width(bits: u32, started: &StartedPrograms) -> Option<String> {
    let is_other = |one: &&StartedProgram| one.elf_bits.is_some_and(|found| found != bits);
    // A loader is opened with its program, which says more.
    let is_loader = |one: &&StartedProgram| {
        one.path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ld-"))
    };
    let other = started.files.iter().filter(is_other).min_by_key(is_loader)?;
    Some(format!(
        "{} was started, which has {} bits; the programs of this contender have {bits}",
        other.path.display(),
        other.elf_bits.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_other_width_is_named() {
        let started = |files: &[(&str, Option<u32>)]| {
            let file = |(path, elf_bits): &(&str, Option<u32>)| StartedProgram {
                path: path.into(),
                elf_bits: *elf_bits,
            };
            let mut started = StartedPrograms::default();
            started.files = files.iter().map(file).collect();
            started
        };
        let fine = started(&[("/usr/bin/tar", Some(32)), ("/usr/bin/zcat", None)]);
        assert_eq!(other_width(32, &fine), None);
        let helper = started(&[
            ("/lib/ld-linux.so.2", Some(64)),
            ("/usr/bin/tar", Some(32)),
            ("/usr/local/bin/gzip", Some(64)),
        ]);
        assert_eq!(
            other_width(32, &helper).unwrap(),
            "/usr/local/bin/gzip was started, which has 64 bits; the programs of this contender \
             have 32"
        );
        assert!(other_width(64, &fine).unwrap().starts_with("/usr/bin/tar was started"));
    }
}
