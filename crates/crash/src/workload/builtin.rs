//! The crash workloads: the files of `crash-workloads/`.

use super::description::Description;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::LazyLock;

/// The files of `crash-workloads/`.
const FILES: &[&str] = &[
    include_str!("../../../../crash-workloads/unsynced.toml"),
    include_str!("../../../../crash-workloads/synced.toml"),
    include_str!("../../../../crash-workloads/file-synced.toml"),
    include_str!("../../../../crash-workloads/mail-spool.toml"),
    include_str!("../../../../crash-workloads/journal.toml"),
    include_str!("../../../../crash-workloads/truncated.toml"),
];

static ALL: LazyLock<Vec<Description>> = LazyLock::new(|| {
    let read = |text: &&str| toml::from_str(text).expect("a test reads every crash workload");
    FILES.iter().map(read).collect()
});

/// What kind of work: one of the crash workloads, by its name.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Kind(pub(super) &'static Description);

impl Kind {
    /// All of them, in the order of tables.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().map(Self)
    }

    /// As it is written in experiments.
    #[must_use]
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// What is done, on one line.
    #[must_use]
    pub fn title(self) -> &'static str {
        &self.0.title
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|kind| kind.name() == name)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Kind {}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_name(&name).ok_or_else(|| format!("no crash workload is called {name:?}"))
    }
}

impl From<Kind> for &'static str {
    fn from(kind: Kind) -> Self {
        kind.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_read_and_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = Kind::all().map(Kind::name).collect();
        assert_eq!(names.len(), FILES.len());
        for kind in Kind::all() {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("{:?}", kind.name()));
            assert_eq!(serde_json::from_str::<Kind>(&json).unwrap(), kind);
            assert!(!kind.title().is_empty() && kind.0.schema == 1);
            assert_eq!(kind.0.mistakes(), [""; 0], "{}", kind.name());
        }
        assert_eq!(Kind::from_name("none"), None);
    }
}
