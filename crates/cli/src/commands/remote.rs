//! Options that name other hosts and the way to them, of `run --hosts` and of `fleet run`, and what
//! `run --rendezvous` and `rank` have in common.

use crate::context::Usage;
use anyhow::Result;
use fsarena_executor::worker::SECRET_VARIABLE;
use fsarena_hosts::{HostList, Secret, Ssh, TrustedSsh};
use fsarena_model::units::Nanos;
use fsarena_process::cmd;
use fsarena_process::program::{ProgramError, TrustedProgram};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names a file with the secret of a runner and its ranks.
const SECRET_FILE: &str = "FSARENA_SECRET_FILE";

/// The hosts of `--hosts`. Read once: the file may be a pipe.
///
/// # Errors
/// When it is no list of hosts.
pub(super) fn hosts(named: &str) -> Result<HostList> {
    Ok(HostList::from_option("--hosts", named).map_err(|error| Usage(error.to_string()))?)
}

/// The ssh of `--ssh`. A name without a path is looked for as other programs are, once; what
/// is written with its path is shown to `check` before.
///
/// # Errors
/// When it is no command, not there, or one that root does not run.
pub(super) fn find_ssh(text: &str, check: impl Fn(&Path) -> Result<()>) -> Result<TrustedSsh> {
    let words = Ssh::parse(text).map_err(|error| Usage(format!("--ssh: {error}")))?;
    let name = words.program();
    let program = if name.contains('/') {
        check(Path::new(name))?;
        TrustedProgram::at(Path::new(name)).map_err(|error| match error {
            ProgramError::Missing { .. } => {
                Usage(format!("--ssh: {error}; name an ssh that is there"))
            }
            ProgramError::Untrusted(untrusted) => Usage(format!("--ssh: {untrusted}")),
        })?
    } else if let Some(found) = cmd::find(name) {
        found
    } else {
        let why = cmd::why_missing(name);
        refuse!("--ssh {name}: {why}; name an ssh with its path, or install openssh-client");
    };
    let path = program.path().display().to_string();
    TrustedSsh::new(program, words.clone()).ok_or_else(|| {
        Usage(format!("--ssh {name}: {path} is no text; name an ssh with another path")).into()
    })
}

/// Refuses what cannot be a program on another host.
///
/// # Errors
/// When it is empty, an option or several lines.
pub(super) fn check_program(program: &str) -> Result<()> {
    if program.is_empty() || program.starts_with('-') || program.contains('\n') {
        refuse!("--remote-program {program:?}: expected a name or a path of a program");
    }
    Ok(())
}

/// The secret that a runner and its ranks share.
pub(super) struct FoundSecret {
    pub(super) secret: Secret,
    /// The file that it is in.
    pub(super) file: Option<PathBuf>,
}

/// The secret of `--secret-file`, else of the file that the environment names, else of the
/// environment; never of the command line.
///
/// # Errors
/// When it is none, or others may read its file.
pub(super) fn secret(option: Option<&Path>) -> Result<Option<FoundSecret>> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let file = option.map(Path::to_owned).or_else(|| set(SECRET_FILE).map(PathBuf::from));
    if let Some(file) = file {
        let from = if option.is_some() { "--secret-file" } else { SECRET_FILE };
        let file = std::path::absolute(file)?;
        let read = Secret::from_file(&file);
        let secret = read.map_err(|error| Usage(format!("{from} {error}")))?;
        return Ok(Some(FoundSecret { secret, file: Some(file) }));
    }
    let Some(text) = set(SECRET_VARIABLE) else { return Ok(None) };
    let secret = Secret::from_text(SECRET_VARIABLE, &text.to_string_lossy());
    let secret = secret.map_err(|error| Usage(error.to_string()))?;
    Ok(Some(FoundSecret { secret, file: None }))
}

/// A time that an option names.
///
/// # Errors
/// When it is none.
pub(super) fn time_limit(option: &str, text: &str) -> Result<Duration> {
    let limit: Nanos = text.parse().map_err(|error| Usage(format!("{option} {text}: {error}")))?;
    Ok(Duration::from_nanos(limit.0))
}
