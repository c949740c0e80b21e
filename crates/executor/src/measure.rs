//! A timed phase: the worker is made ready, counters are read, the worker goes, counters are read
//! again, the file system is drained, counters are read a last time.
//!
//! The three clocks start at the worker's first clock read. Between it and the worker's last one
//! the executor only waits; the sampler is the one thread beside it, and its cost is in the record.

use crate::cold::{self, Ground, SourceCache};
use crate::laps::Laps;
use crate::limit::relief_notice;
use crate::relief::Relief;
use crate::tracing::Tracing;
use crate::trial::{StepError, Trial, unix_ns};
use crate::warm;
use crate::worker::ReadyWorker;
use fsarena_metrics::{
    Sampler, Snapshot, Sources, Watch, delta, disturb, monotonic_ns, processors, series,
};
use fsarena_model::SPEC_SCHEMA;
use fsarena_model::record::{Clocks, Drained, MemoryRecord, PhaseRecord, Window};
use fsarena_model::units::Nanos;
use fsarena_model::work::{
    Backend, Op, OpError, Phase, Task, WorkerReport, WorkerSays, WorkerSpec,
};
use fsarena_targets::fs::Place;
use fsarena_targets::{cache, settle};
use std::collections::BTreeMap;

impl Trial<'_> {
    pub(crate) fn phase_task(&self, phase: &Phase, latency: bool) -> Task {
        let number = self.spec.workload.phases.iter().position(|p| p.name == phase.name);
        let seed = self.spec.seed.child("phase", number.map_or(u64::MAX, |number| number as u64));
        if let Some(job) = &phase.job {
            return self.job_task(phase, job, latency);
        }
        match &self.spec.workload.fio {
            Some(job) if phase.op == Op::Fio => {
                Task::Fio { job: job.clone(), section: phase.name.clone(), lay_out: !phase.timed }
            }
            _ => Task::Phase { phase: phase.clone(), seed, latency },
        }
    }

    pub(crate) fn worker_spec(&self, task: Task, op: Op) -> WorkerSpec {
        WorkerSpec {
            schema: SPEC_SCHEMA,
            root: self.work_root().unwrap_or_default(),
            dataset: self.spec.workload.dataset.clone(),
            state: self.state,
            dataset_seed: self.spec.seed.child("dataset", 0),
            warm_memory_bytes: warm::task_bytes(
                &self.roots,
                &task,
                op,
                &self.spec.workload.dataset,
                self.spec.contender.levels.memory_bytes,
            ),
            task,
            cpus: self.spec.cpus.clone(),
            user: self.spec.user,
            handicap_ns: 0,
        }
    }

    pub(crate) fn measure(&mut self, phase: &Phase) -> Result<(), StepError> {
        let source = self.ready_source(phase)?;
        let handicap_ns = self.spec.contender.levels.handicap_ns;
        let task = self.phase_task(phase, true);
        let spec = WorkerSpec { handicap_ns, ..self.worker_spec(task, phase.op) };
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        self.limit_memory(worker.pid());
        let mut watch = self.watch(Some(worker.pid()));
        watch.memory_cgroup = self.cgroup().map(|cgroup| cgroup.path().to_owned());
        let mut sources = Sources::open(&self.roots, &watch)?;
        let sampler = self.start_sampler(&watch)?;
        let mut account = self.start_trace(phase);
        let started_unix_ns = unix_ns();
        let before = sources.read()?;
        let relief = self.start_relief()?;
        let Worked { mut report, laps, durable, done } =
            self.work(phase, &mut worker, (&mut sources, &before), account.tracing())?;
        let drained = self
            .drain(report.start_monotonic_ns)
            .or_else(|failed| not_drained(failed, &mut report))?;
        let end = sources.read()?;
        let sampled = sampler.map(|sampler| sampler.stop());
        drop(worker);
        self.look_at_end(&mut account, laps.as_ref())?;
        let syncs = relief.map_or(0, Relief::stop);
        if syncs > 0 {
            self.record.notices.push(relief_notice(syncs));
        }
        let memory = self.memory_record(syncs);
        let readings = Readings { before, durable, end };
        let rest = (drained, memory, source);
        let mut record = self.phase_record(phase, &report, rest, &readings);
        record.started_unix_ns = started_unix_ns;
        record.cycles = laps.map(|laps| {
            let cycles = report.cycles.clone().unwrap_or_default();
            laps.record(cycles, report.start_monotonic_ns, &done)
        });
        if let Some(sampled) = sampled {
            let (samples, cost) = sampled?;
            if let Some(error) = samples.error() {
                self.notice("sampler-stopped", error.to_string(), None);
            }
            record.series = Some(series(&samples, report.start_monotonic_ns));
            record.sampler = Some(cost);
        }
        self.account_contents(phase, &report);
        self.say_who_was_ended(&report);
        self.close_phase(record, readings.before, account);
        report.error.map_or(Ok(()), |error| Err(op_failure(&error, phase, self.inodes_free())))
    }

    /// Lets the worker go and waits until it has a result; counters are read at once then.
    fn work(
        &self,
        phase: &Phase,
        worker: &mut ReadyWorker<'_>,
        (sources, before): (&mut Sources, &Snapshot),
        mut tracing: Option<&mut Tracing>,
    ) -> Result<Worked, StepError> {
        let root = self.work_root()?;
        let mut on_quiet = |number, worker: &ReadyWorker<'_>| {
            if let Some(tracing) = &mut tracing {
                tracing.look_between(&root, number, worker);
            }
        };
        let worked = match &phase.cycle {
            None => worker.go().map(|said| (said, None)).map_err(StepError::from),
            Some(_) => {
                let went = self.go_cycling(worker, (&mut *sources, before), &mut on_quiet);
                went.map(|(said, laps)| (said, Some(laps)))
            }
        };
        let done = sources.read();
        let (said, laps) = worked.map_err(|failed| self.explain_death(failed))?;
        let report = match said {
            WorkerSays::Done(report) => *report,
            other => return Err(StepError::new(format!("the worker answered {other:?}"))),
        };
        let done = done?;
        // The last cycle was durable before its period was over.
        let last = laps.as_ref().filter(|_| report.durable_monotonic_ns.is_some());
        let durable = last.and_then(Laps::last_durable).unwrap_or(&done).clone();
        Ok(Worked { report, laps, durable, done })
    }

    fn start_sampler(&self, watch: &Watch) -> Result<Option<Sampler>, StepError> {
        let period_ns = self.spec.sample_period_ns;
        if period_ns == 0 {
            return Ok(None);
        }
        Ok(Some(Sampler::start(Sources::open(&self.roots, watch)?, period_ns)?))
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
        let rule = self.driver.content(&levels.fs);
        let delivered = durable.get("device.read_bytes").copied();
        let read_bytes = report.asked_bytes.saturating_sub(report.asked_written_bytes.unwrap_or(0));
        let cache = cold::judge(
            levels.cache,
            Ground {
                place: self.driver.place(),
                image_is_cached: self.cached_backing().is_some(),
                source,
            },
            self.chilled.take(),
            match &phase.job {
                Some(job) => self.job_need(job, &rule, report.ops),
                None => cold::need(phase, &self.spec.workload.dataset, &rule, read_bytes),
            },
            delivered,
        );
        let wall_ns = readings.durable.monotonic_ns.saturating_sub(readings.before.monotonic_ns);
        let limited = matches!(memory, MemoryRecord::Limited { .. });
        let observed = disturb::Observed {
            counters: &durable,
            worker: &report.usage,
            wall_ns,
            cpus: processors(&self.roots),
            memory_limited: limited,
        };
        self.record.notices.extend(disturb::notices(&observed));
        let mut windows = BTreeMap::from([(Window::Durable, durable)]);
        windows.insert(Window::Drained, delta(&readings.before, &readings.end));
        PhaseRecord {
            name: phase.name.clone(),
            op: phase.op,
            order: phase.order,
            bs_bytes: phase.bs_bytes,
            io: phase.io.clone(),
            job: phase.job.clone(),
            started_unix_ns: 0,
            clocks: Clocks {
                returned_ns: since(report.returned_monotonic_ns),
                durable_ns: report.durable_monotonic_ns.map(since),
                drained,
            },
            ops: report.ops,
            asked_bytes: report.asked_bytes,
            asked_written_bytes: report.asked_written_bytes,
            latency: report.latency.clone(),
            write_latency: report.write_latency.clone(),
            threads: report.threads.clone(),
            program: report.program.clone(),
            windows,
            worker: report.usage,
            cache,
            memory,
            series: None,
            sampler: None,
            cycles: None,
            account: None,
            error: report.error.clone(),
        }
    }

    /// What the file system holds after `phase`.
    pub(crate) fn account_contents(&mut self, phase: &Phase, report: &WorkerReport) {
        let dataset = &self.spec.workload.dataset;
        if phase.io.backend == Backend::Null {
            return;
        }
        if let Some(job) = &phase.job {
            return self.account_job(phase, job, report);
        }
        if phase.op.creates() || phase.op == Op::Append {
            self.stored_bytes = self.stored_bytes.saturating_add(report.asked_bytes);
        } else if phase.op == Op::Delete && report.ops >= dataset.files {
            self.stored_bytes = 0;
        } else if phase.op == Op::Delete {
            let each = self.stored_bytes / dataset.files.max(1);
            self.stored_bytes = self.stored_bytes.saturating_sub(each.saturating_mul(report.ops));
        } else if phase.op == Op::Fio {
            // Its files were laid out before, or are made by their first job.
            self.stored_bytes = self.stored_bytes.max(dataset.bytes());
        }
        if let Some(cycle) = &phase.cycle {
            self.beside.left(phase, cycle, report);
        }
        self.state = phase.leaves(self.state);
    }

    /// The third clock, from `start_monotonic_ns`.
    fn drain(&self, start_monotonic_ns: u64) -> Result<Drained, StepError> {
        if self.driver.place() == Place::Memory {
            return Ok(Drained::NoDevice);
        }
        if self.driver.freezes() {
            match settle::freeze_thaw(&self.work_root()?) {
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
        let Some(device) = self.device_name() else {
            let reason = match self.driver.place() {
                Place::Elsewhere => "it has no device of its own to be watched",
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
        Ok(match self.wait_idle(&device)? {
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
    laps: Option<Laps>,
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

/// The error of a phase whose op failed, with the remedy. `inodes_free` is known where their number
/// is fixed.
pub(crate) fn op_failure(error: &OpError, phase: &Phase, inodes_free: Option<u64>) -> StepError {
    let remedy = out_of_inodes(error.errno, inodes_free).or_else(|| remedy_for(error.errno));
    StepError::Failed { error: describe(error, phase), remedy: remedy.map(str::to_owned) }
}

/// The same for a failure in words.
pub(crate) fn refusal(failed: StepError, inodes_free: Option<u64>) -> StepError {
    let StepError::Failed { error, remedy } = failed else { return failed };
    let inodes = errno_in(&error).and_then(|errno| out_of_inodes(errno, inodes_free));
    StepError::Failed { error, remedy: inodes.map(str::to_owned).or(remedy) }
}

fn out_of_inodes(errno: i32, inodes_free: Option<u64>) -> Option<&'static str> {
    let is_full = errno == rustix::io::Errno::NOSPC.raw_os_error();
    (is_full && inodes_free == Some(0)).then_some(OUT_OF_INODES)
}

const OUT_OF_INODES: &str = "its inodes are used up: ask mkfs for more (mkfs.inode_ratio), make the \
     device larger (--on loop:SIZE), or the work smaller (--scale)";

/// What to do about an error of the system in the middle of the work.
fn remedy_for(errno: i32) -> Option<&'static str> {
    use rustix::io::Errno;
    // 0 where a program did not say which.
    if !(1..4096).contains(&errno) {
        return None;
    }
    Some(match Errno::from_raw_os_error(errno) {
        Errno::NOSPC => "make the device larger (--on loop:SIZE) or the work smaller (--scale)",
        Errno::DQUOT => "raise the quota, or choose another directory",
        Errno::ROFS | Errno::IO => {
            "see the kernel's log (dmesg): the file system or its device reported an error"
        }
        Errno::ACCESS | Errno::PERM => "run as root, or choose a directory that you may write to",
        Errno::NOMEM => "raise the memory limit (--memory), or see the kernel's log (dmesg)",
        _ => return None,
    })
}

/// The same for words that end with the system's: `… (os error 28)`.
pub(crate) fn remedy_in(words: &str) -> Option<&'static str> {
    remedy_for(errno_in(words)?)
}

pub(crate) fn errno_in(words: &str) -> Option<i32> {
    words.rsplit_once("(os error ")?.1.split(')').next()?.parse().ok()
}

fn describe(error: &OpError, phase: &Phase) -> String {
    let OpError { op_index, thread, call, path, text, .. } = error;
    // A program has one end and no ops; its words name the phase.
    if text.starts_with(&format!("phase {}: ", phase.name)) {
        return text.clone();
    }
    let whose = thread.map_or(String::new(), |thread| format!("thread {thread} in "));
    format!("{call} {path}: {text} (op {op_index} of {whose}phase {})", phase.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_system_have_a_remedy() {
        let full = "directory d00099: cannot make it: No space left on device (os error 28)";
        assert!(remedy_in(full).is_some_and(|remedy| remedy.contains("larger")));
        assert!(remedy_in("directory d00099: Permission denied (os error 13); see").is_some());
        assert_eq!(remedy_in("File exists (os error 17)"), None);
        assert_eq!(remedy_in("a bad spec"), None);
        assert!([0, -1, 4096, i32::MIN].into_iter().all(|errno| remedy_for(errno).is_none()));
    }
}
