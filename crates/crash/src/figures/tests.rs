//! Tests of the figures: known shares, intervals that widen where points hang together, refusals.

use super::*;
use crate::findings::{LossWindow, StrayBytes, Violation};
use crate::promise::Promise;

fn point(is_broken: bool, window_ns: u64) -> Findings {
    let violation =
        Violation { promise: Promise::SyncedName, path: None, op: None, found: String::new() };
    Findings {
        at_ns: 100,
        class: Class::Dropall,
        sampling: Sampling::Uniform,
        violations: if is_broken { vec![violation] } else { vec![] },
        acknowledged_files: 10,
        acknowledged_files_lost: is_broken.into(),
        acknowledged_loss_ns: is_broken.then_some(7),
        loss_window: LossWindow { data_ns: window_ns, metadata_ns: window_ns / 2 },
        lost_bytes: 100,
        lost_names: 0,
        lost_names_of_synced_files: 0,
        replaced: ReplacedTargets { whole: 9, zeros: 1, ..ReplacedTargets::default() },
        appended: AppendTails { prefix: 2, ..AppendTails::default() },
        stray: StrayBytes::default(),
        is_prefix: !is_broken,
        mounted: Some(MountStep::ReadWrite),
        mount_ns: Some(5),
        replay_failed: false,
        needs_repair: None,
        is_usable: None,
        lost_and_found: 0,
        kernel_messages: 0,
        unknown_files: 0,
        not_judged_files: 0,
        later_files: 0,
    }
}

fn one(runs: &[RunFindings]) -> Figures {
    let mut all = figures(runs, &FigureOptions::default()).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0).1
}

fn width(figure: &Figure) -> f64 {
    figure.high.unwrap() - figure.low.unwrap()
}

#[test]
fn a_single_run_has_wilson_and_order_statistics() {
    let run: RunFindings = (0..90).map(|at| point(at < 24, at * 10)).collect();
    let found = one(&[run]);
    assert_eq!((found.contract_broken.hits, found.contract_broken.of), (24, 90));
    let share = found.contract_broken.share;
    assert_eq!(share.method, Method::Wilson);
    assert!(
        (share.low.unwrap() - 0.186).abs() < 0.001 && (share.high.unwrap() - 0.366).abs() < 0.001
    );
    assert_eq!((found.acknowledged_files_lost.hits, found.acknowledged_files_lost.of), (24, 900));
    let window = found.loss_window;
    assert_eq!((window.max_ns, window.p50_ns.method), (890, Method::OrderStatistics));
    assert!((window.p50_ns.value - 445.0).abs() < 1e-9);
    assert_eq!((window.p95_ns.method, window.p95_ns.low), (Method::None, None));
    assert_eq!((found.metadata_loss_window.max_ns, found.acknowledged_loss.max_ns), (445, 7));
    assert_eq!((found.replaced.zeros, found.appended.prefix), (90, 180));
    assert_eq!((found.replace_damaged.hits, found.needs_repair), (90, None));
    assert_eq!(found.mounted.get(&MountStep::ReadWrite), Some(&90));
}

/// The same number of hits: spread over the runs, or all in the points of few runs.
#[test]
fn points_that_hang_together_widen_the_interval() {
    let spread: Vec<RunFindings> =
        (0..10).map(|_| (0..30).map(|at| point(at < 9, 5)).collect()).collect();
    let heaped: Vec<RunFindings> =
        (0..10).map(|run| (0..30).map(|_| point(run < 3, 5)).collect()).collect();
    let (spread, heaped) = (one(&spread).contract_broken, one(&heaped).contract_broken);
    assert_eq!((spread.hits, heaped.hits, spread.of), (90, 90, 300));
    assert_eq!(spread.share.method, Method::ClusterBootstrap);
    assert!(width(&spread.share) < 0.01);
    // Runs as units: the standard error of 3 of 10 is 0.145.
    assert!((0.45..0.65).contains(&width(&heaped.share)), "{heaped:?}");
}

#[test]
fn none_of_many_has_an_upper_end_and_equal_seeds_give_equal_figures() {
    let runs: Vec<RunFindings> =
        (0..10).map(|run| (0..100).map(|at| point(false, run * 100 + at)).collect()).collect();
    let found = one(&runs);
    let share = found.contract_broken.share;
    assert_eq!((share.method, share.low), (Method::WilsonOfAllRuns, Some(0.0)));
    assert!((0.003..0.005).contains(&share.high.unwrap()));
    assert_eq!(found, one(&runs));
    let window = found.loss_window.p50_ns;
    assert!(window.low.unwrap() < window.value && window.value < window.high.unwrap());
    let uneven: Vec<RunFindings> =
        (0..10).map(|run| (0..9).map(|at| point(false, run * run * 37 + at)).collect()).collect();
    let with = |seed| figures(&uneven, &FigureOptions { alpha: 0.05, resamples: 40, seed });
    assert_ne!(with(1), with(2));
}

#[test]
fn classes_are_apart_and_what_is_no_rate_is_refused() {
    let prefix = Findings { class: Class::Prefix, ..point(false, 5) };
    let runs = [vec![point(true, 5), prefix.clone()], vec![prefix]];
    let all = figures(&runs, &FigureOptions::default()).unwrap();
    let counts: Vec<_> = all.iter().map(|(class, it)| (*class, it.runs, it.crash_points)).collect();
    assert_eq!(counts, [(Class::Prefix, 2, 2), (Class::Dropall, 1, 1)]);
    assert!(figures(&[], &FigureOptions::default()).unwrap().is_empty());
    let per_event = Findings { sampling: Sampling::PerEvent, ..point(false, 5) };
    let error = figures(&[vec![point(false, 5), per_event]], &FigureOptions::default());
    assert_eq!(error, Err(FigureError::PerEvent { run: 0, state: 1 }));
    let later = Findings { later_files: 1, ..point(false, 5) };
    let error = figures(&[vec![later]], &FigureOptions::default());
    assert_eq!(error, Err(FigureError::Later { run: 0, state: 0 }));
    let bad = FigureOptions { alpha: 2.0, ..FigureOptions::default() };
    assert!(figures(&[vec![point(false, 5)]], &bad).is_err());
}

#[test]
fn figures_come_back_from_text() {
    let found = one(&[vec![point(true, 5); 8]]);
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Figures>(&text).unwrap(), found);
}

#[test]
fn the_length_of_recovery_is_of_crash_points_that_could_be_mounted() {
    let mut run: Vec<Findings> = (0..21).map(|_| point(false, 9)).collect();
    for (number, found) in (1_u64..).zip(&mut run) {
        found.mount_ns = (number != 21).then_some(number * 10);
    }
    let figures = one(std::slice::from_ref(&run));
    assert_eq!(figures.recovery_points, 20);
    let recovery = figures.recovery.unwrap();
    assert_eq!((recovery.p50_ns.value, recovery.max_ns), (105.0, 200));
    let never: RunFindings =
        run.iter().cloned().map(|found| Findings { mount_ns: None, ..found }).collect();
    assert_eq!(one(std::slice::from_ref(&never)).recovery, None);
    let both = one(&[run, never]).recovery.unwrap();
    assert_eq!(both.max_ns, 200);
}
