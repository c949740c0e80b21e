//! The tree walked as find(1) does, one op an entry.
//!
//! Each directory is opened, looked at itself and read to its end; each file in it is looked at and
//! compared. What it costs to open and to read a directory is in the op of the entry that follows.

use super::file_loop::LoopEnv;
use crate::backend::{Backend, OpenMode};
use crate::hist::Recorder;
use crate::outcome::{Failure, Tally, at};
use crate::share::FindShare;
use crate::threads::{MISCOUNTED, ThreadContext};

/// Walks the directories of `share`.
#[inline(never)]
pub(super) fn run<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: FindShare,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
) -> Tally {
    let ops = context.ops();
    let ThreadContext { dirs, read_buf, search: Some(search), .. } = context else {
        return Tally::default();
    };
    search.found = search.wanted;
    let mut tally = Tally::default();
    if !B::HAS_ENTRIES {
        for _ in 0..ops {
            tally.count(Ok(0));
            recorder.end_op();
        }
        return tally;
    }
    let wanted = search.wanted;
    let newer_than_ns = i128::from(wanted.newer_than_unix_ns);
    let found = &mut search.found;
    for number in share.dirs() {
        dirs.set(number);
        let dir = match at("open", env.backend.open(dirs.as_c_str(), OpenMode::Dir)) {
            Ok(dir) => dir,
            Err(failure) => {
                tally.count(Err(failure));
                return tally;
            }
        };
        let mut stopped = false;
        let walked = env.backend.each_entry(dir, read_buf.as_mut_slice(), |entry| {
            if entry.is_itself && share.is_flat {
                return true;
            }
            found.entries += 1;
            if entry.is_itself {
                found.directories += 1;
            } else if entry.size_bytes == wanted.size_bytes
                && entry.modified_unix_ns > newer_than_ns
            {
                found.matches += 1;
            }
            tally.count(Ok(0));
            recorder.end_op();
            stopped = env.barrier.is_stopped();
            !stopped
        });
        let walked = walked.map_err(|error| Failure { call: error.call, errno: Some(error.errno) });
        let closed = at("close", env.backend.close(dir));
        if let Err(failure) = walked.and(closed) {
            tally.count(Err(failure));
            return tally;
        }
        if stopped {
            return tally;
        }
    }
    if found.entries - found.directories != search.files {
        tally.count(Err(Failure { call: MISCOUNTED, errno: None }));
    }
    tally
}
