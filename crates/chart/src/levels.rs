//! Charts with upright values. Response curves: how a value goes over the ordered levels of one
//! option, with intervals, the best level and those that are shown to be as good, or beside a line
//! of values that go with the levels. Columns: bars in
//! an order, such as the cycles of a contender, a panel a contender, all panels by one axis of
//! values, with a line at a limit.

use crate::ink::{Ink, Standing};
use crate::rows::{self, Legend, Swatch, Top, Upright};
use crate::scale::{Scale, figure, fit, ordered, shown};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{LARGE, SMALL, shorten, wide};
use crate::{Axis, Head, Key, Spot, Svg};

/// Height of the plot, in units.
const TALL: f64 = 150.0;
/// Height of the strip along the axis, in units.
const STRIP: f64 = 7.0;
/// Room next to the first and the last level, in units.
const SIDE: f64 = 22.0;
/// Widest name of a level, in units.
const WORD: f64 = 90.0;
/// From this factor between all neighbours on the axis of levels is logarithmic.
const DOUBLES: f64 = 1.9;

/// Pieces of a line that goes with the levels.
const LINE_STEPS: i32 = 64;

/// A curve over levels.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Levels {
    /// Title and description.
    pub head: Head,
    /// What is measured; it begins at zero.
    pub axis: Axis,
    /// What the levels are of: `block_size`.
    pub option: String,
    /// Hue of the curve.
    pub hue: usize,
    /// Levels, ascending.
    pub levels: Vec<Level>,
    /// First and last level of a stretch that is flat.
    pub flat: Option<(usize, usize)>,
    /// What a [`Standing::Same`] is called in the legend.
    pub same: String,
    /// What a [`Standing::Other`] is called there; empty: `others`.
    pub others: String,
    /// A line from the first level on that goes with the levels: its value where the level is 1,
    /// and what it is called.
    pub proportional: Option<(f64, String)>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Level {
    /// Where it lies.
    pub at: f64,
    /// As it is written at the axis.
    pub label: String,
    /// Its value; absent where there is none.
    pub value: Option<Spot>,
    /// An interval of the value.
    pub interval: Option<(f64, f64)>,
    /// How it stands to the others.
    pub standing: Standing,
}

impl Level {
    fn shown(&self) -> Option<f64> {
        shown(self.value.as_ref())
    }

    /// The interval, lower end first.
    fn ends(&self) -> Option<(f64, f64)> {
        ordered(self.interval)
    }
}

impl Levels {
    /// Draws it; one mark a value.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.levels.iter().all(|level| level.shown().is_none()) {
            return rows::empty(&self.head);
        }
        let head = Top::new(self.legend(), &self.axis.title, 14.0);
        let top = head.height() + 4.0 + 10.0;
        let bottom = top + TALL;
        let values = Scale::linear(self.most() * 1.06, (bottom, top));
        let axis = Upright::new(&values, 5);
        let left = axis.width((16.0, 70.0));
        let along = self.along((left + SIDE, WIDTH - SIDE));
        let mut sheet = Sheet::new(&self.head, bottom + 38.0);
        head.draw(&sheet, 0.0);
        axis.draw(&sheet, &values, (left, WIDTH));
        let names = self.levels.iter().map(|level| (level.at, level.label.as_str()));
        level_names(&sheet, &along, bottom, names);
        title_below(&sheet, (left, bottom), &self.option);
        self.strip(&sheet, &along, bottom);
        self.line(&sheet, &along, &values);
        self.curve(&mut sheet, &along, &values);
        sheet.finish()
    }

    fn legend(&self) -> Legend {
        let named = [
            (Standing::Best, "best"),
            (Standing::Same, self.same.as_str()),
            (Standing::Other, if self.others.is_empty() { "others" } else { &self.others }),
        ];
        let shown = |wanted: Standing| {
            let mut levels = self.levels.iter();
            levels.any(|level| level.standing == wanted && level.shown().is_some())
        };
        let hue = self.hue;
        let dots = named
            .into_iter()
            .filter(|(standing, _)| shown(*standing))
            .map(|(standing, name)| (Swatch::Dot { hue, standing }, name.to_owned()));
        let flat = Swatch::Bar { hue, hatched: false };
        let band = self.stretch().map(|_| (flat, "flat".to_owned()));
        let line = self.proportional().map(|(_, name)| (Swatch::One, name.to_owned()));
        Legend::new(dots.chain(band).chain(line))
    }

    fn proportional(&self) -> Option<(f64, &str)> {
        let (each, name) = self.proportional.as_ref()?;
        Some((fit(*each).filter(|each| *each > 0.0)?, name))
    }

    /// The flat stretch, where both of its ends are levels.
    fn stretch(&self) -> Option<(&Level, &Level)> {
        let (first, last) = self.flat?;
        Some((self.levels.get(first)?, self.levels.get(last)?))
    }

    fn most(&self) -> f64 {
        let values = self.levels.iter().filter_map(Level::shown);
        let ends = self.levels.iter().filter_map(|level| Some(level.ends()?.1));
        let most = values.clone().fold(0.0, f64::max);
        // An interval of two values can be as wide as one likes: the curve is to be seen.
        let most = values.chain(ends.filter(|end| *end <= 3.0 * most)).fold(0.0, f64::max);
        // So may a line rise above the curve: it then leaves the plot.
        let last = self.levels.last().and_then(|level| fit(level.at));
        let line = self.proportional().zip(last).map(|((each, _), at)| each * at);
        line.map_or(most, |end| most.max(end.min(2.0 * most)))
    }

    fn along(&self, place: (f64, f64)) -> Scale {
        let at: Vec<f64> = self.levels.iter().filter_map(|level| fit(level.at)).collect();
        along_levels(&at, place)
    }

    /// A strip along the axis where the curve is flat.
    fn strip(&self, sheet: &Sheet<'_>, along: &Scale, bottom: f64) {
        let Some((first, last)) = self.stretch() else { return };
        let (from, to) = (along.at(first.at), along.at(last.at));
        let (from, to) = (from.min(to) - 10.0, from.max(to) + 10.0);
        sheet.raw_class(&rows::hue(self.hue), |sheet| {
            sheet.rect((from, bottom - STRIP), (to, bottom), Ink::Bar);
        });
    }

    /// The line that goes with the levels, as far as it is in the plot; on a logarithmic axis it
    /// is bent.
    fn line(&self, sheet: &Sheet<'_>, along: &Scale, values: &Scale) {
        let at = |level: Option<&Level>| level.and_then(|level| fit(level.at));
        let Some((each, _)) = self.proportional() else { return };
        let ends = at(self.levels.first()).zip(at(self.levels.last()));
        let Some((first, last)) = ends.filter(|(first, _)| *first > 0.0) else { return };
        let point = |step: i32| {
            let share = f64::from(step) / f64::from(LINE_STEPS);
            let at = fit(first * (last / first).powf(share))?;
            let (y, beyond) = values.locate(each * at);
            (beyond == 0).then(|| (along.at(at), y))
        };
        let path: Vec<_> = (0..=LINE_STEPS).map_while(point).collect();
        if path.len() > 1 {
            sheet.path(&path, Ink::One);
        }
    }

    /// The line, and on it intervals and dots; it is broken where a level has no value.
    fn curve(&self, sheet: &mut Sheet<'_>, along: &Scale, values: &Scale) {
        let place = |level: &Level| Some((along.at(level.at), values.at(level.shown()?)));
        sheet.raw_class(&rows::hue(self.hue), |sheet| {
            for part in self.levels.split(|level| level.shown().is_none()) {
                let path: Vec<_> = part.iter().filter_map(place).collect();
                if path.len() > 1 {
                    sheet.path(&path, Ink::Line);
                }
            }
        });
        for level in &self.levels {
            let (Some((x, y)), Some(spot)) = (place(level), &level.value) else { continue };
            let tip = if spot.tip.is_empty() { &level.label } else { &spot.tip };
            sheet.mark(&rows::hue(self.hue), tip, |sheet| {
                if let Some(ends) = level.ends() {
                    upright(sheet, values, ends, x);
                }
                let (radius, ink) = level.standing.dot();
                sheet.dot((x, y), radius, ink);
            });
            if level.standing == Standing::Best {
                let (words, half) = (figure(spot.value, &self.axis.unit), 24.0);
                let above = level.ends().map_or(y, |ends| values.at(ends.1).min(y)) - 10.0;
                let x = x.clamp(half, WIDTH - half);
                sheet.text((x, above), Anchor::Center, Ink::Value, &words);
            }
        }
    }
}

/// The axis of levels that lie here: logarithmic where each is about twice the one before or more.
pub(crate) fn along_levels(at: &[f64], place: (f64, f64)) -> Scale {
    let least = at.iter().copied().fold(f64::INFINITY, f64::min);
    let most = at.iter().copied().fold(0.0, f64::max);
    let doubles = |two: &[f64]| two[1] >= DOUBLES * two[0];
    if at.len() > 1 && least > 0.0 && at.windows(2).all(doubles) {
        Scale::log(least, most, place)
    } else {
        Scale::linear(most, place)
    }
}

/// Names of levels below a plot that ends at `bottom`.
pub(crate) fn level_names<'n>(
    sheet: &Sheet<'_>,
    along: &Scale,
    bottom: f64,
    names: impl Iterator<Item = (f64, &'n str)>,
) {
    let ticks: Vec<_> = names.map(|(at, name)| (at, shorten(name, WORD, SMALL))).collect();
    rows::numbers(sheet, along, (bottom, bottom + 4.0), bottom + 17.0, &ticks);
}

/// What goes along below a plot with this left lower corner, under its names.
pub(crate) fn title_below(sheet: &Sheet<'_>, (left, bottom): (f64, f64), title: &str) {
    let title = shorten(title, WIDTH - left, SMALL);
    let middle = f64::midpoint(left, WIDTH);
    sheet.text((middle, bottom + 33.0), Anchor::Center, Ink::Title, &title);
}

/// An interval as a line that stands, with two ends; without the upper one where it goes on beyond
/// the axis.
pub(crate) fn upright(sheet: &Sheet<'_>, values: &Scale, (low, high): (f64, f64), x: f64) {
    let (low, high) = (values.locate(low), values.locate(high));
    sheet.path(&[(x, low.0), (x, high.0)], Ink::Whisker);
    for (y, beyond) in [low, high] {
        if beyond == 0 {
            sheet.path(&[(x - 4.0, y), (x + 4.0, y)], Ink::Whisker);
        }
    }
}

/// Height of the plot of a panel, in units.
const PANEL_TALL: f64 = 84.0;
/// Title, plot and numbers of a panel, in units.
const PANEL: f64 = 20.0 + PANEL_TALL + 24.0;
/// Columns of a panel up to which two panels stand next to each other.
const NARROW: usize = 8;
/// Room between two panels, in units.
const APART: f64 = 14.0;
/// Widest column, in units.
const WIDEST: f64 = 26.0;

/// Panels of columns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Columns {
    /// Title and description.
    pub head: Head,
    /// What the columns measure; it begins at zero.
    pub axis: Axis,
    /// A value with a name that columns are held against; a line over all panels.
    pub limit: Option<(f64, String)>,
    /// What filled and what pale columns are, for the legend.
    pub names: [String; 2],
    /// In the order shown.
    pub panels: Vec<ColumnsOf>,
}

/// The columns of one contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ColumnsOf {
    pub key: Key,
    /// From the left.
    pub columns: Vec<Column>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Column {
    /// What stands below it: `3`.
    pub label: String,
    /// Its height; absent where there is none.
    pub value: Option<Spot>,
    /// The least and the most of the values behind it.
    pub range: Option<(f64, f64)>,
    /// Little more than its outline instead of filled.
    pub pale: bool,
}

impl Column {
    fn shown(&self) -> Option<f64> {
        shown(self.value.as_ref())
    }

    fn ends(&self) -> Option<(f64, f64)> {
        ordered(self.range)
    }
}

impl Columns {
    /// Draws it; one mark a value.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.columns().all(|column| column.shown().is_none()) {
            return rows::empty(&self.head);
        }
        let head = Top::new(self.legend(), &self.axis.title, 14.0);
        let top = head.height() + 6.0;
        let widest = self.panels.iter().map(|panel| panel.columns.len()).max().unwrap_or(0);
        let in_line = if widest <= NARROW && self.panels.len() > 1 { 2 } else { 1 };
        let lines = self.panels.chunks(in_line);
        let bottom = lines.clone().fold(top, |y, _| y + PANEL);
        let mut sheet = Sheet::new(&self.head, bottom + 2.0);
        head.draw(&sheet, 0.0);
        let mut y = top;
        for line in lines {
            let width = if in_line == 2 { (WIDTH - APART) / 2.0 } else { WIDTH };
            let mut from = 0.0;
            for panel in line {
                self.panel(&mut sheet, panel, (from, from + width), y);
                from += width + APART;
            }
            y += PANEL;
        }
        sheet.finish()
    }

    fn columns(&self) -> impl Iterator<Item = &Column> {
        self.panels.iter().flat_map(|panel| &panel.columns)
    }

    fn legend(&self) -> Legend {
        let named = [false, true].into_iter().zip(&self.names);
        let shown = |pale: bool| self.columns().any(|c| c.pale == pale);
        let both = named.filter(|(pale, name)| shown(*pale) && !name.is_empty());
        let bars = both.map(|(pale, name)| (Swatch::Plain { pale }, name.clone()));
        let limit = self.limit().map(|(_, name)| (Swatch::One, name.to_owned()));
        Legend::new(bars.chain(limit))
    }

    fn limit(&self) -> Option<(f64, &str)> {
        let (value, name) = self.limit.as_ref()?;
        Some((fit(*value).filter(|value| *value > 0.0)?, name))
    }

    /// A limit far above all columns would leave them flat: it is then told by its name alone.
    fn most(&self) -> f64 {
        let values = self.columns().filter_map(Column::shown);
        let ends = self.columns().filter_map(|column| Some(column.ends()?.1));
        let most = values.chain(ends).fold(0.0, f64::max);
        self.limit()
            .map_or(most, |(limit, _)| if limit <= 4.0 * most { most.max(limit) } else { most })
    }

    fn panel(&self, sheet: &mut Sheet<'_>, panel: &ColumnsOf, (from, to): (f64, f64), y: f64) {
        let (top, bottom) = (y + 20.0, y + 20.0 + PANEL_TALL);
        let label = shorten(&panel.key.label, to - from, LARGE);
        sheet.text((from, y + 12.0), Anchor::Left, Ink::Heading, &label);
        let values = Scale::linear(self.most() * 1.06, (bottom, top));
        let axis = Upright::new(&values, 4);
        let left = from + axis.width((12.0, 60.0));
        axis.draw(sheet, &values, (left, to));
        let each = (to - left) / panel.columns.len().max(1) as f64;
        let half = (each * 0.34).min(WIDEST / 2.0);
        let mut x = left + each / 2.0;
        let mut free = f64::NEG_INFINITY;
        for one in &panel.columns {
            one.draw(sheet, &panel.key, &values, (x - half, x + half));
            let word = wide(&one.label, SMALL) / 2.0;
            if x - word >= free {
                sheet.text((x, bottom + 15.0), Anchor::Center, Ink::Tick, &one.label);
                free = x + word + 4.0;
            }
            x += each;
        }
        if let Some((limit, _)) = self.limit() {
            let (y, beyond) = values.locate(limit);
            if beyond == 0 {
                sheet.path(&[(left, y), (to, y)], Ink::One);
            }
        }
    }
}

impl Column {
    fn draw(&self, sheet: &mut Sheet<'_>, key: &Key, values: &Scale, (from, to): (f64, f64)) {
        let (Some(value), Some(spot)) = (self.shown(), &self.value) else { return };
        let tip = rows::tip(&key.label, &spot.tip, "");
        sheet.mark(&rows::hue(key.hue), &tip, |sheet| {
            let (zero, y) = (values.at(0.0), values.at(value));
            let ink = if self.pale { Ink::Tone2 } else { Ink::Bar };
            sheet.rect((from, y), (to, zero), ink);
            if let Some(ends) = self.ends() {
                upright(sheet, values, ends, f64::midpoint(from, to));
            }
        });
    }
}
