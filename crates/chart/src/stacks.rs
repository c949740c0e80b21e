//! Stacked horizontal bars: parts that follow each other, such as returned, durable and drained, or
//! parts of a sum.

use crate::ink::Ink;
use crate::legend::{Legend, Swatch, tone};
use crate::rows::{self, Rows, Words};
use crate::scale::{Scale, figure, fit};
use crate::sheet::Sheet;
use crate::{Axis, HUES, Head, Key, Spot, Svg};

/// One bar a contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stacks {
    /// Title and description.
    pub head: Head,
    /// What the bars measure.
    pub axis: Axis,
    /// Names of the segments, for the legend; a segment refers to them by place.
    pub names: Vec<String>,
    /// Whether a segment has the hue and the pattern of its name instead of a shade of its
    /// contender's: for parts of a sum, which are more than there are shades.
    pub by_name: bool,
    /// What [`Stack::held_against`] is, for the legend.
    pub against: String,
    /// In the order shown.
    pub stacks: Vec<Stack>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stack {
    /// Contender.
    pub key: Key,
    /// Segments from the left, each the hue of the contender in the shade of its name.
    pub segments: Vec<Segment>,
    /// A value that the whole is held against: a line across the bar.
    pub held_against: Option<Spot>,
    /// What stands next to the bar: `not drained`, `no device`.
    pub note: String,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Segment {
    /// Place in `names`.
    pub name: usize,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Words for a tooltip.
    pub tip: String,
}

impl Stacks {
    /// Draws it; one mark a bar with at least one segment. The axis is linear: parts of a length
    /// cannot be compared on another.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.stacks.is_empty() {
            return rows::empty(&self.head);
        }
        let legend = self.legend();
        let words: Vec<_> = self.stacks.iter().map(|stack| stack.words(self)).collect();
        let layout = Rows::new(&self.axis.title, &words, legend.height);
        let ends = self.stacks.iter().filter_map(Stack::end);
        let most = ends.chain(self.stacks.iter().filter_map(Stack::line)).fold(0.0, f64::max);
        let scale = Scale::linear(most * 1.02, layout.plot);
        let mut sheet = Sheet::new(&self.head, layout.height());
        legend.draw(&sheet, 0.0);
        layout.axis(&sheet, &scale);
        for (row, (stack, words)) in self.stacks.iter().zip(&words).enumerate() {
            layout.words(&sheet, row, words);
            stack.draw(&mut sheet, &scale, layout.band(row), self.by_name);
        }
        let (top, bottom) = layout.tall();
        sheet.path(&[(layout.plot.0, top), (layout.plot.0, bottom)], Ink::Axis);
        sheet.finish()
    }

    fn legend(&self) -> Legend {
        let swatch = |at: usize| match self.by_name {
            true => Swatch::Bar { hue: named(at), hatched: false },
            false => Swatch::Tone(at),
        };
        let names = self.names.iter().enumerate().map(|(at, name)| (swatch(at), name.clone()));
        let is_any = self.stacks.iter().any(|stack| stack.line().is_some());
        Legend::new(names.chain(is_any.then(|| (Swatch::Across, self.against.clone()))))
    }
}

/// The hue of a name with its pattern: neighbours have another pattern, so that they are told apart
/// without colours too.
fn named(at: usize) -> usize {
    at % HUES + HUES * (at % 3)
}

impl Stack {
    fn line(&self) -> Option<f64> {
        fit(self.held_against.as_ref()?.value)
    }

    /// Segments whose ends are numbers.
    fn shown(&self) -> impl Iterator<Item = (&Segment, f64, f64)> {
        self.segments.iter().filter_map(|segment| {
            let (from, to) = (fit(segment.from)?, fit(segment.to)?);
            Some((segment, from.min(to), from.max(to)))
        })
    }

    fn end(&self) -> Option<f64> {
        self.shown().map(|(_, _, to)| to).reduce(f64::max)
    }

    fn words(&self, stacks: &Stacks) -> Words {
        let value = self.end().map(|end| figure(end, &stacks.axis.unit));
        Words {
            label: self.key.label.clone(),
            value: value.unwrap_or_default(),
            note: self.note.clone(),
        }
    }

    fn draw(&self, sheet: &mut Sheet<'_>, scale: &Scale, (top, bottom): (f64, f64), by_name: bool) {
        if self.end().is_none() {
            return;
        }
        let tips: Vec<_> = self.shown().map(|(segment, _, _)| segment.tip.as_str()).collect();
        let tip = rows::tip(&self.key.label, &tips.join("; "), &self.note);
        sheet.mark(&rows::hue(self.key.hue), &tip, |sheet| {
            for (segment, from, to) in self.shown() {
                let (from, to) = (scale.at(from), scale.at(to));
                let tip = rows::tip(&self.key.label, &segment.tip, "");
                if by_name {
                    let hue = named(segment.name);
                    sheet.group(&format!("part {}", rows::hue(hue)), &tip, |sheet| {
                        rows::bar(sheet, (from, to), (top, bottom), hue, Ink::Bar);
                    });
                } else {
                    sheet.group("part", &tip, |sheet| {
                        tone(sheet, (from, top), (to, bottom), segment.name);
                    });
                }
            }
            if let (Some(line), Some(spot)) = (self.line(), &self.held_against) {
                let x = scale.at(line);
                sheet.raw(&rows::tip(&self.key.label, &spot.tip, ""), |sheet| {
                    sheet.path(&[(x, top - 3.0), (x, bottom + 3.0)], Ink::Whisker);
                });
            }
        });
    }
}
