//! The port of a rendezvous under attack: what a thousand strangers a second cost the runner, and
//! whether a trial is lost by them.
//!
//! One RUN of many short trials with two ranks without strangers, one with strangers of one
//! address, the ranks' own, and one with those of many. The runner's processor time is that of its
//! process, by the kernel; executors and ranks are processes of their own.

use super::options::{MIB, Options, Section, Verdict};
use super::pairs::stage;
use super::process_status::ProcessStatus;
use crate::program;
use anyhow::{Context as _, Result, ensure};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_store::Store;
use fsarena_testkit::flood::{Flood, Sources};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "rendezvous";
pub(super) const SECTION: Section = Section { name: NAME, judged, run };

const RANKS: u32 = 2;
const DIALLED_PER_S: u64 = 1000;
/// Of an attack that is judged.
pub(super) const JUDGED_S: u64 = 300;
/// Trials by which it is seen how long one takes.
const FIRST_TRIALS: u64 = 10;
/// Most blocks of a RUN, each of which has one trial here.
const TRIALS_MOST: u64 = 1000;
const CPU_MOST_PERMILLE: u64 = 100;
const THREADS_MOST: u64 = 64;
const MEMORY_MOST_BYTES: u64 = 16 << 20;
const LOOK_EVERY: Duration = Duration::from_millis(20);

fn judged(options: &Options) -> bool {
    options.is_named(NAME) && options.attack_s >= JUDGED_S
}

/// What a RUN was.
struct Attacked {
    elapsed: Duration,
    trials: u64,
    /// Trials that did not go well at once.
    lost: u64,
    /// Of the runner.
    cpu: Duration,
    threads: u64,
    peak_bytes: u64,
    strangers: u64,
}

impl Attacked {
    fn cpu_permille(&self) -> u64 {
        (self.cpu.as_secs_f64() / self.elapsed.as_secs_f64() * 1000.0).round() as u64
    }
}

fn run(options: &Options) -> Result<Verdict> {
    let program = program::build()?;
    let mut verdict = Verdict::default();
    let first = attacked(options, &program, FIRST_TRIALS, None)?;
    let trials_per_s = first.trials as f64 / first.elapsed.as_secs_f64();
    let trials = ((options.attack_s as f64 * trials_per_s).ceil() as u64).min(TRIALS_MOST);
    // Of as many trials: at its end a RUN reads all that it has stored.
    let quiet = attacked(options, &program, trials, None)?;
    describe("without strangers", &quiet);
    for (sources, what) in
        [(Sources::One, "from one address"), (Sources::Many, "from many addresses")]
    {
        let one = attacked(options, &program, trials, Some(sources))?;
        describe(what, &one);
        let more = one.cpu_permille().saturating_sub(quiet.cpu_permille());
        verdict.judge(
            "  processor time of the runner more",
            (more, CPU_MOST_PERMILLE),
            (10.0, "%"),
        );
        verdict.judge("  threads of the runner", (one.threads, THREADS_MOST), (1.0, ""));
        let more = one.peak_bytes.saturating_sub(quiet.peak_bytes);
        let figure = (more, MEMORY_MOST_BYTES);
        verdict.judge("  memory of the runner more", figure, (MIB as f64, "MiB"));
        verdict.judge("  trials lost or done again", (one.lost, 0), (1.0, ""));
    }
    Ok(verdict)
}

fn describe(what: &str, one: &Attacked) {
    println!(
        "{what}: {} trials in {:.0} s, {:.0} strangers a second, {:.1} % of one CPU, {} threads, \
         {:.1} MiB",
        one.trials,
        one.elapsed.as_secs_f64(),
        one.strangers as f64 / one.elapsed.as_secs_f64(),
        one.cpu_permille() as f64 / 10.0,
        one.threads,
        one.peak_bytes as f64 / MIB as f64,
    );
}

/// A RUN of so many trials, with its ranks and with strangers or without.
fn attacked(
    options: &Options,
    program: &Path,
    trials: u64,
    sources: Option<Sources>,
) -> Result<Attacked> {
    let dir = stage(options, 0)?;
    let target = dir.path().join("target");
    fs::create_dir(&target)?;
    let port = free_port()?;
    let at = format!("127.0.0.1:{port}");
    let start = |words: &[&str]| -> Result<Child> {
        let mut command = Command::new(program);
        command.current_dir(dir.path()).args(["--db", "ranks.db"]).args(words);
        command.env("FSARENA_STATE_DIR", dir.path().join("state"));
        command.env("FSARENA_SECRET", "0123456789abcdef0123456789abcdef");
        let said = fs::File::create(dir.path().join(format!("{}.err", words[0])))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        command.spawn().context("the program")
    };
    let (runs, ranks) = (trials.to_string(), RANKS.to_string());
    let target = target.display().to_string();
    let run = ["run", "--on", &target, "--workload", "small-files", "--scale", "0.1"];
    let more = ["--runs", &runs, "--ranks", &ranks, "--rendezvous", &at, "-q", "--no-report"];
    let flood = sources.map(|sources| Flood::start(port, DIALLED_PER_S, sources));
    let mut runner = start(&[&run[..], &more].concat())?;
    let mut ranks: Vec<Child> = (0..RANKS)
        .map(|rank| {
            start(&["rank", "--rank", &rank.to_string(), "--of", &ranks, "--rendezvous", &at])
        })
        .collect::<Result<_>>()?;
    let begun = Instant::now();
    let mut seen = Attacked {
        elapsed: Duration::ZERO,
        trials: 0,
        lost: 0,
        cpu: Duration::ZERO,
        threads: 0,
        peak_bytes: 0,
        strangers: 0,
    };
    let status = loop {
        if let Some(status) = runner.try_wait()? {
            break status;
        }
        seen.take(runner.id());
        std::thread::sleep(LOOK_EVERY);
    };
    (seen.elapsed, seen.strangers) = (begun.elapsed(), flood.map_or(0, |flood| flood.dialled()));
    for rank in &mut ranks {
        rank.wait()?;
    }
    let said = fs::read_to_string(dir.path().join("run.err")).unwrap_or_default();
    ensure!(status.success(), "run: {status}: {said}");
    let store = Store::open_read_only(&dir.path().join("ranks.db"))?;
    let records = store.records(store.find("latest")?)?;
    let is_good = |record: &&TrialRecord| {
        let again = record.notices.iter().any(|notice| notice.code == "done-again");
        record.outcome == Outcome::Done && !again
    };
    seen.trials = records.len() as u64;
    seen.lost = trials - records.iter().filter(is_good).count() as u64;
    Ok(seen)
}

impl Attacked {
    /// Takes what the kernel says of the runner so far.
    fn take(&mut self, pid: u32) {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        let Some((stat, status)) = stat.zip(ProcessStatus::of_pid(pid)) else { return };
        // Behind the name, which may have blanks: the state is the first field.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
        let per_s = rustix::param::clock_ticks_per_second();
        self.cpu = self.cpu.max(Duration::from_secs_f64(ticks as f64 / per_s as f64));
        self.threads = self.threads.max(status.threads().unwrap_or(0));
        self.peak_bytes = self.peak_bytes.max(status.peak_bytes().unwrap_or(0));
    }
}

/// A port that nobody listens at.
fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
