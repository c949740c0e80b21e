//! fsarena: the command line. This file is the table of contents of the program.
//!
//! Data goes to standard output, talk to standard error; nothing below this crate prints.
#![forbid(unsafe_code)]

/// Writes a line of talk to standard error, as `eprintln!` does, but never ends the program where
/// nobody reads it any more.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::context::say(&format!($($words)*))
    };
}

mod args;
mod commands;
mod context;
mod progress;

use args::{Cli, Command};
use clap::{CommandFactory as _, Parser as _};
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
    if std::env::args_os().len() < 2 {
        // Not left to clap, which takes FSARENA_DB in the environment for an argument.
        say!("{}", Cli::command().render_help());
        return ExitCode::from(exit::USAGE);
    }
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => commands::run::run(&args, cli.db.as_deref()),
        Command::Devices(args) => commands::devices::run(&args),
        Command::List(args) => commands::list::run(&args, cli.db.as_deref()),
        Command::Show(args) => commands::show::run(&args, cli.db.as_deref()),
        Command::Study(args) => commands::study::run(&args, cli.db.as_deref()),
        Command::Compare(args) => commands::compare::run(&args, cli.db.as_deref()),
        Command::Report(args) => commands::report::run(&args, cli.db.as_deref()),
        Command::Export(args) => commands::export::run(&args, cli.db.as_deref()),
        Command::Import(args) => commands::import::run(&args, cli.db.as_deref()),
        Command::Doctor(args) => commands::doctor::run(&args, cli.db.as_deref()),
        Command::Watch(args) => commands::watch::run(&args, cli.db.as_deref()),
        Command::Doc(args) => commands::doc::run(&args),
        Command::Schema(args) => commands::schema::run(&args),
        Command::Merge(args) => commands::merge::run(&args, cli.db.as_deref()),
        Command::Dataset(args) => commands::dataset::run(&args),
        Command::Experiments(args) => commands::experiments::run(&args, cli.db.as_deref()),
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
        say!("fsarena: {error:#}");
        let usage = error.is::<context::Usage>() || error.is::<fsarena_plan::PlanError>();
        ExitCode::from(if usage { exit::USAGE } else { exit::FAILED })
    })
}
