//! A trusted program with its arguments, its environment and its streams, ready to be started.
//!
//! It is what other crates have in place of [`std::process::Command`], which takes any name. What
//! it starts has no directory in its `PATH` in which root would not run a program.

use crate::program::TrustedProgram;
use crate::search::SearchPath;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What programs are looked for in.
const PATH: &str = "PATH";

/// See the module.
#[derive(Debug)]
pub struct ProgramCommand {
    command: Command,
    /// Whether `PATH` comes from this process and is still to be freed of others' directories.
    has_own_path: bool,
}

impl ProgramCommand {
    /// With the environment of this process. This program itself keeps its `PATH`: it vets what it
    /// finds there.
    #[must_use]
    pub fn new(program: &TrustedProgram) -> Self {
        let mut command = Command::new(program.path());
        command.args(program.words());
        Self { command, has_own_path: !program.is_own() }
    }

    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg(arg);
        self
    }

    pub fn args<S: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = S>) -> &mut Self {
        self.command.args(args);
        self
    }

    /// The name by which it sees itself.
    pub fn arg0(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg0(name);
        self
    }

    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.has_own_path &= name.as_ref() != PATH;
        self.command.env(name, value);
        self
    }

    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        &mut self,
        all: impl IntoIterator<Item = (N, V)>,
    ) -> &mut Self {
        for (name, value) in all {
            self.env(name, value);
        }
        self
    }

    pub fn env_clear(&mut self) -> &mut Self {
        self.has_own_path = false;
        self.command.env_clear();
        self
    }

    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.command.env_remove(name);
        self
    }

    pub fn stdin(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.command.stdin(stream);
        self
    }

    pub fn stdout(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.command.stdout(stream);
        self
    }

    pub fn stderr(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.command.stderr(stream);
        self
    }

    pub fn current_dir(&mut self, dir: impl AsRef<Path>) -> &mut Self {
        self.command.current_dir(dir);
        self
    }

    /// In a process group of its own, which signals of a terminal do not reach.
    pub fn own_group(&mut self) -> &mut Self {
        self.command.process_group(0);
        self
    }

    /// Has the child do this between fork and exec.
    ///
    /// # Safety
    /// It may only make system calls: no memory, no lock.
    pub(crate) unsafe fn before_exec(
        &mut self,
        step: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    ) {
        // SAFETY: the caller's.
        unsafe { self.command.pre_exec(step) };
    }

    /// Where the program is.
    #[must_use]
    pub fn program(&self) -> &Path {
        Path::new(self.command.get_program())
    }

    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(&mut self) -> io::Result<Child> {
        if std::mem::take(&mut self.has_own_path) {
            self.command.env(PATH, SearchPath::from_env().joined());
        }
        self.command.spawn()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(command: &mut ProgramCommand) -> String {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let text = io::read_to_string(child.stdout.take().unwrap()).unwrap();
        assert!(child.wait().unwrap().success());
        text
    }

    #[test]
    fn what_is_started_finds_only_what_root_would_run() {
        let echo = TrustedProgram::confirmed("echo \"$PATH\"");
        let safe = SearchPath::from_env().joined().into_string().unwrap();
        assert_eq!(printed(&mut ProgramCommand::new(&echo)), format!("{safe}\n"));
        let mut given = ProgramCommand::new(&echo);
        assert_eq!(printed(given.env(PATH, "/x")), "/x\n");
        let mut cleared = ProgramCommand::new(&TrustedProgram::confirmed("env"));
        let text = printed(cleared.env_clear().envs([("A", "b c"), ("PATH", "/bin:/usr/bin")]));
        assert!(text.contains("A=b c\n") && !text.contains("HOME"), "{text}");
    }
}
