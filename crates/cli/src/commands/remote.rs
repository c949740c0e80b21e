//! Options that name other hosts and the way to them, of `run --hosts` and of `fleet run`, and what
//! `run --rendezvous` and `rank` have in common.

use crate::context::Usage;
use anyhow::Result;
use fsarena_executor::worker::SECRET_VARIABLE;
use fsarena_hosts::{HostList, Secret, Ssh};
use fsarena_model::units::Nanos;
use fsarena_process::cmd;
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

/// The ssh of `--ssh` by its whole path: a name without one is looked for as other programs are,
/// once. Whether root may run what was written with its path is asked by who calls this.
///
/// # Errors
/// When it is no command, or not there.
pub(super) fn ssh(text: &str) -> Result<Ssh> {
    let ssh = Ssh::parse(text).map_err(|error| Usage(format!("--ssh: {error}")))?;
    let program = ssh.program();
    let path = if program.contains('/') {
        std::path::absolute(program)?
    } else if let Some(found) = cmd::find(program) {
        found.path
    } else {
        let why = cmd::why_missing(program);
        refuse!("--ssh {program}: {why}; name an ssh with its path, or install openssh-client");
    };
    let Some(path) = path.to_str() else {
        refuse!("--ssh {program}: {} is no text; name an ssh with another path", path.display());
    };
    let path = path.to_owned();
    Ok(ssh.at(path))
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
