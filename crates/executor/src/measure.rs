//! A timed phase: the worker is made ready, counters are read, the worker goes, counters are read
//! again, the file system is drained, counters are read a last time.
//!
//! The three clocks start at the worker's first clock read. Between it and the worker's last one
//! the executor only waits; the sampler is the one thread next to it, and its cost is in the
//! record.

use crate::cold::{self, Ground, SourceCache};
use crate::context::{Trial, unix_ns};
use crate::cycle_events::CycleEvents;
use crate::cycles::run_cycles;
use crate::error::{StepError, errno_in, op_failure, unexpected};
use crate::limit::relief_notice;
use crate::reliever::MemoryReliever;
use crate::source::SourceFiles;
use crate::tracing::Tracing;
use crate::worker::ReadyWorker;
use fsarena_devices::{cache, settle};
use fsarena_filesystems::Backing;
use fsarena_metrics::{
    Sampler, Snapshot, Sources, Watch, delta, disturb, monotonic_ns, processors, series,
};
use fsarena_model::record::{Clocks, Drained, MemoryRecord, PhaseRecord, Window};
use fsarena_model::units::Nanos;
use fsarena_model::work::{OpError, Phase, WorkerReport, WorkerSays};
use std::collections::BTreeMap;

impl Trial<'_> {
    pub(crate) fn measure(&mut self, phase: &Phase) -> Result<(), StepError> {
        let source = SourceFiles { spec: self.spec, stop: self.stop };
        let is_first = self.record.phases.is_empty();
        let source = source.prepare(phase, self.chilled.as_ref(), is_first)?;
        let spec = self.timed_worker_spec(self.phase_task(phase, true), phase.op);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        self.memory.add(worker.pid());
        let mut watch = self.fs.watch(Some(worker.pid()));
        watch.memory_cgroup = self.memory.cgroup().map(|cgroup| cgroup.path().to_owned());
        let mut sources = Sources::open(&self.fs.roots, &watch)?;
        let sampler = self.start_sampler(&watch)?;
        let mut account = self.accounts.start_trace(&self.fs, &mut self.record, &phase.name);
        let started_unix_ns = unix_ns();
        let before = sources.read()?;
        let reliever = self.memory.start_reliever(&self.fs.work_root()?);
        let Worked { mut report, events, durable, done } =
            self.work(phase, &mut worker, (&mut sources, &before), account.tracing())?;
        let drained = self
            .drain(report.start_monotonic_ns)
            .or_else(|failed| not_drained(failed, &mut report))?;
        let end = sources.read()?;
        let sampled = sampler.map(|sampler| sampler.stop());
        drop(worker);
        account.map_at_end(&self.fs.work_root()?, events.as_ref().map_or(&[], CycleEvents::starts));
        let syncs = reliever.map_or(0, MemoryReliever::stop);
        if syncs > 0 {
            self.record.notices.push(relief_notice(syncs));
        }
        let memory = self.memory.record(syncs);
        let readings = Readings { before, durable, end };
        let rest = (drained, memory, source);
        let mut record = self.phase_record(phase, &report, rest, &readings);
        record.started_unix_ns = started_unix_ns;
        record.cycles = events.map(|events| {
            let cycles = report.cycles.clone().unwrap_or_default();
            events.record(cycles, report.start_monotonic_ns, &done)
        });
        if let Some(sampled) = sampled {
            let (samples, cost) = sampled?;
            if let Some(error) = samples.error() {
                self.notice("sampler-stopped", error.to_string(), None);
            }
            record.series = Some(series(&samples, report.start_monotonic_ns));
            record.sampler = Some(cost);
        }
        self.contents.follow(phase, &self.spec.workload.dataset, &report);
        self.note_ended_processes(&report);
        self.accounts.open_phase(&mut self.record, record, readings.before, account);
        report.error.map_or(Ok(()), |error| Err(op_failure(&error, phase, self.fs.inodes_free())))
    }

    /// Lets the worker go and waits until it has a result; counters are read at once then.
    fn work(
        &self,
        phase: &Phase,
        worker: &mut ReadyWorker<'_>,
        (sources, before): (&mut Sources, &Snapshot),
        mut tracing: Option<&mut Tracing>,
    ) -> Result<Worked, StepError> {
        let root = self.fs.work_root()?;
        let mut on_quiet = |number, worker: &ReadyWorker<'_>| {
            if let Some(tracing) = &mut tracing {
                tracing.look_between(&root, number, worker);
            }
        };
        let worked = match &phase.cycle {
            None => worker.go().map(|said| (said, None)).map_err(StepError::from),
            Some(_) => {
                let went = run_cycles(&self.fs, worker, (&mut *sources, before), &mut on_quiet);
                went.map(|(said, events)| (said, Some(events)))
            }
        };
        let done = sources.read();
        let (said, events) = worked.map_err(|failed| self.memory.explain_death(failed))?;
        let report = match said {
            WorkerSays::Done(report) => *report,
            other => return Err(unexpected(&other)),
        };
        let done = done?;
        // The last cycle was durable before its period was over.
        let last = events.as_ref().filter(|_| report.durable_monotonic_ns.is_some());
        let durable = last.and_then(CycleEvents::last_durable).unwrap_or(&done).clone();
        Ok(Worked { report, events, durable, done })
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
        report: &WorkerReport,
        (drained, memory, source): (Drained, MemoryRecord, SourceCache),
        readings: &Readings,
    ) -> PhaseRecord {
        let since = |at: u64| at.saturating_sub(report.start_monotonic_ns);
        let durable = delta(&readings.before, &readings.durable);
        let levels = &self.spec.contender.levels;
        let rule = self.fs.driver.content(&levels.fs);
        let delivered = durable.get("device.read_bytes").copied();
        let read_bytes = report.asked_bytes.saturating_sub(report.asked_written_bytes.unwrap_or(0));
        let cache = cold::judge(
            levels.cache,
            Ground {
                place: self.fs.driver.backing(),
                image_is_cached: self.fs.cached_backing().is_some(),
                source,
            },
            self.chilled.take(),
            match &phase.job {
                Some(job) => self.job_need(job, &rule, report.ops),
                None => cold::need(phase, &self.spec.workload.dataset, &rule, read_bytes)
                    .in_state(&self.contents.state),
            },
            delivered,
        );
        let wall_ns = readings.durable.monotonic_ns.saturating_sub(readings.before.monotonic_ns);
        let limited = matches!(memory, MemoryRecord::Limited { .. });
        let observed = disturb::Observed {
            counters: &durable,
            worker: &report.usage,
            wall_ns,
            cpus: processors(&self.fs.roots),
            memory_limited: limited,
        };
        self.record.notices.extend(disturb::notices(&observed));
        let mut windows = BTreeMap::from([(Window::Durable, durable)]);
        windows.insert(Window::Drained, delta(&readings.before, &readings.end));
        let clocks = Clocks {
            returned_ns: since(report.returned_monotonic_ns),
            durable_ns: report.durable_monotonic_ns.map(since),
            drained,
        };
        PhaseRecord {
            ops: report.ops,
            asked_bytes: report.asked_bytes,
            asked_written_bytes: report.asked_written_bytes,
            latency: report.latency.clone(),
            write_latency: report.write_latency.clone(),
            threads: report.threads.clone(),
            program: report.program.clone(),
            windows,
            worker: report.usage,
            memory,
            error: report.error.clone(),
            ..PhaseRecord::new(phase, clocks, cache)
        }
    }

    /// The third clock, from `start_monotonic_ns`.
    fn drain(&self, start_monotonic_ns: u64) -> Result<Drained, StepError> {
        if self.fs.driver.backing() == Backing::Memory {
            return Ok(Drained::NoDevice);
        }
        if self.fs.driver.freezes() {
            match settle::freeze_thaw(&self.fs.work_root()?) {
                Ok(_) => {
                    let drained_ns = monotonic_ns().saturating_sub(start_monotonic_ns);
                    return Ok(Drained::Frozen { drained_ns });
                }
                Err(error @ settle::FreezeError::StillFrozen { .. }) => {
                    return Err(StepError::new(error.to_string()));
                }
                // The device tells instead.
                Err(settle::FreezeError::Unsupported { .. }) => {}
            }
        }
        let Some(device) = self.fs.device_name() else {
            let reason = match self.fs.driver.backing() {
                Backing::Elsewhere => "it has no device of its own to be watched",
                _ => "its device is shared with the rest of the machine",
            };
            let reason = reason.to_owned();
            return Ok(Drained::NotDrained { reason });
        };
        // A server in user space writes through the page cache of the device.
        if let Some(device) = self.spec.target.device() {
            cache::flush_device(device)?;
        }
        let called_ns = monotonic_ns().saturating_sub(start_monotonic_ns);
        Ok(match self.fs.wait_idle(&device)? {
            settle::Quiet::Idle { busy_ns } => Drained::Idle { drained_ns: called_ns + busy_ns },
            settle::Quiet::Capped => Drained::NotDrained {
                reason: format!(
                    "the device was not idle for {} within {}",
                    Nanos(self.spec.drain.idle_ns),
                    Nanos(self.spec.drain.cap_ns)
                ),
            },
        })
    }
}

/// A device that fails while it is drained ends the phase as an op that fails does: what was done
/// is in the record, marked.
fn not_drained(failed: StepError, report: &mut WorkerReport) -> Result<Drained, StepError> {
    let StepError::Failed { error, .. } = failed else { return Err(failed) };
    report.error.get_or_insert_with(|| OpError {
        op_index: report.ops,
        thread: None,
        call: "drain".to_owned(),
        path: ".".to_owned(),
        errno: errno_in(&error).unwrap_or(0),
        text: error.clone(),
    });
    Ok(Drained::NotDrained { reason: error })
}

/// What a worker has done.
struct Worked {
    report: WorkerReport,
    /// Of a phase of cycles.
    events: Option<CycleEvents>,
    /// Counters when it was durable, and when the worker said so.
    durable: Snapshot,
    done: Snapshot,
}

/// Counters at the three moments of a phase.
struct Readings {
    before: Snapshot,
    durable: Snapshot,
    end: Snapshot,
}
