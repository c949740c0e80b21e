//! Section 6, the appendix: every raw value, the experiment, the seed, the command, the method, the
//! data.

mod data;
mod method;
mod repeat;

use crate::context::SectionContext;
use crate::format::{count, grouped};
use crate::render::html as parts;
use crate::section::{Block, Section};
use data::{MOST_PAIRS, MOST_POINTS};
use fsarena_study::{PhasePoints, points};
use maud::{Markup, PreEscaped, html};

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let run = context.run;
    let points = points(&run.header.plan, run.records);
    let many = data::many(&points);
    let body = html! {
        (raw(context, &points, many))
        (closing_notes(context))
        (repeat::section(context))
        @if !context.is_watched() { (method::section(context)) }
        (files(context, &points, many))
    };
    Section::new(vec![Block::Page(body, Vec::new())])
}

/// The values of every trial, folded.
fn raw(context: &SectionContext<'_>, points: &[PhasePoints], many: usize) -> Markup {
    html! {
        (parts::heading("Every raw value of every trial"))
        @if many == 0 {
            (parts::missing("No trial has a timed phase that came to its end."))
        } @else if many > MOST_POINTS {
            p {
                "These are " (count(many, "phase")) " of trials, too many for tables: they are in "
                "the CSV below."
            }
        } @else {
            (parts::blocks(&crate::raw::raw_page(context, points)))
        }
    }
}

/// What failed, what was not run, notices.
fn closing_notes(context: &SectionContext<'_>) -> Markup {
    let study = context.run.study;
    html! {
        @for (title, lines) in crate::notes::closing_lists(study) {
            @let watchers = "What the watchers saw within trials";
            @let title = if title == "Watchers" { watchers } else { title };
            (parts::heading(title))
            (folded(&lines))
        }
        @if let Some(line) = crate::notes::sampling(study) { (parts::note(&line)) }
    }
}

/// A list; what is more than a screen of it is folded.
fn folded(lines: &[String]) -> Markup {
    const SHOWN: usize = 12;
    let (shown, rest) = lines.split_at(lines.len().min(SHOWN));
    html! {
        (parts::list(shown))
        @if !rest.is_empty() { (parts::fold(&format!("{} more", rest.len()), &parts::list(rest))) }
    }
}

/// The data as files.
fn files(context: &SectionContext<'_>, points: &[PhasePoints], many: usize) -> Markup {
    let run = context.run;
    let name = format!("fsarena-{}", run.header.uid.get(..8).unwrap_or(&run.header.uid));
    let (csv, json) = (format!("{}-csv", context.prefix), format!("{}-json", context.prefix));
    let is_large = many > MOST_POINTS;
    let command = format!("fsarena export {} --format json", run.header.uid);
    html! {
        (parts::heading("The data"))
        p {
            "This page contains " (count(many, "phase")) " of trials as CSV, one row each, units "
            "in the names of columns"
            @if is_large {
                ". JSON is left out, for it would be most of the page: "
            } @else {
                ", and header" @if data::is_small(points) { ", verdicts and the same values" }
                @else { " and verdicts" } " as JSON (the element " code { (json) }
                @if run.verdicts.is_some_and(|all| data::pairs(all) > MOST_PAIRS) {
                    ", without the pairs, which are too many"
                }
                "). Records as they were stored, time series among them: "
            }
            code { (command) } "."
        }
        div.tools {
            span data-save=(csv) data-type="text/csv" data-name={ (name) ".csv" }
                data-words="Save the CSV" {}
            @if !is_large {
                span data-save=(json) data-type="application/json" data-name={ (name) ".json" }
                    data-words="Save the JSON" {}
            }
        }
        div.screen {
            (parts::fold(
                &format!("CSV, {} rows", grouped(many as u64)),
                // The first line break after <pre> is none.
                &html! {
                    pre.tall id=(csv) tabindex="0" role="region" aria-label="CSV" {
                        "\n" (data::csv(run, points))
                    }
                }
            ))
        }
        @if !is_large {
            script type="application/json" id=(json) { (PreEscaped(data::json(run, points))) }
        }
    }
}
