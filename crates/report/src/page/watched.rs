//! A device that was watched while another application used it: what was seen, and no verdict.

use crate::format::grouped;
use crate::page::context::SectionContext;
use crate::page::parts::{self, Cell, Column, Table};
use crate::watched::totals as watched_totals;
use fsarena_model::units::Nanos;
use fsarena_study::watched::{Interval, Over, Part, interval};
use maud::{Markup, html};

/// The section of one RUN; empty where nothing was watched.
pub(crate) fn section(context: &SectionContext<'_>) -> Markup {
    if !context.is_watched() {
        return html! {};
    }
    let all = context.run.records.iter().filter_map(|record| interval("", record, Part::default()));
    let all: Vec<Interval> = all.collect();
    let body = html! {
        (parts::note(
            "Watched and not measured: another application was at work, and nothing says what it \
             did. So there is nothing here to be compared, and no verdict."
        ))
        @if all.is_empty() {
            (parts::missing("There are no figures: the watch has fewer than two samples."))
        }
        @for own in &all { (sitting(own)) }
    };
    parts::section(context, "watched", "What was seen", &body)
}

fn sitting(own: &Interval) -> Markup {
    let length = |s: f64| Nanos((s * 1e9).max(0.0).round() as u64).to_string();
    let facts = [
        ("Device", own.what.clone()),
        ("Watched for", length(own.to_s - own.from_s)),
        (
            "Samples",
            format!("{} stretches of {}", grouped(own.stretches as u64), length(own.period_s)),
        ),
    ];
    html! {
        (parts::facts(&facts))
        p { (watched_totals(own)) }
        (figures(own))
    }
}

/// A figure over all stretches.
type Of = fn(&Over) -> f64;

fn figures(own: &Interval) -> Table {
    let columns: [(&str, Of); 5] = [
        ("mean", |over| over.mean),
        ("p10", |over| over.p10),
        ("median", |over| over.median),
        ("p90", |over| over.p90),
        ("largest", |over| over.max),
    ];
    let mut heads = vec![Column::text("of each stretch between two samples")];
    heads.extend(columns.iter().map(|(head, _)| Column::figure(*head, "")));
    let mut table = Table::new("What was seen, over all stretches", heads);
    for row in &own.rows {
        let mut cells = vec![Cell::text(row.quantity.title())];
        cells.extend(columns.iter().map(|(_, of)| {
            Cell::maybe(row.over.as_ref().map(|over| (row.quantity.text(of(over)), of(over))))
        }));
        table.row(cells);
    }
    table
}
