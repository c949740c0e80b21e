//! Published studies in their own shape: what was printed, what their numbers give when they are
//! computed again, and the values of our machines next to them.
//!
//! Numbers and findings come from `fsarena-reference`, values of ours from a study; what is laid
//! out here is computed in neither place again. Printed numbers are shown as printed. A value of
//! ours that was not measured as the RUN asked, or not by all planned trials, is marked.

mod blocks;
mod machines;
mod measured;
mod model;
mod ours;
mod published;

pub use model::{OwnPhase, OwnRun};
pub(crate) use model::{ThenAndNow, ThenAndNowView};
pub(crate) use published::findings_table;

use crate::render::text::section;
use crate::render::{bbcode, markdown};
use crate::section::{Block, Owner, Section};
use crate::text::{MIN_WIDTH, Style, clean, escaped, wrap};
use fsarena_reference::{Article, RULE, Shape};

/// An article: its tables, what they give when computed again and what becomes of its conclusions;
/// then the RUNs of ours, one a machine.
#[must_use]
pub fn article(
    article: &Article,
    phases: &[OwnPhase],
    runs: &[OwnRun<'_>],
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = section(&Section::new(published::tables(article)), width, style);
    let findings = published::findings(article, width, style);
    if !findings.is_empty() {
        out.push_str(&format!("\n{findings}"));
    }
    if !runs.is_empty() {
        out.push_str(&format!("\n{}", in_shape_of(article, phases, runs, width, style)));
    }
    if let Shape::Cycles { inference, .. } = &article.shape {
        let owner = Owner::named(blocks::INFERENCE);
        let list = Block::List(Some(owner), blocks::suggestions(inference, runs));
        out.push_str(&format!("\n{}", section(&Section::new(vec![list]), width, style)));
    }
    out
}

/// The same as Markdown, a section for the article, for its conclusions and for ours.
#[must_use]
pub fn article_markdown(article: &Article, phases: &[OwnPhase], runs: &[OwnRun<'_>]) -> String {
    let all = titled_sections(article, phases, runs);
    let sections = all.iter().map(|(title, section)| markdown(title, section));
    std::iter::once(format!("# {}\n", escaped(article.title))).chain(sections).collect()
}

/// The same as BBCode, for a forum.
#[must_use]
pub fn article_bbcode(article: &Article, phases: &[OwnPhase], runs: &[OwnRun<'_>]) -> String {
    let all = titled_sections(article, phases, runs);
    let sections = all.iter().map(|(title, section)| bbcode::section(title, section));
    let title = format!("{}\n", bbcode::title(article.title));
    std::iter::once(title).chain(sections).collect()
}

/// The sections of an article that have something to show.
fn titled_sections(
    article: &Article,
    phases: &[OwnPhase],
    runs: &[OwnRun<'_>],
) -> Vec<(&'static str, Section)> {
    let tables = Section::new(published::tables(article));
    let mut all = vec![("As published, and computed again", tables)];
    if !article.findings.is_empty() {
        let findings = Block::Table(findings_table(article));
        let blocks = vec![Block::Note(RULE.to_owned()), findings];
        all.push(("What becomes of its conclusions", Section::new(blocks)));
    }
    if !runs.is_empty() {
        all.push(("Ours", own_section(article, phases, runs)));
    }
    if let Shape::Cycles { inference, .. } = &article.shape {
        let list = Block::List(None, blocks::suggestions(inference, runs));
        all.push((blocks::INFERENCE, Section::new(vec![list])));
    }
    all.retain(|(_, section)| !section.blocks.is_empty());
    all
}

/// RUNs of ours alone, one a machine, in the shape of the article that they repeat.
#[must_use]
pub fn in_shape_of(
    article: &Article,
    phases: &[OwnPhase],
    runs: &[OwnRun<'_>],
    width: usize,
    style: Style,
) -> String {
    section(&own_section(article, phases, runs), width, style)
}

/// The same as a section.
pub(crate) fn own_section(article: &Article, phases: &[OwnPhase], runs: &[OwnRun<'_>]) -> Section {
    let mut own = match &article.shape {
        Shape::Cycles { .. } => {
            let tables = runs.iter().filter_map(blocks::table).map(Block::Table);
            Section::new(tables.collect()).legend(blocks::LEGEND)
        }
        Shape::Rates { tests, .. } | Shape::Contenders { tests } | Shape::Machines { tests } => {
            let ours = ours::Ours::new(article, tests, phases, runs);
            let between = machines::widths(&ours).into_iter().chain(machines::tables(&ours));
            let mut blocks = ours.blocks(between.collect());
            if ours.has_machines() {
                blocks.extend(ours::every_trial(&ours));
            }
            Section::new(blocks)
        }
    };
    let mut notes: Vec<String> = runs.iter().flat_map(|run| run.notes).cloned().collect();
    if !notes.is_empty() {
        let mut known = std::collections::HashSet::new();
        notes.retain(|note| known.insert(note.clone()));
        own.blocks.push(Block::Heading("Ours, otherwise than the article".to_owned()));
        own.blocks.push(Block::List(None, notes));
    }
    own
}

/// The studies that are known (`reference` without a year).
#[must_use]
pub fn articles(list: &[(u16, &str)], width: usize) -> String {
    let width = width.max(MIN_WIDTH);
    list.iter().map(|(year, title)| wrap(&format!("{year}  "), &clean(title), width)).collect()
}

/// An article and a RUN that repeats it, as tables and values for a section of the page.
pub(crate) fn compared(article: &Article, phases: &[OwnPhase], run: OwnRun<'_>) -> ThenAndNowView {
    let (printed, others) = published::main_and_others(article);
    let runs = [run];
    match &article.shape {
        Shape::Cycles { rows, inference } => ThenAndNowView {
            printed,
            others,
            ours: blocks::table(&run).into_iter().collect(),
            missing: Vec::new(),
            tests: blocks::then_and_now(rows, &run),
            legend: blocks::LEGEND.to_owned(),
            inference: blocks::suggestions(inference, &runs),
        },
        Shape::Rates { tests, .. } | Shape::Contenders { tests } | Shape::Machines { tests } => {
            let ours = ours::Ours::new(article, tests, phases, &runs);
            ThenAndNowView {
                printed,
                others,
                ours: ours.tables().into_iter().chain(machines::widths(&ours)).collect(),
                missing: ours.missing(),
                tests: ours.then_and_now(),
                legend: ours.legend(),
                inference: Vec::new(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::Sample;
    use crate::section::Block;
    use fsarena_model::record::{CacheState, MemoryRecord, Outcome, TrialRecord};
    use fsarena_model::run::RunState;
    use fsarena_study::study;
    use fsarena_testkit::records;

    /// The article of a year and a RUN of ext4 and xfs, whose creation repeats the test.
    fn compared_year(year: u16, test: &str) -> ThenAndNowView {
        changed(year, test, |_, _| {})
    }

    /// The same, with records of two blocks as `change` leaves them.
    fn changed(
        year: u16,
        test: &str,
        mut change: impl FnMut(usize, &mut TrialRecord),
    ) -> ThenAndNowView {
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
        compared(&fsarena_reference::study(year).unwrap(), &phases, run)
    }

    #[test]
    fn rates_of_2003_stand_by_file_system_and_ours_by_contender() {
        let view = compared_year(2003, "write 5000 files of 256 B");
        assert_eq!((view.tests.len(), view.tests[0].then.len()), (7, 8));
        let test = &view.tests[0];
        assert_eq!(test.then[0], ("ext3 (Linux)".to_owned(), 127.03));
        // 5,000 files of 256 B in half a second by `returned`.
        assert_eq!(test.now, [(0, "ext4".into(), 2500.0), (1, "xfs".into(), 2500.0)]);
        assert!(test.more_is_better && view.tests[1].now.is_empty());
        assert!(matches!(&view.printed[0], Block::Table(table) if table.rows.len() == 7));
        assert_eq!(view.ours.len(), 2);
        assert!(view.ours[0].caption.contains("`returned`"), "{}", view.ours[0].caption);
    }

    #[test]
    fn seconds_are_found_with_tests_in_columns_and_in_rows() {
        for (year, test, places) in
            [(2005, "data_copy_s", 4), (2008, "untar", 8), (2010, "flac_copy_s", 3)]
        {
            let view = compared_year(year, test);
            let first = &view.tests[0];
            assert_eq!((first.then.len(), first.now.len()), (places, 2), "{year}");
            assert_eq!(first.now[0].2, 0.5, "{year}");
            assert!(!first.more_is_better);
            assert!(view.tests.iter().all(|test| !test.then.is_empty()), "{year}");
            assert_eq!(view.ours[0].rows[0][1].text, "0.500", "{year}");
        }
    }

    #[test]
    fn cycles_of_2007_have_three_figures_to_compare() {
        let sample = Sample::periodic();
        let run = sample.run();
        let own = OwnRun { header: run.header, records: run.records, study: run.study, notes: &[] };
        let view = compared(&fsarena_reference::study(2007).unwrap(), &[], own);
        let tests: Vec<(&str, usize, usize)> = view
            .tests
            .iter()
            .map(|test| (test.title.as_str(), test.then.len(), test.now.len()))
            .collect();
        assert_eq!(tests, [("Work time", 6, 6), ("Disk busy", 6, 6), ("Written", 6, 6)]);
        let tables = view
            .printed
            .iter()
            .chain(&view.others)
            .filter(|block| matches!(block, Block::Table(_)));
        assert_eq!((tables.count(), view.ours[0].rows.len()), (3, 12));
        assert!(view.inference[0].contains("inference"), "{:?}", view.inference);
    }

    #[test]
    fn an_article_is_markdown_too() {
        for (year, _) in fsarena_reference::list() {
            let article = fsarena_reference::study(year).unwrap();
            let text = article_markdown(&article, &[], &[]);
            assert!(text.starts_with("# ") && text.contains("\n## As published"), "{text}");
            assert!(text.contains("\n## What becomes of its conclusions\n"), "{text}");
            let widths = text.lines().filter(|line| line.starts_with('|'));
            assert!(widths.clone().count() > 10 && widths.clone().all(|l| l.ends_with('|')));
        }
    }

    #[test]
    fn an_article_is_bbcode_too() {
        for (year, _) in fsarena_reference::list() {
            let article = fsarena_reference::study(year).unwrap();
            let text = article_bbcode(&article, &[], &[]);
            let count = |tag: &str| text.matches(tag).count();
            assert!(count("[code]") > 1 && count("[code]") == count("[/code]"), "{text}");
            assert_eq!(count("[b]"), count("[/b]"), "{text}");
            assert!(text.contains("What becomes of its conclusions"), "{text}");
        }
    }

    #[test]
    fn the_best_is_the_highest_rate_and_the_shortest_time() {
        let test = |more_is_better| ThenAndNow {
            title: String::new(),
            unit: "s".into(),
            phase: None,
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
                let view = changed(year, test, |contender, record| {
                    // The fastest of the two, too.
                    if contender == 1 {
                        record.phases.iter_mut().for_each(|phase| phase.clocks.returned_ns /= 2);
                        change(record);
                    }
                });
                let test = &view.tests[0];
                let labels: Vec<&str> =
                    test.now.iter().map(|(_, label, _)| label.as_str()).collect();
                assert_eq!(labels, ["ext4"], "{year}: {why}");
                assert_eq!(test.best().1, Some(test.now[0].2), "{year}: {why}");
                let line = view.left_out().join("|");
                assert!(line.contains(": xfs: ") && line.contains(why), "{year}: {line}");
                assert_eq!(view.left_out().len(), 1, "{year}: {line}");
            }
        }
        let view = changed(2003, "write 5000 files of 256 B", |_, record| failed(record));
        assert!(view.tests[0].now.is_empty(), "none was measured in all trials");
    }
}
