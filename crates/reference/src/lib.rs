//! The published studies: their numbers, re-computed, and what falls with it.
//!
//! The files are in `reference/` and are part of the program: comment lines with the circumstances,
//! a header, one value or row a line. A study is one module that reads its file, lays its tables
//! out as they were printed and computes what can be computed from them; a new one is that module
//! and a line in `KNOWN`.
//!
//! Pure: nothing here reads a file, a clock or the machine. Printed numbers stay as printed; what
//! is computed is shown next to them and never in their place.
#![forbid(unsafe_code)]

mod article;
mod counterpart;
mod figures;
mod judgement;
mod lengths;
mod read;
mod reliability;
mod russian;
mod table;
mod y2003;
mod y2005;
mod y2007;
mod y2008;
mod y2010;

pub use article::{Article, BlockRow, Caches, Finding, RateRow, Shape};
pub use counterpart::Counterpart;
pub use figures::Holds;
pub use judgement::RULE;
pub use read::BadReference;
pub use reliability::{ReliabilityClaim, ReliabilitySentence, reliability_sentence};
pub use russian::claim_in_russian;
pub use table::{Cell, Line, Table, Test, rate_text};

use article::Contents;

/// A study of the table: how it is known, and what reads it.
struct Known {
    year: u16,
    title: &'static str,
    experiment: &'static str,
    /// Another experiment that repeats a part of it.
    part: Option<&'static str>,
    caches: Caches,
    /// Number of the table that it is about.
    main_table: usize,
    read: fn() -> Result<Contents, BadReference>,
}

const KNOWN: &[Known] = &[
    Known {
        year: 2003,
        title: "Comparison of popular file systems under Linux and FreeBSD (2003)",
        experiment: "2003-linux-vs-freebsd",
        part: None,
        caches: Caches::Cold,
        main_table: 0,
        read: y2003::contents,
    },
    Known {
        year: 2005,
        title: "FreeBSD 6 and AMD64: tests of file operations (2005)",
        experiment: "2005-file-operations",
        part: None,
        caches: Caches::ColdStart,
        main_table: 0,
        read: y2005::contents,
    },
    Known {
        year: 2007,
        title: "Study of UFS performance: sizes of block and fragment (2007)",
        experiment: "2007-ufs-block-fragment",
        part: None,
        caches: Caches::Warm,
        main_table: 0,
        read: y2007::contents,
    },
    Known {
        year: 2008,
        title: "All against all: 32 and 64 bits, AMD and Intel, tmpfs and ext3 (2008)",
        experiment: "2008-all-against-all",
        part: Some("2008-32-against-64"),
        caches: Caches::Warm,
        main_table: 1,
        read: y2008::contents,
    },
    Known {
        year: 2010,
        title: "SSD and ext4: journal modes, next to a hard disk (2010)",
        experiment: "2010-ssd-ext4-journal",
        part: None,
        caches: Caches::ColdStart,
        main_table: 0,
        read: y2010::contents,
    },
];

/// Year and title of the studies that are known, oldest first.
#[must_use]
pub fn list() -> Vec<(u16, &'static str)> {
    KNOWN.iter().map(|known| (known.year, known.title)).collect()
}

/// The study of a year.
///
/// ```
/// let study = fsarena_reference::study(2003).expect("it is known");
/// assert!(study.tables.iter().all(|table| !table.rows.is_empty()));
/// assert!(fsarena_reference::study(1999).is_none());
/// ```
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn study(year: u16) -> Option<Article> {
    KNOWN.iter().find(|known| known.year == year).map(article)
}

/// The study that an experiment repeats, or a part of it, by the experiment's name.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn of_experiment(name: &str) -> Option<Article> {
    let repeats = |known: &&Known| known.experiment == name || known.part == Some(name);
    KNOWN.iter().find(repeats).map(article)
}

fn article(known: &Known) -> Article {
    let contents = (known.read)().expect("every file of data is read by a test");
    Article {
        year: known.year,
        title: known.title,
        experiment: known.experiment,
        comments: contents.comments,
        tables: contents.tables,
        main_table: known.main_table,
        findings: contents.findings,
        caches: known.caches,
        shape: contents.shape,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_read_and_found_by_year_and_by_experiment() {
        let years: Vec<u16> = list().iter().map(|(year, _)| *year).collect();
        assert_eq!(years, [2003, 2005, 2007, 2008, 2010]);
        for known in KNOWN {
            let found = study(known.year).unwrap();
            assert_eq!(of_experiment(known.experiment), Some(found.clone()));
            assert!(known.experiment.starts_with(&known.year.to_string()));
            assert!(!found.comments.is_empty(), "{}", known.year);
            for table in &found.tables {
                assert!(table.is_whole(), "{}", table.title);
            }
            let main = &found.tables[found.main_table];
            assert!(!main.columns.iter().any(|head| head.starts_with("run ")), "{}", main.title);
            assert!((7..=15).contains(&found.findings.len()), "{}", known.year);
            for finding in &found.findings {
                assert!(finding.why.contains(|c: char| c.is_ascii_digit()), "{finding:?}");
            }
        }
        assert!(study(2004).is_none());
        assert!(of_experiment("quick").is_none());
    }
}
