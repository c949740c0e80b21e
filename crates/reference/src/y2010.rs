//! 2010: trees and files copied and deleted on ext4, on an SSD in two journal modes and on a hard
//! disk.

use crate::article::{Contents, Finding, Shape};
use crate::figures::{CLOCK_S, Holds, Interval, all};
use crate::judgement::{is_more, lies, stated};
use crate::lengths::{self, Lengths, named, outside};
use crate::read::{BadReference, Row, exactly, read};
use crate::table::{Test, listed};

const DATA: &str = include_str!("../../../reference/2010-ssd-ext4-journal.csv");
const HEADER: &str = "journal,device,flac_copy_s,portage_copy_s,avi_copy_s,iso_copy_s,\
                      portage_delete_s";

const TESTS: [Test; 5] = [
    Test::seconds("flac_copy_s", "Flac copied"),
    Test::seconds("portage_copy_s", "Portage copied"),
    Test::seconds("avi_copy_s", "Avi copied"),
    Test::seconds("iso_copy_s", "Iso copied"),
    Test::seconds("portage_delete_s", "Portage deleted"),
];

// Places in that list.
const FLAC: usize = 0;
const PORTAGE: usize = 1;
const AVI: usize = 2;
const ISO: usize = 3;
const DELETE: usize = 4;
const COPIES: [usize; 4] = [FLAC, PORTAGE, AVI, ISO];

/// Stated size of what is copied, MB (10^6 bytes).
const COPIED_MB: [f64; 4] = [357.0, 229.0, 3400.0, 586.0];
/// Files and directories of the Portage tree, as stated.
const PORTAGE_ENTRIES: f64 = 12_000.0;
/// What "the first kilobytes" is taken to reach to.
const SMALL_BYTES: f64 = 10_000.0;

struct PrintedRow {
    journal: String,
    times: Lengths,
}

impl PrintedRow {
    fn from_row(row: &Row) -> Result<Self, BadReference> {
        let [journal, device] = [0, 1].map(|at| row.text(at));
        let mut head = format!("{journal}, {device}");
        if let Some(first) = head.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let times = Lengths { head, seconds: row.numbers(2, 7)?, off_s: CLOCK_S };
        Ok(Self { journal, times })
    }

    fn rate(&self, test: usize) -> Interval {
        self.times.time(test).rate(COPIED_MB[test])
    }

    fn over(&self, other: &Self, test: usize) -> Interval {
        self.times.over(&other.times, test)
    }
}

struct PrintedRows {
    ordered: PrintedRow,
    writeback: PrintedRow,
    disk: PrintedRow,
}

impl PrintedRows {
    fn all(&self) -> [&PrintedRow; 3] {
        [&self.ordered, &self.writeback, &self.disk]
    }
}

pub(crate) fn contents() -> Result<Contents, BadReference> {
    let (comments, rows) = read(DATA, HEADER)?;
    let places = rows.iter().map(PrintedRow::from_row).collect::<Result<Vec<_>, _>>()?;
    let [ordered, writeback, disk] = exactly(places)?;
    let places = PrintedRows { ordered, writeback, disk };
    let PrintedRows { ordered, writeback, disk } = &places;
    let rows = places.all().map(|row| &row.times);
    let minutes = |s: f64| format!("{:02.0}:{:02.0}", (s / 60.0).floor(), s % 60.0);
    let ratios = lengths::ratios(
        &TESTS,
        &[
            ("writeback / ordered, both SSD", &writeback.times, &ordered.times),
            ("HDD / SSD, both ordered", &disk.times, &ordered.times),
        ],
    );
    let tables = vec![
        lengths::printed("Minutes and seconds, as printed", "mm:ss", &TESTS, &rows, minutes),
        ratios.note(
            "Bounds: a length by whole seconds is off by less than one second. How often a test \
             was repeated, and how far the repeats lay apart, is not published.",
        ),
        lengths::rates(&TESTS, &COPIED_MB.map(Some), &rows, 1).note(
            "From the stated sizes, 357, 229, 3,400 and 586 MB of 10^6 bytes. A copy reads as \
             much from the same device.",
        ),
    ];
    let findings = findings(&places);
    Ok(Contents { comments, tables, findings, shape: Shape::Contenders { tests: TESTS.to_vec() } })
}

fn list(tests: &[usize], of: impl Fn(usize) -> Interval) -> String {
    listed(&TESTS, tests, of)
}

fn findings(places: &PrintedRows) -> Vec<Finding> {
    vec![
        faster_on_three(places),
        by_so_much(places),
        slow_with_small_files(places),
        no_gain_in_deleting(places),
        journal_modes_alike(places),
        writeback_loses(places),
        the_device_was_measured(places),
        as_many_files(),
    ]
}

/// What is said of a difference, since repeats are not stated.
const FROM: &str = "repeats are not stated; a difference is told from 10 % on, whatever the clock \
                    cut off";

fn faster_on_three(places: &PrintedRows) -> Finding {
    let ratio = |test| places.disk.over(&places.ordered, test);
    let tests = [FLAC, AVI, ISO];
    Finding {
        claim: "By the time `cp` came back, the SSD is faster than the hard disk in three of the \
                four copies",
        holds: all(tests.map(|test| is_more(ratio(test)))),
        why: format!("HDD / SSD: {}; {}", list(&tests, ratio), FROM),
    }
}

fn by_so_much(places: &PrintedRows) -> Finding {
    let ratio = |test| places.disk.over(&places.ordered, test);
    let tests = [FLAC, AVI, ISO];
    let (least, most) = (stated(1.5).0, stated(2.0).1);
    let each = tests.map(|test| lies(ratio(test), (least, most)));
    let beyond = outside(tests, ratio, (1.5, 2.0));
    let beyond = if beyond.is_empty() {
        String::new()
    } else {
        format!("; outside 1.50 to 2.00 whatever the clock cut off: {}", named(&TESTS, &beyond))
    };
    Finding {
        claim: "In these three the SSD is loosely one and a half times or twice as fast",
        holds: all(each),
        why: format!(
            "HDD / SSD: {} (bounds are not reached); as stated is {least:.2} to {most:.2}{beyond}",
            list(&tests, ratio)
        ),
    }
}

fn slow_with_small_files(places: &PrintedRows) -> Finding {
    let ratio = |test| places.ordered.over(&places.disk, test);
    Finding {
        claim: "Copying very many small files the SSD is slower than the hard disk",
        holds: is_more(ratio(PORTAGE)),
        why: format!("SSD / HDD: {}; {}", list(&[PORTAGE], ratio), FROM),
    }
}

fn no_gain_in_deleting(places: &PrintedRows) -> Finding {
    let ratio = |test| places.ordered.over(&places.disk, test);
    Finding {
        claim: "Deleting them the SSD loses to the hard disk too",
        holds: is_more(ratio(DELETE)),
        why: format!("SSD / HDD: {}; {}", list(&[DELETE], ratio), FROM),
    }
}

fn journal_modes_alike(places: &PrintedRows) -> Finding {
    let ratio = |test| places.writeback.over(&places.ordered, test);
    let apart = |&test: &usize| {
        let gap_s = places.writeback.times.seconds[test] - places.ordered.times.seconds[test];
        gap_s.abs() >= 2.0 * CLOCK_S
    };
    let beyond: Vec<usize> = COPIES.into_iter().filter(apart).collect();
    let holds = if beyond.is_empty() { Holds::Holds } else { Holds::CannotBeTold };
    let more = if beyond.is_empty() {
        "none differs by more than the clock explains".to_owned()
    } else {
        format!(
            "more than the clock explains: {}; the error of the experiment is not stated",
            named(&TESTS, &beyond)
        )
    };
    Finding {
        claim: "In copies, writeback and ordered differ by no more than the error of the \
                experiment",
        holds,
        why: format!("writeback / ordered: {}; {more}", list(&COPIES, ratio)),
    }
}

fn writeback_loses(places: &PrintedRows) -> Finding {
    let ratio = |test| places.writeback.over(&places.ordered, test);
    Finding {
        claim: "Deleting the Portage tree, writeback loses to ordered",
        holds: is_more(ratio(DELETE)),
        why: format!(
            "{:.0} s and {:.0} s by a clock of whole seconds, writeback / ordered: {}; {}",
            places.writeback.times.seconds[DELETE],
            places.ordered.times.seconds[DELETE],
            list(&[DELETE], ratio),
            FROM
        ),
    }
}

/// Short copies at a higher rate than the long one may have ended before their data lay on the
/// device, or have read what was in memory: which of them, the article does not let tell.
fn the_device_was_measured(places: &PrintedRows) -> Finding {
    let ssd = [&places.ordered, &places.writeback];
    let faster = |place: &&&PrintedRow| {
        [FLAC, ISO].iter().any(|&test| place.rate(test).low > place.rate(AVI).high)
    };
    let shorter_at_higher_rates = ssd.iter().filter(faster).count();
    let shown = |place: &&PrintedRow| {
        let [flac, iso, avi] = [FLAC, ISO, AVI].map(|test| place.rate(test));
        format!(
            "{}: flac {:.0} ({:.0}-{:.0}), iso {:.0} ({:.0}-{:.0}), avi {:.0} ({:.0}-{:.0})",
            place.journal,
            flac.value,
            flac.low,
            flac.high,
            iso.value,
            iso.low,
            iso.high,
            avi.value,
            avi.low,
            avi.high
        )
    };
    let shown: Vec<String> = ssd.iter().map(shown).collect();
    Finding {
        claim: "The seconds of the short copies are what the SSD took",
        holds: Holds::CannotBeTold,
        why: format!(
            "memory and what was in the caches are not stated; MB/s, {}: in {} of {} rows a short \
             copy is faster than that of the file of 3.4 GB, which reads or writes in the page \
             cache would explain",
            shown.join("; "),
            shorter_at_higher_rates,
            ssd.len()
        ),
    }
}

fn as_many_files() -> Finding {
    let mean_bytes = COPIED_MB[PORTAGE] * 1e6 / PORTAGE_ENTRIES;
    let tenfold_bytes = mean_bytes / 10.0;
    Finding {
        claim: "A Portage tree of little more than 12 thousand files and directories, a few \
                hundred bytes to a few KB each, takes 229 MB",
        holds: if mean_bytes <= SMALL_BYTES { Holds::Holds } else { Holds::Falls },
        why: format!(
            "229 MB / 12,000 = {mean_bytes:.0} bytes each; with ten times as many entries it is \
             {tenfold_bytes:.0}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(start: &str) -> Finding {
        let found = contents().unwrap().findings;
        found.into_iter().find(|finding| finding.claim.starts_with(start)).unwrap()
    }

    #[test]
    fn the_printed_table_is_in_minutes_and_seconds() {
        let printed = contents().unwrap().tables.remove(0);
        assert_eq!(printed.rows[2].head, "Ordered, HDD");
        let texts: Vec<&str> = printed.rows[2].cells.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["00:10", "00:15", "01:44", "00:19", "00:04"]);
        assert_eq!(printed.rows[0].cells[AVI].text, "01:03");
    }

    #[test]
    fn ratios_and_rates_have_the_bounds_of_the_clock() {
        let tables = contents().unwrap().tables;
        assert_eq!(tables[1].rows[0].cells[FLAC].text, "0.50 (0.20-1.00)");
        assert_eq!(tables[1].rows[0].cells[DELETE].text, "1.67 (1.29-2.20)");
        // 357 MB in 1 to 3 s, 3,400 MB in 62 to 64 s.
        assert_eq!(tables[2].rows[1].cells[FLAC].text, "178.5 (119.0-357.0)");
        assert_eq!(tables[2].rows[0].cells[AVI].text, "54.0 (53.1-54.8)");
    }

    #[test]
    fn the_ssd_is_faster_in_three_copies_and_by_how_much_cannot_be_told() {
        let found = finding("By the time `cp` came back");
        assert_eq!(found.holds, Holds::Holds);
        assert!(found.why.ends_with("from 10 % on, whatever the clock cut off"), "{}", found.why);
        let found = finding("In these three");
        assert_eq!(found.holds, Holds::CannotBeTold);
        assert!(found.why.contains("flac copied 2.50 (1.80-3.67)"), "{}", found.why);
        // 18 s / 9 s is a bound that is not reached.
        assert!(found.why.ends_with("whatever the clock cut off: iso copied"), "{}", found.why);
        assert_eq!(finding("Copying very many").holds, Holds::Holds);
        assert_eq!(finding("Deleting them").holds, Holds::CannotBeTold);
    }

    #[test]
    fn journal_modes_cannot_be_told_apart_without_repeats() {
        let found = finding("In copies");
        assert_eq!(found.holds, Holds::CannotBeTold);
        assert!(found.why.contains("explains: flac copied, portage copied;"), "{}", found.why);
        assert_eq!(finding("Deleting the Portage").holds, Holds::Holds);
    }

    #[test]
    fn what_the_short_copies_measured_cannot_be_told() {
        let found = finding("The seconds");
        assert_eq!(found.holds, Holds::CannotBeTold);
        assert!(found.why.starts_with("memory and what was in the caches are not stated"));
        assert!(found.why.contains("in 2 of 2 rows"), "{}", found.why);
        assert!(found.why.contains("writeback: flac 178 (119-357)"), "{}", found.why);
    }

    #[test]
    fn so_few_small_files_do_not_make_so_many_bytes() {
        let found = finding("A Portage tree");
        assert_eq!(found.holds, Holds::Falls);
        assert!(found.why.contains("19083 bytes") && found.why.contains("1908"), "{}", found.why);
    }
}
