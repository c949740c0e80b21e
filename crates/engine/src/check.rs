//! Settings that cannot go together, refused before anything is touched.
//!
//! The plan refuses them with a place in the experiment file; this is for callers that use the
//! engine directly. A policy that has nothing to do in an op (fsync in a `stat`) is none of them.

use crate::error::EngineError;
use crate::names::SiblingNames;
use crate::resources::open_files;
use fsarena_model::cycle::{Cycle, Disturb, Load};
use fsarena_model::io::{MAX_RUNTIME_NS, MAX_STONEWALL_NS};
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
    numbers(dataset, phase).map_err(refuse)?;
    backend(phase).map_err(refuse)?;
    cycles(dataset, state, phase).map_err(refuse)?;
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

/// Whether the phase has a rank of that number, and the rank threads.
///
/// # Errors
/// Where it has not.
pub(crate) fn rank(phase: &Phase, rank: u32) -> Result<(), EngineError> {
    let io = &phase.io;
    if rank < io.ranks && io.ranks <= io.threads {
        return Ok(());
    }
    let what = format!("rank {rank} of {} with {} thread(s) in all", io.ranks, io.threads);
    let remedy = "use at most as many ranks as threads";
    Err(EngineError::Mix { phase: phase.name.clone(), what, remedy })
}

/// What is wrong, and what to do.
type Wrong = (String, &'static str);

/// Most threads: each has buffers and a histogram of its own.
const MAX_THREADS: u32 = 1024;

fn numbers(dataset: &Dataset, phase: &Phase) -> Result<(), Wrong> {
    let io = &phase.io;
    if !phase.op.is_of_engine() {
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
    shift(phase)?;
    rate(phase)?;
    stonewall(dataset, phase)?;
    latency_period(phase)?;
    runtime(phase)?;
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

fn runtime(phase: &Phase) -> Result<(), Wrong> {
    let Some(runtime_ns) = phase.io.runtime_ns else { return Ok(()) };
    if !(1..=MAX_RUNTIME_NS).contains(&runtime_ns) {
        let what = format!("a runtime of {runtime_ns} ns");
        return Err((what, "use more than 0 and at most a week"));
    }
    if !phase.op.is_random() {
        let what = format!("a runtime for {}", phase.op.name());
        return Err((what, "leave it out: only random ops repeat"));
    }
    if phase.io.ops.is_some() {
        return Err(("ops and a runtime".to_owned(), "leave one of them out"));
    }
    Ok(())
}

/// Most ops a second of a thread: far more than there are calls.
const MAX_RATE: u32 = 10_000_000;

fn rate(phase: &Phase) -> Result<(), Wrong> {
    let Some(rate) = phase.io.rate else { return Ok(()) };
    if !(1..=MAX_RATE).contains(&rate) {
        return Err((format!("a rate of {rate}"), "use 1 to 10000000, or leave it out"));
    }
    if phase.op == Op::Cycle {
        return Err(("a rate with cycle".to_owned(), "its period says when; leave rate out"));
    }
    if phase.io.backend == Backend::IoUring {
        let what = "a rate with backend io_uring".to_owned();
        return Err((what, "ops overlap there and have no time of their own; use \"sync\""));
    }
    Ok(())
}

fn latency_period(phase: &Phase) -> Result<(), Wrong> {
    phase.why_no_latency_series().map_or(Ok(()), Err)
}

fn stonewall(dataset: &Dataset, phase: &Phase) -> Result<(), Wrong> {
    let (io, op) = (&phase.io, phase.op);
    let Some(wall_ns) = io.stonewall_ns else { return Ok(()) };
    if !(1..=MAX_STONEWALL_NS).contains(&wall_ns) {
        return Err((format!("a stonewall of {wall_ns} ns"), "use at most a day"));
    }
    if !op.takes_stonewall() {
        let what = format!("a stonewall with {}", op.name());
        return Err((what, "it is for create and big-write; leave it out"));
    }
    if io.backend != Backend::Sync {
        let what = format!("a stonewall with backend {}", io.backend.name());
        return Err((what, "it is for blocking calls; use \"sync\""));
    }
    if io.rate.is_some() {
        let what = "a stonewall with a rate".to_owned();
        return Err((what, "the one says how long it takes, the other how much; leave one out"));
    }
    if phase.order == Order::Random {
        let what = "a stonewall in random order".to_owned();
        return Err((what, "which files are there would follow no order; use \"sequential\""));
    }
    if io.fsync == Fsync::Dir {
        let what = "a stonewall with fsync = dir".to_owned();
        return Err((what, "the last file of a directory is not known; use another fsync"));
    }
    let files = if io.sharing == Sharing::Own { u64::from(io.threads) } else { 1 };
    if op.is_big() && dataset.files != files {
        let what =
            format!("a stonewall over {} big files by {} threads", dataset.files, io.threads);
        return Err((what, "use one file for each thread, or one file in turn (interleaved)"));
    }
    Ok(())
}

fn shift(phase: &Phase) -> Result<(), Wrong> {
    let (io, op) = (&phase.io, phase.op);
    if io.shift > 0 && !op.takes_shift() {
        let what = format!("shift {} with {}", io.shift, op.name());
        return Err((what, "it is for ops on what earlier phases made, in shares; leave it out"));
    }
    if io.shift >= io.threads {
        let what = format!("shift {} of {} thread(s)", io.shift, io.threads);
        return Err((what, "use a shift that is smaller than the number of threads"));
    }
    Ok(())
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
    if !op.is_big() || !op.moves_bytes() {
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
    let makes_dirs = op.changes_dirs();
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
    let sharing = phase.io.sharing;
    if sharing == Sharing::Interleaved {
        return interleaved(phase);
    }
    if op.is_about_dirs() || op == Op::Find {
        let what = format!("sharing = shared with {}", op.name());
        return Err((what, "a directory is one thread's; use sharing = \"own\""));
    }
    if !op.takes_sharing(sharing) {
        let what = format!("{} of shared files by {threads} threads", op.name());
        return Err((
            what,
            "only one thread can make a file; use sharing = \"own\" or \"interleaved\", or \
             big-overwrite",
        ));
    }
    Ok(())
}

/// Blocks of big files in turn.
fn interleaved(phase: &Phase) -> Result<(), Wrong> {
    let op = phase.op;
    if !op.takes_sharing(Sharing::Interleaved) {
        let what = format!("sharing = interleaved with {}", op.name());
        return Err((what, "it is for big-write, big-read and big-overwrite; use \"own\""));
    }
    if phase.io.backend == Backend::Mmap && op.creates() {
        let what = format!("{} of interleaved blocks with backend mmap", op.name());
        return Err((what, "a mapping needs the whole file; use backend = \"sync\""));
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
        None if state.ends_at(sector_bytes) => Ok(()),
        None => {
            let most_bytes = state.truncated_bytes.unwrap_or(state.most_made_bytes());
            let what = format!("direct writes of files that were truncated to {most_bytes} bytes");
            Err((what, "truncate to a multiple of the logical sector, or leave direct out"))
        }
        Some(size) => {
            let what = format!(
                "direct writes of files of {} bytes, and the logical sector has {sector_bytes}",
                size + state.appended_bytes
            );
            Err((what, "use sizes that are multiples of it, or leave direct out"))
        }
    }
}

/// Most updates of all cycles together: each takes four bytes of memory.
const MAX_UPDATES: u64 = 100_000_000;
/// Most small files of a second load: their names have eight digits.
const MAX_DISTURB_FILES: u64 = 100_000_000;

/// Checks that `phase` has cycles where its op wants them and only there, and that they can be.
fn cycles(dataset: &Dataset, state: &DatasetState, phase: &Phase) -> Result<(), Wrong> {
    match (&phase.cycle, phase.op == Op::Cycle) {
        (None, false) => Ok(()),
        (None, true) => {
            Err(("cycle, and nothing is said of its cycles".to_owned(), "give it them (cycle)"))
        }
        (Some(_), false) => Err((
            format!("cycles for {}", phase.op.name()),
            "use op = \"cycle\", or leave them out",
        )),
        (Some(cycle), true) => {
            cycle_calls(phase)?;
            cycle_numbers(dataset, state, phase, cycle)?;
            SiblingNames::new(dataset).map_err(|error| {
                (error.to_string(), "names next to those of the files have 15 bytes")
            })?;
            cycle.disturb.as_ref().map_or(Ok(()), |disturb| second_load(cycle, disturb))
        }
    }
}

/// How the calls of a cycle are made.
fn cycle_calls(phase: &Phase) -> Result<(), Wrong> {
    let io = &phase.io;
    if !matches!(io.backend, Backend::Sync | Backend::Null) {
        let what = format!("backend {} with cycle", io.backend.name());
        return Err((what, "one file follows the other; use backend = \"sync\""));
    }
    if io.direct {
        return Err((
            "direct with cycle".to_owned(),
            "it is an application that writes files of any size; leave direct out",
        ));
    }
    if io.threads > 1 {
        let what = format!("cycle by {} threads", io.threads);
        return Err((what, "a cycle is one thread's; leave threads out"));
    }
    if io.fsync == Fsync::Dir {
        return Err((
            "fsync = dir with cycle".to_owned(),
            "its files come in no order of directories; use fsync = \"op\", \"end\" or \"dsync\"",
        ));
    }
    Ok(())
}

fn cycle_numbers(
    dataset: &Dataset,
    state: &DatasetState,
    phase: &Phase,
    cycle: &Cycle,
) -> Result<(), Wrong> {
    if cycle.cycles == 0 && (phase.timed || cycle.disturb.is_none()) {
        let remedy = "use 1 or more (0 only prepares the second load of an untimed phase)";
        return Err(("0 cycles".to_owned(), remedy));
    }
    let versions = u32::from(u16::MAX - state.newest_version);
    if cycle.cycles > versions {
        let what = format!("{} cycles, and contents have {versions} versions left", cycle.cycles);
        return Err((what, "use fewer"));
    }
    if cycle.period_ns == 0 {
        return Err(("a period of 0".to_owned(), "use 1 ns or more"));
    }
    if cycle.period_ns.checked_mul(u64::from(cycle.cycles) + 1).is_none() {
        let what = format!("{} cycles of {} ns", cycle.cycles, cycle.period_ns);
        return Err((what, "use fewer, or a shorter period: time has 64 bits"));
    }
    if cycle.updates == 0 {
        return Err(("cycles of 0 updates".to_owned(), "use 1 or more"));
    }
    if cycle.updates > dataset.files {
        let what = format!("cycles of {} updates of {} files", cycle.updates, dataset.files);
        return Err((what, "a cycle takes no file twice; use fewer updates or more files"));
    }
    if cycle.updates.saturating_mul(u64::from(cycle.cycles)) > MAX_UPDATES {
        let what = format!("{} cycles of {} updates", cycle.cycles, cycle.updates);
        return Err((what, "use fewer: at most 100000000 are drawn before the phase"));
    }
    if cycle.shares.weights().iter().all(|&weight| weight == 0) {
        return Err(("shares that are all 0".to_owned(), "give one of the kinds a weight"));
    }
    Ok(())
}

fn second_load(cycle: &Cycle, disturb: &Disturb) -> Result<(), Wrong> {
    let is_unknown = |number: &&u32| !(1..=cycle.cycles).contains(*number);
    // In preparation there are none yet.
    if let Some(number) = disturb.cycles.iter().find(is_unknown).filter(|_| cycle.cycles > 0) {
        let what = format!("a second load in cycle {number} of {}", cycle.cycles);
        return Err((what, "cycles are counted from 1; leave it out, or use more cycles"));
    }
    match disturb.load {
        Load::Create { files: 0, .. } => {
            Err(("a second load of 0 files".to_owned(), "use 1 or more, or leave it out"))
        }
        Load::Create { files, .. } if files > MAX_DISTURB_FILES => {
            Err((format!("a second load of {files} files"), "use at most 100000000"))
        }
        Load::Write { size_bytes, bs_bytes, .. } | Load::Read { size_bytes, bs_bytes, .. }
            if size_bytes == 0 || bs_bytes == 0 =>
        {
            let what = format!(
                "a second load that {}s a file of {size_bytes} bytes in calls of {bs_bytes}",
                disturb.load.name()
            );
            Err((what, "use 1 or more of both"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
