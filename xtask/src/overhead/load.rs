//! What a database of many RUNs costs the commands that read or change it.
//!
//! One real RUN is carried out and stored two thousand times, each with its own time, boot, kernel,
//! version and figures ([`made`]), besides one RUN of many contenders. The program is started for
//! each command; its memory is what the kernel says of the process.

mod made;

use super::options::{Options, Section, Verdict};
use super::pairs::stage;
use super::process_status::ProcessStatus;
use crate::program;
use anyhow::{Context as _, Result, ensure};
use fsarena_stats::median;
use made::{RealRun, Series};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "load";
pub(super) const SECTION: Section = Section { name: NAME, judged, run };

/// RUNs with their series, and RUNs without.
const RUNS: [u32; 2] = [2000, 25_000];
const SMOKE_RUNS: [u32; 2] = [20, 50];
const MEMORY_MOST_BYTES: u64 = 100_000_000;
/// A RUN of 800 trials with all their counters and series is 100 MB in memory; who makes a page and
/// tables of it holds these besides.
const WIDE_MEMORY_MOST_BYTES: u64 = 250_000_000;
/// What the databases take on tmpfs.
const BYTES: u64 = 4 << 30;
const MIGRATED_MOST_MS: u64 = 60_000;
/// How often a command runs that changes nothing.
const REPEAT: usize = 3;
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// What schema 16 has and schema 15 has not.
const AS_SCHEMA_15: &str = "DROP INDEX question_by_workload; DROP INDEX decision_by_a;
    DROP INDEX decision_by_b; DROP INDEX run_at_work; DROP INDEX run_listed;
    DROP TABLE score_figure;
    PRAGMA user_version = 15;";

fn judged(options: &Options) -> bool {
    options.is_named(NAME) && !options.smoke
}

/// A command, how often it runs, and the most that it may take.
struct Figure<'a> {
    words: &'a [&'a str],
    repeat: usize,
    most_ms: u64,
    most_bytes: u64,
}

impl<'a> Figure<'a> {
    fn new(words: &'a [&'a str], repeat: usize, most_ms: u64) -> Self {
        Self { words, repeat, most_ms, most_bytes: MEMORY_MOST_BYTES }
    }
}

fn run(options: &Options) -> Result<Verdict> {
    let program = program::build()?;
    let dir = stage(options, if options.smoke { 0 } else { BYTES })?;
    let [runs, small_runs] = if options.smoke { SMOKE_RUNS } else { RUNS };
    let real = RealRun::carry_out(&program, dir.path())?;
    let mut verdict = Verdict::default();
    let commands = Commands { program, dir: dir.path() };

    let made = |name: &str, runs: u32, series: Series| -> Result<()> {
        let began = Instant::now();
        let path = dir.path().join(name);
        let trials = real.store_copies(&path, runs, series)?;
        println!(
            "{name}: {runs} RUNs, {trials} trials, {} MB, made in {:.0} s",
            fs::metadata(&path)?.len() / 1_000_000,
            began.elapsed().as_secs_f64()
        );
        Ok(())
    };
    made("load.db", runs, Series::Kept)?;
    let wide = real.store_wide(&dir.path().join("load.db"))?;
    println!("and a RUN of {wide} trials");
    let show = (runs / 2).to_string();
    let delete = (runs / 3).to_string();
    let bundle_wide = Figure::new(&["bundle", "-o", "wide.tar.zst"], 1, 5000);
    for figure in [
        Figure::new(&["list"], REPEAT, 500),
        Figure::new(&["show", &show], REPEAT, 500),
        Figure::new(&["history", "small-files"], REPEAT, 2000),
        Figure::new(&["bundle", &show, "-o", "one.tar.zst"], 1, 5000),
        // The latest.
        Figure { most_bytes: WIDE_MEMORY_MOST_BYTES, ..bundle_wide },
        Figure::new(&["delete", &delete, "--yes"], 1, 1000),
    ] {
        commands.judge("load.db", &figure, &mut verdict)?;
    }
    let merge = Figure::new(&["merge", "load.db"], 1, 20_000);
    commands.judge("merged.db", &merge, &mut verdict)?;
    Connection::open(dir.path().join("merged.db"))?.execute_batch(AS_SCHEMA_15)?;
    let migrated = Figure::new(&["list"], 1, MIGRATED_MOST_MS);
    println!("  merged.db made one of schema 15, and migrated by:");
    commands.judge("merged.db", &migrated, &mut verdict)?;
    for name in ["load.db", "merged.db"] {
        fs::remove_file(dir.path().join(name))?;
    }

    made("many.db", small_runs, Series::Left)?;
    let show = (small_runs / 2).to_string();
    for words in [&["list"][..], &["show", &show]] {
        let figure = Figure::new(words, REPEAT, 1000);
        commands.judge("many.db", &figure, &mut verdict)?;
    }
    Ok(verdict)
}

/// The program, and where its databases are.
struct Commands<'a> {
    program: PathBuf,
    dir: &'a Path,
}

/// What a command took.
struct Took {
    elapsed: Duration,
    peak_bytes: u64,
}

impl Commands<'_> {
    fn judge(&self, db: &str, figure: &Figure<'_>, verdict: &mut Verdict) -> Result<()> {
        let all: Vec<Took> =
            (0..figure.repeat).map(|_| self.timed(db, figure.words)).collect::<Result<_>>()?;
        let elapsed_s: Vec<f64> = all.iter().map(|one| one.elapsed.as_secs_f64()).collect();
        let elapsed_ms = (median(&elapsed_s)? * 1e3).round() as u64;
        let peak_bytes = all.iter().map(|one| one.peak_bytes).max().unwrap_or(0);
        let what = format!("{db}: {}", figure.words.join(" "));
        verdict.judge(&what, (elapsed_ms, figure.most_ms), (1e3, "s"));
        verdict.judge("  memory of the process", (peak_bytes, figure.most_bytes), (1e6, "MB"));
        Ok(())
    }

    fn timed(&self, db: &str, words: &[&str]) -> Result<Took> {
        let mut command = Command::new(&self.program);
        command.current_dir(self.dir).args(["--db", db]).args(words);
        command.env("FSARENA_STATE_DIR", self.dir.join("state"));
        let complaints = self.dir.join("complaints");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&complaints)?);
        let began = Instant::now();
        let mut child = command.spawn().context("the program")?;
        let mut peak_bytes = 0;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            let status = ProcessStatus::of_pid(child.id());
            peak_bytes = status.and_then(|it| it.peak_bytes()).unwrap_or(0).max(peak_bytes);
            std::thread::sleep(LOOK_EVERY);
        };
        let elapsed = began.elapsed();
        let said = fs::read_to_string(&complaints)?;
        ensure!(status.success(), "{}: {status}: {said}", words.join(" "));
        Ok(Took { elapsed, peak_bytes })
    }
}
