//! A RUN as Markdown, over the hand-made records of the tables and verdicts.

use crate::golden::verdict::{against, pair, question, row, verdicts};
use crate::golden::{plain, run_of, sample};
use fsarena_model::run::RunState;
use fsarena_model::verdict::Verdict;
use fsarena_report::{Style, markdown};
use fsarena_study::study;

#[test]
fn a_run_with_verdicts() {
    let (header, records) = sample();
    let study = study(&header, RunState::Interrupted, &[], &records);
    let rows = vec![
        row(0, "xfs", 1.0e9, 1.0),
        against(row(1, "ext4", 1.3e9, 1.3), Verdict::Slower, 1.24, 1.38),
    ];
    let pairs = vec![pair((0, "xfs"), (1, "ext4"), Verdict::Faster, [0.769, 0.725, 0.806])];
    let verdicts = verdicts(vec![question(rows, pairs)]);
    let run = run_of(&header, &records, &study, Some(&verdicts));
    let text = markdown(&run, plain());
    insta::assert_snapshot!(text);
    assert_eq!(text, markdown(&run, Style { bars: true, ..plain() }));
}

/// Whatever stands in a name, every row has as many cells as its heading, and nothing is a tag.
#[test]
fn names_stay_text() {
    for label in ["a|b", "<script>alert(1)</script>", "x\n| y |", "`", "\\|", "[a](javascript:b)"] {
        let (mut header, records) = sample();
        header.plan.contenders[0].label = label.to_owned();
        header.title = format!("{label}\n# {label}");
        let study = study(&header, RunState::Done, &[], &records);
        let text = markdown(&run_of(&header, &records, &study, None), plain());
        let mut cells = None;
        for line in text.lines() {
            assert!(!line.contains("<script"), "{line}");
            assert!(!line.contains("](javascript"), "{line}");
            if !line.starts_with('|') {
                cells = None;
                continue;
            }
            let plain = line.replace("\\\\", "").replace("\\|", "");
            let count = plain.matches('|').count();
            assert_eq!(*cells.get_or_insert(count), count, "{label:?}: {line}");
        }
        assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1);
    }
}

/// Bars and lines stand where the caller says so, and never make a table wider than it may be.
#[test]
fn bars_of_a_terminal() {
    let (header, records) = sample();
    let style = Style { bars: true, ..plain() };
    let rows = vec![
        row(0, "xfs", 1.0e9, 1.0),
        against(row(1, "ext4", 1.3e9, 1.3), Verdict::Slower, 1.24, 1.38),
        against(row(2, "btrfs", 4.0e9, 4.0), Verdict::Slower, 3.9, 4.1),
    ];
    let verdicts = verdicts(vec![question(rows, Vec::new())]);
    let text = fsarena_report::verdict_tables(&verdicts, fsarena_report::Detail::Brief, 100, style);
    let table: Vec<&str> = text.lines().skip(2).take(6).collect();
    insta::assert_snapshot!(table.join("\n"));
    for width in [80, 100, 120] {
        let raw = fsarena_report::raw_values(&header, &records, width, style);
        assert!(raw.contains("durable by block, least to largest") && raw.contains('█'));
        assert!(raw.lines().all(|line| line.chars().count() <= width), "{raw}");
    }
    let without = fsarena_report::raw_values(&header, &records, 80, plain());
    assert!(!without.contains("by block"));
}
