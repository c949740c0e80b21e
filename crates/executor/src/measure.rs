//! A timed phase: the worker is made ready, counters are read, the worker goes and reads them when
//! its work is durable, the file system is drained, counters are read a last time.
//!
//! The three clocks start at the worker's first clock read. Between it and the worker's last one
//! the executor only waits; the sampler is the one thread next to it, and its cost is in the
//! record. The canary runs before the first counters and after the last, unless time is virtual.

use crate::clients::set_beside;
use crate::cold::{self, Ground, SourceCache, Warmth};
use crate::context::{Trial, unix_ns};
use crate::cycle_events::CycleEvents;
use crate::cycles::run_cycles;
use crate::drain::{Drain, DrainEnd};
use crate::error::{StepError, op_failure, unexpected};
use crate::fault;
use crate::limit::relief_notice;
use crate::machine::errno_in;
use crate::pause::{self, PauseWatch};
use crate::programs::WidthProof;
use crate::ranks::Ranks;
use crate::reliever::MemoryReliever;
use crate::source::SourceFiles;
use crate::tracing::Tracing;
use crate::worker::ReadyWorker;
use fsarena_metrics::{
    KernelRoots, KernelThreads, Sampler, Samples, Snapshot, Sources, Thermal, Watch, delta,
    disturb, frequency_khz, processors, series,
};
use fsarena_model::client::{ClientRecord, received_bytes};
use fsarena_model::contender::Cache;
use fsarena_model::rank::{RankReport, start_skew};
use fsarena_model::record::{
    CacheRecord, CacheState, Canary, Clocks, MemoryRecord, Notice, PhaseRecord, Rank, TaskCpu,
    Window,
};
use fsarena_model::sample::SamplerCost;
use fsarena_model::units::Nanos;
use fsarena_model::work::{Backend, OpError, Phase, WorkerReport, WorkerSays};
use std::collections::BTreeMap;

/// Ranks that start further apart than this share of their phase are told of.
const START_SKEW_SHARE: f64 = 0.01;

impl Trial<'_> {
    pub(crate) fn measure(&mut self, phase: &Phase) -> Result<(), StepError> {
        let source = SourceFiles { spec: self.spec, stop: self.stop };
        let is_first = self.record.phases.is_empty();
        let source = source.prepare(phase, self.chilled.as_ref(), is_first)?;
        let spec = self.timed_worker_spec(self.phase_task(phase, true), phase.op);
        let over = (phase.io.ranks, self.spec.hosts.as_slice(), &self.clients);
        let mut ranks = Ranks::start(self.program, &spec, over, self.stop)?;
        let width = WidthProof::listen(self.spec.programs.as_ref())?;
        let watch = self.limit_and_watch(&ranks.pids(), phase.io.ranks);
        let mut sources = Sources::open(&self.fs.roots, &watch)?;
        if phase.cycle.is_none() {
            ranks.read_when_durable(&sources.files())?;
        }
        let sampler = self.start_sampler(&watch)?;
        let mut account = self.accounts.start_trace(&self.fs, &mut self.record, &phase.name);
        let machine = MachineState::read(&self.fs.roots);
        self.clients.count()?;
        let canary_before_ns = self.canary_ns(&mut ranks)?;
        let started_unix_ns = unix_ns(self.spec);
        let kernel_threads = KernelThreads::find(self.host_proc);
        let before = sources.read()?;
        let reliever = self.memory.start_reliever(&self.fs.work_root()?);
        let readings = Readings { before, kernel_threads, sources: &mut sources };
        self.begin_lateness()?;
        let pauses = self.watch_for_pauses(&ranks)?;
        let mut worked = self.work(phase, &mut ranks, readings, account.tracing())?;
        let pauses = pauses.map(PauseWatch::stop).unwrap_or_default();
        let clients = self.clients.counted()?;
        let lateness = self.lateness()?;
        let report = &mut worked.report;
        let drained = worked.drain.or_else(|failed| not_drained(failed, report))?;
        let sampled = sampler.map(|sampler| sampler.stop());
        let canary_after_ns = self.canary_ns(&mut ranks).ok().flatten();
        let rank_reports = ranks.take_reports();
        let elsewhere = ranks.longest_pause();
        drop(ranks);
        width.end_phase(&phase.name, &mut worked.report)?;
        let cycle_events = worked.events.as_ref();
        account.map_at_end(&self.fs.work_root()?, cycle_events.map_or(&[], CycleEvents::starts));
        let syncs = reliever.map_or(0, MemoryReliever::stop);
        if syncs > 0 {
            self.record.notices.push(relief_notice(syncs));
        }
        let memory = self.memory.record(syncs);
        let device_flushed = spec.flush_device.is_some();
        let rest = (drained, memory, source);
        let mut record =
            self.phase_record(phase, (&worked.report, device_flushed), rest, (&worked.at, clients));
        record.started_unix_ns = started_unix_ns;
        self.add_ranks(phase, &mut record, &rank_reports, worked.report.start_monotonic_ns);
        record.canary =
            canary_before_ns.map(|before_ns| Canary { before_ns, after_ns: canary_after_ns });
        let throttled = machine.put_into(&mut record, &self.fs.roots);
        self.record.notices.extend(throttled);
        let report = worked.report;
        record.cycles = worked.events.map(|events| {
            let cycles = report.cycles.clone().unwrap_or_default();
            events.record(cycles, report.start_monotonic_ns, &worked.at.done)
        });
        if let Some(sampled) = sampled {
            self.add_samples(&mut record, sampled?, report.start_monotonic_ns);
        }
        self.follow(phase, &report);
        self.note_ended_processes(&report);
        self.accounts.open_phase(&mut self.record, record, worked.at.before, account);
        lateness.believe(&phase.name)?;
        self.refuse_pauses(pause::refuse(pauses, &phase.name, "the worker"))?;
        let (rank, pauses) = elsewhere;
        self.refuse_pauses(pause::refuse(pauses, &phase.name, &rank))?;
        let failed = |error| op_failure(&error, phase, self.fs.inodes_free());
        report.error.map_or(Ok(()), |error| Err(of_failed_rank(failed(error), &rank_reports)))
    }

    /// What was sampled during a phase that began at this time, ns.
    fn add_samples(
        &mut self,
        record: &mut PhaseRecord,
        (samples, cost): (Samples, SamplerCost),
        start_monotonic_ns: u64,
    ) {
        if let Some(error) = samples.error() {
            self.notice("sampler-stopped", error.to_string(), None);
        }
        record.series = Some(series(&samples, start_monotonic_ns));
        record.sampler = Some(cost);
    }

    /// Tests stop workers to look at them: with `FSARENA_TEST_FAST` it is a notice.
    fn refuse_pauses(&mut self, refused: Result<(), StepError>) -> Result<(), StepError> {
        match refused {
            Err(StepError::OfMachine { error, remedy }) if fault::is_fast() => {
                self.notice("stood-still", format!("{error}; believed in a test"), remedy);
                Ok(())
            }
            refused => refused,
        }
    }

    /// Virtual time does not pass while a guest stands still, and a thread of ours would take some.
    fn watch_for_pauses(&self, ranks: &Ranks<'_>) -> Result<Option<PauseWatch>, StepError> {
        if self.spec.target.is_virtual() {
            return Ok(None);
        }
        let watch = PauseWatch::start(&self.fs.roots.proc, ranks.pids());
        watch.map(Some).map_err(|error| StepError::new(format!("cannot watch for pauses: {error}")))
    }

    /// Puts those of the ranks that run here under the memory limit; what is watched of them.
    fn limit_and_watch(&mut self, pids: &[u32], ranks: u32) -> Watch {
        pids.iter().for_each(|&pid| self.memory.add(pid));
        if pids.len() < ranks as usize {
            self.memory.cannot_limit("ranks on other hosts have all the memory there");
        }
        // Of several it would be the counters of one.
        let alone = if let [pid] = *pids { Some(pid) } else { None };
        let mut watch = self.fs.watch(alone);
        watch.memory_cgroup = self.memory.cgroup().map(|cgroup| cgroup.path().to_owned());
        watch
    }

    /// Puts the ranks of a phase into its record and into that of the trial, and lays what their
    /// hosts sampled beside it.
    fn add_ranks(
        &mut self,
        phase: &Phase,
        record: &mut PhaseRecord,
        reports: &[RankReport],
        start_monotonic_ns: u64,
    ) {
        self.record.notices.extend(start_skew_notice(record, reports));
        for client in &mut record.clients {
            let rank = reports.iter().find(|rank| rank.hostname == client.hostname);
            set_beside(client, rank.map(|rank| rank.clock), start_monotonic_ns);
        }
        record.ranks = reports.to_vec();
        if !reports.is_empty() {
            self.record.ranks = ranks_of_trial(phase, reports);
        }
    }

    /// Length of a canary loop, ns. In virtual time the processor is free: it would say nothing,
    /// and its system calls would be most of those of a guest.
    fn canary_ns(&self, ranks: &mut Ranks<'_>) -> Result<Option<u64>, StepError> {
        if self.spec.target.is_virtual() {
            return Ok(None);
        }
        Ok(ranks.canary()?)
    }

    /// Lets the workers go, drains the file system as soon as its work is durable, and hears the
    /// result.
    fn work(
        &self,
        phase: &Phase,
        ranks: &mut Ranks<'_>,
        readings: Readings<'_>,
        mut tracing: Option<&mut Tracing>,
    ) -> Result<WorkerResult, StepError> {
        let Readings { before, mut kernel_threads, sources } = readings;
        let root = self.fs.work_root()?;
        let mut on_quiet = |number, worker: &ReadyWorker<'_>| {
            if let Some(tracing) = &mut tracing {
                tracing.look_between(&root, number, worker);
            }
        };
        let worked = match &phase.cycle {
            None => ranks.go_until_durable().map(|said| (said, None)).map_err(StepError::from),
            Some(_) => {
                let went =
                    run_cycles(&self.fs, ranks.alone(), (&mut *sources, &before), &mut on_quiet);
                went.map(|(said, events)| (said, Some(events)))
            }
        };
        let kernel_threads_ns = kernel_threads.as_mut().map(KernelThreads::used_ns);
        let (said, events) = worked.map_err(|failed| self.memory.explain_death(failed))?;
        // The worker has read them itself, where it was durable at all and had no cycles.
        let done = if said == WorkerSays::Durable { None } else { Some(sources.read()?) };
        let drain = self.fs.drain();
        let end = sources.read()?;
        let said = match said {
            WorkerSays::Durable => ranks.hear(),
            other => Ok(other),
        };
        let said = said.map_err(|failed| self.memory.explain_death(failed.into()))?;
        let report = match said {
            WorkerSays::Done(report) => *report,
            other => return Err(unexpected(&other)),
        };
        let texts = report.counters.as_ref();
        let near = texts.map(|texts| sources.parse(texts)).transpose()?;
        let late_ns = texts
            .zip(report.durable_monotonic_ns)
            .map(|(texts, durable_ns)| texts.ended_monotonic_ns.saturating_sub(durable_ns));
        let done = near.or(done).unwrap_or_else(|| end.clone());
        // The last cycle was durable before its period was over.
        let last = events.as_ref().filter(|_| report.durable_monotonic_ns.is_some());
        let durable = last.and_then(CycleEvents::last_durable).unwrap_or(&done).clone();
        let at = Moments { before, durable, done, end, late_ns, kernel_threads_ns };
        Ok(WorkerResult { report, events, drain, at })
    }

    fn start_sampler(&self, watch: &Watch) -> Result<Option<Sampler>, StepError> {
        let period_ns = self.spec.sample_period_ns;
        if period_ns == 0 {
            return Ok(None);
        }
        Ok(Some(Sampler::start(Sources::open(&self.fs.roots, watch)?, period_ns)?))
    }

    fn phase_record(
        &mut self,
        phase: &Phase,
        (report, device_flushed): (&WorkerReport, bool),
        (drain, memory, source): (Drain, MemoryRecord, SourceCache),
        (at, clients): (&Moments, Vec<ClientRecord>),
    ) -> PhaseRecord {
        let since = |at: u64| at.saturating_sub(report.start_monotonic_ns);
        let durable = delta(&at.before, &at.durable);
        let limited = matches!(memory, MemoryRecord::Limited { .. });
        let mut cache = self.judge_cache(phase, report, (source, limited), (at, &clients));
        self.record.notices.extend(cache_notice(&phase.name, &cache));
        fault::believe_warm(&mut cache);
        let observed = disturb::Observed {
            counters: &durable,
            worker: &report.usage,
            wall_ns: at.durable.monotonic_ns.saturating_sub(at.before.monotonic_ns),
            cpus: processors(&self.fs.roots),
            memory_limited: limited,
        };
        self.record.notices.extend(disturb::notices(&observed));
        self.record.notices.extend(major_faults_notice(phase, report, limited));
        self.record.notices.extend(stonewall_notice(phase, report));
        let mut windows = BTreeMap::from([(Window::Durable, durable)]);
        windows.insert(Window::Drained, delta(&at.before, &at.end));
        let durable_ns = report.durable_monotonic_ns;
        let clocks = Clocks {
            returned_ns: since(report.returned_monotonic_ns),
            durable_ns: durable_ns.map(since),
            drained: drain.to_clock(since(durable_ns.unwrap_or(report.returned_monotonic_ns))),
            device_flushed: device_flushed && durable_ns.is_some(),
            drain_late_ns: durable_ns
                .filter(|_| phase.cycle.is_none())
                .and_then(|durable_ns| drain.late_ns(durable_ns)),
        };
        let kernel_threads_ns = at.kernel_threads_ns;
        PhaseRecord {
            ops: report.ops,
            asked_bytes: report.asked_bytes,
            asked_written_bytes: report.asked_written_bytes,
            latency: report.latency.clone(),
            write_latency: report.write_latency.clone(),
            latency_series: report.latency_series.clone(),
            threads: report.threads.clone(),
            program: report.program.clone(),
            windows,
            worker: report.usage,
            find: report.find,
            clients,
            stonewall: report.stonewall,
            memory,
            error: report.error.clone(),
            counters_late_ns: at.late_ns,
            task_cpu: report.cpu_ns.map(|worker_ns| TaskCpu { worker_ns, kernel_threads_ns }),
            ..PhaseRecord::new(phase, clocks, cache)
        }
    }

    /// Whether the phase was as cold, or as warm, as it was asked to be.
    fn judge_cache(
        &mut self,
        phase: &Phase,
        report: &WorkerReport,
        (source, memory_limited): (SourceCache, bool),
        (at, clients): (&Moments, &[ClientRecord]),
    ) -> CacheRecord {
        let levels = &self.spec.contender.levels;
        let (set, state) = (&self.spec.workload.dataset, &self.contents.state);
        let (there, has_one_size) = (set.as_reached(state), set.is_uniform());
        if levels.cache == Cache::ColdClients {
            let need = cold::need_of_clients(phase, &there, report).in_state(state, has_one_size);
            let chilled = self.chilled.take().is_some();
            return cold::judge_clients(chilled, need, received_bytes(clients));
        }
        let rule = self.fs.driver.content(&levels.fs);
        let read_bytes = report.asked_bytes.saturating_sub(report.asked_written_bytes.unwrap_or(0));
        let need = match &phase.job {
            Some(job) => self.job_need(job, &rule, report.ops),
            None => cold::need(phase, &there, &rule, read_bytes).in_state(state, has_one_size),
        };
        let drops_before = std::mem::replace(&mut self.cache_drops, at.before.cache_drops());
        let warmth = Warmth {
            cache_drops: at.durable.cache_drops().since(&drops_before),
            first_use_bytes: self
                .fs
                .driver
                .first_use_bytes(&levels.fs, self.spec.target.size_bytes()),
            // What was written past the cache is not in it.
            reads_again: !self.spec.workload.phases.iter().any(|phase| phase.io.direct)
                && !memory_limited,
        };
        let ground = Ground {
            place: self.fs.driver.backing(),
            image_is_cached: !self.fs.cached_backings().is_empty(),
            source,
        };
        let delivered = delta(&at.before, &at.durable).get("device.read_bytes").copied();
        let own = (need, warmth);
        let judged = cold::judge(levels.cache, ground, self.chilled.take(), own, delivered);
        cold::as_asked(judged, &self.spec.contender, self.record.phases.is_empty())
    }
}

/// Says where a phase was to be warm and was not, and where somebody dropped the caches of one that
/// was.
fn cache_notice(phase: &str, cache: &CacheRecord) -> Option<Notice> {
    if cache.state == CacheState::NotWarm {
        let text = format!("phase {phase} was to be warm: {}; it is in no comparison", cache.why);
        let remedy = "end what drops caches or needs the memory, and run it again";
        return Some(Notice::new("not-warm", text, Some(remedy)));
    }
    let drops = cache.proof.cache_drops;
    let text = format!("{} before the end of a warm phase", cold::dropped(drops)?);
    let remedy = Some("end what drops caches, and run it again".to_owned());
    let measure = drops.map(|drops| drops as f64);
    Some(Notice { code: "caches-dropped".to_owned(), text, remedy, measure })
}

/// Says where all was done before the time of a stonewall was over.
fn stonewall_notice(phase: &Phase, report: &WorkerReport) -> Option<Notice> {
    let wall = report.stonewall.filter(|wall| !wall.reached)?;
    let wall_ns = phase.io.stonewall_ns.unwrap_or_default();
    let text = format!(
        "phase {}: every thread was at its end ({} ops at most) before the stonewall of {}: \
         nothing was cut",
        phase.name,
        wall.each_ops,
        Nanos(wall_ns)
    );
    let remedy = "use more or larger files, or a shorter stonewall";
    Some(Notice::new("stonewall-not-reached", text, Some(remedy)))
}

/// The ranks as the record of a trial has them.
fn ranks_of_trial(phase: &Phase, reports: &[RankReport]) -> Vec<Rank> {
    let of = |report: &RankReport| Rank {
        hostname: report.hostname.clone(),
        boot_id: report.boot_id.clone(),
        threads: u32::try_from(phase.io.threads_of(report.rank).len()).unwrap_or(u32::MAX),
    };
    reports.iter().map(of).collect()
}

/// The failure of a phase, with the rank in which it was, where there are several.
fn of_failed_rank(failure: StepError, reports: &[RankReport]) -> StepError {
    let failed = reports.iter().filter(|report| report.error.is_some());
    match (failure, failed.min_by_key(|report| report.done_ns)) {
        (StepError::Failed { error, remedy }, Some(first)) => {
            let error = format!("rank {} on {}: {error}", first.rank, first.hostname);
            StepError::Failed { error, remedy }
        }
        (failure, _) => failure,
    }
}

/// Says where the ranks did not start together: for a part of the phase some of them worked alone.
fn start_skew_notice(record: &PhaseRecord, ranks: &[RankReport]) -> Option<Notice> {
    let skew = start_skew(ranks)?;
    let skew_ns = skew.offset_ns.unsigned_abs();
    let share = skew_ns as f64 / record.clocks.returned_ns.max(1) as f64;
    if share <= START_SKEW_SHARE {
        return None;
    }
    let last = ranks.iter().max_by_key(|rank| rank.started_ns)?;
    let text = format!(
        "rank {} on {} started {} (\u{b1}{}) after the first in phase {}: {:.1} % of the phase",
        last.rank,
        last.hostname,
        Nanos(skew_ns),
        Nanos(skew.error_ns),
        record.name,
        share * 100.0
    );
    let remedy = "make the phase longer, or use at most as many ranks as the hosts have processors";
    Some(Notice { measure: Some(share), ..Notice::new("start-skew", text, Some(remedy)) })
}

/// Says where the worker itself had to read pages of a disk within the clock. A program that is
/// started does so, and what a memory map holds comes in no other way; under a memory limit pages
/// have to make room.
fn major_faults_notice(phase: &Phase, report: &WorkerReport, limited: bool) -> Option<Notice> {
    let expected = report.program.is_some() || phase.io.backend == Backend::Mmap || limited;
    let faults = report.usage.major_faults;
    (faults > 0 && !expected).then(|| {
        let text = format!(
            "the worker had {faults} page faults with I/O within phase {}: it waited for pages of \
             its own program, or of memory that was swapped out",
            phase.name
        );
        let remedy = "put the program on a quiet disk, and leave memory free";
        Notice { measure: Some(faults as f64), ..Notice::new("major-faults", text, Some(remedy)) }
    })
}

/// A device that fails while it is drained ends the phase as an op that fails does: what was done
/// is in the record, marked.
fn not_drained(failed: StepError, report: &mut WorkerReport) -> Result<Drain, StepError> {
    let StepError::Failed { error, .. } = failed else { return Err(failed) };
    report.error.get_or_insert_with(|| OpError {
        op_index: report.ops,
        thread: None,
        call: "drain".to_owned(),
        path: ".".to_owned(),
        errno: errno_in(&error).unwrap_or(0),
        text: error.clone(),
    });
    Ok(Drain { called_monotonic_ns: 0, end: DrainEnd::NotDrained { reason: error } })
}

/// What is read of the machine around the work.
struct Readings<'a> {
    before: Snapshot,
    kernel_threads: Option<KernelThreads>,
    sources: &'a mut Sources,
}

/// What a worker has done.
struct WorkerResult {
    report: WorkerReport,
    /// Of a phase of cycles.
    events: Option<CycleEvents>,
    drain: Result<Drain, StepError>,
    at: Moments,
}

/// Counters at the moments of a phase.
struct Moments {
    before: Snapshot,
    /// When it was durable: of cycles the last of them.
    durable: Snapshot,
    /// When the worker had done all it had to.
    done: Snapshot,
    /// When it was drained.
    end: Snapshot,
    /// How long after `durable` the counters of that moment had been read.
    late_ns: Option<u64>,
    /// What kernel threads used up to when the executor heard of `durable`.
    kernel_threads_ns: Option<u64>,
}

/// The machine before a phase.
struct MachineState {
    frequency_khz: Option<u64>,
    thermal: Thermal,
}

impl MachineState {
    fn read(roots: &KernelRoots) -> Self {
        Self { frequency_khz: frequency_khz(roots), thermal: Thermal::read(roots) }
    }

    /// Puts the mean of that frequency and of the one now into the record, and what sensors say; a
    /// notice where processors were throttled.
    fn put_into(&self, record: &mut PhaseRecord, roots: &KernelRoots) -> Option<Notice> {
        let both = self.frequency_khz.zip(frequency_khz(roots));
        record.frequency_khz = both.map(|(before, now)| before.midpoint(now));
        record.thermal = self.thermal.until(&Thermal::read(roots));
        disturb::throttled(record.thermal.as_ref()?, &record.name)
    }
}
