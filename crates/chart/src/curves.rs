//! Latency distributions: latency on a logarithmic axis, the share of ops on one that widens its
//! end (90 %, 99 %, 99.9 %, …).

use crate::ink::Ink;
use crate::legend::{Legend, Swatch, line_class};
use crate::rows;
use crate::scale::{Scale, fit, percent, time};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{SMALL, column, wrap};
use crate::{Head, Key, Svg};

/// Height of the plot, in units.
const TALL: f64 = 230.0;

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
    /// Contender.
    pub key: Key,
    /// Share of ops (0 to below 1) and the latency in ns that they did not exceed, both ascending.
    pub points: Vec<(f64, f64)>,
    /// Words for a tooltip: `ext4: half 63 µs, 99 % 1.1 ms, longest 8 ms`.
    pub tip: String,
}

impl Curves {
    /// Draws it; one mark a curve with points. A latency that is not above 0 lies at the left end.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.curves.iter().all(|curve| curve.shown().next().is_none()) {
            return rows::empty(&self.head);
        }
        let shown = || self.curves.iter().flat_map(Curve::shown);
        let entries = self.curves.iter().filter(|curve| curve.shown().next().is_some());
        let swatch = |key: &Key| (Swatch::Line { class: line_class(key.hue) }, key.label.clone());
        let legend = Legend::new(entries.map(|curve| swatch(&curve.key)));
        let title = wrap(&self.title, WIDTH, SMALL, 2);
        let top = title.iter().fold(legend.height + 6.0, |top, _| top + 16.0) + 4.0;
        let shares =
            Scale::tail(shown().map(|(share, _)| share).fold(0.0, f64::max), (top + TALL, top));
        let ticks = shares.ticks(10);
        let words: Vec<_> = ticks.iter().copied().map(percent).collect();
        let left = column(words.iter().map(String::as_str), SMALL, (30.0, 80.0)) + 8.0;
        let latencies = self.latencies((left, WIDTH - 10.0));
        let mut sheet = Sheet::new(&self.head, top + TALL + 22.0);
        legend.draw(&sheet, 0.0);
        for (line, y) in title.iter().zip([14.0, 30.0]) {
            sheet.text((0.0, legend.height + y), Anchor::Left, Ink::Title, line);
        }
        for (tick, words) in ticks.iter().zip(&words) {
            let y = shares.at(*tick);
            sheet.path(&[(left, y), (WIDTH - 10.0, y)], Ink::Grid);
            sheet.text((left - 6.0, y + 4.0), Anchor::Right, Ink::Tick, words);
        }
        let ticks = latencies.ticks(rows::room_for(&latencies, 60.0));
        let ticks: Vec<_> = ticks.into_iter().map(|tick| (tick, time(tick))).collect();
        rows::numbers(&sheet, &latencies, (top, top + TALL), top + TALL + 16.0, &ticks);
        for curve in &self.curves {
            curve.draw(&mut sheet, &latencies, &shares);
        }
        sheet.finish()
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
