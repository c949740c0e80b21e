//! The layout that charts share: rows of one contender each (its label on the left, the plot in the
//! middle, a number and a note on the right), legends, and the lines and numbers of axes.

use crate::ink::{Ink, Standing};
use crate::scale::{Scale, figure, tick_words};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{self, LARGE, SMALL, column, shorten, wide, wrap};
use crate::{Head, Key, Svg};

/// Room between columns, in units.
const GAP: f64 = 8.0;
/// Height of a row, in units.
const ROW: f64 = 26.0;
/// The same where there are many.
const NARROW: f64 = 20.0;
/// The same where a label takes two lines.
const TALL: f64 = 30.0;
/// Lines of a note at most; what must not be overlooked stands first in it.
const NOTE_LINES: usize = 6;
/// Height of a line of a note, in units.
const NOTE_LINE: f64 = 13.0;
/// Widest note and value, in units.
const NOTE: f64 = 104.0;
const VALUE: f64 = 86.0;
/// Widest label, in units, and widest where a word of it cannot be broken.
const LABEL: f64 = 124.0;
const LABEL_WORD: f64 = 176.0;
/// Lines of the title of an axis.
const LINE: f64 = 16.0;

/// A drawing that says that there is nothing to draw.
pub(crate) fn empty(head: &Head) -> Svg {
    let sheet = Sheet::new(head, 40.0);
    sheet.text((0.0, 24.0), Anchor::Left, Ink::Note, "no figures");
    sheet.finish()
}

/// The class of a hue.
pub(crate) fn hue(number: usize) -> String {
    if number == crate::NO_HUE { "hn".to_owned() } else { format!("h{}", number % crate::HUES) }
}

/// The words of a mark: whose it is, what it says, and the note next to it.
pub(crate) fn tip(label: &str, says: &str, note: &str) -> String {
    let mut tip = label.to_owned();
    // Words that already begin with the label are not told twice.
    if label.is_empty() || says.starts_with(label) {
        tip = says.to_owned();
    } else if !says.is_empty() {
        tip = format!("{label}: {says}");
    }
    if note.is_empty() || tip.contains(note) { tip } else { format!("{tip} · {note}") }
}

/// A label about the line at `y`: in two lines where one has no room, so that labels which differ
/// in their ends are told apart.
pub(crate) fn label(sheet: &Sheet<'_>, y: f64, room: f64, words: &str) {
    match &wrap(words, room, LARGE, 2)[..] {
        [one, two] => {
            sheet.text((0.0, y - 6.5), Anchor::Left, Ink::Label, one);
            sheet.text((0.0, y + 7.0), Anchor::Left, Ink::Label, two);
        }
        lines => sheet.text((0.0, y), Anchor::Left, Ink::Label, &lines.concat()),
    }
}

/// A bar: hatched where it was published by somebody else, filled where it was measured here.
/// Patterns say nothing but this.
pub(crate) fn part(sheet: &Sheet<'_>, from: (f64, f64), to: (f64, f64), hatched: bool) {
    if hatched {
        sheet.rect(from, to, Ink::Hatched);
        sheet.rect(from, to, Ink::Stripes);
    } else {
        sheet.rect(from, to, Ink::Bar);
    }
}

/// An interval as a line with two ends, or an arrow where it goes on beyond the axis.
pub(crate) fn whisker(sheet: &Sheet<'_>, scale: &Scale, (low, high): (f64, f64), y: f64) {
    if low.is_nan() || high.is_nan() {
        return;
    }
    let (low, high) = (scale.locate(low.min(high)), scale.locate(low.max(high)));
    sheet.path(&[(low.0, y), (high.0, y)], Ink::Whisker);
    for ((x, beyond), by) in [(low, -6.0), (high, 6.0)] {
        if beyond == 0 {
            sheet.path(&[(x, y - 4.0), (x, y + 4.0)], Ink::Whisker);
        } else {
            sheet.arrow((x, y), by);
        }
    }
}

/// What a row has but its plot.
pub(crate) struct Words {
    /// On the left.
    pub(crate) label: String,
    /// The number at the right of the plot.
    pub(crate) value: String,
    /// Right of the number.
    pub(crate) note: String,
}

impl Words {
    pub(crate) fn new(key: &Key, value: Option<f64>, unit: &str, note: &str) -> Self {
        let value = value.map(|value| figure(value, unit)).unwrap_or_default();
        Self { label: key.label.clone(), value, note: note.to_owned() }
    }
}

pub(crate) struct Rows {
    title: Vec<String>,
    /// Where the first row begins.
    top: f64,
    row: f64,
    count: usize,
    room: f64,
    /// Where the plot begins and ends.
    pub(crate) plot: (f64, f64),
    value_end: f64,
    note_from: f64,
}

impl Rows {
    /// For these rows, below `above` units of something else; `arrows` leaves room for them.
    pub(crate) fn new(title: &str, words: &[Words], above: f64) -> Self {
        let labels = || words.iter().map(|row| row.label.as_str());
        let word = column(labels().flat_map(text::words), LARGE, (0.0, LABEL_WORD));
        let label = column(labels(), LARGE, (30.0, LABEL)).max(word);
        let value = column(words.iter().map(|row| row.value.as_str()), SMALL, (0.0, VALUE));
        // Notes of rows without a number stand in the plot.
        let valued = words.iter().filter(|row| !row.value.is_empty());
        let notes: Vec<&str> = valued.map(|row| row.note.as_str()).collect();
        // Some faces are wider than the estimate: a word at the edge is not to be cut.
        let note = (column(notes.iter().copied(), SMALL, (0.0, NOTE)) * 1.1).min(NOTE);
        let note_lines = notes.iter().map(|text| wrap(text, note, SMALL, NOTE_LINES).len()).max();
        let after = |width: f64| if width > 0.0 { width + GAP } else { 0.0 };
        let end = (WIDTH - after(note) - after(value)).min(WIDTH - GAP);
        let title = if title.is_empty() { Vec::new() } else { wrap(title, WIDTH, SMALL, 2) };
        let lines = title.iter().fold(0.0, |lines, _| lines + LINE);
        let tall = words.iter().any(|row| wide(&row.label, LARGE) > label);
        let (count, row) = match words.len() {
            count if tall => (count, TALL),
            count if count > 24 => (count, NARROW),
            count => (count, ROW),
        };
        let row = (1..note_lines.unwrap_or(1)).fold(NOTE_LINE + 5.0, |h, _| h + NOTE_LINE).max(row);
        let ticks_above = if count > 24 { LINE } else { 0.0 };
        Self {
            title,
            top: above + lines + ticks_above + 4.0,
            row,
            count,
            room: label,
            plot: (label + GAP, end - 4.0),
            value_end: WIDTH - after(note),
            note_from: WIDTH - note,
        }
    }

    /// Of the whole drawing.
    pub(crate) fn height(&self) -> f64 {
        self.end(self.count) + LINE + 4.0
    }

    /// Where a row begins.
    fn end(&self, row: usize) -> f64 {
        (0..row).fold(self.top, |top, _| top + self.row)
    }

    /// The upper and lower end of what is drawn in a row.
    pub(crate) fn band(&self, row: usize) -> (f64, f64) {
        let top = self.end(row);
        (top + self.row * 0.17, top + self.row * 0.83)
    }

    /// Upper and lower end of the plot.
    pub(crate) fn tall(&self) -> (f64, f64) {
        (self.top - 2.0, self.end(self.count) + 2.0)
    }

    pub(crate) fn middle(&self, row: usize) -> f64 {
        self.end(row) + self.row / 2.0
    }

    /// Title, lines and numbers of the axis.
    pub(crate) fn axis(&self, sheet: &Sheet<'_>, scale: &Scale) {
        let tall = self.tall();
        let mut y = self.top - 8.0 - if self.count > 24 { LINE } else { 0.0 };
        for line in self.title.iter().rev() {
            sheet.text((0.0, y), Anchor::Left, Ink::Title, line);
            y -= LINE;
        }
        ticks(sheet, scale, tall, tall.1 + 13.0);
        if self.count > 24 {
            ticks(sheet, scale, tall, tall.0 - 4.0);
        }
    }

    pub(crate) fn words(&self, sheet: &Sheet<'_>, row: usize, words: &Words) {
        let y = self.middle(row) + 4.0;
        label(sheet, y, self.room, &words.label);
        if words.value.is_empty() {
            let note = if words.note.is_empty() { "no figure" } else { words.note.as_str() };
            let note = shorten(note, WIDTH - self.plot.0 - 6.0, SMALL);
            sheet.text((self.plot.0 + 6.0, y), Anchor::Left, Ink::Note, &note);
        } else {
            let value = shorten(&words.value, VALUE, SMALL);
            sheet.text((self.value_end, y), Anchor::Right, Ink::Value, &value);
            let lines = wrap(&words.note, WIDTH - self.note_from, SMALL, NOTE_LINES);
            let mut y = lines.iter().skip(1).fold(y, |y, _| y - NOTE_LINE / 2.0);
            for line in &lines {
                sheet.text((self.note_from, y), Anchor::Left, Ink::Note, line);
                y += NOTE_LINE;
            }
        }
    }
}

/// Lines over the height of the plot, and the numbers at `y` where there is room for them.
pub(crate) fn ticks(sheet: &Sheet<'_>, scale: &Scale, tall: (f64, f64), y: f64) {
    let ticks = scale.ticks(room_for(scale, if scale.is_log() { 20.0 } else { 30.0 }));
    let words = tick_words(&ticks);
    numbers(sheet, scale, tall, y, &ticks.into_iter().zip(words).collect::<Vec<_>>());
}

/// How many numbers an axis has room for.
pub(crate) fn room_for(scale: &Scale, each: f64) -> usize {
    let (from, to) = scale.ends();
    ((to - from).abs() / each).max(2.0) as usize
}

/// The same with numbers that are given.
pub(crate) fn numbers(
    sheet: &Sheet<'_>,
    scale: &Scale,
    tall: (f64, f64),
    y: f64,
    ticks: &[(f64, String)],
) {
    let mut free = f64::NEG_INFINITY;
    for (tick, word) in ticks {
        let x = scale.at(*tick);
        sheet.path(&[(x, tall.0), (x, tall.1)], Ink::Grid);
        let half = wide(word, SMALL) / 2.0;
        let (x, half) = (x.clamp(half, WIDTH - half), half);
        if x - half >= free {
            sheet.text((x, y), Anchor::Center, Ink::Tick, word);
            free = x + half + 6.0;
        }
    }
}

/// Height of a line, in units.
const LEGEND_LINE: f64 = 18.0;
/// Width of a swatch, in units.
const SWATCH: f64 = 22.0;

/// What a swatch looks like.
pub(crate) enum Swatch {
    /// A bar of a contender's hue; hatched or not.
    Bar { hue: usize, hatched: bool },
    /// A shade of no hue in particular.
    Tone(usize),
    /// A line with the classes of its hue and dashes.
    Line { class: String },
    /// A bar of no hue in particular; little more than its outline or not.
    Plain { pale: bool },
    /// The dot of a level.
    Dot { hue: usize, standing: Standing },
    /// A line that values are held against.
    One,
    /// A line across a bar.
    Across,
}

/// A legend with the places of its entries.
pub(crate) struct Legend {
    entries: Vec<(f64, f64, Swatch, String)>,
    /// Of the whole, in units.
    pub(crate) height: f64,
}

impl Legend {
    /// Places entries in lines.
    pub(crate) fn new(entries: impl Iterator<Item = (Swatch, String)>) -> Self {
        let (mut x, mut y) = (0.0, 0.0);
        let mut placed = Vec::new();
        for (swatch, words) in entries {
            let words = shorten(&words, WIDTH - SWATCH - 8.0, SMALL);
            let width = SWATCH + 6.0 + wide(&words, SMALL) + 14.0;
            if x > 0.0 && x + width > WIDTH + 14.0 {
                (x, y) = (0.0, y + LEGEND_LINE);
            }
            placed.push((x, y, swatch, words));
            x += width;
        }
        let height = if placed.is_empty() { 0.0 } else { y + LEGEND_LINE };
        Self { entries: placed, height }
    }

    /// Draws it from `top`.
    pub(crate) fn draw(&self, sheet: &Sheet<'_>, top: f64) {
        for (x, y, swatch, words) in &self.entries {
            let (x, y) = (*x, top + y);
            sheet.raw_class(&swatch.class(), |sheet| swatch.draw(sheet, x, y));
            sheet.text((x + SWATCH + 6.0, y + 13.0), Anchor::Left, Ink::Legend, words);
        }
    }
}

impl Swatch {
    fn class(&self) -> String {
        match self {
            Self::Bar { hue: number, .. } | Self::Dot { hue: number, .. } => hue(*number),
            Self::Tone(_) | Self::Plain { .. } | Self::One | Self::Across => "hn".to_owned(),
            Self::Line { class } => class.clone(),
        }
    }

    fn draw(&self, sheet: &Sheet<'_>, x: f64, y: f64) {
        let (from, to) = ((x, y + 3.0), (x + SWATCH, y + 14.0));
        match self {
            Self::Bar { hatched, .. } => part(sheet, from, to, *hatched),
            Self::Tone(place) => sheet.rect(from, to, Ink::tone(*place)),
            Self::Plain { pale: false } => sheet.rect(from, to, Ink::Bar),
            Self::Plain { pale: true } => sheet.rect(from, to, Ink::Tone2),
            Self::Dot { standing, .. } => {
                let (radius, ink) = standing.dot();
                sheet.dot((x + SWATCH / 2.0, y + 9.0), radius, ink);
            }
            Self::One => sheet.path(&[(x, y + 9.0), (x + SWATCH, y + 9.0)], Ink::One),
            Self::Across => {
                let x = x + SWATCH / 2.0;
                sheet.path(&[(x, y + 1.0), (x, y + 16.0)], Ink::Whisker);
            }
            Self::Line { .. } => sheet.path(&[(x, y + 9.0), (x + SWATCH, y + 9.0)], Ink::Line),
        }
    }
}

/// The classes of a line: hue and dashes.
pub(crate) fn line_class(number: usize) -> String {
    format!("{} d{}", hue(number), number % 5)
}

/// A legend above a chart, and below it what the axis of values shows.
pub(crate) struct Top {
    legend: Legend,
    title: Vec<String>,
    /// From the end of the legend to the first line of the title, in units.
    first: f64,
}

impl Top {
    pub(crate) fn new(legend: Legend, title: &str, first: f64) -> Self {
        Self { legend, title: wrap(title, WIDTH, SMALL, 2), first }
    }

    /// Of both, in units.
    pub(crate) fn height(&self) -> f64 {
        self.title.iter().fold(self.legend.height, |height, _| height + 16.0)
    }

    pub(crate) fn draw(&self, sheet: &Sheet<'_>, top: f64) {
        self.legend.draw(sheet, top);
        let mut y = top + self.legend.height + self.first;
        for line in &self.title {
            sheet.text((0.0, y), Anchor::Left, Ink::Title, line);
            y += 16.0;
        }
    }
}

/// Lines and numbers of an upright axis from zero.
pub(crate) struct Upright {
    ticks: Vec<(f64, String)>,
}

impl Upright {
    pub(crate) fn new(scale: &Scale, most: usize) -> Self {
        let ticks = scale.ticks(most);
        let words = tick_words(&ticks);
        Self { ticks: ticks.into_iter().zip(words).collect() }
    }

    /// Of the numbers, within bounds, and the room behind them, in units.
    pub(crate) fn width(&self, bounds: (f64, f64)) -> f64 {
        column(self.ticks.iter().map(|(_, word)| word.as_str()), SMALL, bounds) + 8.0
    }

    /// The lines over the width of the plot, the numbers before them.
    pub(crate) fn draw(&self, sheet: &Sheet<'_>, scale: &Scale, (from, to): (f64, f64)) {
        for (tick, word) in &self.ticks {
            let (y, ink) = (scale.at(*tick), if *tick == 0.0 { Ink::Axis } else { Ink::Grid });
            sheet.path(&[(from, y), (to, y)], ink);
            sheet.text((from - 6.0, y + 4.0), Anchor::Right, Ink::Tick, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_cannot_be_broken_is_not_cut() {
        let of = |label: &str| {
            let key = Key { label: label.to_owned(), ..Key::default() };
            Rows::new("", &[Words::new(&key, Some(1.0), "s", "")], 0.0)
        };
        let label = "ext4 cluster_size=128K";
        assert_eq!(wrap(label, of(label).room, LARGE, 2), ["ext4", "cluster_size=128K"]);
        assert!(of(&"long ".repeat(40)).room <= LABEL, "what can be broken is");
        assert!(of(&"long".repeat(40)).room <= LABEL_WORD);
    }
}
