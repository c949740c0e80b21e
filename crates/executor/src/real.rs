//! Real work: a source put in place, hooks run, jobs handed to the worker, trees compared.
//!
//! What lies where below the root is told by `fsarena_model::job`, and followed from phase to phase
//! in [`crate::holdings`].

use crate::cold::Need;
use crate::context::Trial;
use crate::error::StepError;
use crate::machine::errno_in;
use crate::trees::{StoredTree, file_bytes};
use fsarena_filesystems::ContentRule;
use fsarena_model::job::{DATA, Job, Origin, SourcePlace};
use fsarena_model::work::{Task, WorkerReport};
use std::path::PathBuf;

impl Trial<'_> {
    /// Puts the source below the root.
    pub(crate) fn stage(&mut self) -> Result<(), StepError> {
        let source = self.source()?.clone();
        let task = Task::Stage { source: source.clone(), from: self.spec.staged.clone() };
        self.run_task(task).map_err(|failed| self.explain_denied(failed))?;
        let archive_bytes = source.archive.and_then(|_| file_bytes(self.spec.staged.as_deref()?));
        if let (Origin::Own { path }, Some(was), Some(is)) =
            (&source.origin, source.contents.archive_bytes, archive_bytes)
            && was != is
        {
            return Err(StepError::Failed {
                error: format!("{} has changed: it was {was} B and is {is} B", path.display()),
                remedy: Some("leave your data as they are until the RUN has ended".to_owned()),
            });
        }
        self.contents.trees.put(&source, archive_bytes);
        self.contents.stored_bytes = self.contents.trees.stored_bytes();
        Ok(())
    }

    /// The user's own data that the user of the work may not read.
    fn explain_denied(&self, failed: StepError) -> StepError {
        let denied = rustix::io::Errno::ACCESS.raw_os_error();
        match (failed, self.spec.user) {
            (StepError::Failed { error, .. }, Some(user)) if errno_in(&error) == Some(denied) => {
                let remedy = format!(
                    "let the user of the work, {}:{}, read the data, or leave --user out",
                    user.uid, user.gid
                );
                StepError::Failed { error, remedy: Some(remedy) }
            }
            (failed, _) => failed,
        }
    }

    /// Runs a command of the user's next to a phase. What it writes belongs to no phase.
    pub(crate) fn hook(&mut self, command: &str) -> Result<(), StepError> {
        self.end_accounts("a hook")?;
        let data = self.data_path(self.source()?);
        self.run_task(Task::Hook { command: command.to_owned(), data }).map_err(|failed| {
            match failed {
                StepError::Failed { error, remedy } => {
                    StepError::Failed { error: format!("{error}, in {command:?}"), remedy }
                }
                other => other,
            }
        })
    }

    /// What a program left behind did not come to its end, and part of the work may be missing.
    pub(crate) fn note_ended_processes(&mut self, report: &WorkerReport) {
        let Some(program) = &report.program else { return };
        let Some(count) = program.figures.get("ended_in_background") else { return };
        let text = format!(
            "{} left processes at work in the background; they were ended: {count}; `durable` holds \
             the write-back of what they had written",
            program.name
        );
        let remedy = "let the command wait for them, or end them itself".to_owned();
        self.notice("ended-in-background", text, Some(remedy));
    }

    /// Compares every tree that was copied or unpacked with what it came from.
    pub(crate) fn compare(&mut self) -> Result<(), StepError> {
        let source = self.source()?.clone();
        let original = |name: &str| match self.contents.trees.find(name) {
            Some(held) if name != DATA => Some(PathBuf::from(&held.path)),
            _ => (name == DATA).then(|| self.data_path(&source)),
        };
        let pair = |held: &StoredTree| {
            Some((PathBuf::from(&held.path), original(held.original.as_deref()?)?))
        };
        let pairs: Vec<(PathBuf, PathBuf)> =
            self.contents.trees.below().iter().filter_map(pair).collect();
        if pairs.is_empty() {
            return Ok(());
        }
        self.check(Task::Compare { pairs, source })
    }

    /// What a phase with a job has to read from the device; `ops` are those that it did.
    pub(crate) fn job_need(&self, job: &Job, rule: &ContentRule, ops: u64) -> Need {
        let place = self.spec.workload.source.as_ref().map(|source| source.place);
        if job.of == DATA && place != Some(SourcePlace::Same) {
            return Need::Nothing;
        }
        let reflink = self.spec.contender.levels.reflink;
        let input = self.contents.trees.find(&job.of);
        input.map_or(Need::Nothing, |input| input.need(&job.kind, (rule, reflink), ops))
    }
}
