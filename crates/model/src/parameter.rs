//! Numbers of a workload that can be varied, and the levels that one of several otherwise equal
//! workloads has of them. Which workload has which is in [`crate::level_line`].

use crate::JsonSchema;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A number of a workload that can be varied. The names are the keys of an experiment.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Parameter {
    /// Bytes of one read or write call.
    Bs,
    /// Bytes of each file.
    Size,
    /// How many files.
    Files,
    /// Leaf directories that they are spread over.
    Dirs,
    /// Files of each leaf directory.
    #[serde(rename = "per_dir")]
    PerDir,
    /// Levels of directories.
    Depth,
    /// Bytes of the name of a file.
    #[serde(rename = "name_length")]
    NameLength,
    /// Ops in flight in each thread.
    Iodepth,
    Threads,
    /// Ops of a random phase.
    Ops,
    /// Reads of `randrw`, percent.
    Rwmixread,
    /// Ops a second that each thread begins.
    Rate,
}

names!(Parameter.key {
    Bs = "bs", Size = "size", Files = "files", Dirs = "dirs", PerDir = "per_dir", Depth = "depth",
    NameLength = "name_length", Iodepth = "iodepth", Threads = "threads", Ops = "ops",
    Rwmixread = "rwmixread", Rate = "rate",
});

/// What fio calls some of them.
const FIO_NAMES: [(&str, Parameter); 5] = [
    ("blocksize", Parameter::Bs),
    ("filesize", Parameter::Size),
    ("nrfiles", Parameter::Files),
    ("numjobs", Parameter::Threads),
    ("rate_iops", Parameter::Rate),
];

impl Parameter {
    /// The parameter of a key, or of the name that fio has for it.
    #[must_use]
    pub fn written(name: &str) -> Option<Self> {
        let of_fio = || FIO_NAMES.iter().find(|(known, _)| *known == name).map(|(_, own)| *own);
        Self::named(name).or_else(of_fio)
    }

    /// Whether its levels are bytes, and may be written with a unit.
    #[must_use]
    pub fn is_bytes(self) -> bool {
        matches!(self, Self::Bs | Self::Size)
    }

    /// A level as it is shown, without loss: `64 KiB`, `16`.
    #[must_use]
    pub fn text(self, value: u64) -> String {
        if !self.is_bytes() {
            return value.to_string();
        }
        let short = Bytes(value).to_string();
        if short.parse() == Ok(Bytes(value)) { short } else { format!("{value} B") }
    }
}

/// What one of several workloads has that are otherwise equal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadLevels {
    /// Name of the workload whose parameters vary: `random-io`.
    pub workload: String,
    /// A level of each parameter that was written as a list, in the order of [`Parameter::ALL`].
    pub levels: Vec<ParameterLevel>,
}

/// A value of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParameterLevel {
    pub parameter: Parameter,
    /// Bytes, percent, or a number of things.
    pub value: u64,
}

impl ParameterLevel {
    /// `bs=4 KiB`.
    #[must_use]
    pub fn text(self) -> String {
        format!("{}={}", self.parameter.key(), self.parameter.text(self.value))
    }
}

impl WorkloadLevels {
    /// The level of a parameter.
    #[must_use]
    pub fn value(&self, parameter: Parameter) -> Option<u64> {
        self.levels.iter().find(|level| level.parameter == parameter).map(|level| level.value)
    }

    /// The name of the workload with these levels: `random-io bs=4 KiB iodepth=16`.
    #[must_use]
    pub fn name(&self) -> String {
        let levels = self.levels.iter().map(|level| level.text());
        std::iter::once(self.workload.clone()).chain(levels).collect::<Vec<_>>().join(" ")
    }

    /// The levels of all parameters but one, in words: `iodepth=16`; empty where there is no other.
    #[must_use]
    pub fn others(&self, but: Parameter) -> String {
        let others = self.levels.iter().filter(|level| level.parameter != but);
        others.map(|level| level.text()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_shown_without_loss() {
        assert_eq!(Parameter::Bs.text(65536), "64 KiB");
        assert_eq!(Parameter::Bs.text(1 << 20), "1 MiB");
        assert_eq!(Parameter::Size.text(1025), "1025 B");
        assert_eq!(Parameter::Size.text(5000), "5000 B");
        assert_eq!(Parameter::Files.text(4096), "4096");
    }

    #[test]
    fn a_key_may_be_the_one_of_fio() {
        assert_eq!(Parameter::written("numjobs"), Some(Parameter::Threads));
        assert_eq!(Parameter::written("bs"), Some(Parameter::Bs));
        assert_eq!(Parameter::written("ioengine"), None);
    }
}
