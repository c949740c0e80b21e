//! Reading a sheet, with the checks that its types cannot make: every sheet that passes can be
//! built and driven.

use super::{CardSheet, ConstantSheet, FlashSheet, RotatingSheet, Sheet, WriteCacheSheet};
use crate::probe::{Probe, Stroke};
use crate::request::{HOST_TAGS, SECTOR_BYTES};
use toml::de::DeTable;

/// The version of the format.
const SCHEMA: u32 = 1;
/// Largest device: what its times can be computed for in 64 bits.
const CAPACITY_MOST: u64 = 1 << 46;
/// Longest of any time.
const TIME_MOST_NS: u64 = 100_000_000_000;
/// Where the format is written down.
const FORMAT: &str = "devices/README.md has the format";

/// A sheet that cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}, line {line}: {what}; {remedy}")]
pub struct SheetError {
    pub file: String,
    pub line: usize,
    pub what: String,
    pub remedy: String,
}

/// A value that is not right: table, key, what, what to do.
struct Fault {
    table: &'static str,
    key: &'static str,
    /// Number of the figure, where it is one of them.
    figure: usize,
    what: String,
    remedy: String,
}

type Checked = Result<(), Fault>;

/// A check of one table.
struct Table(&'static str);

impl Table {
    fn refuse(
        &self,
        key: &'static str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Checked {
        let (what, remedy) = (what.into(), remedy.into());
        Err(Fault { table: self.0, key, figure: 0, what, remedy })
    }

    fn within(&self, key: &'static str, value: u64, least: u64, most: u64) -> Checked {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        self.refuse(
            key,
            format!("`{key}` is {value}, which cannot be"),
            format!("use {least} to {most}"),
        )
    }

    fn times(&self, values: &[(&'static str, u64)]) -> Checked {
        values.iter().try_for_each(|(key, value)| self.within(key, *value, 0, TIME_MOST_NS))
    }

    fn multiple(&self, key: &'static str, value: u64, unit: u64) -> Checked {
        if value > 0 && value.is_multiple_of(unit) {
            return Ok(());
        }
        let what = format!("`{key}` is {value}, which is no multiple of {unit}");
        self.refuse(key, what, format!("use a multiple of {unit}"))
    }
}

/// The line of a key; of its table, where the key is not there.
fn line_of_key(text: &str, fault: &Fault) -> usize {
    let Ok(document) = DeTable::parse(text) else { return 1 };
    let root = document.get_ref();
    let (table, start) = match fault.table {
        "" => (Some(root), 0),
        name => match root.get(name) {
            Some(found) => {
                let inner = match found.get_ref().as_array() {
                    Some(all) => all.get(fault.figure),
                    None => Some(found),
                };
                let start = inner.map_or(found.span().start, |one| one.span().start);
                (inner.and_then(|one| one.get_ref().as_table()), start)
            }
            None => (None, 0),
        },
    };
    let value = table.and_then(|table| table.get(fault.key));
    line_at(text, value.map_or(start, |value| value.span().start))
}

/// The line of the byte at `at`, from 1.
fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

impl Sheet {
    /// Reads a sheet; `file` is its name in errors.
    ///
    /// # Errors
    /// What is not TOML, an unknown or missing key, and whatever no device can be, with the line
    /// and what to do.
    pub fn parse(text: &str, file: &str) -> Result<Self, SheetError> {
        let error = |line, what, remedy: &str| SheetError {
            file: file.to_owned(),
            line,
            what,
            remedy: remedy.to_owned(),
        };
        let read: Result<Self, toml::de::Error> = toml::from_str(text);
        let sheet = read.map_err(|fault| {
            let at = fault.span().map_or(0, |span| span.start);
            let what = fault.message().lines().collect::<Vec<_>>().join(", ");
            error(line_at(text, at), what, FORMAT)
        })?;
        match sheet.check() {
            Ok(()) => Ok(sheet),
            Err(fault) => Err(error(line_of_key(text, &fault), fault.what, &fault.remedy)),
        }
    }

    fn check(&self) -> Checked {
        let top = Table("");
        if self.schema != SCHEMA {
            let what = format!("schema {} is not known", self.schema);
            return top.refuse("schema", what, format!("write `schema = {SCHEMA}`"));
        }
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(is_letter) {
            let what = format!("{:?} is no name", self.name);
            return top.refuse("name", what, "use small letters, digits and `-`, up to 64");
        }
        if self.title.trim().is_empty() || self.title.contains('\n') {
            return top.refuse("title", "the title is empty or has lines", "write one line");
        }
        top.within("capacity_bytes", self.capacity_bytes, 1 << 20, CAPACITY_MOST)?;
        top.multiple("capacity_bytes", self.capacity_bytes, SECTOR_BYTES)?;
        top.within("queue_depth", self.queue_depth.into(), 1, HOST_TAGS as u64)?;
        self.check_model()?;
        if let Some(cache) = &self.write_cache {
            if self.flash.is_some() || self.card.is_some() {
                let remedy = "a device of flash has `buffer_bytes` of its own";
                return Table("write_cache").refuse("capacity_bytes", "two caches", remedy);
            }
            cache.check()?;
        }
        let mut figures = self.figures.iter().enumerate();
        figures.try_for_each(|(number, figure)| self.check_figure(number, figure))
    }

    fn check_model(&self) -> Checked {
        let all = [
            self.rotating.is_some(),
            self.flash.is_some(),
            self.card.is_some(),
            self.constant.is_some(),
        ];
        if all.iter().filter(|there| **there).count() != 1 {
            let what = "a sheet describes one device";
            let remedy = "write one of [rotating], [flash], [card] and [constant]";
            return Table("").refuse("capacity_bytes", what, remedy);
        }
        if let Some(sheet) = &self.rotating {
            sheet.check(self.capacity_bytes)?;
        }
        if let Some(sheet) = &self.flash {
            sheet.check(self.capacity_bytes)?;
        }
        if let Some(sheet) = &self.card {
            sheet.check(self.capacity_bytes)?;
        }
        self.constant.as_ref().map_or(Ok(()), ConstantSheet::check)
    }

    fn check_figure(&self, number: usize, figure: &super::Figure) -> Checked {
        let refuse = |key, what: String, remedy: &str| {
            Err(Fault { table: "figure", key, figure: number, what, remedy: remedy.to_owned() })
        };
        if !(figure.value.is_finite() && figure.value > 0.0) {
            let what = format!("a figure of {} cannot be", figure.value);
            return refuse("value", what, "use a number above 0, in the unit of its probe");
        }
        if figure.source.trim().is_empty() {
            return refuse("source", "a figure without source".to_owned(), "say who published it");
        }
        let (probe, rotates) = (&figure.probe, self.rotating.is_some());
        let wrong = match probe {
            Probe::Seek { .. } if !rotates => Some("a seek is of rotating disks alone"),
            Probe::Access { from, to }
                if !(0.0..=1.0).contains(from) || !(0.0..=1.0).contains(to) =>
            {
                Some("`from` and `to` are shares of the capacity, from 0 to 1")
            }
            Probe::SequentialRead { at, .. } | Probe::SequentialWrite { at, .. }
                if !(0.0..=1.0).contains(at) =>
            {
                Some("`at` is a share of the capacity, from 0 to 1")
            }
            Probe::Pieces { .. } if self.card.is_none() => Some("pieces are of cards alone"),
            _ => None,
        };
        if let Some(what) = wrong {
            return refuse("probe", what.to_owned(), FORMAT);
        }
        let depth = u64::from(probe.depth());
        if depth == 0 || depth > u64::from(self.queue_depth).max(1) {
            let what = format!("a depth of {depth} where the queue has {}", self.queue_depth);
            return refuse("probe", what, "use 1 up to `queue_depth`");
        }
        if matches!(probe, Probe::Seek { stroke: Stroke::Track }) && self.rotating.is_none() {
            return refuse("probe", "no tracks".to_owned(), FORMAT);
        }
        Ok(())
    }
}

impl RotatingSheet {
    fn check(&self, capacity_bytes: u64) -> Checked {
        let table = Table("rotating");
        table.within("rpm", self.rpm, 60, 100_000)?;
        table.within("heads", self.heads, 1, 64)?;
        table.within("zones", self.zones, 1, 1000)?;
        table.within("outer_sectors_per_track", self.outer_sectors_per_track, 1, 100_000)?;
        table.within("inner_sectors_per_track", self.inner_sectors_per_track, 1, 100_000)?;
        if self.inner_sectors_per_track > self.outer_sectors_per_track {
            let what = format!(
                "{} sectors on an inner track are more than {} on an outer one",
                self.inner_sectors_per_track, self.outer_sectors_per_track
            );
            let remedy = "inner tracks are shorter: use no more than `outer_sectors_per_track`";
            return table.refuse("inner_sectors_per_track", what, remedy);
        }
        let most = self.outer_sectors_per_track * self.heads * self.zones;
        if capacity_bytes / SECTOR_BYTES < most {
            let what = format!(
                "{} zones of {} heads do not fit into {capacity_bytes} bytes",
                self.zones, self.heads
            );
            return table.refuse("zones", what, "use fewer zones or heads, or a larger capacity");
        }
        table.within("seek_base_ns", self.seek_base_ns, 1, TIME_MOST_NS)?;
        table.times(&[
            ("seek_sqrt_ns", self.seek_sqrt_ns),
            ("seek_linear_ns", self.seek_linear_ns),
            ("write_settle_ns", self.write_settle_ns),
            ("head_switch_ns", self.head_switch_ns),
            ("command_ns", self.command_ns),
            ("age_ns", self.age_ns),
        ])?;
        table.within("bus_bytes_per_s", self.bus_bytes_per_s, 1000, 1 << 40)?;
        table.within("read_segments", self.read_segments, 0, 256)?;
        table.within("read_segment_bytes", self.read_segment_bytes, 0, 1 << 30)
    }
}

impl WriteCacheSheet {
    fn check(&self) -> Checked {
        let table = Table("write_cache");
        table.within("capacity_bytes", self.capacity_bytes, 4096, 1 << 32)?;
        table.within("extents", self.extents, 1, 4096)?;
        table.within("destage_depth", self.destage_depth, 1, 64)?;
        table.within("destage_bytes", self.destage_bytes, 4096, 1 << 26)?;
        table.multiple("destage_bytes", self.destage_bytes, SECTOR_BYTES)?;
        table.times(&[("idle_ns", self.idle_ns), ("command_ns", self.command_ns)])?;
        table.within("bus_bytes_per_s", self.bus_bytes_per_s, 1000, 1 << 40)
    }
}

impl FlashSheet {
    fn check(&self, capacity_bytes: u64) -> Checked {
        let table = Table("flash");
        table.within("channels", self.channels, 1, 256)?;
        table.within("dies", self.dies, 1, 1024)?;
        if !self.dies.is_multiple_of(self.channels) {
            let what = format!("{} dies on {} channels", self.dies, self.channels);
            return table.refuse("dies", what, "use as many dies on every channel");
        }
        table.within("channel_bytes_per_s", self.channel_bytes_per_s, 1000, 1 << 40)?;
        table.multiple("unit_bytes", self.unit_bytes, 4096)?;
        table.within("unit_bytes", self.unit_bytes, 4096, 1 << 20)?;
        table.multiple("program_bytes", self.program_bytes, self.unit_bytes)?;
        table.multiple("block_bytes", self.block_bytes, self.program_bytes)?;
        table.within("over_provisioning_permille", self.over_provisioning_permille, 10, 2000)?;
        table.within("program_ns", self.program_ns, 1, TIME_MOST_NS)?;
        table.times(&[
            ("read_ns", self.read_ns),
            ("erase_ns", self.erase_ns),
            ("suspend_ns", self.suspend_ns),
            ("read_command_ns", self.read_command_ns),
            ("write_command_ns", self.write_command_ns),
            ("read_overhead_ns", self.read_overhead_ns),
            ("write_overhead_ns", self.write_overhead_ns),
            ("flush_map_ns", self.flush_map_ns),
            ("slc_program_ns", self.slc_program_ns),
        ])?;
        table.within("bus_bytes_per_s", self.bus_bytes_per_s, 1000, 1 << 40)?;
        table.within("buffer_bytes", self.buffer_bytes, self.program_bytes * 2, 1 << 32)?;
        if self.slc_bytes > 0 {
            table.within("slc_program_ns", self.slc_program_ns, 1, self.program_ns)?;
            table.within("slc_fold_bytes_per_s", self.slc_fold_bytes_per_s, 1, 1 << 40)?;
        }
        let least = self.program_bytes * 64;
        if capacity_bytes < least {
            let what = format!("{capacity_bytes} bytes are no translation layer's");
            return table.refuse("program_bytes", what, format!("use at least {least} bytes"));
        }
        Ok(())
    }
}

impl CardSheet {
    fn check(&self, capacity_bytes: u64) -> Checked {
        let table = Table("card");
        table.multiple("allocation_unit_bytes", self.allocation_unit_bytes, 4096)?;
        table.within("allocation_unit_bytes", self.allocation_unit_bytes, 4096, capacity_bytes)?;
        table.within("open_units", self.open_units, 1, 64)?;
        table.within("read_bytes_per_s", self.read_bytes_per_s, 1000, 1 << 40)?;
        table.within("write_bytes_per_s", self.write_bytes_per_s, 1000, 1 << 40)?;
        table.times(&[
            ("read_command_ns", self.read_command_ns),
            ("write_command_ns", self.write_command_ns),
            ("partial_ns_per_kib", self.partial_ns_per_kib),
            ("close_ns", self.close_ns),
            ("close_copy_ns_per_kib", self.close_copy_ns_per_kib),
        ])
    }
}

impl ConstantSheet {
    fn check(&self) -> Checked {
        let table = Table("constant");
        table.times(&[
            ("read_ns", self.read_ns),
            ("write_ns", self.write_ns),
            ("flush_ns", self.flush_ns),
            ("discard_ns", self.discard_ns),
        ])?;
        table.within("servers", self.servers, 1, HOST_TAGS as u64)?;
        table.within("bytes_per_s", self.bytes_per_s, 1000, 1 << 40)
    }
}

#[cfg(test)]
mod tests;
