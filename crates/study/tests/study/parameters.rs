//! Curves over levels of a workload's parameter: known rates are found, each level by itself.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::parameter::Parameter;
use fsarena_model::run::RunState;
use fsarena_study::{RateUnit, study};
use fsarena_testkit::records::over_block_sizes;

#[test]
fn every_contender_has_a_rate_with_its_interval_at_each_level() {
    let known = [[1.0, 1.0, 1.0], [0.8, 1.0, 1.5]];
    let (header, records) = over_block_sizes(8, |contender, level| known[contender][level]);
    let views = study(&header, RunState::Done, &[], &records).parameters;
    let [view] = views.as_slice() else { panic!("{views:?}") };
    assert_eq!((view.workload.as_str(), view.phase.as_str()), ("database", "mixed"));
    assert_eq!((view.parameter, view.unit), (Parameter::Bs, RateUnit::Bytes));
    assert_eq!(view.others, "");
    let levels: Vec<&str> = view.levels.iter().map(|level| level.text.as_str()).collect();
    assert_eq!(levels, ["4 KiB", "64 KiB", "1 MiB"]);
    assert_eq!(view.levels[2].workload, "database bs=1 MiB");
    let labels: Vec<&str> = view.curves.iter().map(|curve| curve.label.as_str()).collect();
    assert_eq!(labels, ["ext4", "xfs"]);
    for (level, slower) in known[1].into_iter().enumerate() {
        let [ext4, xfs] = [0, 1].map(|contender| view.curves[contender].points[level]);
        let ratio = xfs.per_s.unwrap() / ext4.per_s.unwrap();
        assert!((ratio * slower - 1.0).abs() < 0.01, "{level}: {ratio}");
        for point in [ext4, xfs] {
            assert_eq!(point.n, 8);
            let (low, high) = (point.per_s_low.unwrap(), point.per_s_high.unwrap());
            assert!(low < point.per_s.unwrap() && point.per_s.unwrap() < high);
            assert!(high / low < 1.02, "{point:?}");
        }
    }
}

#[test]
fn what_has_no_record_has_no_figure() {
    let (header, mut records) = over_block_sizes(2, |_, _| 1.0);
    records.retain(|record| record.key.workload != "database bs=64 KiB");
    let views = study(&header, RunState::Done, &[], &records).parameters;
    let point = views[0].curves[0].points[1];
    assert_eq!((point.n, point.per_s), (0, None));
    assert!(views[0].curves[0].points[0].per_s.is_some());
    assert!(study(&header, RunState::Done, &[], &[]).parameters.is_empty());
}
