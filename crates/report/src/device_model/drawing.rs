//! The drawings of a model: its curves as text and as SVG, its latencies as SVG.

use super::document::{DeviceModel, DeviceModelAxis, DeviceModelCurve, DeviceModelLatencies};
use crate::text::{MIN_WIDTH, Style, capital};
use crate::text_plot::{TextAxis, TextLine, TextPlot};
use fsarena_chart::{Axis, Curve, Curves, Head, Key, PaperWidth, Plot, PlotLine, Plots};

/// A curve of so many points has numbers of the axis along at them.
const FEW: usize = 16;
/// Most points of a latency curve.
const POINTS: usize = 200;

/// The curves as text, an empty line before each.
pub(super) fn text(curves: &[DeviceModelCurve], style: Style) -> String {
    let drawn = curves.iter().map(|curve| plot(curve).draw(MIN_WIDTH, style));
    drawn.filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).collect()
}

fn plot(curve: &DeviceModelCurve) -> TextPlot<'_> {
    TextPlot {
        title: capital(&curve.title),
        along: text_axis(&curve.along),
        upright: text_axis(&curve.upright),
        lines: curve
            .lines
            .iter()
            .map(|line| TextLine {
                label: &line.label,
                points: line.points.iter().map(|point| (point.at, point.value)).collect(),
            })
            .collect(),
    }
}

fn text_axis(axis: &DeviceModelAxis) -> TextAxis<'_> {
    let unit = if axis.unit.is_empty() { &axis.words } else { &axis.unit };
    TextAxis { title: titled(axis), unit, is_log: axis.is_log }
}

/// What lies on an axis, with its unit.
fn titled(axis: &DeviceModelAxis) -> String {
    match axis.unit.as_str() {
        "" => axis.words.clone(),
        unit => format!("{}, {unit}", axis.words),
    }
}

/// The curves and latencies of a model as one SVG file.
#[must_use]
pub fn device_model_svg(of: &DeviceModel, latencies: &[DeviceModelLatencies]) -> String {
    let line = &of.model;
    let titles = of.curves.iter().map(|curve| curve.title.as_str());
    let titles: Vec<&str> = titles.chain(["latency of each request"]).collect();
    let head = Head {
        id: format!("model-{}", line.name),
        name: vec![line.name.clone(), "measured".to_owned()],
        title: format!("{} in simulated time", line.name),
        description: format!(
            "Measured of {} in simulated time: {}.",
            line.title,
            titles.join("; ")
        ),
    };
    let plots = of.curves.iter().map(svg_plot).collect();
    let latencies = Some(latency_curves(latencies));
    Plots { head, plots, latencies }.draw().file(PaperWidth::default())
}

fn svg_plot(curve: &DeviceModelCurve) -> Plot {
    let axis = |axis: &DeviceModelAxis| Axis {
        log: axis.is_log,
        ..Axis::linear(titled(axis), axis.unit.clone())
    };
    let lines = curve.lines.iter().enumerate().map(|(hue, line)| PlotLine {
        key: Key { label: line.label.clone(), hue },
        points: line.points.iter().map(|point| (point.at, point.value)).collect(),
        tip: if line.label.is_empty() { curve.title.clone() } else { line.label.clone() },
    });
    // Numbers of things are whole, and sizes that double are no powers of ten.
    let step = if curve.along.is_log { 2 } else { 1 };
    let first = curve.lines.first().filter(|line| line.points.len() <= FEW);
    let ticks = first.iter().flat_map(|line| line.points.iter().step_by(step));
    Plot {
        title: capital(&curve.title),
        along: axis(&curve.along),
        ticks: ticks.map(|point| (point.at, point.at.to_string())).collect(),
        upright: axis(&curve.upright),
        lines: lines.collect(),
    }
}

fn latency_curves(latencies: &[DeviceModelLatencies]) -> Curves {
    let curves = latencies.iter().enumerate().map(|(hue, of)| Curve {
        key: Key { label: of.label.clone(), hue },
        points: shares(&of.latencies_ns),
        tip: of.label.clone(),
    });
    Curves {
        head: Head { title: "Latency of each request".to_owned(), ..Head::default() },
        title: "share of requests that took no longer".to_owned(),
        curves: curves.collect(),
    }
}

/// Shares of requests, and the latency that they did not exceed.
fn shares(latencies_ns: &[u64]) -> Vec<(f64, f64)> {
    let count = latencies_ns.len();
    let step = count.div_ceil(POINTS).max(1);
    let last = count.checked_sub(1);
    let at = (0..count).step_by(step).chain(last);
    at.map(|at| (at as f64 / count as f64, latencies_ns[at] as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_model::document::{DeviceModelCurveLine, DeviceModelLine, DeviceModelPoint};

    fn curve(name: &str, is_log: bool, labels: &[&str]) -> DeviceModelCurve {
        let axis = |words: &str, unit: &str| DeviceModelAxis {
            words: words.into(),
            unit: unit.into(),
            is_log,
        };
        let points = (0..12).map(|at| f64::from(4 << at));
        let points: Vec<_> = points.map(|at| DeviceModelPoint { at, value: at / 10.0 }).collect();
        let line =
            |label: &&str| DeviceModelCurveLine { label: (*label).into(), points: points.clone() };
        DeviceModelCurve {
            name: name.into(),
            title: format!("{name} over a size"),
            along: axis("size", "KiB"),
            upright: axis("rate", "MB/s"),
            lines: labels.iter().map(line).collect(),
        }
    }

    #[test]
    fn the_drawing_has_every_curve_and_every_kind_of_request() {
        let model = DeviceModelLine {
            name: "card-x".into(),
            title: "A card".into(),
            kind: "card".into(),
            capacity_bytes: 4_000_000_000,
            fitted: 1,
            held_out: 2,
            is_calibrated: true,
        };
        let curves =
            vec![curve("writes", true, &["in order", "at random"]), curve("reads", false, &[""])];
        let of = DeviceModel { model, notes: Vec::new(), seed: 1, rows: Vec::new(), curves };
        let latencies = |label: &str, ns: u64| DeviceModelLatencies {
            label: label.into(),
            latencies_ns: (1..=1000).map(|n| n * ns).collect(),
        };
        let svg = device_model_svg(&of, &[latencies("random read", 10_000), latencies("fsync", 9)]);
        for words in ["Writes over a size", "at random", "4096", "rate, MB/s", "Latency of each"] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        assert!(svg.contains("random read") && svg.contains("fsync"), "{svg}");
        assert!(svg.starts_with("<?xml") && !svg.contains("var("));
        let text = text(&of.curves, Style::default());
        assert_eq!(text.lines().count(), 2 * 15, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= MIN_WIDTH), "{text}");
    }
}
