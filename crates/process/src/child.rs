//! How a child is bound to its parent: where it starts, what it may deny, and that it ends with it.
//!
//! Each function adds a step between fork and exec; none starts anything.

use rustix::fd::{AsRawFd as _, BorrowedFd};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Lets `command` start in `dir`, which the caller keeps open until the child has started.
pub fn start_in(command: &mut Command, dir: BorrowedFd<'_>) {
    let dir = dir.as_raw_fd();
    let enter = move || {
        // SAFETY: takes a number only, and is async-signal-safe; the caller keeps the descriptor
        // open until the child has started.
        if unsafe { libc::fchdir(dir) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec only a system call is made: no memory, no lock.
    unsafe { command.pre_exec(enter) };
}

/// Has the kernel send `at_death` to the child when this process dies.
pub fn end_with_parent(command: &mut Command, at_death: Signal) {
    let parent = getpid();
    let bind = move || {
        set_parent_process_death_signal(Some(at_death))?;
        // A parent that died before that line will send no signal.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(Errno::SRCH)) }
    };
    // SAFETY: between fork and exec only system calls are made: no memory, no lock.
    unsafe { command.pre_exec(bind) };
}

/// Sets the umask of the child alone to 022, so that trees look alike everywhere.
pub fn set_umask(command: &mut Command) {
    let set = || {
        rustix::process::umask(Mode::from_raw_mode(0o022));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(set) };
}
