//! A heat map of ratios: contenders × workloads.

use crate::ink::Ink;
use crate::rows;
use crate::scale::fit;
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{LARGE, SMALL, column, wide, wrap};
use crate::{Head, Key, Spot, Svg};

/// Columns of a panel.
const MOST_COLUMNS: usize = 6;
/// Lines of the name of a column.
const LINES: usize = 3;
/// Height of a line of text, in units.
const LINE: f64 = 14.0;
/// Height of a cell with what is between it and the next, in units.
const ROW: f64 = 28.0;
/// Room between panels, in units.
const APART: f64 = 14.0;
/// Widest cell, in units.
const WIDEST: f64 = 92.0;

/// Where the steps of the scale end, as factors: 1.05 and 1 ÷ 1.05 belong to the middle.
const STEPS: [f64; 4] = [1.05, 1.25, 1.6, 2.5];

/// The step of a ratio, −4 to 4; equally far for ×2 and ÷2.
fn step(ratio: f64) -> i8 {
    let far = STEPS.iter().fold(0, |far, end| far + i8::from(ratio.max(1.0 / ratio) > *end));
    if ratio < 1.0 { -far } else { far }
}

/// Ratios to a reference, 1.00 in the middle of a diverging scale on which ×2 and ÷2 are equally
/// far.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Heat {
    /// Title and description.
    pub head: Head,
    /// Columns: workloads and phases.
    pub columns: Vec<String>,
    /// Rows: contenders.
    pub rows: Vec<Key>,
    /// `cells[row][column]`.
    pub cells: Vec<Vec<Cell>>,
    /// What the scale says: `time ÷ time of ext4: above 1 is slower`.
    pub legend: String,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cell {
    /// The ratio; absent where there is none.
    pub ratio: Option<Spot>,
    /// What is shown of it, which decides how the cell looks.
    pub proof: Proof,
    /// Whether the value is bound to the reference itself.
    pub reference: bool,
}

/// What is shown of a ratio.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proof {
    /// Nothing, or nothing was asked: drawn hollow.
    #[default]
    None,
    /// That the two are the same: drawn solid and neutral, with `=` before the number.
    Same,
    /// That they differ: drawn in the colour of its step.
    Differs,
}

impl Heat {
    /// Draws it; one mark a cell with a ratio. Many columns are broken into panels below each
    /// other. A ratio that is not above 0 counts as absent.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.rows.is_empty() || self.columns.is_empty() {
            return rows::empty(&self.head);
        }
        let labels = self.rows.iter().map(|row| row.label.as_str());
        let from = column(labels, LARGE, (40.0, 124.0)) + 8.0;
        let panels: Vec<_> = self.panels(from);
        let legend = wrap(&self.legend, WIDTH, SMALL, 2);
        let below = legend.iter().fold(LINE + 46.0, |below, _| below + LINE + 2.0);
        let height = panels.iter().fold(below, |height, panel| height + panel.height(self));
        let mut sheet = Sheet::new(&self.head, height);
        let mut top = 0.0;
        for panel in &panels {
            panel.draw(&mut sheet, self, from, top);
            top += panel.height(self);
        }
        key(&sheet, top);
        for (line, y) in legend.iter().zip([top + 72.0, top + 88.0]) {
            sheet.text((0.0, y), Anchor::Left, Ink::Legend, line);
        }
        sheet.finish()
    }

    /// Columns side by side as far as they go, about as many in each panel.
    fn panels(&self, from: f64) -> Vec<Panel> {
        let longest = self.columns.iter().flat_map(|name| name.split([' ', '/', ',', '-']));
        let widest = column(longest, SMALL, (40.0, WIDEST - 6.0)) + 6.0;
        let most = (((WIDTH - from) / widest) as usize).clamp(1, MOST_COLUMNS);
        let each = self.columns.len().div_ceil(self.columns.len().div_ceil(most));
        let count = each.min(self.columns.len());
        let width = ((WIDTH - from) / count as f64).min(WIDEST);
        let starts = (0..self.columns.len()).step_by(each);
        starts
            .map(|start| {
                let end = (start + each).min(self.columns.len());
                let names = &self.columns[start..end];
                let names: Vec<_> =
                    names.iter().map(|name| wrap(name, width - 4.0, SMALL, LINES)).collect();
                Panel { start, width, names }
            })
            .collect()
    }
}

/// Columns next to each other.
struct Panel {
    start: usize,
    width: f64,
    names: Vec<Vec<String>>,
}

impl Panel {
    fn head(&self) -> f64 {
        let lines = self.names.iter().map(Vec::len).max().unwrap_or(1);
        (0..lines).fold(6.0, |height, _| height + LINE)
    }

    fn height(&self, heat: &Heat) -> f64 {
        heat.rows.iter().fold(self.head() + APART, |height, _| height + ROW)
    }

    fn draw(&self, sheet: &mut Sheet<'_>, heat: &Heat, from: f64, top: f64) {
        let mut x = from;
        for name in &self.names {
            let mut y = top + self.head() - 6.0;
            for line in name.iter().rev() {
                sheet.text((x + self.width / 2.0, y), Anchor::Center, Ink::Tick, line);
                y -= LINE;
            }
            x += self.width;
        }
        let mut y = top + self.head();
        for (at, row) in heat.rows.iter().enumerate() {
            rows::label(sheet, y + 18.5, from - 8.0, &row.label);
            let mut x = from;
            for (column, name) in
                heat.columns.iter().enumerate().skip(self.start).take(self.names.len())
            {
                let cell = heat.cells.get(at).and_then(|cells| cells.get(column));
                let whose = rows::tip(&row.label, name, "");
                draw_cell(sheet, cell, (x, y), self.width, &whose);
                x += self.width;
            }
            y += ROW;
        }
    }
}

fn draw_cell(sheet: &mut Sheet<'_>, cell: Option<&Cell>, at: (f64, f64), width: f64, whose: &str) {
    let (from, to) = ((at.0 + 1.5, at.1 + 1.5), (at.0 + width - 1.5, at.1 + ROW - 1.5));
    let middle = (at.0 + width / 2.0, at.1 + 18.5);
    let ratio = cell.and_then(|cell| cell.ratio.as_ref());
    let shown = ratio.and_then(|spot| fit(spot.value)).filter(|ratio| *ratio > 1e-9);
    let Some(((ratio, spot), cell)) = shown.zip(ratio).zip(cell) else {
        sheet.text(middle, Anchor::Center, Ink::Note, "–");
        return;
    };
    let class = match (cell.reference, cell.proof) {
        (true, _) => "q0 ref".to_owned(),
        (_, Proof::Differs) => format!("q{}", step(ratio)),
        (_, Proof::Same) => "q0 same".to_owned(),
        (_, Proof::None) => format!("q{} open", step(ratio)),
    };
    let sign = if cell.proof == Proof::Same && !cell.reference { "= " } else { "" };
    let number = format!("{sign}{}", figure(ratio));
    sheet.mark(&class, &rows::tip(whose, &spot.tip, ""), |sheet| {
        sheet.rect(from, to, Ink::Cell);
        sheet.text(middle, Anchor::Center, Ink::Number, &number);
    });
}

/// A ratio in the room of a cell.
fn figure(ratio: f64) -> String {
    match ratio {
        _ if ratio >= 9999.5 => format!("{ratio:.0e}"),
        _ if ratio >= 99.95 => format!("{ratio:.0}"),
        _ if ratio >= 9.995 => format!("{ratio:.1}"),
        _ if ratio >= 0.005 => format!("{ratio:.2}"),
        _ => format!("{ratio:.0e}"),
    }
}

/// The steps of the scale with the ratios at which they meet; below them the cells of what is the
/// same and of what is not shown.
fn key(sheet: &Sheet<'_>, top: f64) {
    const STEP: f64 = 36.0;
    let mut x = 0.0;
    for step in -4..=4_i8 {
        sheet.raw_class(&format!("q{step}"), |sheet| {
            sheet.rect((x, top), (x + STEP, top + 12.0), Ink::Cell);
        });
        x += STEP;
    }
    let ends = STEPS.iter().rev().map(|end| 1.0 / end).chain(STEPS);
    let mut x = STEP;
    for end in ends {
        sheet.text((x, top + 25.0), Anchor::Center, Ink::Tick, &format!("{end:.2}"));
        x += STEP;
    }
    let mut x = 0.0;
    let line = top + 38.0;
    for (class, sign, words) in
        [("q0 same", "=", "shown to be the same"), ("q4 open", "", "nothing shown, or not asked")]
    {
        sheet.raw_class(class, |sheet| {
            sheet.rect((x, line), (x + 20.0, line + 14.0), Ink::Cell);
            sheet.text((x + 10.0, line + 11.5), Anchor::Center, Ink::Number, sign);
        });
        sheet.text((x + 26.0, line + 11.5), Anchor::Left, Ink::Legend, words);
        x += 26.0 + wide(words, SMALL) + 18.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_and_half_are_equally_far_from_the_middle() {
        for ratio in [1.0, 1.04, 1.2, 1.5, 2.0, 3.0, 1e6] {
            assert_eq!(step(ratio), -step(1.0 / ratio), "{ratio}");
        }
        assert_eq!([1.0, 1.1, 1.3, 2.0, 3.0].map(step), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_figure_keeps_to_its_cell() {
        let figures = [0.0001, 0.25, 1.0, 12.34, 123.4, 12_345.0].map(figure);
        assert_eq!(figures, ["1e-4", "0.25", "1.00", "12.3", "123", "1e4"]);
    }
}
