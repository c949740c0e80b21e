//! The judge: looks, who leaves, and that opening the file later gives the same words.

use fsarena_model::contender::{Cache, Contender};
use fsarena_model::record::{CacheState, TimeBase};
use fsarena_model::run::{Clock, RunHeader};
use fsarena_model::score::{Covariates, MemoryKind, PhaseScore, TrialScore};
use fsarena_model::seed::Seed;
use fsarena_model::verdict::{
    CAPS, Limits, METHOD_VERSION, Metric, Pairs, Question, Rule, Stop, StopWhy, Verdict,
    VerdictPlan,
};
use fsarena_stats::Looks;
use fsarena_testkit::records::{self, SECOND_NS};
use fsarena_verdict::{ForecastFor, Judge, Verdicts, verdicts};
use proptest::prelude::*;

pub const MS: f64 = 1e6;

/// A RUN of `big-file` on contenders of these labels, all asked about its one phase.
pub fn header(labels: &[&str], rule: Rule) -> RunHeader {
    let contenders: Vec<Contender> =
        labels.iter().zip(1..).map(|(label, n)| records::contender(label, "ext4", n)).collect();
    let spare = if matches!(rule, Rule::Fixed { .. }) { 0 } else { 2 };
    let mut header = records::header(contenders, vec![records::big_file()], rule.blocks() + spare);
    header.plan.verdict = Some(VerdictPlan {
        method: METHOD_VERSION,
        rule,
        margin: 0.05,
        questions: vec![Question {
            workload: 0,
            phase: "write".to_owned(),
            metric: Metric::Time,
            clock: Clock::Durable,
        }],
        headline: Some(0),
        pairs: Pairs::All,
        budget_ns: None,
        begun_unix_ns: None,
        spare_blocks: spare,
        limits: Limits { steal_share: Some(0.2), foreign_share: Some(0.2), short_phases: true },
    });
    header
}

const LOOKS: Rule = Rule::Looks { cap: 32 };

pub fn score(sequence: u32, durable_ns: f64) -> TrialScore {
    let durable_ns = durable_ns.round() as u64;
    TrialScore {
        sequence,
        started_unix_ns: records::NEW_YEAR_UNIX_NS + u64::from(sequence) * 10 * SECOND_NS,
        elapsed_ns: SECOND_NS + durable_ns,
        is_interrupted: false,
        time_base: TimeBase::Wall,
        has_bad_contents: false,
        phases: vec![PhaseScore {
            name: "write".to_owned(),
            free: None,
            is_complete: true,
            returned_ns: durable_ns / 2,
            durable_ns: Some(durable_ns),
            drained_ns: Some(durable_ns),
            cache: CacheState::Cold,
            memory: MemoryKind::Whole,
            cpu_ns: Some(durable_ns),
            machine_ns: Some(2 * durable_ns),
            steal_ns: Some(0),
            written_bytes: Some(100 << 20),
            p99_ns: None,
            ops: None,
            asked_bytes: None,
            covariates: Covariates::default(),
            figures: Vec::new(),
        }],
    }
}

/// Noise of a trial: uniform within `share` either way, by its number alone.
pub fn noise(sequence: u32, share: f64) -> f64 {
    let tag = Seed::from_number(18).child("noise", u64::from(sequence)).tag();
    1.0 + share * (2.0 * (tag as f64 / u64::MAX as f64) - 1.0)
}

/// Carries a RUN out as the runner does: only what the judge wants, until it has finished.
pub fn carry_out(
    header: &RunHeader,
    value: &dyn Fn(usize, u32) -> Option<TrialScore>,
) -> (Vec<TrialScore>, Stop) {
    let mut judge = Judge::new(&header.plan).expect("the plan asks");
    let mut scores = Vec::new();
    for (sequence, slot) in (0u32..).zip(&header.plan.schedule) {
        while judge.finished().is_none() && judge.block() < slot.block {
            judge.end_block();
        }
        if judge.finished().is_some() {
            break;
        }
        if judge.wants(slot)
            && let Some(score) = value(slot.contender, sequence)
        {
            judge.add(&score);
            scores.push(score);
        }
    }
    while judge.finished().is_none() {
        judge.end_block();
    }
    (scores, Stop { blocks: judge.block(), why: judge.finished().expect("it has finished") })
}

/// Trials of these mean lengths, ms, with noise.
fn timed(header: &RunHeader, ms: &[f64], share: f64) -> (Vec<TrialScore>, Verdicts, Stop) {
    let value = |contender: usize, sequence: u32| {
        Some(score(sequence, ms[contender] * MS * noise(sequence, share)))
    };
    let (scores, stop) = carry_out(header, &value);
    let found = verdicts(header, &[], &scores, Some(stop), &[]).expect("the plan asks");
    (scores, found, stop)
}

#[test]
fn a_large_difference_is_found_at_the_first_look() {
    let header = header(&["slow", "fast"], LOOKS);
    let (scores, found, stop) = timed(&header, &[150.0, 100.0], 0.03);
    assert_eq!(stop, Stop { blocks: 4, why: StopWhy::Decided });
    assert_eq!(scores.len(), 8);
    let question = &found.questions[0];
    assert_eq!(question.looks, [4]);
    let labels: Vec<&str> = question.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["fast", "slow"], "the best first");
    let pair = &question.pairs[0];
    assert_eq!((pair.a_label.as_str(), pair.verdict, pair.n), ("fast", Verdict::Faster, 4));
    let (low, high) = (pair.low.unwrap(), pair.high.unwrap());
    assert!(low < 100.0 / 150.0 && 100.0 / 150.0 < high && high < 1.0, "{low} {high}");
    assert!((pair.level.unwrap() - (1.0 - 0.01495 * (4.0f64 / 32.0).sqrt())).abs() < 1e-9);
    assert_eq!(pair.forecast, None);
    assert_eq!((question.rows[0].letters.as_str(), question.rows[1].letters.as_str()), ("a", "b"));
    assert_eq!(question.rows[1].ratio, Some(1.0), "to the first of the plan");
    assert!((question.rows[0].ratio.unwrap() - pair.ratio.unwrap()).abs() < 1e-12);
}

/// A simulated clock says nothing of a real one, however large the difference.
#[test]
fn times_of_two_bases_are_never_paired() {
    let header = header(&["real", "simulated"], LOOKS);
    let value = |contender: usize, sequence: u32| {
        let time_base = [TimeBase::Wall, TimeBase::Virtual][contender];
        let ms = [300.0, 100.0][contender] * noise(sequence, 0.01);
        Some(TrialScore { time_base, ..score(sequence, ms * MS) })
    };
    let (scores, stop) = carry_out(&header, &value);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).expect("the plan asks");
    let pair = &found.questions[0].pairs[0];
    assert_eq!((pair.verdict, pair.n, pair.ratio), (Verdict::Undecided, 0, None));
    assert_eq!(pair.why.as_deref(), Some("no block has values of both that may be compared"));
    // Nor are they in one median, or sorted by one clock: the simulated one is not the best.
    let labels: Vec<&str> = found.questions[0].rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["real", "simulated"]);
    let value = |contender: usize, sequence: u32| {
        let is_real = contender == 0 || sequence.is_multiple_of(3);
        let time_base = if is_real { TimeBase::Wall } else { TimeBase::Virtual };
        let ms = if is_real { 300.0 } else { 1.0 };
        Some(TrialScore { time_base, ..score(sequence, ms * MS) })
    };
    let (scores, stop) = carry_out(&header, &value);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).expect("the plan asks");
    let row = found.questions[0].rows.iter().find(|row| row.label == "simulated").unwrap();
    assert_eq!((row.min, row.median, row.max), (300.0 * MS, 300.0 * MS, 300.0 * MS));
}

/// Without noise any difference would be shown; in virtual time one has to be larger than 0.5 %.
#[test]
fn what_is_nearly_equal_in_virtual_time_is_no_difference() {
    let verdict = |time_base: TimeBase, ms: f64| {
        let mut header = header(&["one", "other"], LOOKS);
        header.plan.verdict.as_mut().expect("it asks").margin = 0.001;
        let value = |contender: usize, sequence: u32| {
            Some(TrialScore { time_base, ..score(sequence, [ms, 100.0][contender] * MS) })
        };
        let (scores, stop) = carry_out(&header, &value);
        let found = verdicts(&header, &[], &scores, Some(stop), &[]).expect("the plan asks");
        let pair = found.questions[0].pairs[0].clone();
        if pair.a_label == "one" { pair.verdict } else { pair.verdict.swapped() }
    };
    assert_eq!(verdict(TimeBase::Wall, 100.4), Verdict::Slower);
    assert_eq!(verdict(TimeBase::Virtual, 100.4), Verdict::Undecided);
    assert_eq!(verdict(TimeBase::Virtual, 100.6), Verdict::Slower);
    assert_eq!(verdict(TimeBase::Virtual, 99.4), Verdict::Faster);
    assert_eq!(verdict(TimeBase::Virtual, 100.05), Verdict::Same);
}

#[test]
fn equal_contenders_are_the_same_or_undecided_and_never_different_by_silence() {
    let header = header(&["one", "two"], LOOKS);
    let (_, found, stop) = timed(&header, &[100.0, 100.0], 0.01);
    assert_eq!(found.questions[0].pairs[0].verdict, Verdict::Same);
    assert_eq!(found.questions[0].rows[0].tier, Some(1));
    assert_eq!(found.questions[0].rows[0].letters, "a");
    assert_eq!(stop.why, StopWhy::Decided);
    let (_, found, stop) = timed(&header, &[100.0, 100.0], 0.4);
    let pair = &found.questions[0].pairs[0];
    assert_eq!((pair.verdict, stop), (Verdict::Undecided, Stop { blocks: 32, why: StopWhy::Cap }));
    assert_eq!((pair.n, pair.at_blocks), (32, 32));
    assert!(pair.no_difference_in_sight, "{pair:?}");
    assert!(pair.forecast.is_none_or(|forecast| forecast.of == ForecastFor::Same));
    assert_eq!(found.questions[0].rows[0].tier, None, "not shown to differ is not the same");
    assert_eq!(found.questions[0].rows[1].letters, "a");
}

#[test]
fn who_is_decided_leaves() {
    let header = header(&["a", "b", "far"], LOOKS);
    let (scores, found, stop) = timed(&header, &[100.0, 101.0, 300.0], 0.2);
    let of = |contender: usize| {
        let own =
            |s: &&TrialScore| header.plan.schedule[s.sequence as usize].contender == contender;
        scores.iter().filter(own).count()
    };
    assert!(of(2) < of(0), "{} {}", of(2), of(0));
    assert_eq!(of(0), of(1));
    assert_eq!(of(0), stop.blocks as usize);
    let question = &found.questions[0];
    assert_eq!(question.rows[2].label, "far");
    assert_eq!(question.rows[2].n, of(2));
    let far = question.pairs.iter().filter(|pair| pair.b_label == "far");
    assert!(far.clone().all(|pair| pair.verdict == Verdict::Faster));
    assert!(far.clone().all(|pair| pair.n <= of(2)), "as of the look that decided it");
    assert!(question.rows[..2].iter().all(|row| row.letters != question.rows[2].letters));
}

#[test]
fn a_fixed_number_of_blocks_is_one_look() {
    let header = header(&["a", "b", "far"], Rule::Fixed { blocks: 5 });
    let (scores, found, stop) = timed(&header, &[100.0, 100.0, 200.0], 0.05);
    assert_eq!((scores.len(), stop), (15, Stop { blocks: 5, why: StopWhy::Cap }));
    assert_eq!(found.questions[0].looks, [5]);
    let verdicts: Vec<Verdict> = found.questions[0].pairs.iter().map(|p| p.verdict).collect();
    assert_eq!(verdicts.iter().filter(|v| **v == Verdict::Faster).count(), 2);
}

#[test]
fn a_baseline_is_always_the_second() {
    let mut header = header(&["base", "fast", "slow"], LOOKS);
    header.plan.verdict.as_mut().unwrap().pairs = Pairs::Baseline { contender: 0 };
    let (_, found, _) = timed(&header, &[100.0, 50.0, 200.0], 0.03);
    let question = &found.questions[0];
    assert_eq!(found.baseline.as_deref(), Some("base"));
    let pairs: Vec<(&str, &str, Verdict)> = question
        .pairs
        .iter()
        .map(|p| (p.a_label.as_str(), p.b_label.as_str(), p.verdict))
        .collect();
    assert_eq!(pairs, [("fast", "base", Verdict::Faster), ("slow", "base", Verdict::Slower)]);
    let ratios: Vec<f64> = question.rows.iter().filter_map(|row| row.ratio).collect();
    assert!(ratios[0] < 0.6 && (ratios[1] - 1.0).abs() < 1e-12 && ratios[2] > 1.8, "{ratios:?}");
}

#[test]
fn a_block_is_run_again_for_what_the_hypervisor_took_and_not_for_its_score() {
    let header = header(&["a", "b"], LOOKS);
    let spoilt = |contender: usize, sequence: u32| {
        let mut one = score(sequence, [3e9, 2e9][contender] * noise(sequence, 0.02));
        if header.plan.schedule[sequence as usize].block == 1 && contender == 0 {
            one.phases[0].steal_ns = one.phases[0].machine_ns.map(|ns| ns / 2);
        }
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &spoilt);
    assert_eq!((scores.len(), stop.blocks), (10, 5), "four that count");
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    assert_eq!((found.blocks_done, found.blocks_counted, found.rerun[0].block), (5, 4, 2));
    assert_eq!(found.questions[0].rows[0].n, 4);
    assert_eq!(found.questions[0].pairs[0].verdict, Verdict::Faster);
    // However odd the score, it counts.
    let odd = |contender: usize, sequence: u32| {
        let factor = if sequence == 2 { 50.0 } else { 1.0 };
        Some(score(sequence, [3e9, 2e9][contender] * factor))
    };
    let (scores, stop) = carry_out(&header, &odd);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    assert!(found.rerun.is_empty());
}

#[test]
fn spare_blocks_come_to_an_end() {
    let header = header(&["a", "b"], LOOKS);
    let stolen = |_: usize, sequence: u32| {
        let mut one = score(sequence, 2e9 * noise(sequence, 0.5));
        one.phases[0].steal_ns = one.phases[0].machine_ns.map(|ns| ns / 2);
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &stolen);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    assert_eq!(found.rerun.len(), 2);
    assert!(found.blocks_counted >= 4 && stop.blocks == found.blocks_counted + 2);
}

#[test]
fn what_was_not_proved_cold_takes_no_part() {
    let header = header(&["a", "b"], LOOKS);
    let warm = |contender: usize, sequence: u32| {
        let mut one = score(sequence, [100.0, 300.0][contender] * MS * noise(sequence, 0.02));
        if contender == 1 {
            one.phases[0].cache = CacheState::Warm;
        }
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &warm);
    assert_eq!(stop, Stop { blocks: 4, why: StopWhy::Decided }, "it is not waited for for ever");
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    let question = &found.questions[0];
    assert_eq!(question.left[0].label, "b");
    assert!(question.left[0].why.contains("not proved"), "{}", question.left[0].why);
    assert_eq!(question.pairs[0].verdict, Verdict::Undecided);
    assert!(question.pairs[0].why.as_ref().unwrap().contains("not proved"));
}

#[test]
fn warm_and_cold_are_never_a_pair() {
    let mut header = header(&["cold", "warm"], LOOKS);
    header.plan.contenders[1].levels.cache = Cache::Warm;
    let judge = Judge::new(&header.plan).unwrap();
    assert_eq!(judge.pairs(), 0);
}

#[test]
fn wrong_contents_are_no_figure() {
    let header = header(&["a", "b"], LOOKS);
    let bad = |contender: usize, sequence: u32| {
        let mut one = score(sequence, 100.0 * MS * noise(sequence, 0.02));
        one.has_bad_contents = contender == 1;
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &bad);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    assert!(found.questions[0].left[0].why.contains("contents"));
}

#[test]
fn a_budget_ends_with_one_more_look() {
    let mut header = header(&["a", "b"], LOOKS);
    header.plan.verdict.as_mut().unwrap().budget_ns = Some(1);
    let mut judge = Judge::new(&header.plan).unwrap();
    let mut scores = Vec::new();
    for sequence in 0..10u32 {
        let slot = header.plan.schedule[sequence as usize];
        while judge.block() < slot.block {
            judge.end_block();
        }
        let ms = [100.0, 110.0][slot.contender];
        scores.push(score(sequence, ms * MS * noise(sequence, 0.06)));
        judge.add(scores.last().unwrap());
    }
    let end = judge.end_block();
    assert_eq!((end.look, end.finished), (None, None), "five blocks are no look");
    assert!(judge.block_ns() > 2 * SECOND_NS, "as long as the longest trials so far");
    let look = judge.end_by_budget().unwrap();
    assert_eq!((look.blocks, judge.finished()), (5, Some(StopWhy::Budget)));
    let stop = Stop { blocks: 5, why: StopWhy::Budget };
    let found = verdicts(&header, &[], &scores, Some(stop), judge.looks()).unwrap();
    assert_eq!(found.questions[0].looks, [4, 5]);
    assert_eq!(found.agrees_with_stored_looks, Some(true));
    let mut other = judge.looks().to_vec();
    other[1].decided.clear();
    other[1].blocks = 6;
    let found = verdicts(&header, &[], &scores, Some(stop), &other).unwrap();
    assert_eq!(found.agrees_with_stored_looks, Some(false));
}

#[test]
fn before_the_first_look_nothing_is_decided() {
    let header = header(&["a", "b"], LOOKS);
    let scores: Vec<TrialScore> = (0..4).map(|n| score(n, 100.0 * MS)).collect();
    let found = verdicts(&header, &[], &scores, None, &[]).unwrap();
    let pair = &found.questions[0].pairs[0];
    assert_eq!((pair.verdict, pair.at_blocks, pair.n), (Verdict::Undecided, 0, 2));
    assert_eq!(pair.why.as_deref(), Some("not looked at yet"));
    assert!(pair.low.is_none() && pair.ratio.is_some());
    assert_eq!(verdicts(&header, &[], &[], None, &[]).unwrap().questions[0].rows.len(), 0);
    let mut old = header.clone();
    old.plan.verdict = None;
    assert!(verdicts(&old, &[], &scores, None, &[]).is_none());
}

#[test]
fn a_coarse_clock_and_equal_values_are_no_certainty_of_a_difference() {
    let header = header(&["a", "b"], LOOKS);
    let same = |_: usize, sequence: u32| Some(score(sequence, 5.0 * MS));
    let (scores, stop) = carry_out(&header, &same);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    let pair = &found.questions[0].pairs[0];
    assert_eq!(pair.verdict, Verdict::Same);
    assert!(pair.low.unwrap() < 1.0 && pair.high.unwrap() > 1.0);
    assert!(pair.low.unwrap().is_finite());
}

#[test]
fn the_forecast_says_what_is_nearer() {
    let header = header(&["a", "b"], Rule::Fixed { blocks: 6 });
    let (_, found, _) = timed(&header, &[100.0, 125.0], 0.25);
    let pair = &found.questions[0].pairs[0];
    assert_eq!(pair.verdict, Verdict::Undecided);
    let forecast = pair.forecast.unwrap();
    assert_eq!((forecast.of, pair.no_difference_in_sight), (ForecastFor::Difference, false));
    assert!(forecast.blocks > 6 && forecast.more_blocks == forecast.blocks - 6);
    assert!(forecast.most_blocks > forecast.blocks, "from so many to so many: {forecast:?}");
    assert!(forecast.seconds > 2.0 * forecast.more_blocks as f64, "two trials of over a second");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The order in which records are read, and when they are read, changes nothing.
    #[test]
    fn replaying_gives_the_same_words(
        seed in 0u64..1000,
        spread in 0.01f64..0.3,
        far in 1.0f64..1.4,
    ) {
        let header = header(&["a", "b", "c", "d"], LOOKS);
        let value = |contender: usize, sequence: u32| {
            let own = noise(sequence.wrapping_add(seed as u32 * 1000), spread);
            Some(score(sequence, [1.0, 1.0, far, 2.0][contender] * 100.0 * MS * own))
        };
        let (mut scores, stop) = carry_out(&header, &value);
        let first = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
        scores.reverse();
        let second = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
        prop_assert_eq!(&first, &second);
        // At any moment in between, what was decided stays decided.
        scores.reverse();
        for cut in [9, 17, 30, 41] {
            let part = &scores[..scores.len().min(cut)];
            let earlier = verdicts(&header, &[], part, None, &[]).unwrap();
            for pair in &earlier.questions[0].pairs {
                let later = first.questions[0].pairs.iter().find(|p| {
                    [(pair.a, pair.b), (pair.b, pair.a)].contains(&(p.a, p.b))
                }).unwrap();
                let later_verdict =
                    if later.a == pair.a { later.verdict } else { later.verdict.swapped() };
                if pair.verdict != Verdict::Undecided {
                    prop_assert_eq!(pair.verdict, later_verdict);
                }
            }
        }
    }

    /// Nothing depends on which contender was written first.
    #[test]
    fn swapping_two_contenders_swaps_the_verdict(slower in 1.0f64..1.3, spread in 0.001f64..0.1) {
        let header = header(&["a", "b"], Rule::Fixed { blocks: 8 });
        let of = |ms: [f64; 2]| {
            let value = move |contender: usize, sequence: u32| {
                let block = sequence / 2;
                let own = noise(block * 2 + u32::from(ms[contender] > 100.0), spread);
                Some(score(sequence, ms[contender] * MS * own))
            };
            let (scores, stop) = carry_out(&header, &value);
            verdicts(&header, &[], &scores, Some(stop), &[]).unwrap().questions[0].pairs[0].clone()
        };
        let (one, other) = (of([100.0, 100.5 * slower]), of([100.5 * slower, 100.0]));
        prop_assert_eq!(one.verdict, other.verdict, "both with the better one first");
        prop_assert!((one.ratio.unwrap() - other.ratio.unwrap()).abs() < 1e-9);
    }
}

/// A contender that was given up leaves no trial in later blocks. What ended when the look was
/// taken has ended for whoever reads it, also where the trial after it was interrupted.
#[test]
fn a_look_that_was_taken_is_taken_again_although_one_was_given_up() {
    let header = header(&["a", "b", "broken"], LOOKS);
    let mut judge = Judge::new(&header.plan).unwrap();
    let mut scores = Vec::new();
    for (sequence, slot) in (0u32..12).zip(&header.plan.schedule) {
        while judge.block() < slot.block {
            judge.end_block();
        }
        if slot.contender == 2 && slot.block > 0 {
            continue;
        }
        let mut one = score(sequence, 100.0 * MS * noise(sequence, 0.3));
        one.phases[0].is_complete = slot.contender != 2;
        judge.add(&one);
        scores.push(one);
    }
    let look = judge.end_block().look.unwrap();
    let mut next = score(12, 1.0);
    next.is_interrupted = true;
    scores.push(next);
    let stored = [look];
    let again = Judge::replay(&header.plan, &scores, None, &stored).unwrap();
    assert_eq!((again.looks(), again.block()), (&stored[..], 4));
    let found = verdicts(&header, &[], &scores, None, &stored).unwrap();
    assert_eq!(found.agrees_with_stored_looks, Some(true));
}

#[test]
fn who_gives_nothing_more_is_not_waited_for() {
    let header = header(&["a", "b"], LOOKS);
    let value = |contender: usize, sequence: u32| {
        let block = header.plan.schedule[sequence as usize].block;
        let is_there = contender == 0 || block < 3;
        is_there.then(|| score(sequence, 100.0 * MS * noise(sequence, 0.5)))
    };
    let (scores, stop) = carry_out(&header, &value);
    assert_eq!(stop, Stop { blocks: 8, why: StopWhy::Decided }, "four blocks without it");
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    let pair = &found.questions[0].pairs[0];
    assert_eq!((pair.verdict, pair.n), (Verdict::Undecided, 3));
    assert_eq!(pair.why.as_deref(), Some("one of them gave nothing more"));
    assert_eq!(pair.forecast, None);
    // Nobody gives anything: no block counts.
    let (_, stop) = carry_out(&header, &|_, _| None);
    let found = verdicts(&header, &[], &[], Some(stop), &[]).unwrap();
    assert_eq!((found.blocks_counted, found.questions[0].looks.len()), (0, 0));
}

/// Pairs with others keep a contender in later blocks; what is said of a decided pair is of its
/// look, and its ratios are.
#[test]
fn a_decided_pair_stands_as_of_its_look() {
    let header = header(&["a", "b", "far"], LOOKS);
    let (_, found, stop) = timed(&header, &[100.0, 100.0, 300.0], 0.3);
    assert!(stop.blocks > 4);
    let question = &found.questions[0];
    let row = question.rows.iter().find(|row| row.label == "far").unwrap();
    let pair = question.pairs.iter().find(|pair| pair.b_label == "far").unwrap();
    assert_eq!(row.ratio_n, Some(pair.n));
    let better = question.rows.iter().find(|row| row.label == pair.a_label).unwrap();
    assert!(pair.n < better.n, "{} of {}", pair.n, better.n);
    assert!((pair.hl_ratio.unwrap() - pair.ratio.unwrap()).abs() < 1e-12, "of the same blocks");
    let reference = question.rows.iter().find(|row| row.label == "a").unwrap();
    assert_eq!(reference.ratio, Some(1.0));
}

#[test]
fn a_forecast_takes_the_time_of_both() {
    let header = header(&["short", "long"], Rule::Fixed { blocks: 4 });
    let value = |contender: usize, sequence: u32| {
        let mut one = score(sequence, [100.0, 130.0][contender] * MS * noise(sequence, 0.3));
        one.elapsed_ns = [1, 100][contender] * SECOND_NS;
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &value);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    let forecast = found.questions[0].pairs[0].forecast.unwrap();
    assert!((forecast.seconds / forecast.more_blocks as f64 - 101.0).abs() < 1e-9);
}

#[test]
fn what_could_not_be_run_again_is_said() {
    let header = header(&["a", "b"], Rule::Fixed { blocks: 3 });
    let stolen = |_: usize, sequence: u32| {
        let mut one = score(sequence, 2e9 * noise(sequence, 0.1));
        one.phases[0].steal_ns = one.phases[0].machine_ns.map(|ns| ns / 2);
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &stolen);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    assert_eq!((found.rerun.len(), found.not_rerun.len(), found.blocks_counted), (0, 3, 3));
}

/// A figure of a few ticks is not known better than a tick, whichever of the two has them.
#[test]
fn the_step_of_a_reading_counts_where_it_is_large() {
    let mut header = header(&["a", "b"], Rule::Fixed { blocks: 8 });
    let ask = header.plan.verdict.as_mut().unwrap();
    ask.questions[0].metric = Metric::Cpu;
    let value = |contender: usize, sequence: u32| {
        let mut one = score(sequence, 100.0 * MS);
        one.phases[0].cpu_ns = Some([0, 12][contender] * 10_000_000);
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &value);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    let question = &found.questions[0];
    assert_eq!(question.rows[0].median, 0.0, "as it was read");
    let pair = &question.pairs[0];
    let width = (pair.high.unwrap() / pair.low.unwrap()).ln();
    assert!(width > 0.2, "{width}: the 0 may have been a tick");
}

/// Nobody is compared with it, so it has no letter, and its drift is none against the others.
#[test]
fn who_is_warm_alone_stands_beside() {
    let mut header = header(&["a", "b", "warm"], Rule::Fixed { blocks: 8 });
    header.plan.contenders[2].levels.cache = Cache::Warm;
    let value = |contender: usize, sequence: u32| {
        let block = header.plan.schedule[sequence as usize].block;
        let ms = [100.0, 100.0, 20.0 * 1.3f64.powf(f64::from(block))][contender];
        let mut one = score(sequence, ms * MS * noise(sequence, 0.02));
        if contender == 2 {
            one.phases[0].cache = CacheState::WarmByNature;
        }
        Some(one)
    };
    let (scores, stop) = carry_out(&header, &value);
    let found = verdicts(&header, &[], &scores, Some(stop), &[]).unwrap();
    let question = &found.questions[0];
    let letters: Vec<&str> = question.rows.iter().map(|row| row.letters.as_str()).collect();
    assert_eq!(letters, ["a", "a", ""]);
    assert_eq!(question.rows[2].ratio, None);
    let named = question.watch.findings.iter().filter(|finding| finding.text.contains("warm"));
    assert_eq!(named.count(), 0, "{:?}", question.watch.findings);
}

#[test]
fn the_caps_and_looks_of_plans_are_those_of_the_statistics() {
    assert_eq!(CAPS, fsarena_stats::CAPS);
    for cap in CAPS {
        let looks = Looks::with_cap(cap).expect("a known cap");
        let rule = Rule::Looks { cap };
        assert_eq!(rule.looks(), looks.at());
        assert_eq!(rule.least_blocks(), looks.at()[0]);
    }
}
