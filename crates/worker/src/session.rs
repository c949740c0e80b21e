//! The worker: one process for one task, spoken to in lines of JSON.
//!
//! Input: one line [`WorkerSpec`], then a line `go`. Output: one line [`WorkerSays::Ready`] when
//! all is prepared, then, in a phase of cycles, a line [`WorkerSays::CycleEvent`] at each of its
//! moments, in any other a line [`WorkerSays::Durable`] when its counters have been read, then one
//! line [`WorkerSays::Done`], [`WorkerSays::Verified`] or [`WorkerSays::Made`]; or one line
//! [`WorkerSays::Refused`] with the reason, and nothing more. An input that ends before `go` means
//! that no process waits any longer: the worker ends quietly.
//!
//! Before `go` and after the result a line `canary` has the canary loop run. Before `go` a list of
//! files is what is to be read when the phase is durable; it is answered by another
//! [`WorkerSays::Ready`].
//!
//! A rank of a phase with a stonewall says [`WorkerSays::Stonewall`] when the time is over for all
//! its threads; the line `wear-out N` then says to how many ops each goes on. Both are spoken by a
//! thread of the phase.
//!
//! A phase that fails in the middle is `Done`, with its error in the report. What is not measured
//! (directories, a source, a hook) and fails is `Refused`, with what failed.
//!
//! The process is the worker's own: it changes user, processors and working directory. It touches
//! nothing below the root before `go`.

use crate::program::{FioRun, HookRun, JobRun, ProgramError};
use crate::tree::{self, TreeError, TreeRun};
use fsarena_bounded::Bounded;
use fsarena_engine::EngineError;
use fsarena_engine::InjectedDelay;
use fsarena_engine::Job;
use fsarena_engine::buffer::warm_memory;
use fsarena_engine::canary::canary_ns;
use fsarena_engine::phase::Prepared;
use fsarena_engine::resident::hold_mapped_files;
use fsarena_engine::resources::become_user;
use fsarena_engine::root::{Root, make_dirs};
use fsarena_engine::stonewall::OtherRanks;
use fsarena_engine::verify::Verifier;
use fsarena_model::SPEC_SCHEMA;
use fsarena_model::cycle::CycleEvent;
use fsarena_model::job::{By, Source};
use fsarena_model::work::{
    Dataset, LINE_MOST_BYTES, Task, UserIds, WEAR_OUT, WorkerSays, WorkerSpec,
};
use fsarena_process::child::enter_mounts_of;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The conversation broke down.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Standard input cannot be read.
    #[error("worker: cannot read its input: {0}")]
    Input(std::io::Error),
    /// Standard output cannot be written.
    #[error("worker: cannot write its output: {0}")]
    Output(std::io::Error),
    /// A message cannot be put into JSON.
    #[error("worker: cannot encode its answer: {0}")]
    Encode(serde_json::Error),
}

/// Why a task is refused.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("worker spec: {0}")]
    Spec(#[from] serde_json::Error),
    #[error("worker spec has schema {0}; this program knows {SPEC_SCHEMA}: use one version of it")]
    Schema(u32),
    #[error("cannot become user {} group {}: {source}; this needs root", .ids.uid, .ids.gid)]
    User { ids: UserIds, source: std::io::Error },
    #[error("cannot enter the mounts of the agent (process {pid}): {source}; is it still there?")]
    Mounts { pid: u32, source: std::io::Error },
    #[error("cannot run on processors {cpus:?}: {source}; see nproc and the cpuset of the cgroup")]
    Cpus { cpus: Vec<usize>, source: Errno },
    #[error("cannot touch {bytes} bytes of memory: {source}; lower warm_memory_bytes")]
    Warm { bytes: u64, source: Errno },
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("expected the line \"go\", got {0:?}")]
    NotGo(String),
    #[error("files to be read when the phase is durable: {0}")]
    Counters(serde_json::Error),
}

/// A task with everything it needs.
enum Ready {
    Phase(Box<Prepared>),
    MakeDirs(Dataset),
    Verify(Box<Verifier>),
    Fio(Box<FioRun>),
    Job(Box<JobRun>),
    Tree(Box<TreeRun>),
    Hook(Box<HookRun>),
    Stage { source: Box<Source>, from: Option<PathBuf> },
    Compare { pairs: Vec<(PathBuf, PathBuf)>, source: Box<Source> },
}

/// The worker's whole life.
///
/// # Errors
/// When the other side cannot be read or written. A task that cannot be done is an answer
/// ([`WorkerSays::Refused`]), not an error.
pub fn worker_main(
    mut input: impl BufRead + Send,
    mut output: impl Write + Send,
) -> Result<(), WorkerError> {
    let Some(line) = next_line(&mut input)? else { return Ok(()) };
    let refused = |refusal: Refusal| WorkerSays::Refused(refusal.to_string());
    let (mut root, ready) = match prepare(&line) {
        Ok(prepared) => prepared,
        Err(refusal) => return send(&mut output, &refused(refusal)),
    };
    send(&mut output, &WorkerSays::Ready)?;
    loop {
        let Some(line) = next_line(&mut input)? else { return Ok(()) };
        let says = match line.trim_end() {
            "go" => break,
            "canary" => canary(),
            list if list.starts_with('[') => match serde_json::from_str::<Vec<_>>(list) {
                Ok(files) => {
                    root.read_when_durable(&files);
                    WorkerSays::Ready
                }
                Err(error) => return send(&mut output, &refused(Refusal::Counters(error))),
            },
            other => return send(&mut output, &refused(Refusal::NotGo(other.to_owned()))),
        };
        send(&mut output, &says)?;
    }
    let wire = Wire::new(&mut input, &mut output);
    let mut on_event = |event| wire.say(&WorkerSays::CycleEvent(event));
    let mut answer = answer(ready, &root, &mut on_event, &wire);
    wire.end()?;
    if let WorkerSays::Done(report) = &mut answer
        && report.durable_monotonic_ns.is_some()
        && report.cycles.is_none()
    {
        send(&mut output, &WorkerSays::Durable)?;
        report.counters = root.take_counters();
    }
    send(&mut output, &answer)?;
    while let Some(line) = next_line(&mut input)? {
        if line.trim_end() == "canary" {
            send(&mut output, &canary())?;
        }
    }
    Ok(())
}

fn canary() -> WorkerSays {
    WorkerSays::Canary { elapsed_ns: canary_ns() }
}

/// Both directions, as the work itself needs them: by any of its threads.
struct Wire<'a, I, O>(Mutex<Ends<'a, I, O>>);

struct Ends<'a, I, O> {
    input: &'a mut I,
    output: &'a mut O,
    /// The first failure; nothing is said after it.
    said: Result<(), WorkerError>,
}

impl<'a, I: BufRead, O: Write> Wire<'a, I, O> {
    fn new(input: &'a mut I, output: &'a mut O) -> Self {
        Self(Mutex::new(Ends { input, output, said: Ok(()) }))
    }

    fn ends(&self) -> MutexGuard<'_, Ends<'a, I, O>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, says: &WorkerSays) {
        let mut ends = self.ends();
        if ends.said.is_ok() {
            ends.said = send(ends.output, says);
        }
    }

    /// # Errors
    /// The first failure to say something.
    fn end(self) -> Result<(), WorkerError> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).said
    }
}

impl<I: BufRead + Send, O: Write + Send> OtherRanks for Wire<'_, I, O> {
    fn say_most(&self, most_ops: u64) {
        self.say(&WorkerSays::Stonewall { most_ops });
    }

    fn hear_most(&self) -> Option<u64> {
        let line = next_line(self.ends().input).ok().flatten()?;
        line.trim_end().strip_prefix(WEAR_OUT)?.trim_start().parse().ok()
    }
}

/// Does what comes after `go`.
fn answer(
    ready: Ready,
    root: &Root,
    on_event: &mut dyn FnMut(CycleEvent),
    others: &dyn OtherRanks,
) -> WorkerSays {
    let done = |report| WorkerSays::Done(Box::new(report));
    match ready {
        Ready::Phase(mut prepared) => done(prepared.run_beside(root, on_event, Some(others))),
        Ready::Fio(fio) => done(fio.run(root)),
        Ready::Job(job) => done(job.run(root)),
        Ready::Tree(mut tree) => done(tree.run(root)),
        Ready::MakeDirs(dataset) => made(make_dirs(root, &dataset)),
        Ready::Stage { source, from } => made(tree::stage(root, &source, from.as_deref())),
        Ready::Hook(hook) => made(hook.run(root).map_err(|error| error.text)),
        Ready::Verify(mut verifier) => WorkerSays::Verified(verifier.run(root)),
        Ready::Compare { pairs, source } => {
            WorkerSays::Verified(tree::compare(root, &pairs, &source))
        }
    }
}

/// The answer to what is not measured.
fn made<E: std::fmt::Display>(outcome: Result<(), E>) -> WorkerSays {
    match outcome {
        Ok(()) => WorkerSays::Made,
        Err(error) => WorkerSays::Refused(error.to_string()),
    }
}

/// Does everything that comes before `go`. Memory is warmed last: what it brings cools down again.
fn prepare(line: &str) -> Result<(Root, Ready), Refusal> {
    let spec = WorkerSpec::from_json(line)?;
    if spec.schema != SPEC_SCHEMA {
        return Err(Refusal::Schema(spec.schema));
    }
    fsarena_process::trust::accept(&spec.trust);
    if let Some(pid) = spec.mounts_of_pid {
        enter_mounts_of(pid).map_err(|source| Refusal::Mounts { pid, source })?;
    }
    pin(&spec.cpus)?;
    // Entered as who started this: the way to the mount point need not be open to everybody.
    let mut root = Root::enter(&spec.root)?;
    if let Some(device) = &spec.flush_device {
        root.flush_device_too(device)?;
    }
    if matches!(spec.task, Task::Phase { .. } | Task::Fio { .. } | Task::Job(_)) {
        // Locking them may need root as well.
        let _ = hold_mapped_files();
    }
    if let Some(ids) = spec.user {
        become_user(ids).map_err(|source| Refusal::User { ids, source })?;
    }
    let (dataset, dataset_seed, state) = (&spec.dataset, spec.dataset_seed, spec.state);
    let delay = InjectedDelay::from_ns(spec.handicap_ns);
    let ready = match &spec.task {
        Task::Phase { phase, seed, latency } => {
            let (seed, latency, rank) = (*seed, *latency, spec.rank);
            let sector_bytes = root.sector_bytes();
            let plain = Job::new(dataset, phase, seed, dataset_seed);
            let newer_than_unix_ns = spec.newer_than_unix_ns;
            let job =
                Job { state, latency, sector_bytes, delay, rank, newer_than_unix_ns, ..plain };
            Ready::Phase(Box::new(Prepared::new(&job)?))
        }
        Task::Fio { job, section, lay_out } => {
            let mut fio = FioRun::prepare(job, section, *lay_out, &dataset_seed)?;
            fio.delay = delay;
            Ready::Fio(Box::new(fio))
        }
        Task::Job(task) => match task.job.by {
            By::Program => {
                let mut job = JobRun::prepare(task, &spec.root)?;
                job.delay = delay;
                Ready::Job(Box::new(job))
            }
            By::Engine => {
                let mut tree = TreeRun::prepare(task)?;
                tree.delay = delay;
                Ready::Tree(Box::new(tree))
            }
        },
        Task::Hook { command, data } => {
            Ready::Hook(Box::new(HookRun::prepare(command, data, &spec.root)?))
        }
        Task::Stage { source, from } => {
            Ready::Stage { source: Box::new(source.clone()), from: from.clone() }
        }
        Task::Compare { pairs, source } => {
            Ready::Compare { pairs: pairs.clone(), source: Box::new(source.clone()) }
        }
        Task::MakeDirs => Ready::MakeDirs(spec.dataset.clone()),
        Task::Verify { bs_bytes } => {
            Ready::Verify(Box::new(Verifier::new(dataset, &state, *bs_bytes, &dataset_seed)?))
        }
    };
    let bytes = spec.warm_memory_bytes;
    warm_memory(bytes).map_err(|source| Refusal::Warm { bytes, source })?;
    Ok((root, ready))
}

fn next_line(input: &mut impl BufRead) -> Result<Option<String>, WorkerError> {
    Bounded::new(input, LINE_MOST_BYTES).next_text_line().map_err(WorkerError::Input)
}

fn send(output: &mut impl Write, says: &WorkerSays) -> Result<(), WorkerError> {
    let mut line = serde_json::to_string(says).map_err(WorkerError::Encode)?;
    line.push('\n');
    output.write_all(line.as_bytes()).map_err(WorkerError::Output)?;
    output.flush().map_err(WorkerError::Output)
}

/// Runs on `cpus` from now on; none given: no change.
fn pin(cpus: &[usize]) -> Result<(), Refusal> {
    if cpus.is_empty() {
        return Ok(());
    }
    let refuse = |source| Refusal::Cpus { cpus: cpus.to_vec(), source };
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(refuse(Errno::INVAL));
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(refuse)
}
