//! A timed phase: the worker is made ready, counters are read, the worker goes, counters are read
//! again, the file system is drained, counters are read a last time.
//!
//! The three clocks start at the worker's first clock read. Between it and the worker's last one
//! the executor only waits; the sampler is the one thread beside it, and its cost is in the record.

use crate::cold;
use crate::limit::relief_notice;
use crate::relief::Relief;
use crate::trial::{StepError, Trial, unix_ns};
use crate::worker::ReadyWorker;
use fsarena_metrics::{
    Roots, Sampler, Snapshot, Sources, Watch, available_bytes, delta, disturb, monotonic_ns,
    page_reporting_active, processors, series,
};
use fsarena_model::SPEC_SCHEMA;
use fsarena_model::record::{Clocks, Drained, MemoryRecord, PhaseRecord, Window};
use fsarena_model::spec::TargetSpec;
use fsarena_model::units::Nanos;
use fsarena_model::work::{
    Dataset, Op, OpError, Phase, Task, WorkerReport, WorkerSays, WorkerSpec,
};
use fsarena_targets::fs::Place;
use fsarena_targets::{cache, settle};
use std::collections::BTreeMap;

/// Memory touched before every phase beyond what its data take, bytes.
const WARM_FLOOR_BYTES: u64 = 64 << 20;

impl Trial<'_> {
    pub(crate) fn phase_task(&self, phase: &Phase, latency: bool) -> Task {
        let number = self.spec.workload.phases.iter().position(|p| p.name == phase.name);
        let seed = self.spec.seed.child("phase", number.map_or(u64::MAX, |number| number as u64));
        Task::Phase { phase: phase.clone(), seed, latency }
    }

    pub(crate) fn worker_spec(&self, task: Task, op: Op) -> WorkerSpec {
        WorkerSpec {
            schema: SPEC_SCHEMA,
            root: self.work_root().unwrap_or_default(),
            dataset: self.spec.workload.dataset,
            dataset_seed: self.spec.seed.child("dataset", 0),
            task,
            warm_memory_bytes: warm_memory_bytes(
                &self.roots,
                &self.spec.workload.dataset,
                op,
                self.spec.contender.levels.memory_bytes,
            ),
            cpus: self.spec.cpus.clone(),
            user: self.spec.user,
        }
    }

    pub(crate) fn measure(&mut self, phase: &Phase) -> Result<(), StepError> {
        let spec = self.worker_spec(self.phase_task(phase, true), phase.op);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        self.limit_memory(worker.pid());
        let mut watch = self.watch(Some(worker.pid()));
        watch.memory_cgroup = self.cgroup().map(|cgroup| cgroup.path().to_owned());
        let mut sources = Sources::open(&self.roots, &watch)?;
        let sampler = self.start_sampler(&watch)?;
        let started_unix_ns = unix_ns();
        let before = sources.read()?;
        let relief = self.start_relief()?;
        let said = worker.go();
        let durable = sources.read()?;
        let report = match said {
            Ok(WorkerSays::Done(report)) => *report,
            Ok(other) => return Err(StepError::new(format!("the worker answered {other:?}"))),
            Err(failure) => return Err(self.explain_death(failure.into())),
        };
        let drained = self.drain(report.start_monotonic_ns)?;
        let end = sources.read()?;
        let sampled = sampler.map(|sampler| sampler.stop());
        drop(worker);
        let syncs = relief.map_or(0, Relief::stop);
        if syncs > 0 {
            self.record.notices.push(relief_notice(syncs));
        }
        let memory = self.memory_record(syncs);
        let readings = Readings { before, durable, end };
        let mut record = self.phase_record(phase, &report, drained, memory, &readings);
        record.started_unix_ns = started_unix_ns;
        if let Some(sampled) = sampled {
            let (samples, cost) = sampled?;
            if let Some(error) = samples.error() {
                self.notice("sampler-stopped", error.to_string(), None);
            }
            record.series = Some(series(&samples, report.start_monotonic_ns));
            record.sampler = Some(cost);
        }
        self.account_contents(phase, &report);
        self.close_phase(record, readings.before);
        report.error.map_or(Ok(()), |error| Err(op_failure(&error, phase, self.inodes_free())))
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
        drained: Drained,
        memory: MemoryRecord,
        readings: &Readings,
    ) -> PhaseRecord {
        let since = |at: u64| at.saturating_sub(report.start_monotonic_ns);
        let durable = delta(&readings.before, &readings.durable);
        let levels = &self.spec.contender.levels;
        let rule = self.driver.content(&levels.fs);
        let delivered = durable.get("device.read_bytes").copied();
        let cache = cold::judge(
            levels.cache,
            (self.driver.place(), self.image_in_memory()),
            self.chilled.take(),
            cold::need(phase.op, &self.spec.workload.dataset, &rule),
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
            started_unix_ns: 0,
            clocks: Clocks {
                returned_ns: since(report.returned_monotonic_ns),
                durable_ns: report.durable_monotonic_ns.map(since),
                drained,
            },
            ops: report.ops,
            asked_bytes: report.asked_bytes,
            latency: report.latency.clone(),
            windows,
            worker: report.usage,
            cache,
            memory,
            series: None,
            sampler: None,
            error: report.error.clone(),
        }
    }

    fn close_phase(&mut self, record: PhaseRecord, before: Snapshot) {
        self.open_accounts.push((self.record.phases.len(), before));
        self.record.phases.push(record);
    }

    /// What the file system holds after `phase`.
    pub(crate) fn account_contents(&mut self, phase: &Phase, report: &WorkerReport) {
        if phase.op.writes() {
            self.stored_bytes = self.stored_bytes.saturating_add(report.asked_bytes);
        } else if phase.op == Op::Delete {
            let gone = report.ops.saturating_mul(self.spec.workload.dataset.size_bytes);
            self.stored_bytes = self.stored_bytes.saturating_sub(gone);
        }
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
        if let TargetSpec::Image { device, .. } = &self.spec.target {
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

/// How much memory is to be touched before a phase.
///
/// Free page reporting: memory that was idle for seconds is with the hypervisor, and its next touch
/// is up to nine times slower. Touching and freeing as much as the phase will need, right before
/// it, keeps that out of the figures.
fn warm_memory_bytes(roots: &Roots, dataset: &Dataset, op: Op, limit_bytes: Option<u64>) -> u64 {
    if !page_reporting_active(roots) {
        return 0;
    }
    let blocks = dataset.size_bytes.next_multiple_of(4096).saturating_add(2048);
    let data = if op == Op::Stat || op == Op::Delete { 2048 } else { blocks };
    let needed = dataset.files.saturating_mul(data).min(limit_bytes.unwrap_or(u64::MAX));
    needed.saturating_add(WARM_FLOOR_BYTES).min(available_bytes(roots).unwrap_or(0) / 2)
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
    let is_full = error.errno == rustix::io::Errno::NOSPC.raw_os_error();
    let remedy = if is_full && inodes_free == Some(0) {
        Some(OUT_OF_INODES.to_owned())
    } else {
        remedy_for(error.errno).map(str::to_owned)
    };
    StepError::Failed { error: describe(error, phase), remedy }
}

const OUT_OF_INODES: &str = "its inodes are used up: ask mkfs for more (mkfs.inode_ratio), make the \
     device larger (--on loop:SIZE), or the work smaller (--scale)";

/// What to do about an error of the system in the middle of the work.
fn remedy_for(errno: i32) -> Option<&'static str> {
    use rustix::io::Errno;
    Some(match Errno::from_raw_os_error(errno) {
        Errno::NOSPC => "make the device larger (--on loop:SIZE) or the work smaller (--scale)",
        Errno::DQUOT => "raise the quota, or choose another directory",
        Errno::ROFS | Errno::IO => {
            "see the kernel's log (dmesg): the file system or its device reported an error"
        }
        Errno::ACCESS | Errno::PERM => "run as root, or choose a directory that you may write to",
        Errno::NOMEM => "raise the memory limit (--memory)",
        _ => return None,
    })
}

/// The same for the words of a worker that could not begin, which end with the system's:
/// `… (os error 28)`.
pub(crate) fn remedy_in(words: &str) -> Option<&'static str> {
    let number = words.rsplit_once("(os error ")?.1.split(')').next()?;
    remedy_for(number.parse().ok()?)
}

fn describe(error: &OpError, phase: &Phase) -> String {
    format!(
        "{} {}: {} (op {} of phase {})",
        error.call, error.path, error.text, error.op_index, phase.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with this much memory and a balloon with these features.
    fn machine(features: &str) -> (tempfile::TempDir, Roots) {
        let tree = tempfile::tempdir().expect("a directory for the tree");
        let (proc, sys) = (tree.path().join("proc"), tree.path().join("sys"));
        let roots = Roots { proc, sys, ..Roots::default() };
        let balloon = roots.sys.join("bus/virtio/devices/virtio0");
        std::fs::create_dir_all(balloon.join("driver")).expect("made");
        std::fs::create_dir_all(&roots.proc).expect("made");
        let files = [
            (balloon.join("device"), "0x0005\n"),
            (balloon.join("features"), features),
            (roots.proc.join("meminfo"), "MemTotal: 9 kB\nMemAvailable:    4194304 kB\n"),
        ];
        files.iter().for_each(|(path, text)| std::fs::write(path, text).expect("written"));
        (tree, roots)
    }

    #[test]
    fn memory_is_touched_where_free_pages_are_reported() {
        let set = |files| Dataset { files, size_bytes: 256, dirs: 0 };
        let (_tree, roots) = machine("0000010000");
        let bytes = |files, op, limit| warm_memory_bytes(&roots, &set(files), op, limit);
        assert_eq!(bytes(1000, Op::Create, None), 1000 * 6144 + WARM_FLOOR_BYTES);
        assert_eq!(bytes(1000, Op::Stat, None), 1000 * 2048 + WARM_FLOOR_BYTES);
        let limited = bytes(1_000_000, Op::Read, Some(64 << 20));
        assert_eq!(limited, (64 << 20) + WARM_FLOOR_BYTES, "no more than the phase may use");
        assert_eq!(bytes(100_000_000, Op::Read, None), 2 << 30, "half of what there is");
        let (_tree, roots) = machine("0000000000");
        assert_eq!(warm_memory_bytes(&roots, &set(1000), Op::Create, None), 0);
    }

    #[test]
    fn words_of_the_system_have_a_remedy() {
        let full = "directory d00099: cannot make it: No space left on device (os error 28)";
        assert!(remedy_in(full).is_some_and(|remedy| remedy.contains("larger")));
        assert!(remedy_in("directory d00099: Permission denied (os error 13); see").is_some());
        assert_eq!(remedy_in("File exists (os error 17)"), None);
        assert_eq!(remedy_in("a bad spec"), None);
    }
}
