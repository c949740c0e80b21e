//! Programs in release: this one, whose figures are for optimised code, and that of users.

use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;
use std::process::Command;

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Builds this task in release and runs that.
pub(super) fn run_again() -> Result<()> {
    let status = cargo()
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "overhead"])
        .args(std::env::args_os().skip(2))
        .status()
        .context("cargo run --release --package xtask")?;
    ensure!(status.success(), "overhead in release: {status}");
    Ok(())
}

/// Builds the program of users as this one is, and returns its path.
pub(super) fn program() -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["build", "--quiet", "--package", "fsarena-cli"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let status = command.status().context("cargo build")?;
    ensure!(status.success(), "cargo build: {status}");
    Ok(std::env::current_exe()?.with_file_name("fsarena"))
}
