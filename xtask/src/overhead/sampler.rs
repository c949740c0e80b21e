//! What the sampler costs: its own account of processor time over some seconds.

use anyhow::{Context as _, Result};
use fsarena_metrics::{Roots, Sampler, Sources, Watch};
use std::time::Duration;

/// Largest share of one processor at [`PERIOD`].
pub(super) const SHARE_MAX: f64 = 0.005;
const PERIOD: Duration = Duration::from_millis(100);

/// Samples for `seconds` with everything there is to read for a process on this machine, prints the
/// cost, and returns the share of one processor.
pub(super) fn measure(seconds: u64) -> Result<f64> {
    let device = std::fs::read_dir("/sys/block").ok().and_then(|mut list| list.next()?.ok());
    let watch = Watch {
        device: device.map(|entry| entry.file_name().to_string_lossy().into_owned()),
        memory_cgroup: None,
        worker_pid: Some(std::process::id()),
    };
    let sources = Sources::open(&Roots::default(), &watch)?;
    let period_ns = u64::try_from(PERIOD.as_nanos()).context("the period")?;
    let sampler = Sampler::start(sources, period_ns)?;
    std::thread::sleep(Duration::from_secs(seconds));
    let (_, cost) = sampler.stop()?;
    let share = cost.share().context("the sampler ran for no time")?;
    println!(
        "sampler at {} ms: {} samples in {seconds} s, {:.0} µs each, {:.3} % of one processor \
         (at most {} %), {} deadlines missed",
        PERIOD.as_millis(),
        cost.samples,
        cost.cpu_ns as f64 / cost.samples.max(1) as f64 / 1e3,
        share * 100.0,
        SHARE_MAX * 100.0,
        cost.missed_deadlines
    );
    Ok(share)
}
