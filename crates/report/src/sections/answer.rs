//! Section 1, the answer: the question, one sentence a workload, tiers, what is undecided and what
//! deciding it would cost.
//!
//! What is said comes from the verdicts in the words of `crate`; where nothing was asked,
//! medians are stated and called that.

mod pictures;
mod question;
mod unasked;

pub(crate) use pictures::charts;

use crate::context::SectionContext;
use crate::format::count;
use crate::render::html as parts;
use crate::section::{Block, Section};
use crate::verdict::answers::{self, listed, margin};
use crate::verdict::suite;
use fsarena_model::verdict::{Metric, Rule};
use fsarena_verdict::{QuestionView, SuiteView, Verdicts};
use maud::{Markup, html};
use question::name;

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    if context.is_watched() {
        return Section::none();
    }
    let run = context.run;
    let body = html! {
        (asked(context))
        @match run.verdicts {
            Some(verdicts) if !verdicts.questions.is_empty() => (answered(context, verdicts)),
            Some(_) => (parts::missing(
                "Nothing was asked: no workload of this RUN has a timed phase that two contenders \
                 run."
            )),
            None => (unasked::section(context)),
        }
    };
    Section::new(vec![Block::Page(body, charts(context))])
}

/// The question in plain words, who is compared, and what counts as the same.
fn asked(context: &SectionContext<'_>) -> Markup {
    let header = context.run.header;
    let written = header.experiment_toml.parse::<toml::Table>().ok();
    let question = written
        .as_ref()
        .and_then(|table| table.get("question")?.as_str())
        .map_or_else(|| of_title(&header.title), str::to_owned);
    let contenders = &header.plan.contenders;
    html! {
        p.question { (question) }
        p.legend {
            @for (hue, contender) in contenders.iter().enumerate() {
                (parts::swatch(hue, &contender.label)) " "
            }
        }
    }
}

/// Where the experiment states no question.
fn of_title(title: &str) -> String {
    format!("Who needs less, by how much, and is the difference real: {title}")
}

fn answered(context: &SectionContext<'_>, verdicts: &Verdicts) -> Markup {
    let headline = verdicts.headline.and_then(|at| verdicts.questions.get(at));
    let is_headline = |one: &QuestionView| headline.is_some_and(|first| std::ptr::eq(first, one));
    let others = verdicts.questions.iter().filter(|one| !is_headline(one));
    let in_order: Vec<&QuestionView> = headline.into_iter().chain(others).collect();
    html! {
        ul.answers {
            @for one in in_order {
                li.headline[is_headline(one)] {
                    span.what { (name(one)) @if is_headline(one) { " · the headline" } }
                    (answers::in_words(verdicts, one))
                }
            }
        }
        (parts::note(&what_is_meant(verdicts)))
        @if let Some(program) = context.measured_by() {
            (parts::note(&format!(
                "Measured by {program} and brought in: the questions were chosen after the data."
            )))
        }
        @if verdicts.agrees_with_stored_looks == Some(false) {
            (parts::warning(
                "what the looks decided when they were taken is not what the stored trials say now."
            ))
        }
        (open(verdicts))
        @if let Some(suite) = &verdicts.suite { (overall(suite)) }
        @for (at, one) in verdicts.questions.iter().enumerate() {
            (question::section(context, verdicts, at, one))
        }
        (parts::heading("By which rule"))
        p { (answers::rule(verdicts)) }
        @if !verdicts.rerun.is_empty() || !verdicts.not_rerun.is_empty() { (rerun(verdicts)) }
        (parts::fold("How this is read", &html! { p { (answers::legend(verdicts)) } }))
    }
}

/// What stands behind the sentences: blocks, margin, level.
fn what_is_meant(verdicts: &Verdicts) -> String {
    let counted = count(verdicts.blocks_counted as usize, "block");
    let who = compared_with(verdicts);
    let times = verdicts.questions.iter().any(|one| one.metric == Metric::Time);
    let fast = if times { " “Times as fast” is of the inverse of times." } else { "" };
    format!(
        "{who}. In brackets: the interval that the verdict rests on. The same means: shown to be \
         within {}. Undecided means that neither is shown. From {counted} that count.{fast}",
        margin(verdicts.margin)
    )
}

/// With whom: the baseline, but where it has no figures; else the best of each question.
fn compared_with(verdicts: &Verdicts) -> String {
    let mut references: Vec<(&str, Vec<String>)> = Vec::new();
    for question in verdicts.questions.iter().filter(|one| one.rows.len() > 1) {
        let Some(row) = verdicts.reference(question) else { continue };
        let named = name(question);
        match references.iter_mut().find(|(label, _)| *label == row.label) {
            Some((_, questions)) => questions.push(named),
            None => references.push((&row.label, vec![named])),
        }
    }
    let each =
        |(label, questions): &(&str, Vec<String>)| format!("{label} in {}", listed(questions));
    match (&verdicts.baseline, references.as_slice()) {
        (Some(baseline), [(only, _)]) if baseline == only => {
            format!("Each contender is compared with {baseline}")
        }
        (Some(baseline), []) => format!("Each contender was to be compared with {baseline}"),
        (Some(baseline), _) => {
            let others: Vec<String> =
                references.iter().filter(|(label, _)| label != baseline).map(each).collect();
            let others = others.join("; ");
            format!(
                "Each contender is compared with {baseline}, and where {baseline} has no figures \
                 with the best: {others}"
            )
        }
        (None, [] | [_]) => {
            let best = references.first().map_or(String::new(), |(label, _)| format!(", {label}"));
            format!("Every pair was compared; the best of each question stands here{best}")
        }
        (None, _) => {
            let each: Vec<String> = references.iter().map(each).collect();
            let each = each.join("; ");
            format!("Every pair was compared; the best of each question stands here: {each}")
        }
    }
}

/// What is undecided over all questions, and what deciding it would cost.
fn open(verdicts: &Verdicts) -> Markup {
    let pairs: usize = verdicts.questions.iter().map(|one| one.pairs.len()).sum();
    let open = || verdicts.questions.iter().flat_map(answers::undecided);
    let n = open().count();
    if pairs == 0 {
        return html! {};
    }
    if n == 0 {
        return html! { p { "Everything that was asked is decided." } };
    }
    let forecasts = || open().filter_map(|pair| pair.forecast.as_ref());
    let least = forecasts().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let most = forecasts().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let cost = |of: &fsarena_verdict::Forecast| {
        let blocks = answers::blocks(of.more_blocks);
        format!("about {blocks} ({}) more", answers::about(of.seconds))
    };
    html! {
        p {
            (n) " of " (count(pairs, "pair")) @if n == 1 { " is" } @else { " are" } " undecided. "
            @match (least, most) {
                (Some(least), Some(most)) if n > 1 => {
                    "By the forecast the next one to be decided takes " (cost(least))
                    ", the last one " (cost(most)) "."
                }
                (Some(one), _) => { "By the forecast deciding it takes " (cost(one)) "." }
                (None, _) => { "There is no forecast of what deciding would take." }
            }
            @if matches!(verdicts.rule, Rule::Looks { .. }) && verdicts.stop.is_some() {
                " A RUN that has ended is never extended: that would be a new RUN with a larger "
                code { "--cap" } " or " code { "--budget" } "."
            }
        }
    }
}

/// Over all workloads.
fn overall(view: &SuiteView) -> Markup {
    html! {
        (parts::heading("Over all workloads"))
        (suite::grid(view))
        (parts::note(&suite::words(view)))
    }
}

fn rerun(verdicts: &Verdicts) -> Markup {
    let again = verdicts.rerun.iter().map(|one| format!("block {}: {}", one.block, one.why));
    let counts = verdicts.not_rerun.iter().map(|one| {
        format!("block {}: {}; it counts, since no spare block was left", one.block, one.why)
    });
    let lines: Vec<String> = again.chain(counts).collect();
    html! { p { "Blocks that were run again, or should have been:" } (parts::list(&lines)) }
}
