//! Which of the entries that a power cut can take back are there after it.

use serde::{Deserialize, Serialize};

/// Which of the open entries survive; the numbers are places in the log and ascend.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Survivors {
    #[default]
    All,
    None,
    Only(Vec<u32>),
    AllBut(Vec<u32>),
}

impl Survivors {
    /// Whether an open entry survives.
    #[must_use]
    pub fn contains(&self, entry: u32) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Only(entries) => entries.binary_search(&entry).is_ok(),
            Self::AllBut(entries) => entries.binary_search(&entry).is_err(),
        }
    }
}

/// Only the first sectors of this entry are there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct Torn {
    pub entry: u32,
    pub sectors: u32,
}
