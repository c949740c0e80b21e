//! Private namespaces and death signals, so that mounts and daemons vanish with their process.
//!
//! Everything here changes the calling thread (namespaces) or what it starts next: call it before
//! other threads exist. Without root every call fails with `EPERM`, and nothing has changed.

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;

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

/// Mounts a `/proc` that shows the PID namespace of the caller. Only in private mounts.
///
/// # Errors
/// Without `CAP_SYS_ADMIN`.
pub fn mount_proc() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Dies (`SIGKILL`) when the thread that started this process dies. `expected_parent` is its
/// process id as seen from here: 0 where it is outside of this PID namespace.
///
/// # Errors
/// `ESRCH` when the parent has died before the call.
pub fn death_signal(expected_parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = getppid().map_or(0, |pid| pid.as_raw_nonzero().get().cast_unsigned());
    if parent == expected_parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

fn unshared(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the flags used here (mounts, PIDs of later children) never unshare the table of file
    // descriptors, which is what makes this call dangerous.
    unsafe { unshare_unsafe(flags) }?;
    Ok(())
}
