//! An article and one RUN of ours as plain tables and values, for documents that lay them out
//! themselves.

use super::model::{Beside, PlainTable};
use super::seconds::Ours;
use super::{blocks, rates};
use crate::article::model::{OwnPhase, OwnRun};
use fsarena_reference::{Article, Shape, Table};

/// An article beside a RUN that repeats it.
#[must_use]
pub fn beside(article: &Article, phases: &[OwnPhase], run: OwnRun<'_>) -> Beside {
    let tests = match &article.shape {
        Shape::Rates { rows } => {
            let rows = rates::rows(rows, phases);
            let (printed, ours) = rates::plain(&rows, run.study);
            return Beside {
                printed: vec![printed],
                ours,
                tests: rates::then_and_now(&rows, run.study),
                legend: rates::legend(Some(run.study)),
                inference: Vec::new(),
            };
        }
        Shape::Cycles { rows, inference } => {
            return Beside {
                printed: article.tables.iter().map(plain).collect(),
                ours: blocks::plain(&run),
                tests: blocks::then_and_now(rows, &run),
                legend: blocks::LEGEND.to_owned(),
                inference: blocks::suggestions(inference, &[run]),
            };
        }
        Shape::Contenders { tests } | Shape::Machines { tests } => tests,
    };
    let runs = [run];
    let ours = Ours::new(article, tests, phases, &runs);
    // The seconds of all that was compared, with tests in columns or in rows.
    let all = article.tables.iter().find(|table| {
        let in_columns = tests.iter().map(|test| test.heading).eq(table.columns.iter());
        let in_rows = tests.iter().map(|test| test.name).eq(table.rows.iter().map(|row| &row.head));
        matches!(table.unit, "s" | "mm:ss") && (in_columns || (in_rows && !is_of_repeats(table)))
    });
    Beside {
        printed: article.tables.iter().map(plain).collect(),
        ours: ours.plain(),
        tests: ours.then_and_now(all),
        legend: ours.legend(),
        inference: Vec::new(),
    }
}

/// Whether the columns of a table are runs of one thing.
fn is_of_repeats(table: &Table) -> bool {
    table.columns.iter().any(|column| column.starts_with("run "))
}

fn plain(table: &Table) -> PlainTable {
    let text = |cell: &fsarena_reference::Cell| {
        if cell.text.is_empty() { "-".to_owned() } else { cell.text.clone() }
    };
    PlainTable {
        title: table.title.clone(),
        columns: table.columns.clone(),
        rows: table
            .rows
            .iter()
            .map(|row| (row.head.clone(), row.cells.iter().map(text).collect()))
            .collect(),
        footnotes: table.notes.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::ThenAndNow;
    use super::*;
    use fsarena_model::record::{CacheState, MemoryRecord, Outcome, TrialRecord};
    use fsarena_model::run::RunState;
    use fsarena_study::study;
    use fsarena_testkit::records;

    /// The article of a year beside a RUN of ext4 and xfs, whose creation repeats the test.
    fn beside_year(year: u16, test: &str) -> Beside {
        changed(year, test, |_, _| {})
    }

    /// The same, with records of two blocks as `change` leaves them.
    fn changed(year: u16, test: &str, mut change: impl FnMut(usize, &mut TrialRecord)) -> Beside {
        let contenders = ["ext4", "xfs"].map(|fs| records::contender(fs, fs, 1)).to_vec();
        let header = records::header(contenders, vec![records::small_files()], 2);
        let mut records: Vec<_> = (0..4).map(|at| records::record(&header, at)).collect();
        for (slot, record) in header.plan.schedule.iter().zip(&mut records) {
            change(slot.contender, record);
        }
        let study = study(&header, RunState::Done, &[], &records);
        let phases = [OwnPhase {
            title: test.to_owned(),
            workload: "small-files".to_owned(),
            phase: "create".to_owned(),
        }];
        let run = OwnRun { header: &header, records: &records, study: &study, notes: &[] };
        beside(&fsarena_reference::study(year).unwrap(), &phases, run)
    }

    #[test]
    fn rates_of_2003_stand_by_file_system_and_ours_by_contender() {
        let beside = beside_year(2003, "write 5000 files of 256 B");
        assert_eq!((beside.tests.len(), beside.tests[0].then.len()), (7, 8));
        let test = &beside.tests[0];
        assert_eq!(test.then[0], ("ext3 (Linux)".to_owned(), 127.03));
        // 5,000 files of 256 B in half a second by `returned`.
        assert_eq!(test.now, [(0, "ext4".into(), 2500.0), (1, "xfs".into(), 2500.0)]);
        assert!(test.more_is_better && beside.tests[1].now.is_empty());
        assert_eq!((beside.printed[0].rows.len(), beside.ours.len()), (7, 2));
        assert!(beside.ours[0].title.contains("`returned`"), "{}", beside.ours[0].title);
    }

    #[test]
    fn seconds_are_found_with_tests_in_columns_and_in_rows() {
        for (year, test, places) in
            [(2005, "data_copy_s", 4), (2008, "untar", 8), (2010, "flac_copy_s", 3)]
        {
            let beside = beside_year(year, test);
            let first = &beside.tests[0];
            assert_eq!((first.then.len(), first.now.len()), (places, 2), "{year}");
            assert_eq!(first.now[0].2, 0.5, "{year}");
            assert!(!first.more_is_better);
            assert!(beside.tests.iter().all(|test| !test.then.is_empty()), "{year}");
            assert_eq!(beside.ours[0].rows[0].1[0].split(' ').next(), Some("0.500"), "{year}");
        }
    }

    #[test]
    fn the_best_is_the_highest_rate_and_the_shortest_time() {
        let test = |more_is_better| ThenAndNow {
            title: String::new(),
            unit: "s".into(),
            more_is_better,
            then: vec![("a".into(), 2.0), ("b".into(), 4.0), ("none".into(), 0.0)],
            now: Vec::new(),
            left_out: Vec::new(),
        };
        assert_eq!(test(true).best(), (Some(4.0), None));
        assert_eq!(test(false).best(), (Some(2.0), None));
    }

    type Change<'a> = &'a dyn Fn(&mut TrialRecord);

    #[test]
    fn what_was_not_measured_as_asked_is_in_no_ratio() {
        let warm = |record: &mut TrialRecord| {
            record.phases[0].cache.state = CacheState::Warm;
            record.phases[0].cache.why = "busy".to_owned();
        };
        let unlimited = |record: &mut TrialRecord| {
            record.phases[0].memory =
                MemoryRecord::NotLimited { limit_bytes: 1 << 20, reason: "no cgroup".to_owned() };
        };
        let failed = |record: &mut TrialRecord| {
            if record.key.block == 1 {
                let (step, error) = ("mount".to_owned(), "busy".to_owned());
                record.outcome = Outcome::Failed { step, error, remedy: None };
                record.phases.clear();
            }
        };
        let changes: [(Change<'_>, &str); 3] = [
            (&warm, "warm, though cold was asked for: busy"),
            (&unlimited, "memory not limited to 1 MiB: no cgroup"),
            (&failed, "1 of 2 planned trials"),
        ];
        for (year, test) in [(2003, "write 5000 files of 256 B"), (2005, "data_copy_s")] {
            for (change, why) in &changes {
                let beside = changed(year, test, |contender, record| {
                    // The fastest of the two, too.
                    if contender == 1 {
                        record.phases.iter_mut().for_each(|phase| phase.clocks.returned_ns /= 2);
                        change(record);
                    }
                });
                let test = &beside.tests[0];
                let labels: Vec<&str> =
                    test.now.iter().map(|(_, label, _)| label.as_str()).collect();
                assert_eq!(labels, ["ext4"], "{year}: {why}");
                assert_eq!(test.best().1, Some(test.now[0].2), "{year}: {why}");
                let line = beside.left_out().join("|");
                assert!(line.contains(": xfs: ") && line.contains(why), "{year}: {line}");
                assert_eq!(beside.left_out().len(), 1, "{year}: {line}");
            }
        }
        let beside = changed(2003, "write 5000 files of 256 B", |_, record| failed(record));
        assert!(beside.tests[0].now.is_empty(), "none was measured in all trials");
    }
}
