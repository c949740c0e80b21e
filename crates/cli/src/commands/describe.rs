//! `fsarena completions` and `fsarena man`: generated from the one definition in `args`.

use crate::args::Cli;
use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fsarena", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, or writes one for each subcommand into `dir`.
pub fn man(dir: Option<&Path>) -> Result<ExitCode> {
    match dir {
        None => clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?,
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| format!("{}", dir.display()))?;
            clap_mangen::generate_to(Cli::command(), dir)
                .with_context(|| format!("{}", dir.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
