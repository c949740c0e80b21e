//! What the sampler costs on this machine: `cargo run -p fsarena-metrics --release --example
//! sampler_cost [SECONDS] [PERIOD_MS] [DEVICE]`. The promise is under 0.5 % of one processor at
//! 100 ms.
#![allow(clippy::print_stdout)]

use fsarena_metrics::{MetricError, Roots, Sampler, Snapshot, Sources, Watch, catalog};
use std::time::{Duration, Instant};

const PROMISED_SHARE: f64 = 0.005;

fn main() -> Result<(), MetricError> {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |default: u64| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seconds, period_ms) = (number(10), number(100));
    let device = arguments.next().unwrap_or_else(|| "loop0".to_owned());
    let watch = Watch {
        device: Some(device),
        memory_cgroup: std::env::var_os("CGROUP").map(Into::into),
        worker_pid: Some(std::process::id()),
    };
    let open = || Sources::open(&Roots::default(), &watch);

    let mut sources = open()?;
    let mut snapshot = Snapshot::empty();
    let begun = Instant::now();
    for _ in 0..1000 {
        sources.read_into(&mut snapshot)?;
    }
    let hot_ns = begun.elapsed().as_nanos() / 1000;
    let present = snapshot.values.iter().flatten().count();
    println!("metrics: {present} of {} present", catalog().len());
    println!("one reading in a tight loop: {hot_ns} ns");

    let sampler = Sampler::start(open()?, period_ms * 1_000_000)?;
    std::thread::sleep(Duration::from_secs(seconds));
    let begun = Instant::now();
    let (samples, cost) = sampler.stop()?;
    let stop_ns = begun.elapsed().as_nanos();
    let share = cost.share().unwrap_or(0.0);
    println!(
        "{} samples at {period_ms} ms: {} ns each, {:.3} % of one processor (promised: {} %)",
        cost.samples,
        cost.cpu_ns / cost.samples.max(1),
        share * 100.0,
        PROMISED_SHARE * 100.0
    );
    println!("missed deadlines: {}; stopping took {stop_ns} ns", cost.missed_deadlines);
    if let Some(error) = samples.error() {
        println!("sampling ended early: {error}");
    }
    Ok(())
}
