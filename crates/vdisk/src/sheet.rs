//! A sheet: what a device model is made of, in one TOML file, and the published figures that it is
//! held against.
//!
//! Numbers that decide times are integers, so that every machine computes the same. The figures are
//! for comparison alone.

mod parse;

pub use parse::SheetError;

use crate::probe::Probe;
use serde::Deserialize;

/// A device model and what is known about the device.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// Version of the format: 1.
    pub schema: u32,
    /// Small letters, digits and `-`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Remarks: where a number is from that no figure shows, and what is assumed.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What the device holds, as its maker counts.
    pub capacity_bytes: u64,
    /// Requests that it takes at once.
    pub queue_depth: u32,
    pub rotating: Option<RotatingSheet>,
    pub flash: Option<FlashSheet>,
    pub card: Option<CardSheet>,
    pub constant: Option<ConstantSheet>,
    /// Volatile cache of writes over a rotating disk.
    pub write_cache: Option<WriteCacheSheet>,
    /// Published figures.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
}

/// A disk with platters.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RotatingSheet {
    /// Revolutions a minute.
    pub rpm: u64,
    /// Surfaces with data.
    pub heads: u64,
    /// Zones of equal width, each with a number of sectors a track.
    pub zones: u64,
    /// Of the outermost zone.
    pub outer_sectors_per_track: u64,
    /// Of the innermost zone.
    pub inner_sectors_per_track: u64,
    /// Seek time over the distance d, as a share of all cylinders:
    /// `seek_base_ns + seek_sqrt_ns · √d + seek_linear_ns · d`.
    pub seek_base_ns: u64,
    pub seek_sqrt_ns: u64,
    pub seek_linear_ns: u64,
    /// Added to a seek before a write.
    pub write_settle_ns: u64,
    /// To another surface of the same cylinder.
    pub head_switch_ns: u64,
    /// What a command costs before the mechanics begin.
    pub command_ns: u64,
    /// Rate of the interface.
    pub bus_bytes_per_s: u64,
    /// Segments of the read cache, and the size of one.
    pub read_segments: u64,
    pub read_segment_bytes: u64,
    /// Which of several requests is next.
    pub ordering: Ordering,
    /// A request that waits longer than this is next, whatever is nearer.
    #[serde(default = "default_age_ns")]
    pub age_ns: u64,
}

/// In which order a disk serves the requests of its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordering {
    /// As they came.
    Fifo,
    /// The one that is reached first, seek and rotation together.
    Position,
}

fn default_age_ns() -> u64 {
    1_000_000_000
}

/// A volatile cache of writes.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCacheSheet {
    pub capacity_bytes: u64,
    /// Runs of adjacent sectors that it can hold.
    pub extents: u64,
    /// Writes that are on their way to the medium at once.
    pub destage_depth: u64,
    /// Largest write to the medium.
    pub destage_bytes: u64,
    /// It begins to write to the medium when nothing was asked for so long.
    pub idle_ns: u64,
    /// What a command costs.
    pub command_ns: u64,
    /// Rate of the interface.
    pub bus_bytes_per_s: u64,
}

/// A device of flash memory with a page-mapped translation layer.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashSheet {
    pub channels: u64,
    /// Dies on all channels together.
    pub dies: u64,
    /// Rate of a channel.
    pub channel_bytes_per_s: u64,
    /// Unit of the map from logical to physical addresses.
    pub unit_bytes: u64,
    /// What a die programs at once.
    pub program_bytes: u64,
    /// Erase block of a die.
    pub block_bytes: u64,
    /// Flash beyond the capacity, in parts of a thousand of the capacity.
    pub over_provisioning_permille: u64,
    pub read_ns: u64,
    pub program_ns: u64,
    pub erase_ns: u64,
    /// A read waits no longer than this for a program or an erase on its die.
    pub suspend_ns: u64,
    /// What the controller is busy with for each command: the reciprocal of the largest rate.
    pub read_command_ns: u64,
    pub write_command_ns: u64,
    /// What a command takes besides, which commands spend side by side.
    pub read_overhead_ns: u64,
    pub write_overhead_ns: u64,
    /// Rate of the interface.
    pub bus_bytes_per_s: u64,
    /// Buffer of writes.
    pub buffer_bytes: u64,
    /// Whether the buffer outlives a power cut, so that a flush has nothing to wait for.
    pub power_loss_protection: bool,
    /// What a flush writes besides the data: the map.
    pub flush_map_ns: u64,
    /// Part that is programmed with one bit a cell, and how long that takes; 0: none.
    #[serde(default)]
    pub slc_bytes: u64,
    #[serde(default)]
    pub slc_program_ns: u64,
    /// Rate at which an idle device moves data out of that part.
    #[serde(default)]
    pub slc_fold_bytes_per_s: u64,
}

/// A memory card with few allocation units open at once.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardSheet {
    pub allocation_unit_bytes: u64,
    /// Allocation units that can be written to without closing another.
    pub open_units: u64,
    pub read_command_ns: u64,
    pub write_command_ns: u64,
    pub read_bytes_per_s: u64,
    pub write_bytes_per_s: u64,
    /// Added for each KiB of a write that is smaller than an allocation unit.
    pub partial_ns_per_kib: u64,
    /// Closing an allocation unit: an erase, and the copy of each KiB that was not written since it
    /// was opened.
    pub close_ns: u64,
    pub close_copy_ns_per_kib: u64,
}

/// A device that takes the same time for every request.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantSheet {
    pub read_ns: u64,
    pub write_ns: u64,
    pub flush_ns: u64,
    pub discard_ns: u64,
    pub bytes_per_s: u64,
    /// Requests that are served side by side.
    pub servers: u64,
}

/// A published figure of a device.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What was measured.
    pub probe: Probe,
    /// In the unit of the probe.
    pub value: f64,
    pub role: Role,
    /// Who published it.
    pub source: String,
    /// Why the model is further from it than [`HELD_OUT_LIMIT`].
    pub deviates: Option<String>,
}

/// What a figure was used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Numbers of the sheet were chosen so that the model gives it.
    Fitted,
    /// It was left out of that.
    HeldOut,
}

impl Role {
    /// As it is written for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::HeldOut => "held out",
        }
    }
}

/// How far a fitted figure may be from the model.
pub const FITTED_LIMIT: f64 = 0.02;
/// How far one that was held out may be.
pub const HELD_OUT_LIMIT: f64 = 0.15;
/// Held-out figures without which a sheet is uncalibrated.
const HELD_OUT_FEWEST: usize = 2;

impl Sheet {
    /// Whether enough figures were left out of the fit to judge it by.
    #[must_use]
    pub fn is_calibrated(&self) -> bool {
        let held_out = self.figures.iter().filter(|figure| figure.role == Role::HeldOut);
        held_out.filter(|figure| figure.deviates.is_none()).count() >= HELD_OUT_FEWEST
    }

    /// What kind of device it is, in a word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match (&self.rotating, &self.flash, &self.card) {
            (Some(_), ..) => "rotating",
            (_, Some(_), _) => "flash",
            (.., Some(_)) => "card",
            _ => "constant",
        }
    }

    /// What it maps and writes at once, bytes: a unit of flash, an allocation unit of a card;
    /// absent where sectors are all there is.
    #[must_use]
    pub fn page_bytes(&self) -> Option<u64> {
        let card = self.card.as_ref().map(|card| card.allocation_unit_bytes);
        self.flash.as_ref().map(|flash| flash.unit_bytes).or(card)
    }

    /// Whether it has a cache that a power cut empties: a driver announces it, and sends flushes.
    #[must_use]
    pub fn has_volatile_cache(&self) -> bool {
        let flash = self.flash.as_ref();
        self.write_cache.is_some() || flash.is_some_and(|flash| !flash.power_loss_protection)
    }
}
