//! Section 1, the answer: the question, one sentence a workload, tiers, what is undecided and what
//! deciding it would cost; then each question with its chart and ranking.
//!
//! What is said comes from the verdicts in the words of `crate::verdict`; where nothing was asked,
//! medians are stated and called that.

use crate::context::SectionContext;
use crate::format::{count, ns};
use crate::labels::{absence, row_label};
use crate::pictures::file_name;
use crate::render::html as parts;
use crate::section::{Block, Section};
use crate::text::{Detail, Style};
use crate::verdict::question::{against, levels, multipliers, ranking, undecided, watched};
use crate::verdict::rule::{DISAGREES, legend, rule_and_course};
use crate::verdict::sentences::{answer, between, pair_as_ranked};
use crate::verdict::text::{about, blocks, listed, margin, metric, percent};
use crate::verdict::{suite_table, suite_words};
use fsarena_chart::{Head, Key, Ratio, Ratios, Spot, Svg};
use fsarena_model::verdict::{Metric, Rule};
use fsarena_study::PhaseTable;
use fsarena_verdict::{PairView, QuestionView, RankRow, Verdicts};
use maud::{Markup, html};

/// Contenders that a sentence names at most.
const NAMED: usize = 8;
/// Sentences beyond this are folded.
const SHOWN: usize = 3;
/// Sentences beyond this are not on the page: those of 21 contenders are.
const LISTED: usize = 210;

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    if context.run.is_watched() {
        return Section::none();
    }
    let mut blocks = vec![Block::Html(asked(context))];
    match context.run.verdicts {
        Some(verdicts) if !verdicts.questions.is_empty() => {
            blocks.extend(answered(context, verdicts));
        }
        Some(_) => blocks.push(Block::Missing(
            "Nothing was asked: no workload of this RUN has a timed phase that two contenders run."
                .to_owned(),
        )),
        None => blocks.extend(unasked(context)),
    }
    Section::new(blocks)
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

fn answered(context: &SectionContext<'_>, verdicts: &Verdicts) -> Vec<Block> {
    let mut all = vec![Block::Html(sentences(verdicts)), Block::Note(what_is_meant(verdicts))];
    all.extend(context.run.measured_by().map(|program| {
        Block::Note(format!(
            "Measured by {program} and brought in: the questions were chosen after the data."
        ))
    }));
    if verdicts.agrees_with_stored_looks == Some(false) {
        all.push(Block::Warning(DISAGREES.to_owned()));
    }
    all.push(Block::Html(open(verdicts)));
    if let Some(view) = &verdicts.suite {
        all.push(Block::Heading("Over all workloads".to_owned()));
        all.extend([Block::Table(suite_table(view)), Block::Note(suite_words(view))]);
    }
    for (at, one) in verdicts.questions.iter().enumerate() {
        all.extend(question(context, verdicts, at, one));
    }
    all.push(Block::Heading("By which rule".to_owned()));
    all.push(Block::Text(rule_and_course(verdicts)));
    let again = verdicts.rerun.iter().map(|one| format!("block {}: {}", one.block, one.why));
    let counts = verdicts.not_rerun.iter().map(|one| {
        format!("block {}: {}; it counts, since no spare block was left", one.block, one.why)
    });
    let rerun = again.chain(counts).collect();
    all.extend(named("Blocks that were run again, or should have been:", rerun));
    let legend = Block::Text(legend(verdicts, Detail::AllPairs));
    all.push(Block::Fold("How this is read".to_owned(), vec![legend]));
    all
}

/// One sentence a question, the headline first.
fn sentences(verdicts: &Verdicts) -> Markup {
    let headline = verdicts.headline.and_then(|at| verdicts.questions.get(at));
    let is_headline = |one: &QuestionView| headline.is_some_and(|first| std::ptr::eq(first, one));
    let others = verdicts.questions.iter().filter(|one| !is_headline(one));
    html! {
        ul.answers {
            @for one in headline.into_iter().chain(others) {
                li.headline[is_headline(one)] {
                    span.what { (name(one)) @if is_headline(one) { " · the headline" } }
                    (answer(verdicts, one))
                }
            }
        }
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

/// With whom: the baseline, but where it has no figures; else the reference of each question.
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
                 with another: {others}"
            )
        }
        (None, [] | [_]) => {
            let to = references.first().map_or(String::new(), |(label, _)| {
                format!("; the ratios that stand here are to {label}")
            });
            format!("Every pair was compared{to}")
        }
        (None, _) => {
            let each: Vec<String> = references.iter().map(each).collect();
            let each = each.join("; ");
            format!("Every pair was compared; the ratios that stand here are to {each}")
        }
    }
}

/// What is undecided over all questions, and what deciding it would cost.
fn open(verdicts: &Verdicts) -> Markup {
    let pairs: usize = verdicts.questions.iter().map(|one| one.pairs.len()).sum();
    let open = || verdicts.questions.iter().flat_map(undecided);
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
        let blocks = blocks(of.more_blocks);
        format!("about {blocks} ({}) more", about(of.seconds))
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

/// Everything that is said of the question `at` this context: its chart, its ranking with letters
/// and tiers, its pairs, which contenders are excluded, what the watchers saw, and what differences
/// are due to.
fn question(
    context: &SectionContext<'_>,
    verdicts: &Verdicts,
    at: usize,
    question: &QuestionView,
) -> Vec<Block> {
    let (undecided, all) = (undecided(question), question.pairs.iter().collect::<Vec<_>>());
    let left = question.left.iter().map(|left| format!("{}: {}", left.label, left.why)).collect();
    let mut blocks = vec![Block::Html(html! {
        h4 id={ (context.prefix) "-question-" (at + 1) } {
            (question.workload) " / " (question.phase) ": "
            (metric(question.metric, question.clock))
        }
        @if !question.workload_title.is_empty() { p.kind { (question.workload_title) } }
    })];
    let chart = ratios(context, verdicts, at, question);
    blocks.extend(chart.map(|svg| Block::Chart(svg, caption(verdicts, question))));
    blocks.push(match question.rows.is_empty() {
        true => Block::Missing("No contender has figures for this question.".to_owned()),
        false => Block::Table(ranking(verdicts, question, Style::default())),
    });
    let listed = |pairs: &[&PairView]| {
        let list = Block::List(None, in_words(verdicts, question, pairs));
        vec![list, Block::Html(rest(context, pairs.len()))]
    };
    match undecided.len() {
        0 => {}
        1..=SHOWN => {
            let lines = in_words(verdicts, question, &undecided);
            blocks.extend(named("Undecided, and what deciding would cost:", lines));
        }
        n => {
            let title = format!("{n} pairs undecided, and what deciding would cost");
            blocks.push(Block::Fold(title, listed(&undecided)));
        }
    }
    if all.len() > undecided.len() {
        let title = format!("All {} in words", count(all.len(), "pair"));
        blocks.push(Block::Fold(title, listed(&all)));
    }
    blocks.extend(named("Excluded:", left));
    blocks.extend(named("What the watchers saw:", watched(question)));
    if let Some(factors) = &question.factors {
        let known = match factors.factors.is_empty() {
            true => "not known".to_owned(),
            false => multipliers(factors),
        };
        blocks.push(Block::Text(format!(
            "What it is due to, slowest ÷ fastest level over all other factors: {known}."
        )));
        let levels = Block::List(None, levels(factors));
        blocks.push(Block::Fold("Levels, tests and shares".to_owned(), vec![levels]));
    }
    blocks
}

fn caption(verdicts: &Verdicts, question: &QuestionView) -> String {
    let to = verdicts.reference(question).map_or("the best", |row| row.label.as_str());
    format!(
        "{}: ratios to {to} with their intervals; in the band the two are within {}.",
        name(question),
        margin(verdicts.margin)
    )
}

/// Pairs in words, up to as many as a page can hold.
fn in_words(verdicts: &Verdicts, question: &QuestionView, pairs: &[&PairView]) -> Vec<String> {
    pairs.iter().take(LISTED).map(|pair| pair_as_ranked(verdicts, question, pair)).collect()
}

/// Where the pairs are that are not listed.
fn rest(context: &SectionContext<'_>, all: usize) -> Markup {
    html! {
        @if all > LISTED {
            p { (all - LISTED) " more: "
                code { "fsarena study " (context.run.study.uid) " --all-pairs" } }
        }
    }
}

/// Sentences under a title; nothing without any.
fn named(title: &str, lines: Vec<String>) -> Vec<Block> {
    match lines.is_empty() {
        true => Vec::new(),
        false => vec![Block::Text(title.to_owned()), Block::List(None, lines)],
    }
}

/// `create of small-files, time to durable`.
fn name(question: &QuestionView) -> String {
    let what = metric(question.metric, question.clock);
    format!("{} of {}, {what}", question.phase, question.workload)
}

/// The chart of the question `at` this context; `None` with fewer than two contenders to compare.
fn ratios(
    context: &SectionContext<'_>,
    verdicts: &Verdicts,
    at: usize,
    question: &QuestionView,
) -> Option<Svg> {
    let reference = verdicts.reference(question)?;
    let rows: Vec<Ratio> =
        question.rows.iter().map(|row| ratio(verdicts, question, row, reference)).collect();
    if rows.iter().filter(|row| row.ratio.is_some()).count() < 2 {
        return None;
    }
    let what = metric(question.metric, question.clock);
    let of = match question.metric {
        Metric::Time => "time",
        Metric::Cpu => "processor time",
        Metric::Written => "bytes written",
        Metric::P99 => "p99 latency",
    };
    let chart = Ratios {
        head: Head {
            id: format!("{}-ratios-{}", context.prefix, at + 1),
            name: file_name(&[
                &question.workload,
                &question.phase,
                question.metric.name(),
                question.clock.name(),
                "ratios",
            ]),
            title: format!("{} {}: {what}, ratios", question.workload, question.phase),
            description: description(verdicts, question, &rows),
        },
        title: format!("{of} ÷ {of} of {} (less is better)", reference.label),
        margin: verdicts.margin,
        rows,
    };
    Some(chart.draw())
}

/// A contender against the reference.
fn ratio(
    verdicts: &Verdicts,
    question: &QuestionView,
    row: &RankRow,
    reference: &RankRow,
) -> Ratio {
    let said = against(verdicts, question, row);
    let ends = between(question, row.contender, reference.contender).and_then(|p| p.interval());
    let words = said.interval.iter().fold(said.ratio.clone(), |all, one| format!("{all} {one}"));
    Ratio {
        key: Key { label: row.label.clone(), hue: row.contender },
        ratio: row
            .ratio
            .map(|value| Spot { value, tip: format!("{}: {words}, {}", row.label, said.word) }),
        interval: ends,
        word: if row.ratio.is_some() { said.word.to_owned() } else { "not compared".to_owned() },
    }
}

/// For readers who do not see it: best and worst, and the margin.
fn description(verdicts: &Verdicts, question: &QuestionView, rows: &[Ratio]) -> String {
    let spots = || rows.iter().filter_map(|row| row.ratio.as_ref());
    let by_value = |a: &&Spot, b: &&Spot| a.value.total_cmp(&b.value);
    let tip = |spot: Option<&Spot>| spot.map(|spot| spot.tip.clone()).unwrap_or_default();
    format!(
        "Ratios of {} contenders in {} of {}, with intervals and a band of {} around 1. Least: {}. \
         Largest: {}.",
        rows.len(),
        question.phase,
        question.workload,
        percent(verdicts.margin),
        tip(spots().min_by(by_value)),
        tip(spots().max_by(by_value)),
    )
}

/// A RUN that was planned without questions: medians, and that nothing more is claimed.
fn unasked(context: &SectionContext<'_>) -> Vec<Block> {
    let study = context.run.study;
    if study.tables.iter().all(|table| table.rows.is_empty()) {
        let text = "There is no answer: no trial of this RUN came to its end.";
        return vec![Block::Missing(text.to_owned())];
    }
    let warning = "this RUN was planned without questions, so there are no verdicts. What follows \
                   are medians; whether a difference between them is real is not said.";
    let medians = html! {
        ul.answers {
            @for table in &study.tables {
                li {
                    span.what { (table.phase) " of " (table.workload) ", median time to "
                        (study.compared_clock.name()) }
                    (medians(table)) "."
                }
            }
        }
    };
    vec![Block::Warning(warning.to_owned()), Block::Html(medians)]
}

/// The medians, least first.
fn medians(table: &PhaseTable) -> String {
    let mut rows: Vec<(u64, String)> = table
        .rows
        .iter()
        .filter_map(|row| Some((row.compared.as_ref()?.median_ns, row_label(table, row))))
        .collect();
    rows.sort();
    let mut items: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|(median, who)| format!("{who} {}", ns(Some(*median))))
        .collect();
    if rows.len() > NAMED {
        items.push(format!("{} more", rows.len() - NAMED));
    }
    let absent: Vec<String> = table
        .absent
        .iter()
        .take(NAMED)
        .map(|row| format!("{} {}", row.label, absence(row.why)))
        .collect();
    match (items.is_empty(), absent.is_empty()) {
        (true, true) => "no figures".to_owned(),
        (true, false) => format!("no figures: {}", listed(&absent)),
        (false, true) => listed(&items),
        (false, false) => format!("{}; without figures: {}", listed(&items), listed(&absent)),
    }
}
