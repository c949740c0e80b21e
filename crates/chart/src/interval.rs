//! A ratio with its interval in the room of a table's cell: a dot, a line, and the band within
//! which two are the same. All cells of a table share one [`Reach`], so that they can be compared.

use crate::scale::fit;
use crate::text;
use std::fmt::Write as _;

/// Height of a cell, in units.
const HEIGHT: f64 = 16.0;
/// Room at both ends for an arrow, in units.
const ROOM: f64 = 5.0;
/// A table reaches at least so far to both sides, and at most.
const LEAST: f64 = 1.25;
const MOST: f64 = 4.0;

/// How far the cells of a table reach: from 1 ÷ this to this, in equal factors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reach(f64);

impl Reach {
    /// So that every ratio is seen where that is possible.
    #[must_use]
    pub fn over(ratios: impl Iterator<Item = f64>) -> Self {
        let far = ratios.filter_map(fit).filter(|ratio| *ratio > 0.0);
        let far = far.map(|ratio| ratio.max(1.0 / ratio)).fold(LEAST, f64::max);
        Self((far * 1.05).min(MOST))
    }

    /// The place of a ratio in a cell of this width, and whether it lies beyond the end: −1 before,
    /// 1 after.
    fn locate(self, ratio: f64, width: f64) -> (f64, i8) {
        let share = ratio.max(1e-300).ln() / self.0.ln();
        let beyond = i8::from(share > 1.0) - i8::from(share < -1.0);
        let half = width / 2.0 - ROOM;
        (width / 2.0 + half * share.clamp(-1.0, 1.0), beyond)
    }
}

/// How much room a cell has: marks and letters are equally large in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellRoom {
    Wide,
    /// Half as wide, for tables of many columns.
    Narrow,
}

impl CellRoom {
    /// In units.
    fn width(self) -> f64 {
        match self {
            Self::Wide => 160.0,
            Self::Narrow => 80.0,
        }
    }
}

/// How the two compare, which decides the colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    Less,
    More,
    Same,
    /// Nothing is shown: grey.
    Nothing,
}

impl Shown {
    fn class(self) -> &'static str {
        match self {
            Self::Less => "less",
            Self::More => "more",
            Self::Same => "even-with",
            Self::Nothing => "open-yet",
        }
    }
}

/// A ratio in a cell.
#[derive(Clone, PartialEq, Debug)]
pub struct Interval {
    pub ratio: f64,
    /// Where the true ratio may lie; absent where that is not known.
    pub ends: Option<(f64, f64)>,
    /// The margin of SAME, such as 0.05.
    pub margin: f64,
    pub shown: Shown,
    /// The same in words, for who does not see it.
    pub words: String,
}

impl Interval {
    /// The drawing; empty where the ratio is no number above 0.
    #[must_use]
    pub fn draw(&self, reach: Reach, room: CellRoom) -> String {
        let Some(ratio) = fit(self.ratio).filter(|ratio| *ratio > 0.0) else {
            return String::new();
        };
        let margin = 1.0 + fit(self.margin).unwrap_or(0.0).clamp(0.0, 10.0);
        let width = room.width();
        let locate = |ratio: f64| reach.locate(ratio, width);
        let (from, to) = (locate(1.0 / margin).0, locate(margin).0);
        let middle = width / 2.0;
        let mut out = format!(
            "<svg class=\"cell-interval {}\" viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" \
             aria-label=\"",
            self.shown.class()
        );
        text::escape(&self.words, &mut out);
        let _ = write!(
            out,
            "\"><path class=\"within\" d=\"M{from:.1} 0H{to:.1}V{HEIGHT}H{from:.1}z\"/><path \
             class=\"equal\" d=\"M{middle} 0V{HEIGHT}\"/>"
        );
        if let Some((low, high)) = self.ends.filter(|(low, high)| *low > 0.0 && high >= low) {
            let ((from, before), (to, after)) = (locate(low), locate(high));
            let _ = write!(out, "<path class=\"line\" d=\"M{from:.1} 8H{to:.1}\"/>");
            for (x, beyond) in [(from, before), (to, after)] {
                if beyond != 0 {
                    let tip = x + f64::from(beyond) * (ROOM - 0.5);
                    let _ =
                        write!(out, "<path class=\"tip\" d=\"M{x:.1} 5L{tip:.1} 8L{x:.1} 11z\"/>");
                }
            }
        }
        let (x, _) = locate(ratio);
        let _ = write!(out, "<circle cx=\"{x:.1}\" cy=\"8\" r=\"4\"/></svg>");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(ratio: f64, ends: Option<(f64, f64)>) -> Interval {
        Interval { ratio, ends, margin: 0.05, shown: Shown::Less, words: "<ext2> \"x\"".into() }
    }

    fn dot(text: &str) -> f64 {
        let (_, rest) = text.split_once("<circle cx=\"").unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    }

    #[test]
    fn equal_factors_are_equally_far_and_what_is_beyond_has_an_arrow() {
        let reach = Reach::over([0.5, 1.2].into_iter());
        let [half, one, twice] =
            [0.5, 1.0, 2.0].map(|ratio| dot(&interval(ratio, None).draw(reach, CellRoom::Wide)));
        assert_eq!(one, 80.0);
        let narrow = |ratio: f64| dot(&interval(ratio, None).draw(reach, CellRoom::Narrow));
        assert_eq!(narrow(1.0), 40.0, "in the middle of half the room");
        assert!(narrow(0.5) < narrow(1.0) && narrow(2.0) <= 80.0 - ROOM);
        assert!((one - half - (twice - one)).abs() < 0.11, "{half} {one} {twice}");
        let plain = interval(0.8, Some((0.7, 0.9))).draw(reach, CellRoom::Wide);
        assert!(plain.contains("class=\"line\"") && !plain.contains("\"tip\""), "{plain}");
        let far = interval(0.8, Some((1e-9, 1e9))).draw(reach, CellRoom::Wide);
        assert_eq!(far.matches("\"tip\"").count(), 2, "{far}");
    }

    #[test]
    fn it_is_well_formed_small_and_says_what_it_shows() {
        let text =
            interval(0.8, Some((0.7, 0.9))).draw(Reach::over(std::iter::empty()), CellRoom::Wide);
        let document = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(document.root_element().attribute("aria-label"), Some("<ext2> \"x\""));
        assert!(text.len() < 400, "{}: {text}", text.len());
        for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let drawn =
                interval(ratio, None).draw(Reach::over([ratio].into_iter()), CellRoom::Wide);
            assert_eq!(drawn, "");
        }
    }
}
