//! How a program that does work is started: in the root, with a fixed environment, and bound to
//! the life of this process.

use fsarena_engine::Root;
use fsarena_model::job::PROGRAM_PATH;
use fsarena_process::child::{end_with_parent, start_in};
use rustix::fd::AsFd as _;
use rustix::process::{Signal, getpid};
use std::process::Command;

/// What a program sees: nothing of the user's changes what it does.
pub(super) fn environment(command: &mut Command) -> &mut Command {
    command.env_clear().env("PATH", PROGRAM_PATH).env("LC_ALL", "C").env("HOME", "/")
}

/// Lets `command` start in the root, and be sent `at_death` when this process dies. Descendants of
/// it that outlive their parent become children of this process (see `end.rs`).
pub(super) fn start_in_root(command: &mut Command, root: &Root, at_death: Signal) {
    start_in(command, root.dir().as_fd());
    end_with_parent(command, at_death);
    // Where it cannot be had, orphans go to another process, and nothing is ended then.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}
