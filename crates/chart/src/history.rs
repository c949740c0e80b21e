//! How values go over an order of events, such as RUNs: a panel a figure, a line a contender with
//! an interval at each value, and a line that stands where a level has changed.

use crate::ink::Ink;
use crate::levels::{title_below, upright};
use crate::rows::{self, Legend, Swatch, Upright, line_class};
use crate::scale::{Scale, ordered, shown};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{LARGE, SMALL, shorten};
use crate::{Axis, Head, Key, Spot, Svg};

/// Height of the area of a panel, in units.
const TALL: f64 = 140.0;
/// Title of a panel and title of its upright axis, in units.
const TITLES: f64 = 38.0;
/// Names, title of the axis along, and the room to the next panel, in units.
const BELOW: f64 = 54.0;
/// Of the width that a title has: bold letters are wider than the estimate.
const BOLD: f64 = 0.9;
/// Widest name of an event, in units.
const WORD: f64 = 90.0;
/// Room next to the first and the last event, in units.
const SIDE: f64 = 18.0;

/// Panels below each other.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Histories {
    /// Title and description.
    pub head: Head,
    /// What a change is called in the legend.
    pub change: String,
    /// From the top.
    pub panels: Vec<HistoryPanel>,
}

/// One figure over events.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HistoryPanel {
    /// What it shows.
    pub title: String,
    /// It begins at zero.
    pub axis: Axis,
    /// What the events are.
    pub along: String,
    /// Names of the events, from the left; equal ones in a row are written once.
    pub events: Vec<String>,
    /// In the order of the legend.
    pub lines: Vec<HistoryLine>,
}

/// The values of one contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HistoryLine {
    pub key: Key,
    /// From the left.
    pub points: Vec<HistorySpot>,
    /// Changes: index of the last event before it and of the first one after it, with words.
    pub changes: Vec<(usize, usize, String)>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct HistorySpot {
    /// Index of its event.
    pub at: usize,
    pub value: Spot,
    /// An interval of the value.
    pub interval: Option<(f64, f64)>,
}

impl Histories {
    /// Draws it; one mark a value.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if !self.panels.iter().any(HistoryPanel::any) {
            return rows::empty(&self.head);
        }
        let heights = self.panels.iter().map(|panel| panel.height(&self.change));
        let mut sheet = Sheet::new(&self.head, heights.sum());
        let mut y = 0.0;
        for panel in &self.panels {
            panel.draw(&mut sheet, &self.change, y);
            y += panel.height(&self.change);
        }
        sheet.finish()
    }
}

impl HistoryPanel {
    fn any(&self) -> bool {
        self.lines.iter().any(|line| line.shown().next().is_some())
    }

    fn legend(&self, change: &str) -> Legend {
        let named = self.lines.iter().filter(|line| line.shown().next().is_some());
        let swatch = |key: &Key| (Swatch::Line { class: line_class(key.hue) }, key.label.clone());
        let changed = self.lines.iter().any(|line| !line.changes.is_empty());
        let mark = changed.then(|| (Swatch::One, change.to_owned()));
        Legend::new(named.map(|line| swatch(&line.key)).chain(mark))
    }

    fn height(&self, change: &str) -> f64 {
        TITLES + self.legend(change).height + TALL + BELOW
    }

    fn draw(&self, sheet: &mut Sheet<'_>, change: &str, y: f64) {
        let legend = self.legend(change);
        let title = shorten(&self.title, WIDTH * BOLD, LARGE);
        sheet.text((0.0, y + 12.0), Anchor::Left, Ink::Heading, &title);
        legend.draw(sheet, y + 17.0);
        let top = y + TITLES + legend.height;
        let bottom = top + TALL;
        let title = shorten(&self.axis.title, WIDTH, SMALL);
        sheet.text((0.0, top - 8.0), Anchor::Left, Ink::Title, &title);
        let values = Scale::linear(self.most() * 1.06, (bottom, top));
        let axis = Upright::new(&values, 5);
        let left = axis.width((16.0, 70.0));
        axis.draw(sheet, &values, (left, WIDTH));
        let along = Along { left: left + SIDE, right: WIDTH - SIDE, events: self.events.len() };
        self.names(sheet, &along, bottom);
        title_below(sheet, (left, bottom), &self.along);
        for line in &self.lines {
            line.draw(sheet, &along, &values, (top, bottom));
        }
    }

    /// The names of events at the axis, the first of those that are equal in a row.
    fn names(&self, sheet: &Sheet<'_>, along: &Along, bottom: f64) {
        let mut before: Option<&String> = None;
        let mut ticks = Vec::new();
        for (at, name) in self.events.iter().enumerate() {
            if before.replace(name) != Some(name) {
                ticks.push((at, shorten(name, WORD, SMALL)));
            }
        }
        let mut free = f64::NEG_INFINITY;
        for (at, word) in ticks {
            let x = along.at(at as f64);
            sheet.path(&[(x, bottom), (x, bottom + 4.0)], Ink::Grid);
            let half = crate::text::wide(&word, SMALL) / 2.0;
            let x = x.clamp(half, (WIDTH - half).max(half));
            if x - half >= free {
                sheet.text((x, bottom + 17.0), Anchor::Center, Ink::Tick, &word);
                free = x + half + 6.0;
            }
        }
    }

    /// The end of the axis: an interval of few values can be as wide as one likes.
    fn most(&self) -> f64 {
        let spots = || self.lines.iter().flat_map(HistoryLine::shown);
        let most = spots().map(|(_, value)| value).fold(0.0, f64::max);
        let ends = spots().filter_map(|(spot, _)| Some(ordered(spot.interval)?.1));
        ends.filter(|end| *end <= 2.0 * most).fold(most, f64::max)
    }
}

/// Places of events.
struct Along {
    left: f64,
    right: f64,
    events: usize,
}

impl Along {
    fn at(&self, event: f64) -> f64 {
        match self.events {
            0 | 1 => f64::midpoint(self.left, self.right),
            events => self.left + (self.right - self.left) * event / (events as f64 - 1.0),
        }
    }
}

impl HistoryLine {
    /// Values that can be shown.
    fn shown(&self) -> impl Iterator<Item = (&HistorySpot, f64)> {
        self.points.iter().filter_map(|spot| Some((spot, shown(Some(&spot.value))?)))
    }

    fn draw(&self, sheet: &mut Sheet<'_>, along: &Along, values: &Scale, tall: (f64, f64)) {
        let class = line_class(self.key.hue);
        let place = |spot: &HistorySpot, value: f64| (along.at(spot.at as f64), values.at(value));
        let path: Vec<_> = self.shown().map(|(spot, value)| place(spot, value)).collect();
        sheet.raw_class(&class, |sheet| {
            if path.len() > 1 {
                sheet.path(&path, Ink::Line);
            }
        });
        for (before, after, tip) in &self.changes {
            let x = along.at(f64::midpoint(*before as f64, *after as f64));
            sheet.group(&class, &rows::tip(&self.key.label, tip, ""), |sheet| {
                sheet.path(&[(x, tall.0), (x, tall.1)], Ink::One);
            });
        }
        for (spot, value) in self.shown() {
            let (x, y) = place(spot, value);
            let tip = rows::tip(&self.key.label, &spot.value.tip, "");
            sheet.mark(&class, &tip, |sheet| {
                if let Some(ends) = ordered(spot.interval) {
                    upright(sheet, values, ends, x);
                }
                sheet.dot((x, y), 2.5, Ink::Middle);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(at: usize, value: f64) -> HistorySpot {
        let tip = format!("RUN {at}: {value} s");
        HistorySpot { at, value: Spot { value, tip }, interval: Some((value - 0.1, value + 0.1)) }
    }

    fn sample() -> Histories {
        let points = (0..6).map(|at| spot(at, if at < 3 { 1.0 } else { 1.5 })).collect();
        let line = HistoryLine {
            key: Key { label: "ext4".to_owned(), hue: 0 },
            points,
            changes: vec![(2, 3, "SLOWER by 1.4 to 1.6 times".to_owned())],
        };
        let events = ["6.1", "6.1", "6.1", "6.18", "6.18", "6.18"].map(str::to_owned).to_vec();
        let panel = HistoryPanel {
            title: "small-files, create".to_owned(),
            axis: Axis::linear("durable, s (less is better)", " s"),
            along: "RUN".to_owned(),
            events,
            lines: vec![line],
        };
        Histories {
            head: Head { id: "h".to_owned(), ..Head::default() },
            change: "decided change".to_owned(),
            panels: vec![panel],
        }
    }

    #[test]
    fn each_value_is_a_mark_and_a_change_is_a_line_between_its_events() {
        let svg = sample().draw();
        assert_eq!(svg.marks, 6);
        assert_eq!(svg.inline.matches("class=\"one\"").count(), 2, "the legend's and its own");
        assert!(svg.inline.contains("SLOWER by 1.4 to 1.6 times"), "{}", svg.inline);
        assert!(svg.inline.contains("decided change") && svg.inline.contains(">6.18<"));
        assert_eq!(svg.inline.matches(">6.1<").count(), 1, "equal names are written once");
        assert!(svg.file(crate::PaperWidth::default()).contains("ext4"));
    }

    #[test]
    fn without_a_change_there_is_no_such_line_and_nothing_is_no_panic() {
        let mut quiet = sample();
        quiet.panels[0].lines[0].changes.clear();
        assert_eq!(quiet.draw().inline.matches("class=\"one\"").count(), 0);
        quiet.panels[0].lines[0].points.truncate(1);
        assert_eq!(quiet.draw().marks, 1);
        quiet.panels[0].lines[0].points[0].value.value = f64::NAN;
        assert_eq!(quiet.draw().marks, 0);
        assert_eq!(Histories::default().draw().marks, 0);
    }
}
