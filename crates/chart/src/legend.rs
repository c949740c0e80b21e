//! Legends: swatches with words, in as many lines as they take.

use crate::ink::{Ink, Standing};
use crate::rows::cover;
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{SMALL, shorten, wide};

/// Height of a line, in units.
const LINE: f64 = 18.0;
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
    /// A bar of no hue in particular; hatched or not.
    Plain { hatched: bool },
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
                (x, y) = (0.0, y + LINE);
            }
            placed.push((x, y, swatch, words));
            x += width;
        }
        let height = if placed.is_empty() { 0.0 } else { y + LINE };
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
            Self::Bar { hue, .. } | Self::Dot { hue, .. } => crate::rows::hue(*hue),
            Self::Tone(_) | Self::Plain { .. } | Self::One | Self::Across => "hn".to_owned(),
            Self::Line { class } => class.clone(),
        }
    }

    fn draw(&self, sheet: &Sheet<'_>, x: f64, y: f64) {
        let (from, to) = ((x, y + 3.0), (x + SWATCH, y + 14.0));
        match self {
            Self::Bar { hue, hatched } => {
                sheet.rect(from, to, if *hatched { Ink::Tone3 } else { Ink::Bar });
                if let Some(over) = hatched.then_some(Ink::Stripes).or(cover(*hue)) {
                    sheet.rect(from, to, over);
                }
            }
            Self::Tone(place) => tone(sheet, from, to, *place),
            Self::Plain { hatched: false } => sheet.rect(from, to, Ink::Bar),
            Self::Plain { hatched: true } => {
                sheet.rect(from, to, Ink::Tone2);
                sheet.rect(from, to, Ink::Stripes);
            }
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
pub(crate) fn line_class(hue: usize) -> String {
    format!("{} d{}", crate::rows::hue(hue), hue % 5)
}

/// A rectangle in a shade; the third is striped, so that a print without colours tells it too.
pub(crate) fn tone(sheet: &Sheet<'_>, from: (f64, f64), to: (f64, f64), place: usize) {
    let ink = Ink::tone(place);
    sheet.rect(from, to, ink);
    if ink == Ink::Tone2 {
        sheet.rect(from, to, Ink::Stripes);
    }
}
