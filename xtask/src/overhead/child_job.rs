//! Our side of a comparison: phases of the engine in a process of their own, as a worker runs them.
//!
//! The parent says what to do in one argument of JSON and reads one line of JSON. Neither has a
//! part between the clock reads of a phase.

use super::pairs::Sample;
use anyhow::{Context as _, Result, bail, ensure};
use fsarena_engine::phase::make_dirs;
use fsarena_engine::{Job, Prepared, Root};
use fsarena_model::seed::Seed;
use fsarena_model::work::{Backend, Dataset, DatasetState, Phase, WorkerReport};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Phases over one dataset.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChildJob {
    /// Directory that the dataset lies in.
    pub(super) root: PathBuf,
    pub(super) dataset: Dataset,
    pub(super) phases: Vec<Phase>,
}

/// What came of one phase.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct PhaseResult {
    pub(super) ops: u64,
    /// From the start to the last end.
    pub(super) elapsed_ns: u64,
    /// User and system time.
    pub(super) cpu_ns: u64,
}

impl PhaseResult {
    fn from_report(report: &WorkerReport) -> Result<Self> {
        if let Some(error) = &report.error {
            bail!("{} {}: {}", error.call, error.path, error.text);
        }
        report.durable_monotonic_ns.context("it was not made durable")?;
        let latencies = report.latency.as_ref().context("no latency was recorded")?;
        ensure!(latencies.count() == report.ops, "not every op's latency was recorded");
        Ok(Self {
            ops: report.ops,
            elapsed_ns: report.returned_monotonic_ns - report.start_monotonic_ns,
            cpu_ns: report.usage.user_ns + report.usage.system_ns,
        })
    }

    fn sample(&self) -> Sample {
        let ops = self.ops.max(1) as f64;
        Sample { ns_per_op: self.elapsed_ns as f64 / ops, cpu_ns_per_op: self.cpu_ns as f64 / ops }
    }
}

impl ChildJob {
    pub(super) fn new(root: &Path, dataset: Dataset, phases: Vec<Phase>) -> Self {
        Self { root: root.to_owned(), dataset, phases }
    }

    /// Has a child process run it.
    ///
    /// # Errors
    /// When it cannot be started, fails, or answers something else.
    pub(super) fn send(&self) -> Result<Vec<PhaseResult>> {
        let answer: Vec<PhaseResult> = run_self("--child", self)?;
        ensure!(answer.len() == self.phases.len(), "the child reports other phases");
        Ok(answer)
    }

    /// One sample a phase.
    ///
    /// # Errors
    /// As [`ChildJob::send`].
    pub(super) fn samples(&self) -> Result<Vec<Sample>> {
        Ok(self.send()?.iter().map(PhaseResult::sample).collect())
    }

    fn run(&self) -> Result<Vec<PhaseResult>> {
        let root = Root::enter(&self.root)?;
        let seed = Seed::from_number(self.dataset.files);
        let mut state = DatasetState::default();
        let mut phases = Vec::with_capacity(self.phases.len());
        for phase in &self.phases {
            let sector_bytes = root.sector_bytes();
            let job = Job { state, sector_bytes, ..Job::new(&self.dataset, phase, seed, seed) };
            let mut prepared = Prepared::new(&job)?;
            if phase.op.creates() && phase.io.backend != Backend::Null {
                make_dirs(&root, &self.dataset)?;
            }
            phases.push(PhaseResult::from_report(&prepared.run_on(&root))?);
            state = phase.leaves(state);
        }
        Ok(phases)
    }
}

/// Has this task, started anew with `flag`, do `what`.
///
/// # Errors
/// When it cannot be started, fails, or answers something else.
pub(super) fn run_self<A: DeserializeOwned>(flag: &str, what: &impl Serialize) -> Result<A> {
    let output = Command::new(std::env::current_exe()?)
        .args(["overhead", flag])
        .arg(serde_json::to_string(what)?)
        .output()?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "the child failed: {}", output.status);
    serde_json::from_slice(&output.stdout).context("the child's answer")
}

/// The child: does what `text` says and prints the answer.
///
/// # Errors
/// When a phase cannot be prepared or fails.
pub(super) fn run_child(text: &str) -> Result<()> {
    let child_job: ChildJob =
        serde_json::from_str(text).context("--child is for this task's own use")?;
    println!("{}", serde_json::to_string(&child_job.run()?)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::work::{Io, Op};

    #[test]
    fn a_child_job_is_sent_as_text() {
        let io = Io { backend: Backend::Null, ..Io::default() };
        let phase = Phase { io, ..Phase::new("stat", Op::Stat, 4096) };
        let dataset = Dataset::uniform(50, 256, 2);
        let child_job = ChildJob::new(Path::new("/"), dataset, vec![phase]);
        let text = serde_json::to_string(&child_job).unwrap();
        let child_job: ChildJob = serde_json::from_str(&text).unwrap();
        let answer = child_job.run().unwrap();
        assert_eq!(answer[0].ops, 50);
        assert!(answer[0].sample().ns_per_op > 0.0);
    }
}
