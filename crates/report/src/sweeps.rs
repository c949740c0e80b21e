//! Sweeps of one number of mkfs: all measures side by side, each curve by itself, and where it is
//! flat.

use crate::bars::bar;
use crate::format::bytes;
use crate::style::{Detail, MIN_WIDTH, Style};
use crate::table::{Grid, Kind};
use crate::text::{bold, clean, wrap};
use fsarena_study::sweep::{SweepCurve, SweepPoint};
use fsarena_study::{Study, SweepMeasure, SweepView};

/// Columns of a bar.
const BAR_COLUMNS: usize = 20;

/// All sweeps of a RUN: levels with all measures and a sentence a curve; with more than
/// [`Detail::Brief`] every curve with its intervals, else those of the two times. Empty where
/// there is no sweep.
#[must_use]
pub fn sweep_tables(study: &Study, detail: Detail, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for view in &study.sweeps {
        for line in wrap("", &sweep_title(view), width).lines() {
            out.push_str(&format!("{}\n", bold(line, style.colour)));
        }
        out.push_str(&levels(view).render(width));
        let is_time =
            |one: &&SweepCurve| matches!(one.measure, SweepMeasure::Work | SweepMeasure::Durable);
        let is_asked = |one: &&SweepCurve| detail != Detail::Brief || is_time(one);
        for one in view.curves.iter().filter(has_points).filter(is_asked) {
            out.push_str(&format!("\n{}", curve(view, one, style).render(width)));
        }
        out.push('\n');
        for one in &view.curves {
            out.push_str(&wrap("- ", &one.words, width));
        }
        out.push('\n');
    }
    if !out.is_empty() {
        out.push_str(&wrap("", LEGEND, width));
    }
    out
}

/// Whether a curve has a table of its own: not where its words say that there is none.
pub(crate) fn has_points(curve: &&SweepCurve) -> bool {
    curve.best.is_some()
}

/// What stands below sweeps.
pub const LEGEND: &str = "Sweep: contenders that differ in this one number alone. Geometric means over trials with 95 % \
     intervals; the ratio to the best level is by the blocks that have both. SAME and flat are \
     said where they are shown by two one-sided tests within the margin, and FASTER or SLOWER (less \
     or more) where the interval of the ratio excludes 1; all pairs of levels of a curve are one \
     family, each curve has its own. These were not asked before block 1: what the RUN asked is \
     answered by its verdicts. slack: space used beyond what is stored. Only numbers of mkfs have \
     curves: levels that are words (a profile) or options of mount (compress=) stand in the other \
     tables and in the verdicts.";

/// What is swept.
#[must_use]
pub fn sweep_title(view: &SweepView) -> String {
    let SweepView { workload, phase, file_system, option, .. } = view;
    format!("{workload} / {phase}: {option} of {}", clean(file_system))
}

/// All measures by level: geometric means, with the ratio to the best.
pub(crate) fn levels(view: &SweepView) -> Grid {
    let mut columns = vec![(view.option.as_str(), Kind::Figure)];
    columns.extend(view.curves.iter().map(|curve| (curve.measure.name(), Kind::Narrow)));
    columns.push(("slack", Kind::Figure));
    columns.push(("file system", Kind::OptionalText(1)));
    let mut grid = Grid::new(&columns);
    for (at, level) in view.levels.iter().enumerate() {
        let mut cells = vec![level.text.clone()];
        cells.extend(view.curves.iter().map(|curve| value(curve, &curve.points[at])));
        cells.push(match level.slack_bytes.map(|spread| spread.median) {
            Some(slack) if slack < 0.0 => format!("-{}", bytes(Some((-slack).round() as u64))),
            slack => bytes(slack.map(|slack| slack.round() as u64)),
        });
        cells.push(level.label.clone());
        grid.row(cells);
    }
    grid
}

fn value(curve: &SweepCurve, point: &SweepPoint) -> String {
    point.geometric_mean.map_or_else(|| "-".to_owned(), |mean| curve.measure.text(mean))
}

/// One curve: level, mean, interval, ratio to the best, what is shown.
pub(crate) fn curve(view: &SweepView, curve: &SweepCurve, style: Style) -> Grid {
    let mut columns = vec![
        (view.option.as_str(), Kind::Figure),
        (curve.measure.name(), Kind::Figure),
        ("95 % interval", Kind::Figure),
        ("to the best", Kind::Figure),
        ("interval", Kind::Figure),
        ("shown", Kind::Text),
        ("n", Kind::Figure),
    ];
    if style.bars {
        columns.push(("", Kind::OptionalText(1)));
    }
    let mut grid = Grid::new(&columns);
    let means = curve.points.iter().filter_map(|point| point.geometric_mean);
    let most = means.fold(0.0, f64::max);
    for (at, (level, point)) in view.levels.iter().zip(&curve.points).enumerate() {
        let text = |value: f64| curve.measure.text(value);
        let between = |low: Option<f64>, high: Option<f64>, text: &dyn Fn(f64) -> String| {
            let both = low.zip(high);
            both.map_or_else(|| "-".to_owned(), |(a, b)| format!("{} - {}", text(a), text(b)))
        };
        let ratio = |value: f64| format!("{value:.3}");
        let mut cells = vec![
            level.text.clone(),
            value(curve, point),
            between(point.low, point.high, &text),
            point.ratio_to_best.map_or_else(|| "-".to_owned(), ratio),
            between(point.ratio_low, point.ratio_high, &ratio),
            curve.shown(at).unwrap_or("-").to_owned(),
            point.n.to_string(),
        ];
        if style.bars {
            cells.push(bar(point.geometric_mean.unwrap_or(0.0), most, BAR_COLUMNS));
        }
        grid.row(cells);
    }
    grid
}
