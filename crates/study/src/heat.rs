//! Ratios of all contenders over all phases to one of them.

use crate::Study;
use crate::phases::PhaseTable;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_verdict::{PairView, QuestionView, Verdicts};
use serde::Serialize;
use std::collections::BTreeMap;

/// A matrix of ratios.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct HeatView {
    /// Label of the contender that is 1.00 everywhere: the one that all questions about times have
    /// as their reference (the baseline, or the best of each), where it may be compared with any;
    /// or else the one that may be compared with most others over all phases; of several the first
    /// in the plan.
    pub reference: String,
    /// Columns: workload and phase, those with a figure, in the order of the plan.
    pub columns: Vec<(String, String)>,
    /// One row a contender of the plan with a figure anywhere.
    pub rows: Vec<HeatRow>,
}

/// A row.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct HeatRow {
    pub contender: usize,
    pub label: String,
    /// One cell a column.
    pub cells: Vec<HeatCell>,
}

/// A cell.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct HeatCell {
    /// What is compared ÷ that of the reference: of a verdict's pair where one was asked, else of
    /// medians; absent where the two may not be compared, or there is no figure.
    pub ratio: Option<f64>,
    /// The interval that the verdict rests on, where it has one: SAME is said by one of its own.
    pub interval: Option<(f64, f64)>,
    /// What the verdict says of the contender against the reference; `None` where nothing was asked
    /// of the pair.
    pub verdict: Option<Verdict>,
}

/// The matrix of a RUN; `None` where fewer than two contenders may be compared in any phase.
#[must_use]
pub fn heat(study: &Study, verdicts: Option<&Verdicts>) -> Option<HeatView> {
    let columns: Vec<Column<'_>> = study
        .tables
        .iter()
        .filter(|table| table.free.metric().is_some())
        .filter(|table| table.rows.iter().any(|row| row.free_median().is_some()))
        .map(|table| Column::new(table, study.compared_clock, verdicts))
        .collect();
    let mut contenders: BTreeMap<usize, &str> = BTreeMap::new();
    for row in columns.iter().flat_map(|column| &column.table.rows) {
        if row.free_median().is_some() {
            contenders.insert(row.contender, &row.label);
        }
    }
    let matrix = |reference: usize| -> Vec<HeatRow> {
        let row = |(&contender, &label): (&usize, &&str)| HeatRow {
            contender,
            label: label.to_owned(),
            cells: columns.iter().map(|column| column.cell(contender, reference)).collect(),
        };
        contenders.iter().map(row).collect()
    };
    let others = |rows: &[HeatRow], reference: usize| {
        let rows = rows.iter().filter(|row| row.contender != reference);
        rows.flat_map(|row| &row.cells).filter(|cell| cell.ratio.is_some()).count()
    };
    let asked = verdicts.and_then(|all| common_reference(all, study.compared_clock));
    let asked = asked.filter(|at| contenders.contains_key(at));
    let best = contenders.keys().copied().map(|reference| (reference, matrix(reference)));
    let compares = |(reference, rows): &(usize, Vec<HeatRow>)| others(rows, *reference);
    let named = asked.map(|reference| (reference, matrix(reference)));
    let (reference, rows) = named.filter(|of| compares(of) > 0).or_else(|| {
        best.reduce(|most, next| if compares(&next) > compares(&most) { next } else { most })
            .filter(|of| compares(of) > 0)
    })?;
    Some(HeatView {
        reference: contenders[&reference].to_owned(),
        columns: columns
            .iter()
            .map(|column| (column.table.workload.clone(), column.table.phase.clone()))
            .collect(),
        rows,
    })
}

/// The contender that the ratios of every question about the time of a phase are to; none where
/// they are to several.
fn common_reference(verdicts: &Verdicts, clock: Clock) -> Option<usize> {
    let times = |one: &&QuestionView| one.metric.is_length() && one.clock == clock;
    let mut references =
        verdicts.questions.iter().filter(times).filter_map(|one| verdicts.reference(one));
    let first = references.next()?.contender;
    references.all(|row| row.contender == first).then_some(first)
}

/// A phase and what was asked of what it leaves free.
struct Column<'a> {
    table: &'a PhaseTable,
    pairs: BTreeMap<(usize, usize), &'a PairView>,
}

impl<'a> Column<'a> {
    fn new(table: &'a PhaseTable, clock: Clock, verdicts: Option<&'a Verdicts>) -> Self {
        let is_own = |question: &&QuestionView| {
            question.workload == table.workload
                && question.phase == table.phase
                && Some(question.metric) == table.free.metric()
                && (question.clock == clock || question.metric == Metric::P99)
        };
        let question = verdicts.and_then(|all| all.questions.iter().find(is_own));
        let pairs = question.map(|question| question.pairs.as_slice()).unwrap_or_default();
        Self { table, pairs: pairs.iter().map(|pair| ((pair.a, pair.b), pair)).collect() }
    }

    fn cell(&self, contender: usize, reference: usize) -> HeatCell {
        let turned = || self.pairs.get(&(reference, contender)).map(|pair| pair.turned());
        let straight = self.pairs.get(&(contender, reference)).map(|pair| (*pair).clone());
        match straight.or_else(turned) {
            Some(pair) => HeatCell {
                ratio: pair.ratio,
                interval: pair.interval(),
                verdict: Some(pair.verdict),
            },
            None => {
                HeatCell { ratio: self.of_medians(contender, reference), ..HeatCell::default() }
            }
        }
    }

    /// Among the rows of the two, those of the first kind of cache and memory that both have.
    fn of_medians(&self, contender: usize, reference: usize) -> Option<f64> {
        let rows = |wanted: usize| {
            let rows = self.table.rows.iter().filter(move |row| row.contender == wanted);
            rows.filter_map(|row| Some((row, row.free_median()?)))
        };
        rows(contender).find_map(|(row, length)| {
            let (_, one) = rows(reference).find(|(other, _)| row.is_comparable_with(other))?;
            Some(length / one)
        })
    }
}
