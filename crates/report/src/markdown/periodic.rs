//! Cycles, sweeps and accounts as Markdown, with all their columns.

use super::{escaped, list};
use crate::marks::Marks;
use crate::table::Grid;
use crate::{Style, accounts, cycles, sweeps};
use fsarena_study::Study;
use std::fmt::Write as _;

/// A section each of what the RUN has.
pub(super) fn sections(out: &mut String, study: &Study) {
    cycles(out, study);
    sweeps(out, study);
    accounts(out, study);
}

fn cycles(out: &mut String, study: &Study) {
    let views = || study.cycles.iter().filter(|view| !view.rows.is_empty());
    if views().next().is_none() {
        return;
    }
    out.push_str("\n## Cycles\n");
    for view in views() {
        heading(out, &cycles::cycles_title(view));
        let mut marks = Marks::default();
        grid(out, &cycles::summary(view, &mut marks));
        list(out, "", &marks.lines());
        grid(out, &cycles::effects(view));
        grid(out, &cycles::each(view));
        list(out, "", &cycles::cycles_lines(view));
    }
    let _ = write!(out, "\n{}\n", escaped(cycles::LEGEND));
}

fn sweeps(out: &mut String, study: &Study) {
    if study.sweeps.is_empty() {
        return;
    }
    out.push_str("\n## Sweeps\n");
    for view in &study.sweeps {
        heading(out, &sweeps::sweep_title(view));
        grid(out, &sweeps::levels(view));
        for one in view.curves.iter().filter(sweeps::has_points) {
            grid(out, &sweeps::curve(view, one, Style::default()));
        }
        let words: Vec<String> = view.curves.iter().map(|curve| curve.words.clone()).collect();
        list(out, "", &words);
    }
    let _ = write!(out, "\n{}\n", escaped(sweeps::LEGEND));
}

fn accounts(out: &mut String, study: &Study) {
    if study.accounts.is_empty() {
        return;
    }
    out.push_str("\n## Where the bytes went\n");
    for view in &study.accounts {
        heading(out, &accounts::account_title(view));
        let mut marks = Marks::default();
        for sheet in accounts::sheets(view, &mut marks) {
            grid(out, &sheet.grid("part"));
        }
        list(out, "", &marks.lines());
        for (label, words) in accounts::account_words(view) {
            list(out, &label, &words);
        }
    }
    let _ = write!(out, "\n{}\n", escaped(accounts::LEGEND));
}

fn heading(out: &mut String, title: &str) {
    let _ = write!(out, "\n### {}\n", escaped(title));
}

fn grid(out: &mut String, grid: &Grid) {
    if !grid.is_empty() {
        let _ = write!(out, "\n{}", grid.markdown());
    }
}
