//! The results: of each workload a table of medians and a sentence and a chart for each question.

use super::phrases::{Against, Phrases};
use super::wording;
use crate::answer::answer;
use crate::context::SectionContext;
use crate::pictures;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table, Tone};
use crate::text::capital;
use crate::verdict::sentences::between;
use crate::verdict::text::{ratio_and_interval, ratio_within, value};
use fsarena_model::verdict::Verdict;
use fsarena_verdict::{PairView, QuestionView, RankRow, Verdicts};

pub(super) fn section(context: &SectionContext<'_>, phrases: &dyn Phrases) -> Section {
    let run = context.run;
    let Some(verdicts) = run.verdicts else {
        return Section::new(vec![Block::Missing(phrases.nothing_asked().to_owned())]);
    };
    let mut blocks: Vec<Block> = Vec::new();
    if let Some(only) = only(verdicts) {
        blocks.push(Block::Warning(phrases.nothing_to_compare(only)));
    }
    if let Some(view) = fsarena_study::heat(run.study, run.verdicts) {
        let caption = phrases.heat(&view.reference);
        let chart = wording::heat(pictures::heat(context, &view), phrases);
        blocks.push(Block::Chart(chart.draw(), caption));
    }
    let points = fsarena_study::points(&run.header.plan, run.records);
    for workload in &run.header.plan.workloads {
        let own: Vec<&QuestionView> =
            verdicts.questions.iter().filter(|one| one.workload == workload.name).collect();
        if own.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(capital(&phrases.own_title(&workload.title))));
        blocks.push(Block::Table(table(context, &own, phrases)));
        let answers = own.iter().filter_map(|question| {
            let is_alone = own.iter().filter(|other| other.phase == question.phase).count() == 1;
            answered(verdicts, question, is_alone, phrases)
        });
        blocks.push(Block::List(None, answers.collect()));
        for of_phase in run.study.tables.iter().filter(|table| table.workload == workload.name) {
            let is_shown = |question: &&&QuestionView| {
                question.metric.is_length() && question.phase == of_phase.phase
            };
            if own.iter().any(|question| is_shown(&question)) && !of_phase.rows.is_empty() {
                let chart = wording::bars(pictures::times(context, of_phase, &points), phrases);
                let caption = phrases.times(&workload.name, &of_phase.phase);
                blocks.push(Block::Chart(chart.draw(), caption));
            }
        }
    }
    Section::new(blocks)
}

/// The only contender with figures, or that there is none; `None` where there are several.
fn only(verdicts: &Verdicts) -> Option<Option<&str>> {
    let mut labels: Vec<&str> =
        verdicts.questions.iter().flat_map(|one| &one.rows).map(|row| row.label.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    match labels.as_slice() {
        [] => Some(None),
        [label] => Some(Some(label)),
        _ => None,
    }
}

/// Questions in rows, contenders in columns; who is faster than all others stands out.
fn table(
    context: &SectionContext<'_>,
    questions: &[&QuestionView],
    phrases: &dyn Phrases,
) -> Table {
    let contenders = &context.run.header.plan.contenders;
    let with: Vec<usize> = (0..contenders.len())
        .filter(|&one| {
            questions.iter().any(|question| question.rows.iter().any(|row| row.contender == one))
        })
        .collect();
    let own = answer(context.run, None);
    let head = |&one: &usize| {
        let column = own.columns.iter().find(|column| column.contender == one);
        let states = column.map_or(&[][..], |column| &column.states);
        let words: Vec<&str> = states.iter().map(|state| phrases.row_state(*state)).collect();
        let label = &contenders[one].label;
        Column::figure(match words.is_empty() {
            true => label.clone(),
            false => format!("{label} ({})", words.join(", ")),
        })
    };
    let heads = with.iter().map(head);
    let first = [Column::text(phrases.phase()), Column::text("")];
    let columns: Vec<Column> = first.into_iter().chain(heads).collect();
    let workload = questions.first().map_or("", |question| question.workload.as_str());
    let mut table = Table::new(columns).titled(phrases.table(workload));
    for question in questions {
        let metric = phrases.metric(question.metric, question.clock, question.changes);
        let cell = |one: &usize| {
            let row = question.rows.iter().find(|row| row.contender == *one);
            let left = question.left.iter().find(|left| left.contender == *one);
            let why = left.map(|left| left.why.clone());
            row.map_or_else(
                || Cell::none().notes(why.into_iter().collect()),
                |row| {
                    let text = phrases.figure(&value(question.metric, row.median));
                    let tone = if is_first(question, row) { Tone::Strong } else { Tone::Plain };
                    Cell { tone, ..Cell::figure(text, row.median) }
                },
            )
        };
        let head = [Cell::text(phrases.words(&question.phase)), Cell::text(metric)];
        table.row(head.into_iter().chain(with.iter().map(cell)));
    }
    table
}

/// Whether it is decided to be faster than every other.
fn is_first(question: &QuestionView, row: &RankRow) -> bool {
    let mut others = question.rows.iter().filter(|other| other.contender != row.contender);
    let is_behind = |other: &RankRow| {
        between(question, row.contender, other.contender)
            .is_some_and(|pair| pair.verdict == Verdict::Faster && pair.machine_effect.is_none())
    };
    question.rows.len() > 1 && others.all(is_behind)
}

/// What is said of a question, of every pair that was asked; nothing where none was. `is_alone`:
/// no other question is asked of its phase.
fn answered(
    verdicts: &Verdicts,
    question: &QuestionView,
    is_alone: bool,
    phrases: &dyn Phrases,
) -> Option<String> {
    let best = question.rows.first()?;
    if question.pairs.is_empty() && question.rows.len() > 1 {
        return None;
    }
    let (with_best, without): (Vec<PairView>, Vec<PairView>) =
        in_order(question).into_iter().partition(|pair| pair.b == best.contender);
    let against = |pairs: &'_ [PairView]| -> Vec<Against> {
        pairs.iter().map(|pair| against(verdicts, pair)).collect()
    };
    let phase = phrases.words(&question.phase);
    let about = match is_alone {
        true => phase,
        false => {
            let metric = phrases.metric(question.metric, question.clock, question.changes);
            format!("{phase}, {metric}")
        }
    };
    let (others, rest) = (against(&with_best), against(&without));
    Some(phrases.answer(&about, &best.label, question.metric, &others, &rest))
}

/// The pairs that were asked in the order of the ranking, each with the one of the lesser median as
/// the second.
fn in_order(question: &QuestionView) -> Vec<PairView> {
    let mut all = Vec::new();
    for (at, second) in question.rows.iter().enumerate() {
        let behind = &question.rows[at + 1..];
        let pair = |first: &RankRow| between(question, first.contender, second.contender);
        all.extend(behind.iter().filter_map(pair));
    }
    all
}

fn against(verdicts: &Verdicts, pair: &PairView) -> Against {
    let (low, high) = pair.interval().unzip();
    let ratio = match pair.verdict {
        Verdict::Same => ratio_within(verdicts.margin, pair.ratio, low, high),
        _ => ratio_and_interval(pair.ratio, low, high),
    };
    Against {
        label: pair.a_label.clone(),
        than: pair.b_label.clone(),
        verdict: pair.verdict,
        by_machine: pair.machine_effect.is_some(),
        ratio: pair.ratio.map(|_| ratio),
    }
}
