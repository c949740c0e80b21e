//! How long verdicts, and the views for charts and documents, take.
//!
//! `cargo run --release -p fsarena-study --example views_speed` makes records by hand (200 trials
//! with 600 samples a phase, then 100,000 small ones) and prints the time of each view; with the
//! path of a database, such as `many_trials` of `fsarena-store` makes, it takes its latest RUN, and
//! first prints the times of reading its scores and of finding and describing the verdicts.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::sample::Series;
use fsarena_store::Store;
use fsarena_study::{curves, fairness, heat, points, study, traces};
use fsarena_testkit::records::{self, SECOND_NS, big_file, contender, small_files};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Counters and levels that the lines of a trace are made of.
const COLUMNS: [&str; 10] = [
    "device.read_bytes",
    "device.written_bytes",
    "device.busy_ns",
    "device.queue_ns",
    "mem.dirty_bytes",
    "mem.writeback_bytes",
    "cpu.user_ns",
    "cpu.system_ns",
    "cpu.idle_ns",
    "cpu.iowait_ns",
];
const SAMPLES: usize = 600;

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = std::env::args_os().nth(1) {
        let store = Store::open_read_only(Path::new(&path))?;
        let run = store.find("latest")?;
        let header = store.header(run)?;
        let begun = Instant::now();
        let scores = store.scores(run)?;
        let (sessions, stop, looks) = (store.sessions(run)?, store.stop(run)?, store.looks(run)?);
        println!("{} scores read in {:.2} s", scores.len(), begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let found = fsarena_verdict::verdicts(&header, &sessions, &scores, stop, &looks);
        let questions = found.map_or(0, |found| found.questions.len());
        println!("verdicts of {questions} questions in {:.2} s", begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let records = store.records(run)?;
        println!("records read in {:.2} s", begun.elapsed().as_secs_f64());
        time("the latest RUN", &header, &records);
        return Ok(());
    }
    let (header, mut records) = made(10, 20);
    records.iter_mut().flat_map(|r| &mut r.phases).for_each(|p| p.series = Some(series()));
    time("with time series", &header, &records);
    let (header, mut records) = made(10, 10_000);
    for phase in records.iter_mut().flat_map(|r| &mut r.phases) {
        phase.series = None;
        spread_out(phase.latency.as_mut());
    }
    time("small", &header, &records);
    Ok(())
}

/// Contenders, blocks: a trial each; small files for few trials, else one big file.
fn made(contenders: usize, blocks: u32) -> (RunHeader, Vec<TrialRecord>) {
    let all = (1..=contenders).map(|at| contender(&format!("fs{at}"), &format!("fs{at}"), 1));
    let work = if blocks < 1000 { small_files() } else { big_file() };
    let header = records::header(all.collect(), vec![work], blocks);
    let count = u32::try_from(header.plan.schedule.len()).unwrap_or(u32::MAX);
    let records = (0..count).map(|sequence| records::record(&header, sequence)).collect();
    (header, records)
}

/// A histogram as real phases have it: 300 buckets.
fn spread_out(latency: Option<&mut fsarena_model::sample::LatencyHistogram>) {
    if let Some(latency) = latency {
        latency.buckets = (0..300).map(|at| (10_000 + at * 128, 7)).collect();
        (latency.min_ns, latency.max_ns) = (10_000, 50_000);
    }
}

fn series() -> Series {
    let steps = 0..SAMPLES as u64;
    let column = || steps.clone().map(|at| Some(at * 1_000_000)).collect();
    Series {
        period_ns: SECOND_NS / 10,
        t_ns: (0..SAMPLES as i64).map(|at| at * 100_000_000).collect(),
        columns: COLUMNS.iter().map(|name| ((*name).to_owned(), column())).collect(),
    }
}

fn time(what: &str, header: &RunHeader, records: &[TrialRecord]) {
    let plan = &header.plan;
    println!("{} trials, {what}:", records.len());
    let of = |name: &str, work: &mut dyn FnMut() -> usize| {
        let begun = Instant::now();
        let count = work();
        println!("  {name}: {:.3} s, {count} in it", begun.elapsed().as_secs_f64());
    };
    let mut view = None;
    of("study, tables", &mut || {
        view.insert(study(header, RunState::Done, &[], records)).tables.len()
    });
    of("points", &mut || points(plan, records).iter().map(|one| one.points.len()).sum());
    of("curves", &mut || curves(plan, records).iter().map(|one| one.curves.len()).sum());
    of("traces", &mut || traces(plan, records).len());
    of("fairness, differences", &mut || fairness(header, &[], records).differences.len());
    of("heat, cells", &mut || {
        let heat = view.as_ref().and_then(|view| heat(view, None));
        heat.map_or(0, |heat| heat.rows.len() * heat.columns.len())
    });
}
