//! Hooks: commands of the user's that are not timed, with `{mnt}` and `{data}` filled in.

use super::super::end::{Complaints, children, end_orphans};
use super::super::find::{Found, find, usual_dirs};
use super::kinds::{Args, absolute, filled};
use super::runs::Runs;
use crate::program::ProgramError;
use fsarena_engine::Root;
use fsarena_model::job::package_of;
use fsarena_model::work::OpError;
use rustix::process::Signal;
use std::path::Path;

/// A hook of a command, ready to run; nobody times it.
#[derive(Debug)]
pub struct HookRun {
    shell: Found,
    args: Args,
    complaints: Complaints,
}

impl HookRun {
    /// Fills `command` in; `data` is the source, relative to `root` or absolute. Touches nothing
    /// below the root.
    ///
    /// # Errors
    /// When a word in braces has no meaning, or there is no shell.
    pub fn prepare(command: &str, data: &Path, root: &Path) -> Result<Self, ProgramError> {
        let args = vec!["-c".into(), filled(command, &absolute(root)?, data)?];
        let shell = find("sh", &usual_dirs(), package_of("sh"))?;
        let run = |source| ProgramError::Run { program: shell.path.clone(), source };
        let complaints = Complaints::new().map_err(run)?;
        Ok(Self { shell, args, complaints })
    }

    /// Runs it with `root` as its working directory, and ends what it leaves in the background.
    ///
    /// # Errors
    /// When it fails: its exit code or signal, and its last complaints.
    pub fn run(mut self, root: &Root) -> Result<(), OpError> {
        let before = children();
        let mut runs = Runs::new(&self.shell, root, Signal::KILL, &mut self.complaints);
        let outcome = runs.once(&self.args);
        end_orphans(|pid| !before.contains(&pid));
        outcome.map_err(|failure| failure.report("hook", "sh", 0, &mut self.complaints))
    }
}
