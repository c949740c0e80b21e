//! What to mind with the figures of a RUN, the gravest first, and what was not run: each cause
//! once, however many phases it touches.

use super::model::{Answer, Caution, Mark, NotRunGroup};
use crate::context::Run;
use crate::format::count;
use crate::row_state::asked_and_not_had;
use crate::text::clean;
use crate::verdict::rule::DISAGREES;
use crate::verdict::text::{some_of, without_verdict};
use fsarena_model::host::Weight;
use fsarena_model::record::CacheState;
use fsarena_study::{FailureRow, MemoryView, NoticeRow, PhaseRow, PhaseTable, Study};
use fsarena_verdict::watchers::FindingKind;
use fsarena_verdict::{Excluded, QuestionView};

/// Names that a sentence has at most.
const NAMED: usize = 3;

pub(super) fn cautions(run: &Run<'_>, answer: &Answer) -> Vec<Caution> {
    let study = run.study;
    let mut all: Vec<Caution> = Vec::new();
    all.extend(cut_off(answer));
    all.extend(without_verdict(&run.header.plan).map(|text| caution(text, None)));
    all.extend(lost_baseline(run, answer));
    if run.verdicts.and_then(|verdicts| verdicts.agrees_with_stored_looks) == Some(false) {
        all.push(caution(DISAGREES.trim_end_matches('.').to_owned(), None));
    }
    all.extend(wrong_contents(study));
    all.extend(failures(study));
    all.extend(asked_and_not_had(&run.header.plan).into_iter().map(|text| caution(text, None)));
    all.extend(not_as_asked(run));
    all.extend(without_figures(run));
    all.extend(not_compared(answer));
    all.extend(by_machine(answer));
    all.extend(disturbed(run));
    all.extend(study.notices.iter().filter_map(notice));
    all.extend(conditions(run));
    all
}

fn caution(text: String, remedy: Option<String>) -> Caution {
    Caution { text, remedy }
}

/// `cut off after 4 of 8 blocks (48 of 96 trials, 48 left), since its budget of 4 min was used up`.
fn cut_off(answer: &Answer) -> Option<Caution> {
    let course = &answer.head.course;
    if !course.is_cut_off {
        return None;
    }
    let at_most = match course.rule {
        Some(fsarena_model::verdict::Rule::Looks { .. }) => "at most ",
        _ => "",
    };
    let left = course.trials_planned.saturating_sub(course.trials);
    let trials = count(course.trials_planned, "trial");
    // Trials of a block that was run again are in no plan.
    let more = match course.blocks.saturating_sub(course.blocks_counted) {
        0 => format!("{} of {at_most}{trials}, {left} left", course.trials),
        1 => "one more was disturbed and run again".to_owned(),
        again => format!("{again} more were disturbed and run again"),
    };
    let planned = count(course.blocks_planned as usize, "block");
    let (done, ended) = (course.blocks_counted, &course.ended);
    Some(caution(
        format!("cut off after {done} of {at_most}{planned} ({more}), since {ended}"),
        None,
    ))
}

/// A baseline that was named before block 1 and has no figure.
fn lost_baseline(run: &Run<'_>, answer: &Answer) -> Option<Caution> {
    let named = run.verdicts?.baseline.as_ref()?;
    let is_there = answer.columns.iter().any(|column| column.label == *named);
    let text = || format!("the baseline {named} has no figure, so nothing is compared with it");
    (!is_there && !answer.columns.is_empty()).then(|| caution(text(), None))
}

fn wrong_contents(study: &Study) -> Option<Caution> {
    let is_wrong = |row: &&fsarena_study::TrialRow| {
        row.verify.as_ref().is_some_and(|verify| verify.bad_files > 0)
    };
    let wrong: Vec<String> = study
        .trials
        .iter()
        .filter(is_wrong)
        .map(|row| format!("{} in {}", row.label, row.workload))
        .collect();
    let text =
        || format!("WRONG CONTENTS when read again: {}; in no figure", some_of(&wrong, NAMED));
    (!wrong.is_empty()).then(|| caution(text(), None))
}

/// Failures by one error, over contenders and workloads.
fn failures(study: &Study) -> Vec<Caution> {
    let mut groups: Vec<Failures<'_>> = Vec::new();
    for row in study.failures.iter().filter(|row| row.step.is_some()) {
        let known = groups.iter().position(|group| group.row.error == row.error);
        let at = known.unwrap_or_else(|| {
            groups.push(Failures { row, labels: Vec::new(), workloads: Vec::new(), trials: 0 });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.trials += row.sequences.len();
        for (names, name) in
            [(&mut group.labels, &row.label), (&mut group.workloads, &row.workload)]
        {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let one = |group: Failures<'_>| {
        let text = format!(
            "{} failed in {} of {}: {}",
            some_of(&group.labels, NAMED),
            count(group.trials, "trial"),
            some_of(&group.workloads, NAMED),
            clean(&group.row.error)
        );
        caution(text, group.row.remedy.clone())
    };
    groups.into_iter().map(one).collect()
}

/// Trials that failed by one error.
struct Failures<'a> {
    row: &'a FailureRow,
    labels: Vec<String>,
    workloads: Vec<String>,
    trials: usize,
}

/// Rows that are not cold, not warm or not limited in memory, although that was asked for.
/// Where a contender could not be cold at all, that is said of it once.
fn not_as_asked(run: &Run<'_>) -> Vec<Caution> {
    let study = run.study;
    let contenders = &run.header.plan.contenders;
    let is_planned = |row: &PhaseRow| {
        contenders.get(row.contender).is_some_and(|one| one.asked_cache().is_some())
    };
    let rows = || {
        let of_table = |table| move |row| (table, row);
        study.tables.iter().flat_map(move |table| table.rows.iter().map(of_table(table)))
    };
    let named = |(table, row): (&PhaseTable, &PhaseRow)| {
        format!("{} in {} {}", row.label, table.workload, table.phase)
    };
    let in_state = |state: CacheState, what: &str, remedy: Option<&str>| {
        let found = || rows().filter(|(_, row)| row.cache == state && !is_planned(row));
        let why = found().find_map(|(_, row)| row.not_cold_because.clone())?;
        let names: Vec<String> =
            found().filter(|(_, row)| row.not_cold_because.is_some()).map(named).collect();
        let text = format!("{what}: {} ({})", some_of(&names, NAMED), clean(&why));
        Some(caution(text, remedy.map(str::to_owned)))
    };
    let whole: Vec<(&PhaseTable, &PhaseRow)> =
        rows().filter(|(_, row)| matches!(row.memory, MemoryView::NotLimited { .. })).collect();
    let mut all = Vec::new();
    all.extend(in_state(CacheState::Warm, "not proved cold, so not compared with cold ones", None));
    let quiet = "end what drops caches or needs the memory, and run it again";
    all.extend(in_state(CacheState::NotWarm, "not warm, so in no comparison", Some(quiet)));
    if let Some((_, PhaseRow { memory: MemoryView::NotLimited { reason, .. }, .. })) = whole.first()
    {
        let names: Vec<String> = whole.iter().copied().map(named).collect();
        let names = some_of(&names, NAMED);
        all.push(caution(format!("memory not limited: {names} ({reason})"), None));
    }
    all
}

/// Contenders that have no figure where others have one, where nothing else says why.
fn without_figures(run: &Run<'_>) -> Vec<Caution> {
    let questions = run.verdicts.into_iter().flat_map(|verdicts| &verdicts.questions);
    let mut groups: Vec<(&Excluded, Vec<String>)> = Vec::new();
    for question in questions.filter(|question| !question.rows.is_empty()) {
        for left in question.left.iter().filter(|left| !is_explained(run.study, question, left)) {
            let name = format!("{} {}", question.workload, question.phase);
            let is_alike = |known: &Excluded| known.label == left.label && known.why == left.why;
            match groups.iter_mut().find(|(known, _)| is_alike(known)) {
                Some((_, names)) => names.push(name),
                None => groups.push((left, vec![name])),
            }
        }
    }
    let one = |(left, names): (&Excluded, Vec<String>)| {
        let names = some_of(&names, NAMED);
        caution(format!("{} has no figure in {names}: {}", left.label, clean(&left.why)), None)
    };
    groups.into_iter().map(one).collect()
}

/// Whether a word in the matrix, what was not run, a failure or the state of the cache says why a
/// contender has no figure.
fn is_explained(study: &Study, question: &QuestionView, left: &Excluded) -> bool {
    let is_it =
        |table: &&PhaseTable| table.workload == question.workload && table.phase == question.phase;
    let Some(table) = study.tables.iter().find(is_it) else { return false };
    let is_absent = table.absent.iter().any(|one| one.contender == left.contender);
    let mut rows = table.rows.iter().filter(|row| row.contender == left.contender);
    is_absent || rows.any(|row| row.not_cold_because.is_some() || row.trials_with_bad_contents > 0)
}

/// What differs in time and not in the work of the processors: the first, and how many more.
fn by_machine(answer: &Answer) -> Option<Caution> {
    let baseline = &answer.columns.first()?.label;
    let mut found = answer.rows.iter().flat_map(|row| {
        answer.columns.iter().zip(&row.cells).filter_map(move |(column, cell)| {
            let words = cell.machine_effect?.words(&column.label, baseline);
            Some(format!("{} in {} {}: {words}", column.label, row.workload, row.phase))
        })
    });
    let first = found.next()?;
    let more = match found.count() {
        0 => String::new(),
        more => format!("; {more} more of this kind"),
    };
    let remedy = "measure again on a quiet machine".to_owned();
    Some(caution(format!("{first}{more}"), Some(remedy)))
}

/// Contenders that have figures and are compared in no row.
fn not_compared(answer: &Answer) -> Vec<Caution> {
    let mut all: Vec<Caution> = Vec::new();
    for (at, column) in answer.columns.iter().enumerate().filter(|_| answer.is_judged) {
        let mut cells = answer.rows.iter().map(|row| &row.cells[at]);
        let compared =
            cells.clone().any(|cell| cell.mark != Mark::NotCompared && cell.mark != Mark::Missing);
        let why = cells.find_map(|cell| match cell.mark {
            Mark::NotCompared => cell.why.clone(),
            _ => None,
        });
        if let Some(why) = why.filter(|_| !compared) {
            all.push(caution(format!("{}: {why}", column.label), None));
        }
    }
    all
}

/// Others that used the machine: the first finding, and how many more there are.
fn disturbed(run: &Run<'_>) -> Option<Caution> {
    let of_questions = run.verdicts.into_iter().flat_map(|verdicts| &verdicts.questions);
    let of_questions = of_questions.flat_map(|question| &question.watch.findings);
    let mut texts: Vec<&str> = run
        .study
        .findings
        .iter()
        .chain(of_questions)
        .filter(|finding| finding.kind == FindingKind::ForeignLoad)
        .map(|finding| finding.text.trim_end_matches('.'))
        .collect();
    texts.dedup();
    let first = *texts.first()?;
    let more = match texts.len() - 1 {
        0 => String::new(),
        more => format!("; {more} more of this kind"),
    };
    Some(caution(format!("others used the machine: {}{more}", clean(first)), None))
}

/// Code of the notice on phases that were to be warm and were not (`fsarena_executor`): that is
/// said of the rows.
const NOT_WARM: &str = "not-warm";

/// A notice that something can be done about; the others are facts.
fn notice(row: &NoticeRow) -> Option<Caution> {
    let remedy = row.remedy.clone().filter(|_| row.code != NOT_WARM)?;
    let text = clean(&row.text);
    let text = text.trim_end().trim_end_matches('.');
    let worst = if row.measure.is_some() && row.trials > 1 { "at worst, " } else { "" };
    Some(caution(format!("{worst}{text} ({})", count(row.trials, "trial")), Some(remedy)))
}

/// What was wrong with the machine before the RUN.
fn conditions(run: &Run<'_>) -> Option<Caution> {
    let heavy = run.header.findings.iter().filter(|finding| finding.weight >= Weight::Warning);
    let readings: Vec<String> = heavy.map(|one| clean(one.reading.trim_end_matches('.'))).collect();
    let first = readings.first()?;
    let more = match readings.len() - 1 {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    Some(caution(
        format!("the machine before the RUN: {first}{more}"),
        Some("fsarena doctor says what to do".to_owned()),
    ))
}

/// What stands between a reason and the package that would help.
const PACKAGE: &str = "; install the package ";

/// What was not run, one group a reason; all that packages would help are one.
pub(super) fn not_run_groups(study: &Study) -> Vec<NotRunGroup> {
    let mut groups: Vec<NotRunGroup> = Vec::new();
    for row in &study.not_run {
        let what = match &row.workload {
            Some(workload) => format!("{} in {workload}", row.label),
            None => row.label.clone(),
        };
        let (reason, packages) = packages(&row.reason);
        let is_alike = |known: &NotRunGroup| match packages.is_empty() {
            true => known.reason == reason,
            false => !known.packages.is_empty(),
        };
        let group = match groups.iter().position(is_alike) {
            Some(at) => &mut groups[at],
            None => {
                groups.push(NotRunGroup { what: Vec::new(), reason, packages: Vec::new() });
                let last = groups.len() - 1;
                &mut groups[last]
            }
        };
        if !group.what.contains(&what) && !group.what.contains(&row.label) {
            group.what.push(what);
        }
        let is_new = |package: &String| !group.packages.contains(package);
        let new: Vec<String> = packages.into_iter().filter(is_new).collect();
        group.packages.extend(new);
    }
    groups
}

/// A reason without what would help, and the packages that it names.
fn packages(reason: &str) -> (String, Vec<String>) {
    let mut parts = reason.split(PACKAGE);
    let first = parts.next().unwrap_or_default();
    let names = parts.filter_map(|part| part.split([';', ' ', ',']).next()).map(str::to_owned);
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    match names.is_empty() {
        true => (reason.to_owned(), names),
        false => (first.to_owned(), names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_off_a_reason() {
        let one = "mkfs.xfs is not installed; install the package xfsprogs";
        let split = |text| packages(text);
        assert_eq!(split(one), ("mkfs.xfs is not installed".to_owned(), vec!["xfsprogs".into()]));
        let two = "zstd is not installed; install the package zstd; flac is not installed; install \
                   the package flac";
        assert_eq!(split(two).1, ["zstd", "flac"]);
        let none = "this kernel has no zfs (not in /proc/filesystems)";
        assert_eq!(split(none), (none.to_owned(), Vec::new()));
    }
}
