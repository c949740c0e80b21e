//! Work on a disk that may fail a request, and what the mounted file system says afterwards.

use super::actions;
use super::check::{files, use_it};
use super::error::CrashError;
use super::kernel_log::KernelLog;
use super::work::{CrashWork, WorkRecord, work_until_the_end};
use fsarena_crash::medium_error::record::{
    AfterWork, FailedCall, MediumErrorWork, is_of_block_layer,
};
use rustix::fs::{StatVfsMountFlags, statvfs, syncfs};
use std::fs::File;
use std::io;
use std::path::Path;

/// Lines of the kernel that are kept.
const LINES_MOST: usize = 20;

pub(super) fn work(work: &CrashWork, mnt: &Path) -> Result<MediumErrorWork, CrashError> {
    let mut failed = Vec::new();
    let (mut root, mut kernel_log) = (None, None);
    let mut prepared = |mnt: &Path| {
        kernel_log = Some(KernelLog::from_now(None));
        root = Some(File::open(mnt).map_err(CrashError::io(mnt))?);
        Ok(())
    };
    let mut take = |number: usize, failure: actions::Failure| {
        failed.push(FailedCall {
            op: u32::try_from(number).unwrap_or(u32::MAX),
            call: failure.call,
            errno: number_of(&failure.error),
            again: failure.again.map(|again| again.map_or_else(|error| number_of(&error), |()| 0)),
        });
    };
    let WorkRecord { ops, begin_ns, end_ns, mount_options, .. } =
        work_until_the_end(work, mnt, &mut prepared, &mut take)?;
    let after = inspect_mounted(mnt, root.as_ref(), kernel_log.as_ref());
    Ok(MediumErrorWork { ops, failed, begin_ns, end_ns, mount_options, after })
}

fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

/// Looks at the mounted file system; `root` and log were opened before the work. What is read comes
/// first: what is written afterwards must not change it.
fn inspect_mounted(mnt: &Path, root: Option<&File>, log: Option<&KernelLog>) -> AfterWork {
    let files = files(mnt);
    let flags = statvfs(mnt).map(|stat| stat.f_flag);
    let synced = root.map_or(Ok(()), syncfs);
    let new_file = use_it(mnt);
    AfterWork {
        is_read_only: flags.is_ok_and(|flags| flags.contains(StatVfsMountFlags::RDONLY)),
        new_file_errno: new_file.err().map(|error| number_of(&error)),
        syncfs_errno: synced.err().map(rustix::io::Errno::raw_os_error),
        files,
        kernel_messages: log
            .map_or_else(Vec::new, KernelLog::lines)
            .into_iter()
            .filter(|line| !is_of_block_layer(line))
            .take(LINES_MOST)
            .collect(),
    }
}
