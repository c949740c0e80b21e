//! What is asked of several RUNs, and why they cannot be compared.

use fsarena_model::run::Clock;
use fsarena_model::verdict::Metric;
use serde::Serialize;
use std::collections::BTreeSet;

/// Fewer units say nothing of others.
pub const LEAST_UNITS: usize = 3;

/// Share of false differences, and of false claims of sameness, among all that is asked at once.
pub const ALPHA: f64 = 0.05;

/// What is asked of RUNs.
#[derive(Clone, PartialEq, Debug)]
pub struct Ask {
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// Labels of the only pair: what is said is said of the first.
    pub pair: Option<(String, String)>,
    /// Workload and phase of the only question.
    pub question: Option<(String, String)>,
    /// All questions of the RUNs; else those that stand first in them.
    pub all: bool,
}

/// A question, by names that are the same in several RUNs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, crate::JsonSchema)]
pub struct QuestionName {
    pub workload: String,
    pub phase: String,
    pub metric: Metric,
    /// Up to which clock.
    pub clock: Clock,
}

/// Why RUNs cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompareError {
    /// None were given.
    #[error("no RUN to compare")]
    Nothing,
    /// One was given twice.
    #[error("RUN {run} is given twice: it is one unit and not two")]
    Twice { run: String },
    /// No question of that name.
    #[error("no RUN has the question {asked}; there are {known}")]
    NoSuchQuestion {
        /// As asked.
        asked: String,
        /// Those that there are.
        known: String,
    },
    /// No such contenders.
    #[error("no RUN compares {a} with {b}; there are {known}")]
    NoSuchPair {
        /// The first label.
        a: String,
        b: String,
        /// Labels that there are.
        known: String,
    },
    /// No such contender.
    #[error("no RUN has the contender {label}; there are {known}")]
    NoSuchContender {
        label: String,
        /// Labels that there are.
        known: String,
    },
    /// Before and after are of different machines.
    #[error(
        "RUN {one} and RUN {other} are not of one machine: {what}; absolute figures are never \
         compared across machines"
    )]
    OtherMachine { one: String, other: String, what: String },
    /// Nothing says on which machine a RUN was done.
    #[error(
        "RUN {run}: its machine is not known, as that of any imported RUN; before and after are \
         compared on one known machine only. `fsarena compare RUN RUN …` compares the contenders \
         within each RUN"
    )]
    UnknownMachine { run: String },
    /// Before and after did other work.
    #[error("the workload {workload} of RUN {other} is not that of RUN {one}: {what}")]
    OtherWork { workload: String, one: String, other: String, what: String },
    /// A RUN that is needed on its own was planned without verdicts.
    #[error("RUN {run} asked no question: it was planned without verdicts")]
    AskedNothing { run: String },
}

impl CompareError {
    /// There is no pair of `a` and `b` among these labels.
    pub(super) fn no_such_pair<'a>(a: &str, b: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.collect::<BTreeSet<_>>().into_iter().collect();
        Self::NoSuchPair { a: a.to_owned(), b: b.to_owned(), known: known.join(", ") }
    }
}
