//! `sh -c`: commands of the user's, timed or as hooks, with `{mnt}` and `{data}` filled in.

use super::super::end::{Complaints, children, end_orphans};
use super::super::find::{Found, find, usual_dirs};
use super::runs::Runs;
use super::{Amounts, Args, Starts, Work, absolute};
use crate::Root;
use crate::program::ProgramError;
use crate::reach::closed_way;
use fsarena_model::braces::{OF_COMMANDS, fill, quoted};
use fsarena_model::job::package_of;
use fsarena_model::work::{JobTask, OpError};
use rustix::fd::IntoRawFd as _;
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A command as written.
#[derive(Debug)]
pub(super) struct Shell(pub String);

impl Work for Shell {
    fn starts(&self, task: &JobTask, root: &Path) -> Result<Starts, ProgramError> {
        Ok(Starts::Once(vec!["-c".into(), filled(&self.0, root, &task.data)?]))
    }

    /// Nobody knows.
    fn amounts(&self, _: &JobTask, _: &Root, _: u64) -> io::Result<Amounts> {
        Ok(Amounts::default())
    }
}

/// `command` with the absolute paths of the root and of the source. Where the way to the root is
/// closed to the user who does the work, it leads over a descriptor of the root instead, which
/// everybody whom the shell starts inherits; the shell goes there first, so that its own path is an
/// open one.
fn filled(command: &str, root: &Path, data: &Path) -> Result<OsString, ProgramError> {
    let way = closed_way(root).and_then(|_| inherited());
    // Not a link but the directory itself, for those who do not follow one: find, rm, du.
    let by = way.as_ref().map_or(root.to_owned(), |way| way.join("."));
    let (mnt, data) = (quoted(by.as_os_str()), quoted(by.join(data).as_os_str()));
    let [mnt_word, data_word] = OF_COMMANDS;
    let text = fill(command, &[(mnt_word, &mnt), (data_word, &data)])
        .map_err(|source| ProgramError::Braces { command: command.to_owned(), source })?;
    let Some(way) = way else { return Ok(text) };
    let mut moved = OsString::from(format!("cd {} || exit\n", way.display()));
    moved.push(text);
    Ok(moved)
}

/// The working directory, which is the root, by a descriptor that stays open in programs: for the
/// rest of this process, which has no other task.
fn inherited() -> Option<PathBuf> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(".", flags, Mode::empty()).ok()?;
    // Far from those that a shell uses.
    let kept = rustix::io::fcntl_dupfd_cloexec(&root, 100).ok()?;
    rustix::io::fcntl_setfd(&kept, FdFlags::empty()).ok()?;
    Some(format!("/proc/self/fd/{}", kept.into_raw_fd()).into())
}

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
