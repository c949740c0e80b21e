//! Response curves: how a measure goes over the levels of a swept option, a chart a measure.

use super::Unit;
use crate::context::SectionContext;
use crate::labels::sweep_title;
use crate::verdict::answers::percent;
use fsarena_chart::{Axis, Head, Level, Levels, Spot, Standing};
use fsarena_model::verdict::Verdict;
use fsarena_study::sweep::SweepPoint;
use fsarena_study::{SweepCurve, SweepMeasure, SweepView};

/// The curve of one measure; `sweep` is its number among those of the RUN, from 0.
pub(crate) fn levels(
    context: &SectionContext<'_>,
    (sweep, view): (usize, &SweepView),
    curve: &SweepCurve,
) -> Levels {
    let unit = unit_of(curve);
    let name = curve.measure.name();
    let level = |(at, level): (usize, &fsarena_study::sweep::SweepLevel)| {
        let point = curve.points.get(at).copied().unwrap_or_default();
        Level {
            at: level.value as f64,
            label: level.text.clone(),
            value: point.geometric_mean.map(|mean| Spot {
                value: unit.convert(mean),
                tip: tip(curve, at, &point, &level.label),
            }),
            interval: point
                .low
                .zip(point.high)
                .map(|(low, high)| (unit.convert(low), unit.convert(high))),
            standing: standing(curve, at, &point),
        }
    };
    Levels {
        head: Head {
            id: format!("{}-s{}-{}", context.prefix, sweep + 1, id_of(curve.measure)),
            title: format!("{}: {name}", sweep_title(view)),
            description: description(view, curve),
        },
        axis: Axis {
            title: if unit.name.is_empty() {
                format!("{name} (less is better)")
            } else {
                format!("{name}, {} (less is better)", unit.name)
            },
            log: false,
            unit: if unit.name.is_empty() { String::new() } else { format!(" {}", unit.name) },
        },
        option: view.option.clone(),
        hue: sweep,
        levels: view.levels.iter().enumerate().map(level).collect(),
        flat: curve.flat,
        same: format!("the same within {}", percent(view.margin)),
    }
}

/// The unit that all values of a curve are shown in.
pub(crate) fn unit_of(curve: &SweepCurve) -> Unit {
    let most = curve.points.iter().filter_map(|point| point.geometric_mean).fold(0.0, f64::max);
    match curve.measure {
        SweepMeasure::Work | SweepMeasure::Durable => Unit::of_ns(most.round() as u64),
        SweepMeasure::Busy => Unit { name: "%", size: 0.01 },
        SweepMeasure::WrittenPerS => Unit { name: "MB/s", size: 1e6 },
        SweepMeasure::Amplification | SweepMeasure::Space => Unit { name: "", size: 1.0 },
    }
}

fn id_of(measure: SweepMeasure) -> &'static str {
    match measure {
        SweepMeasure::Work => "work",
        SweepMeasure::Durable => "durable",
        SweepMeasure::Busy => "busy",
        SweepMeasure::WrittenPerS => "rate",
        SweepMeasure::Amplification => "amplification",
        SweepMeasure::Space => "space",
    }
}

fn standing(curve: &SweepCurve, at: usize, point: &SweepPoint) -> Standing {
    match point.against_best {
        _ if curve.best == Some(at) => Standing::Best,
        Some(Verdict::Same) => Standing::Same,
        _ => Standing::Other,
    }
}

/// `ext4 4096: 150 s [148 s, 152 s], × 1.02 the best, SAME`.
fn tip(curve: &SweepCurve, at: usize, point: &SweepPoint, label: &str) -> String {
    let text = |value: f64| curve.measure.text(value);
    let mut tip = format!("{label}: {}", text(point.geometric_mean.unwrap_or_default()));
    if let Some((low, high)) = point.low.zip(point.high) {
        tip.push_str(&format!(" [{}, {}]", text(low), text(high)));
    }
    if curve.best == Some(at) {
        tip.push_str(", the best");
    } else if let Some(ratio) = point.ratio_to_best {
        tip.push_str(&format!(", {ratio:.2} × the best"));
        if let Some(verdict) = point.against_best {
            tip.push_str(&format!(", {}", verdict.word()));
        }
    }
    tip
}

fn description(view: &SweepView, curve: &SweepCurve) -> String {
    let value = |at: usize| {
        let mean = curve.points.get(at)?.geometric_mean?;
        Some(format!("{} at {}", curve.measure.text(mean), view.levels.get(at)?.text))
    };
    let all: Vec<String> = (0..view.levels.len()).filter_map(value).collect();
    format!("{}. Geometric means: {}.", curve.words, all.join(", "))
}
