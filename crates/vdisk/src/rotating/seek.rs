//! The seek curve as a table: from a distance in cylinders to a time.

use crate::sheet::RotatingSheet;

/// Steps of the table; those of the first part of the stroke have a table of their own.
const STEPS: u64 = 4096;
/// That part is the stroke divided by this.
const FINE: u64 = 64;
/// Fraction bits of the steps of one cylinder.
const BITS: u32 = 32;

/// Seek times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SeekTable {
    cylinders: u64,
    /// Times over the whole stroke, and over its first part.
    coarse: Vec<u64>,
    fine: Vec<u64>,
    /// Steps of a cylinder, with [`BITS`] fraction bits.
    step_coarse: u64,
    step_fine: u64,
}

impl SeekTable {
    pub(super) fn new(sheet: &RotatingSheet, cylinders: u64) -> Self {
        let cylinders = cylinders.max(2) - 1;
        let table = |part: u64| (0..=STEPS).map(move |step| curve_ns(sheet, step, part * STEPS));
        Self {
            cylinders,
            coarse: table(1).collect(),
            fine: table(FINE).collect(),
            step_coarse: (STEPS << BITS) / cylinders,
            step_fine: (STEPS << BITS) * FINE / cylinders,
        }
    }

    /// The time to a cylinder so far away.
    pub(super) fn time_ns(&self, distance: u64) -> u64 {
        if distance == 0 {
            return 0;
        }
        let (table, step) = if distance * FINE < self.cylinders {
            (&self.fine, self.step_fine)
        } else {
            (&self.coarse, self.step_coarse)
        };
        let at = (distance.min(self.cylinders) * step) >> BITS;
        table[usize::try_from(at.min(STEPS)).unwrap_or(0)]
    }
}

/// The time over `part` of `whole` parts of the stroke.
fn curve_ns(sheet: &RotatingSheet, part: u64, whole: u64) -> u64 {
    // The root with 20 fraction bits.
    let root = ((part << 40) / whole).isqrt();
    sheet.seek_base_ns + ((sheet.seek_sqrt_ns * root) >> 20) + sheet.seek_linear_ns * part / whole
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::sheet::Ordering;

    pub(crate) fn sheet() -> RotatingSheet {
        RotatingSheet {
            rpm: 7200,
            heads: 4,
            zones: 10,
            outer_sectors_per_track: 1000,
            inner_sectors_per_track: 500,
            seek_base_ns: 1_000_000,
            seek_sqrt_ns: 8_000_000,
            seek_linear_ns: 5_000_000,
            write_settle_ns: 200_000,
            head_switch_ns: 700_000,
            command_ns: 100_000,
            bus_bytes_per_s: 300_000_000,
            read_segments: 8,
            read_segment_bytes: 1 << 20,
            ordering: Ordering::Position,
            age_ns: 1_000_000_000,
        }
    }

    #[test]
    fn the_table_follows_the_curve() {
        let table = SeekTable::new(&sheet(), 80_001);
        assert_eq!(table.time_ns(0), 0);
        assert!((13_990_000..=14_000_000).contains(&table.time_ns(80_000)));
        let mut before = 0;
        for distance in (1..80_000).step_by(37) {
            let x = distance as f64 / 80_000.0;
            let curve = 1e6 + 8e6 * x.sqrt() + 5e6 * x;
            let time_ns = table.time_ns(distance);
            assert!((time_ns as f64 - curve).abs() < 20_000.0, "{distance}: {time_ns} {curve}");
            assert!(time_ns >= before);
            before = time_ns;
        }
    }
}
