//! A model measured in simulated time, as benchmarks measure devices: what data sheets state, and
//! how far the model is from it.

mod closed_loop;
mod curves;
mod measured;
mod seeks;
mod transfers;

use crate::device::{DeviceError, DeviceOptions, VirtualDevice};
use crate::probe::{Probe, State, Stroke};
use crate::request::Request;
use crate::sheet::{FITTED_LIMIT, Figure, HELD_OUT_LIMIT, Role, Sheet};
use closed_loop::ClosedLoop;

pub use curves::{Axis, Curve, CurveKind, Line, Point, curves};
pub use measured::Measured;

/// Flash is measured on a device of this size: its map would take minutes to fill.
const FLASH_BYTES: u64 = 8 << 30;
/// The same where all of it is written twice before.
const FLASH_USED_BYTES: u64 = 2 << 30;

/// A measurement beside what was published.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub probe: Probe,
    pub measured: Measured,
    pub figure: Option<Figure>,
}

impl Row {
    /// How far the model is from the figure, as a share of it.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        self.figure.as_ref().map(|figure| self.measured.value / figure.value - 1.0)
    }

    /// Whether it is as near as its role asks for; `None` without a figure.
    #[must_use]
    pub fn is_near(&self) -> Option<bool> {
        let figure = self.figure.as_ref()?;
        let limit = match figure.role {
            Role::Fitted => FITTED_LIMIT,
            Role::HeldOut => HELD_OUT_LIMIT,
        };
        Some(self.deviation()?.abs() <= limit)
    }
}

/// Measures one thing on a device of its own.
///
/// # Errors
/// Where the device cannot be made.
pub fn measure(sheet: &Sheet, probe: &Probe, seed: u64) -> Result<Measured, DeviceError> {
    let used = matches!(probe, Probe::RandomWrite { state: State::Used, .. });
    let size_bytes = sheet.flash.as_ref().map(|_| {
        let most = if used { FLASH_USED_BYTES } else { FLASH_BYTES };
        sheet.capacity_bytes.min(most)
    });
    let options = DeviceOptions { size_bytes, seed, ..DeviceOptions::default() };
    let mut driver = ClosedLoop::new(VirtualDevice::new(sheet, &options)?);
    if sheet.flash.is_some() {
        transfers::precondition(&mut driver, probe);
    }
    Ok(match probe {
        Probe::SequentialRead { at, bytes, depth } => {
            let (shape, before) = ((*bytes, *depth), u64::from(*depth));
            transfers::sequential(&mut driver, *at, shape, before, Request::read)
        }
        Probe::SequentialWrite { at, bytes, depth, after_bytes } => {
            let cache = sheet.write_cache.as_ref().map(|cache| cache.capacity_bytes);
            let buffer = sheet.flash.as_ref().map(|flash| 8 * flash.buffer_bytes);
            let before = (*after_bytes).max(cache.map(|bytes| 2 * bytes).or(buffer).unwrap_or(0));
            let (shape, before) = ((*bytes, *depth), before.div_ceil(u64::from(*bytes)));
            transfers::sequential(&mut driver, *at, shape, before, Request::write)
        }
        Probe::RandomRead { bytes, depth } => {
            transfers::random(&mut driver, *bytes, *depth, Request::read)
        }
        Probe::RandomWrite { bytes, depth, .. } => {
            transfers::random(&mut driver, *bytes, *depth, Request::write)
        }
        Probe::Fsync => transfers::fsyncs(&mut driver),
        Probe::CacheHit => transfers::cache_hits(&mut driver),
        Probe::Seek { stroke } => seeks::seek(&mut driver, sheet, *stroke),
        Probe::Access { from, to } => seeks::access(&mut driver, *from, *to),
        Probe::Pieces { bytes, units } => {
            let unit_bytes = sheet.card.as_ref().map_or(4 << 20, |card| card.allocation_unit_bytes);
            transfers::pieces(&mut driver, unit_bytes, *bytes, *units)
        }
    })
}

/// What is measured of every device of this kind.
#[must_use]
pub fn usual_probes(sheet: &Sheet) -> Vec<Probe> {
    let (bytes, depth) = (1 << 20, 1);
    let mut probes = Vec::new();
    let places: &[f64] = if sheet.rotating.is_some() { &[0.0, 0.5, 1.0] } else { &[0.0] };
    probes.extend(places.iter().map(|at| Probe::SequentialRead { at: *at, bytes, depth }));
    let write = |at: &f64| Probe::SequentialWrite { at: *at, bytes, depth, after_bytes: 0 };
    probes.extend(places.iter().map(write));
    let deep = sheet.queue_depth.min(32) as u16;
    let mut depths = vec![1, deep];
    depths.dedup();
    probes.extend(depths.iter().map(|depth| Probe::RandomRead { bytes: 4096, depth: *depth }));
    let state = State::Fresh;
    let write = |depth: &u16| Probe::RandomWrite { bytes: 4096, depth: *depth, state };
    probes.extend(depths.iter().map(write));
    probes.push(Probe::Fsync);
    if sheet.rotating.is_some() {
        let strokes = [Stroke::Full, Stroke::Third, Stroke::Average, Stroke::Track];
        probes.extend(strokes.map(|stroke| Probe::Seek { stroke }));
        probes.push(Probe::CacheHit);
    }
    probes
}

/// Everything that is usual, and whatever the sheet has figures of.
///
/// # Errors
/// Where the device cannot be made.
pub fn compare(sheet: &Sheet, seed: u64) -> Result<Vec<Row>, DeviceError> {
    let mut rows = Vec::new();
    let mut probes = usual_probes(sheet);
    for figure in &sheet.figures {
        if !probes.contains(&figure.probe) {
            probes.push(figure.probe);
        }
    }
    for probe in probes {
        let measured = measure(sheet, &probe, seed)?;
        let mut figures = sheet.figures.iter().filter(|figure| figure.probe == probe).peekable();
        if figures.peek().is_none() {
            rows.push(Row { probe, measured, figure: None });
            continue;
        }
        rows.extend(figures.map(|figure| Row {
            probe,
            measured: measured.clone(),
            figure: Some(figure.clone()),
        }));
    }
    Ok(rows)
}
