//! The ssh that may be started.

use crate::{Host, Ssh};
use fsarena_process::program::TrustedProgram;

/// The ssh to hosts: its program, which may be started, and the user's options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrustedSsh {
    program: TrustedProgram,
    words: Ssh,
}

impl TrustedSsh {
    /// With the options of `words`; `None` where the path of the program is no text.
    #[must_use]
    pub fn new(program: TrustedProgram, words: Ssh) -> Option<Self> {
        let path = program.path().to_str()?.to_owned();
        Some(Self { program, words: words.at(path) })
    }

    /// What is started.
    #[must_use]
    pub const fn program(&self) -> &TrustedProgram {
        &self.program
    }

    /// Program and arguments that do `words` on `host`.
    pub fn command_line<W: AsRef<str>>(&self, host: &Host, words: &[W]) -> Vec<String> {
        self.words.command_line(host, words)
    }

    /// The arguments alone.
    pub fn arguments<W: AsRef<str>>(&self, host: &Host, words: &[W]) -> Vec<String> {
        self.command_line(host, words).split_off(1)
    }
}
