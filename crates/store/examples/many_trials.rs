//! How long the scores of many trials take to read.
//!
//! `cargo run --release -p fsarena-store --example many_trials -- PATH` makes a database of one RUN
//! or takes the one that is there, and prints the times of reading. PATH may be followed by the
//! numbers of contenders, workloads and blocks: 10, 100 and 100 where nothing is said, which are
//! 100,000 trials of three phases each. One record is stored as every other one; the others are
//! copies of its rows with scores of their own and the same raw text. A second RUN of 200 trials
//! has raw texts of its own, so that it can be shown: `time fsarena --db PATH report 2 -o FILE`.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use fsarena_model::contender::Contender;
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::verdict::Rule;
use fsarena_model::work::Workload;
use fsarena_store::{Owner, RunId, Store};
use fsarena_testkit::records::{self, SECOND_NS, contender, small_files};
use rusqlite::{Connection, params};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn header(contenders: u32, workloads: u32, blocks: u32) -> RunHeader {
    let contender = |at: u32| -> Contender { contender(&format!("ext4 {at}"), "ext4", at + 1) };
    let workload =
        |at: u32| -> Workload { Workload { name: format!("small-files-{at}"), ..small_files() } };
    let contenders = (0..contenders).map(contender).collect();
    let workloads = (0..workloads).map(workload).collect();
    let mut header = records::header(contenders, workloads, blocks);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks }));
    header
}

/// Around one second, a few percent up and down, the same in every file (splitmix64).
fn figure_ns(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    // The sum of two even chances: a triangle from 0.95 to 1.05 s.
    let [a, b] = [z & 0xffff_ffff, z >> 32].map(|half| (half * (SECOND_NS / 20)) >> 32);
    SECOND_NS * 95 / 100 + a + b
}

/// Rows of the first trial become those of all trials after it.
fn copy_rows(path: &Path, header: &RunHeader) -> rusqlite::Result<()> {
    let raw = Connection::open(path)?;
    raw.execute_batch(
        "PRAGMA synchronous = OFF; BEGIN;
         CREATE TEMP TABLE one_trial AS SELECT id, slot_id, attempt, outcome, time_base,
         started_unix_ns, elapsed_ns, bad_files, raw, raw_sha256 FROM trial;
         CREATE TEMP TABLE one_score AS SELECT * FROM score;",
    )?;
    let mut trial = raw.prepare(
        "UPDATE one_trial SET id = ?1, started_unix_ns = started_unix_ns + elapsed_ns,
         slot_id = (SELECT id FROM slot WHERE run_id = 1 AND sequence = ?1 - 1)",
    )?;
    let mut score = raw.prepare(
        "UPDATE one_score SET phase_id = NULL, trial_id = ?1, returned_ns = ?2 / 2,
         durable_ns = ?2, drained_ns = ?2 * 5 / 4 WHERE position = ?3",
    )?;
    let copies = [
        "INSERT INTO trial (id, slot_id, attempt, outcome, time_base, started_unix_ns, elapsed_ns,
         bad_files, raw, raw_sha256) SELECT * FROM one_trial",
        "INSERT INTO score SELECT * FROM one_score",
    ];
    let mut copies =
        copies.map(|sql| raw.prepare(sql)).into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut state = 5;
    for (number, slot) in (1u32..).zip(&header.plan.schedule).skip(1) {
        trial.execute([number])?;
        for position in 0..3 {
            // Each contender takes one percent longer than the one before.
            let ns = figure_ns(&mut state) * (100 + slot.contender as u64) / 100;
            score.execute(params![number, ns as i64, position])?;
        }
        for copy in &mut copies {
            copy.execute([])?;
        }
    }
    raw.execute_batch("COMMIT")
}

/// Five contenders, two workloads and twenty blocks, every record stored by itself.
fn whole_run(store: &Store, owner: &Owner) -> Result<(), Box<dyn Error>> {
    let header = RunHeader { uid: "fedcba9876543210".to_owned(), ..header(5, 2, 20) };
    let run = store.create_run(&header, owner)?;
    store.put_session(run, &records::session("b", 0))?;
    for sequence in (0u32..).take(header.plan.schedule.len()) {
        store.put_record(run, &records::record(&header, sequence))?;
    }
    Ok(store.set_state(run, RunState::Done, None)?)
}

/// The result of some work, after its name, its time and its processor time were printed: the
/// second is about the first on a machine with nothing else to do.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), processor_ns());
    let value = work();
    let wall_s = start.elapsed().as_secs_f64();
    println!("{what}: {wall_s:.3} s, processor {:.3} s", (processor_ns() - before) as f64 / 1e9);
    value
}

/// Processor time of this thread: the first word of its `schedstat`; 0 where there is none.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("a path for the file")?);
    let mut numbers = [10, 100, 100];
    for (number, argument) in numbers.iter_mut().zip(arguments) {
        *number = argument.to_string_lossy().parse()?;
    }
    let [contenders, workloads, blocks] = numbers;
    let run = if path.exists() {
        RunId(1)
    } else {
        let header = header(contenders, workloads, blocks);
        let store = Store::open(&path)?;
        let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
        let run = timed("create_run", || store.create_run(&header, &owner))?;
        store.put_session(run, &records::session("b", 0))?;
        store.put_record(run, &records::record(&header, 0))?;
        timed("copies of a record", || copy_rows(&path, &header))?;
        store.set_state(run, RunState::Done, None)?;
        timed("a RUN with raw texts", || whole_run(&store, &owner))?;
        run
    };
    println!("{} MiB", std::fs::metadata(&path)?.len() >> 20);
    let store = timed("open", || Store::open_read_only(&path))?;
    timed("header", || store.header(run))?;
    let scores = timed("scores", || store.scores(run))?;
    timed("list", || store.runs())?;
    timed("costs", || store.costs())?;
    timed("records of the second RUN", || store.records(RunId(2)))?;
    let phases: usize = scores.iter().map(|score| score.phases.len()).sum();
    println!("{} trials, {phases} phases", scores.len());
    Ok(())
}
