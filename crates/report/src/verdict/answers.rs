//! What verdicts say, sentence by sentence, for documents that lay them out themselves. The words
//! are those of the tables; nothing is decided or computed here.

use super::multipliers;
use super::{legend, pairs, plain, question, rule};
use crate::text::Detail;
use fsarena_model::verdict::Verdict;
use fsarena_verdict::factors::FactorView;
use fsarena_verdict::{PairView, QuestionView, RankRow, Verdicts};

pub use super::question::Against;
pub use super::text::{about, blocks, listed, margin, percent};

/// The answer to a question as somebody would say it aloud, with its full stop: `xfs is 1.31 times
/// [1.24, 1.38] as fast as ext4; it is the same within 5 % as btrfs.` Blocks and margin are to
/// stand beside it.
#[must_use]
pub fn in_words(verdicts: &Verdicts, question: &QuestionView) -> String {
    plain::sentence(verdicts, question)
}

/// What is said of a pair of a question, in one sentence without a full stop. An undecided pair is
/// told in the direction of the ranking's ratios: what divides is the better one, or the baseline.
#[must_use]
pub fn pair(verdicts: &Verdicts, question: &QuestionView, pair: &PairView) -> String {
    if pair.verdict != Verdict::Undecided {
        return pairs::sentence(verdicts, question, pair);
    }
    let turned = pair.turned();
    let told = if verdicts.baseline.is_some() { pair } else { &turned };
    pairs::sentence(verdicts, question, told)
}

/// The interval that the verdict of a pair rests on.
#[must_use]
pub fn interval(pair: &PairView) -> Option<(f64, f64)> {
    let (low, high) = pairs::interval(pair);
    low.zip(high)
}

/// The undecided pairs of a question.
#[must_use]
pub fn undecided(question: &QuestionView) -> Vec<&PairView> {
    question.pairs.iter().filter(|pair| pair.verdict == Verdict::Undecided).collect()
}

/// The pair of two contenders, with `a` as its first.
#[must_use]
pub fn between(question: &QuestionView, a: usize, b: usize) -> Option<PairView> {
    pairs::between(question, a, b)
}

/// The row that ratios are to: the baseline, or the best where it has no figures.
#[must_use]
pub fn reference<'q>(verdicts: &Verdicts, question: &'q QuestionView) -> Option<&'q RankRow> {
    question::reference(verdicts, question)
}

/// A contender against the reference, as the tables write it.
#[must_use]
pub fn against(verdicts: &Verdicts, question: &QuestionView, row: &RankRow) -> Against {
    question::against(verdicts, question, row)
}

/// What the watchers found, and the values that stand out; a sentence each.
#[must_use]
pub fn watched(question: &QuestionView) -> Vec<String> {
    let mut all = question::found(question);
    all.extend(question::outliers(question));
    all
}

/// By which rule it was decided, and what became of the blocks.
#[must_use]
pub fn rule(verdicts: &Verdicts) -> String {
    format!("{}. {}", rule::rule(verdicts), rule::course(verdicts))
}

/// How verdicts are read: only what occurs.
#[must_use]
pub fn legend(verdicts: &Verdicts) -> String {
    legend::text(verdicts, Detail::AllPairs)
}

/// `device ×3.31 [3.10, 3.52], fs ×1.22 [1.18, 1.26]`; empty without factors.
#[must_use]
pub fn multipliers(view: &FactorView) -> String {
    multipliers::line(view)
}

/// The levels of all factors with their multipliers, the tests, and the shares of variance; a
/// sentence each.
#[must_use]
pub fn levels(view: &FactorView) -> Vec<String> {
    multipliers::sentences(view)
}
