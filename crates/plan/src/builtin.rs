//! The experiments and workloads that are part of the program, read.

pub use crate::embedded::{Builtin, EXPERIMENTS, WORKLOADS, experiment_names, workload_names};
use crate::experiment::Experiment;
use crate::parse;
pub use crate::workload::builtin as workload;

/// The experiment of this name, read.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn experiment(name: &str) -> Option<Experiment> {
    let builtin = EXPERIMENTS.iter().find(|builtin| builtin.name == name)?;
    Some(parse(builtin.text, name).expect("every built-in experiment is read by a test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_readable_under_its_own_name() {
        for builtin in WORKLOADS {
            match crate::workload::read_builtin(builtin) {
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
