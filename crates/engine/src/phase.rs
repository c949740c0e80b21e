//! One phase: prepare, run between two clock reads, report.

use crate::Job;
use crate::backend::Backend;
use crate::backend::mmap::Mmap;
use crate::backend::null::Null;
use crate::backend::sync::Sync;
use crate::buffer::Pages;
use crate::check;
use crate::clock::TickClock;
use crate::cycle::Cycles;
use crate::durable::Durable;
use crate::error::EngineError;
use crate::hist::{Chained, Histogram, NoLatency};
use crate::latency_series::LatencySeries;
use crate::names::{DirNames, FileNames, LINK, SYMLINK};
use crate::op::{self, LoopEnv};
use crate::outcome::{not_started, sync_error};
use crate::paced::Paced;
use crate::pattern::random_order;
use crate::resources::{close_own_descriptors, own_descriptors};
use crate::root::Root;
pub use crate::root::make_dirs;
use crate::runtime::stop_after;
use crate::share::Share;
use crate::stamp::{Contents, Span, attribute_value};
use crate::stonewall::{OtherRanks, Stonewall, Walled};
use crate::threads::{Latency, Search, Sizes, StartBarrier, ThreadContext, ThreadOutcome};
use crate::uring;
use fsarena_model::cycle::CycleEvent;
use fsarena_model::op::{BlockSize, Count};
use fsarena_model::seed::Seed;
use fsarena_model::state::Effect;
use fsarena_model::work::{
    Backend as Interface, Dataset, FindReport, Fsync, Io, Op, Order, Phase, WorkerReport,
};
use rustix::io::Errno;

/// Bytes of the buffer that `list` reads entries into: what glibc's readdir(3) uses.
const LIST_BYTES: usize = 32 * 1024;

impl Job<'_> {
    /// Prepares the phase, runs it below `root` and reports: what a worker does, in one call. A
    /// phase that creates files finds their directories made.
    ///
    /// # Errors
    /// When it cannot be prepared. A failure *in* the phase is part of the report.
    pub fn run(&self, root: &Root) -> Result<WorkerReport, EngineError> {
        let mut prepared = Prepared::new(self)?;
        if self.phase.op.creates() && self.phase.io.backend != Interface::Null {
            make_dirs(root, self.dataset)?;
        }
        Ok(prepared.run_on(root))
    }
}

/// Prepares a phase over a dataset as it was created, runs it and reports.
///
/// # Errors
/// As [`Job::run`].
pub fn run_phase(
    root: &Root,
    dataset: &Dataset,
    phase: &Phase,
    seed: Seed,
    dataset_seed: Seed,
    latency: bool,
) -> Result<WorkerReport, EngineError> {
    let sector_bytes = root.sector_bytes();
    Job { latency, sector_bytes, ..Job::new(dataset, phase, seed, dataset_seed) }.run(root)
}

/// A phase that is ready to run: everything allocated, filled and touched.
#[derive(Debug)]
pub struct Prepared {
    phase: Phase,
    /// One a thread; none where there are cycles.
    contexts: Vec<ThreadContext>,
    /// Of a phase of cycles.
    cycles: Option<Box<Cycles>>,
}

impl Prepared {
    /// Prepares a phase: touches no file.
    ///
    /// # Errors
    /// When its settings cannot go together, the numbers do not fit or there is no memory.
    pub fn new(job: &Job<'_>) -> Result<Self, EngineError> {
        let (dataset, phase) = (job.dataset, job.phase);
        check::phase(dataset, &job.state, phase, job.sector_bytes)?;
        check::rank(phase, job.rank)?;
        let mut names = FileNames::new(dataset)?;
        names.use_renamed_name(job.state.renamed);
        let common = Common {
            names,
            dirs: DirNames::new(dataset)?,
            sizes: Sizes::new(dataset, &job.state),
            clock: job.latency.then(|| clock_of(&phase.io)),
        };
        let phase = phase.clone();
        if let Some(cycle) = &phase.cycle {
            let cycles = Cycles::new(job, cycle, (&common.names, &common.sizes, common.clock))?;
            return Ok(Self { phase, contexts: vec![], cycles: Some(Box::new(cycles)) });
        }
        let contexts = phase.io.threads_of(job.rank).map(|thread| common.context(job, thread));
        Ok(Self { contexts: contexts.collect::<Result<_, _>>()?, phase, cycles: None })
    }

    /// Runs the phase below `root` with the backend that it names.
    pub fn run_on(&mut self, root: &Root) -> WorkerReport {
        self.run_with_events(root, &mut |_| {})
    }

    /// As [`Prepared::run_on`]; in a phase of cycles, `on_event` gets each event when it comes.
    pub fn run_with_events(
        &mut self,
        root: &Root,
        on_event: &mut dyn FnMut(CycleEvent),
    ) -> WorkerReport {
        self.run_beside(root, on_event, None)
    }

    /// As [`Prepared::run_with_events`], as one of several ranks, of which a stonewall asks
    /// `others`.
    pub fn run_beside(
        &mut self,
        root: &Root,
        on_event: &mut dyn FnMut(CycleEvent),
        others: Option<&dyn OtherRanks>,
    ) -> WorkerReport {
        let io = self.phase.io.clone();
        let others = others.filter(|_| io.ranks > 1);
        match io.backend {
            Interface::Sync => self.run_as_rank(&Sync::new(root, &io), on_event, others),
            Interface::Null => self.run_with(&Null, on_event),
            Interface::Mmap => self.run(&Mmap::new(root, self.phase.op)),
            Interface::IoUring => self.run_threads(
                |context, barrier| uring::run_thread(root, context, barrier),
                || root.make_durable(),
                || root.free_bytes(),
            ),
        }
    }

    /// Runs the phase with `backend` and reports. A second call goes over the same files in the
    /// same order and counts into the same histograms.
    pub fn run<B: Backend + std::marker::Sync>(&mut self, backend: &B) -> WorkerReport {
        self.run_with(backend, &mut |_| {})
    }

    /// As [`Prepared::run`]; `on_event` gets the events of cycles.
    pub fn run_with<B: Backend + std::marker::Sync>(
        &mut self,
        backend: &B,
        on_event: &mut dyn FnMut(CycleEvent),
    ) -> WorkerReport {
        self.run_as_rank(backend, on_event, None)
    }

    fn run_as_rank<B: Backend + std::marker::Sync>(
        &mut self,
        backend: &B,
        on_event: &mut dyn FnMut(CycleEvent),
        others: Option<&dyn OtherRanks>,
    ) -> WorkerReport {
        if let Some(cycles) = &mut self.cycles
            && B::HAS_SMALL_FILES
        {
            return cycles.run(backend, on_event);
        }
        let threads = self.contexts.len();
        let wall = self.phase.io.stonewall_ns.map(|ns| Stonewall::new(ns, threads, others));
        let mut report = self.run_threads(
            |context, barrier| (run_blocking(context, backend, barrier, wall.as_ref()), ()),
            || backend.make_durable(),
            || backend.free_bytes(),
        );
        report.stonewall = wall.map(|wall| wall.report());
        report
    }

    /// Runs `work` with each context, the first on this thread; then `make_durable`.
    /// What `work` returns with its outcome is dropped after the last clock read. `free_bytes` are
    /// asked for after all clocks, to explain a failure.
    fn run_threads<K: Send>(
        &mut self,
        work: impl Fn(&mut ThreadContext, &StartBarrier) -> (ThreadOutcome, K) + std::marker::Sync,
        make_durable: impl FnOnce() -> Result<Durable, Errno>,
        free_bytes: impl Fn() -> Option<u64>,
    ) -> WorkerReport {
        let barrier = StartBarrier::new(&self.contexts);
        for context in &mut self.contexts {
            context.left_in_dirs.clone_from(&context.in_dirs);
        }
        let contexts = self.contexts.as_mut_slice();
        let run = || match contexts {
            [alone] => Ok(vec![work(alone, &barrier)]),
            contexts => run_on_threads(contexts, &barrier, &work),
        };
        let outcomes = match self.phase.io.runtime_ns {
            None => run(),
            Some(runtime_ns) => stop_after(&barrier, runtime_ns, run).flatten(),
        };
        let durable = make_durable();
        let outcomes = outcomes.map(|all| all.into_iter().map(|(one, _)| one).collect::<Vec<_>>());
        match outcomes {
            Ok(outcomes) => self.report(&barrier, &outcomes, durable, free_bytes),
            Err(source) => not_started(&source),
        }
    }

    /// Words and model values, after the clock.
    fn report(
        &self,
        barrier: &StartBarrier,
        outcomes: &[ThreadOutcome],
        durable: Result<Durable, Errno>,
        free_bytes: impl Fn() -> Option<u64>,
    ) -> WorkerReport {
        let total = |count: fn(&ThreadOutcome) -> u64| outcomes.iter().map(count).sum::<u64>();
        let ops = total(|outcome| outcome.tally.ops);
        let start_ns = barrier.start_ns();
        let used = |durable: Durable| durable.cpu_ns.saturating_sub(barrier.start_cpu_ns());
        let mut report = WorkerReport {
            start_monotonic_ns: start_ns,
            returned_monotonic_ns: outcomes.iter().map(|one| one.done_ns).max().unwrap_or(start_ns),
            durable_monotonic_ns: durable.ok().map(|durable| durable.monotonic_ns),
            cpu_ns: durable.ok().map(used),
            ops,
            asked_bytes: total(|outcome| outcome.tally.bytes),
            usage: outcomes.iter().map(|outcome| outcome.usage).sum(),
            ..WorkerReport::default()
        };
        if self.phase.op == Op::RandRw {
            report.asked_written_bytes = Some(total(|outcome| outcome.tally.written_bytes));
        }
        if self.phase.io.threads > 1 {
            report.threads = outcomes.iter().map(|outcome| outcome.report(start_ns)).collect();
        }
        // The thread that failed first stopped the others.
        report.error = self
            .contexts
            .iter()
            .zip(outcomes)
            .filter(|(_, outcome)| outcome.tally.failure.is_some())
            .min_by_key(|(_, outcome)| outcome.done_ns)
            .and_then(|(context, outcome)| context.op_error(&outcome.tally, free_bytes));
        if let (Err(errno), None) = (durable, &report.error) {
            report.error = Some(sync_error(ops, errno));
        }
        let found = self.contexts.iter().filter_map(|context| Some(context.search?.found));
        report.find = found.reduce(FindReport::with);
        self.latencies(&mut report);
        report
    }

    /// The histograms of all threads together; missing where one of them is.
    fn latencies(&self, report: &mut WorkerReport) {
        let merge = |pick: fn(&Latency) -> Option<&Histogram>| {
            let mut all = Histogram::new();
            for context in &self.contexts {
                all.merge(pick(context.latency()?)?);
            }
            Some(all.to_model())
        };
        report.latency = merge(|latency| Some(&latency.all));
        report.write_latency = merge(|latency| latency.writes.as_ref());
        let series = self.contexts.iter().filter_map(|one| one.latency()?.series.clone());
        report.latency_series = LatencySeries::report(series);
    }
}

/// The first context on this thread, each other on a thread of its own.
fn run_on_threads<K: Send>(
    contexts: &mut [ThreadContext],
    barrier: &StartBarrier,
    work: &(impl Fn(&mut ThreadContext, &StartBarrier) -> (ThreadOutcome, K) + std::marker::Sync),
) -> Result<Vec<(ThreadOutcome, K)>, std::io::Error> {
    let Some((first, others)) = contexts.split_first_mut() else { return Ok(vec![]) };
    std::thread::scope(|scope| {
        let mut started = Vec::with_capacity(others.len());
        for context in others {
            let builder = std::thread::Builder::new();
            let alone = move || {
                // Not with io_uring: its ring is closed by another thread, after the last clock
                // read, and its files are not in the table.
                let own = context.io.backend == Interface::Sync && own_descriptors();
                let outcome = work(context, barrier);
                if own {
                    close_own_descriptors();
                }
                outcome
            };
            match builder.spawn_scoped(scope, alone) {
                Ok(thread) => started.push(thread),
                Err(error) => {
                    barrier.cancel();
                    return Err(error);
                }
            }
        }
        let mut outcomes = Vec::with_capacity(started.len() + 1);
        outcomes.push(work(first, barrier));
        for thread in started {
            let outcome = thread.join();
            outcomes.push(outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        Ok(outcomes)
    })
}

/// One thread with blocking calls: chooses the recorder, once.
fn run_blocking<B: Backend>(
    context: &mut ThreadContext,
    backend: &B,
    barrier: &StartBarrier,
    wall: Option<&Stonewall<'_>>,
) -> ThreadOutcome {
    let env = LoopEnv { backend, barrier };
    let files = if context.op.is_random() { context.share.files() as usize } else { 0 };
    let mut open = Vec::with_capacity(files);
    if let Some(rate) = context.io.rate {
        let ops = (rate, context.ops());
        let mut latency = context.latency.take();
        let mut recorder = Paced::new(ops, barrier, latency.as_mut());
        let outcome =
            context.timed(barrier, |context| op::run(context, env, &mut recorder, &mut open));
        context.latency = latency;
        return outcome;
    }
    if let Some(wall) = wall {
        let ops = context.ops();
        let mut latency = context.latency.take();
        let mut recorder = Walled::new((wall, ops), barrier, latency.as_mut());
        let outcome =
            context.timed(barrier, |context| op::run(context, env, &mut recorder, &mut open));
        recorder.finish(|ops| context.bytes_of(ops));
        context.latency = latency;
        return outcome;
    }
    let Some(mut latency) = context.latency.take() else {
        return context.timed(barrier, |context| op::run(context, env, &mut NoLatency, &mut open));
    };
    let Latency { clock, all, writes, series } = &mut latency;
    let outcome = match (clock, series) {
        (_, Some(series)) => {
            let counts = (all, writes.as_mut());
            let mut recorder = Chained::with_series(crate::clock::Monotonic, counts, series);
            context.timed(barrier, |context| op::run(context, env, &mut recorder, &mut open))
        }
        (TickClock::Tsc(tsc), None) => {
            let mut recorder = Chained::new(tsc.ticker(), all, writes.as_mut());
            context.timed(barrier, |context| op::run(context, env, &mut recorder, &mut open))
        }
        (TickClock::Monotonic, None) => {
            let mut recorder = Chained::new(crate::clock::Monotonic, all, writes.as_mut());
            context.timed(barrier, |context| op::run(context, env, &mut recorder, &mut open))
        }
    };
    context.latency = Some(latency);
    outcome
}

/// By which clock ops are timed: where they have a time of their own, where the phase ends at one
/// and where it is seen over its time, by the clock that says when that is.
fn clock_of(io: &Io) -> TickClock {
    match (io.rate, io.stonewall_ns, io.latency_period_ns) {
        (None, None, None) => TickClock::choose(),
        _ => TickClock::Monotonic,
    }
}

/// In which order a thread takes the `count` files or directories of its share; `there` are those
/// of them that are there, where some are not.
fn order(
    phase: &Phase,
    count: u32,
    there: Option<Vec<u32>>,
    (seed, thread): (&Seed, u32),
) -> Option<Vec<u32>> {
    let is_drawn = phase.order == Order::Random && !phase.op.is_random();
    match (is_drawn.then(|| random_order(count, seed, thread)), there) {
        (Some(drawn), Some(there)) => {
            Some(drawn.into_iter().map(|index| there[index as usize]).collect())
        }
        (drawn, there) => drawn.or(there),
    }
}

/// What the contexts of a phase have in common.
struct Common {
    names: FileNames,
    dirs: DirNames,
    sizes: Sizes,
    clock: Option<TickClock>,
}

impl Common {
    fn context(&self, job: &Job<'_>, thread: u32) -> Result<ThreadContext, EngineError> {
        let (dataset, phase) = (job.dataset, job.phase);
        let share = Share::for_thread(dataset, phase, thread, &job.seed)?;
        let (share, there) = share.among(&dataset.files_in(&job.state));
        let order = order(phase, share.ordered(), there, (&job.seed, thread));
        let in_dirs = self.in_dirs(&share, order.as_deref(), phase);
        let memory = |source| EngineError::Memory { bs_bytes: phase.bs_bytes, source };
        let call_bytes = phase.bs_bytes.min(self.sizes.largest_bytes());
        let read_align = if phase.io.direct { job.sector_bytes } else { 1 };
        let info = phase.op.info();
        let read_buf_bytes = match info.bs.0 {
            BlockSize::Value => usize::try_from(phase.bs_bytes),
            _ if info.count == (Count::Dirs { with_root: true }) => Ok(LIST_BYTES),
            _ if info.count == Count::Entries => Ok(LIST_BYTES),
            _ if info.reads => usize::try_from(call_bytes.next_multiple_of(read_align)),
            _ => Ok(0),
        };
        let read_buf = read_buf_bytes.map_err(|_| Errno::NOMEM).and_then(Pages::new);
        let mut read_buf = read_buf.map_err(memory)?;
        if info.bs.0 == BlockSize::Value {
            attribute_value(&job.dataset_seed, read_buf.as_mut_slice());
        }
        let with_letter = |letter: u8| {
            let mut names = self.names.clone();
            names.use_letter(letter);
            names
        };
        let new_name = match info.effect {
            Effect::Link => with_letter(LINK),
            Effect::Symlink => with_letter(SYMLINK),
            _ => {
                let mut names = self.names.clone();
                names.use_renamed_name(!job.state.renamed);
                names
            }
        };
        let links = [(job.state.linked, LINK), (job.state.symlinked, SYMLINK)];
        let links = links.into_iter().filter(|(is_there, _)| *is_there);
        let links = links.filter(|_| info.effect == Effect::Delete);
        Ok(ThreadContext {
            thread,
            leads: thread == phase.io.threads_of(job.rank).start,
            op: phase.op,
            bs_bytes: phase.bs_bytes,
            io: phase.io.clone(),
            share,
            order,
            names: self.names.clone(),
            new_name,
            links: links.map(|(_, letter)| with_letter(letter)).collect(),
            dirs: self.dirs.clone(),
            sizes: self.sizes.clone(),
            contents: self.contents(job).map_err(memory)?,
            read_buf,
            read_align,
            delay: job.delay,
            mixture: job.seed.child("mixture", 0).tag(),
            search: self.search(job, &share),
            left_in_dirs: vec![],
            in_dirs,
            latency: self.clock.map(|clock| Latency {
                clock,
                all: Histogram::new(),
                writes: (phase.op == Op::RandRw).then(Histogram::new),
                series: phase.io.latency_period_ns.map(LatencySeries::new),
            }),
        })
    }

    fn contents(&self, job: &Job<'_>) -> Result<Option<Contents>, Errno> {
        let phase = job.phase;
        if !phase.op.writes() {
            return Ok(None);
        }
        let mut end_bytes = self.sizes.largest_bytes();
        let aligned = !phase.op.appends();
        if !aligned {
            end_bytes = end_bytes.saturating_add(phase.bs_bytes);
        }
        let span = Span { end_bytes, call_bytes: phase.bs_bytes, aligned };
        let version = phase.leaves(job.state).newest_version;
        Contents::new(span, version, &job.dataset_seed).map(Some)
    }

    /// What a walk of the tree looks for, and how many files and links it has to see.
    fn search(&self, job: &Job<'_>, share: &Share) -> Option<Search> {
        let Share::Find(share) = share else { return None };
        let names = 1 + u64::from(job.state.linked) + u64::from(job.state.symlinked);
        let size_bytes = match job.phase.bs_bytes {
            0 => self.sizes.longest_bytes(),
            bytes => bytes,
        };
        let wanted = FindReport {
            size_bytes,
            newer_than_unix_ns: job.newer_than_unix_ns,
            ..FindReport::default()
        };
        Some(Search { wanted, files: u64::from(share.files.count) * names, found: wanted })
    }

    /// How many files of `share` are in each leaf directory, where directories are to be synced.
    fn in_dirs(&self, share: &Share, order: Option<&[u32]>, phase: &Phase) -> Vec<u32> {
        let changes = phase.op.changes();
        let files = match share {
            Share::Files(files) => *files,
            Share::Parts(part) => part.files,
            Share::Interleaved(blocks) => blocks.files,
            Share::Dirs(_) | Share::Find(_) | Share::Blocks(_) => return vec![],
        };
        if phase.io.fsync != Fsync::Dir || !changes {
            return vec![];
        }
        let mut counts = vec![];
        for index in 0..files.count {
            let file = files.file(order.map_or(index, |order| order[index as usize]));
            // A file in which a thread has no part is not one of its files.
            let has_part = match share {
                Share::Parts(part) => {
                    let (from, to) = part.range(self.sizes.file_bytes(file));
                    from < to
                }
                Share::Interleaved(blocks) => blocks.opens(self.sizes.file_bytes(file)),
                _ => true,
            };
            if !has_part {
                continue;
            }
            let dir = self.names.dir_of(file) as usize;
            if counts.len() <= dir {
                counts.resize(dir + 1, 0);
            }
            counts[dir] += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Failure, Tally};

    /// How a call of 1000 bytes that did less than asked is described, with so much space left.
    fn described(op: Op, call: &'static str, free_bytes: Option<u64>) -> (i32, String) {
        let dataset = Dataset::uniform(2, 5000, 0);
        let phase = Phase::new("p", op, 1000);
        let seed = Seed::from_number(1);
        let mut prepared = Prepared::new(&Job::new(&dataset, &phase, seed, seed)).unwrap();
        let failure = Some(Failure { call, errno: None });
        let report = prepared.run_threads(
            |context, barrier| {
                (context.timed(barrier, |_| Tally { failure, ..Tally::default() }), ())
            },
            || Ok(Durable::now()),
            || free_bytes,
        );
        let error = report.error.unwrap();
        (error.errno, error.text)
    }

    #[test]
    fn a_short_write_on_a_full_file_system_found_no_space() {
        let full = (Errno::NOSPC.raw_os_error(), Errno::NOSPC.to_string());
        assert_eq!(described(Op::Create, "write", Some(0)), full);
        assert_eq!(described(Op::RandWrite, "write", Some(999)), full);
        let short = (0, "fewer bytes taken than given".to_owned());
        assert_eq!(described(Op::Create, "write", Some(1000)), short);
        assert_eq!(described(Op::Create, "write", None), short);
        assert_eq!(described(Op::Read, "read", Some(0)).0, 0);
    }
}
