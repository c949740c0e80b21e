//! Charts as SVG: plain values in, text out.
//!
//! A chart is drawn once and serves the page, print and a file of its own: [`Svg::inline`] takes
//! its colours from the page's style sheet, [`Svg::file`] has each of them worked out from the same
//! sheet and written where it is used, since other programs know neither its rules nor its
//! variables. Colours are classes, never values: light, dark and print are decided by the style
//! sheet alone. A pattern says where a figure is from, and nothing else. One contender
//! has one hue everywhere, and is told by its label too, never by its colour alone.
//!
//! The plotting library is plotters, without its features: its coordinates give places and ticks
//! (linear and logarithmic ones, and a percentile axis of our own by its trait), its elements are
//! drawn through its `DrawingBackend` trait by a backend of ours (`Pen`) that writes classes
//! where others write colours. So one drawing serves light, dark, print, page and file, and every
//! value is an element that a tooltip, a test and a screen reader can find. Its own SVG backend
//! writes colours and knows of no groups; kuva, the other maintained one that writes SVG, takes a
//! theme with its colours when it draws, so that light and dark would be two drawings. What
//! plotters has no good answer for is laid out here: rows with labels, legends, heat maps.
//!
//! Knows nothing of RUNs, records or verdicts, and computes no figure but where a mark lies.
#![forbid(unsafe_code)]

mod bars;
mod file;
mod groups;
mod heat;
mod history;
mod ink;
mod interval;
mod level_curves;
mod levels;
mod plots;
mod rows;
mod scale;
mod scatter;
mod sheet;
mod style;
mod text;
mod traces;

pub use bars::{Bar, Bars, Ratio, Ratios, Segment, Stack, Stacks};
pub use file::{PaperWidth, Unfit};
pub use groups::{Group, Groups, Part};
pub use heat::{Cell, Heat, Proof};
pub use history::{Histories, HistoryLine, HistoryPanel, HistorySpot};
pub use ink::Standing;
pub use interval::{CellRoom, Interval, Reach, Shown};
pub use level_curves::{LevelCurve, LevelCurves, LevelPoint};
pub use levels::{Column, Columns, ColumnsOf, Level, Levels};
pub use plots::{Plot, PlotLine, Plots};
pub use scatter::{Scatter, ScatterPoint};
pub use sheet::{HUES, NO_HUE, Svg};
pub use style::STYLE;
pub use traces::{Curve, Curves, Panel, Span, Trace, Traces};

/// What every chart has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Head {
    /// Unique within a page, of letters, digits and `-`: ids inside the chart begin with it.
    pub id: String,
    /// What its file is named by: the workload, the phase and the kind of chart, a part each;
    /// without parts the id.
    pub name: Vec<String>,
    /// What it shows, in a few words (`<title>`).
    pub title: String,
    /// The same for somebody who does not see it: what is compared, the best and the worst with
    /// their values (`<desc>`).
    pub description: String,
}

/// An axis of values.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Axis {
    /// What is shown, with its unit: `durable, s (less is better)`.
    pub title: String,
    /// Logarithmic instead of from zero.
    pub log: bool,
    /// What the number of a value is followed by: ` s`, `×`, empty.
    pub unit: String,
}

impl Axis {
    /// From zero.
    pub fn linear(title: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { title: title.into(), log: false, unit: unit.into() }
    }
}

/// A contender as a chart shows it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Key {
    /// Label; shortened where there is no room, whole in the mark's own title.
    pub label: String,
    /// Its number in the plan: the same hue in every chart, [`HUES`] of them and then again; or
    /// [`NO_HUE`].
    pub hue: usize,
}

/// A value with the words that a tooltip and a screen reader get.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Spot {
    /// Value, in the unit of the axis.
    pub value: f64,
    /// Words: `block 3: 1.24 s`.
    pub tip: String,
}
