//! Curves of models agree with what is measured and known of them otherwise.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_vdisk::measure::{Curve, CurveKind, Point, curves, measure};
use fsarena_vdisk::{Probe, Stroke, builtin};

fn curves_of(name: &str) -> Vec<Curve> {
    curves(&builtin(name).unwrap(), 1).unwrap()
}

/// The points of a line of a curve.
fn points(curves: &[Curve], kind: CurveKind, line: usize) -> Vec<Point> {
    let curve = curves.iter().find(|curve| curve.kind == kind).unwrap();
    curve.lines[line].points.clone()
}

/// The mean of these values.
fn mean(points: &[Point]) -> f64 {
    points.iter().map(|point| point.value).sum::<f64>() / points.len() as f64
}

fn assert_near(what: &str, one: f64, other: f64, share: f64) {
    assert!((one / other - 1.0).abs() <= share, "{what}: {one} and {other}");
}

#[test]
fn every_model_has_curves_of_positive_values_in_the_order_of_their_axis() {
    for name in fsarena_vdisk::names() {
        let curves = curves_of(name);
        assert!((1..=2).contains(&curves.len()), "{name}");
        for line in curves.iter().flat_map(|curve| &curve.lines) {
            assert!(line.points.len() >= 8, "{name}: {line:?}");
            assert!(line.points.is_sorted_by(|one, other| one.at < other.at), "{name}: {line:?}");
            let is_positive = |point: &Point| point.value.is_finite() && point.value > 0.0;
            assert!(line.points.iter().all(is_positive), "{name}: {line:?}");
        }
    }
}

/// The curve is the least of many accesses, the figure their mean less half a revolution.
#[test]
fn the_seek_curve_goes_through_the_seeks_that_are_measured_by_themselves() {
    for name in ["hdd-1998", "hdd-2003", "hdd-2007", "hdd-2012", "hdd-laptop"] {
        let seeks = points(&curves_of(name), CurveKind::Seek, 0);
        let falls = seeks.windows(2).find(|two| two[1].value <= two[0].value);
        assert_eq!(falls, None, "{name}: it falls");
        let sheet = builtin(name).unwrap();
        let figure = |stroke| measure(&sheet, &Probe::Seek { stroke }, 1).unwrap().value;
        assert_near(name, seeks[0].value, figure(Stroke::Track), 0.04);
        assert_near(name, seeks.last().unwrap().value, figure(Stroke::Full), 0.02);
        let quarter = seeks.iter().find(|point| (point.at - 25.0).abs() < 0.1).unwrap();
        assert_near(name, quarter.value, figure(Stroke::Quarter), 0.02);
    }
}

#[test]
fn zones_go_from_the_rate_at_the_start_to_that_at_the_end() {
    for name in ["hdd-2003", "hdd-2012"] {
        let zones = points(&curves_of(name), CurveKind::Zones, 0);
        let sheet = builtin(name).unwrap();
        let rate = |at| {
            let probe = Probe::SequentialRead { at, bytes: 1 << 20, depth: 1 };
            measure(&sheet, &probe, 1).unwrap().value
        };
        assert_near(name, zones[0].value, rate(0.0), 0.02);
        assert_near(name, zones.last().unwrap().value, rate(1.0), 0.05);
    }
}

/// The part with one bit a cell is 42 GB.
#[test]
fn sequential_writes_fall_where_the_fast_part_of_the_flash_is_full() {
    let curve = points(&curves_of("nvme-consumer"), CurveKind::SequentialWrites, 0);
    let (before, after): (Vec<_>, Vec<_>) = curve.iter().partition(|point| point.at < 42.0);
    assert_near("before", mean(&before[4..]), 2_460.0, 0.02);
    assert_near("after", mean(&after[2..]), 1_188.0, 0.02);
    let flat = points(&curves_of("ssd-x25m"), CurveKind::SequentialWrites, 0);
    assert_near("no such part", flat[2].value, flat.last().unwrap().value, 0.02);
}

/// More flash beyond the capacity: it falls later, and less.
#[test]
fn random_writes_fall_to_what_garbage_collection_leaves() {
    let falls = |name: &str| {
        let curve = points(&curves_of(name), CurveKind::RandomWrites, 0);
        let (first, half) = (curve[0].value, curve.len() / 2);
        let at = curve.iter().find(|point| point.value < 0.6 * first).unwrap().at;
        (at, mean(&curve[half..]) / first)
    };
    let (consumer, server) = (falls("nvme-consumer"), falls("nvme-plp"));
    assert!(consumer.0 < 0.4 && server.0 > 0.9, "{consumer:?} {server:?}");
    assert!(consumer.1 < 0.2 && server.1 > 0.4, "{consumer:?} {server:?}");
}

#[test]
fn a_card_writes_as_fast_at_random_as_in_order_from_its_allocation_unit_on() {
    let curves = curves_of("sd-good");
    let in_order = points(&curves, CurveKind::WriteSizes, 0);
    let at_random = points(&curves, CurveKind::WriteSizes, 1);
    let ratio = |at: usize| in_order[at].value / at_random[at].value;
    assert!(in_order[0].at == 4.0 && ratio(0) > 50.0, "{}", ratio(0));
    assert!(in_order[10].at == 4096.0 && (ratio(10) - 1.0).abs() < 0.02, "{}", ratio(10));
    let units = points(&curves, CurveKind::AllocationUnits, 0);
    assert_near("two are open", units[0].value, units[1].value, 0.01);
    assert!(units[2].value < units[1].value / 10.0, "the third closes one");
}

#[test]
fn the_same_seed_gives_the_same_curves() {
    assert_eq!(curves_of("hdd-2007"), curves_of("hdd-2007"));
    assert_eq!(curves_of("const").len(), 1);
}
