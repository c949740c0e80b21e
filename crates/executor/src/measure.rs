//! A timed phase: the worker is made ready, counters are read, the worker goes, counters are read
//! again, the file system is drained, counters are read a last time.
//!
//! The three clocks start at the worker's first clock read. Between it and the worker's last one
//! the executor only waits; the sampler is the one thread beside it, and its cost is in the record.

use crate::cold::{self, Ground, SourceCache};
use crate::limit::relief_notice;
use crate::relief::Relief;
use crate::trial::{StepError, Trial, unix_ns};
use crate::worker::ReadyWorker;
use fsarena_metrics::{
    Roots, Sampler, Snapshot, Sources, Watch, available_bytes, delta, disturb, monotonic_ns,
    page_reporting_active, processors, series,
};
use fsarena_model::SPEC_SCHEMA;
use fsarena_model::job::{By, JobKind};
use fsarena_model::record::{Clocks, Drained, MemoryRecord, PhaseRecord, Window};
use fsarena_model::units::Nanos;
use fsarena_model::work::{
    Backend, Dataset, JobTask, Op, OpError, Phase, Task, WorkerReport, WorkerSays, WorkerSpec,
};
use fsarena_targets::fs::Place;
use fsarena_targets::{cache, settle};
use std::collections::BTreeMap;

/// An inode with its entry in memory, bytes.
const INODE_BYTES: u64 = 2048;
/// Memory of the programs of real work, bytes.
const PROGRAMS_BYTES: u64 = 256 << 20;
/// Memory touched before every phase beyond what its data take, bytes.
const WARM_FLOOR_BYTES: u64 = 64 << 20;

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
            warm_memory_bytes: warm_memory_bytes(
                &self.roots,
                match &task {
                    Task::Job(task) => job_memory_bytes(task),
                    _ => phase_memory_bytes(&self.spec.workload.dataset, op),
                },
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
        let started_unix_ns = unix_ns();
        let before = sources.read()?;
        let relief = self.start_relief()?;
        let said = worker.go();
        let durable = sources.read()?;
        let mut report = match said {
            Ok(WorkerSays::Done(report)) => *report,
            Ok(other) => return Err(StepError::new(format!("the worker answered {other:?}"))),
            Err(failure) => return Err(self.explain_death(failure.into())),
        };
        let drained = self
            .drain(report.start_monotonic_ns)
            .or_else(|failed| not_drained(failed, &mut report))?;
        let end = sources.read()?;
        let sampled = sampler.map(|sampler| sampler.stop());
        drop(worker);
        let syncs = relief.map_or(0, Relief::stop);
        if syncs > 0 {
            self.record.notices.push(relief_notice(syncs));
        }
        let memory = self.memory_record(syncs);
        let readings = Readings { before, durable, end };
        let rest = (drained, memory, source);
        let mut record = self.phase_record(phase, &report, rest, &readings);
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
        self.say_who_was_ended(&report);
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

    fn close_phase(&mut self, record: PhaseRecord, before: Snapshot) {
        self.open_accounts.push((self.record.phases.len(), before));
        self.record.phases.push(record);
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

/// How much memory is to be touched before a phase.
///
/// Free page reporting: memory that was idle for seconds is with the hypervisor, and its next touch
/// is up to nine times slower. Touching and freeing as much as the phase will need, right before
/// it, keeps that out of the figures.
fn warm_memory_bytes(roots: &Roots, needed_bytes: u64, limit_bytes: Option<u64>) -> u64 {
    if !page_reporting_active(roots) {
        return 0;
    }
    let needed_bytes = needed_bytes.min(limit_bytes.unwrap_or(u64::MAX));
    needed_bytes.saturating_add(WARM_FLOOR_BYTES).min(available_bytes(roots).unwrap_or(0) / 2)
}

/// What a phase of the engine needs: an inode with its entry, and half a block of rounding in the
/// page cache, a file.
fn phase_memory_bytes(dataset: &Dataset, op: Op) -> u64 {
    let contents = match op.moves_bytes() {
        true => dataset.bytes().saturating_add(dataset.files.saturating_mul(4096)),
        false => 0,
    };
    dataset.files.saturating_mul(INODE_BYTES).saturating_add(contents)
}

/// What real work needs: what it works on and what it makes, the inodes of both, and room for
/// programs that compress, encode, compile or do what the user says.
fn job_memory_bytes(task: &JobTask) -> u64 {
    let contents = &task.contents;
    let pages = contents.block_bytes.max(contents.bytes).saturating_mul(2);
    let archive = contents.archive_bytes.unwrap_or(0);
    let inodes = contents.entries().saturating_mul(2 * INODE_BYTES);
    let plain = matches!(task.job.kind, JobKind::Copy | JobKind::Delete);
    let programs = if plain || task.job.by == By::Engine { 0 } else { PROGRAMS_BYTES };
    [pages, archive, inodes, programs].into_iter().fold(0, u64::saturating_add)
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
    use fsarena_model::job::{Compression, Contents, DATA, Job, Reflink};

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
        let set = |files| Dataset::uniform(files, 256, 0);
        let (_tree, roots) = machine("0000010000");
        let needed = |files, op| phase_memory_bytes(&set(files), op);
        let bytes = |files, op, limit| warm_memory_bytes(&roots, needed(files, op), limit);
        assert_eq!(bytes(1000, Op::Create, None), 1000 * (2048 + 4096 + 256) + WARM_FLOOR_BYTES);
        assert_eq!(bytes(1000, Op::Stat, None), 1000 * 2048 + WARM_FLOOR_BYTES);
        let limited = bytes(1_000_000, Op::Read, Some(64 << 20));
        assert_eq!(limited, (64 << 20) + WARM_FLOOR_BYTES, "no more than the phase may use");
        assert_eq!(bytes(100_000_000, Op::Read, None), 2 << 30, "half of what there is");
        let (_tree, roots) = machine("0000000000");
        assert_eq!(warm_memory_bytes(&roots, 1 << 30, None), 0);
    }

    #[test]
    fn real_work_needs_memory_for_what_it_reads_and_makes() {
        let task = |kind, by, contents| JobTask {
            name: "p".to_owned(),
            job: Job { by, ..Job::new(kind, DATA) },
            input: DATA.into(),
            data: DATA.into(),
            contents,
            reflink: Reflink::Never,
            latency: false,
        };
        let tree = Contents {
            files: 90,
            dirs: 10,
            bytes: 5000,
            block_bytes: 368_640,
            ..Contents::default()
        };
        let both = 2 * 368_640 + 100 * 2 * 2048;
        let bytes = |kind, by, contents| job_memory_bytes(&task(kind, by, contents));
        assert_eq!(bytes(JobKind::Copy, By::Program, tree), both);
        assert_eq!(bytes(JobKind::Flac, By::Program, tree), both + (256 << 20));
        let packed = Contents { archive_bytes: Some(777), ..tree };
        let untar = JobKind::Untar { compression: Compression::Xz };
        assert_eq!(bytes(untar.clone(), By::Engine, packed), both + 777);
        assert_eq!(bytes(untar, By::Program, packed), both + 777 + (256 << 20));
    }

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
