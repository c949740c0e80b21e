//! Maintenance commands of the workspace, run as `cargo xtask NAME`.
//!
//! They live in Rust next to the code they check, so that a fresh machine needs nothing but a
//! toolchain and so that the checks themselves have tests. Nothing here is part of the program
//! that users get.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // A command talks to whoever runs it.

mod chaos;
mod dist;
mod fuzz;
mod overhead;
mod program;
mod test;
mod tidy;

use clap::Parser;
use std::process::ExitCode;

/// Maintenance commands of the workspace. Exit codes: 0 done, 1 something failed, 2 wrong usage.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Set the machine up, run every check and every test tier it allows.
    Test {
        /// Go through every file system where the daily run takes ext4, btrfs, tmpfs and a
        /// directory.
        #[arg(long)]
        all: bool,
    },
    /// Check the house rules over the files of the repository.
    Tidy(tidy::Args),
    /// Static program, manual pages, completions and a Debian package in target/dist, checked in
    /// an empty root directory.
    Dist,
    /// Give every parser of foreign input what nobody wrote, for a while, guided by the code that
    /// it reaches.
    Fuzz(fuzz::Options),
    /// What the harness costs: against bare loops, fio and nothing.
    Overhead(Box<overhead::Options>),
    /// Kill, starve and cut off RUNs, and look whether anything is left, lost or damaged.
    Chaos(chaos::Options),
    /// The first process of a guest kernel, for `overhead virtual`.
    #[command(hide = true, name = "guest_init")]
    GuestInit,
    /// The process that serves a disk, for `overhead vdisk`.
    #[command(hide = true, name = "vdisk_server")]
    VdiskServer,
    /// The process that mounts crash states, for `overhead crash`.
    #[command(hide = true, name = "crash_executor")]
    CrashExecutor {
        /// Set where the namespaces are made already.
        #[arg(long)]
        inside: bool,
    },
}

/// `Ok(false)` is a check that failed and has already said so.
fn main() -> ExitCode {
    let result = match Task::parse() {
        Task::Test { all } => test::run(all),
        Task::Tidy(args) => tidy::run(&args),
        Task::Dist => dist::run(),
        Task::Chaos(options) => chaos::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::GuestInit => overhead::run_as_init().map(|()| true),
        Task::VdiskServer => overhead::serve_disk().map(|()| true),
        Task::CrashExecutor { inside } => overhead::mount_crash_states(inside),
        Task::Overhead(options) => overhead::run(&options).map(|()| true),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
