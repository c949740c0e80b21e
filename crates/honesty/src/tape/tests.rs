//! Tapes from records and scores.

use super::*;
use fsarena_model::record::{CacheState, TrialRecord};
use fsarena_testkit::records;

fn plan(contenders: &[&str], workloads: bool, blocks: u32) -> fsarena_model::run::RunHeader {
    let contenders = contenders.iter().map(|label| records::contender(label, label, 1)).collect();
    let mut all = vec![records::small_files()];
    if workloads {
        all.push(records::big_file());
    }
    records::header(contenders, all, blocks)
}

/// Every trial of the plan; phase lengths are the sequence in ms.
fn scores(header: &fsarena_model::run::RunHeader) -> Vec<TrialScore> {
    let record = |sequence: u32| -> TrialRecord {
        let mut record = records::record(header, sequence);
        for phase in &mut record.phases {
            phase.clocks.durable_ns = Some(u64::from(sequence + 1) * 1_000_000);
        }
        record
    };
    let count = u32::try_from(header.plan.schedule.len()).unwrap();
    (0..count).map(|sequence| TrialScore::from_record(&record(sequence))).collect()
}

#[test]
fn a_tape_a_phase_in_order_of_time() {
    let header = plan(&["ext4"], true, 3);
    let mut scores = scores(&header);
    scores.reverse();
    let tapes = tapes("RUN 1", &header.plan, &scores).unwrap();
    let names: Vec<_> = tapes.iter().map(|tape| tape.phase.as_str()).collect();
    assert_eq!(names, ["create", "read-random", "delete", "write"]);
    // Workloads alternate in a block: sequences 0, 2, 4 and 1, 3, 5.
    assert_eq!(tapes[0].values, [1e6, 3e6, 5e6]);
    assert_eq!(tapes[3].values, [2e6, 4e6, 6e6]);
    assert_eq!(tapes[0].elapsed_s, [5.0, 5.0, 5.0]);
    assert_eq!(tapes[3].elapsed_s, [3.0, 3.0, 3.0]);
    assert!(tapes[0].started_unix_ns.is_sorted());
    assert_eq!(tapes[0].left, LeftOut::default());
}

#[test]
fn two_contenders_make_no_tape() {
    let header = plan(&["ext4", "xfs"], false, 3);
    let error = tapes("RUN 7", &header.plan, &scores(&header)).unwrap_err();
    assert!(error.to_string().starts_with("RUN 7 has 2 contenders: a tape is of one"), "{error}");
}

#[test]
fn no_trials_make_no_tape() {
    let header = plan(&["ext4"], false, 3);
    let error = tapes("RUN 7", &header.plan, &[]).unwrap_err();
    assert_eq!(error, TapeError::Nothing { source_name: "RUN 7".to_owned() });
}

#[test]
fn what_is_not_on_the_tape_is_counted() {
    let header = plan(&["ext4"], false, 7);
    let mut scores = scores(&header);
    scores[1].is_interrupted = true;
    scores[2].phases[0].is_complete = false;
    scores[3].has_bad_contents = true;
    scores[4].phases[0].cache = CacheState::Warm;
    let tapes = tapes("RUN 1", &header.plan, &scores).unwrap();
    assert_eq!(tapes[0].values, [1e6, 6e6, 7e6]);
    let expected = LeftOut { incomplete: 2, bad_contents: 1, other_conditions: 1 };
    assert_eq!(tapes[0].left, expected);
    assert_eq!(tapes[1].values, [1e6, 3e6, 5e6, 6e6, 7e6]);
}

#[test]
fn what_is_below_the_step_of_the_clock_is_that_step() {
    let header = plan(&["ext4"], false, 2);
    let mut scores = scores(&header);
    scores[0].phases[0].durable_ns = Some(0);
    let tapes = tapes("RUN 1", &header.plan, &scores).unwrap();
    assert_eq!(tapes[0].values, [100.0, 2e6]);
}
