//! Published studies in their own shape: what was printed, what their numbers give when they are
//! computed again, and the values of our machines beside them.
//!
//! Numbers and findings come from `fsarena-reference`, values of ours from a study; what is laid
//! out here is computed in neither place again. Printed numbers are shown as printed. A value of
//! ours that was not measured as the RUN asked, or not by all planned trials, is marked.

mod appendix;
mod beside;
mod blocks;
mod layout;
mod measured;
mod model;
mod published;
mod rates;
mod seconds;

pub use beside::beside;
pub use model::{Beside, OwnPhase, OwnRun, PlainTable, ThenAndNow};

pub use rates::{ArticleCell, ArticleRow, article_2003};

use crate::style::{MIN_WIDTH, Style};
use crate::text::{clean, wrap};
use fsarena_reference::{Article, Shape};
use model::otherwise;

/// An article: its tables, what they give when computed again and what becomes of its conclusions;
/// then the RUNs of ours, one a machine.
#[must_use]
pub fn article(
    article: &Article,
    phases: &[OwnPhase],
    runs: &[OwnRun<'_>],
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    if let Shape::Rates { rows } = &article.shape {
        let out = rates::all(&rates::rows(rows, phases), runs, width, style);
        return out + &otherwise(runs, width);
    }
    let mut out = published::tables(article, width, style);
    out.push_str(&published::findings(article, width, style));
    if !runs.is_empty() {
        out.push('\n');
        out.push_str(&measured_tables(article, phases, runs, width, style));
    }
    if let Shape::Cycles { inference, .. } = &article.shape {
        out.push_str(&format!("\n{}", blocks::inference(inference, runs, width, style)));
    }
    out
}

/// RUNs of ours alone, one a machine, in the shape of the article that they repeat.
#[must_use]
pub fn in_shape_of(
    article: &Article,
    phases: &[OwnPhase],
    runs: &[OwnRun<'_>],
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    match &article.shape {
        Shape::Rates { rows } => {
            let out = rates::ours(&rates::rows(rows, phases), runs, width, style);
            out + &otherwise(runs, width)
        }
        _ => measured_tables(article, phases, runs, width, style),
    }
}

fn measured_tables(
    article: &Article,
    phases: &[OwnPhase],
    runs: &[OwnRun<'_>],
    width: usize,
    style: Style,
) -> String {
    let (tests, machines) = match &article.shape {
        Shape::Contenders { tests } => (tests, false),
        Shape::Machines { tests } => (tests, true),
        Shape::Cycles { .. } => {
            return blocks::ours(runs, width, style) + &otherwise(runs, width);
        }
        Shape::Rates { .. } => return String::new(),
    };
    let ours = seconds::Ours::new(article, tests, phases, runs);
    let mut out = if machines {
        ours.side_by_side(width, style)
    } else {
        ours.one_after_the_other(width, style)
    };
    if machines {
        out.push('\n');
        out.push_str(&appendix::every_trial(&ours, width, style));
    }
    out
}

/// The studies that are known (`reference` without a year).
#[must_use]
pub fn articles(list: &[(u16, &str)], width: usize) -> String {
    let width = width.max(MIN_WIDTH);
    list.iter().map(|(year, title)| wrap(&format!("{year}  "), &clean(title), width)).collect()
}
