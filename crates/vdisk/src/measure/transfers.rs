//! Transfers: sequential, at random, with a flush after each, and in pieces of allocation units.

use super::closed_loop::{ClosedLoop, Took};
use super::measured::Measured;
use crate::probe::{Probe, State};
use crate::request::{Request, SECTOR_BYTES};
use crate::splitmix::mixed;

/// Bytes of a sequential measurement.
const SEQUENTIAL_BYTES: u64 = 512 << 20;
/// Requests of a measurement at random, and before it.
const RANDOM: u64 = 8_000;
const RANDOM_BEFORE: u64 = 4_000;
const FSYNCS: u64 = 300;
const HITS: u64 = 100;
/// Time in which a device comes to rest.
const REST_NS: u64 = 20_000_000_000;
const MIB: u64 = 1 << 20;

fn sectors(bytes: u64) -> u64 {
    bytes / SECTOR_BYTES
}

/// Writes flash as the probe wants it.
pub(super) fn precondition(driver: &mut ClosedLoop, probe: &Probe) {
    let is_fresh = match probe {
        Probe::RandomWrite { state, .. } => *state == State::Fresh,
        Probe::SequentialWrite { .. } => true,
        _ => false,
    };
    if is_fresh {
        return;
    }
    let size = driver.device.size_bytes();
    driver.run(1, size / MIB, |tag, n| Request::write(tag, n * sectors(MIB), sectors(MIB) as u32));
    if matches!(probe, Probe::RandomWrite { .. }) {
        let blocks = size / 4096;
        driver.run(1, blocks, |tag, n| Request::write(tag, mixed(n) % blocks * 8, 8));
    }
    driver.one(Request::flush(0));
    driver.idle(REST_NS);
}

/// Requests of so many bytes from a place on; from the first sector again behind the last.
fn in_order(
    driver: &ClosedLoop,
    at: f64,
    bytes: u32,
    make: fn(u16, u64, u32) -> Request,
) -> impl FnMut(u16, u64) -> Request + use<> {
    let size = driver.device.size_bytes();
    let bytes = u64::from(bytes);
    let room = size.saturating_sub(SEQUENTIAL_BYTES * 2) / bytes;
    let first = (at * room as f64) as u64;
    let all = size / bytes;
    move |tag, number| make(tag, sectors((first + number) % all * bytes), sectors(bytes) as u32)
}

/// Requests in order, after `before` of them that are not measured.
pub(super) fn sequential(
    driver: &mut ClosedLoop,
    at: f64,
    (bytes, depth): (u32, u16),
    before: u64,
    make: fn(u16, u64, u32) -> Request,
) -> Measured {
    let mut next = in_order(driver, at, bytes, make);
    let count = SEQUENTIAL_BYTES / u64::from(bytes);
    driver.run(depth, before, &mut next);
    let took = driver.run(depth, count, |tag, number| next(tag, before + number));
    took.megabytes_per_s(count * u64::from(bytes))
}

pub(super) fn random(
    driver: &mut ClosedLoop,
    bytes: u32,
    depth: u16,
    make: fn(u16, u64, u32) -> Request,
) -> Measured {
    let blocks = driver.device.size_bytes() / u64::from(bytes);
    let each = sectors(bytes.into());
    let place = |number: u64| mixed(number ^ 0x5eed_0000_0000) % blocks * each;
    driver.run(depth, RANDOM_BEFORE, |tag, n| make(tag, place(n), each as u32));
    let took = driver.run(depth, RANDOM, |tag, n| make(tag, place(n + RANDOM_BEFORE), each as u32));
    took.per_s(RANDOM)
}

pub(super) fn fsyncs(driver: &mut ClosedLoop) -> Measured {
    let place = sectors(driver.device.size_bytes() / 3) / 8 * 8;
    let one = |driver: &mut ClosedLoop| {
        driver.one(Request::write(0, place, 8)) + driver.one(Request::flush(0))
    };
    one(driver);
    let begin_ns = driver.now_ns;
    let latencies_ns: Vec<u64> = (0..FSYNCS).map(|_| one(driver)).collect();
    Took { ns: driver.now_ns - begin_ns, latencies_ns }.per_s(FSYNCS)
}

/// Mean time of a read that was read just before.
pub(super) fn cache_hits(driver: &mut ClosedLoop) -> Measured {
    let blocks = driver.device.size_bytes() / 4096;
    let mut latencies_ns: Vec<u64> = (0..HITS)
        .map(|number| {
            let place = mixed(number) % blocks * 8;
            driver.one(Request::read(0, place, 8));
            driver.one(Request::read(0, place, 8))
        })
        .collect();
    latencies_ns.sort_unstable();
    let sum: u64 = latencies_ns.iter().sum();
    Measured { value: sum as f64 / HITS as f64 / 1e6, latencies_ns }
}

/// Fills allocation units in pieces, `units` of them in turn.
pub(super) fn pieces(driver: &mut ClosedLoop, unit_bytes: u64, bytes: u32, units: u16) -> Measured {
    let each = u64::from(bytes);
    let per_unit = (unit_bytes / each).max(1);
    let count = per_unit * u64::from(units);
    let place = |number: u64| {
        let (piece, unit) = (number / u64::from(units) % per_unit, number % u64::from(units));
        sectors(unit * unit_bytes + piece * each)
    };
    let write = |tag, number| Request::write(tag, place(number), sectors(each) as u32);
    driver.run(1, count, write);
    driver.run(1, count, write).megabytes_per_s(count * each)
}
