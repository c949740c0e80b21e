//! Charts of lines. Time series: panels below each other over one axis of time, with the spans of
//! phases behind. Latency distributions: latency on a logarithmic axis, the share of ops on one
//! that widens its end (90 %, 99 %, 99.9 %, …).

use crate::ink::Ink;
use crate::rows::{self, Legend, Swatch, Top, Upright, line_class};
use crate::scale::{Scale, fit, percent, tick_words, time};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{SMALL, column, shorten};
use crate::{Head, Key, Svg};

/// Height of the plot of a panel, in units.
const TALL: f64 = 72.0;
/// Where plots begin and end, in units.
const PLACE: (f64, f64) = (44.0, WIDTH - 8.0);
/// Stretches of time that a line keeps the least and the largest value of.
const STRETCHES: f64 = 150.0;

/// Panels over one axis of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traces {
    /// Title and description.
    pub head: Head,
    /// Panels, from the top.
    pub panels: Vec<Panel>,
    /// Phases, and the clocks in them.
    pub spans: Vec<Span>,
}

/// A panel with its own axis of values, from zero.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Panel {
    /// What it shows, with its unit: `device, MB/s`.
    pub title: String,
    /// One line each.
    pub traces: Vec<Trace>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// Its name in the legend; empty where the panel has one line alone.
    pub label: String,
    pub hue: usize,
    /// Time in s and value, in order of time; a gap where the value is absent.
    pub points: Vec<(f64, Option<f64>)>,
}

/// A stretch of time with a name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Span {
    pub label: String,
    /// Its beginning, s.
    pub from_s: f64,
    /// Its end, s.
    pub to_s: f64,
}

impl Traces {
    /// Draws it; one mark a line with at least one value. Long series are thinned to what can be
    /// seen, keeping the least and the largest value of each stretch.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if !self.panels.iter().flat_map(|panel| &panel.traces).any(Trace::any) {
            return rows::empty(&self.head);
        }
        let ends = self.spans.iter().flat_map(|span| [span.from_s, span.to_s]).filter_map(fit);
        let times = self.panels.iter().flat_map(|panel| &panel.traces);
        let times = times.flat_map(|trace| &trace.points).filter_map(|(time_s, _)| fit(*time_s));
        let times = Scale::linear(ends.chain(times).fold(0.0, f64::max), PLACE);
        let top = if self.spans.is_empty() { 4.0 } else { 20.0 };
        let heads: Vec<_> = self.panels.iter().map(Panel::legend).collect();
        let bottom = heads.iter().fold(top, |y, legend| y + panel_height(legend));
        let mut sheet = Sheet::new(&self.head, bottom + 24.0);
        for (at, span) in self.spans.iter().enumerate() {
            span.draw(&sheet, &times, at, (top, bottom));
        }
        let mut y = top;
        for (panel, legend) in self.panels.iter().zip(&heads) {
            panel.draw(&mut sheet, &times, legend, y);
            y += panel_height(legend);
        }
        let ticks = times.ticks(rows::room_for(&times, 50.0));
        let words = tick_words(&ticks).into_iter().map(|word| format!("{word} s"));
        let ticks: Vec<_> = ticks.iter().copied().zip(words).collect();
        rows::numbers(&sheet, &times, (bottom, bottom + 4.0), bottom + 17.0, &ticks);
        sheet.finish()
    }
}

/// Title, legend and plot.
fn panel_height(legend: &Legend) -> f64 {
    20.0 + legend.height + TALL + 14.0
}

impl Span {
    /// The stretch behind the panels, and its name above where there is room.
    fn draw(&self, sheet: &Sheet<'_>, times: &Scale, at: usize, (top, bottom): (f64, f64)) {
        let Some((from, to)) = fit(self.from_s).zip(fit(self.to_s)) else { return };
        let (from, to) = (times.at(from.min(to)), times.at(from.max(to)));
        let ink = if at.is_multiple_of(2) { Ink::Even } else { Ink::Odd };
        sheet.raw(&self.label, |sheet| {
            sheet.rect((from, top - 4.0), (to, bottom), ink);
            let label = shorten(&self.label, to - from - 4.0, SMALL);
            if label == self.label || label.chars().count() > 4 {
                sheet.text((from + 2.0, top - 8.0), Anchor::Left, Ink::Span, &label);
            }
        });
    }
}

impl Panel {
    fn legend(&self) -> Legend {
        let named = self.traces.iter().enumerate();
        let named = named.filter(|(_, trace)| trace.any() && !trace.label.is_empty());
        let swatch = |at, trace: &Trace| Swatch::Line { class: trace.class(at) };
        Legend::new(named.map(|(at, trace)| (swatch(at, trace), trace.label.clone())))
    }

    fn draw(&self, sheet: &mut Sheet<'_>, times: &Scale, legend: &Legend, top: f64) {
        let title = shorten(&self.title, WIDTH - 8.0, SMALL);
        sheet.text((0.0, top + 13.0), Anchor::Left, Ink::Title, &title);
        legend.draw(sheet, top + 18.0);
        let from = top + 20.0 + legend.height;
        let most = self.traces.iter().flat_map(Trace::values).fold(0.0, f64::max);
        let values = Scale::linear(most * 1.04, (from + TALL, from));
        Upright::new(&values, 4).draw(sheet, &values, PLACE);
        if !self.traces.iter().any(Trace::any) {
            let y = from + TALL / 2.0;
            sheet.text((PLACE.0 + 8.0, y), Anchor::Left, Ink::Note, "no figures");
        }
        for (at, trace) in self.traces.iter().enumerate().filter(|(_, trace)| trace.any()) {
            let tip = rows::tip(&self.title, &trace.label, "");
            sheet.mark(&trace.class(at), &tip, |sheet| trace.draw(sheet, times, &values));
        }
    }
}

impl Trace {
    /// Dashes by its place in the panel, and not by its hue: most panels have one line, and a long
    /// line is read best without.
    fn class(&self, at: usize) -> String {
        format!("{} thin d{}", rows::hue(self.hue), at % 5)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let points = self.points.iter();
        points.filter_map(|(time_s, value)| fit(*time_s).and(value.and_then(fit)))
    }

    fn any(&self) -> bool {
        self.values().next().is_some()
    }

    fn draw(&self, sheet: &Sheet<'_>, times: &Scale, values: &Scale) {
        for stretch in self.stretches() {
            let path: Vec<_> = thin(&stretch, times)
                .into_iter()
                .map(|(time_s, value)| (times.at(time_s), values.at(value)))
                .collect();
            match path[..] {
                [alone] => sheet.dot(alone, 1.5, Ink::Middle),
                _ => sheet.path(&path, Ink::Line),
            }
        }
    }

    /// Values without a gap between them.
    fn stretches(&self) -> Vec<Vec<(f64, f64)>> {
        let gap =
            |(time_s, value): &(f64, Option<f64>)| fit(*time_s).and(value.and_then(fit)).is_none();
        let parts = self.points.split(gap).filter(|part| !part.is_empty());
        parts
            .map(|part| part.iter().filter_map(|(time, value)| Some((*time, (*value)?))).collect())
            .collect()
    }
}

/// The first, least, largest and last value of every stretch of time that is as wide as a point.
fn thin(points: &[(f64, f64)], times: &Scale) -> Vec<(f64, f64)> {
    let (from, to) = times.ends();
    let slot = |point: &(f64, f64)| ((times.at(point.0) - from) / (to - from) * STRETCHES) as i64;
    let mut thinned = Vec::new();
    for part in points.chunk_by(|one, other| slot(one) == slot(other)) {
        let by_value = |one: &&(f64, f64), other: &&(f64, f64)| one.1.total_cmp(&other.1);
        let (least, most) = (part.iter().min_by(by_value), part.iter().max_by(by_value));
        let mut kept: Vec<_> =
            [part.first(), least, most, part.last()].into_iter().flatten().collect();
        kept.sort_by(|one, other| one.0.total_cmp(&other.0));
        kept.dedup();
        thinned.extend(kept.into_iter().copied());
    }
    thinned
}

/// Height of the plot, in units.
const CURVE_TALL: f64 = 230.0;

/// One curve a contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Curves {
    /// Title and description.
    pub head: Head,
    /// Title of the axis of latencies.
    pub title: String,
    /// In the order of the legend.
    pub curves: Vec<Curve>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Curve {
    pub key: Key,
    /// Share of ops (0 to below 1) and the latency in ns that they did not exceed, both ascending.
    pub points: Vec<(f64, f64)>,
    /// Words for a tooltip: `ext4: half 63 µs, 99 % 1.1 ms, longest 8 ms`.
    pub tip: String,
}

impl Curves {
    /// Draws it; one mark a curve with points. A latency that is not above 0 is at the left end.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if !self.any() {
            return rows::empty(&self.head);
        }
        let mut sheet = Sheet::new(&self.head, self.height());
        self.draw_from(&mut sheet, 0.0);
        sheet.finish()
    }

    /// Whether a curve has points.
    pub(crate) fn any(&self) -> bool {
        self.curves.iter().any(|curve| curve.shown().next().is_some())
    }

    fn top(&self) -> Top {
        let entries = self.curves.iter().filter(|curve| curve.shown().next().is_some());
        let swatch = |key: &Key| (Swatch::Line { class: line_class(key.hue) }, key.label.clone());
        let legend = Legend::new(entries.map(|curve| swatch(&curve.key)));
        Top::new(legend, &self.title, 14.0)
    }

    /// Of the whole, in units.
    pub(crate) fn height(&self) -> f64 {
        self.top().height() + 10.0 + CURVE_TALL + 22.0
    }

    /// Draws it on a sheet from `y` on.
    pub(crate) fn draw_from(&self, sheet: &mut Sheet<'_>, y: f64) {
        let head = self.top();
        let top = y + head.height() + 10.0;
        let shown = self.curves.iter().flat_map(Curve::shown);
        let shares =
            Scale::tail(shown.map(|(share, _)| share).fold(0.0, f64::max), (top + CURVE_TALL, top));
        let ticks = shares.ticks(10);
        let words: Vec<_> = ticks.iter().copied().map(percent).collect();
        let left = column(words.iter().map(String::as_str), SMALL, (30.0, 80.0)) + 8.0;
        let latencies = self.latencies((left, WIDTH - 10.0));
        head.draw(sheet, y);
        for (tick, words) in ticks.iter().zip(&words) {
            let y = shares.at(*tick);
            sheet.path(&[(left, y), (WIDTH - 10.0, y)], Ink::Grid);
            sheet.text((left - 6.0, y + 4.0), Anchor::Right, Ink::Tick, words);
        }
        let ticks = latencies.ticks(rows::room_for(&latencies, 60.0));
        let ticks: Vec<_> = ticks.into_iter().map(|tick| (tick, time(tick))).collect();
        rows::numbers(sheet, &latencies, (top, top + CURVE_TALL), top + CURVE_TALL + 16.0, &ticks);
        for curve in &self.curves {
            curve.draw(sheet, &latencies, &shares);
        }
    }

    fn latencies(&self, place: (f64, f64)) -> Scale {
        let shown = || self.curves.iter().flat_map(Curve::shown).map(|(_, ns)| ns);
        let most = shown().fold(0.0, f64::max);
        let least = shown().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
        if most <= 0.0 {
            return Scale::log(1.0, 10.0, place);
        }
        Scale::log(least / 1.1, most * 1.1, place)
    }
}

impl Curve {
    /// Points that are numbers, with a share from 0 to 1.
    fn shown(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.points.iter();
        points.filter_map(|&(share, ns)| Some((fit(share)?.clamp(0.0, 1.0), fit(ns)?)))
    }

    fn draw(&self, sheet: &mut Sheet<'_>, latencies: &Scale, shares: &Scale) {
        let place = |(share, ns): (f64, f64)| (latencies.at(ns), shares.at(share));
        let path: Vec<_> = self.shown().map(place).collect();
        let Some(&last) = path.last() else { return };
        let tip = rows::tip(&self.key.label, &self.tip, "");
        sheet.mark(&line_class(self.key.hue), &tip, |sheet| {
            sheet.path(&path, Ink::Line);
            sheet.dot(last, 2.5, Ink::Middle);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_ends_and_every_peak() {
        let mut points: Vec<_> = (0..30_000).map(|at| (f64::from(at) / 100.0, 1.0)).collect();
        points[12_345].1 = 9.0;
        points[20_001].1 = 0.0;
        let thinned = thin(&points, &Scale::linear(300.0, PLACE));
        assert!(thinned.len() <= 4 * 302, "{}", thinned.len());
        for kept in [points[0], points[12_345], points[20_001], points[29_999]] {
            assert!(thinned.contains(&kept), "{kept:?}");
        }
        assert!(thinned.is_sorted_by(|one, other| one.0 <= other.0));
    }

    #[test]
    fn a_gap_parts_the_line() {
        let points = vec![
            (0.0, Some(1.0)),
            (1.0, Some(2.0)),
            (2.0, None),
            (3.0, Some(f64::NAN)),
            (4.0, Some(1.0)),
        ];
        let stretches = Trace { points, ..Trace::default() }.stretches();
        assert_eq!(stretches, [vec![(0.0, 1.0), (1.0, 2.0)], vec![(4.0, 1.0)]]);
    }
}
