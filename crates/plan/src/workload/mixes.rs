//! Mixtures of keys that mean nothing or that the kernel refuses: each is refused where it is
//! written.
//!
//! The engine refuses the same for whoever speaks to it directly. What depends on a device (its
//! logical sector) is asked when contenders are known.

use super::io::{Spans, takes_backend, takes_fsync};
use crate::error::{PlanError, Span};
use fsarena_model::dataset::Dataset;
use fsarena_model::io::{Backend, Fsync, MAX_RUNTIME_NS, MAX_STONEWALL_NS, Sharing};
use fsarena_model::op::Op;
use fsarena_model::phase::{Order, Phase, Workload};
use fsarena_model::state::Effect;
use fsarena_model::units::{Bytes, Nanos};

/// Smallest logical sector of a device.
const SECTOR_BYTES: u64 = 512;

/// Most files that a random phase keeps open: half of what one process may open by default.
const MAX_OPEN_FILES: u64 = 1 << 18;

/// Most memory for the buffers of all calls in flight of a phase.
const MAX_BUFFER_BYTES: u64 = 4 << 30;

type Checked = Result<(), PlanError>;

/// Checks phase `number` of a workload.
pub(super) fn check(workload: &Workload, number: usize, spans: &Spans) -> Checked {
    let phase = &workload.phases[number];
    let set = &workload.dataset;
    contents(workload, phase, spans)?;
    backend(workload, phase, spans)?;
    fsync(phase, spans)?;
    random(set, phase, spans)?;
    if phase.io.direct {
        direct(workload, number, spans)?;
    }
    if phase.io.ranks > phase.io.threads {
        let what = format!("{} ranks for {} thread(s)", phase.io.ranks, phase.io.threads);
        return refuse(spans.key("ranks"), what, "`threads` is that of all ranks: raise it");
    }
    shift(phase, spans)?;
    if phase.io.rate.is_some() && phase.io.backend == Backend::IoUring {
        let what = "a rate with io_uring: ops overlap there and have no time of their own";
        return refuse(spans.key("rate"), what.to_owned(), "use backend = \"sync\"");
    }
    stonewall(set, phase, spans)?;
    if let Some((what, remedy)) = phase.why_no_latency_series() {
        return refuse(spans.key("latency_period"), what, remedy);
    }
    if phase.io.threads > 1 {
        threads(set, phase, spans)?;
    }
    flight(workload, number, spans)
}

fn refuse(place: &Span, what: String, remedy: impl Into<String>) -> Checked {
    Err(PlanError::new(place, what, remedy))
}

fn contents(workload: &Workload, phase: &Phase, spans: &Spans) -> Checked {
    let set = &workload.dataset;
    let about_files = !phase.op.is_about_dirs() && phase.op != Op::Fio;
    if about_files && set.files == 0 {
        let what = format!("phase {:?} has no files: `files` is missing", phase.name);
        return refuse(&spans.phase, what, "add files = 10_000");
    }
    let needs_size = phase.op.is_big() || phase.op.info().effect == Effect::Allocate;
    if needs_size && set.size_bytes == 0 {
        let what =
            format!("phase {:?} has no op: the files of {:?} are empty", phase.name, workload.name);
        return refuse(&spans.phase, what, "give them a size");
    }
    if phase.op.changes_dirs() && set.dirs == 0 {
        let what = format!("phase {:?} has no directories", phase.name);
        return refuse(&spans.phase, what, "add dirs = 100");
    }
    Ok(())
}

fn backend(workload: &Workload, phase: &Phase, spans: &Spans) -> Checked {
    let (op, io) = (phase.op.name(), &phase.io);
    if !takes_backend(phase.op, io.backend) {
        let (what, remedy) = match io.backend {
            Backend::Mmap => (
                format!("mmap with `{op}`: it is for the contents of big files"),
                "use backend = \"sync\" here, or a big op such as big-read or randread",
            ),
            _ => (
                format!("{} with `{op}`: the kernel has no such request", io.backend.name()),
                "use backend = \"sync\" here",
            ),
        };
        return refuse(spans.key("backend"), what, remedy);
    }
    if io.iodepth > 1 && io.backend != Backend::IoUring {
        let what = format!(
            "iodepth {} with backend {:?}: one call at a time",
            io.iodepth,
            io.backend.name()
        );
        return refuse(spans.key("iodepth"), what, "use backend = \"io_uring\", or more threads");
    }
    if io.backend == Backend::Mmap && io.direct {
        let what = "direct with mmap: a mapping is the page cache".to_owned();
        return refuse(spans.key("direct"), what, "use direct = false, or another backend");
    }
    if io.backend == Backend::Mmap && io.fsync == Fsync::Dsync {
        let what = "dsync with mmap: there is no write call to wait for".to_owned();
        return refuse(spans.key("fsync"), what, "use fsync = \"op\", or another backend");
    }
    let null = |phase: &Phase| phase.io.backend == Backend::Null;
    if null(phase) && !workload.phases.iter().all(null) {
        let what = "the null backend does nothing that another phase could find".to_owned();
        return refuse(spans.key("backend"), what, "use it for all phases of a workload");
    }
    Ok(())
}

fn fsync(phase: &Phase, spans: &Spans) -> Checked {
    let (op, fsync) = (phase.op, phase.io.fsync);
    if takes_fsync(op, fsync) {
        return Ok(());
    }
    let (what, remedy) = if takes_fsync(op, Fsync::End) {
        let changes_file = op.info().changes_file && !op.info().changes_names;
        let other = if changes_file { "op\" or \"file" } else { "op\" or \"dir" };
        let what = format!("fsync = {:?} with `{}`", fsync.name(), op.name());
        let why = if fsync == Fsync::Dir { "it makes no entries" } else { "it writes no contents" };
        (format!("{what}: {why}"), format!("use \"{other}\""))
    } else {
        let what = format!("fsync with `{}`, which changes nothing", op.name());
        (what, "leave it out".to_owned())
    };
    refuse(spans.key("fsync"), what, remedy)
}

fn random(set: &Dataset, phase: &Phase, spans: &Spans) -> Checked {
    let op = phase.op.name();
    if phase.op != Op::RandRw && phase.io.rwmixread_percent != 50 {
        let what = format!("rwmixread with `{op}`, which does not mix reads and writes");
        return refuse(spans.key("rwmixread"), what, "leave it out, or use randrw");
    }
    if !phase.op.is_random() {
        if phase.io.ops.is_some() {
            let what = format!("ops with `{op}`: the dataset says how many there are");
            return refuse(spans.key("ops"), what, "leave it out; it is for randread and the like");
        }
        if phase.io.runtime_ns.is_some() {
            let what = format!("a runtime with `{op}`: the dataset says how many ops there are");
            let remedy = "leave it out; for create and big-write there is stonewall";
            return refuse(spans.key("runtime"), what, remedy);
        }
        return Ok(());
    }
    if let Some(runtime_ns) = phase.io.runtime_ns {
        if !(1..=MAX_RUNTIME_NS).contains(&runtime_ns) {
            let what = format!("a runtime of {}", Nanos(runtime_ns));
            return refuse(spans.key("runtime"), what, "use more than 0 and at most a week");
        }
        if phase.io.ops.is_some() {
            let what = "a number of ops and a runtime".to_owned();
            return refuse(spans.key("runtime"), what, "leave one of them out");
        }
    }
    if !set.is_uniform() {
        let what = format!("`{op}` over files of different sizes");
        return refuse(&spans.phase, what, "give all files one size");
    }
    if phase.bs_bytes > set.size_bytes {
        let what = format!(
            "blocks of {} in files of {}: there is no whole one",
            Bytes(phase.bs_bytes),
            Bytes(set.size_bytes)
        );
        return refuse(spans.key("bs"), what, "use a smaller bs, or larger files");
    }
    let open = set.files.saturating_mul(u64::from(phase.io.threads));
    if open > MAX_OPEN_FILES && phase.io.backend != Backend::Null {
        let what = format!("`{op}` would keep {open} files open: each thread all of them");
        return refuse(&spans.phase, what, "use fewer and larger files, or fewer threads");
    }
    Ok(())
}

/// What `O_DIRECT` asks for on any device; reads of the tail of a file are allowed.
fn direct(workload: &Workload, number: usize, spans: &Spans) -> Checked {
    let phase = &workload.phases[number];
    if !phase.op.moves_bytes() {
        let what = format!("direct with `{}`, which moves no contents", phase.op.name());
        return refuse(spans.key("direct"), what, "leave it out");
    }
    if !phase.bs_bytes.is_multiple_of(SECTOR_BYTES) {
        let what = format!("direct with calls of {}", Bytes(phase.bs_bytes));
        let remedy = "use a bs that is a multiple of the logical sector: 512 B or 4 KiB";
        return refuse(spans.key("bs"), what, remedy);
    }
    if !is_aligned(workload, number, SECTOR_BYTES) {
        let what =
            format!("direct writes of files that do not end at a sector of {SECTOR_BYTES} B");
        let remedy = "use sizes that are multiples of it, or direct = false";
        return refuse(spans.key("direct"), what, remedy);
    }
    Ok(())
}

/// Whether the calls of phase `number` begin and end at sectors of this size. The tail of a file
/// may be read as it is.
pub(crate) fn is_aligned(workload: &Workload, number: usize, sector_bytes: u64) -> bool {
    let phase = &workload.phases[number];
    let state = workload.state_before(number);
    let sizes = || {
        let odd = workload.dataset.draw_sizes().odd(sector_bytes, state.appended_bytes);
        odd.is_none() && state.ends_at(sector_bytes)
    };
    let blocks = !phase.op.writes() || phase.op.is_random();
    phase.bs_bytes.is_multiple_of(sector_bytes) && (blocks || sizes())
}

/// Threads that work on what others have made.
fn shift(phase: &Phase, spans: &Spans) -> Checked {
    let (op, io) = (phase.op, &phase.io);
    if io.shift == 0 {
        return Ok(());
    }
    let place = spans.key("shift");
    if !op.takes_shift() {
        let why = match op {
            _ if op.is_random() => "its threads share all blocks, whoever wrote them",
            _ => "it makes what it works on",
        };
        let what = format!("shift with `{}`: {why}", op.name());
        let remedy = "use it in phases that read, stat, overwrite or delete what is there";
        return refuse(place, what, remedy);
    }
    if io.shift >= io.threads {
        let what = format!("shift {} of {} thread(s)", io.shift, io.threads);
        let remedy = "use a smaller one, or more threads: `shift` has to be less than `threads`";
        return refuse(place, what, remedy);
    }
    Ok(())
}

/// A phase that ends by the clock: what it leaves has to be told from one number of ops.
fn stonewall(set: &Dataset, phase: &Phase, spans: &Spans) -> Checked {
    let (op, io) = (phase.op, &phase.io);
    let Some(wall_ns) = io.stonewall_ns else { return Ok(()) };
    let place = spans.key("stonewall");
    if !(1..=MAX_STONEWALL_NS).contains(&wall_ns) {
        let what = format!("a stonewall of {}", Nanos(wall_ns));
        return refuse(place, what, "use more than 0 and at most 24 h: IO500 has 300 s");
    }
    if !op.takes_stonewall() {
        let what = format!("a stonewall with `{}`", op.name());
        let remedy = "it is for create and big-write; what follows them works on what they made";
        return refuse(place, what, remedy);
    }
    if io.backend != Backend::Sync {
        let what = format!("a stonewall with backend {:?}", io.backend.name());
        return refuse(place, what, "use backend = \"sync\"");
    }
    if io.rate.is_some() {
        let what = "a stonewall with a rate: the one sets the time, the other the work".to_owned();
        return refuse(place, what, "leave one of them out");
    }
    if phase.order == Order::Random {
        let what = "a stonewall in random order: what is there would follow no order".to_owned();
        return refuse(place, what, "use order = \"sequential\"");
    }
    if io.fsync == Fsync::Dir {
        let what = "a stonewall with fsync = \"dir\": which file is the last of a directory is \
                    not known";
        return refuse(spans.key("fsync"), what.to_owned(), "use \"op\", \"file\" or \"end\"");
    }
    let threads = u64::from(io.threads);
    let files = if io.sharing == Sharing::Own { threads } else { 1 };
    if op.is_big() && set.files != files {
        let what = format!("a stonewall over {} big files by {threads} thread(s)", set.files);
        let remedy = match io.sharing {
            Sharing::Own => format!("use files = {threads}: one for each thread"),
            _ => "use files = 1: all write it in turn".to_owned(),
        };
        return refuse(place, what, remedy);
    }
    Ok(())
}

/// Several threads: each has something to do, and none disturbs another.
fn threads(set: &Dataset, phase: &Phase, spans: &Spans) -> Checked {
    let (op, io) = (phase.op, &phase.io);
    let at = spans.key("threads");
    let threads = u64::from(io.threads);
    let shared = io.sharing != Sharing::Own;
    sharing(phase, spans)?;
    if op.changes_dirs() && set.levels() > 1 {
        let what = format!("`{}` of nested directories by {threads} threads", op.name());
        return refuse(at, what, "use threads = 1 here, or depth = 1");
    }
    let (there, of) = portions(set, phase, shared);
    if there >= threads {
        if set.fewest_ops(phase) > 0 {
            return Ok(());
        }
        let what = format!("{threads} threads, and one of them has nothing to do");
        let remedy = if !op.is_big() && op.takes_sharing(Sharing::Shared) {
            "its directories would be empty; use fewer threads, more files, fewer directories, or \
             sharing = \"shared\""
        } else {
            "its files would be empty or have too few calls; use fewer threads or larger files"
        };
        return refuse(at, what, remedy);
    }
    let what = format!("{threads} threads for {there} {}", of[usize::from(there != 1)]);
    let remedy = match there {
        0 if op.takes_sharing(Sharing::Shared) => {
            "add dirs, or sharing = \"shared\" where all work in one directory"
        }
        _ if op.is_big() && !op.is_random() && !shared && op.takes_sharing(Sharing::Shared) => {
            "use more files, fewer threads, or sharing = \"shared\": each its part of every file"
        }
        _ if !op.is_big() && !shared && op.takes_sharing(Sharing::Shared) => {
            "use more directories, fewer threads, or sharing = \"shared\""
        }
        _ => "use fewer threads",
    };
    refuse(at, what, remedy)
}

/// Whether each thread of a phase has something to do, and as many ops as are to be in flight.
pub(super) fn is_busy(set: &Dataset, phase: &Phase) -> bool {
    let alone = phase.io.threads <= 1 && depth(phase) <= 1;
    alone || phase.op == Op::Fio || set.fewest_ops(phase) >= depth(phase).max(1)
}

/// Ops that are to be in flight. Directories are made and removed level by level: there may be
/// fewer.
fn depth(phase: &Phase) -> u64 {
    if phase.op.is_about_dirs() { 1 } else { u64::from(phase.io.iodepth) }
}

/// Calls in flight: as many as there are, and with room for their bytes.
fn flight(workload: &Workload, number: usize, spans: &Spans) -> Checked {
    let phase = &workload.phases[number];
    let (io, set) = (&phase.io, &workload.dataset);
    if depth(phase) > 1 && !is_busy(set, phase) {
        let ops = set.fewest_ops(phase);
        let of = if io.threads > 1 { "a thread of " } else { "" };
        let what = format!("iodepth {}, and {of}{:?} has {ops} ops", io.iodepth, phase.name);
        return refuse(spans.key("iodepth"), what, "use a smaller iodepth, or more ops");
    }
    if !phase.op.moves_bytes() || io.backend == Backend::Null || phase.op == Op::Fio {
        return Ok(());
    }
    let largest = set.size_bytes.saturating_add(workload.state_before(number).appended_bytes);
    let whole = phase.op.appends() || phase.op.is_random();
    let call = if whole { phase.bs_bytes } else { phase.bs_bytes.min(largest) };
    let calls = u64::from(io.threads) * u64::from(io.iodepth);
    let bytes = calls.saturating_mul(call);
    if bytes > MAX_BUFFER_BYTES {
        let what = format!(
            "{} thread{} × iodepth {} × {} are {} of buffers",
            io.threads,
            if io.threads == 1 { "" } else { "s" },
            io.iodepth,
            Bytes(call),
            Bytes(bytes)
        );
        let remedy = "use a smaller bs or iodepth, or fewer threads: up to 4 GiB in all";
        return refuse(spans.key("bs"), what, remedy);
    }
    Ok(())
}

/// Threads that are not each by itself.
fn sharing(phase: &Phase, spans: &Spans) -> Checked {
    let (op, io) = (phase.op, &phase.io);
    let place = spans.key("sharing");
    if !op.takes_sharing(io.sharing) {
        let (how, remedy) = match (io.sharing, op) {
            (Sharing::Interleaved, _) => {
                ("interleaved", "use it for big-write, big-read and big-overwrite")
            }
            (_, Op::BigWrite) => (
                "shared",
                "use sharing = \"interleaved\", or \"own\" with as many files, or threads = 1",
            ),
            _ => ("shared", "use sharing = \"own\": each thread has directories of its own"),
        };
        let what = format!("`{}` cannot be {how} by {} threads", op.name(), io.threads);
        return refuse(place, what, remedy);
    }
    if io.sharing == Sharing::Interleaved && io.backend == Backend::Mmap && op.creates() {
        let what = format!("interleaved `{}` with mmap: a mapping is of a whole file", op.name());
        return refuse(place, what, "use another backend, or write the file by one thread");
    }
    Ok(())
}

/// What is dealt out to threads: how many there are, and what one and several of them are called.
fn portions(set: &Dataset, phase: &Phase, shared: bool) -> (u64, [&'static str; 2]) {
    const FILES: [&str; 2] = ["file", "files"];
    const DIRS: [&str; 2] = ["leaf directory", "leaf directories"];
    let op = phase.op;
    let calls = |size: u64| size.div_ceil(phase.bs_bytes.max(1));
    match (op.is_big(), shared) {
        _ if op.is_about_dirs() => (set.dirs, DIRS),
        // One order of all blocks, whoever they belong to.
        _ if op.is_random() => (phase.count(set), ["op", "ops"]),
        (true, false) | (false, true) => (set.files, FILES),
        (true, true) => (calls(set.size_bytes), ["call of a file", "calls of a file"]),
        (false, false) => (set.dirs, DIRS),
    }
}
