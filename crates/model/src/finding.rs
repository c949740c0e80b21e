//! Conditions of a machine or device that distort results, before anything is measured.

use serde::{Deserialize, Serialize};

/// One check: its reading, why it matters, and what mends it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Short name of the check, such as `misaligned-partition`.
    pub code: String,
    /// What was looked at: `host`, `/dev/sdb`, `/mnt/data`.
    pub place: String,
    /// How much it matters.
    pub weight: Weight,
    /// What was read, with its unit, in one sentence.
    pub reading: String,
    /// Why it matters, in one sentence; empty where nothing is wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What to do about it, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The command that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// How much a finding matters, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// As it should be.
    Fine,
    /// Could not be read; the reading says why.
    Unknown,
    /// To be known by who reads the figures.
    Note,
    /// It changes figures; results of machines without it are not comparable.
    Warning,
    /// It spoils figures.
    Bad,
}

impl Weight {
    /// All, the least first, with their words.
    pub const ALL: [(&str, Self); 5] = [
        ("fine", Self::Fine),
        ("unknown", Self::Unknown),
        ("note", Self::Note),
        ("warning", Self::Warning),
        ("bad", Self::Bad),
    ];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, weight)| *weight == self).map_or("", |(word, _)| word)
    }
}
