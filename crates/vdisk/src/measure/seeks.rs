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
/// Of one distance: the least wait for the rotation is about a revolution divided by this.
const ACCESSES_EACH: u64 = 2_000;
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
    let over = |distance: u64| apart(geometry, distance, number);
    match stroke {
        Stroke::Full => over(all - 1),
        Stroke::Half => over(all / 2),
        Stroke::Third => over(all / 3),
        Stroke::Quarter => over(all / 4),
        Stroke::Track => over(1),
        Stroke::Average => (mixed(number * 4) % all, mixed(number * 4 + 1) % all),
    }
}

/// Two cylinders that are so far apart, as many pairs as there are numbers.
fn apart(geometry: &Geometry, distance: u64, number: u64) -> (u64, u64) {
    let (one, other) = (mixed(number * 4), mixed(number * 4 + 1));
    let from = one % (geometry.cylinders() - distance);
    if other.is_multiple_of(2) { (from, from + distance) } else { (from + distance, from) }
}

/// What reads of one sector take, so many cylinders away from the one before.
pub(super) struct Accesses {
    /// Of the one that waited least for the rotation.
    pub(super) least_ns: u64,
    pub(super) mean_ns: f64,
}

/// Accesses over a distance in cylinders, of those that take longer than `hit_ns`: the others come
/// from the cache, and leave the head where it is. `None` where there are no others.
pub(super) fn accesses(
    driver: &mut ClosedLoop,
    geometry: &Geometry,
    distance: u64,
    hit_ns: u64,
) -> Option<Accesses> {
    let (mut least_ns, mut sum_ns, mut count) = (u64::MAX, 0, 0_u64);
    for number in 0..ACCESSES_EACH {
        let (from, to) = apart(geometry, distance, number);
        let mut read = |cylinder, nth| {
            driver.one(Request::read(0, geometry.sector_of(cylinder, mixed(nth)), 1))
        };
        let (before_ns, took_ns) = (read(from, number * 4 + 2), read(to, number * 4 + 3));
        if before_ns > hit_ns && took_ns > hit_ns {
            least_ns = least_ns.min(took_ns);
            sum_ns += took_ns;
            count += 1;
        }
    }
    (count > 0).then(|| Accesses { least_ns, mean_ns: sum_ns as f64 / count as f64 })
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
