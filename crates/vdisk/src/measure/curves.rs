//! Curves of a model: how a time or a rate goes over a distance, a place, a size or what was
//! written before. Every point is measured from requests and their completions; of the sheet come
//! sizes and places alone, which say where and how much to read and write, and never a time.

use super::closed_loop::ClosedLoop;
use super::seeks::accesses;
use super::transfers::pieces;
use crate::device::{DeviceError, DeviceOptions, VirtualDevice};
use crate::request::{Request, SECTOR_BYTES};
use crate::sheet::{CardSheet, Sheet};
use crate::splitmix::mixed;

/// Distances of the seek curve; they are nearer to each other where it is steep.
const DISTANCES: u64 = 40;
/// Places on a disk that are read from.
const PLACES: u64 = 128;
/// Read at each place at most.
const PLACE_BYTES: u64 = 16 << 20;
/// Points of a curve over what was written.
const WINDOWS: u64 = 96;
/// Flash is measured on a device of this size: its map fills at once.
const FLASH_BYTES: u64 = 2 << 30;
/// Written in order to flash at least, before anything is written at random.
const IN_ORDER_BYTES: u64 = 16_000_000_000;
/// How often flash is written over at random.
const TIMES_OVER: u64 = 2;
/// Requests in flight of random writes to flash, where the device takes as many.
const FLASH_DEPTH: u32 = 32;
/// Writes of a size: so many bytes, and within these limits so many requests.
const SIZE_BYTES: u64 = 32 << 20;
const SIZE_REQUESTS: (u64, u64) = (32, 1_000);
/// The least and the largest write of a curve over sizes.
const SIZES: (u64, u64) = (4 << 10, 8 << 20);
/// Allocation units that are written in turn, and what is written to one of them at a time.
const UNITS_MOST: u16 = 8;
const PIECE_BYTES: u32 = 64 << 10;
const MIB: u64 = 1 << 20;

/// What goes over what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CurveKind {
    /// Time over the distance between two reads.
    Seek,
    /// Rate of sequential reads over the place on the disk.
    Zones,
    /// Rate of sequential writes over what was written.
    SequentialWrites,
    /// Rate of random writes over what was written, on a device that is full.
    RandomWrites,
    /// Rate of writes over their size, in order and at random.
    WriteSizes,
    /// Rate of small writes over the number of allocation units that they go to in turn.
    AllocationUnits,
}

/// An axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// What lies on it, without its unit.
    pub words: &'static str,
    pub unit: &'static str,
    /// Equal factors are equally far apart.
    pub is_log: bool,
}

/// A curve, of one line or several.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    pub kind: CurveKind,
    pub lines: Vec<Line>,
}

/// A line of a curve.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    pub words: &'static str,
    /// In the order of the axis.
    pub points: Vec<Point>,
}

/// A measurement: both in the units of the axes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pub at: f64,
    pub value: f64,
}

impl CurveKind {
    /// A name of small letters and `_`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seek => "seek",
            Self::Zones => "zones",
            Self::SequentialWrites => "sequential_writes",
            Self::RandomWrites => "random_writes",
            Self::WriteSizes => "write_sizes",
            Self::AllocationUnits => "allocation_units",
        }
    }

    /// What it is, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Seek => "reads of one sector over the distance from the one before",
            Self::Zones => "sequential reads of 1 MiB over the place on the disk",
            Self::SequentialWrites => "sequential writes of 1 MiB to a device of up to 2 GiB",
            Self::RandomWrites => "then random writes of 4 KiB to the same device",
            Self::WriteSizes => "writes over their size",
            Self::AllocationUnits => "writes of 64 KiB over allocation units in turn",
        }
    }

    /// The axis along.
    #[must_use]
    pub fn along(self) -> Axis {
        let linear = |words, unit| Axis { words, unit, is_log: false };
        match self {
            Self::Seek => linear("distance", "% of the stroke"),
            Self::Zones => linear("place", "% of the capacity"),
            Self::SequentialWrites | Self::RandomWrites => linear("written", "GB"),
            Self::WriteSizes => Axis { words: "size", unit: "KiB", is_log: true },
            Self::AllocationUnits => linear("allocation units", ""),
        }
    }

    /// The axis of values.
    #[must_use]
    pub fn upright(self) -> Axis {
        match self {
            Self::Seek => Axis { words: "time", unit: "ms", is_log: false },
            Self::WriteSizes => Axis { words: "rate", unit: "MB/s", is_log: true },
            _ => Axis { words: "rate", unit: "MB/s", is_log: false },
        }
    }
}

/// The curves that say most about a device of this kind.
///
/// # Errors
/// Where the device cannot be made.
pub fn curves(sheet: &Sheet, seed: u64) -> Result<Vec<Curve>, DeviceError> {
    let new = |size_bytes| {
        let options = DeviceOptions { size_bytes, seed, ..DeviceOptions::default() };
        Ok(ClosedLoop::new(VirtualDevice::new(sheet, &options)?))
    };
    if sheet.rotating.is_some() {
        return Ok(vec![seek(&mut new(None)?), zones(&mut new(None)?)]);
    }
    if sheet.flash.is_some() {
        let size_bytes = sheet.capacity_bytes.min(FLASH_BYTES);
        let driver = &mut new(Some(size_bytes))?;
        return Ok(vec![sequential_writes(driver, sheet), random_writes(driver, sheet)]);
    }
    let at_random = size_line("at random", &new, |driver, bytes, count| {
        let blocks = driver.device.size_bytes() / bytes;
        let place = move |number| mixed(number) % blocks;
        write_pieces(driver, bytes, count, place)
    })?;
    let Some(card) = &sheet.card else {
        return Ok(vec![Curve { kind: CurveKind::WriteSizes, lines: vec![at_random] }]);
    };
    let in_order = size_line("in order", &new, |driver, bytes, count| {
        let blocks = driver.device.size_bytes() / bytes;
        write_pieces(driver, bytes, count, move |number| number % blocks)
    })?;
    let sizes = Curve { kind: CurveKind::WriteSizes, lines: vec![in_order, at_random] };
    Ok(vec![sizes, allocation_units(&new, card)?])
}

/// Makes a device of a size, or of its whole capacity.
type New<'a> = dyn Fn(Option<u64>) -> Result<ClosedLoop, DeviceError> + 'a;

fn one(kind: CurveKind, words: &'static str, points: Vec<Point>) -> Curve {
    Curve { kind, lines: vec![Line { words, points }] }
}

/// An access that goes nowhere has the command and the sector alone: what the quickest one over a
/// distance takes longer is the seek.
fn seek(driver: &mut ClosedLoop) -> Curve {
    let geometry = driver.device.geometry().cloned().expect("a rotating disk has a layout");
    let still = accesses(driver, &geometry, 0, 0);
    let still_ns = still.map_or(0, |still| still.least_ns);
    let farthest = geometry.cylinders() - 1;
    let mut distances: Vec<u64> = (0..=DISTANCES)
        .map(|step| (farthest * step * step / (DISTANCES * DISTANCES)).max(1))
        .filter(|distance| *distance <= farthest)
        .collect();
    distances.dedup();
    let (mut seeks, mut means) = (Vec::new(), Vec::new());
    for distance in distances {
        // From the cache comes what takes about as long as if it went nowhere.
        let took = accesses(driver, &geometry, distance, still_ns + still_ns / 4);
        let Some(took) = took else { continue };
        let at = distance as f64 * 100.0 / farthest as f64;
        seeks.push(Point { at, value: (took.least_ns - still_ns) as f64 / 1e6 });
        means.push(Point { at, value: took.mean_ns / 1e6 });
    }
    let lines = vec![
        Line { words: "seek", points: seeks },
        Line { words: "mean access, with rotation", points: means },
    ];
    Curve { kind: CurveKind::Seek, lines }
}

fn zones(driver: &mut ClosedLoop) -> Curve {
    let size_bytes = driver.device.size_bytes();
    let each_bytes = (size_bytes / PLACES).min(PLACE_BYTES) / MIB * MIB;
    let (each, sectors) = (each_bytes / MIB, MIB / SECTOR_BYTES);
    if each < 2 {
        return one(CurveKind::Zones, "", Vec::new());
    }
    let points = (0..PLACES).map(|place| {
        let first = (size_bytes - each_bytes) / SECTOR_BYTES * place / (PLACES - 1) / 8 * 8;
        let read = |tag, number| Request::read(tag, first + number * sectors, sectors as u32);
        // The first one has to get there.
        driver.run(1, 1, read);
        let took = driver.run(1, each - 1, |tag, number| read(tag, number + 1));
        let at = place as f64 * 100.0 / (PLACES - 1) as f64;
        Point { at, value: took.megabytes_per_s((each - 1) * MIB).value }
    });
    one(CurveKind::Zones, "", points.collect())
}

/// One MiB at a time, one after another, over the whole device again and again.
fn sequential_writes(driver: &mut ClosedLoop, sheet: &Sheet) -> Curve {
    let one_bit_bytes = sheet.flash.as_ref().map_or(0, |flash| flash.slc_bytes);
    let all_bytes = IN_ORDER_BYTES.max(one_bit_bytes + one_bit_bytes / 2);
    let (blocks, sectors) = (driver.device.size_bytes() / MIB, MIB / SECTOR_BYTES);
    let points = over_windows(driver, 1, MIB, all_bytes, |tag, number| {
        Request::write(tag, number % blocks * sectors, sectors as u32)
    });
    one(CurveKind::SequentialWrites, "", points)
}

fn random_writes(driver: &mut ClosedLoop, sheet: &Sheet) -> Curve {
    let (size_bytes, bytes) = (driver.device.size_bytes(), 4096);
    let (blocks, sectors) = (size_bytes / bytes, bytes / SECTOR_BYTES);
    let depth = sheet.queue_depth.min(FLASH_DEPTH) as u16;
    let points = over_windows(driver, depth, bytes, TIMES_OVER * size_bytes, |tag, number| {
        Request::write(tag, mixed(number) % blocks * sectors, sectors as u32)
    });
    one(CurveKind::RandomWrites, "", points)
}

/// The rate of each of equal parts of what is written.
fn over_windows(
    driver: &mut ClosedLoop,
    depth: u16,
    bytes: u64,
    all_bytes: u64,
    next: impl Fn(u16, u64) -> Request,
) -> Vec<Point> {
    let each = (all_bytes / bytes / WINDOWS).max(1);
    let window = |window: u64| {
        let took = driver.run(depth, each, |tag, number| next(tag, window * each + number));
        let at = ((window + 1) * each * bytes) as f64 / 1e9;
        Point { at, value: took.megabytes_per_s(each * bytes).value }
    };
    (0..WINDOWS).map(window).collect()
}

/// The rate of writes of each size, each on a device of its own: `measure` gets the size and how
/// many.
fn size_line(
    words: &'static str,
    new: &New<'_>,
    measure: impl Fn(&mut ClosedLoop, u64, u64) -> f64,
) -> Result<Line, DeviceError> {
    let mut points = Vec::new();
    let mut bytes = SIZES.0;
    while bytes <= SIZES.1 {
        let mut driver = new(None)?;
        let count = (SIZE_BYTES / bytes).clamp(SIZE_REQUESTS.0, SIZE_REQUESTS.1);
        if driver.device.size_bytes() >= bytes {
            let value = measure(&mut driver, bytes, count);
            points.push(Point { at: bytes as f64 / 1024.0, value });
        }
        bytes *= 2;
    }
    Ok(Line { words, points })
}

/// Writes one after another, half as many before; `place` numbers blocks of their size.
fn write_pieces(
    driver: &mut ClosedLoop,
    bytes: u64,
    count: u64,
    place: impl Fn(u64) -> u64,
) -> f64 {
    let sectors = bytes / SECTOR_BYTES;
    let write = |tag, number| Request::write(tag, place(number) * sectors, sectors as u32);
    let before = count / 2;
    driver.run(1, before, write);
    let took = driver.run(1, count, |tag, number| write(tag, before + number));
    took.megabytes_per_s(count * bytes).value
}

fn allocation_units(new: &New<'_>, card: &CardSheet) -> Result<Curve, DeviceError> {
    let unit_bytes = card.allocation_unit_bytes;
    let mut points = Vec::new();
    for units in 1..=UNITS_MOST {
        let mut driver = new(None)?;
        if u64::from(units) * unit_bytes > driver.device.size_bytes() {
            break;
        }
        let measured = pieces(&mut driver, unit_bytes, PIECE_BYTES, units);
        points.push(Point { at: f64::from(units), value: measured.value });
    }
    Ok(one(CurveKind::AllocationUnits, "", points))
}
