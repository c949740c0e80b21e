//! How a child is bound to its parent: where it starts, what it may deny, that it ends with it, and
//! namespaces in which mounts and daemons end with a process. Nothing is started here.
//!
//! What takes a command adds a step between fork and exec. The others change the calling thread
//! (namespaces) or what it starts next: call them before other threads exist. Without root those
//! fail with `EPERM`, and nothing has changed.

use crate::command::ProgramCommand;
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::ffi::CString;
use std::io;
use std::path::Path;

/// Lets `command` start in `dir`, which the caller keeps open until the child has started.
pub fn start_in(command: &mut ProgramCommand, dir: BorrowedFd<'_>) {
    let dir = dir.as_raw_fd();
    let enter = move || {
        // SAFETY: takes a number only, and is async-signal-safe; the caller keeps the descriptor
        // open until the child has started.
        if unsafe { libc::fchdir(dir) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec only a system call is made: no memory, no lock.
    unsafe { command.before_exec(enter) };
}

/// Has the kernel send `at_death` to the child when this process dies.
pub fn end_with_parent(command: &mut ProgramCommand, at_death: Signal) {
    let parent = getpid();
    let bind = move || {
        set_parent_process_death_signal(Some(at_death))?;
        // A parent that died before that line will send no signal.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(Errno::SRCH)) }
    };
    // SAFETY: between fork and exec only system calls are made: no memory, no lock.
    unsafe { command.before_exec(bind) };
}

/// Has the kernel give the child, and what it starts, the same addresses every time, where that is
/// allowed (personality(2), `ADDR_NO_RANDOMIZE`).
pub fn fix_addresses(command: &mut ProgramCommand) {
    let set = || {
        // SAFETY: takes a number only. Where it is refused, addresses stay random.
        unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        Ok(())
    };
    // SAFETY: as above.
    unsafe { command.before_exec(set) };
}

/// Sets the umask of the child alone to 022, so that trees look alike everywhere.
pub fn set_umask(command: &mut ProgramCommand) {
    let set = || {
        rustix::process::umask(Mode::from_raw_mode(0o022));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { command.before_exec(set) };
}

/// Leaves the shared mount namespace: what is mounted from here on is seen by this process and its
/// children alone and vanishes with the last of them.
///
/// # Errors
/// Without `CAP_SYS_ADMIN`; with `EINVAL` where `/` is no mount point, as after a plain chroot(1):
/// the mounts are copies then, and not private.
pub fn enter_private_mounts() -> io::Result<()> {
    unshared(UnshareFlags::NEWNS)?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    Ok(mount_change("/", private)?)
}

/// The next child of the caller becomes process 1 of a new PID namespace: when it ends, the kernel
/// kills all its descendants, daemons too. Start nothing else from the caller afterwards.
///
/// # Errors
/// Without `CAP_SYS_ADMIN`.
pub fn unshare_pids() -> io::Result<()> {
    unshared(UnshareFlags::NEWPID)
}

/// Enters the mounts that process `pid` sees. The root and the working directory become those of
/// its mount namespace.
///
/// # Errors
/// When there is no such process, and without `CAP_SYS_ADMIN` and `CAP_SYS_CHROOT`.
pub fn enter_mounts_of(pid: u32) -> io::Result<()> {
    let mounts = std::fs::File::open(format!("/proc/{pid}/ns/mnt"))?;
    Ok(move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))?)
}

/// Mounts a `/proc` that shows the PID namespace of the caller. Only in private mounts.
///
/// # Errors
/// Without `CAP_SYS_ADMIN`.
pub fn mount_proc() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Lays the directory `usr` over `/usr`, read-only (overlayfs): what is in both is that of `usr`.
/// Only in private mounts, which take it away with them.
///
/// # Errors
/// Without `CAP_SYS_ADMIN`, without overlayfs, or where `usr` cannot be opened.
pub fn lay_over_usr(usr: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let usr = rustix::fs::open(usr, flags, Mode::empty())?;
    // By a path without colons and commas, which its options have.
    let layers = CString::new(format!("lowerdir=/proc/self/fd/{}:/usr", usr.as_raw_fd()))?;
    let flags = MountFlags::RDONLY | MountFlags::NODEV;
    Ok(mount("fsarena-programs", "/usr", "overlay", flags, Some(layers.as_c_str()))?)
}

/// Dies (`SIGKILL`) when the thread that started this process dies. `expected_parent` is its
/// process id as seen from here: 0 where it is outside of this PID namespace.
///
/// # Errors
/// `ESRCH` when the parent has died before the call.
pub fn death_signal(expected_parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = getppid().map_or(0, |pid| pid.as_raw_nonzero().get().cast_unsigned());
    if parent == expected_parent { Ok(()) } else { Err(io::Error::from(Errno::SRCH)) }
}

fn unshared(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the flags used here (mounts, PIDs of later children) never unshare the table of file
    // descriptors, which is what makes this call dangerous.
    unsafe { unshare_unsafe(flags) }?;
    Ok(())
}
