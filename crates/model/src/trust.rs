//! What the user says of a program that others may change. It comes from the command line alone:
//! no experiment file and no database has one.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A program that is trusted although others than root may change it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustConsent {
    pub program: PathBuf,
    /// Words for all who may change it: `ann`, `group:staff`, `everybody`.
    pub writers: BTreeSet<String>,
}
