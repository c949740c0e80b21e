//! The matrix of a page: one row a phase, one column a contender, each cell against one baseline
//! with a bar, a percentage and a word. Rows unfold into what is behind them.
//!
//! What a cell says is in the answer (`crate::answer`), for each baseline that may be asked for;
//! where the page has its script, the reader chooses one.

use super::{question, speed};
use crate::answer::sentences::change;
use crate::answer::{Answer, AnswerCell, AnswerColumn, AnswerRow, Mark, answer, baselines};
use crate::context::SectionContext;
use crate::labels::absence;
use crate::render::html::swatch;
use crate::row_state::{RowState, state_words};
use crate::section::{Block, Unfolding, UnfoldingGroup, UnfoldingRow};
use crate::verdict::text::{margin, ratio_text, value};
use fsarena_chart::{CellRoom, Interval, Reach, Shown};
use fsarena_model::verdict::Metric;
use fsarena_study::PhaseTable;
use maud::{Markup, PreEscaped, html};

/// Cells of all baselines together that a page has at most; with more there is one baseline.
const MOST_CELLS: usize = 3_000;
/// Contenders besides the baseline that have room for a word next to the bar.
pub(crate) const WORDS_UP_TO: usize = 3;
/// The same for the bar.
const BARS_UP_TO: usize = 12;

/// The answer against each baseline that is offered; the first is the one that is shown.
pub(crate) struct Answers(Vec<Answer>);

impl Answers {
    pub(crate) fn new(context: &SectionContext<'_>) -> Self {
        let first = answer(context.run, None);
        let each = first.rows.len() * first.columns.len();
        let others = baselines(context.run).into_iter().skip(1);
        let room = (MOST_CELLS / each.max(1)).saturating_sub(1);
        let is_all = baselines(context.run).len() <= room + 1;
        let others: Vec<Answer> = match is_all && first.is_judged {
            true => others.map(|baseline| answer(context.run, Some(baseline))).collect(),
            false => Vec::new(),
        };
        Self(std::iter::once(first).chain(others).collect())
    }

    /// The one that is shown first.
    pub(crate) fn first(&self) -> &Answer {
        &self.0[0]
    }
}

/// The matrix; nothing where no contender has a figure.
pub(crate) fn matrix(context: &SectionContext<'_>, answers: &Answers) -> Option<Unfolding> {
    let first = answers.first();
    if first.columns.is_empty() {
        return None;
    }
    let grid = Grid { context, answers, reaches: answers.0.iter().map(reach).collect() };
    let views = speed::Views::new(context);
    let tables = &context.run.study.tables;
    let groups = tables.chunk_by(|a, b| a.workload == b.workload);
    Some(Unfolding {
        caption: match grid.others() {
            0 => "Medians".to_owned(),
            _ => format!("Each contender against {}", grid.baseline_label(first)),
        },
        head: grid.head(),
        columns: first.columns.len() + 1,
        groups: groups.map(|tables| grid.group(tables, &views)).collect(),
    })
}

/// How far the bars of an answer reach: all of its ratios are seen, and the intervals of those that
/// are decided.
fn reach(answer: &Answer) -> Reach {
    let cells = answer.rows.iter().flat_map(|row| &row.cells);
    let decided = |cell: &AnswerCell| cell.mark.is_decided();
    let of_cell = |cell: &AnswerCell| {
        let ends = [cell.low, cell.high].map(|end| end.filter(|_| decided(cell)));
        [cell.ratio, ends[0], ends[1]]
    };
    Reach::over(cells.flat_map(of_cell).flatten())
}

struct Grid<'a, 'c> {
    context: &'c SectionContext<'a>,
    answers: &'c Answers,
    /// One an answer.
    reaches: Vec<Reach>,
}

impl Grid<'_, '_> {
    fn columns(&self) -> &[AnswerColumn] {
        &self.answers.first().columns
    }

    fn others(&self) -> usize {
        self.columns().len() - 1
    }

    fn baseline_label<'s>(&self, of: &'s Answer) -> &'s str {
        let is_baseline = |column: &&AnswerColumn| Some(column.contender) == of.baseline;
        of.columns.iter().find(is_baseline).map_or("none", |column| column.label.as_str())
    }

    /// The choice of the baseline, and the contenders.
    fn head(&self) -> Markup {
        let id = format!("{}-baseline", self.context.prefix);
        let answers = &self.answers.0;
        html! {
            tr {
                th scope="col" {
                    @if answers.len() > 1 {
                        span.choice hidden {
                            label for=(id) { "baseline: " }
                            select id=(id) {
                                @for (at, one) in answers.iter().enumerate() {
                                    option value=(at) { (self.baseline_label(one)) }
                                }
                            }
                        }
                        span.chosen { "baseline: " (self.baseline_label(self.answers.first())) }
                    } @else if self.others() > 0 {
                        "baseline: " (self.baseline_label(self.answers.first()))
                    }
                }
                @for column in self.columns() {
                    th scope="col" {
                        (swatch(column.contender, &column.label)) (states(&column.states))
                        @for (at, one) in answers.iter().enumerate() {
                            @let is_other = one.baseline != Some(column.contender);
                            @if one.is_judged && is_other && self.others() <= WORDS_UP_TO {
                                span.way data-baseline=(at) hidden[at != 0] { (self.way()) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What lies on which side of 1.
    fn way(&self) -> &'static str {
        let mut rows = self.answers.first().rows.iter();
        match rows.all(|row| row.metric.is_speed()) {
            true => "faster ◂ ▸ slower",
            false => "less ◂ ▸ more",
        }
    }

    /// A workload: its phases, and behind its own name what is of all of them.
    fn group(&self, tables: &[PhaseTable], views: &speed::Views) -> UnfoldingGroup {
        let first = &tables[0];
        UnfoldingGroup {
            head: UnfoldingRow {
                name: html! {
                    b { (first.workload) }
                    @if !first.workload_title.is_empty() {
                        " " span.what { (first.workload_title) }
                    }
                },
                cells: html! {},
                details: speed::workload(self.context, tables),
            },
            rows: tables.iter().flat_map(|table| self.rows(table, views)).collect(),
        }
    }

    /// A phase: a row for each figure that was asked of it; what was measured stands behind the
    /// first of them.
    fn rows(&self, table: &PhaseTable, views: &speed::Views) -> Vec<UnfoldingRow> {
        let own = self.answers.first().rows.iter().enumerate();
        let own = own.filter(|(_, row)| row.workload == table.workload && row.phase == table.phase);
        let mut measured = speed::phase(self.context, table, views);
        let mut rows: Vec<UnfoldingRow> = own
            .map(|(at, row)| {
                let mut details = self.question(row);
                details.append(&mut measured);
                let name = html! {
                    (row.phase)
                    @if row.metric != Metric::Time { span.what { ", " (row.figure) } }
                };
                UnfoldingRow { name, cells: self.cells(at), details }
            })
            .collect();
        if rows.is_empty() {
            let cells = html! { td.quiet colspan=(self.columns().len()) { "not asked" } };
            rows.push(UnfoldingRow { name: html! { (table.phase) }, cells, details: measured });
        }
        rows
    }

    fn question(&self, row: &AnswerRow) -> Vec<Block> {
        let verdicts = self.context.run.verdicts;
        let asked = verdicts.zip(row.question);
        asked.map_or_else(Vec::new, |(verdicts, at)| {
            let found = verdicts.questions.get(at);
            found.map_or_else(Vec::new, |one| question::details(self.context, verdicts, at, one))
        })
    }

    /// The cells of a row, each for every baseline.
    fn cells(&self, row: usize) -> Markup {
        html! {
            @for column in self.columns() {
                td {
                    @for (at, one) in self.answers.0.iter().enumerate() {
                        @let own = &one.rows[row].cells;
                        @let found = own.iter().find(|c| c.contender == column.contender);
                        @if let Some(cell) = found {
                            span.cell data-baseline=(at) hidden[at != 0] {
                                (self.cell(at, &one.rows[row], cell, &column.label))
                                (states(&column.own_states(cell)))
                            }
                        }
                    }
                }
            }
        }
    }

    fn cell(&self, at: usize, row: &AnswerRow, cell: &AnswerCell, label: &str) -> Markup {
        let answer = &self.answers.0[at];
        let shown = match cell.mark {
            // What the machine did is no property of the contender.
            _ if cell.machine_effect.is_some() => Shown::Nothing,
            Mark::Faster => Shown::Less,
            Mark::Slower => Shown::More,
            Mark::Same => Shown::Same,
            _ => Shown::Nothing,
        };
        let own = cell.median.map(|median| value(row.metric, median));
        let Some(ratio) = cell.ratio.filter(|_| is_compared(cell.mark)) else {
            return html! {
                @if let Some(own) = &own { span.value { (own) } }
                // One contender alone has room for its range.
                @if let (0, Some((min, max))) = (self.others(), cell.min.zip(cell.max)) {
                    span.quiet { (value(row.metric, min)) " – " (value(row.metric, max)) ", "
                        (count_of(cell)) }
                }
                @if cell.mark != Mark::Baseline {
                    " " span.quiet title=[cell.why.as_ref()] { (word(row.metric, cell, answer)) }
                }
            };
        };
        let against = self.baseline_label(answer);
        let words = format!(
            "{label}: {} times the value of {against}",
            ratio_text(ratio, cell.low, cell.high)
        );
        let interval = Interval {
            ratio,
            ends: cell.low.zip(cell.high),
            margin: answer.margin.unwrap_or(0.0),
            shown,
            words,
        };
        let class = match shown {
            Shown::Less => "less",
            Shown::More => "more",
            Shown::Same => "same",
            Shown::Nothing => "quiet",
        };
        let is_wide = self.others() <= WORDS_UP_TO;
        let title = own.map(|own| format!("{label}: {own}, {}", count_of(cell)));
        let room = if is_wide { CellRoom::Wide } else { CellRoom::Narrow };
        html! {
            @if self.others() <= BARS_UP_TO { (PreEscaped(interval.draw(self.reaches[at], room))) }
            span.change.(class) title=[title] { (change(ratio)) }
            // Where there is no room for the word, its sign stands for it.
            span.word.(class).brief[!is_wide] {
                span.sign aria-hidden="true" {
                    (sign(cell.mark)) @if cell.machine_effect.is_some() { "*" }
                }
                span.long { (word(row.metric, cell, answer)) }
            }
        }
    }
}

/// What figures are that they do not show.
fn states(states: &[RowState]) -> Markup {
    html! {
        @if !states.is_empty() { " " span.quiet { "(" (state_words(states)) ")" } }
    }
}

fn is_compared(mark: Mark) -> bool {
    mark.is_decided() || mark == Mark::Unknown
}

fn count_of(cell: &AnswerCell) -> String {
    crate::format::count(cell.n, "block")
}

/// The same where there is no room for a word.
fn sign(mark: Mark) -> &'static str {
    match mark {
        Mark::Faster => "▼",
        Mark::Slower => "▲",
        Mark::Same => "=",
        _ => "?",
    }
}

/// What is said of a contender, in a word or two.
fn word(metric: Metric, cell: &AnswerCell, answer: &Answer) -> String {
    let is_time = metric.is_speed();
    match cell.mark {
        Mark::Baseline => String::new(),
        _ if cell.machine_effect.is_some() => "the machine".to_owned(),
        Mark::Faster if is_time => "faster".to_owned(),
        Mark::Slower if is_time => "slower".to_owned(),
        Mark::Faster => "less".to_owned(),
        Mark::Slower => "more".to_owned(),
        Mark::Same => format!("within {}", margin(answer.margin.unwrap_or(0.0))),
        Mark::Unknown => "not known yet".to_owned(),
        Mark::NotCompared if !answer.is_judged => String::new(),
        Mark::NotCompared => "not compared".to_owned(),
        Mark::Missing => cell.absent.map_or("no figure", absence).to_owned(),
    }
}
