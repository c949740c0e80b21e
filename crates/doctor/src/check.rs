//! What a check is: a name, whom it concerns, and a function that looks.

use crate::layers::Layer;
use crate::snapshot::{Directory, SystemSnapshot};
use fsarena_model::host::{Finding, Weight};

/// Name of the machine as a place.
pub(crate) const HOST: &str = "host";

pub(crate) struct Check {
    /// Its name, as in [`Finding::code`].
    pub code: &'static str,
    /// What it looks at.
    pub scope: Scope,
}

/// What a check comes to.
pub(crate) type Checked = Result<CheckResult, NoResult>;

/// Why there is no judgement.
#[derive(Debug)]
pub(crate) enum NoResult {
    /// It does not concern this one.
    NotConcerned,
    /// Something could not be read, because of this.
    Unknown(String),
}

impl From<String> for NoResult {
    fn from(reason: String) -> Self {
        Self::Unknown(reason)
    }
}

impl From<&String> for NoResult {
    fn from(reason: &String) -> Self {
        Self::Unknown(reason.clone())
    }
}

/// Whom a check concerns.
pub(crate) enum Scope {
    Host(fn(&SystemSnapshot) -> Checked),
    /// Each block device from the target down.
    Device(fn(&SystemSnapshot, &Layer) -> Checked),
    /// Those of them that are the disk itself.
    Hardware(fn(&SystemSnapshot, &Layer) -> Checked),
    /// Each directory with its file system.
    Directory(fn(&SystemSnapshot, &Directory) -> Checked),
}

impl Check {
    /// What it says of all that it concerns.
    pub fn findings(&self, snapshot: &SystemSnapshot) -> Vec<Finding> {
        let results: Vec<(String, Checked)> = match self.scope {
            Scope::Host(check) => vec![(HOST.to_owned(), check(snapshot))],
            Scope::Device(check) | Scope::Hardware(check) => {
                let all = matches!(self.scope, Scope::Device(_));
                let layers = snapshot.layers.iter().filter(|layer| all || layer.is_hardware());
                layers.map(|layer| (layer.place(), check(snapshot, layer))).collect()
            }
            Scope::Directory(check) => {
                let directories = snapshot.directories.iter();
                directories.map(|dir| (dir.place(), check(snapshot, dir))).collect()
            }
        };
        let finding = |(place, result): (String, Checked)| {
            Some(CheckResult::from_checked(result)?.finding(self.code, place))
        };
        results.into_iter().filter_map(finding).collect()
    }
}

/// What a check says, without its name and place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CheckResult {
    /// How much it matters.
    pub weight: Weight,
    /// What was read.
    pub reading: String,
    why: String,
    remedy: Option<String>,
    command: Option<String>,
}

impl CheckResult {
    fn new(weight: Weight, reading: impl Into<String>, why: &str) -> Self {
        let reading = reading.into();
        Self { weight, reading, why: why.to_owned(), remedy: None, command: None }
    }

    /// What is to be said; a reading that could not be had is unknown, and never fine.
    pub fn from_checked(checked: Checked) -> Option<Self> {
        match checked {
            Ok(result) => Some(result),
            Err(NoResult::NotConcerned) => None,
            Err(NoResult::Unknown(reason)) => Some(Self::unknown(reason)),
        }
    }

    /// As it should be.
    pub fn fine(reading: impl Into<String>) -> Self {
        Self::new(Weight::Fine, reading, "")
    }

    /// Could not be read, because of this.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::new(Weight::Unknown, reason, "")
    }

    /// To be known.
    pub fn note(reading: impl Into<String>, why: &str) -> Self {
        Self::new(Weight::Note, reading, why)
    }

    /// It changes figures.
    pub fn warning(reading: impl Into<String>, why: &str) -> Self {
        Self::new(Weight::Warning, reading, why)
    }

    /// It spoils figures.
    pub fn bad(reading: impl Into<String>, why: &str) -> Self {
        Self::new(Weight::Bad, reading, why)
    }

    /// What to do about it, one sentence without its stop.
    pub fn remedy(mut self, text: &str) -> Self {
        self.remedy = Some(text.to_owned());
        self
    }

    /// The command that does it.
    pub fn command(mut self, text: impl Into<String>) -> Self {
        self.command = Some(text.into());
        self
    }

    fn finding(self, code: &str, place: String) -> Finding {
        let Self { weight, reading, why, remedy, command } = self;
        Finding { code: code.to_owned(), place, weight, reading, why, remedy, command }
    }
}
