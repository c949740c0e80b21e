//! Settings that cannot go together, refused before anything is touched.
//!
//! The plan refuses them with a place in the experiment file; this is for whoever speaks to the
//! engine directly. A policy that has nothing to do in an op (fsync in a `stat`) is none of them.

mod cycle;

use crate::error::EngineError;
use fsarena_model::work::{Backend, Dataset, DatasetState, Fsync, Op, Order, Phase, Sharing};

/// Checks `phase` over `dataset`, found in `state`, where the logical sector has `sector_bytes`.
///
/// # Errors
/// Says what does not go together and what to do.
pub(crate) fn phase(
    dataset: &Dataset,
    state: &DatasetState,
    phase: &Phase,
    sector_bytes: u64,
) -> Result<(), EngineError> {
    if phase.bs_bytes == 0 && (phase.op.moves_bytes() || phase.op.is_random()) {
        return Err(EngineError::NoBlockSize { phase: phase.name.clone() });
    }
    let refuse = |(what, remedy)| EngineError::Mix { phase: phase.name.clone(), what, remedy };
    numbers(phase).map_err(refuse)?;
    backend(phase).map_err(refuse)?;
    cycle::check(dataset, state, phase).map_err(refuse)?;
    sharing(dataset, phase).map_err(refuse)?;
    if phase.op.is_random() {
        random(dataset, phase).map_err(refuse)?;
    }
    if phase.io.direct && phase.op.moves_bytes() {
        direct(dataset, state, phase, sector_bytes).map_err(refuse)?;
    }
    match phase.io.backend {
        Backend::IoUring => crate::uring::check(phase.op, &phase.io)
            .map_err(|source| EngineError::Uring { phase: phase.name.clone(), source }),
        _ => Ok(()),
    }
}

/// What is wrong, and what to do.
type Wrong = (String, &'static str);

/// Most threads: each has buffers and a histogram of its own.
const MAX_THREADS: u32 = 1024;

fn numbers(phase: &Phase) -> Result<(), Wrong> {
    let io = &phase.io;
    if matches!(phase.op, Op::Fio | Op::Job | Op::Watched) {
        let what = format!("{} is not an op over a dataset", phase.op.name());
        return Err((what, "give it as a task of its own"));
    }
    if io.threads == 0 {
        return Err(("0 threads".to_owned(), "use 1 or more"));
    }
    if io.threads > MAX_THREADS {
        let what = format!("{} threads", io.threads);
        return Err((what, "use at most 1024"));
    }
    if io.iodepth == 0 {
        return Err(("iodepth 0".to_owned(), "use 1 or more"));
    }
    if io.rwmixread_percent > 100 {
        let what = format!("rwmixread {} percent", io.rwmixread_percent);
        return Err((what, "use 0 to 100"));
    }
    match io.ops {
        Some(0) => Err(("0 ops".to_owned(), "use 1 or more, or leave ops out")),
        Some(_) if !phase.op.is_random() => {
            let what = format!("a number of ops for {}", phase.op.name());
            Err((what, "leave ops out: only random ops repeat"))
        }
        _ => Ok(()),
    }
}

fn backend(phase: &Phase) -> Result<(), Wrong> {
    let (io, op) = (&phase.io, phase.op);
    if io.iodepth > 1 && !matches!(io.backend, Backend::IoUring) {
        let what = format!("iodepth {} with backend {}", io.iodepth, io.backend.name());
        return Err((what, "one call at a time is in flight there; use backend = \"io_uring\""));
    }
    if io.backend != Backend::Mmap {
        return Ok(());
    }
    if !op.is_big() {
        let what = format!("backend mmap with {}", op.name());
        return Err((what, "it moves the contents of big files; use backend = \"sync\""));
    }
    if io.direct {
        return Err((
            "direct with backend mmap".to_owned(),
            "a mapping is the page cache; leave direct out, or use backend = \"sync\"",
        ));
    }
    if io.fsync == Fsync::Dsync {
        return Err((
            "fsync = dsync with backend mmap".to_owned(),
            "a memory copy is no write call; use fsync = \"op\", or backend = \"sync\"",
        ));
    }
    Ok(())
}

fn sharing(dataset: &Dataset, phase: &Phase) -> Result<(), Wrong> {
    let (op, threads) = (phase.op, phase.io.threads);
    let makes_dirs = matches!(op, Op::Mkdir | Op::Rmdir);
    if makes_dirs && dataset.dirs == 0 {
        let what = format!("{} in a dataset without directories", op.name());
        return Err((what, "give it some (dirs)"));
    }
    if makes_dirs && dataset.levels() > 1 {
        if phase.order == Order::Random {
            let what = format!("{} of {} levels in random order", op.name(), dataset.levels());
            return Err((what, "a directory needs the one above it; use order = \"sequential\""));
        }
        if threads > 1 {
            let what = format!("{} of {} levels by {threads} threads", op.name(), dataset.levels());
            return Err((what, "a directory needs the one above it; use depth = 1 or 1 thread"));
        }
    }
    if threads == 1 || phase.io.sharing == Sharing::Own {
        return Ok(());
    }
    if op.is_about_dirs() {
        let what = format!("sharing = shared with {}", op.name());
        return Err((what, "a directory is one thread's; use sharing = \"own\""));
    }
    if op == Op::BigWrite {
        let what = format!("big-write of shared files by {threads} threads");
        return Err((
            what,
            "only one thread can make a file; use sharing = \"own\", or big-overwrite",
        ));
    }
    Ok(())
}

fn random(dataset: &Dataset, phase: &Phase) -> Result<(), Wrong> {
    if !dataset.is_uniform() {
        let what = format!("{} in files of different sizes", phase.op.name());
        return Err((what, "blocks are drawn from files of one size; leave sizes out"));
    }
    let blocks = dataset.size_bytes / phase.bs_bytes;
    if dataset.files.checked_mul(blocks).is_none_or(|all| all == 0) {
        let what = format!(
            "{} files of {} bytes hold no block of {} bytes",
            dataset.files, dataset.size_bytes, phase.bs_bytes
        );
        return Err((what, "use larger files or a smaller bs"));
    }
    let wanted = dataset.files.saturating_mul(u64::from(phase.io.threads));
    if phase.io.backend != Backend::Null && wanted + SPARE_FILES > open_files() {
        let what = format!(
            "{} threads keep {wanted} files open, and this process may open {}",
            phase.io.threads,
            open_files()
        );
        return Err((what, "use fewer and larger files, or a higher limit (ulimit -n)"));
    }
    Ok(())
}

/// Descriptors for other things than the files of a random phase.
const SPARE_FILES: u64 = 64;

/// How many descriptors there may be; raises the soft limit to the hard one for that.
pub(crate) fn open_files() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        // Where that is not allowed, the old limit is told.
        setrlimit(Resource::Nofile, raised).ok();
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn direct(
    dataset: &Dataset,
    state: &DatasetState,
    phase: &Phase,
    sector_bytes: u64,
) -> Result<(), Wrong> {
    if !phase.bs_bytes.is_multiple_of(sector_bytes) {
        let what = format!(
            "direct with calls of {} bytes, and the logical sector has {sector_bytes}",
            phase.bs_bytes
        );
        return Err((what, "use a bs that is a multiple of it, or leave direct out"));
    }
    if !phase.op.writes() || phase.op.is_random() {
        return Ok(());
    }
    match dataset.draw_sizes().odd(sector_bytes, state.appended_bytes) {
        None => Ok(()),
        Some(size) => {
            let what = format!(
                "direct writes of files of {} bytes, and the logical sector has {sector_bytes}",
                size + state.appended_bytes
            );
            Err((what, "use sizes that are multiples of it, or leave direct out"))
        }
    }
}

#[cfg(test)]
mod tests;
