//! A plot for a terminal: lines over two axes, 14 rows of characters, in dots of Braille where the
//! terminal shows them, else in letters, one for each line.
//!
//! Every line of it says what the numbers of the document say; nothing is computed but where a mark
//! lies.

use crate::text::{Style, heading, width_of};

/// Lines of the area above the axis along; two of them a step of the upright axis.
const ROWS: usize = 10;
/// Steps of the upright axis.
const STEPS: usize = 5;
/// Most steps of the axis along.
const STEPS_ALONG: f64 = 5.0;
/// A line of so many points has a number at each of them.
const FEW: usize = 16;
/// Dots of a character of Braille across and down, and the bit of each (Unicode, block 2800).
const ACROSS: usize = 2;
const DOWN: usize = 4;
const BITS: [[u32; ACROSS]; DOWN] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// Of a dotted line one dot in so many is drawn.
const SPARSE: usize = 3;
/// Marks of the lines where there is no Braille, and samples of the lines where there is.
const LETTERS: [char; 2] = ['*', 'o'];
const SAMPLES: [&str; 2] = ["⠒⠒", "⠐⠐"];

/// Lines over two axes.
pub(crate) struct TextPlot<'a> {
    pub(crate) title: String,
    pub(crate) along: TextAxis<'a>,
    pub(crate) upright: TextAxis<'a>,
    pub(crate) lines: Vec<TextLine<'a>>,
}

/// An axis: from zero, or logarithmic.
pub(crate) struct TextAxis<'a> {
    /// Stands above the upright axis.
    pub(crate) title: String,
    /// Stands behind the numbers of the axis along.
    pub(crate) unit: &'a str,
    pub(crate) is_log: bool,
}

/// A line; of several each has a label.
pub(crate) struct TextLine<'a> {
    pub(crate) label: &'a str,
    /// Along and up, from the left.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Where values lie between the beginning (0) and the end (1) of an axis.
struct Range {
    is_log: bool,
    from: f64,
    to: f64,
}

impl Range {
    fn share(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value / self.from).log10() / (self.to / self.from).log10(),
            false => (value - self.from) / (self.to - self.from),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The nearest of `steps` places and the one at the beginning.
    fn place(&self, value: f64, steps: usize) -> usize {
        (self.share(value) * steps as f64).round() as usize
    }
}

/// Characters by row, from above, and column.
type Area = Vec<Vec<char>>;

impl TextPlot<'_> {
    /// Draws it; nothing where no line has a point.
    pub(crate) fn draw(&self, width: usize, style: Style) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        if points().next().is_none() {
            return String::new();
        }
        let (upright, ticks) = self.upright.upright(points().map(|point| point.1));
        let along = self.along.along(points().map(|point| point.0));
        let margin = ticks.iter().map(|(_, word)| width_of(word)).max().unwrap_or(0);
        // The last number along is half beyond the end, and the unit behind it.
        let columns = width.saturating_sub(margin + width_of(self.along.unit) + 6).max(20);
        let area = match style.bars {
            true => self.braille(&along, &upright, columns),
            false => self.letters(&along, &upright, columns),
        };
        let mut out = heading(&self.title, width, style);
        out.push_str(self.legend(style).trim_end());
        out.push('\n');
        for (row, line) in area.iter().enumerate() {
            let up = ROWS - row;
            let tick = ticks.iter().find(|(value, _)| upright.place(*value, ROWS) == up);
            let word = tick.map_or("", |(_, word)| word.as_str());
            let sign = if up == 0 || tick.is_some() { '+' } else { '|' };
            let line: String = line.iter().collect();
            out.push_str(format!("{word:>margin$} {sign}{line}").trim_end());
            out.push('\n');
        }
        let ticks = self.ticks_along(&along, columns);
        out.push_str(&" ".repeat(margin + 2));
        out.push_str(format!("{ticks} {}", self.along.unit).trim_end());
        out.push('\n');
        out
    }

    /// What is upright, and whose the lines are where there are several.
    fn legend(&self, style: Style) -> String {
        let mut out = self.upright.title.clone();
        for (at, line) in self.lines.iter().enumerate().filter(|(_, line)| !line.label.is_empty()) {
            let at = at % LETTERS.len();
            let sample = if style.bars { SAMPLES[at].to_owned() } else { LETTERS[at].to_string() };
            out.push_str(&format!("   {sample} {}", line.label));
        }
        out
    }

    /// The axis along, and above it nothing yet.
    fn empty(columns: usize) -> Area {
        let mut area = vec![vec![' '; columns]; ROWS];
        area.push(vec!['-'; columns]);
        area
    }

    /// A letter at every point, and in columns between two points where the line passes.
    fn letters(&self, along: &Range, upright: &Range, columns: usize) -> Area {
        let mut area = Self::empty(columns);
        for (at, line) in self.lines.iter().enumerate().rev() {
            let letter = LETTERS[at % LETTERS.len()];
            let place = |&(x, y): &(f64, f64)| {
                (along.place(x, columns - 1), upright.share(y) * ROWS as f64)
            };
            let places: Vec<(usize, f64)> = line.points.iter().map(place).collect();
            let mut mark = |column: usize, up: f64| {
                area[ROWS - up.round() as usize][column] = letter;
            };
            for &(column, up) in &places {
                mark(column, up);
            }
            for two in places.windows(2) {
                let ((from, low), (to, high)) = (two[0], two[1]);
                for column in from + 1..to {
                    let share = (column - from) as f64 / (to - from) as f64;
                    mark(column, low + (high - low) * share);
                }
            }
        }
        area
    }

    /// Lines of dots; of the second line some are left out.
    fn braille(&self, along: &Range, upright: &Range, columns: usize) -> Area {
        let (wide, tall) = (columns * ACROSS, ROWS * DOWN);
        let mut bits = vec![vec![0_u32; columns]; ROWS];
        for (at, line) in self.lines.iter().enumerate() {
            let place = |&(x, y): &(f64, f64)| {
                (along.share(x) * (wide - 1) as f64, (1.0 - upright.share(y)) * (tall - 1) as f64)
            };
            let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
            let mut count = 0;
            let mut last = None;
            for at_dot in dots(&places) {
                let (column, row) = at_dot;
                if last.replace(at_dot) == Some(at_dot) {
                    continue;
                }
                if at % LETTERS.len() == 0 || count % SPARSE == 0 {
                    bits[row / DOWN][column / ACROSS] |= BITS[row % DOWN][column % ACROSS];
                }
                count += 1;
            }
        }
        let mut area = Self::empty(columns);
        for (row, line) in bits.iter().enumerate() {
            for (column, bits) in line.iter().enumerate().filter(|(_, bits)| **bits > 0) {
                area[row][column] = char::from_u32(0x2800 + bits).unwrap_or(' ');
            }
        }
        area
    }

    /// Numbers below the axis along, as far as they have room.
    fn ticks_along(&self, along: &Range, columns: usize) -> String {
        let longest = self.lines.iter().max_by_key(|line| line.points.len());
        let points = longest.map_or(&[][..], |line| &line.points);
        let ticks: Vec<f64> = if along.is_log || points.len() <= FEW {
            points.iter().map(|point| point.0).collect()
        } else {
            let step = round_step(along.to / STEPS_ALONG);
            (0..).map(|n| f64::from(n) * step).take_while(|at| *at <= along.to * 1.0001).collect()
        };
        let mut out = String::new();
        for (tick, word) in ticks.iter().zip(words(&ticks)) {
            let half = word.len() / 2;
            let begin = along.place(*tick, columns - 1).saturating_sub(half);
            if out.is_empty() || begin > out.len() {
                out.push_str(&" ".repeat(begin - out.len()));
                out.push_str(&word);
            }
        }
        out
    }
}

/// The dots of a line through places, in its order.
fn dots(places: &[(f64, f64)]) -> Vec<(usize, usize)> {
    let round = |(x, y): (f64, f64)| (x.round() as usize, y.round() as usize);
    let mut dots: Vec<(usize, usize)> =
        places.first().map(|place| round(*place)).into_iter().collect();
    for two in places.windows(2) {
        let (from, to) = (two[0], two[1]);
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
        dots.extend((1..=steps as u32).map(|step| {
            let share = f64::from(step) / steps;
            round((from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share))
        }));
    }
    dots
}

impl TextAxis<'_> {
    /// The upright axis: its range, and the values that have a number.
    fn upright(&self, values: impl Iterator<Item = f64>) -> (Range, Vec<(f64, String)>) {
        let (least, most) = ends(values);
        let ticks: Vec<f64> = if self.is_log {
            let decades = |value: f64| value.log10();
            let (from, to) = (decades(least).floor() as i32, decades(most).ceil() as i32);
            (from..=to.max(from + 1)).map(|power| 10_f64.powi(power)).collect()
        } else {
            let step = round_step(most / STEPS as f64);
            (0..=STEPS).map(|n| n as f64 * step).collect()
        };
        let range = Range {
            is_log: self.is_log,
            from: ticks.first().copied().unwrap_or(0.0),
            to: ticks.last().copied().unwrap_or(1.0),
        };
        let words =
            if self.is_log { ticks.iter().map(f64::to_string).collect() } else { words(&ticks) };
        (range, ticks.into_iter().zip(words).collect())
    }

    fn along(&self, values: impl Iterator<Item = f64>) -> Range {
        let (least, most) = ends(values);
        Range { is_log: self.is_log, from: if self.is_log { least } else { 0.0 }, to: most }
    }
}

/// The least and the largest value above zero.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let above = values.filter(|value| value.is_finite() && *value > 0.0);
    let (least, most) = above
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    if most > 0.0 { (least, most) } else { (1.0, 1.0) }
}

/// The least step of one or two digits that is at least so large.
fn round_step(least: f64) -> f64 {
    let ten = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let step = steps.into_iter().find(|step| step * ten >= least * 0.999_999);
    step.unwrap_or(10.0) * ten
}

/// Numbers with as many decimals as tell them apart, three at most.
fn words(ticks: &[f64]) -> Vec<String> {
    let needs = |tick: &f64| {
        (0..3).find(|places| {
            let scaled = tick * 10_f64.powi(*places);
            (scaled - scaled.round()).abs() < 1e-6
        })
    };
    let places = ticks.iter().map(|tick| needs(tick).unwrap_or(3)).max().unwrap_or(0);
    ticks.iter().map(|tick| format!("{tick:.0$}", places.unsigned_abs() as usize)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<(f64, f64)>) -> TextPlot<'static> {
        let axis = |title: &str, unit| TextAxis { title: title.into(), unit, is_log: false };
        TextPlot {
            title: "A rate over a place".into(),
            along: axis("place", "%"),
            upright: axis("rate, MB/s", "MB/s"),
            lines: vec![TextLine { label: "", points }],
        }
    }

    #[test]
    fn a_line_in_letters_and_in_dots() {
        let points: Vec<_> =
            (0..=50).map(|at| (f64::from(at) * 2.0, 100.0 - f64::from(at))).collect();
        let plot = plot(points);
        insta::assert_snapshot!(plot.draw(60, Style::default()), @r"
        A rate over a place
        rate, MB/s
        100 +******
            |      **********
         80 +                **********
            |                         **********
         60 +                                   **********
            |                                             *****
         40 +
            |
         20 +
            |
          0 +--------------------------------------------------
             0        20        40       60        80        100 %
        ");
        insta::assert_snapshot!(plot.draw(60, Style { bars: true, ..Style::default() }), @r"
        A rate over a place
        rate, MB/s
        100 +⠉⠑⠒⠒⠤⠤⢄⣀⣀
            |         ⠉⠉⠉⠒⠒⠢⠤⠤⣀⣀⡀
         80 +                   ⠈⠉⠉⠒⠒⠢⠤⢄⣀⣀
            |                             ⠉⠉⠉⠒⠒⠢⠤⠤⣀⣀⡀
         60 +                                       ⠈⠉⠉⠒⠒⠢⠤⠤⣀⣀⡀
            |                                                 ⠈
         40 +
            |
         20 +
            |
          0 +--------------------------------------------------
             0        20        40       60        80        100 %
        ");
    }

    #[test]
    fn any_values_have_a_place_in_fourteen_lines() {
        for points in [
            vec![],
            vec![(0.0, 0.0)],
            vec![(1.0, f64::NAN), (2.0, -1.0), (f64::INFINITY, 3.0)],
            vec![(1e-9, 1e12), (1e9, 1e-12)],
        ] {
            for is_log in [false, true] {
                let mut plot = plot(points.clone());
                (plot.along.is_log, plot.upright.is_log) = (is_log, is_log);
                for bars in [false, true] {
                    let text = plot.draw(80, Style { bars, ..Style::default() });
                    let lines = if points.is_empty() { 0 } else { 14 };
                    assert_eq!(text.lines().count(), lines, "{text}");
                }
            }
        }
    }

    #[test]
    fn steps_are_round_and_numbers_short() {
        assert_eq!([0.9, 21.6, 34.4, 0.002].map(round_step), [1.0, 25.0, 40.0, 0.002]);
        assert_eq!(words(&[0.0, 2.5, 5.0]), ["0.0", "2.5", "5.0"]);
        assert_eq!(words(&[4.0, 1024.0]), ["4", "1024"]);
    }
}
