//! Debian packages, installed where the user asked for it.

use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_process::cmd::{self, Conditions};
use fsarena_process::limits::Limits;
use fsarena_process::program::TrustedProgram;
use std::time::Duration;

/// The mirrors of Debian are slow at times, and a kernel's source is 140 MB.
const LIMIT: Duration = Duration::from_secs(1800);

/// Debian's apt-get, which only root may use.
pub fn installer() -> Result<TrustedProgram> {
    if !context::is_root() {
        refuse!("--install-tools needs root");
    }
    let found = cmd::find("apt-get");
    Ok(found.ok_or_else(|| Usage("--install-tools needs Debian's apt-get".to_owned()))?)
}

/// Installs these packages.
pub fn packages(packages: &[String]) -> Result<()> {
    let tool = installer()?;
    say!("installing {}", packages.join(", "));
    // A package may start a service, which would inherit limits.
    let conditions = Conditions { limits: Limits::NONE, ..Conditions::within(LIMIT) };
    cmd::run_with(&tool, &["update", "-q"], &conditions)?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends", "--"];
    arguments.extend(packages.iter().map(String::as_str));
    cmd::run_with(&tool, &arguments, &conditions)?;
    Ok(())
}
