//! Several RUNs side by side, where machines, boots or RUNs are the units and not the blocks
//! inside them.
//!
//! What a RUN says of two contenders holds for that machine in that boot. Whether it holds for
//! further machines or boots can only be told from several of them: each gives one number from its
//! own blocks, and these numbers are the sample. Two never speak for a third, so that fewer than
//! [`LEAST_UNITS`] are UNDECIDED. Absolute figures are compared within one machine only.
//!
//! * [`forest`]: the same pairs of contenders in several RUNs.
//! * [`sides`]: the same contenders before and after something was changed on one machine.
//! * [`history`]: one figure over all RUNs of a workload, with the positions where it changed.
//! * [`only`]: what one RUN says, of what is asked here.

mod family;
mod forest;
mod history;
mod question;
mod run;
mod series;
mod sides;

pub use forest::{Forest, ForestPair, ForestQuestion, ForestRow, Without, forest};
pub use history::{
    GroupBy, History, HistoryAsk, HistoryChange, HistoryPoint, HistoryQuestion, HistorySeries,
    history,
};
pub use question::{ALPHA, Ask, CompareError, LEAST_UNITS, QuestionName};
pub use run::machine_line;
pub use run::{Facts, RunOf, Unit, UnitRow};
pub use series::{ExcludedRun, RunFigures};
pub use sides::{Change, SideRow, Sides, SidesQuestion, UnitValue, sides};

use crate::view::{PairView, QuestionView, Verdicts};
use fsarena_model::verdict::Metric;
use std::mem;

/// The verdicts of a RUN, with the questions and the pair that are asked for alone; a pair that is
/// named the other way round is turned. Its margin stays that of the RUN, since its looks were
/// taken with it.
///
/// # Errors
/// Where the RUN has no such question or pair.
pub fn only(verdicts: &Verdicts, ask: &Ask) -> Result<Verdicts, CompareError> {
    let mut some = verdicts.clone();
    let headline = verdicts.headline.and_then(|at| verdicts.questions.get(at));
    some.questions.retain(|question| match (&ask.question, headline) {
        (Some((workload, phase)), _) => question.workload == *workload && question.phase == *phase,
        (None, Some(first)) if !ask.all => is_of(question, first),
        _ => true,
    });
    if some.questions.is_empty() && ask.question.is_some() {
        let name = |one: &QuestionView| format!("{}:{}", one.workload, one.phase);
        let mut known: Vec<String> = verdicts.questions.iter().map(name).collect();
        known.dedup();
        let asked = ask.question.as_ref().map(|(workload, phase)| format!("{workload}:{phase}"));
        return Err(CompareError::NoSuchQuestion {
            asked: asked.unwrap_or_default(),
            known: known.join(", "),
        });
    }
    some.headline = headline.and_then(|first| some.questions.iter().position(|q| is_of(q, first)));
    if let Some((a, b)) = &ask.pair {
        for question in &mut some.questions {
            question.pairs = mem::take(&mut question.pairs)
                .into_iter()
                .filter_map(|pair| oriented(pair, a, b))
                .collect();
        }
        if some.questions.iter().all(|question| question.pairs.is_empty()) {
            let rows = verdicts.questions.iter().flat_map(|question| &question.rows);
            return Err(CompareError::no_such_pair(a, b, rows.map(|row| row.label.as_str())));
        }
    }
    Ok(some)
}

fn is_of(question: &QuestionView, other: &QuestionView) -> bool {
    let name = |one: &QuestionView| -> (String, String, Metric, _) {
        (one.workload.clone(), one.phase.clone(), one.metric, one.clock)
    };
    name(question) == name(other)
}

/// The pair as a and b, where it is of these two.
fn oriented(pair: PairView, a: &str, b: &str) -> Option<PairView> {
    if (pair.a_label.as_str(), pair.b_label.as_str()) == (a, b) {
        return Some(pair);
    }
    ((pair.b_label.as_str(), pair.a_label.as_str()) == (a, b)).then(|| pair.turned())
}
