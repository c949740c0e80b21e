//! fsarena: the command line. This file is the table of contents of the program.
//!
//! Results go to standard output, messages to standard error; nothing below this crate prints.
#![forbid(unsafe_code)]

/// Writes a message to standard error, as `eprintln!` does, but does not panic if the reader of
/// standard error is gone.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::context::print_message(&format!($($words)*))
    };
}

/// Returns that the user asked for something that is not possible: exit code 2.
macro_rules! refuse {
    ($($words:tt)*) => {
        return Err($crate::context::Usage(format!($($words)*)).into())
    };
}

#[macro_use]
mod compressed;

mod args;
mod commands;
mod complete;
mod context;
mod progress;

use args::{Cli, Command, CrashArgs, CrashCommand};
use clap::{CommandFactory as _, FromArgMatches as _};
use context::exit;
use std::path::Path;
use std::process::ExitCode;

/// The program.
pub fn main() -> ExitCode {
    complete::answer_shell(commands::describe::visible);
    fsarena_process::limits::ignore_file_size_signal();
    if std::env::args_os().len() < 2 {
        // Not left to clap, which takes FSARENA_DB in the environment for an argument.
        say!("{}", args::grouped(Cli::command()).render_help());
        return ExitCode::from(exit::USAGE);
    }
    let matches = args::grouped(Cli::command()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    context::set_colour(cli.color);
    let done = match cli.command {
        Command::Run(args) => commands::run::run(&args, cli.db.as_deref()),
        Command::Advise(args) => commands::advise::run(&args, cli.db.as_deref()),
        Command::Fleet(args) => commands::fleet::run(&args, cli.db.as_deref()),
        Command::Devices(args) => success(commands::machine::devices(&args)),
        Command::List(args) => success(commands::show::list(&args, cli.db.as_deref())),
        Command::Show(args) => success(commands::show::run(&args, cli.db.as_deref())),
        Command::Study(args) => commands::show::study(&args, cli.db.as_deref()),
        Command::Compare(args) => commands::compare::run(&args, cli.db.as_deref()),
        Command::History(args) => commands::history::run(&args, cli.db.as_deref()),
        Command::Report(args) => success(commands::report::run(&args, cli.db.as_deref())),
        Command::Delete(args) => success(commands::delete::run(&args, cli.db.as_deref())),
        Command::Export(args) => success(commands::report::export(&args, cli.db.as_deref())),
        Command::Article(args) => success(commands::article::run(&args, cli.db.as_deref())),
        Command::Bundle(args) => commands::bundle::run(&args, cli.db.as_deref()),
        Command::Import(args) => success(commands::import::run(&args, cli.db.as_deref())),
        Command::Doctor(args) => commands::machine::doctor(&args),
        Command::Watch(args) => commands::watch::run(&args, cli.db.as_deref()),
        Command::Doc(args) => success(commands::doc::run(&args)),
        Command::Schema(args) => success(commands::schema::run(&args)),
        Command::Merge(args) => commands::merge::run(&args, cli.db.as_deref()),
        Command::Dataset(args) => commands::dataset::run(&args),
        Command::Experiments(args) => success(commands::experiments::run(&args, cli.db.as_deref())),
        Command::Reference(args) => success(commands::reference::run(&args, cli.db.as_deref())),
        Command::Selftest(args) => commands::selftest::run(&args, cli.db.as_deref()),
        Command::Crash(args) => crash(&args, cli.db.as_deref()),
        Command::Kernel(args) => commands::kernel::run(&args),
        Command::Programs(args) => success(commands::programs::run(&args)),
        Command::Completions { shell } => success(commands::describe::completions(shell)),
        Command::Man { dir } => success(commands::describe::man(dir.as_deref())),
        Command::Executor { journal, parent, inside } => {
            commands::executor(journal.as_deref(), parent, inside)
        }
        Command::VirtualExecutor { journal, parent, cpu_index } => {
            commands::virtual_executor(journal.as_deref(), parent, cpu_index)
        }
        Command::CrashExecutor { inside } => commands::crash_executor(inside),
        Command::GuestInit => {
            let work = fsarena_guests::guest::GuestWork {
                trial: &fsarena_executor::run_guest_trial,
                crash: &fsarena_executor::run_crash_task,
            };
            success(fsarena_guests::guest::run_as_init(work).map_err(Into::into))
        }
        Command::VdiskServer => success(fsarena_crash_runs::native::run().map_err(Into::into)),
        Command::Rank(args) => commands::rank::run(&args),
        Command::RankServer => commands::rank_server(),
        Command::Agent { inside } => commands::agent(inside),
        Command::RankConnection { dir, rank } => commands::rank::connection(&dir, rank),
        Command::Worker { parent } => commands::worker(parent),
    };
    done.unwrap_or_else(|error| failed(&error))
}

/// Says what went wrong; the exit code.
fn failed(error: &anyhow::Error) -> ExitCode {
    if context::is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    say!("fsarena: {}", context::reason(error));
    let usage = error.is::<context::Usage>() || error.is::<fsarena_plan::PlanError>();
    ExitCode::from(match usage {
        true => exit::USAGE,
        false if error.is::<context::Interrupted>() => exit::INTERRUPTED,
        false => exit::FAILED,
    })
}

/// Campaigns of crash runs, and states that were kept.
fn crash(args: &CrashArgs, db: Option<&Path>) -> anyhow::Result<ExitCode> {
    match (&args.command, &args.application) {
        (Some(CrashCommand::Sequences(args)), _) => commands::crash::sequences(args, db),
        (Some(CrashCommand::Litmus(args)), _) => commands::crash::litmus(args, db),
        (Some(CrashCommand::MediumErrors(args)), _) => commands::crash::medium_errors(args, db),
        (Some(CrashCommand::KeptStates(command)), _) => commands::crash_states::run(command),
        (None, Some(names)) => commands::crash::applications(args, names, db),
        (None, None) => commands::crash::run(args, db),
    }
}

/// Of a command that has no other exit code.
fn success(done: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    done.map(|()| ExitCode::SUCCESS)
}
