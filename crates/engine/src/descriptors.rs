//! A table of descriptors for each thread, as a process has one.

/// Gives this thread a table of descriptors, a working directory and credentials of its own, as a
/// process has. In a shared table each open and close of one thread waits for those of the others:
/// 8 to 10 % of a small file, which are no work of the file system. Where the kernel has no memory
/// for them they stay shared, and the answer is `false`.
pub(crate) fn own_descriptors() -> bool {
    let flags = rustix::thread::UnshareFlags::FILES | rustix::thread::UnshareFlags::FS;
    // SAFETY: descriptors that exist stay open under their numbers in the new table. Those that
    // this thread opens from now on are used by it alone and closed by it, or with its table. The
    // working directory is the same, and nobody changes it.
    let own = unsafe { rustix::thread::unshare_unsafe(flags) }.is_ok();
    own_credentials();
    own
}

/// Gives this thread credentials of its own, equal to those it has: each open file counts the
/// users of its opener's, and threads would pass that count from processor to processor.
fn own_credentials() {
    // Setting the same capabilities again is allowed to everybody, and copies (capset(2)).
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
