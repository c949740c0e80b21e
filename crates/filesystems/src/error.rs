//! Why a level cannot be had, or a file system not be made or read back.

use fsarena_process::cmd::CmdError;

/// A level that cannot be had: the rule and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fs}: {rule}; {remedy}")]
pub struct IllegalLevel {
    /// Name of the file system.
    pub fs: String,
    /// The rule that is broken.
    pub rule: String,
    /// What to do.
    pub remedy: String,
}

/// No driver has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown file system \"{name}\"{}; known: {}; others can be defined in an experiment file",
    nearest.as_ref().map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default(),
    known.join(", ")
)]
pub struct UnknownFs {
    pub name: String,
    /// All that are known.
    pub known: Vec<String>,
    /// The one that differs in a letter or two.
    pub nearest: Option<String>,
}

/// A file system could not be made or read back.
#[derive(Debug, thiserror::Error)]
pub enum FsError {
    /// A program is not there.
    #[error(
        "{program} is not installed{}",
        package.as_ref().map(|name| format!("; install the package {name}")).unwrap_or_default()
    )]
    MissingTool { program: String, package: Option<String> },
    /// A program failed.
    #[error(transparent)]
    Command(#[from] CmdError),
    /// What a program wrote was not understood.
    #[error("{tool}: output not understood: {problem}; is its version too new for this program?")]
    Malformed {
        tool: &'static str,
        /// What was missing or odd.
        problem: String,
    },
    /// A command of an external file system names something that is not filled in.
    #[error("command \"{command}\": {placeholder} has no value; known: {{dev}}, {{mnt}}, {{size}}")]
    Placeholder {
        command: String,
        /// The word in braces.
        placeholder: String,
    },
}
