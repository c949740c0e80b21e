//! As many blocks as fit into a budget: the number is planned after the first that counts, from the
//! scores alone, and there is one look.

use crate::judge::{MS, carry_out, header, noise, score};
use fsarena_model::run::RunHeader;
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{Rule, Stop, StopWhy, Verdict};
use fsarena_testkit::records::{NEW_YEAR_UNIX_NS, SECOND_NS};
use fsarena_verdict::{Judge, verdicts};
use proptest::prelude::*;

const FIT: Rule = Rule::Fit { least: 4, most: 12 };

/// Two contenders, the first half as fast again, within a budget.
fn two(rule: Rule, budget_s: Option<u64>) -> RunHeader {
    let mut header = header(&["slow", "fast"], rule);
    header.plan.verdict.as_mut().expect("the plan asks something").budget_ns =
        budget_s.map(|s| s * SECOND_NS);
    header
}

/// Trials of 10 s with a second between them: 21 s a block, and a second more before the next.
fn trial(contender: usize, sequence: u32) -> TrialScore {
    let ms = [150.0, 100.0][contender] * noise(sequence, 0.05);
    TrialScore {
        started_unix_ns: NEW_YEAR_UNIX_NS + u64::from(sequence) * 11 * SECOND_NS,
        elapsed_ns: 10 * SECOND_NS,
        ..score(sequence, ms * MS)
    }
}

fn blocks(rule: Rule, budget_s: Option<u64>) -> (u32, Stop) {
    let header = two(rule, budget_s);
    let (scores, stop) =
        carry_out(&header, &|contender, sequence| Some(trial(contender, sequence)));
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).expect("the plan asks something");
    assert_eq!(found.questions[0].looks, [found.blocks_counted], "one look, at the end");
    assert_eq!(found.most_blocks, found.blocks_counted);
    (found.blocks_counted, stop)
}

/// 95 % of 240 s are 228: 21 for the first, and nine more of 21.
#[test]
fn as_many_as_fit_within_the_limits() {
    assert_eq!(blocks(FIT, Some(240)), (10, Stop { blocks: 10, why: StopWhy::Cap }));
    assert_eq!(blocks(FIT, Some(30)).0, 4, "the fewest");
    assert_eq!(blocks(FIT, Some(3600)).0, 12, "the most");
    assert_eq!(blocks(FIT, None).0, 12, "no budget");
}

#[test]
fn the_number_is_planned_after_block_one_and_the_same_for_whoever_replays_it() {
    let header = two(FIT, Some(240));
    let mut judge = Judge::new(&header.plan).unwrap();
    assert_eq!((judge.most_blocks(), judge.is_number_planned()), (12, false));
    let scores: Vec<TrialScore> = (0..2)
        .map(|at| trial(header.plan.schedule[at as usize].contender, at))
        .inspect(|score| judge.add(score))
        .collect();
    judge.end_block();
    assert_eq!((judge.most_blocks(), judge.is_number_planned()), (10, true));
    assert_eq!(judge.carried_out().schedule.len(), 20, "ten blocks are planned from here on");
    let again = Judge::replay(&header.plan, &scores, None, &[]).unwrap();
    assert_eq!(again.most_blocks(), 10);
    let last = |block: u32| header.plan.schedule.iter().find(|slot| slot.block == block).unwrap();
    assert!(again.may_want(last(11)), "two spare blocks");
    assert!(!again.may_want(last(12)));
}

/// An image that took two minutes to write leaves room for fewer blocks.
#[test]
fn the_time_before_the_first_trial_is_part_of_the_budget() {
    let mut header = two(FIT, Some(240));
    let begun = NEW_YEAR_UNIX_NS - 120 * SECOND_NS;
    header.plan.verdict.as_mut().expect("the plan asks something").begun_unix_ns = Some(begun);
    let (scores, stop) =
        carry_out(&header, &|contender, sequence| Some(trial(contender, sequence)));
    assert_eq!(stop, Stop { blocks: 5, why: StopWhy::Cap }, "108 s, of which 21 for the first");
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).expect("the plan asks something");
    assert_eq!((found.blocks_counted, found.most_blocks), (5, 5));
}

/// The first blocks on a new image were slow: what they left of the budget is spent.
#[test]
fn blocks_that_become_shorter_make_room_for_more() {
    let header = two(FIT, Some(140));
    let slow_at_first = |contender: usize, sequence: u32| {
        let own = trial(contender, sequence);
        let elapsed_ns = if sequence < 4 { 10 } else { 5 } * SECOND_NS;
        let started_s = u64::from(sequence.min(4) * 11 + sequence.saturating_sub(4) * 6);
        let started_unix_ns = NEW_YEAR_UNIX_NS + started_s * SECOND_NS;
        Some(TrialScore { started_unix_ns, elapsed_ns, ..own })
    };
    let mut judge = Judge::new(&header.plan).unwrap();
    let mut planned = Vec::new();
    for (sequence, slot) in (0u32..).zip(&header.plan.schedule) {
        while judge.finished().is_none() && judge.block() < slot.block {
            judge.end_block();
            planned.push(judge.most_blocks());
        }
        if judge.finished().is_none() {
            judge.add(&slow_at_first(slot.contender, sequence).unwrap());
        }
    }
    // 133 s: 21 for the first and five more of 21; then blocks of 12. Of the fifth on, none of the
    // latest three was slow.
    assert_eq!(planned, [6, 6, 6, 7, 9, 9, 9, 9, 9]);
    let (scores, stop) = carry_out(&header, &slow_at_first);
    assert_eq!(stop, Stop { blocks: 9, why: StopWhy::Cap });
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    assert_eq!((found.blocks_counted, found.most_blocks), (9, 9));
    assert_eq!(found.questions[0].looks, [9], "one look, at the end");
}

/// What the first block took, had it been run undisturbed, is not known: the next one says it.
#[test]
fn a_first_block_that_is_run_again_plans_nothing() {
    let header = two(FIT, Some(240));
    let spoilt = |contender: usize, sequence: u32| {
        let mut one = trial(contender, sequence);
        if sequence < 2 {
            one.phases[0].machine_ns = Some(2 * SECOND_NS);
            one.phases[0].steal_ns = Some(SECOND_NS);
        }
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &spoilt);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    // 228 s less 43 for the first two, and eight more of 22.
    assert_eq!((found.blocks_counted, found.rerun.len(), stop.blocks), (9, 1, 10));
}

/// Slower blocks than the first: what is there is looked at once, with the whole error.
#[test]
fn a_budget_that_ends_it_earlier_is_one_look_at_what_is_there() {
    let header = two(FIT, Some(240));
    let mut judge = Judge::new(&header.plan).unwrap();
    let mut scores = Vec::new();
    for (sequence, slot) in (0u32..10).zip(&header.plan.schedule) {
        while judge.block() < slot.block {
            assert_eq!(judge.end_block().look, None);
        }
        scores.push(trial(slot.contender, sequence));
        judge.add(scores.last().unwrap());
    }
    judge.end_block();
    let look = judge.end_by_budget().unwrap();
    assert_eq!((look.blocks, judge.finished()), (5, Some(StopWhy::Budget)));
    let stop = Stop { blocks: 5, why: StopWhy::Budget };
    let found = verdicts(&header, &[], &scores, Some(stop), judge.looks()).unwrap();
    let pair = &found.questions[0].pairs[0];
    assert_eq!((pair.verdict, pair.level), (Verdict::Faster, Some(0.95)));
    assert_eq!((found.agrees_with_stored_looks, found.most_blocks), (Some(true), 10));
}

/// What the runner does: block 1 in any case, then each trial that is expected to end in time.
fn carried_out_within(header: &RunHeader, slower_after: u32) -> (Judge<'_>, u32) {
    let budget_ns = header.plan.verdict.as_ref().and_then(|ask| ask.budget_ns);
    let budget_ns = budget_ns.expect("there is a budget");
    let mut judge = Judge::new(&header.plan).expect("the plan asks something");
    let (mut used_ns, mut sequence) = (0, 0);
    for slot in &header.plan.schedule {
        while judge.finished().is_none() && judge.block() < slot.block {
            judge.end_block();
        }
        if judge.finished().is_some() {
            break;
        }
        if judge.block() > 0 && used_ns + judge.trial_ns(slot) > budget_ns {
            judge.end_by_budget();
            break;
        }
        let times = if judge.block() < slower_after { 1 } else { 3 };
        let own = trial(slot.contender, sequence);
        judge.add(&TrialScore { elapsed_ns: own.elapsed_ns * times, ..own });
        used_ns += own.elapsed_ns * times;
        sequence += 1;
    }
    while judge.finished().is_none() {
        judge.end_block();
    }
    let used_s = u32::try_from(used_ns / SECOND_NS).expect("minutes");
    (judge, used_s)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However small the budget is and however slow the blocks become, it wins over the fewest
    /// blocks, and such a RUN says that it was cut off.
    #[test]
    fn the_budget_wins_also_below_the_fewest_blocks(
        budget_s in 1_u64..200,
        slower_after in 1_u32..6,
    ) {
        let header = two(FIT, Some(budget_s));
        let (judge, used_s) = carried_out_within(&header, slower_after);
        // The first block is 20 s long. A trial that became slower is not foreseen, but once.
        let limit_s = budget_s.max(20) + 20;
        prop_assert!(u64::from(used_s) <= limit_s, "{used_s} s of {budget_s} s");
        prop_assert!((4..=12).contains(&judge.most_blocks()), "planned for the fewest at least");
        let (done, most) = (judge.counted(), judge.most_blocks());
        prop_assert!(done >= 1);
        prop_assert_eq!(judge.finished() == Some(StopWhy::Budget), done < most);
        let said = judge.cut_off().map(|cut_off| cut_off.to_string());
        let left = most - done;
        let expected = format!("{done} of {most} blocks done, {left} left");
        match said {
            Some(said) => {
                prop_assert!(said.starts_with("cut off by its budget of "), "{}", said);
                prop_assert!(said.ends_with(&expected), "{}: {}", said, expected);
            }
            None => prop_assert_eq!(done, most),
        }
        // Two blocks of 40 s are the least that the budget cannot hold.
        prop_assert!(budget_s >= 40 || (done == 1 && judge.cut_off().is_some()));
    }
}
