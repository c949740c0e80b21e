//! How a trial, a step or an op ended, and what is to be said with a result.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a trial ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Outcome {
    /// All steps were done.
    Done,
    /// Something needed is not there; nothing was tried.
    NotRun {
        /// Why, and what would help.
        reason: String,
    },
    /// A step failed; phases before it are kept.
    Failed {
        /// Name of the step.
        step: String,
        /// What went wrong.
        error: String,
        /// What to do about it.
        remedy: Option<String>,
    },
    /// The user or the system stopped it.
    Interrupted,
}

/// An op that failed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpError {
    /// Number of the op within the phase, from 0; with several threads, within the thread's part.
    pub op_index: u64,
    /// Number of the thread, from 0, where there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// System call, such as `write`.
    pub call: String,
    /// Path relative to the root of the dataset.
    pub path: String,
    /// errno(3), or 0 where a call did less than asked without an error.
    pub errno: i32,
    /// The error in words.
    pub text: String,
}

/// Something to be said with a result, and what to do about it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// Short name, such as `loop-in-memory`.
    pub code: String,
    /// One sentence.
    pub text: String,
    /// What to do, where something can be done.
    pub remedy: Option<String>,
    /// The figure that the text states, where it states one: of many notices of one code, the one
    /// with the largest stands for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<f64>,
}

impl Notice {
    /// A notice that states no figure.
    #[must_use]
    pub fn new(code: &str, text: impl Into<String>, remedy: Option<&str>) -> Self {
        let (code, remedy) = (code.to_owned(), remedy.map(str::to_owned));
        Self { code, text: text.into(), remedy, measure: None }
    }
}
