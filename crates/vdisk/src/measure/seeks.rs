//! Seeks and accesses of one sector: means over many places.

use super::closed_loop::ClosedLoop;
use super::measured::Measured;
use crate::probe::Stroke;
use crate::request::{Request, SECTOR_BYTES};
use crate::rotating::Geometry;
use crate::sheet::Sheet;
use crate::splitmix::mixed;

/// Pairs of a seek: the wait for the rotation is known to a hundredth of a revolution's mean.
const SEEKS: u64 = 30_000;
const ACCESSES: u64 = 6_000;
/// Sectors around a place that accesses are spread over.
const AROUND: u64 = 1 << 16;

/// The time of a seek: that of an access, less command, half a revolution and the sector.
pub(super) fn seek(driver: &mut ClosedLoop, sheet: &Sheet, stroke: Stroke) -> Measured {
    let (Some(disk), Some(geometry)) = (&sheet.rotating, driver.device.geometry().cloned()) else {
        return Measured { value: 0.0, latencies_ns: Vec::new() };
    };
    let mut sum_ns = 0;
    let mut latencies_ns = Vec::new();
    for number in 0..SEEKS {
        let (from, to) = cylinders(&geometry, stroke, number);
        driver.one(Request::read(0, geometry.sector_of(from, mixed(number * 4 + 2)), 1));
        let took_ns =
            driver.one(Request::read(0, geometry.sector_of(to, mixed(number * 4 + 3)), 1));
        sum_ns += took_ns;
        latencies_ns.push(took_ns);
    }
    latencies_ns.sort_unstable();
    let middle = disk.outer_sectors_per_track.midpoint(disk.inner_sectors_per_track);
    let sector_ns = geometry.revolution_ns() / middle.max(1);
    let rest_ns = disk.command_ns + geometry.revolution_ns() / 2 + sector_ns;
    let mean_ns = sum_ns as f64 / SEEKS as f64;
    Measured { value: (mean_ns - rest_ns as f64) / 1e6, latencies_ns }
}

/// From which cylinder to which.
fn cylinders(geometry: &Geometry, stroke: Stroke, number: u64) -> (u64, u64) {
    let all = geometry.cylinders();
    let (one, other) = (mixed(number * 4), mixed(number * 4 + 1));
    let over = |distance: u64| {
        let from = one % (all - distance);
        if other.is_multiple_of(2) { (from, from + distance) } else { (from + distance, from) }
    };
    match stroke {
        Stroke::Full => over(all - 1),
        Stroke::Half => over(all / 2),
        Stroke::Third => over(all / 3),
        Stroke::Quarter => over(all / 4),
        Stroke::Track => over(1),
        Stroke::Average => (one % all, other % all),
    }
}

/// Mean time of reads of one sector, to and fro.
pub(super) fn access(driver: &mut ClosedLoop, from: f64, to: f64) -> Measured {
    let sectors = driver.device.size_bytes() / SECTOR_BYTES;
    let room = sectors.saturating_sub(AROUND);
    let place = |share: f64, number: u64| (share * room as f64) as u64 + mixed(number) % AROUND;
    let took = driver.run(1, ACCESSES, |tag, number| {
        let share = if number.is_multiple_of(2) { from } else { to };
        Request::read(tag, place(share, number).min(sectors - 1), 1)
    });
    let mut latencies_ns = took.latencies_ns;
    latencies_ns.sort_unstable();
    Measured { value: took.ns as f64 / ACCESSES as f64 / 1e6, latencies_ns }
}
