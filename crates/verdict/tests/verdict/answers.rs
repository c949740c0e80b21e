//! What stands with a verdict: what else is true of the pair, what the ratios refer to, what was
//! the machine, what it would still take, and what it holds for.

use crate::judge::{MS, carry_out, header, noise, score};
use fsarena_model::contender::{Cache, ExternalFs};
use fsarena_model::record::CacheState;
use fsarena_model::run::RunHeader;
use fsarena_model::score::{PhaseScore, TrialScore};
use fsarena_model::verdict::{METHOD_VERSION, Rule, Stop, StopWhy, Verdict};
use fsarena_stats::Looks;
use fsarena_testkit::records::{self, SECOND_NS};
use fsarena_verdict::{Judge, Verdicts, verdicts};

const LOOKS: Rule = Rule::Looks { cap: 32 };
const FIXED: Rule = Rule::Fixed { blocks: 6 };

fn answered(header: &RunHeader, value: &dyn Fn(usize, u32) -> TrialScore) -> Verdicts {
    let (scores, stop) = carry_out(header, &|contender, sequence| Some(value(contender, sequence)));
    verdicts(header, &[], &scores, Some(stop), &[]).expect("the plan asks something")
}

/// Two seconds of two processors each; other programs have this share of them.
fn beside(score: TrialScore, foreign: f64) -> TrialScore {
    let mut score = score;
    let phase = &mut score.phases[0];
    phase.machine_ns = Some(4 * SECOND_NS);
    phase.covariates.worker_cpu_ns = Some(SECOND_NS);
    phase.covariates.foreign_ns = Some((foreign * 4.0 * SECOND_NS as f64) as u64);
    score
}

/// Both are true, and a reader is told both.
#[test]
fn a_difference_within_the_margin_is_the_same_and_a_difference() {
    let found = answered(&header(&["a", "b"], FIXED), &|contender, sequence| {
        score(sequence, [100.0, 102.0][contender] * MS * noise(sequence, 0.003))
    });
    let pair = &found.questions[0].pairs[0];
    assert_eq!((pair.verdict, pair.difference), (Verdict::Same, Some(Verdict::Faster)));
    assert_eq!(pair.turned().difference, Some(Verdict::Slower));
    assert!((pair.ratio.unwrap() - 1.0 / 1.02).abs() < 0.003, "{:?}", pair.ratio);
}

/// Where one stalls now and then and the other never, mean and median are on two sides.
#[test]
fn where_shapes_differ_all_three_ratios_have_to_agree() {
    let stalls = |contender: usize, sequence: u32| {
        let block = sequence / 2;
        let ms = match (contender, block % 6) {
            (0, _) => 100.0,
            (_, 5) => 900.0,
            _ => 90.0,
        };
        score(sequence, ms * MS * noise(sequence, 0.01))
    };
    let found = answered(&header(&["steady", "stalls"], Rule::Fixed { blocks: 48 }), &stalls);
    let pair = &found.questions[0].pairs[0];
    assert!(pair.shapes_differ && pair.mean_ratio.unwrap() > 1.0, "{pair:?}");
    assert!(pair.high.unwrap() < 1.0 && pair.median_ratio.unwrap() < 1.0, "{pair:?}");
    assert_eq!((pair.verdict, pair.difference), (Verdict::Undecided, None));
    let why = "its shapes differ: mean, typical and median ratio do not agree";
    assert_eq!(pair.why.as_deref(), Some(why));
}

/// One contender for a whole RUN, whichever is the best of a question; a warm one beside cold ones
/// is compared with nobody.
#[test]
fn all_ratios_refer_to_one_contender_and_rows_are_sorted_by_their_median() {
    let mut header = header(&["warm", "middle", "fast", "slow"], FIXED);
    header.plan.contenders[0].levels.cache = Cache::Warm;
    let found = answered(&header, &|contender, sequence| {
        let mut one = score(sequence, [10.0, 100.0, 50.0, 200.0][contender] * MS);
        if contender == 0 {
            one.phases[0].cache = CacheState::WarmByNature;
        }
        one
    });
    assert_eq!((found.reference.as_deref(), found.baseline), (Some("middle"), None));
    let question = &found.questions[0];
    let labels: Vec<&str> = question.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["fast", "middle", "slow", "warm"], "by median, cold ones first");
    let ratios: Vec<Option<f64>> = question.rows.iter().map(|row| row.ratio).collect();
    assert_eq!((ratios[1], ratios[3]), (Some(1.0), None));
    assert!((ratios[0].unwrap() - 0.5).abs() < 1e-9 && (ratios[2].unwrap() - 2.0).abs() < 1e-9);
}

/// The look after six blocks has taken its share; the end of the budget there takes the rest.
#[test]
fn a_budget_that_ends_at_a_look_spends_what_that_has_left() {
    let header = header(&["a", "b"], LOOKS);
    let mut judge = Judge::new(&header.plan).unwrap();
    let mut scores = Vec::new();
    for (sequence, slot) in (0u32..12).zip(&header.plan.schedule) {
        while judge.block() < slot.block {
            judge.end_block();
        }
        // Log ratios of 0.18 and 0.02 in turn: t is 2.79 after six of them, p 0.038.
        let away: f64 = if slot.block % 2 == 0 { 0.18 } else { 0.02 };
        let ms = [100.0, 100.0 * away.exp()][slot.contender];
        scores.push(score(sequence, ms * MS));
        judge.add(scores.last().unwrap());
    }
    assert_eq!(judge.end_block().look.unwrap().decided, [], "not at the level of the look");
    let stored = judge.looks().to_vec();
    assert_eq!(judge.end_by_budget(), None, "it follows from the end, and is not stored");
    let last = judge.looks().last().unwrap();
    assert_eq!((last.blocks, last.decided.len()), (6, 1), "{last:?}");
    let stop = Stop { blocks: 6, why: StopWhy::Budget };
    let found = verdicts(&header, &[], &scores, Some(stop), &stored).unwrap();
    assert_eq!(found.questions[0].looks, [4, 6, 6]);
    assert_eq!(found.agrees_with_stored_looks, Some(true));
    let level = 1.0 - Looks::with_cap(32).unwrap().level_at_end(6).among(1);
    assert!((found.questions[0].pairs[0].level.unwrap() - level).abs() < 1e-12);
}

/// Other programs beside one side alone: the block is run again, whatever its scores are. Beside
/// both they are in both.
#[test]
fn a_block_with_foreign_load_on_one_side_is_run_again() {
    let header = header(&["new", "old"], LOOKS);
    let loaded = |beside_old: f64| {
        answered(&header, &move |contender, sequence| {
            let is_loaded = (2..4).contains(&sequence);
            let share = match (is_loaded, contender) {
                (true, 0) => 0.768,
                (true, _) => beside_old,
                (false, _) => 0.01,
            };
            beside(score(sequence, [300.0, 200.0][contender] * MS * noise(sequence, 0.02)), share)
        })
    };
    let found = loaded(0.02);
    assert_eq!((found.blocks_done, found.blocks_counted, found.rerun.len()), (5, 4, 1));
    assert_eq!(
        (found.rerun[0].block, found.rerun[0].why.as_str()),
        (
            2,
            "other programs had 77 % of the CPU time in write of new and 2 % in that of old; the \
             limit for the difference is 20 %"
        )
    );
    assert_eq!(loaded(0.75).rerun, []);
    // The server of a file system is one of the programs: nothing is known of others then.
    let mut served = header.clone();
    served.plan.contenders[0].levels.fs.external = Some(ExternalFs {
        create: None,
        mount: "/usr/bin/server {mnt}".to_owned(),
        unmount: None,
        destroy: None,
        version: None,
        programs: Vec::new(),
        package: None,
        device: false,
        memory: false,
    });
    let one_sided = |contender: usize, sequence: u32| {
        beside(score(sequence, [300.0, 200.0][contender] * MS), [0.7, 0.0][contender])
    };
    assert_eq!(answered(&served, &one_sided).rerun, []);
    let mount = &mut served.plan.contenders[0].levels.fs.external.as_mut().unwrap().mount;
    *mount = "mount -t tmpfs none {mnt} && cp -a /tool/. {mnt}".to_owned();
    assert_eq!(answered(&served, &one_sided).rerun.len(), 2);
    let mut unlimited = header.clone();
    unlimited.plan.verdict.as_mut().unwrap().limits.foreign_share = None;
    assert_eq!(answered(&unlimited, &one_sided).rerun, []);
}

/// Six phases of a tenth of a second on two processors: none tells by itself, all together do.
#[test]
fn foreign_load_and_steal_are_seen_in_short_phases_too() {
    let short = |sequence: u32, foreign: f64, steal: f64| {
        let mut one = score(sequence, 100.0 * MS * noise(sequence, 0.02));
        let phase = &mut one.phases[0];
        phase.machine_ns = Some(SECOND_NS / 5);
        phase.covariates.foreign_ns = Some((foreign * SECOND_NS as f64 / 5.0) as u64);
        phase.steal_ns = Some((steal * SECOND_NS as f64 / 5.0) as u64);
        let others = (1..6).map(|n| PhaseScore { name: format!("w{n}"), ..one.phases[0].clone() });
        let others: Vec<PhaseScore> = others.collect();
        one.phases.extend(others);
        one
    };
    let header = header(&["new", "old"], LOOKS);
    let loaded = |header: &RunHeader, foreign: f64, steal: f64| {
        let value = |contender: usize, sequence: u32| match (sequence, contender) {
            (2..4, 0) => short(sequence, foreign, steal),
            _ => short(sequence, 0.02, 0.0),
        };
        answered(header, &value).rerun.iter().map(|one| one.why.clone()).collect::<Vec<_>>()
    };
    let one_sided = "other programs had 64 % of the CPU time in all phases of new and 2 % in those \
                     of old; the limit for the difference is 20 %";
    assert_eq!(loaded(&header, 0.64, 0.0), [one_sided]);
    let stolen = "the hypervisor took 30 % of the CPU time in all phases of new; the limit is 20 %";
    assert_eq!(loaded(&header, 0.02, 0.3), [stolen]);
    assert!(loaded(&header, 0.2, 0.2).is_empty(), "within the limits");
    // As it was decided when it was planned.
    let mut older = header.clone();
    older.plan.verdict.as_mut().unwrap().limits.short_phases = false;
    assert!(loaded(&older, 0.64, 0.3).is_empty());
}

/// More time for the same work, and others had the machine meanwhile.
#[test]
fn what_the_machine_did_is_not_said_of_the_code() {
    let header = header(&["old", "new"], FIXED);
    let with = |foreign: f64, work: u64| {
        answered(&header, &move |contender, sequence| {
            let ms = [100.0, 132.0][contender] * noise(sequence, 0.01);
            let mut one = beside(score(sequence, ms * MS), [0.02, foreign][contender]);
            one.phases[0].covariates.worker_cpu_ns = Some([100, work][contender] * SECOND_NS / 100);
            one
        })
    };
    let found = with(0.768, 100);
    let pair = found.questions[0].pairs[0].turned();
    assert_eq!((pair.a_label.as_str(), pair.verdict), ("new", Verdict::Slower));
    let effect = pair.machine_effect.unwrap();
    assert_eq!(
        effect.words(&pair.a_label, &pair.b_label),
        "wall +32 %, CPU +0 %: the machine, not the code (others had 77 % of it in trials of new, \
         2 % in those of old)"
    );
    let none = |found: Verdicts| found.questions[0].pairs[0].machine_effect.is_none();
    assert!(none(with(0.03, 100)), "others had no more: it may wait for its device");
    assert!(none(with(0.768, 130)), "it did more work");
}

#[test]
fn verdicts_say_what_they_hold_for() {
    let header = header(&["a", "b"], FIXED);
    let found = answered(&header, &|_, sequence| score(sequence, 100.0 * MS));
    let scope = found.scope.unwrap();
    assert_eq!((scope.boots, scope.sessions), (1, 1));
    assert!(scope.machine.contains("CPU"), "{}", scope.machine);
    assert_eq!(scope.words().unwrap(), "on this machine, this boot, in these 2 minutes");
    let scores: Vec<TrialScore> = (0..12).map(|sequence| score(sequence, 100.0 * MS)).collect();
    let sessions = [records::session("one", 0), records::session("two", 5)];
    let found = verdicts(&header, &sessions, &scores, None, &[]).unwrap();
    assert_eq!(found.scope.unwrap().boots, 2);
}

/// Its looks were other looks: they are not compared with those of now.
#[test]
fn a_run_of_an_earlier_method_is_computed_by_the_present_one() {
    let mut header = header(&["a", "b"], LOOKS);
    header.plan.verdict.as_mut().unwrap().method = 1;
    let (scores, stop) = carry_out(&header, &|contender, sequence| {
        Some(score(sequence, [150.0, 100.0][contender] * MS * noise(sequence, 0.02)))
    });
    let judge = Judge::replay(&header.plan, &scores, Some(stop), &[]).unwrap();
    let found = verdicts(&header, &[], &scores, Some(stop), judge.looks()).unwrap();
    assert_eq!((found.method, found.computed_by), (1, METHOD_VERSION));
    assert_eq!(found.agrees_with_stored_looks, None);
}
