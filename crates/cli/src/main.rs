//! fsarena: the command line. This file is the table of contents of the program.
//!
//! Data goes to standard output, talk to standard error; nothing below this crate prints.
#![forbid(unsafe_code)]
#![expect(clippy::print_stderr, reason = "printing is this crate's work")]

mod args;
mod commands;
mod context;
mod progress;

use args::{Cli, Command};
use clap::Parser as _;
use std::process::ExitCode;

/// Exit codes (DESIGN §7), and that of the shell for Ctrl-C.
mod exit {
    /// Something failed.
    pub const FAILED: u8 = 1;
    /// The command line or an experiment file is wrong.
    pub const USAGE: u8 = 2;
    /// A comparison with `--fail-on slower` found a slower one.
    pub const SLOWER: u8 = 3;
    /// `--require-decision` was given, and something is undecided.
    pub const UNDECIDED: u8 = 4;
    /// A cold phase was asked for and not proved.
    pub const INVALID: u8 = 5;
    /// Stopped by the user.
    pub const INTERRUPTED: u8 = 130;
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => commands::run::run(&args, cli.db.as_deref()),
        Command::Devices(args) => commands::devices::run(&args),
        Command::List(args) => commands::list::run(&args, cli.db.as_deref()),
        Command::Show(args) => commands::show::run(&args, cli.db.as_deref()),
        Command::Study(args) => commands::study::run(&args, cli.db.as_deref()),
        Command::Compare(args) => commands::compare::run(&args, cli.db.as_deref()),
        Command::Merge(args) => commands::merge::run(&args, cli.db.as_deref()),
        Command::Dataset(args) => commands::dataset::run(&args),
        Command::Experiments(args) => commands::experiments::run(&args),
        Command::Reference(args) => commands::reference::run(&args, cli.db.as_deref()),
        Command::Selftest(args) => commands::selftest::run(&args, cli.db.as_deref()),
        Command::Completions { shell } => commands::describe::completions(shell),
        Command::Man { dir } => commands::describe::man(dir.as_deref()),
        Command::Executor { journal, parent, inside } => {
            commands::inner::executor(journal.as_deref(), parent, inside)
        }
        Command::Worker { parent } => commands::inner::worker(parent),
    };
    done.unwrap_or_else(|error| {
        if context::is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        eprintln!("fsarena: {error:#}");
        let usage = error.is::<context::Usage>() || error.is::<fsarena_plan::PlanError>();
        ExitCode::from(if usage { exit::USAGE } else { exit::FAILED })
    })
}
