//! Where sectors are: zones, cylinders, tracks, and the time at which the head passes each.

use super::seek::SeekTable;
use crate::request::SECTOR_BYTES;
use crate::sheet::RotatingSheet;

/// Where a sector is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Location {
    pub(crate) cylinder: u64,
    /// Surface.
    pub(crate) head: u64,
    /// Time from sector 0 to the beginning of this sector, read in one go.
    pub(crate) stream_ns: u64,
}

/// The layout of a disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    heads: u64,
    cylinders: u64,
    sectors: u64,
    pub(crate) revolution_ns: u64,
    track_ns: u64,
    cylinder_ns: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Zone {
    first_sector: u64,
    first_cylinder: u64,
    per_track: u64,
    /// Stream time of its first sector.
    start_ns: u64,
}

impl Geometry {
    /// Of a disk of this capacity. Cylinders are skewed by the time to the next one, so that
    /// neither a read nor a write misses a revolution there.
    pub(crate) fn new(sheet: &RotatingSheet, capacity_bytes: u64) -> Self {
        let (heads, zones) = (sheet.heads, sheet.zones);
        let sectors = capacity_bytes / SECTOR_BYTES;
        let per_track: Vec<u64> = (0..zones).map(|zone| sectors_per_track(sheet, zone)).collect();
        let per_cylinder: u64 = per_track.iter().map(|sectors| sectors * heads).sum();
        let zone_cylinders = sectors.div_ceil(per_cylinder).max(1);
        let cylinders = zone_cylinders * zones;
        let next_ns = SeekTable::new(sheet, cylinders).time_ns(1) + sheet.write_settle_ns;
        let revolution_ns = 60_000_000_000 / sheet.rpm;
        let track_ns = revolution_ns + sheet.head_switch_ns;
        let cylinder_ns = (heads - 1) * track_ns + revolution_ns + next_ns;
        let mut list = Vec::with_capacity(per_track.len());
        let (mut first_sector, mut first_cylinder, mut start_ns) = (0, 0, 0);
        for per_track in per_track {
            list.push(Zone { first_sector, first_cylinder, per_track, start_ns });
            first_sector += zone_cylinders * heads * per_track;
            first_cylinder += zone_cylinders;
            start_ns += zone_cylinders * cylinder_ns;
        }
        let mut all =
            Self { zones: list, heads, cylinders, sectors, revolution_ns, track_ns, cylinder_ns };
        // Those that are full.
        all.cylinders = all.locate(sectors - 1).cylinder.max(1);
        all
    }

    /// Number of cylinders.
    #[must_use]
    pub fn cylinders(&self) -> u64 {
        self.cylinders
    }

    /// The time of a revolution.
    #[must_use]
    pub fn revolution_ns(&self) -> u64 {
        self.revolution_ns
    }

    /// A sector of a cylinder: the number `nth` of those there are, in a circle.
    #[must_use]
    pub fn sector_of(&self, cylinder: u64, nth: u64) -> u64 {
        let cylinder = cylinder.min(self.cylinders - 1);
        let at = self.zones.partition_point(|zone| zone.first_cylinder <= cylinder) - 1;
        let zone = &self.zones[at];
        let per_cylinder = zone.per_track * self.heads;
        let first = zone.first_sector + (cylinder - zone.first_cylinder) * per_cylinder;
        (first + nth % per_cylinder).min(self.sectors - 1)
    }

    fn zone_of(&self, sector: u64) -> &Zone {
        &self.zones[self.zones.partition_point(|zone| zone.first_sector <= sector) - 1]
    }

    pub(crate) fn locate(&self, sector: u64) -> Location {
        let zone = self.zone_of(sector);
        let within = sector - zone.first_sector;
        let track = within / zone.per_track;
        let (cylinder, head) = (track / self.heads, track % self.heads);
        let on_track = within % zone.per_track;
        let stream_ns = zone.start_ns
            + cylinder * self.cylinder_ns
            + head * self.track_ns
            + on_track * self.revolution_ns / zone.per_track;
        Location { cylinder: zone.first_cylinder + cylinder, head, stream_ns }
    }

    /// Stream time of the end of a sector.
    pub(crate) fn end_ns(&self, last_sector: u64) -> u64 {
        let zone = self.zone_of(last_sector);
        let on_track = (last_sector - zone.first_sector) % zone.per_track;
        let begin = on_track * self.revolution_ns / zone.per_track;
        let end = (on_track + 1) * self.revolution_ns / zone.per_track;
        self.locate(last_sector).stream_ns + end - begin
    }

    /// The first sector that the head has not yet passed at a stream time.
    pub(crate) fn sector_at(&self, stream_ns: u64) -> u64 {
        let at = self.zones.partition_point(|zone| zone.start_ns <= stream_ns) - 1;
        let zone = &self.zones[at];
        let within_ns = stream_ns - zone.start_ns;
        let cylinder = within_ns / self.cylinder_ns;
        let rest_ns = within_ns % self.cylinder_ns;
        let head = (rest_ns / self.track_ns).min(self.heads - 1);
        let on_track_ns = rest_ns - head * self.track_ns;
        let on_track = (on_track_ns * zone.per_track / self.revolution_ns).min(zone.per_track);
        let tracks = cylinder * self.heads + head;
        (zone.first_sector + tracks * zone.per_track + on_track).min(self.sectors)
    }

    pub(crate) fn sectors(&self) -> u64 {
        self.sectors
    }
}

/// From the outermost zone to the innermost in equal steps.
fn sectors_per_track(sheet: &RotatingSheet, zone: u64) -> u64 {
    let fall = sheet.outer_sectors_per_track - sheet.inner_sectors_per_track;
    sheet.outer_sectors_per_track - (fall * zone).checked_div(sheet.zones - 1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::seek::tests::sheet;
    use super::*;

    #[test]
    fn every_sector_has_one_place_and_later_sectors_are_passed_later() {
        let geometry = Geometry::new(&sheet(), 100_000_000_000);
        let sectors = 100_000_000_000 / SECTOR_BYTES;
        assert!(geometry.cylinders() > 60_000, "{}", geometry.cylinders());
        let mut before = geometry.locate(0);
        assert_eq!((before.cylinder, before.head, before.stream_ns), (0, 0, 0));
        for sector in (1..sectors - 1).step_by(99_991) {
            let here = geometry.locate(sector);
            assert!(here.stream_ns > before.stream_ns && here.cylinder >= before.cylinder);
            let after = geometry.sector_at(geometry.end_ns(sector));
            assert!((sector..=sector + 1).contains(&after), "{sector}: {after}");
            assert!(geometry.end_ns(sector) <= geometry.locate(sector + 1).stream_ns);
            before = here;
        }
        assert_eq!(geometry.sector_of(0, 5), 5);
        assert!(geometry.sector_of(geometry.cylinders() - 1, 7) < sectors);
    }

    #[test]
    fn a_track_takes_a_revolution_and_the_next_begins_after_the_switch() {
        let geometry = Geometry::new(&sheet(), 100_000_000_000);
        assert_eq!(geometry.end_ns(999), geometry.revolution_ns);
        assert_eq!(geometry.locate(1000).stream_ns, geometry.revolution_ns + 700_000);
        let next = geometry.locate(4000);
        assert_eq!((next.cylinder, next.head), (1, 0));
        let skew_ns = next.stream_ns - geometry.end_ns(3999);
        let seek_ns = SeekTable::new(&sheet(), geometry.cylinders()).time_ns(1);
        assert_eq!(skew_ns, seek_ns + 200_000);
    }
}
