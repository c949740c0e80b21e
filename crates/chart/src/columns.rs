//! Upright bars in an order, such as the cycles of a contender: a panel a contender, all panels by
//! one axis of values, with a line at a limit.

use crate::ink::Ink;
use crate::legend::{Legend, Swatch};
use crate::levels::upright;
use crate::rows;
use crate::scale::{Scale, fit, tick_words};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{LARGE, SMALL, column, shorten, wide, wrap};
use crate::{Axis, Head, Key, Spot, Svg};

/// Height of the plot of a panel, in units.
const TALL: f64 = 84.0;
/// Title, plot and numbers of a panel, in units.
const PANEL: f64 = 20.0 + TALL + 24.0;
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
    /// What plain and what hatched columns are, for the legend.
    pub names: [String; 2],
    /// In the order shown.
    pub panels: Vec<ColumnsOf>,
}

/// The columns of one contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ColumnsOf {
    /// Contender.
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
    /// Hatched instead of filled.
    pub hatched: bool,
}

impl Column {
    fn shown(&self) -> Option<f64> {
        fit(self.value.as_ref()?.value)
    }

    fn ends(&self) -> Option<(f64, f64)> {
        let (one, other) = self.range?;
        Some((fit(one)?.min(fit(other)?), fit(one)?.max(fit(other)?)))
    }
}

impl Columns {
    /// Draws it; one mark a value.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.columns().all(|column| column.shown().is_none()) {
            return rows::empty(&self.head);
        }
        let legend = self.legend();
        let title = wrap(&self.axis.title, WIDTH, SMALL, 2);
        let top = title.iter().fold(legend.height + 6.0, |top, _| top + 16.0);
        let widest = self.panels.iter().map(|panel| panel.columns.len()).max().unwrap_or(0);
        let beside = if widest <= NARROW && self.panels.len() > 1 { 2 } else { 1 };
        let lines = self.panels.chunks(beside);
        let bottom = lines.clone().fold(top, |y, _| y + PANEL);
        let mut sheet = Sheet::new(&self.head, bottom + 2.0);
        legend.draw(&sheet, 0.0);
        for (line, y) in title.iter().zip([14.0, 30.0]) {
            sheet.text((0.0, legend.height + y), Anchor::Left, Ink::Title, line);
        }
        let mut y = top;
        for line in lines {
            let width = if beside == 2 { (WIDTH - APART) / 2.0 } else { WIDTH };
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
        let shown = |hatched: bool| self.columns().any(|c| c.hatched == hatched);
        let both = named.filter(|(hatched, name)| shown(*hatched) && !name.is_empty());
        let bars = both.map(|(hatched, name)| (Swatch::Plain { hatched }, name.clone()));
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
        let (top, bottom) = (y + 20.0, y + 20.0 + TALL);
        let label = shorten(&panel.key.label, to - from, LARGE);
        sheet.text((from, y + 12.0), Anchor::Left, Ink::Heading, &label);
        let values = Scale::linear(self.most() * 1.06, (bottom, top));
        let ticks = values.ticks(4);
        let words = tick_words(&ticks);
        let left = from + column(words.iter().map(String::as_str), SMALL, (12.0, 60.0)) + 8.0;
        for (tick, word) in ticks.iter().zip(&words) {
            let (y, ink) = (values.at(*tick), if *tick == 0.0 { Ink::Axis } else { Ink::Grid });
            sheet.path(&[(left, y), (to, y)], ink);
            sheet.text((left - 6.0, y + 4.0), Anchor::Right, Ink::Tick, word);
        }
        let each = panel.columns.iter().fold(0.0, |count, _| count + 1.0);
        let each = (to - left) / f64::max(each, 1.0);
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
            if self.hatched {
                sheet.rect((from, y), (to, zero), Ink::Tone2);
                sheet.rect((from, y), (to, zero), Ink::Stripes);
            } else {
                rows::bar(sheet, (from, to), (y, zero), key.hue, Ink::Bar);
            }
            if let Some(ends) = self.ends() {
                upright(sheet, values, ends, f64::midpoint(from, to));
            }
        });
    }
}
