//! Whole files, one op a file.

use super::file_loop::{LoopEnv, Parents, close_after, each_file, settle_after};
use crate::backend::{Backend, OpenMode};
use crate::hist::Recorder;
use crate::names::FileNames;
use crate::outcome::{Failure, Tally, at, full};
use crate::pattern::FileOrder;
use crate::stamp::{ATTRIBUTE, Contents};
use crate::threads::ThreadContext;
use fsarena_model::work::{Fsync, Op};
use rustix::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FallocateFlags, Mode, OFlags, XattrFlags, fgetxattr, fsetxattr, linkat, openat,
    symlinkat,
};
use rustix::io::Errno;
use std::ffi::CStr;

/// Runs the op of `context` over its files.
#[inline(always)]
pub(super) fn run<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    match context.op {
        Op::Create => create(context, env, file_order, recorder),
        Op::Read => read(context, env, file_order, recorder),
        Op::Overwrite => overwrite(context, env, file_order, recorder),
        Op::Append => append(context, env, file_order, recorder),
        Op::Stat => stat(context, env, file_order, recorder),
        Op::Rename => rename(context, env, file_order, recorder),
        Op::Delete => delete(context, env, file_order, recorder),
        Op::Truncate => truncate(context, env, file_order, recorder),
        Op::Link => link(context, env, file_order, recorder),
        Op::Symlink => symlink(context, env, file_order, recorder),
        Op::Setxattr => setxattr(context, env, file_order, recorder),
        Op::Getxattr => getxattr(context, env, file_order, recorder),
        Op::Fallocate => fallocate(context, env, file_order, recorder),
        // Their shares are never files.
        _ => Tally::default(),
    }
}

/// Syncs directories after their last file, where that is asked for.
fn when_done(left: &mut [u32]) -> Parents<'_> {
    Parents { each: false, left }
}

/// Writes `size_bytes` of file `number` from its start in calls of at most `bs_bytes`.
#[inline(always)]
pub(crate) fn write_all<B: Backend>(
    backend: &B,
    file: B::File,
    contents: &mut Contents,
    (number, size_bytes, bs_bytes): (u32, u64, u64),
) -> Result<usize, Failure> {
    if size_bytes <= bs_bytes {
        if size_bytes == 0 {
            return Ok(0);
        }
        let bytes = contents.whole_file(u64::from(number), size_bytes as usize);
        return full("write", bytes.len(), backend.write(file, bytes));
    }
    let mut offset = 0;
    while offset < size_bytes {
        let len = (size_bytes - offset).min(bs_bytes) as usize;
        let bytes = contents.call(u64::from(number), offset, len);
        full("write", len, backend.write(file, bytes))?;
        offset += len as u64;
    }
    Ok(size_bytes as usize)
}

/// open by `open`, write all, sync, close: one op a file.
#[inline(always)]
fn write_files<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
    open: impl Fn(&FileNames, u64) -> Result<B::File, Errno>,
) -> Tally {
    let ThreadContext { names, contents, sizes, left_in_dirs, bs_bytes, io, .. } = context;
    let Some(contents) = contents else { return Tally::default() };
    let (bs_bytes, fsync) = (*bs_bytes, io.fsync);
    let parents = when_done(left_in_dirs);
    each_file(env, names, file_order, parents, recorder, |name, number| {
        let size_bytes = sizes.file_bytes(number);
        let file = at("open", open(name, size_bytes))?;
        let written = write_all(env.backend, file, contents, (number, size_bytes, bs_bytes));
        settle_after(env.backend, fsync, file, written)
    })
}

/// open, write, close.
#[inline(never)]
fn create<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    write_files(context, env, file_order, recorder, |name, size| {
        env.backend.create(name.as_c_str(), size)
    })
}

/// open, write over what is there, close.
#[inline(never)]
fn overwrite<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    write_files(context, env, file_order, recorder, |name, _| {
        env.backend.open(name.as_c_str(), OpenMode::Write)
    })
}

/// open, one write behind the end, close.
#[inline(never)]
fn append<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, contents, sizes, left_in_dirs, bs_bytes, io, .. } = context;
    let Some(contents) = contents else { return Tally::default() };
    let (len, fsync) = (*bs_bytes as usize, io.fsync);
    let parents = when_done(left_in_dirs);
    each_file(env, names, file_order, parents, recorder, |name, number| {
        let bytes = contents.call(u64::from(number), sizes.file_bytes(number), len);
        let file = at("open", env.backend.open(name.as_c_str(), OpenMode::Append))?;
        let written = full("write", len, env.backend.write(file, bytes));
        settle_after(env.backend, fsync, file, written)
    })
}

/// open, read to the known size, close.
#[inline(never)]
fn read<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, read_buf, sizes, bs_bytes, read_align, .. } = context;
    let (read_buf, bs_bytes, align) = (read_buf.as_mut_slice(), *bs_bytes, *read_align as usize);
    let parents = when_done(&mut []);
    each_file(env, names, file_order, parents, recorder, |name, number| {
        let size_bytes = sizes.file_bytes(number);
        let file = at("open", env.backend.open(name.as_c_str(), OpenMode::Read))?;
        let mut offset = 0;
        let mut got = Ok(0);
        while offset < size_bytes {
            let len = (size_bytes - offset).min(bs_bytes) as usize;
            let asked = if align > 1 { len.next_multiple_of(align) } else { len };
            if let Err(failure) = full("read", len, env.backend.read(file, &mut read_buf[..asked]))
            {
                got = Err(failure);
                break;
            }
            offset += len as u64;
            got = Ok(offset as usize);
        }
        close_after(env.backend, file, got)
    })
}

#[inline(never)]
fn stat<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    each_file(env, &mut context.names, file_order, when_done(&mut []), recorder, |name, _| {
        at("stat", env.backend.stat(name.as_c_str())).map(|()| 0)
    })
}

/// rename to the other name, or back.
#[inline(never)]
fn rename<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, new_name, left_in_dirs, io, .. } = context;
    let parents = Parents { each: io.fsync == Fsync::Op, left: left_in_dirs };
    each_file(env, names, file_order, parents, recorder, |name, _| {
        new_name.follow(name);
        at("rename", env.backend.rename(name.as_c_str(), new_name.as_c_str())).map(|()| 0)
    })
}

/// unlink of a file, and of the links to it that earlier phases made.
#[inline(never)]
fn delete<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, links, left_in_dirs, io, .. } = context;
    let parents = Parents { each: io.fsync == Fsync::Op, left: left_in_dirs };
    each_file(env, names, file_order, parents, recorder, |name, _| {
        at("unlink", env.backend.unlink(name.as_c_str()))?;
        for link in links.iter_mut() {
            link.follow(name);
            at("unlink", env.backend.unlink(link.as_c_str()))?;
        }
        Ok(0)
    })
}

/// open, ftruncate where the file is longer than the phase says, close.
#[inline(never)]
fn truncate<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, sizes, left_in_dirs, bs_bytes, io, .. } = context;
    let (most_bytes, fsync) = (*bs_bytes, io.fsync);
    let parents = when_done(left_in_dirs);
    each_file(env, names, file_order, parents, recorder, |name, number| {
        let len = sizes.file_bytes(number).min(most_bytes);
        let file = at("open", env.backend.open(name.as_c_str(), OpenMode::Write))?;
        let done = env.backend.call_on_file(file, |file| rustix::fs::ftruncate(file, len));
        settle_after(env.backend, fsync, file, at("ftruncate", done).map(|()| 0))
    })
}

/// link to the name of a link.
#[inline(never)]
fn link<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, new_name, left_in_dirs, io, .. } = context;
    let parents = Parents { each: io.fsync == Fsync::Op, left: left_in_dirs };
    each_file(env, names, file_order, parents, recorder, |name, _| {
        new_name.follow(name);
        let (from, to) = (name.as_c_str(), new_name.as_c_str());
        let done = env.backend.call_by_name((), |dir| linkat(dir, from, dir, to, AtFlags::empty()));
        at("link", done).map(|()| 0)
    })
}

/// symlink that holds the name of the file.
#[inline(never)]
fn symlink<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, new_name, left_in_dirs, io, .. } = context;
    let parents = Parents { each: io.fsync == Fsync::Op, left: left_in_dirs };
    each_file(env, names, file_order, parents, recorder, |name, _| {
        new_name.follow(name);
        let (target, link) = (name.file_name(), new_name.as_c_str());
        let done = env.backend.call_by_name((), |dir| symlinkat(target, dir, link));
        at("symlink", done).map(|()| 0)
    })
}

/// setxattr, which replaces what is there.
#[inline(never)]
fn setxattr<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let value = context.read_buf.as_slice();
    let names = &mut context.names;
    each_file(env, names, file_order, when_done(&mut []), recorder, |name, _| {
        let path = name.as_c_str();
        let done = env.backend.call_by_name((), |dir| match working_dir(dir) {
            true => rustix::fs::setxattr(path, ATTRIBUTE, value, XattrFlags::empty()),
            false => fsetxattr(open_in(dir, path)?, ATTRIBUTE, value, XattrFlags::empty()),
        });
        at("setxattr", done).map(|()| 0)
    })
}

/// Whether lookups start at the working directory, from which setxattr(2) and getxattr(2) take
/// their paths. So it is in a worker; elsewhere the file is opened for the call.
#[inline(always)]
fn working_dir(dir: BorrowedFd<'_>) -> bool {
    dir.as_raw_fd() == CWD.as_raw_fd()
}

#[cold]
fn open_in(dir: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
    openat(dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// getxattr of the whole value.
#[inline(never)]
fn getxattr<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let value = context.read_buf.as_mut_slice();
    let names = &mut context.names;
    each_file(env, names, file_order, when_done(&mut []), recorder, |name, _| {
        let (path, len) = (name.as_c_str(), value.len());
        let got = env.backend.call_by_name(len, |dir| match working_dir(dir) {
            true => rustix::fs::getxattr(path, ATTRIBUTE, &mut *value),
            false => fgetxattr(open_in(dir, path)?, ATTRIBUTE, &mut *value),
        });
        full("getxattr", len, got).map(|_| 0)
    })
}

/// open of a new file, fallocate of its size, close; an empty file has nothing to allocate.
#[inline(never)]
fn fallocate<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, sizes, left_in_dirs, io, .. } = context;
    let (fsync, whole) = (io.fsync, FallocateFlags::empty());
    let parents = when_done(left_in_dirs);
    each_file(env, names, file_order, parents, recorder, |name, number| {
        let size_bytes = sizes.file_bytes(number);
        let file = at("open", env.backend.create(name.as_c_str(), size_bytes))?;
        let done = match size_bytes {
            0 => Ok(()),
            _ => env
                .backend
                .call_on_file(file, |file| rustix::fs::fallocate(file, whole, 0, size_bytes)),
        };
        settle_after(env.backend, fsync, file, at("fallocate", done).map(|()| 0))
    })
}
