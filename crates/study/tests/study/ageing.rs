//! Ages: known ratios are found, and nothing is said that the intervals do not decide.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::run::RunState;
use fsarena_model::verdict::Verdict;
use fsarena_study::{Study, study};
use fsarena_testkit::records::{aged, in_ages};

fn studied(ages: &[&str], blocks: u32, longer: impl Fn(usize) -> f64) -> Study {
    let contenders = in_ages(&["ext4", "xfs"], ages);
    let (header, records) = aged(contenders, blocks, |contender, _| 1.0 / longer(contender));
    study(&header, RunState::Done, &[], &records)
}

#[test]
fn known_ratios_are_found_and_said() {
    // ext4 fresh and aged, xfs fresh and aged.
    let study = studied(&["fresh", "80%"], 8, |contender| [1.0, 1.4, 2.0, 2.0][contender]);
    let phases: Vec<&str> = study.ageing.iter().map(|view| view.phase.as_str()).collect();
    assert_eq!(phases, ["create", "read-random", "delete"]);
    let [ext4, xfs] = &study.ageing[0].ratios[..] else { panic!("{:?}", study.ageing[0]) };
    assert_eq!((ext4.contender, ext4.n), (1, 8));
    let said = (ext4.label.as_str(), ext4.base.as_str(), ext4.age.as_str());
    assert_eq!(said, ("ext4 aged 80%", "ext4", "aged 80%"));
    assert!((ext4.ratio.unwrap() / 1.4 - 1.0).abs() < 0.01, "{ext4:?}");
    let (low, high) = (ext4.ratio_low.unwrap(), ext4.ratio_high.unwrap());
    assert!(low < 1.4 && 1.4 < high && high / low < 1.05, "{ext4:?}");
    assert!((ext4.aged_ns.unwrap() / ext4.fresh_ns.unwrap() / 1.4 - 1.0).abs() < 0.02);
    assert_eq!(ext4.verdict, Some(Verdict::Slower));
    assert_eq!(xfs.verdict, Some(Verdict::Same));
    let words = &study.ageing[0].words;
    assert!(words[0].starts_with("ext4 takes 1.4") && words[0].contains("aged 80% as fresh ("));
    assert!(words[1].starts_with("xfs takes as long aged 80% as fresh: the same within 5 %"));
}

#[test]
fn one_block_decides_nothing_and_says_so() {
    let study = studied(&["fresh", "80%"], 1, |contender| [1.0, 1.4, 2.0, 2.0][contender]);
    let words = &study.ageing[0].words[0];
    assert_eq!(words, "ext4 took 1.40 times as long aged 80%, of too few blocks to decide");
    assert_eq!(study.ageing[0].ratios[0].verdict, Some(Verdict::Undecided));
}

#[test]
fn ages_without_a_fresh_one_are_shown_and_not_compared() {
    let study = studied(&["50%", "80%"], 4, |_| 1.0);
    assert!(study.ageing.is_empty());
    assert_eq!(study.ages.len(), 4);
    let row = &study.ages[3];
    assert_eq!((row.label.as_str(), row.n, row.files), ("xfs aged 80%", 4, Some(6461)));
    assert_eq!(row.operations_sha256.len(), 1);
    assert!((row.extents_per_file.unwrap().median - 1.3).abs() < 1e-9);
    assert!((row.used_percent.unwrap().median - 850.0 / 10.24).abs() < 1e-9);
    let fresh = studied(&["fresh"], 4, |_| 1.0);
    assert!(fresh.ages.is_empty() && fresh.ageing.is_empty());
}
