//! The device at work: when controller, interface, channels and dies are free, and what is in the
//! buffer.
//!
//! Each of them serves one request after another, so the end of a request is known when it is
//! submitted.

use super::translation::{Sizes, Translation};
use crate::finished::{Finished, transfer_ns};
use crate::request::{Completion, DeviceModel, Op, Request, SECTOR_BYTES};
use crate::sheet::FlashSheet;
use std::collections::VecDeque;

/// A device of flash memory.
#[derive(Clone, Debug)]
pub struct Flash {
    sheet: FlashSheet,
    layer: Translation,
    unit_sectors: u64,
    program_units: u64,
    /// Times that do not change.
    unit_channel_ns: u64,
    program_channel_ns: u64,
    /// When each of them is free.
    controller_ns: u64,
    bus_ns: u64,
    channels_ns: Vec<u64>,
    dies_ns: Vec<u64>,
    /// Units of the program that is being collected, and the die of the latest.
    collecting: u64,
    last_die: usize,
    /// Programs that are not done: when each is, and its bytes; and their sum.
    programs: VecDeque<(u64, u64)>,
    buffered_bytes: u64,
    /// Logical units in the buffer, in the order in which they came.
    buffered_units: VecDeque<u64>,
    /// When the last of all programs is done, and whether one was begun since the last flush.
    programmed_ns: u64,
    is_dirty: bool,
    slc_used_bytes: u64,
    first_die: u64,
    finished: Finished,
}

impl Flash {
    /// A device of this capacity; the seed decides which die is first.
    #[must_use]
    pub fn new(sheet: &FlashSheet, capacity_bytes: u64, seed: u64) -> Self {
        let logical = capacity_bytes.div_ceil(sheet.unit_bytes);
        let program_units = sheet.program_bytes / sheet.unit_bytes;
        let count = |number: u64| usize::try_from(number).unwrap_or(1);
        let layer = Translation::new(Sizes {
            logical,
            physical: logical + logical * sheet.over_provisioning_permille / 1000,
            block: sheet.block_bytes / sheet.unit_bytes * sheet.dies,
            program: program_units,
        });
        Self {
            layer,
            unit_sectors: sheet.unit_bytes / SECTOR_BYTES,
            program_units,
            unit_channel_ns: transfer_ns(sheet.unit_bytes, sheet.channel_bytes_per_s),
            program_channel_ns: transfer_ns(sheet.program_bytes, sheet.channel_bytes_per_s),
            controller_ns: 0,
            bus_ns: 0,
            channels_ns: vec![0; count(sheet.channels)],
            dies_ns: vec![0; count(sheet.dies)],
            collecting: 0,
            last_die: 0,
            programs: VecDeque::with_capacity(count(sheet.buffer_bytes / sheet.program_bytes) + 2),
            buffered_bytes: 0,
            buffered_units: VecDeque::with_capacity(
                count(sheet.buffer_bytes / sheet.unit_bytes) + 2,
            ),
            programmed_ns: 0,
            is_dirty: false,
            slc_used_bytes: 0,
            first_die: crate::splitmix::mixed(seed) % sheet.dies,
            finished: Finished::new(),
            sheet: sheet.clone(),
        }
    }

    /// The die of a physical unit: programs go to the dies in turn.
    fn die_of(&self, physical: u64) -> usize {
        let die = (physical / self.program_units + self.first_die) % self.sheet.dies;
        usize::try_from(die).unwrap_or(0)
    }

    fn channel_of(&self, die: usize) -> usize {
        die % self.channels_ns.len()
    }

    /// When the controller has taken a command in.
    fn command(&mut self, now_ns: u64, busy_ns: u64) -> u64 {
        self.controller_ns = self.controller_ns.max(now_ns) + busy_ns;
        self.controller_ns
    }

    /// Logical units that a request touches.
    fn units(&self, request: &Request) -> std::ops::Range<u64> {
        request.sector / self.unit_sectors..request.end().div_ceil(self.unit_sectors)
    }

    fn read(&mut self, now_ns: u64, request: Request) {
        let sheet = &self.sheet;
        let (read_ns, suspend_ns) = (sheet.read_ns, sheet.suspend_ns);
        let overhead_ns = sheet.read_overhead_ns;
        let from_ns = self.command(now_ns, self.sheet.read_command_ns);
        let (mut first_ns, mut last_ns, mut sensed, mut sensed_ns) = (u64::MAX, from_ns, None, 0);
        for unit in self.units(&request) {
            let ready_ns = match self.layer.find(unit) {
                None => from_ns,
                Some(physical) => {
                    let die = self.die_of(physical);
                    // What one program wrote is read at once.
                    if sensed != Some(physical / self.program_units) {
                        sensed = Some(physical / self.program_units);
                        let free_ns = self.dies_ns[die].min(from_ns + suspend_ns);
                        sensed_ns = free_ns.max(from_ns) + read_ns;
                        let busy_ns = self.dies_ns[die].max(from_ns);
                        self.dies_ns[die] = busy_ns + read_ns;
                    }
                    let channel = self.channel_of(die);
                    let sent_ns = self.channels_ns[channel].max(sensed_ns) + self.unit_channel_ns;
                    self.channels_ns[channel] = sent_ns;
                    sent_ns
                }
            };
            first_ns = first_ns.min(ready_ns);
            last_ns = last_ns.max(ready_ns);
        }
        let bus_bytes_per_s = self.sheet.bus_bytes_per_s;
        let whole_ns = transfer_ns(request.bytes(), bus_bytes_per_s);
        let unit_ns = transfer_ns(self.sheet.unit_bytes.min(request.bytes()), bus_bytes_per_s);
        let begin_ns = self.bus_ns.max(first_ns.min(last_ns));
        self.bus_ns = (begin_ns + whole_ns).max(last_ns + unit_ns);
        self.finished.add(request.tag, self.bus_ns + overhead_ns);
    }

    fn write(&mut self, now_ns: u64, request: Request) {
        let taken_ns = self.command(now_ns, self.sheet.write_command_ns);
        let bus_ns = transfer_ns(request.bytes(), self.sheet.bus_bytes_per_s);
        let begin_ns = self.bus_ns.max(taken_ns);
        self.bus_ns = begin_ns + bus_ns;
        let (mut at_ns, units) = (begin_ns, self.units(&request));
        let count = units.end - units.start;
        for (number, unit) in (1..).zip(units) {
            // Units cross the interface one after another.
            at_ns = self.room(at_ns.max(begin_ns + bus_ns * number / count));
            at_ns = self.fill_up(at_ns, unit, &request);
            self.place(at_ns, unit);
        }
        let done_ns = if request.fua && !self.sheet.power_loss_protection {
            self.flush_at(at_ns)
        } else {
            at_ns
        };
        // Without room the data wait in front of the device, and so does what comes after them.
        self.bus_ns = self.bus_ns.max(at_ns);
        self.finished.add(request.tag, done_ns + self.sheet.write_overhead_ns);
    }

    /// When the rest of a unit is there of which a write has a part: it is read from flash, unless
    /// it is in the buffer or was never written.
    fn fill_up(&mut self, at_ns: u64, unit: u64, request: &Request) -> u64 {
        let begin = unit * self.unit_sectors;
        let is_whole = request.sector <= begin && begin + self.unit_sectors <= request.end();
        if is_whole || self.buffered_units.contains(&unit) {
            return at_ns;
        }
        let Some(physical) = self.layer.find(unit) else { return at_ns };
        let die = self.die_of(physical);
        let free_ns = self.dies_ns[die].min(at_ns + self.sheet.suspend_ns).max(at_ns);
        self.dies_ns[die] = self.dies_ns[die].max(at_ns) + self.sheet.read_ns;
        let channel = self.channel_of(die);
        let sensed_ns = free_ns + self.sheet.read_ns;
        let sent_ns = self.channels_ns[channel].max(sensed_ns) + self.unit_channel_ns;
        self.channels_ns[channel] = sent_ns;
        sent_ns
    }

    /// When the buffer has room for one more unit.
    fn room(&mut self, mut at_ns: u64) -> u64 {
        while let Some((done_ns, bytes)) = self.programs.front().copied() {
            let is_full = self.buffered_bytes + self.sheet.unit_bytes > self.sheet.buffer_bytes;
            if done_ns > at_ns && !is_full {
                break;
            }
            at_ns = at_ns.max(done_ns);
            self.buffered_bytes -= bytes;
            let units = usize::try_from(bytes / self.sheet.unit_bytes).unwrap_or(0);
            self.buffered_units.drain(..units.min(self.buffered_units.len()));
            self.programs.pop_front();
        }
        at_ns
    }

    /// Puts a unit into the buffer, and programs what is complete.
    fn place(&mut self, at_ns: u64, unit: u64) {
        self.buffered_bytes += self.sheet.unit_bytes;
        self.buffered_units.push_back(unit);
        self.is_dirty = true;
        let (physical, collected) = self.layer.write(unit);
        if collected.erased_blocks > 0 {
            self.collect(at_ns, collected.copied_units, collected.erased_blocks);
        }
        self.collecting += 1;
        self.last_die = self.die_of(physical);
        if self.collecting == self.program_units {
            self.program(at_ns, self.last_die);
        }
    }

    /// Sends what was collected to a die.
    fn program(&mut self, at_ns: u64, die: usize) {
        let bytes = self.collecting * self.sheet.unit_bytes;
        self.collecting = 0;
        let channel = self.channel_of(die);
        let sent_ns = self.channels_ns[channel].max(at_ns) + self.program_channel_ns;
        self.channels_ns[channel] = sent_ns;
        let takes_ns = self.program_time_ns(at_ns);
        let done_ns = self.dies_ns[die].max(sent_ns) + takes_ns;
        self.dies_ns[die] = done_ns;
        self.programmed_ns = self.programmed_ns.max(done_ns);
        self.programs.push_back((done_ns, bytes));
    }

    /// How long a program takes: less where there is room in the part of one bit a cell, which an
    /// idle device empties.
    fn program_time_ns(&mut self, at_ns: u64) -> u64 {
        let sheet = &self.sheet;
        if sheet.slc_bytes == 0 {
            return sheet.program_ns;
        }
        let idle_ns = at_ns.saturating_sub(self.programmed_ns).min(1 << 40);
        let folded = idle_ns / 1000 * (sheet.slc_fold_bytes_per_s / 1000) / 1000;
        self.slc_used_bytes = self.slc_used_bytes.saturating_sub(folded);
        if self.slc_used_bytes + sheet.program_bytes > sheet.slc_bytes {
            return sheet.program_ns;
        }
        self.slc_used_bytes += sheet.program_bytes;
        sheet.slc_program_ns
    }

    /// Garbage collection keeps all dies busy: copies are spread over them, an erase is of each.
    fn collect(&mut self, at_ns: u64, copied_units: u64, erased_blocks: u64) {
        let sheet = &self.sheet;
        let programs = copied_units.div_ceil(self.program_units);
        let copy_ns = programs * (sheet.read_ns + sheet.program_ns) / sheet.dies;
        // A block that is smaller than that of the sheet has its share of the erase.
        let sheet_units = sheet.block_bytes / sheet.unit_bytes * sheet.dies;
        let erase_ns = sheet.erase_ns * erased_blocks * self.layer.block_units() / sheet_units;
        for die_ns in &mut self.dies_ns {
            *die_ns = (*die_ns).max(at_ns) + copy_ns + erase_ns;
        }
    }

    /// When everything that was taken is on flash.
    fn flush_at(&mut self, at_ns: u64) -> u64 {
        if !self.is_dirty {
            return at_ns;
        }
        if self.collecting > 0 {
            let missing = self.program_units - self.collecting;
            self.layer.pad(missing);
            self.program(at_ns, self.last_die);
        }
        self.is_dirty = false;
        self.programmed_ns = self.programmed_ns.max(at_ns) + self.sheet.flush_map_ns;
        self.programmed_ns
    }

    fn discard(&mut self, now_ns: u64, request: Request) {
        let units = request.sector.div_ceil(self.unit_sectors)..request.end() / self.unit_sectors;
        units.for_each(|unit| self.layer.discard(unit));
        let done_ns = self.command(now_ns, self.sheet.write_command_ns);
        self.finished.add(request.tag, done_ns + self.sheet.write_overhead_ns);
    }
}

impl DeviceModel for Flash {
    fn submit(&mut self, now_ns: u64, request: Request) {
        match request.op {
            Op::Read => self.read(now_ns, request),
            Op::Write => self.write(now_ns, request),
            Op::Discard => self.discard(now_ns, request),
            Op::Flush => {
                let at_ns = self.command(now_ns, self.sheet.write_command_ns);
                let is_safe = self.sheet.power_loss_protection;
                let done_ns = if is_safe { at_ns } else { self.flush_at(at_ns.max(self.bus_ns)) };
                self.finished.add(request.tag, done_ns + self.sheet.write_overhead_ns);
            }
        }
    }

    fn poll(&mut self, now_ns: u64) -> Option<Completion> {
        self.finished.take(now_ns)
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.finished.next_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> FlashSheet {
        FlashSheet {
            channels: 4,
            dies: 16,
            channel_bytes_per_s: 400_000_000,
            unit_bytes: 4096,
            program_bytes: 32_768,
            block_bytes: 4 << 20,
            over_provisioning_permille: 70,
            read_ns: 60_000,
            program_ns: 1_500_000,
            erase_ns: 3_000_000,
            suspend_ns: 100_000,
            read_command_ns: 3_000,
            write_command_ns: 3_000,
            read_overhead_ns: 10_000,
            write_overhead_ns: 8_000,
            bus_bytes_per_s: 2_000_000_000,
            buffer_bytes: 8 << 20,
            power_loss_protection: false,
            flush_map_ns: 500_000,
            slc_bytes: 0,
            slc_program_ns: 0,
            slc_fold_bytes_per_s: 0,
        }
    }

    fn one(flash: &mut Flash, now_ns: u64, request: Request) -> u64 {
        flash.submit(now_ns, request);
        flash.poll(u64::MAX).expect("its end is known").at_ns
    }

    #[test]
    fn a_write_is_taken_into_the_buffer_and_a_flush_waits_for_the_program() {
        let mut flash = Flash::new(&sheet(), 1 << 30, 0);
        let written_ns = one(&mut flash, 0, Request::write(0, 0, 8));
        assert!(written_ns < 20_000, "{written_ns}");
        let flushed_ns = one(&mut flash, written_ns, Request::flush(0));
        assert!((2_000_000..2_300_000).contains(&(flushed_ns - written_ns)), "{flushed_ns}");
        let again_ns = one(&mut flash, flushed_ns, Request::flush(0));
        assert!(again_ns - flushed_ns < 20_000, "nothing to write");
        let fua_ns = one(&mut flash, again_ns, Request::write_fua(0, 0, 8));
        assert!(fua_ns - again_ns > 1_500_000);
        let safe = FlashSheet { power_loss_protection: true, ..sheet() };
        let mut flash = Flash::new(&safe, 1 << 30, 0);
        let written_ns = one(&mut flash, 0, Request::write(0, 0, 8));
        assert!(one(&mut flash, written_ns, Request::flush(0)) - written_ns < 20_000);
    }

    #[test]
    fn reads_take_a_sense_and_what_was_never_written_does_not() {
        let mut flash = Flash::new(&sheet(), 1 << 30, 0);
        let empty_ns = one(&mut flash, 0, Request::read(0, 0, 8));
        assert!(empty_ns < 20_000, "{empty_ns}");
        let mut now_ns = one(&mut flash, empty_ns, Request::write(0, 0, 64));
        now_ns = one(&mut flash, now_ns, Request::flush(0)) + 10_000_000;
        let read_ns = one(&mut flash, now_ns, Request::read(0, 0, 8)) - now_ns;
        assert!((80_000..90_000).contains(&read_ns), "{read_ns}");
        now_ns += 10_000_000;
        one(&mut flash, now_ns, Request::discard(0, 0, 64));
        now_ns += 10_000_000;
        assert!(one(&mut flash, now_ns, Request::read(0, 0, 8)) - now_ns < 20_000);
    }

    /// Writes of 4 KiB over what is there, one after the other; the time of one, ns.
    fn rewrite_ns(first_sector: u64) -> u64 {
        let small = FlashSheet { buffer_bytes: 64 << 10, ..sheet() };
        let mut flash = Flash::new(&small, 1 << 30, 0);
        let mut now_ns = 0;
        for at in 0..64 {
            now_ns = one(&mut flash, now_ns, Request::write(0, at * 2048, 2048));
        }
        now_ns = one(&mut flash, now_ns, Request::flush(0)) + 10_000_000;
        let begin_ns = now_ns;
        let all = 400;
        for number in 0..all {
            let sector = first_sector + number * 7919 % 16_000 * 8;
            now_ns = one(&mut flash, now_ns, Request::write(0, sector, 8));
        }
        (one(&mut flash, now_ns, Request::flush(0)) - begin_ns) / all
    }

    #[test]
    fn writes_that_miss_the_pages_touch_two_and_read_the_rest_of_both() {
        let (aligned_ns, missed_ns) = (rewrite_ns(2048), rewrite_ns(63));
        assert_eq!(aligned_ns, rewrite_ns(64), "a start that is a multiple of a page is none");
        let ratio = missed_ns as f64 / aligned_ns as f64;
        assert!(ratio > 2.0, "{missed_ns} ns against {aligned_ns} ns");
    }

    #[test]
    fn the_rest_of_a_page_is_not_read_where_it_is_in_the_buffer_or_was_never_written() {
        let mut flash = Flash::new(&sheet(), 1 << 30, 0);
        let first_ns = one(&mut flash, 0, Request::write(0, 63, 8));
        assert!(first_ns < 30_000, "never written: {first_ns}");
        let next_ns = one(&mut flash, first_ns, Request::write(0, 71, 8));
        assert!(next_ns - first_ns < 30_000, "its first half is in the buffer: {next_ns}");
        let flushed_ns = one(&mut flash, next_ns, Request::flush(0)) + 10_000_000;
        let read_ns = one(&mut flash, flushed_ns, Request::write(0, 65, 2)) - flushed_ns;
        assert!((60_000..90_000).contains(&read_ns), "read from flash: {read_ns}");
    }

    #[test]
    fn a_full_buffer_slows_writes_to_the_rate_of_the_dies() {
        let mut flash = Flash::new(&sheet(), 1 << 30, 0);
        let mut now_ns = 0;
        for at in 0..200 {
            now_ns = one(&mut flash, now_ns, Request::write(0, at * 2048, 2048));
        }
        let rate = 200.0 * f64::from(1 << 20) / now_ns as f64 * 1e3;
        // 16 dies of 32 KiB in 1.5 ms.
        assert!((330.0..400.0).contains(&rate), "{rate} MB/s");
    }
}
