//! How a program that does work is started: in the root, with a fixed environment, and bound to
//! the life of this process.

use crate::Root;
use fsarena_model::job::PROGRAM_PATH;
use rustix::fd::AsRawFd as _;
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// What a program sees: nothing of the user's changes what it does.
pub(super) fn environment(command: &mut Command) -> &mut Command {
    command.env_clear().env("PATH", PROGRAM_PATH).env("LC_ALL", "C").env("HOME", "/")
}

/// Lets `command` start in the root, and be told `at_death` when this process dies. Whoever of its
/// descendants outlives their parent becomes a child of this process (see `end.rs`).
pub(super) fn inside(command: &mut Command, root: &Root, at_death: Signal) {
    let root = root.dir().as_raw_fd();
    let enter = move || {
        // SAFETY: takes a number only, and is async-signal-safe; the caller keeps the descriptor
        // open until the child has started.
        if unsafe { libc::fchdir(root) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec only a system call is made: no memory, no lock.
    unsafe { command.pre_exec(enter) };
    end_with_parent(command, at_death);
    // Where it cannot be had, orphans go to another process, and nothing is ended then.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Has the kernel send `at_death` to the child when this process dies.
pub(super) fn end_with_parent(command: &mut Command, at_death: Signal) {
    let parent = getpid();
    let bind = move || {
        set_parent_process_death_signal(Some(at_death))?;
        // A parent that died before that line will send no signal.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(Errno::SRCH)) }
    };
    // SAFETY: between fork and exec only system calls are made: no memory, no lock.
    unsafe { command.pre_exec(bind) };
}

/// Fixes what new files may be denied, for the child alone: trees must look alike everywhere.
pub(super) fn usual_umask(command: &mut Command) {
    let set = || {
        rustix::process::umask(Mode::from_raw_mode(0o022));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(set) };
}
