//! Which parameters a workload has, and the lines of workloads that differ in one parameter alone.

use crate::io::Backend;
use crate::op::{BlockSize, Op};
use crate::parameter::Parameter;
use crate::phase::{Phase, Workload};

impl Parameter {
    /// Whether a phase of files and calls has it.
    #[must_use]
    pub fn is_of_phase(self, phase: &Phase) -> bool {
        let op = phase.op;
        match self {
            Self::Bs => op.info().bs.0 == BlockSize::Call && op != Op::Fio && op != Op::Job,
            Self::Size
            | Self::Files
            | Self::Dirs
            | Self::PerDir
            | Self::Depth
            | Self::NameLength => true,
            Self::Iodepth => phase.io.backend == Backend::IoUring,
            Self::Threads => op != Op::Cycle,
            Self::Ops => op.is_random(),
            Self::Rwmixread => op == Op::RandRw,
            Self::Rate => phase.io.backend != Backend::IoUring && op != Op::Cycle,
        }
    }

    /// Its value in a phase; absent where it is one of the dataset, or is not set.
    #[must_use]
    pub fn in_phase(self, phase: &Phase) -> Option<u64> {
        match self {
            Self::Bs => Some(phase.bs_bytes),
            Self::Iodepth => Some(phase.io.iodepth.into()),
            Self::Threads => Some(phase.io.threads.into()),
            Self::Ops => phase.io.ops,
            Self::Rwmixread => Some(phase.io.rwmixread_percent.into()),
            Self::Rate => phase.io.rate.map(u64::from),
            Self::Size
            | Self::Files
            | Self::Dirs
            | Self::PerDir
            | Self::Depth
            | Self::NameLength => None,
        }
    }
}

impl Workload {
    /// The parameters that it has: none where fio or programs do the work.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        if self.fio.is_some() || self.source.is_some() {
            return Vec::new();
        }
        let has = |one: &Parameter| self.phases.iter().any(|phase| one.is_of_phase(phase));
        Parameter::ALL.into_iter().filter(has).collect()
    }

    /// Whether it is one of several that differ in this.
    #[must_use]
    pub fn varies(&self, parameter: Parameter) -> bool {
        self.levels.as_ref().is_some_and(|own| own.value(parameter).is_some())
    }

    /// Its name without its levels.
    #[must_use]
    pub fn base_name(&self) -> &str {
        self.levels.as_ref().map_or(&self.name, |own| &own.workload)
    }

    /// Whether a name means it: its own, or that of the workload that it is a level of.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.base_name() == name
    }
}

/// Workloads that differ in one parameter alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LevelLine {
    /// Name of the workload whose parameters vary.
    pub workload: String,
    /// What varies along it.
    pub parameter: Parameter,
    /// What the others are, in words: `iodepth=16`; empty where there is no other.
    pub others: String,
    /// Index of each workload with its level, ascending.
    pub levels: Vec<(usize, u64)>,
}

impl LevelLine {
    /// Whether its phase of this name has another value at its last level than at its first: one
    /// that says its own has not. A phase without that number follows what others do with it.
    #[must_use]
    pub fn varies_in(&self, workloads: &[Workload], phase: &str) -> bool {
        let value = |level: Option<&(usize, u64)>| {
            let phases = &workloads[level?.0].phases;
            let own = phases.iter().find(|own| own.name == phase)?;
            self.parameter.is_of_phase(own).then(|| self.parameter.in_phase(own))?
        };
        let ends = value(self.levels.first()).zip(value(self.levels.last()));
        ends.is_none_or(|(first, last)| first != last)
    }
}

/// The lines among the workloads of a plan: of each that varies along the parameter with the most
/// levels (the first of several), one line for every combination of levels of the others. A
/// workload of one level alone has none.
#[must_use]
pub fn level_lines(workloads: &[Workload]) -> Vec<LevelLine> {
    let mut lines: Vec<LevelLine> = Vec::new();
    for (at, workload) in workloads.iter().enumerate() {
        let Some(own) = &workload.levels else { continue };
        let Some(parameter) = longest(workloads, &own.workload) else { continue };
        let Some(value) = own.value(parameter) else { continue };
        let others = own.others(parameter);
        let known = lines.iter_mut().find(|line| {
            (&line.workload, line.parameter, &line.others) == (&own.workload, parameter, &others)
        });
        match known {
            Some(line) => line.levels.push((at, value)),
            None => lines.push(LevelLine {
                workload: own.workload.clone(),
                parameter,
                others,
                levels: vec![(at, value)],
            }),
        }
    }
    lines.iter_mut().for_each(|line| line.levels.sort_by_key(|&(_, value)| value));
    lines.retain(|line| line.levels.len() > 1);
    lines
}

/// The parameter of a workload that has the most levels.
fn longest(workloads: &[Workload], name: &str) -> Option<Parameter> {
    let own = || {
        let levels = workloads.iter().filter_map(|workload| workload.levels.as_ref());
        levels.filter(|levels| levels.workload == name)
    };
    let count = |parameter: Parameter| {
        let mut values: Vec<u64> = own().filter_map(|levels| levels.value(parameter)).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    let varied = own().next()?.levels.iter().map(|level| level.parameter);
    // Of several with as many, max_by_key would take the last.
    varied.rev().max_by_key(|&parameter| count(parameter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::parameter::{ParameterLevel, WorkloadLevels};

    #[test]
    fn a_phase_with_a_number_of_its_own_is_along_no_line() {
        let with_phases = |bs_bytes: u64| {
            let phase = |name: &str, bs_bytes: u64| Phase::new(name, Op::RandRead, bs_bytes);
            let phases = vec![phase("own", 4096), phase("varied", bs_bytes)];
            Workload { phases, ..workload(&[(Parameter::Bs, bs_bytes)]) }
        };
        let workloads = [with_phases(4096), with_phases(65536)];
        let lines = level_lines(&workloads);
        assert!(!lines[0].varies_in(&workloads, "own"));
        assert!(lines[0].varies_in(&workloads, "varied"));
    }

    fn workload(levels: &[(Parameter, u64)]) -> Workload {
        let levels = levels.iter().map(|&(parameter, value)| ParameterLevel { parameter, value });
        let levels = WorkloadLevels { workload: "random-io".to_owned(), levels: levels.collect() };
        Workload {
            name: levels.name(),
            title: String::new(),
            dataset: Dataset::uniform(1, 1 << 20, 0),
            phases: vec![Phase::new("randread", Op::RandRead, 4096)],
            fio: None,
            source: None,
            levels: Some(levels),
        }
    }

    #[test]
    fn a_line_goes_along_the_parameter_with_the_most_levels() {
        let mut all = Vec::new();
        for bs in [65536, 4096] {
            for depth in [1, 2, 4] {
                all.push(workload(&[(Parameter::Bs, bs), (Parameter::Iodepth, depth)]));
            }
        }
        let lines = level_lines(&all);
        let shown: Vec<(&str, &str)> =
            lines.iter().map(|line| (line.parameter.key(), line.others.as_str())).collect();
        assert_eq!(shown, [("iodepth", "bs=64 KiB"), ("iodepth", "bs=4 KiB")]);
        assert_eq!(lines[1].levels, [(3, 1), (4, 2), (5, 4)]);
        assert_eq!(all[0].name, "random-io bs=64 KiB iodepth=1");
        assert!(all[0].is_called("random-io") && all[0].is_called(&all[0].name));
        assert!(!all[0].is_called("random"));
        let square = [
            workload(&[(Parameter::Bs, 1), (Parameter::Iodepth, 1)]),
            workload(&[(Parameter::Bs, 2), (Parameter::Iodepth, 1)]),
            workload(&[(Parameter::Bs, 1), (Parameter::Iodepth, 2)]),
            workload(&[(Parameter::Bs, 2), (Parameter::Iodepth, 2)]),
        ];
        assert_eq!(level_lines(&square)[0].parameter, Parameter::Bs, "the first of several");
        assert!(level_lines(&all[..1]).is_empty(), "one level is no line");
    }
}
