//! From the verdicts of a RUN to the advice for purposes, and how a terminal shows it.

use super::crash::{of_purpose, of_run};
use super::decide::{Cell, Decision, Matrix, PairStanding, PhaseCells};
use super::sentences::{AdviceContext, sentence};
use super::{Advice, AskedPurpose, Kind};
use crate::answer::sentences::more_of;
use crate::answer::{Answer, answer};
use crate::context::Run;
use crate::format::count;
use crate::text::wrap;
use crate::verdict::sentences::between;
use crate::verdict::text::{listed, margin};
use fsarena_model::verdict::Verdict;
use fsarena_verdict::QuestionView;

/// What a RUN says of each of these purposes.
#[must_use]
pub fn advice(run: &Run<'_>, purposes: &[AskedPurpose]) -> Vec<Advice> {
    let whole = answer(run, None);
    purposes.iter().map(|purpose| advice_for(run, &whole, purpose)).collect()
}

fn advice_for(run: &Run<'_>, whole: &Answer, purpose: &AskedPurpose) -> Advice {
    let questions: Option<Vec<&QuestionView>> = run.verdicts.and_then(|verdicts| {
        let is_time = |one: &&QuestionView| one.metric.is_length();
        let find = |workload: &str, phase: &str| {
            let mut of_phase = verdicts.questions.iter().filter(is_time);
            of_phase.find(|one| one.workload == workload && one.phase == phase)
        };
        purpose.phases.iter().map(|asked| find(&asked.workload, &asked.phase)).collect()
    });
    let told = |kind, best: Vec<String>, sentence: String| Advice {
        purpose: purpose.name.clone(),
        title: purpose.title.clone(),
        kind,
        best,
        sentence: format!("{}: {sentence}.", purpose.name),
        decided_by: decided_by(purpose),
        crash: of_purpose(run, purpose),
    };
    let Some(questions) = questions else {
        let what = "not asked: the RUN does not compare all phases that decide it";
        return told(Kind::NotAsked, Vec::new(), what.to_owned());
    };
    let (with, without) = figures(run, &questions);
    let labels = |which: &[usize]| -> Vec<String> {
        which.iter().map(|&one| run.header.plan.contenders[one].label.clone()).collect()
    };
    let missing = match without.is_empty() {
        true => String::new(),
        false => format!("; without figures here: {}", listed(&labels(&without))),
    };
    let (matrix, all) = (matrix(&questions, &with, labels(&with)), labels(&with));
    if all.len() < 2 {
        let what = match all.first() {
            Some(one) => format!("nothing to compare: {one} alone has figures{missing}"),
            None => nothing_yet(run),
        };
        return told(Kind::NothingToCompare, Vec::new(), what);
    }
    let decision = matrix.decide();
    let (kind, best) = match &decision {
        Decision::Sure(best) => (Kind::Sure, best.iter().map(|&one| all[one].clone()).collect()),
        Decision::Same => (Kind::Same, all),
        Decision::NoSingle => (Kind::NoSingleAnswer, Vec::new()),
        Decision::Undecided(_) => (Kind::Undecided, Vec::new()),
    };
    let margin = run.verdicts.map(|verdicts| margin(verdicts.margin)).unwrap_or_default();
    let more = |least: u64, most: u64| more_of(whole, least, most);
    let around = AdviceContext { margin: &margin, more: &more };
    told(kind, best, format!("{}{missing}", sentence(&matrix, &decision, &around)))
}

/// No contender has a figure of a block that counts.
fn nothing_yet(run: &Run<'_>) -> String {
    match run.records.len() {
        0 => "nothing to compare: no trial came to its end".to_owned(),
        done => format!("nothing to compare yet: of {} no block counts", count(done, "trial")),
    }
}

/// `mail-server deliver, add, read-random and delete`.
fn decided_by(purpose: &AskedPurpose) -> String {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for asked in &purpose.phases {
        match parts.iter_mut().find(|(workload, _)| *workload == asked.workload) {
            Some((_, phases)) => phases.push(asked.phase.clone()),
            None => parts.push((asked.workload.clone(), vec![asked.phase.clone()])),
        }
    }
    let parts: Vec<String> =
        parts.iter().map(|(work, phases)| format!("{work} {}", listed(phases))).collect();
    parts.join("; ")
}

/// Contenders with a figure in all of these, in the order of the plan, and those without.
fn figures(run: &Run<'_>, questions: &[&QuestionView]) -> (Vec<usize>, Vec<usize>) {
    let has = |one: &usize| {
        questions.iter().all(|question| question.rows.iter().any(|row| row.contender == *one))
    };
    (0..run.header.plan.contenders.len()).partition(has)
}

fn matrix(questions: &[&QuestionView], contenders: &[usize], labels: Vec<String>) -> Matrix {
    let row = |question: &QuestionView, a: usize| -> Vec<Cell> {
        contenders.iter().map(|&b| cell(question, a, b)).collect()
    };
    // A workload of one phase that has its name is named once.
    let name = |question: &QuestionView| match question.workload == question.phase {
        true => question.phase.clone(),
        false => format!("{} {}", question.workload, question.phase),
    };
    let first = questions.first().map(|question| question.workload.as_str());
    let is_one = questions.iter().all(|question| Some(question.workload.as_str()) == first);
    let phase = |question: &&QuestionView| PhaseCells {
        name: if is_one { question.phase.clone() } else { name(question) },
        cells: contenders.iter().map(|&a| row(question, a)).collect(),
    };
    Matrix { labels, phases: questions.iter().map(phase).collect() }
}

fn cell(question: &QuestionView, a: usize, b: usize) -> Cell {
    let none = Cell { standing: PairStanding::NotCompared, ratio: None, more_blocks: None };
    if a == b {
        return Cell { standing: PairStanding::Same, ratio: Some(1.0), ..none };
    }
    let Some(pair) = between(question, a, b) else { return none };
    Cell {
        standing: match pair.verdict {
            Verdict::Same => PairStanding::Same,
            Verdict::Undecided => PairStanding::Unknown,
            _ if pair.machine_effect.is_some() => PairStanding::Machine,
            Verdict::Faster => PairStanding::Faster,
            Verdict::Slower => PairStanding::Slower,
        },
        ratio: pair.ratio,
        more_blocks: pair.forecast.map(|one| (one.more_blocks, one.most_more_blocks)),
    }
}

/// The advice as a terminal shows it: a sentence a purpose, what decided it and what is known of
/// crash safety below, and how long it holds.
#[must_use]
pub fn advice_text(run: &Run<'_>, advice: &[Advice], width: usize) -> String {
    let mut out = String::new();
    for one in advice {
        out.push_str(&wrap("", &one.sentence, width));
        out.push_str(&wrap("    decided by: ", &one.decided_by, width));
        if !one.crash.is_empty() {
            out.push_str(&wrap("    crash safety: ", &one.crash, width));
        }
        out.push('\n');
    }
    let whole = answer(run, None);
    out.push_str(&wrap("", &of_run(run, &whole), width));
    let more = whole.undecided.options.filter(|_| advice.iter().any(|a| a.kind == Kind::Undecided));
    if let Some(options) = more {
        let text = format!("More time: the same command with {options}.");
        out.push_str(&wrap("", &text, width));
    }
    out.push_str(&wrap("", &whole.scope, width));
    out.push_str(&wrap("", &format!("all figures: fsarena show {}", run.id), width));
    out
}
