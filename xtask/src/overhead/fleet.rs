//! Ranks: four of them against mdtest on tmpfs; how long the reports of many take to be merged, and
//! how many bytes a rank sends and gets in a phase.
//!
//! mdtest is not part of this repository: `--mdtest PATH` (or `FSARENA_MDTEST`) names one that was
//! built with MPI, and its `mpirun` is in PATH. The reports that are merged are those of a real
//! rank, heard as often as there are ranks, each time as the line that it sends.

use super::child_job::run_self;
use super::options::{MIB, Options, Section, Verdict};
use super::pairs::{Pace, Sample, Side, stage};
use super::process_status::ProcessStatus;
use super::table::{Centre, Compared, Comparison};
use crate::program;
use anyhow::{Context as _, Result, ensure};
use fsarena_model::rank::{ClockOffset, HeardRank, merge};
use fsarena_model::record::{PhaseRecord, TrialRecord};
use fsarena_model::work::{WorkerReport, WorkerSays};
use fsarena_store::Store;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const SECTION: Section = Section { name: "fleet", judged, run };

const EXPERIMENT: &str = include_str!("fleet.toml");
const RANKS: u32 = 4;
const USUAL_PAIRS: u32 = 15;
const JUDGED_PAIRS: u32 = 10;
/// Each rank has so many.
const FILES: u64 = 20_000;
const FIGURES: [Compared; 4] = [
    Compared { name: "create", ratio: 1.0, low: 0.0 },
    Compared { name: "stat", ratio: 1.4, low: 0.0 },
    Compared { name: "read", ratio: 1.15, low: 0.0 },
    Compared { name: "delete", ratio: 0.98, low: 0.0 },
];
/// What mdtest calls them.
const MDTEST_NAMES: [&str; 4] = ["File creation", "File stat", "File read", "File removal"];
/// Ranks, and the most that merging their reports may take, ns.
const MERGES: [(u32, u64); 2] = [(64, 100_000_000), (4096, 2_000_000_000)];
const MERGE_MEMORY_MOST_BYTES: u64 = 1 << 30;
const WIRE_MOST_BYTES: u64 = 64 << 10;
/// An ssh that starts its command here, and keeps what goes either way.
const LISTENING_SSH: &str = "while [ $# -gt 2 ]; do shift; done\n\
    n=$(mktemp -d \"{dir}/rank-XXXXXX\")\ntee \"$n/to\" | sh -c \"$2\" | tee \"$n/from\"\n";

fn judged(options: &Options) -> bool {
    !options.smoke && options.pairs(USUAL_PAIRS) >= JUDGED_PAIRS
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let program = program::build()?;
    wire(options, &program, &mut verdict)?;
    merges(options, &mut verdict)?;
    match &options.mdtest {
        Some(mdtest) => compare(options, &program, mdtest, &mut verdict)?,
        None => verdict.not_run("ranks beside mdtest", "name a built mdtest with --mdtest PATH"),
    }
    Ok(verdict)
}

fn compare(options: &Options, program: &Path, mdtest: &Path, verdict: &mut Verdict) -> Result<()> {
    let files = if options.smoke { 200 } else { FILES };
    let judged = judged(options);
    let pace = Pace::new(options, options.pairs(USUAL_PAIRS), judged);
    let pairs = pace.run(|side| {
        let dir = stage(options, 0)?;
        match side {
            Side::Ours => {
                let phases = phases(program, dir.path(), files, &[])?;
                phases.iter().map(sample).collect()
            }
            Side::Other => mdtest_samples(mdtest, dir.path(), files),
        }
    })?;
    let comparison = Comparison {
        title: format!(
            "{RANKS} ranks, {files} empty files each in own directories (mdtest tells no CPU time)"
        ),
        other: "mdtest",
        compared: &FIGURES,
        centre: Centre::Median,
        needs: if judged { JUDGED_PAIRS } else { 0 },
    };
    verdict.missed.extend(comparison.print(&pairs)?);
    Ok(())
}

/// The timed phases of one trial in `dir`.
fn phases(program: &Path, dir: &Path, files: u64, more: &[&str]) -> Result<Vec<PhaseRecord>> {
    let own = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
    let target = dir.join("target");
    fs::create_dir(&target)?;
    let text = EXPERIMENT
        .replace("{dir}", &target.display().to_string())
        .replace("{files}", &(u64::from(RANKS) * files).to_string());
    fs::write(own.path().join("ranks.toml"), text)?;
    let mut command = Command::new(program);
    command.current_dir(own.path()).args(["--db", "ranks.db", "run", "ranks.toml", "-q"]);
    command.arg("--no-report").args(more).env("FSARENA_STATE_DIR", own.path().join("state"));
    let output = command.stdin(Stdio::null()).output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ranks: {}: {complaint}", output.status);
    let store = Store::open_read_only(&own.path().join("ranks.db"))?;
    let record: TrialRecord =
        store.records(store.find("latest")?)?.into_iter().next().context("no record")?;
    ensure!(record.phases.len() == FIGURES.len(), "{:?}", record.outcome);
    Ok(record.phases)
}

fn sample(phase: &PhaseRecord) -> Result<Sample> {
    ensure!(phase.is_complete(), "{}: {:?}", phase.name, phase.error);
    let ops = phase.ops.max(1) as f64;
    let cpu_ns = phase.worker.user_ns + phase.worker.system_ns;
    let ns_per_op = phase.clocks.returned_ns as f64 / ops;
    Ok(Sample { ns_per_op, cpu_ns_per_op: cpu_ns as f64 / ops })
}

/// mdtest tells no processor time.
fn mdtest_samples(mdtest: &Path, dir: &Path, files: u64) -> Result<Vec<Sample>> {
    let mut command = Command::new("mpirun");
    command.args(["-np", &RANKS.to_string(), "--oversubscribe", "--bind-to", "none"]);
    // Where there are fewer processors than ranks, one that waits in a barrier must not spin.
    command.args(["--mca", "mpi_yield_when_idle", "1"]).arg(mdtest).arg("-d").arg(dir);
    command.args(["-n", &files.to_string(), "-F", "-u", "-C", "-T", "-E", "-r"]);
    let allowed = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
    command.envs(allowed.map(|name| (name, "1"))).stdin(Stdio::null());
    let output = command.output().context("mpirun")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "mdtest: {}: {complaint}{text}", output.status);
    rates(&text).with_context(|| format!("mdtest printed {text}"))
}

/// The mean rates of its summary.
fn rates(text: &str) -> Result<Vec<Sample>> {
    let rate = |name: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name));
        let mean = line.and_then(|line| line.split_ascii_whitespace().nth(2));
        let per_s: f64 = mean.with_context(|| format!("no rate of {name}"))?.parse()?;
        ensure!(per_s > 0.0, "{name}: {per_s} per second");
        Ok(Sample { ns_per_op: 1e9 / per_s, cpu_ns_per_op: 0.0 })
    };
    MDTEST_NAMES.into_iter().map(rate).collect()
}

/// What goes over the wire of a rank in each phase.
fn wire(options: &Options, program: &Path, verdict: &mut Verdict) -> Result<()> {
    let dir = stage(options, 0)?;
    let heard = dir.path().join("heard");
    fs::create_dir(&heard)?;
    let ssh = dir.path().join("ssh");
    let text = LISTENING_SSH.replace("{dir}", &heard.display().to_string());
    fsarena_testkit::write_script(&ssh, &text);
    let (ssh, program_text) = (ssh.display().to_string(), program.display().to_string());
    let hosts = ["--hosts", "a,b,c,d", "--ssh", &ssh, "--remote-program", &program_text];
    let files = if options.smoke { 200 } else { FILES };
    phases(program, dir.path(), files, &hosts)?;
    let mut most_bytes = 0;
    for rank in fs::read_dir(&heard)? {
        let length = |name: &str| Ok::<_, std::io::Error>(fs::metadata(name)?.len());
        let at = rank?.path();
        let both = ["to", "from"].map(|name| at.join(name).display().to_string());
        most_bytes = most_bytes.max(length(&both[0])? + length(&both[1])?);
    }
    ensure!(most_bytes > 0, "nothing was heard");
    let figure = (most_bytes, WIRE_MOST_BYTES);
    verdict.judge("a rank's bytes in a phase, both ways", figure, (1024.0, "KiB"));
    Ok(())
}

/// What a process of its own is to merge.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MergeJob {
    ranks: u32,
    /// Where the files of the report are made.
    dir: PathBuf,
}

/// What it took.
#[derive(Debug, Serialize, Deserialize)]
struct Merged {
    elapsed_ns: u64,
    /// Most memory of the process.
    peak_bytes: u64,
}

fn merges(options: &Options, verdict: &mut Verdict) -> Result<()> {
    for (ranks, most_ns) in MERGES.into_iter().take(if options.smoke { 1 } else { MERGES.len() }) {
        let dir = stage(options, 0)?;
        let job = MergeJob { ranks, dir: dir.path().to_owned() };
        let merged: Merged = run_self("--merge-child", &job)?;
        let what = format!("{ranks} reports read and merged");
        verdict.judge(&what, (merged.elapsed_ns, most_ns), (1e6, "ms"));
        let figure = (merged.peak_bytes, MERGE_MEMORY_MOST_BYTES);
        verdict.judge("  memory of the process", figure, (MIB as f64, "MiB"));
    }
    Ok(())
}

/// The report of a rank that has made files, with the latency of each.
fn report(dir: &Path) -> Result<WorkerReport> {
    use fsarena_engine::phase::make_dirs;
    use fsarena_engine::{Job, Prepared, Root};
    use fsarena_model::seed::Seed;
    use fsarena_model::work::{Dataset, Op, Phase};
    let root = Root::enter(dir)?;
    let dataset = Dataset::uniform(20_000, 0, 20);
    let phase = Phase::new("create", Op::Create, 4096);
    let seed = Seed::from_number(1);
    make_dirs(&root, &dataset)?;
    Ok(Prepared::new(&Job::new(&dataset, &phase, seed, seed))?.run_on(&root))
}

/// The child: makes a report, reads and merges its line as often as there are ranks, writes them as
/// the record of a phase has them, and prints what that took.
///
/// # Errors
/// When there is no report.
pub(super) fn merge_child(text: &str) -> Result<()> {
    let job: MergeJob =
        serde_json::from_str(text).context("--merge-child is for this task's own use")?;
    let line = serde_json::to_string(&WorkerSays::Done(Box::new(report(&job.dir)?)))?;
    let began = Instant::now();
    let mut heard = Vec::new();
    for rank in 0..job.ranks {
        let WorkerSays::Done(report) = serde_json::from_str(&line)? else {
            anyhow::bail!("no report");
        };
        let hostname = format!("node{rank}");
        let clock = ClockOffset { offset_ns: i64::from(rank), error_ns: 1000 };
        let boot_id = "3d2f8c1e-77a0-4f0e-9d7e-0c6a54b1a001".to_owned();
        heard.push(HeardRank { rank, hostname, boot_id, clock, report: *report });
    }
    let (all, ranks) = merge(heard);
    ensure!(ranks.len() == job.ranks as usize && all.latency.is_some());
    let bytes = serde_json::to_vec(&ranks)?.len();
    ensure!(bytes > 0);
    let elapsed_ns = u64::try_from(began.elapsed().as_nanos())?;
    let status = ProcessStatus::of_pid(std::process::id());
    let peak_bytes = status.and_then(|status| status.peak_bytes());
    let peak_bytes = peak_bytes.context("no VmHWM in /proc/self/status")?;
    println!("{}", serde_json::to_string(&Merged { elapsed_ns, peak_bytes })?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_mdtest_are_the_means_of_its_summary() {
        let text = "SUMMARY rate (in ops/sec): (of 1 iterations)\n   Operation  Max Min Mean\n   \
                    File creation  50000.0  40000.0  45000.0  1.0\n   \
                    File stat      100000.0 100000.0 100000.0 0.0\n   \
                    File read      80000.0  80000.0  80000.0  0.0\n   \
                    File removal   60000.0  60000.0  50000.0  0.0\n";
        let found: Vec<f64> = rates(text).unwrap().iter().map(|one| one.ns_per_op).collect();
        assert_eq!(found, [1e9 / 45_000.0, 10_000.0, 12_500.0, 20_000.0]);
        assert!(rates(&text.replace("File removal", "File")).is_err());
        assert!(rates(&text.replace("45000.0", "0.0")).is_err());
    }
}
