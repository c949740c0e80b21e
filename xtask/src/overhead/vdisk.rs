//! What a device model costs for each request: the drivers of virtual disks add it to every
//! request. Then what the native driver itself costs.
//!
//! Judged is the mean over reads, writes and a flush in 64 at random places, with the queue of the
//! device full: the floor of a native driver leaves a microsecond for the model.

use super::floor;
use super::options::{JUDGED_FILES, Options, Section, Verdict};
use anyhow::{Context as _, Result};
use fsarena_vdisk::{DeviceOptions, Request, VirtualDevice};
use std::time::Instant;

pub(super) const SECTION: Section = Section { name: "vdisk", judged, run };

/// Most that a request may cost.
const COST_NS: f64 = 1000.0;
/// Requests of a measurement, and size of the devices.
const REQUESTS: u64 = 400_000;
const SIZE_BYTES: u64 = 1 << 30;
/// The least of so many tries counts.
const TRIES: u32 = 3;

fn judged(options: &Options) -> bool {
    options.files >= JUDGED_FILES
}

fn run(options: &Options) -> Result<Verdict> {
    let (tries, requests) = if options.smoke { (1, 2000) } else { (TRIES, REQUESTS) };
    println!(
        "{requests} requests of 4 KiB at random places, the queue full\n  {:14} ns each",
        "model"
    );
    let mut verdict = Verdict::default();
    for name in fsarena_vdisk::names() {
        let mut least_ns = f64::INFINITY;
        for _ in 0..tries {
            least_ns = least_ns.min(cost_ns(name, requests)?);
        }
        let words = if least_ns > COST_NS { "MISSES 1 us" } else { "meets 1 us" };
        println!("  {name:14} {least_ns:7.0}  {words}");
        if least_ns > COST_NS {
            verdict.missed.push(format!("{name} {words}"));
        }
    }
    floor::measure(options, &mut verdict)?;
    Ok(verdict)
}

/// The time of a request, submission and completion together.
fn cost_ns(name: &str, requests: u64) -> Result<f64> {
    let sheet = fsarena_vdisk::builtin(name)?;
    let options = DeviceOptions { size_bytes: Some(SIZE_BYTES), ..DeviceOptions::default() };
    let mut device = VirtualDevice::new(&sheet, &options)?;
    let mut free: Vec<u16> = (0..u16::try_from(device.queue_depth())?).collect();
    let (mut now_ns, mut random) = (0, 1_u64);
    let started = Instant::now();
    for number in 0..requests {
        while free.is_empty() {
            now_ns = device.next_event_ns().context("requests are outstanding")?.max(now_ns);
            while let Some(done) = device.poll(now_ns) {
                free.push(done.tag);
            }
        }
        let tag = free.pop().context("a tag is free")?;
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let sector = (random >> 33) % (SIZE_BYTES / 4096) * 8;
        let request = match number % 64 {
            63 => Request::flush(tag),
            n if n.is_multiple_of(2) => Request::read(tag, sector, 8),
            _ => Request::write(tag, sector, 8),
        };
        device.submit(now_ns, request)?;
    }
    Ok(started.elapsed().as_nanos() as f64 / requests as f64)
}
