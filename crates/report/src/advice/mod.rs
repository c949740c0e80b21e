//! The advice for a purpose, one sentence each: who is the fastest at what decides it. It says what
//! the verdicts of the RUN say (`decide`) in words (`sentences`), with what the RUN knows of crash
//! safety beside it (`crash`). Nothing is weighed: phases that disagree are named.

mod build;
mod crash;
mod decide;
mod sentences;

use serde::Serialize;

pub use build::{advice, advice_text};

/// A purpose and what decides it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedPurpose {
    /// As in `--for mail`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The phases that decide.
    pub phases: Vec<AskedPhase>,
}

/// A phase that decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedPhase {
    /// Name of its workload.
    pub workload: String,
    /// Its name.
    pub phase: String,
}

/// What a RUN says of a purpose.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// As in `--for mail`.
    pub purpose: String,
    /// One line for people.
    pub title: String,
    /// What kind of answer it is.
    pub kind: Kind,
    /// Contenders that are the fastest or as fast as it; empty where that is not shown.
    pub best: Vec<String>,
    /// The answer in words.
    pub sentence: String,
    /// What it is decided by, in words.
    pub decided_by: String,
    /// What is known of crash safety, in words.
    pub crash: String,
}

/// The kinds of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AdviceKind"))]
pub enum Kind {
    /// Against every other contender, in every phase that decides.
    Sure,
    /// All are the same within the margin in every phase that decides.
    Same,
    /// Phases disagree: each contender is slower than another in one of them.
    NoSingleAnswer,
    /// Not shown yet.
    Undecided,
    /// Fewer than two contenders have figures.
    NothingToCompare,
    /// The RUN did not ask it.
    NotAsked,
}
