//! Groups of bars: several values of one contender or test next to each other, such as an article's
//! and this machine's.

use crate::ink::Ink;
use crate::rows::{self, Legend, Swatch, Top};
use crate::scale::{Scale, figure, shown};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{LARGE, SMALL, column, shorten};
use crate::{Axis, HUES, Head, Key, Spot, Svg};

/// Height of a bar and what is below it, in units.
const BAR: f64 = 17.0;
/// Height of the line above a group, in units.
const HEADING: f64 = 19.0;
/// Room between groups, in units.
const APART: f64 = 6.0;

/// One group a test or contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Groups {
    /// Title and description.
    pub head: Head,
    /// What the bars measure.
    pub axis: Axis,
    /// In the order shown.
    pub groups: Vec<Group>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Group {
    /// What the group is of.
    pub label: String,
    pub parts: Vec<Part>,
}

/// A bar of a group.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Part {
    /// What it is, and its hue.
    pub key: Key,
    /// Hatched instead of filled: published by somebody else, not measured here.
    pub hatched: bool,
    /// Its value; absent where there is none.
    pub value: Option<Spot>,
}

impl Groups {
    /// Draws it; one mark a value, and a legend.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.groups.is_empty() {
            return rows::empty(&self.head);
        }
        // A legend of more names than hues would not be read: then each bar bears its own.
        let names = self.names();
        let named = names.len() > HUES;
        let legend = Legend::new(names.into_iter().filter(|_| !named));
        let head = Top::new(legend, &self.axis.title, 13.0);
        let top = head.height() + 4.0;
        let bottom = self.groups.iter().fold(top, |y, group| y + group.height()) + 2.0;
        let mut sheet = Sheet::new(&self.head, bottom + 20.0);
        head.draw(&sheet, 0.0);
        let values = self.words(named);
        let room = column(
            values.iter().flatten().map(String::as_str),
            SMALL,
            (20.0, if named { 225.0 } else { 90.0 }),
        );
        let scale = self.scale((0.5, WIDTH - room - 12.0));
        rows::ticks(&sheet, &scale, (top, bottom), bottom + 14.0);
        let mut y = top;
        for (group, values) in self.groups.iter().zip(&values) {
            group.draw(&mut sheet, &scale, y, values);
            y += group.height();
        }
        if !self.axis.log {
            sheet.path(&[(0.5, top), (0.5, bottom)], Ink::Axis);
        }
        sheet.finish()
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.groups.iter().flat_map(|group| &group.parts).filter_map(Part::shown)
    }

    /// The values in words, behind the names of the bars where these are `named`.
    fn words(&self, named: bool) -> Vec<Vec<String>> {
        let word = |part: &Part| {
            let value = match part.shown() {
                Some(value) => figure(value, &self.axis.unit),
                None => "–".to_owned(),
            };
            match named {
                true => format!("{}  {value}", shorten(&part.key.label, 165.0, SMALL)),
                false => value,
            }
        };
        let words = |group: &Group| group.parts.iter().map(word).collect();
        self.groups.iter().map(words).collect()
    }

    fn scale(&self, place: (f64, f64)) -> Scale {
        let most = self.values().fold(0.0, f64::max);
        if !self.axis.log {
            return Scale::linear(most * 1.02, place);
        }
        let least = self.values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        Scale::log(least / 1.2, most * 1.1, place)
    }

    /// Every name once, in the order in which it comes up.
    fn names(&self) -> Vec<(Swatch, String)> {
        let mut seen: Vec<(&Key, bool)> = Vec::new();
        for part in self.groups.iter().flat_map(|group| &group.parts) {
            if !seen.contains(&(&part.key, part.hatched)) {
                seen.push((&part.key, part.hatched));
            }
        }
        let entry = |(key, hatched): (&Key, bool)| {
            (Swatch::Bar { hue: key.hue, hatched }, key.label.clone())
        };
        seen.into_iter().map(entry).collect()
    }
}

impl Group {
    fn height(&self) -> f64 {
        self.parts.iter().fold(HEADING + APART, |height, _| height + BAR)
    }

    fn draw(&self, sheet: &mut Sheet<'_>, scale: &Scale, top: f64, values: &[String]) {
        let label = shorten(&self.label, WIDTH - 8.0, LARGE);
        sheet.text((6.0, top + 15.0), Anchor::Left, Ink::Heading, &label);
        let mut y = top + HEADING;
        for (part, words) in self.parts.iter().zip(values) {
            part.draw(sheet, scale, y, &self.label);
            sheet.text((WIDTH, y + 12.0), Anchor::Right, Ink::Value, words);
            y += BAR;
        }
    }
}

impl Part {
    fn shown(&self) -> Option<f64> {
        shown(self.value.as_ref())
    }

    fn draw(&self, sheet: &mut Sheet<'_>, scale: &Scale, top: f64, group: &str) {
        let Some((value, spot)) = self.shown().zip(self.value.as_ref()) else { return };
        let tip = rows::tip(group, &format!("{}: {}", self.key.label, spot.tip), "");
        sheet.mark(&rows::hue(self.key.hue), &tip, |sheet| {
            let (x, beyond) = scale.locate(value);
            let (from, to) = ((scale.ends().0, top + 1.0), (x, top + BAR - 2.0));
            rows::part(sheet, from, to, self.hatched);
            if beyond != 0 {
                sheet.arrow((x, top + BAR / 2.0), 6.0 * f64::from(beyond));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(bars: usize) -> Svg {
        let part = |at: usize| Part {
            key: Key { label: format!("bar {at}"), hue: at },
            hatched: false,
            value: Some(Spot { value: 1.0, tip: String::new() }),
        };
        let groups = vec![Group { label: "one".into(), parts: (0..bars).map(part).collect() }];
        Groups { head: Head::default(), axis: Axis::default(), groups }.draw()
    }

    #[test]
    fn with_more_bars_than_hues_each_bears_its_name_and_there_is_no_legend() {
        let legend = |svg: &Svg| svg.inline.contains(">bar 0</text>");
        let few = chart(HUES);
        assert!(legend(&few) && !few.inline.contains("bar 0  1"), "{}", few.inline);
        let many = chart(HUES + 1);
        assert!(!legend(&many) && many.inline.contains("bar 0  1"), "{}", many.inline);
    }
}
