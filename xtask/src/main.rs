//! Maintenance commands of the workspace, run as `cargo xtask NAME`.
//!
//! They live in Rust next to the code they check, so that a fresh machine needs nothing but a
//! toolchain and so that the checks themselves have tests. Nothing here is part of the program
//! that users get.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // A command talks to whoever runs it.

mod dist;
mod overhead;
mod root;
mod test;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask TASK

  test      set the machine up, run every check and every test tier it allows; `--all` goes through
            every file system where the daily run takes ext4, btrfs, tmpfs and a directory
  tidy      check the house rules over the files of the repository; `--circles [CRATE]` prints the
            circles of modules, `--figures` the size of the workspace
  dist      static program, manual pages, completions and a Debian package in target/dist, checked
            in an empty root directory
  overhead  what the harness costs: against bare loops, fio and nothing; `overhead --help`
  help      this text

exit codes: 0 done, 1 something failed, 2 wrong usage
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match args.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => return usage("no task given"),
    };
    match task {
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        "dist" if !rest.is_empty() => usage(&format!("`{task}` takes no arguments")),
        "dist" => finish(dist::run()),
        "test" => match rest {
            [] => finish(test::run(false)),
            [all] if all == "--all" => finish(test::run(true)),
            _ => usage("`test` takes nothing or --all"),
        },
        "tidy" => finish(tidy::run(rest)),
        "overhead" => finish(overhead::run(rest).map(|()| true)),
        other => usage(&format!("unknown task `{other}`")),
    }
}

/// `Ok(false)` is a check that failed and has already said so.
fn finish(result: anyhow::Result<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage(message: &str) -> ExitCode {
    eprintln!("xtask: {message}\n\n{HELP}");
    ExitCode::from(2)
}
