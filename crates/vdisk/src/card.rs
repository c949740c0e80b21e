//! A memory card: allocation units of some MiB, of which few are open at once. A write to another
//! one closes the one that was not used for longest: what was not written in it is copied.
//!
//! The mechanism is the one that flashbench looks for; its README describes it.

use crate::finished::{Finished, transfer_ns};
use crate::request::{Completion, DeviceModel, Op, Request, SECTOR_BYTES};
use crate::sheet::CardSheet;

/// A memory card.
#[derive(Clone, Debug)]
pub struct Card {
    sheet: CardSheet,
    unit_sectors: u64,
    /// The one that was used last is last.
    open: Vec<OpenUnit>,
    free_ns: u64,
    finished: Finished,
}

/// An open allocation unit.
#[derive(Clone, Copy, Debug)]
struct OpenUnit {
    number: u64,
    /// Written since it was opened, at most all of it.
    written_sectors: u64,
}

impl Card {
    #[must_use]
    pub fn new(sheet: &CardSheet) -> Self {
        let most = usize::try_from(sheet.open_units).unwrap_or(1);
        Self {
            sheet: sheet.clone(),
            unit_sectors: sheet.allocation_unit_bytes / SECTOR_BYTES,
            open: Vec::with_capacity(most),
            free_ns: 0,
            finished: Finished::new(),
        }
    }

    /// What a write takes besides its command.
    fn write_ns(&mut self, request: &Request) -> u64 {
        let mut takes_ns = transfer_ns(request.bytes(), self.sheet.write_bytes_per_s);
        let mut sector = request.sector;
        while sector < request.end() {
            let number = sector / self.unit_sectors;
            let end = ((number + 1) * self.unit_sectors).min(request.end());
            takes_ns += self.write_unit_ns(number, end - sector);
            sector = end;
        }
        takes_ns
    }

    /// What a write of so many sectors of one allocation unit takes besides.
    fn write_unit_ns(&mut self, number: u64, sectors: u64) -> u64 {
        let mut takes_ns = 0;
        if sectors < self.unit_sectors {
            takes_ns += kib_ns(sectors, self.sheet.partial_ns_per_kib);
        }
        let unit = match self.open.iter().position(|unit| unit.number == number) {
            Some(at) => self.open.remove(at),
            None => {
                if self.open.len() as u64 == self.sheet.open_units {
                    let closed = self.open.remove(0);
                    let left = self.unit_sectors - closed.written_sectors;
                    takes_ns += self.sheet.close_ns;
                    takes_ns += kib_ns(left, self.sheet.close_copy_ns_per_kib);
                }
                OpenUnit { number, written_sectors: 0 }
            }
        };
        let written_sectors = (unit.written_sectors + sectors).min(self.unit_sectors);
        self.open.push(OpenUnit { number, written_sectors });
        takes_ns
    }
}

/// So many sectors at a time for each KiB.
fn kib_ns(sectors: u64, ns_per_kib: u64) -> u64 {
    sectors * ns_per_kib / 2
}

impl DeviceModel for Card {
    fn submit(&mut self, now_ns: u64, request: Request) {
        let takes_ns = match request.op {
            Op::Read => {
                let data_ns = transfer_ns(request.bytes(), self.sheet.read_bytes_per_s);
                self.sheet.read_command_ns + data_ns
            }
            Op::Write => self.sheet.write_command_ns + self.write_ns(&request),
            // A card keeps nothing back.
            Op::Flush | Op::Discard => 0,
        };
        self.free_ns = self.free_ns.max(now_ns) + takes_ns;
        self.finished.add(request.tag, self.free_ns);
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

    fn card() -> Card {
        Card::new(&CardSheet {
            allocation_unit_bytes: 4 << 20,
            open_units: 2,
            read_command_ns: 700_000,
            write_command_ns: 4_000_000,
            read_bytes_per_s: 18_000_000,
            write_bytes_per_s: 10_000_000,
            partial_ns_per_kib: 30_000,
            close_ns: 60_000_000,
            close_copy_ns_per_kib: 48_000,
        })
    }

    fn write_ns(card: &mut Card, unit: u64, sectors: u32) -> u64 {
        let from_ns = card.free_ns;
        card.submit(from_ns, Request::write(0, unit * 8192, sectors));
        card.poll(u64::MAX).unwrap().at_ns - from_ns
    }

    #[test]
    fn a_third_unit_closes_the_first() {
        let mut card = card();
        let near_ns = write_ns(&mut card, 0, 512);
        assert_eq!(near_ns, 4_000_000 + 26_214_400 + 256 * 30_000);
        assert_eq!(write_ns(&mut card, 1, 512), near_ns, "two are open");
        let far_ns = write_ns(&mut card, 2, 512);
        assert_eq!(far_ns - near_ns, 60_000_000 + (4096 - 256) * 48_000);
        assert_eq!(write_ns(&mut card, 1, 512), near_ns, "it is open still");
        assert_eq!(write_ns(&mut card, 0, 512), far_ns, "it is not");
    }

    #[test]
    fn a_whole_unit_leaves_nothing_to_be_copied() {
        let mut card = card();
        let whole_ns = write_ns(&mut card, 0, 8192);
        assert_eq!(whole_ns, 4_000_000 + 419_430_400);
        write_ns(&mut card, 1, 8192);
        assert_eq!(write_ns(&mut card, 2, 8192) - whole_ns, 60_000_000);
    }
}
