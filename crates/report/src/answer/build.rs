//! From the views of a RUN to its answer: which contenders and questions are in the matrix, what it
//! is compared with, and each cell.

use super::cautions::{cautions, not_run_groups};
use super::course::{course, device_words, elapsed_ns, scope};
use super::crash::{crash_not_run, crash_sentences};
use super::crossings::crossings_sentence;
use super::model::{Answer, AnswerCell, AnswerColumn, AnswerHead, AnswerRow, Mark};
use super::sentences::{sentences, undecided};
use super::shares::shares_sentence;
use crate::context::Run;
use crate::labels::is_mixed;
use crate::row_state::row_states;
use crate::verdict::sentences::between;
use crate::verdict::text::figure;
use fsarena_model::op::Op;
use fsarena_model::verdict::Verdict;
use fsarena_study::{Absence, PhaseRow, PhaseTable};
use fsarena_verdict::{QuestionView, RankRow, Verdicts};

/// The answer of a RUN against `baseline` (an index into the plan's contenders), or where none is
/// given or it has no figure, against that of [`baselines`] which stands first.
#[must_use]
pub fn answer(run: &Run<'_>, baseline: Option<usize>) -> Answer {
    let judged = judged(run);
    let measured = measured(run);
    let baseline = baseline
        .filter(|asked| measured.contains(asked))
        .or_else(|| baselines(run).first().copied());
    let others = measured.iter().copied().filter(|&one| Some(one) != baseline);
    let contenders = &run.header.plan.contenders;
    let mut columns: Vec<AnswerColumn> = baseline
        .into_iter()
        .chain(others)
        .map(|contender| AnswerColumn {
            contender,
            label: contenders[contender].label.clone(),
            states: Vec::new(),
        })
        .collect();
    let mut rows = match judged {
        Some(verdicts) => judged_rows(run, verdicts, &columns, baseline),
        None => plain_rows(run, &columns),
    };
    add_states(run, &mut rows, &mut columns);
    let elapsed_ns = elapsed_ns(run);
    let course = course(run, &rows);
    let host = &run.header.host;
    let is_virtual = run.header.plan.contenders.iter().all(|one| one.levels.device.is_virtual());
    let mut answer = Answer {
        head: AnswerHead {
            run: run.id,
            uid: run.header.uid.clone(),
            experiment: run.header.experiment.clone(),
            title: run.header.title.clone(),
            created_unix_ns: run.header.created_unix_ns,
            elapsed_ns,
            budget_ns: run.header.plan.verdict.as_ref().and_then(|plan| plan.budget_ns),
            devices: device_words(&run.header.plan),
            system: format!("{} {}", host.os, host.kernel_release).trim().to_owned(),
            hypervisor: host.hypervisor.clone().filter(|_| !is_virtual),
            measured_by: run.measured_by().map(str::to_owned),
            course,
        },
        baseline,
        columns,
        rows,
        headline: judged.and_then(|verdicts| verdicts.headline),
        is_judged: judged.is_some(),
        margin: judged.map(|verdicts| verdicts.margin),
        sentences: Vec::new(),
        undecided: super::model::Undecided::default(),
        not_run: not_run_groups(run.study),
        cautions: Vec::new(),
        scope: scope(run),
    };
    answer.undecided = undecided(&answer);
    if !run.header.plan.is_crash_alone() {
        answer.sentences = sentences(&answer);
    }
    answer.sentences.extend(judged.and_then(crossings_sentence));
    answer.sentences.extend(judged.and_then(shares_sentence));
    answer.sentences.extend(crash_sentences(run, &answer));
    answer.not_run.extend(crash_not_run(run));
    answer.cautions = cautions(run, &answer);
    answer
}

/// Puts in what each figure is that it does not show, and what all of a contender's are.
fn add_states(run: &Run<'_>, rows: &mut [AnswerRow], columns: &mut [AnswerColumn]) {
    for row in rows.iter_mut() {
        let is_it =
            |table: &&PhaseTable| table.workload == row.workload && table.phase == row.phase;
        let Some(table) = run.study.tables.iter().find(is_it) else { continue };
        for cell in row.cells.iter_mut().filter(|cell| cell.median.is_some()) {
            // Within a contender cold before warm, as in the cell.
            let own = table.rows.iter().find(|one| one.contender == cell.contender && one.n > 0);
            cell.states = own.map_or_else(Vec::new, |own| row_states(own, is_mixed(table)));
        }
    }
    for (at, column) in columns.iter_mut().enumerate() {
        let mut cells = rows.iter().map(|row| &row.cells[at]).filter(|cell| cell.median.is_some());
        let Some(first) = cells.next() else { continue };
        column.states.clone_from(&first.states);
        cells.for_each(|cell| column.states.retain(|state| cell.states.contains(state)));
    }
}

/// What can be compared with: the baseline alone where one was named before block 1; else every
/// contender with a figure, first the one that the ratios of the verdicts are to.
#[must_use]
pub fn baselines(run: &Run<'_>) -> Vec<usize> {
    let mut measured = measured(run);
    let Some(verdicts) = judged(run) else { return measured };
    let contenders = &run.header.plan.contenders;
    let first = verdicts.reference.as_ref();
    let first = first.and_then(|label| contenders.iter().position(|one| one.label == *label));
    if let Some(first) = first.filter(|first| measured.contains(first)) {
        if verdicts.baseline.is_some() {
            return vec![first];
        }
        measured.retain(|&contender| contender != first);
        measured.insert(0, first);
    }
    measured
}

/// The verdicts, where something was asked.
fn judged<'a>(run: &Run<'a>) -> Option<&'a Verdicts> {
    run.verdicts.filter(|verdicts| !verdicts.questions.is_empty())
}

/// The contenders with a figure, in the order of the plan.
fn measured(run: &Run<'_>) -> Vec<usize> {
    let is_measured = |contender: &usize| match judged(run) {
        Some(verdicts) => {
            let mut rows = verdicts.questions.iter().flat_map(|question| &question.rows);
            rows.any(|row| row.contender == *contender)
        }
        None => {
            let mut rows = run.study.tables.iter().flat_map(|table| &table.rows);
            rows.any(|row| row.contender == *contender && row.compared.is_some())
        }
    };
    (0..run.header.plan.contenders.len()).filter(is_measured).collect()
}

fn judged_rows(
    run: &Run<'_>,
    verdicts: &Verdicts,
    columns: &[AnswerColumn],
    baseline: Option<usize>,
) -> Vec<AnswerRow> {
    let row = |(at, question): (usize, &QuestionView)| {
        let cells: Vec<AnswerCell> = columns
            .iter()
            .map(|column| judged_cell(run, question, column.contender, baseline))
            .collect();
        AnswerRow {
            workload: question.workload.clone(),
            level_of: level_of(run, &question.workload),
            workload_title: question.workload_title.clone(),
            phase: question.phase.clone(),
            metric: question.metric,
            clock: question.clock,
            figure: figure(question.metric, question.clock, question.changes),
            cold: !question.rows.is_empty() && question.rows.iter().all(|row| row.cold),
            question: Some(at),
            cells,
        }
    };
    verdicts.questions.iter().enumerate().map(row).collect()
}

/// The workload that the one of this name is a level of.
fn level_of(run: &Run<'_>, name: &str) -> Option<String> {
    let workload = run.header.plan.workloads.iter().find(|workload| workload.name == name)?;
    workload.levels.as_ref().map(|levels| levels.workload.clone())
}

/// What programs do is not known.
fn leaves_work(op: Op) -> bool {
    op.changes() || !op.is_of_engine()
}

fn judged_cell(
    run: &Run<'_>,
    question: &QuestionView,
    contender: usize,
    baseline: Option<usize>,
) -> AnswerCell {
    let Some(row) = question.rows.iter().find(|row| row.contender == contender) else {
        return missing_cell(run, question, contender);
    };
    let cell = AnswerCell {
        contender,
        mark: Mark::NotCompared,
        median: Some(row.median),
        min: Some(row.min),
        max: Some(row.max),
        n: row.n,
        ratio: None,
        low: None,
        high: None,
        differs: false,
        more_blocks: None,
        most_more_blocks: None,
        no_difference_in_sight: false,
        machine_effect: None,
        absent: None,
        why: None,
        states: Vec::new(),
    };
    if Some(contender) == baseline {
        return AnswerCell { mark: Mark::Baseline, ratio: Some(1.0), ..cell };
    }
    let pair = baseline.and_then(|baseline| between(question, contender, baseline));
    let Some(pair) = pair else {
        let why = baseline.map(|baseline| why_not_compared(question, row, baseline));
        return AnswerCell { why, ..cell };
    };
    let (low, high) = pair.interval().unzip();
    let differs = pair.low.is_some_and(|low| low > 1.0) || pair.high.is_some_and(|high| high < 1.0);
    AnswerCell {
        mark: match pair.verdict {
            Verdict::Faster => Mark::Faster,
            Verdict::Slower => Mark::Slower,
            Verdict::Same => Mark::Same,
            Verdict::Undecided => Mark::Unknown,
        },
        n: pair.n,
        ratio: pair.ratio,
        low,
        high,
        differs: differs && pair.verdict == Verdict::Same,
        more_blocks: pair.forecast.map(|forecast| forecast.more_blocks),
        most_more_blocks: pair.forecast.map(|forecast| forecast.most_more_blocks),
        no_difference_in_sight: pair.no_difference_in_sight,
        machine_effect: pair.machine_effect,
        why: pair.why,
        ..cell
    }
}

/// A contender without a figure in a question, and why.
fn missing_cell(run: &Run<'_>, question: &QuestionView, contender: usize) -> AnswerCell {
    let left = question.left.iter().find(|left| left.contender == contender);
    let is_table =
        |table: &&PhaseTable| table.workload == question.workload && table.phase == question.phase;
    let absent = run
        .study
        .tables
        .iter()
        .find(is_table)
        .and_then(|table| table.absent.iter().find(|one| one.contender == contender));
    AnswerCell {
        contender,
        mark: Mark::Missing,
        median: None,
        min: None,
        max: None,
        n: 0,
        ratio: None,
        low: None,
        high: None,
        differs: false,
        more_blocks: None,
        most_more_blocks: None,
        no_difference_in_sight: false,
        machine_effect: None,
        absent: absent.map(|one| one.why),
        why: left.map(|left| left.why.clone()),
        states: Vec::new(),
    }
}

fn why_not_compared(question: &QuestionView, row: &RankRow, baseline: usize) -> String {
    let other = question.rows.iter().find(|row| row.contender == baseline);
    match other.map(|other| other.cold) {
        None => "the baseline has no figure here".to_owned(),
        Some(true) if !row.cold => "warm, and not compared with cold ones".to_owned(),
        Some(false) if row.cold => "cold, and not compared with warm ones".to_owned(),
        Some(_) => "not to be compared with the baseline".to_owned(),
    }
}

/// Medians of all timed phases, where nothing was asked.
fn plain_rows(run: &Run<'_>, columns: &[AnswerColumn]) -> Vec<AnswerRow> {
    let clock = run.study.compared_clock;
    let row = |table: &PhaseTable| {
        let metric = table.free.metric().unwrap_or_default();
        let clock = metric.clock(clock);
        AnswerRow {
            workload: table.workload.clone(),
            level_of: level_of(run, &table.workload),
            workload_title: table.workload_title.clone(),
            phase: table.phase.clone(),
            metric,
            clock,
            figure: figure(metric, clock, leaves_work(table.op)),
            cold: !table.rows.is_empty() && table.rows.iter().all(|row| row.cache.is_cold()),
            question: None,
            cells: columns.iter().map(|column| plain_cell(table, column.contender)).collect(),
        }
    };
    run.study.tables.iter().map(row).collect()
}

/// Of a contender in several states of cache or memory the first: cold before warm.
fn plain_cell(table: &PhaseTable, contender: usize) -> AnswerCell {
    let is_it = |row: &&PhaseRow| row.contender == contender && row.left_free.is_some();
    let spread = table.rows.iter().find(is_it).and_then(|row| row.left_free);
    let absent = table.absent.iter().find(|one| one.contender == contender);
    AnswerCell {
        contender,
        mark: if spread.is_some() { Mark::NotCompared } else { Mark::Missing },
        median: spread.map(|spread| spread.median),
        min: spread.map(|spread| spread.min),
        max: spread.map(|spread| spread.max),
        n: spread.map_or(0, |spread| spread.n),
        ratio: None,
        low: None,
        high: None,
        differs: false,
        more_blocks: None,
        most_more_blocks: None,
        no_difference_in_sight: false,
        machine_effect: None,
        absent: absent.map(|one| one.why).or_else(|| spread.is_none().then_some(Absence::Failed)),
        why: None,
        states: Vec::new(),
    }
}
