//! This task in release: its figures are for optimised code.

use anyhow::{Context as _, Result, ensure};

/// Builds this task in release and runs that.
pub(super) fn run_again() -> Result<()> {
    let status = crate::program::cargo()
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "overhead"])
        .args(std::env::args_os().skip(2))
        .status()
        .context("cargo run --release --package xtask")?;
    ensure!(status.success(), "overhead in release: {status}");
    Ok(())
}
