//! Time series: panels below each other over one axis of time, with the spans of phases behind.

use crate::ink::Ink;
use crate::legend::{Legend, Swatch};
use crate::rows;
use crate::scale::{Scale, fit, tick_words};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{SMALL, shorten};
use crate::{Head, Svg};

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
    /// Name.
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
        let ticks = values.ticks(4);
        for (tick, word) in ticks.iter().zip(tick_words(&ticks)) {
            let (y, ink) = (values.at(*tick), if *tick == 0.0 { Ink::Axis } else { Ink::Grid });
            sheet.path(&[(PLACE.0, y), (PLACE.1, y)], ink);
            sheet.text((PLACE.0 - 6.0, y + 4.0), Anchor::Right, Ink::Tick, &word);
        }
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
    #[allow(clippy::cast_possible_truncation)]
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
