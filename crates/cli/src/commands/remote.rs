//! Options that name other hosts and the way to them, of `run --hosts` and of `fleet run`.

use crate::context::Usage;
use anyhow::Result;
use fsarena_hosts::{HostList, Ssh};
use fsarena_process::cmd;

/// The hosts of `--hosts`. Read once: the file may be a pipe.
///
/// # Errors
/// When it is no list of hosts.
pub(super) fn hosts(named: &str) -> Result<HostList> {
    Ok(HostList::from_option("--hosts", named).map_err(|error| Usage(error.to_string()))?)
}

/// The ssh of `--ssh`, which is there: a name without a path is looked for as other programs are.
///
/// # Errors
/// When it is no command, or not there.
pub(super) fn ssh(text: &str) -> Result<Ssh> {
    let ssh = Ssh::parse(text).map_err(|error| Usage(format!("--ssh: {error}")))?;
    let program = ssh.program();
    if !program.contains('/') && cmd::find(program).is_none() {
        let why = cmd::why_missing(program);
        refuse!("--ssh {program}: {why}; name an ssh with its path, or install openssh-client");
    }
    Ok(ssh)
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
