//! The program that users get, built as this task is: what tasks start and look at.

use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;
use std::process::Command;

/// The cargo that runs this task.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Builds the program of users as this one is, and returns its path.
///
/// # Errors
/// When it cannot be built.
pub(crate) fn build() -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["build", "--quiet", "--package", "fsarena-cli"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let status = command.status().context("cargo build")?;
    ensure!(status.success(), "cargo build: {status}");
    Ok(std::env::current_exe()?.with_file_name("fsarena"))
}
