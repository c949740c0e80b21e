//! Scaling over ranks and hosts: known speed-ups are found, and nothing is said that the intervals
//! do not decide.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::contender::Contender;
use fsarena_model::factor;
use fsarena_model::io::Io;
use fsarena_model::run::RunState;
use fsarena_model::verdict::Verdict;
use fsarena_study::{RateUnit, ScalingLevel, ScalingOver, ScalingView, study};
use fsarena_testkit::records::{in_ranks, on_hosts, scaled};

fn viewed(
    contenders: Vec<Contender>,
    blocks: u32,
    speed_up: impl Fn(usize, &str) -> f64,
) -> Vec<ScalingView> {
    let (header, records) = scaled(contenders, blocks, speed_up);
    study(&header, RunState::Done, &[], &records).scaling
}

fn close(value: Option<f64>, wanted: f64) -> bool {
    value.is_some_and(|value| (value / wanted - 1.0).abs() < 0.01)
}

#[test]
fn known_speed_ups_are_found_and_lie_in_their_intervals() {
    let known = [1.0, 1.9, 3.1, 3.1];
    let views = viewed(in_ranks(&[1, 2, 4, 8]), 8, |contender, _| known[contender]);
    let phases: Vec<&str> = views.iter().map(|view| view.phase.as_str()).collect();
    assert_eq!(phases, ["create", "read-random", "delete"]);
    let view = &views[0];
    assert_eq!((view.over, view.contender.as_str()), (ScalingOver::Ranks, "directory"));
    assert_eq!(view.unit, RateUnit::Files);
    for (level, (number, wanted)) in view.levels.iter().zip([1, 2, 4, 8].into_iter().zip(known)) {
        assert_eq!((level.number, level.n), (number, 8));
        assert!(close(level.speed_up, wanted), "{level:?}");
        assert!(close(level.efficiency, wanted / f64::from(number)), "{level:?}");
        // 1,000 files in a second.
        assert!(close(level.per_s, view.levels[0].per_s.unwrap() * wanted), "{level:?}");
        assert!(level.per_s_low < level.per_s && level.per_s < level.per_s_high);
        if number == 1 {
            let alone = (level.speed_up, level.speed_up_low, level.against_fewest);
            assert_eq!(alone, (Some(1.0), None, None));
            continue;
        }
        let (low, high) = (level.speed_up_low.unwrap(), level.speed_up_high.unwrap());
        assert!(low < wanted && wanted < high && high / low < 1.05, "{level:?}");
        let times = f64::from(number);
        assert!((level.efficiency_low.unwrap() - low / times).abs() < 1e-12);
        assert!((level.efficiency_high.unwrap() - high / times).abs() < 1e-12);
        assert_eq!(level.against_fewest, Some(Verdict::Faster));
    }
    let against: Vec<_> = view.levels.iter().map(|level| level.against_previous).collect();
    let faster = Some(Verdict::Faster);
    assert_eq!(against, [None, faster, faster, Some(Verdict::Same)]);
    assert!(view.words[0].starts_with("2 ranks are 1.90 times as fast as 1 (1.8"), "{view:?}");
    assert!(view.words[1].ends_with("; faster than 2"), "{view:?}");
    assert!(view.words[2].ends_with("; no faster than 4: the same within 5 %"), "{view:?}");
}

#[test]
fn more_can_be_slower_and_a_phase_has_a_curve_of_its_own() {
    let of = |contender: usize, phase: &str| match (contender, phase) {
        (1, "delete") => 0.5,
        (1, _) => 2.0,
        _ => 1.0,
    };
    let views = viewed(in_ranks(&[1, 2]), 6, of);
    let delete = views.iter().find(|view| view.phase == "delete").unwrap();
    assert!(close(delete.levels[1].efficiency, 0.25));
    assert_eq!(delete.levels[1].against_fewest, Some(Verdict::Slower));
    let said = "2 ranks are slower than 1: 0.50 times as fast (0.";
    assert!(delete.words[0].starts_with(said), "{:?}", delete.words);
    assert!(close(views[0].levels[1].efficiency, 1.0));
}

#[test]
fn what_is_not_decided_is_not_said() {
    let noisy = |contender: usize, _: &str| [1.0, 1.001][contender];
    let one = viewed(in_ranks(&[1, 2]), 1, noisy);
    let level = &one[0].levels[1];
    assert_eq!((level.speed_up_low, level.against_fewest), (None, Some(Verdict::Undecided)));
    assert!(
        one[0].words[0].ends_with("times as fast as 1, of too few blocks to decide"),
        "{one:?}"
    );
    let (header, mut records) = scaled(in_ranks(&[1, 2]), 4, noisy);
    for record in &mut records {
        let longer = if record.key.block % 2 == 0 { 3 } else { 1 };
        if header.plan.schedule[record.key.sequence as usize].contender == 1 {
            let clocks = &mut record.phases[0].clocks;
            clocks.durable_ns = clocks.durable_ns.map(|ns| ns * longer);
        }
    }
    let view = &study(&header, RunState::Done, &[], &records).scaling[0];
    let said = "whether 2 ranks are faster than 1 is not decided (";
    assert!(view.words[0].starts_with(said), "{:?}", view.words);
}

#[test]
fn hosts_with_a_rank_each_are_one_curve_and_crossed_ones_several() {
    let linear = |contender: usize, _: &str| [1.0, 2.0, 4.0][contender];
    let views = viewed(on_hosts(&[2, 4, 8]), 5, linear);
    assert_eq!(views.len(), 3, "a phase each, and none over ranks");
    let view = &views[0];
    assert_eq!((view.over, view.contender.as_str()), (ScalingOver::Hosts, "directory"));
    let efficiency = |level: &ScalingLevel| level.efficiency;
    assert!(view.levels.iter().map(efficiency).all(|share| close(share, 1.0)), "{view:?}");
    assert!(view.words[0].starts_with("4 hosts are 2.0"), "{:?}", view.words);
    assert!(view.words[0].contains("times as fast as 2 ("), "{:?}", view.words);

    let mut crossed = on_hosts(&[1, 2]);
    let more = in_ranks(&[4, 4]).into_iter().zip([1, 2]).map(|(mut one, hosts)| {
        one.levels.factors.insert(factor::HOST_COUNT.to_owned(), hosts.to_string());
        one.label = format!("directory hosts={hosts} ranks=4");
        one
    });
    crossed.extend(more);
    for (contender, ranks) in crossed.iter_mut().zip(["1", "2"]) {
        contender.label.push_str(&format!(" ranks={ranks}"));
    }
    let views = viewed(crossed, 3, |_, _| 1.0);
    let mut curves: Vec<_> =
        views.iter().map(|view| (view.over.name(), view.contender.as_str())).collect();
    curves.dedup();
    assert_eq!(
        curves,
        [
            ("hosts", "directory ranks=4"),
            ("ranks", "directory hosts=1"),
            ("ranks", "directory hosts=2")
        ]
    );
}

#[test]
fn a_phase_at_a_set_rate_and_one_number_have_no_curve() {
    assert!(viewed(in_ranks(&[4]), 4, |_, _| 1.0).is_empty());
    let (mut header, records) = scaled(in_ranks(&[1, 2]), 4, |_, _| 1.0);
    header.plan.workloads[0].phases[1].io = Io { rate: Some(100), ..Io::default() };
    let views = study(&header, RunState::Done, &[], &records).scaling;
    let phases: Vec<String> = views.into_iter().map(|view| view.phase).collect();
    let all = header.plan.workloads[0].phases.iter().map(|phase| phase.name.clone());
    let wanted: Vec<String> = all.enumerate().filter(|(at, _)| *at != 1).map(|one| one.1).collect();
    assert_eq!(phases, wanted);
}
