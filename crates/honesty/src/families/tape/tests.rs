//! Tapes of several contenders from scores.

use super::*;
use fsarena_model::record::CacheState;
use fsarena_model::run::RunHeader;
use fsarena_testkit::records;

fn header(contenders: &[&str], blocks: u32) -> RunHeader {
    let contenders = contenders.iter().map(|label| records::contender(label, label, 1)).collect();
    records::header(contenders, vec![records::small_files(), records::big_file()], blocks)
}

/// Every trial of the plan; phase lengths are e^sequence ns, so that logarithms are sequences.
fn scores(header: &RunHeader) -> Vec<TrialScore> {
    let count = u32::try_from(header.plan.schedule.len()).unwrap();
    let score = |sequence: u32| {
        let mut score = TrialScore::from_record(&records::record(header, sequence));
        for phase in &mut score.phases {
            phase.durable_ns = Some(1_000 * u64::from(sequence + 1));
        }
        score
    };
    (0..count).map(score).collect()
}

#[test]
fn series_by_phase_contender_and_block() {
    let header = header(&["ext4", "xfs", "btrfs"], 4);
    let mut scores = scores(&header);
    scores.reverse();
    let tape = family_tape("RUN 1", &header.plan, &scores).unwrap();
    assert_eq!(tape.contenders, ["ext4", "xfs", "btrfs"]);
    let names: Vec<String> = tape.phases.iter().map(TapePhase::name).collect();
    assert_eq!(
        names,
        ["small-files create", "small-files read-random", "small-files delete", "big-file write"]
    );
    assert_eq!(tape.blocks, [0, 1, 2, 3]);
    // Six trials a block: three contenders of the one workload, then of the other.
    let ns = |series: &[f64]| -> Vec<f64> { series.iter().map(|log| log.exp().round()).collect() };
    assert_eq!(ns(&tape.logs[0][0]), [1e3, 7e3, 13e3, 19e3]);
    assert_eq!(ns(&tape.logs[2][2]), [3e3, 9e3, 15e3, 21e3]);
    assert_eq!(ns(&tape.logs[3][1]), [5e3, 11e3, 17e3, 23e3]);
    assert_eq!(tape.trials.len(), 24);
    assert!(tape.trials.is_sorted_by_key(|trial| trial.started_unix_ns));
    assert_eq!(
        (tape.trials[7].block, tape.trials[7].contender, tape.trials[7].workload),
        (1, 1, 0)
    );
    assert_eq!(tape.left, LeftOut::default());
}

#[test]
fn blocks_that_are_not_whole_are_left_out_and_counted() {
    let header = header(&["ext4", "xfs"], 7);
    let mut scores = scores(&header);
    // Four trials a block.
    scores[4].is_interrupted = true;
    scores[9].phases[1].is_complete = false;
    scores[13].has_bad_contents = true;
    scores[16].phases[0].cache = CacheState::Warm;
    scores.remove(27);
    let tape = family_tape("RUN 1", &header.plan, &scores).unwrap();
    assert_eq!(tape.blocks, [0, 5]);
    assert_eq!(tape.left, LeftOut { incomplete: 3, bad_contents: 1, other_conditions: 1 });
    assert!(tape.logs.iter().flatten().all(|series| series.len() == 2));
    assert_eq!(tape.trials.len(), 8);
    assert!(tape.trials.iter().all(|trial| trial.block < 2));
}

#[test]
fn a_phase_that_one_never_finished_is_left_out_and_named() {
    let header = header(&["ext4", "xfs"], 3);
    let mut scores = scores(&header);
    for score in &mut scores {
        let slot = header.plan.schedule[score.sequence as usize];
        if slot.contender == 1 && slot.workload == 0 {
            score.phases[1].is_complete = false;
        }
    }
    let tape = family_tape("RUN 1", &header.plan, &scores).unwrap();
    assert_eq!(tape.phases.len(), 3);
    assert_eq!(tape.phases_left_out, ["small-files read-random: xfs has no value"]);
    assert_eq!(tape.blocks.len(), 3);
}

#[test]
fn what_is_no_tape_is_said() {
    let said = |labels: &[&str], change: fn(&RunHeader, &mut Vec<TrialScore>)| {
        let header = header(labels, 2);
        let mut scores = scores(&header);
        change(&header, &mut scores);
        family_tape("RUN 7", &header.plan, &scores).unwrap_err().to_string()
    };
    let of_xfs = |header: &RunHeader, scores: &mut Vec<TrialScore>| {
        scores.retain(|score| header.plan.schedule[score.sequence as usize].contender != 1);
    };
    let alternating = |header: &RunHeader, scores: &mut Vec<TrialScore>| {
        scores.retain(|score| {
            let slot = header.plan.schedule[score.sequence as usize];
            slot.contender == slot.workload
        });
    };
    let one = said(&["ext4"], |_, _| ());
    assert!(one.starts_with("RUN 7 has one contender: families need several"), "{one}");
    let silent = said(&["ext4", "xfs"], of_xfs);
    assert!(silent.starts_with("RUN 7: xfs has no complete timed phase"), "{silent}");
    let nothing = said(&["ext4", "xfs"], |_, scores| scores.clear());
    assert!(nothing.starts_with("RUN 7: ext4 has no complete timed phase"), "{nothing}");
    let no_phase = said(&["ext4", "xfs"], alternating);
    assert!(no_phase.contains("no timed phase of which every contender"), "{no_phase}");
}
