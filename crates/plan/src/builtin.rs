//! Experiments and workloads that are part of the program: one file each, one line each here.

use crate::error::PlanError;
use crate::experiment::Experiment;
use crate::parse::Files;
use crate::tree::Source;
use crate::{parse, workload};
use fsarena_model::work::Workload;

/// A file that is part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Builtin {
    /// Name, as in `fsarena run NAME` or `--workload NAME`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! builtin {
    ($folder:literal, $name:literal) => {
        Builtin {
            name: $name,
            text: include_str!(concat!("../../../", $folder, "/", $name, ".toml")),
        }
    };
}

/// The experiments.
pub const EXPERIMENTS: &[Builtin] = &[
    builtin!("experiments", "quick"),
    builtin!("experiments", "2003-linux-vs-freebsd"),
    builtin!("experiments", "2005-file-operations"),
    builtin!("experiments", "2007-ufs-block-fragment"),
    builtin!("experiments", "2008-all-against-all"),
    builtin!("experiments", "2010-ssd-ext4-journal"),
];

/// The workloads.
pub const WORKLOADS: &[Builtin] = &[
    builtin!("experiments/workloads", "small-files"),
    builtin!("experiments/workloads", "tiny-files"),
    builtin!("experiments/workloads", "big-file"),
    builtin!("experiments/workloads", "metadata-threads"),
    builtin!("experiments/workloads", "fsync-latency"),
    builtin!("experiments/workloads", "random-io"),
    builtin!("experiments/workloads", "mail-server"),
    builtin!("experiments/workloads", "database"),
    builtin!("experiments/workloads", "cycle"),
    builtin!("experiments/workloads", "copy"),
    builtin!("experiments/workloads", "delete"),
    builtin!("experiments/workloads", "untar"),
    builtin!("experiments/workloads", "archive"),
    builtin!("experiments/workloads", "flac"),
    builtin!("experiments/workloads", "ogg"),
    builtin!("experiments/workloads", "compile"),
];

/// The experiment of this name, read.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn experiment(name: &str) -> Option<Experiment> {
    let builtin = EXPERIMENTS.iter().find(|builtin| builtin.name == name)?;
    Some(parse(builtin.text, name).expect("every built-in experiment is read by a test"))
}

/// The workload of this name, read.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn workload(name: &str) -> Option<Workload> {
    let builtin = WORKLOADS.iter().find(|builtin| builtin.name == name)?;
    Some(read(builtin).expect("every built-in workload is read by a test"))
}

fn read(builtin: &Builtin) -> Result<Workload, PlanError> {
    let source = Source { file: builtin.name, text: builtin.text };
    let document = source.parse()?;
    let files = Files::none(builtin.name);
    Ok(workload::read(&source.root(&document), &files)?.value)
}

/// Names of the experiments.
#[must_use]
pub fn experiment_names() -> Vec<&'static str> {
    EXPERIMENTS.iter().map(|builtin| builtin.name).collect()
}

/// Names of the workloads.
#[must_use]
pub fn workload_names() -> Vec<&'static str> {
    WORKLOADS.iter().map(|builtin| builtin.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_readable_under_its_own_name() {
        for builtin in WORKLOADS {
            match read(builtin) {
                Ok(workload) => assert_eq!(workload.name, builtin.name),
                Err(error) => panic!("{error}"),
            }
        }
        for builtin in EXPERIMENTS {
            match parse(builtin.text, builtin.name) {
                Ok(experiment) => assert_eq!(experiment.name, builtin.name),
                Err(error) => panic!("{error}"),
            }
        }
        assert!(experiment("none").is_none() && workload("none").is_none());
    }
}
