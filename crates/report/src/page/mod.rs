//! The report: one HTML page that needs no network, complete without its script: head, style sheet,
//! script, the table of contents, and the sections in their order.
//!
//! The page is the same bytes for the same RUNs and the same program: nothing here asks for the
//! time, and nothing is loaded from anywhere. Views come from `fsarena-study`, sentences from the
//! rest of this crate, drawings from `fsarena-chart`; what is laid out here is computed in none of
//! these again. Every inserted string is escaped by the templates (`maud`); what a RUN says is
//! text, never markup.

use crate::context::{Run, SectionContext};
use crate::format::{count, utc};
use crate::notes::trials_done;
use crate::render::html::{self as parts, Opening};
use crate::section::Section;
use crate::sections::{self, SectionKind};
use fsarena_chart::Svg;
use fsarena_model::run::RunState;
use fsarena_model::visible;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::borrow::Cow;

pub(crate) const SHEET: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Nothing is fetched: what style and script there is stands in the page.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The page of one or several RUNs.
#[must_use]
pub fn page(runs: &[Run<'_>], program_version: &str) -> String {
    let bodies: Vec<Body<'_>> = bodies(runs).collect();
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content={ "fsarena " (program_version) };
                title { (title(runs)) " – fsarena report" }
                style { (PreEscaped(fsarena_chart::STYLE)) (PreEscaped(SHEET)) }
            }
            body {
                a.skip href="#main" { "Skip to the answer" }
                div.frame {
                    (head(runs))
                    (contents(&bodies))
                    main id="main" tabindex="-1" {
                        @for body in &bodies { (body.whole(runs.len() == 1)) }
                        @if runs.is_empty() { (parts::missing("No RUN was given.")) }
                    }
                    (foot(runs, program_version))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let whole = whole.into_string();
    // What a RUN says may turn the order of what is read; nothing of ours does.
    match visible::lines(&whole) {
        Cow::Borrowed(_) => whole,
        Cow::Owned(shown) => shown,
    }
}

/// Every chart of the page with the name of its file, in the order of the page; ids and names are
/// unique over all RUNs.
#[must_use]
pub fn charts(runs: &[Run<'_>]) -> Vec<(String, Svg)> {
    let mut all: Vec<Svg> = Vec::new();
    for body in bodies(runs) {
        let charts = body.sections.iter().flat_map(|(_, section)| section.charts());
        all.extend(charts.cloned().map(|chart| match runs {
            [_] => chart,
            _ => Svg { name: format!("run-{}-{}", body.context.run.id, chart.name), ..chart },
        }));
    }
    Svg::file_names(&all).into_iter().zip(all).collect()
}

/// The title of one RUN; of several, how many there are.
fn title(runs: &[Run<'_>]) -> String {
    match runs {
        [run] if !run.header.title.is_empty() => run.header.title.clone(),
        [run] => run.header.experiment.clone(),
        runs => count(runs.len(), "RUN"),
    }
}

fn head(runs: &[Run<'_>]) -> Markup {
    html! {
        header {
            h1 { (title(runs)) }
            @if let [run] = runs {
                @if run.is_watched() { p.lead { (when_and_state(run)) } }
            }
            @if runs.len() > 1 {
                p.lead { "Each RUN stands by itself. `fsarena compare` compares them." }
            }
        }
    }
}

/// `quick, RUN 3fa55e3d, 2026-11-22 13:20 UTC, done, 48 trials`.
fn when_and_state(run: &Run<'_>) -> String {
    let study = run.study;
    let trials = trials_done(study);
    let (experiment, uid) = (&study.experiment, short(&study.uid));
    let when = utc(study.created_unix_ns);
    format!("{experiment}, RUN {uid}, {when}, {}, {trials}", study.state.name())
}

/// The digits that a RUN is called by.
fn short(uid: &str) -> &str {
    uid.get(..8).unwrap_or(uid)
}

/// The sections of a RUN; those that have nothing to show are left out, and out of the contents.
struct Body<'a> {
    context: SectionContext<'a>,
    sections: Vec<(&'static SectionKind, Section)>,
}

fn bodies<'a>(runs: &'a [Run<'a>]) -> impl Iterator<Item = Body<'a>> {
    runs.iter().enumerate().map(|(at, run)| {
        let context = SectionContext::new(at, run);
        Body { sections: sections::made_for(&context), context }
    })
}

impl Body<'_> {
    fn whole(&self, is_alone: bool) -> Markup {
        let (id, run) = (self.context.prefix.as_str(), self.context.run);
        html! {
            article id=(id) aria-labelledby={ (id) "-title" } {
                h2.sr[is_alone] id={ (id) "-title" } { (self.heading(is_alone)) }
                (state(run))
                @for (kind, section) in &self.sections {
                    (parts::section(
                        &format!("{id}-{}", kind.id),
                        kind.title,
                        section,
                        opening(kind.id),
                    ))
                }
            }
        }
    }

    /// The title stands at the head already where it is alone.
    fn heading(&self, is_alone: bool) -> String {
        let run = self.context.run;
        let uid = short(&run.study.uid);
        let title =
            if run.header.title.is_empty() { &run.header.experiment } else { &run.header.title };
        if is_alone { format!("RUN {uid}") } else { format!("{title}: RUN {uid}") }
    }
}

/// The first screen is open, what power cuts took, which is a part of it, and what was seen where
/// there is nothing else; all others are closed until asked for, and of them only the appendix is
/// printed.
fn opening(section: &str) -> Opening {
    match section {
        "answer" => Opening::First,
        "watched" | "crash" => Opening::Open,
        "appendix" => Opening::Printed,
        _ => Opening::Closed,
    }
}

/// What has to be known of a RUN that did not come to its end.
fn state(run: &Run<'_>) -> Markup {
    let study = run.study;
    let (done, planned) = (study.trials_recorded, count(study.trials_planned, "trial"));
    let why = match study.state {
        RunState::Done => return html! {},
        RunState::Running => "is not at its end, or its process died without a word",
        RunState::Interrupted => "was interrupted",
        RunState::Failed => "could not go on",
    };
    if let Some(view) = run.crash.filter(|_| run.header.plan.is_crash_alone()) {
        let planned = count(view.crash_runs_planned, "crash run");
        let figures = match view.crash_runs_done {
            0 => "there are no figures".to_owned(),
            done => format!("the figures are of {done} of {planned}"),
        };
        return parts::warning(&format!("This RUN {why}: {figures}."));
    }
    let figures = match done {
        0 => "there are no figures".to_owned(),
        _ => format!("the figures are of the {done} of {planned} that were recorded"),
    };
    let crash_runs = run.crash.filter(|view| view.crash_runs_done < view.crash_runs_planned);
    let crash_runs = crash_runs.map_or_else(String::new, |view| {
        let planned = count(view.crash_runs_planned, "crash run");
        format!(" and of {} of {planned}", view.crash_runs_done)
    });
    parts::warning(&format!("This RUN {why}: {figures}{crash_runs}."))
}

/// The RUNs, where there are several.
fn contents(bodies: &[Body<'_>]) -> Markup {
    html! {
        @if bodies.len() > 1 {
            nav.contents aria-label="RUNs" {
                ol {
                    @for body in bodies { li {
                        a href={ "#" (body.context.prefix) } { (body.heading(false)) }
                    } }
                }
            }
        }
    }
}

fn foot(runs: &[Run<'_>], program_version: &str) -> Markup {
    let mut methods: Vec<u32> =
        runs.iter().filter_map(|run| run.verdicts).map(|verdicts| verdicts.method).collect();
    methods.sort_unstable();
    methods.dedup();
    let methods: Vec<String> = methods.iter().map(u32::to_string).collect();
    html! {
        footer {
            p {
                "Written by fsarena " (program_version)
                @if !methods.is_empty() { ", method of verdicts " (methods.join(", ")) }
                ". One file; it loads nothing. That a difference is not shown is never called “no \
                 difference” here."
            }
        }
    }
}
