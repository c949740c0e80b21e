//! The timed loops, one an op. Nothing here allocates, locks, logs or formats.
//!
//! Each loop is generic over backend, recorder and walk, all decided before it starts. It ends at
//! the first failure; the caller turns that into words after the last clock read.

use crate::backend::Backend;
use crate::hist::Recorder;
use crate::pattern::{FileNames, Walk};
use crate::stamp::Contents;
use rustix::io::Errno;

/// What a loop works on, all of it made before the clock runs.
#[derive(Debug)]
pub(crate) struct Material<'a> {
    /// Cursor at file 0.
    pub names: &'a mut FileNames,
    /// Number of files.
    pub files: u32,
    /// What is written (ops that write).
    pub contents: Option<&'a mut Contents>,
    /// Where read calls put bytes; as long as the largest call.
    pub landing: &'a mut [u8],
    /// Bytes of a file.
    pub size_bytes: u64,
}

/// A call that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    /// System call.
    pub call: &'static str,
    /// Its error; `None` where it did less than asked without one.
    pub errno: Option<Errno>,
}

/// What a loop did.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Ops completed.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Why it ended early; the cursor stands on the file.
    pub failure: Option<Failure>,
}

impl Tally {
    /// Counts an op; `false` at a failure.
    #[inline(always)]
    fn count(&mut self, outcome: Result<usize, Failure>) -> bool {
        match outcome {
            Ok(bytes) => {
                self.ops += 1;
                self.bytes += bytes as u64;
                true
            }
            Err(failure) => {
                self.failure = Some(failure);
                false
            }
        }
    }
}

/// Names the call of an error.
#[inline(always)]
fn at<T>(call: &'static str, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| Failure { call, errno: Some(errno) })
}

/// A call that must move exactly `asked` bytes.
#[inline(always)]
fn full(call: &'static str, asked: usize, result: Result<usize, Errno>) -> Result<usize, Failure> {
    let moved = at(call, result)?;
    if moved == asked { Ok(moved) } else { Err(Failure { call, errno: None }) }
}

/// Closes `file` after `outcome`; the first failure counts.
#[inline(always)]
fn close_after<B: Backend>(
    backend: &B,
    file: B::File,
    outcome: Result<usize, Failure>,
) -> Result<usize, Failure> {
    let closed = at("close", backend.close(file));
    let bytes = outcome?;
    closed?;
    Ok(bytes)
}

/// Runs `one` for each file in the order of `walk`, with one lap an op.
#[inline(always)]
fn each_file<R: Recorder, W: Walk>(
    names: &mut FileNames,
    files: u32,
    walk: W,
    recorder: &mut R,
    mut one: impl FnMut(&FileNames, u32) -> Result<usize, Failure>,
) -> Tally {
    let mut tally = Tally::default();
    for index in 0..files {
        let file = walk.place(names, index);
        let outcome = one(names, file);
        if !tally.count(outcome) {
            break;
        }
        recorder.lap();
    }
    tally
}

/// open, write, close.
#[inline(never)]
pub(crate) fn create<B: Backend, R: Recorder, W: Walk>(
    backend: &B,
    work: Material<'_>,
    walk: W,
    recorder: &mut R,
) -> Tally {
    let Some(contents) = work.contents else { return Tally::default() };
    if contents.is_whole() {
        each_file(work.names, work.files, walk, recorder, |name, number| {
            let bytes = contents.whole_file(u64::from(number));
            let file = at("open", backend.create(name.as_c_str()))?;
            let written = if bytes.is_empty() {
                Ok(0)
            } else {
                full("write", bytes.len(), backend.write(file, bytes))
            };
            close_after(backend, file, written)
        })
    } else {
        each_file(work.names, work.files, walk, recorder, |name, number| {
            let file = at("open", backend.create(name.as_c_str()))?;
            let mut offset = 0;
            let mut written = Ok(0);
            while offset < work.size_bytes {
                let bytes = contents.call(u64::from(number), offset);
                if let Err(failure) = full("write", bytes.len(), backend.write(file, bytes)) {
                    written = Err(failure);
                    break;
                }
                offset += bytes.len() as u64;
                written = Ok(offset as usize);
            }
            close_after(backend, file, written)
        })
    }
}

/// open, read to the known size, close.
#[inline(never)]
pub(crate) fn read<B: Backend, R: Recorder, W: Walk>(
    backend: &B,
    work: Material<'_>,
    walk: W,
    recorder: &mut R,
) -> Tally {
    let (landing, size_bytes) = (work.landing, work.size_bytes);
    each_file(work.names, work.files, walk, recorder, |name, _| {
        let file = at("open", backend.open(name.as_c_str()))?;
        let mut offset = 0;
        let mut got = Ok(0);
        while offset < size_bytes {
            let len = (size_bytes - offset).min(landing.len() as u64) as usize;
            if let Err(failure) = full("read", len, backend.read(file, &mut landing[..len])) {
                got = Err(failure);
                break;
            }
            offset += len as u64;
            got = Ok(offset as usize);
        }
        close_after(backend, file, got)
    })
}

/// stat.
#[inline(never)]
pub(crate) fn stat<B: Backend, R: Recorder, W: Walk>(
    backend: &B,
    work: Material<'_>,
    walk: W,
    recorder: &mut R,
) -> Tally {
    each_file(work.names, work.files, walk, recorder, |name, _| {
        at("stat", backend.stat(name.as_c_str())).map(|()| 0)
    })
}

/// unlink.
#[inline(never)]
pub(crate) fn delete<B: Backend, R: Recorder, W: Walk>(
    backend: &B,
    work: Material<'_>,
    walk: W,
    recorder: &mut R,
) -> Tally {
    each_file(work.names, work.files, walk, recorder, |name, _| {
        at("unlink", backend.unlink(name.as_c_str())).map(|()| 0)
    })
}

/// Each file in calls of the block size, one op a call. The first op of a file holds its open, the
/// last its close. `first` opens, `call` moves the bytes at an offset and says how many.
#[inline(always)]
fn big<B: Backend, R: Recorder, W: Walk>(
    backend: &B,
    names: &mut FileNames,
    (files, size_bytes): (u32, u64),
    walk: W,
    recorder: &mut R,
    first: (&'static str, impl Fn(&FileNames) -> Result<B::File, Errno>),
    mut call: impl FnMut(B::File, u32, u64) -> Result<usize, Failure>,
) -> Tally {
    let mut tally = Tally::default();
    for index in 0..files {
        let number = walk.place(names, index);
        let file = match at(first.0, first.1(names)) {
            Ok(file) => file,
            Err(failure) => {
                tally.count(Err(failure));
                return tally;
            }
        };
        let mut offset = 0;
        while offset < size_bytes {
            let mut outcome = call(file, number, offset);
            offset += *outcome.as_ref().unwrap_or(&0) as u64;
            if offset >= size_bytes || outcome.is_err() {
                outcome = close_after(backend, file, outcome);
            }
            if !tally.count(outcome) {
                return tally;
            }
            recorder.lap();
        }
        if size_bytes == 0
            && let Err(failure) = at("close", backend.close(file))
        {
            tally.count(Err(failure));
            return tally;
        }
    }
    tally
}

/// Each file written from start to end.
#[inline(never)]
pub(crate) fn big_write<B: Backend, R: Recorder, W: Walk>(
    backend: &B,
    work: Material<'_>,
    walk: W,
    recorder: &mut R,
) -> Tally {
    let Some(contents) = work.contents else { return Tally::default() };
    let extent = (work.files, work.size_bytes);
    let open = ("open", |name: &FileNames| backend.create(name.as_c_str()));
    big(backend, work.names, extent, walk, recorder, open, |file, number, offset| {
        let bytes = contents.call(u64::from(number), offset);
        full("write", bytes.len(), backend.write(file, bytes))
    })
}

/// Each file read from start to end.
#[inline(never)]
pub(crate) fn big_read<B: Backend, R: Recorder, W: Walk>(
    backend: &B,
    work: Material<'_>,
    walk: W,
    recorder: &mut R,
) -> Tally {
    let (landing, size_bytes) = (work.landing, work.size_bytes);
    let extent = (work.files, size_bytes);
    let open = ("open", |name: &FileNames| backend.open(name.as_c_str()));
    big(backend, work.names, extent, walk, recorder, open, |file, _, offset| {
        let len = (size_bytes - offset).min(landing.len() as u64) as usize;
        full("read", len, backend.read(file, &mut landing[..len]))
    })
}
