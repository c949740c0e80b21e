//! From records by way of the study: what is shown of a RUN can be computed again from its file.

use super::shown;
use crate::golden::plain;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::Rule;
use fsarena_report::{phase_tables, verdict_headline, verdict_json};
use fsarena_study::study;
use fsarena_testkit::records::{self, SECOND_NS, contender, small_files};
use fsarena_verdict::{Verdicts, verdicts};

/// Four blocks of two contenders; xfs takes 1.3 times as long, both within 2 % of their means.
fn run() -> (RunHeader, Vec<TrialRecord>) {
    let mut workload = small_files();
    workload.phases.truncate(1);
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let mut header = records::header(contenders, vec![workload], 4);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 4 }));
    let mut all: Vec<TrialRecord> = (0..8).map(|at| records::record(&header, at)).collect();
    for record in &mut all {
        let slot = header.plan.schedule[record.key.sequence as usize];
        let percent = [100, 102, 101, 99][slot.block as usize]
            + [0, 30][slot.contender]
            + u64::from(record.key.sequence % 3);
        record.phases[0].clocks.durable_ns = Some(SECOND_NS / 100 * percent);
    }
    (header, all)
}

fn recomputed(header: &RunHeader, records: &[TrialRecord]) -> Verdicts {
    let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    verdicts(header, &[], &scores, None, &[]).unwrap()
}

#[test]
fn records_in_any_order_print_the_same_bytes() {
    let (header, mut records) = run();
    let first = recomputed(&header, &records);
    records.reverse();
    let second = recomputed(&header, &records);
    assert_eq!(verdict_json(&first).to_string(), verdict_json(&second).to_string());
    assert_eq!(shown(&first, 80), shown(&second, 80));
    let headline = verdict_headline(&first);
    assert!(headline.contains("ext4 is FASTER than xfs: 1.3"), "{headline}");
    assert!(headline.ends_with("], 4 blocks, margin ±5 %."), "{headline}");
}

#[test]
fn tables_of_phases_point_to_the_verdicts_where_there_are_any() {
    let (mut header, records) = run();
    let text = |header: &RunHeader| {
        let study = study(header, RunState::Done, &[], &records);
        phase_tables(&study, 80, plain()).replace('\n', " ")
    };
    let asked = text(&header);
    assert!(asked.contains("is said by the verdicts"), "{asked}");
    header.plan.verdict = None;
    let old = text(&header);
    assert!(old.contains("Whether a difference is real is not decided here."), "{old}");
    assert!(!old.contains("verdicts"), "{old}");
    assert!(verdicts(&header, &[], &[], None, &[]).is_none());
}
