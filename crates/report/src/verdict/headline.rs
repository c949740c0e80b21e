//! The one answer that stands first.

use super::pairs::{between, sentence};
use crate::format::count;
use crate::verdict::text::{listed, metric};
use fsarena_model::verdict::Verdict;
use fsarena_verdict::{PairView, QuestionView, Verdicts};

/// The headline as one sentence.
pub(super) fn text(verdicts: &Verdicts) -> String {
    let Some(question) = verdicts.headline.and_then(|at| verdicts.questions.get(at)) else {
        let questions = count(verdicts.questions.len(), "question");
        return format!("No headline was fixed before block 1; {questions} asked.");
    };
    let about = format!(
        "Headline, {} {} ({})",
        question.workload,
        question.phase,
        metric(question.metric, question.clock)
    );
    format!("{about}: {}.", answer(verdicts, question))
}

fn answer(verdicts: &Verdicts, question: &QuestionView) -> String {
    match question.pairs.as_slice() {
        [] => nothing(question),
        [pair] => sentence(verdicts, question, pair),
        pairs => among_several(verdicts, question, pairs),
    }
}

fn nothing(question: &QuestionView) -> String {
    let rows = count(question.rows.len(), "contender");
    let left = match question.left.len() {
        0 => String::new(),
        left => format!(", {left} left out"),
    };
    format!("nothing to compare, {rows} with figures{left}")
}

/// The leader (against a baseline: the best of the others) in full, of the rest how many there are.
fn among_several(verdicts: &Verdicts, question: &QuestionView, pairs: &[PairView]) -> String {
    let rows = &question.rows;
    let baseline = verdicts.baseline.as_ref();
    let first = rows.iter().find(|row| Some(&row.label) != baseline);
    let leader = match (first, baseline) {
        (Some(best), Some(_)) => {
            pairs.iter().find(|pair| pair.a == best.contender || pair.b == best.contender).cloned()
        }
        (Some(best), None) => {
            rows.iter().find_map(|next| between(question, best.contender, next.contender))
        }
        (None, _) => None,
    };
    let Some(leader) = leader else { return nothing(question) };
    let mut text = format!("{}; ", sentence(verdicts, question, &leader));
    match (baseline, first) {
        (Some(baseline), _) => {
            let said = pairs.iter().map(|pair| {
                if pair.a_label == *baseline { pair.verdict.swapped() } else { pair.verdict }
            });
            let contenders = count(pairs.len(), "contender");
            text.push_str(&format!("against {baseline}, of {contenders}: {}", tally(said)));
        }
        (None, Some(best)) => {
            let all: Vec<Verdict> = rows
                .iter()
                .filter_map(|row| between(question, best.contender, row.contender))
                .map(|pair| pair.verdict)
                .collect();
            let (best, others) = (&best.label, count(all.len(), "other"));
            text.push_str(&format!("{best} against all {others}: {}", tally(all.into_iter())));
        }
        (None, None) => {}
    }
    text
}

/// `4 FASTER, 1 SAME and 2 UNDECIDED`.
fn tally(said: impl Iterator<Item = Verdict> + Clone) -> String {
    const ORDER: [Verdict; 4] =
        [Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Undecided];
    let parts: Vec<String> = ORDER
        .into_iter()
        .map(|verdict| (said.clone().filter(|&one| one == verdict).count(), verdict))
        .filter(|&(n, _)| n > 0)
        .map(|(n, verdict)| format!("{n} {}", verdict.word()))
        .collect();
    listed(&parts)
}
