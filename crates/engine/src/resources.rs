//! What a thread and this process have of the kernel: descriptors, credentials, processor time.
//!
//! A thread gets a table of descriptors of its own before the clock runs, as a process has one, and
//! its processor time and faults are read at both ends of a phase.

use fsarena_model::work::{UserIds, WorkerUsage};
use rustix::fd::{IntoRawFd as _, OwnedFd};
use rustix::io::Errno;

/// How many descriptors there may be; raises the soft limit to the hard one for that.
pub(crate) fn open_files() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        // Where that is not allowed, the old limit is returned.
        setrlimit(Resource::Nofile, raised).ok();
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Gives this thread a table of descriptors, a working directory and credentials of its own, as a
/// process has. In a shared table each open and close of one thread waits for those of the others:
/// 8 to 10 % of a small file, which are no work of the file system. Where the kernel has no memory
/// for them they stay shared, and this returns `false`.
pub(crate) fn own_descriptors() -> bool {
    let flags = rustix::thread::UnshareFlags::FILES | rustix::thread::UnshareFlags::FS;
    // SAFETY: descriptors that exist stay open under their numbers in the new table. Those that
    // this thread opens from now on are used by it alone and closed by it, or with its table. The
    // working directory is the same, and nothing changes it.
    let own = unsafe { rustix::thread::unshare_unsafe(flags) }.is_ok();
    own_credentials();
    own
}

/// Gives this thread credentials of its own, equal to those it has: each open file counts the
/// users of its opener's, and threads would pass that count from processor to processor.
fn own_credentials() {
    // Every process may set the same capabilities again, which makes a copy (capset(2)).
    if let Ok(same) = rustix::thread::capabilities(None) {
        let _ = rustix::thread::set_capabilities(None, same);
    }
}

/// Closes all of this thread's own table. The kernel would do it too, but only after the thread has
/// been joined, and a copy of the root's descriptor would keep the file system mounted till then.
pub(crate) fn close_own_descriptors() {
    // SAFETY: the table is this thread's alone ([`own_descriptors`]), its work is done, and nothing
    // that is used from here on has a descriptor: the originals are in the table of the others.
    unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) };
}

/// Closes a file that was written: some file systems report only then what went wrong.
///
/// # Errors
/// close(2)'s.
pub fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor is owned, and given up by `into_raw_fd`.
    unsafe { rustix::io::try_close(file.into_raw_fd()) }
}

/// Becomes `ids` for good: supplementary groups, group, user, in this order.
///
/// The kernel forgets the parent-death signal at a change of user (prctl(2), `PR_SET_PDEATHSIG`),
/// so it is set again: a worker must still die with its executor.
///
/// # Errors
/// Those of the calls.
pub fn become_user(ids: UserIds) -> Result<(), std::io::Error> {
    let death_signal = rustix::process::parent_process_death_signal()?;
    let check = |result: libc::c_int| {
        if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: no groups are read from the null pointer, since their number is 0.
    check(unsafe { libc::setgroups(0, std::ptr::null()) })?;
    // SAFETY: takes numbers only; glibc changes all threads of the process.
    check(unsafe { libc::setresgid(ids.gid, ids.gid, ids.gid) })?;
    // SAFETY: as above.
    check(unsafe { libc::setresuid(ids.uid, ids.uid, ids.uid) })?;
    rustix::process::set_parent_process_death_signal(death_signal)?;
    Ok(())
}

/// A reading of getrusage(2).
#[derive(Clone, Copy)]
pub struct Usage(libc::rusage);

impl Usage {
    /// Of this thread, as it is now.
    pub fn now() -> Self {
        Self::read(libc::RUSAGE_THREAD)
    }

    /// Of all children that were waited for, and theirs.
    pub fn children() -> Self {
        Self::read(libc::RUSAGE_CHILDREN)
    }

    fn read(who: libc::c_int) -> Self {
        // SAFETY: rusage is plain integers, for which all zeros are a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live rusage. With the callers' arguments it cannot fail.
        unsafe { libc::getrusage(who, &raw mut usage) };
        Self(usage)
    }

    /// What was used since `before`, a reading of the same.
    pub fn since(&self, before: &Self) -> WorkerUsage {
        let (now, before) = (&self.0, &before.0);
        let time_ns = |time: &libc::timeval| {
            (time.tv_sec * 1_000_000 + time.tv_usec).cast_unsigned().saturating_mul(1000)
        };
        let since = |now: i64, before: i64| (now - before).max(0).cast_unsigned();
        WorkerUsage {
            user_ns: time_ns(&now.ru_utime).saturating_sub(time_ns(&before.ru_utime)),
            system_ns: time_ns(&now.ru_stime).saturating_sub(time_ns(&before.ru_stime)),
            minor_faults: since(now.ru_minflt, before.ru_minflt),
            major_faults: since(now.ru_majflt, before.ru_majflt),
            voluntary_switches: since(now.ru_nvcsw, before.ru_nvcsw),
            involuntary_switches: since(now.ru_nivcsw, before.ru_nivcsw),
        }
    }
}
