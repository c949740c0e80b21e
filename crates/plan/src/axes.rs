//! Parameters of a workload that have several levels: each combination of them is a workload.
//!
//! A list or a range in the place of a number is an axis, in a file and at the command line alike.
//! Each combination is read as if its numbers had been written, so that nothing is checked in two
//! ways.

use crate::embedded::workload_names;
use crate::error::{At, PlanError, Span};
use crate::files::Files;
use crate::sweep;
use crate::text::{bytes, pieces};
use crate::tree::{Hint, Node, Source, Table, WrittenNumber};
use crate::values::Scalar;
use crate::workload::{CommonScale, Reading, busy_scale, named, read, scaled, scaled_files};
use fsarena_model::parameter::{Parameter, ParameterLevel, WorkloadLevels};
use fsarena_model::phase::{Phase, Workload};
use std::collections::BTreeMap;
use std::ops::Range;

/// Most workloads that one becomes.
const MAX_COMBINATIONS: usize = 100;

const EXAMPLE: &str = "write it like random-io:bs=4K,64K:iodepth=1..64";

/// A level as it is written.
#[derive(Clone)]
struct Written {
    value: u64,
    place: Span,
    /// Where in the text.
    bytes: Range<usize>,
}

/// A parameter with its levels.
struct Axis {
    parameter: Parameter,
    levels: Vec<Written>,
}

/// Reads the workloads of a table: one, or one for each combination of levels.
pub(crate) fn read_all(
    table: &Table<'_>,
    files: &Files<'_>,
) -> Result<Vec<At<Workload>>, PlanError> {
    read_over(table, files, &[])
}

/// The same, where `use` finds these workloads before those of the program.
fn read_over(
    table: &Table<'_>,
    files: &Files<'_>,
    own: &[&Workload],
) -> Result<Vec<At<Workload>>, PlanError> {
    let axes = axes(table)?;
    let varied: Vec<Parameter> = axes.iter().map(|axis| axis.parameter).collect();
    let reading = Reading { files, own, varied: &varied };
    if axes.is_empty() {
        return Ok(vec![read(table, reading)?]);
    }
    let count = axes.iter().fold(1usize, |all, axis| all.saturating_mul(axis.levels.len()));
    if count > MAX_COMBINATIONS {
        let numbers: Vec<String> = axes.iter().map(|axis| axis.levels.len().to_string()).collect();
        let what = format!("{} = {count} levels of one workload", numbers.join(" × "));
        let remedy = format!("shorten some of the lists: up to {MAX_COMBINATIONS} levels in all");
        return Err(PlanError::new(&axes[0].levels[0].place, what, remedy));
    }
    combinations(&axes).iter().map(|levels| at_levels(table, reading, levels)).collect()
}

/// The parameters of a table that have several levels.
fn axes(table: &Table<'_>) -> Result<Vec<Axis>, PlanError> {
    let axis = |parameter: Parameter| {
        let written = table.several(parameter.key())?;
        Some(levels(parameter, &written).map(|levels| Axis { parameter, levels }))
    };
    Parameter::ALL.into_iter().filter_map(axis).collect()
}

fn levels(
    parameter: Parameter,
    written: &[(Node<'_>, Range<usize>)],
) -> Result<Vec<Written>, PlanError> {
    let mut all: Vec<Written> = Vec::new();
    for (node, bytes) in written {
        for text in sweep::levels(&node.read::<Scalar>()?.0, &node.place)? {
            let value = number(parameter, &text, &node.place)?;
            if all.iter().any(|level| level.value == value) {
                let what = format!("`{}` has {} twice", parameter.key(), parameter.text(value));
                return Err(node.error(what, "keep one of them"));
            }
            all.push(Written { value, place: node.place.clone(), bytes: bytes.clone() });
        }
    }
    Ok(all)
}

fn number(parameter: Parameter, text: &str, place: &Span) -> Result<u64, PlanError> {
    if parameter.is_bytes() {
        return bytes(text, place);
    }
    text.parse().map_err(|_| {
        let what = format!("`{}` cannot be {text:?}", parameter.key());
        PlanError::new(place, what, "write whole numbers without a unit, such as 1,4,16 or 1..64")
    })
}

/// One level of each axis, the last axis the fastest.
fn combinations(axes: &[Axis]) -> Vec<Vec<(Parameter, Written)>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        let with = |one: &Vec<(Parameter, Written)>| {
            let more = |level: &Written| [one.clone(), vec![(axis.parameter, level.clone())]];
            axis.levels.iter().map(|level| more(level).concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// The workload of a table at these levels.
fn at_levels(
    table: &Table<'_>,
    reading: Reading<'_>,
    levels: &[(Parameter, Written)],
) -> Result<At<Workload>, PlanError> {
    let number = |(parameter, level): &(Parameter, Written)| {
        let digits = level.value.to_string();
        (parameter.key(), WrittenNumber { digits, bytes: level.bytes.clone() })
    };
    let numbers: Vec<(&str, WrittenNumber)> = levels.iter().map(number).collect();
    let values = table.with_numbers(&numbers);
    let At { value: workload, place } = read(&table.over(&values), reading)?;
    let has = workload.parameters();
    if let Some((parameter, level)) = levels.iter().find(|(one, _)| !has.contains(one)) {
        return Err(has_not(&workload, parameter.key(), &level.place));
    }
    if let Some((parameter, level)) = levels.iter().find(|one| !is_taken(&workload, one)) {
        let what = format!("every phase of {:?} says its own `{}`", workload.name, parameter.key());
        return Err(PlanError::new(&level.place, what, "leave it out of the phases"));
    }
    let level = |(parameter, level): &(Parameter, Written)| ParameterLevel {
        parameter: *parameter,
        value: level.value,
    };
    let levels =
        WorkloadLevels { workload: workload.name, levels: levels.iter().map(level).collect() };
    let all: Vec<String> = levels.levels.iter().map(|level| level.text()).collect();
    let title = match table.has("title") {
        true => format!("{}, {}", workload.title, all.join(", ")),
        false => format!("{} with {}", levels.workload, all.join(", ")),
    };
    let name = levels.name();
    Ok(At::new(Workload { name, title, levels: Some(levels), ..workload }, &place))
}

/// Whether some phase does what a level says. Ops may be less than asked for.
fn is_taken(workload: &Workload, (parameter, level): &(Parameter, Written)) -> bool {
    let takes = |phase: &Phase| {
        let own = parameter.in_phase(phase);
        parameter.is_of_phase(phase) && own.is_none_or(|own| own == level.value)
    };
    *parameter == Parameter::Ops || workload.phases.iter().any(takes)
}

/// The error about a parameter that a workload has not.
fn has_not(workload: &Workload, key: &str, place: &Span) -> PlanError {
    let keys: Vec<&str> = workload.parameters().into_iter().map(Parameter::key).collect();
    let remedy = match (keys.as_slice(), key) {
        ([], _) => "fio or programs do its work: use one of files and calls".to_owned(),
        (keys, "iodepth") => {
            format!("its calls are not by io_uring, which takes one; it has {}", keys.join(", "))
        }
        (keys, _) => format!("it has {}", keys.join(", ")),
    };
    PlanError::new(place, format!("{:?} has no `{key}`", workload.name), remedy)
}

/// The workloads of an element of `--workload` with levels, `random-io:bs=4K,64K:iodepth=1..64`, of
/// a workload of the experiment or of the program.
pub(crate) fn of_option(
    text: &str,
    own: &[&Workload],
    place: &Span,
) -> Result<Vec<Workload>, PlanError> {
    let read = || {
        let toml = option_as_toml(text, own, place)?;
        let hint = |_: &str| Hint::default();
        let source = Source { file: "--workload", text: &toml, hint };
        let document = source.parse()?;
        read_over(&source.root(&document), &Files::none("--workload"), own)
    };
    match read() {
        Ok(all) => Ok(all.into_iter().map(|one| one.value).collect()),
        Err(error) => {
            let what = format!("{text:?}: {}", error.what);
            Err(PlanError { place: place.clone(), what, ..error })
        }
    }
}

/// The workload of this name: of these, or of the program.
pub(crate) fn own_or_builtin(
    own: &[&Workload],
    name: &str,
    place: &Span,
) -> Result<Workload, PlanError> {
    if let Some(own) = own.iter().find(|own| own.name == name) {
        return Ok((*own).clone());
    }
    named(name, place).map_err(|_| {
        let own = own.iter().map(|own| own.name.as_str());
        let mut known: Vec<&str> = own.chain(workload_names()).collect();
        known.sort_unstable();
        known.dedup();
        PlanError::unknown(place, "workload", name, &known)
    })
}

/// The same as the keys of a file.
fn option_as_toml(text: &str, own: &[&Workload], place: &Span) -> Result<String, PlanError> {
    let mut parts = text.split(':').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let base = own_or_builtin(own, name, place)?;
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut out = format!("use = {}\n", quoted(name));
    let mut seen = Vec::new();
    for part in parts {
        let Some((key, values)) = part.split_once('=') else {
            let what = format!("{part:?} is no parameter with its levels");
            return Err(PlanError::new(place, what, EXAMPLE));
        };
        let parameter = Parameter::written(key.trim());
        let Some(parameter) = parameter.filter(|one| base.parameters().contains(one)) else {
            return Err(has_not(&base, key.trim(), place));
        };
        if seen.contains(&parameter) {
            let what = format!("`{}` is there twice", parameter.key());
            return Err(PlanError::new(place, what, "write all its levels in one list"));
        }
        seen.push(parameter);
        let values: Vec<String> = pieces(values, place)?.into_iter().map(quoted).collect();
        out.push_str(&format!("{} = [{}]\n", parameter.key(), values.join(", ")));
    }
    Ok(out)
}

/// The workloads at a scale; those that are levels of one workload at the same, on files of the
/// same size where each has whole calls in them.
pub(crate) fn all_scaled(
    workloads: &[At<Workload>],
    scale: f64,
) -> Result<Vec<Workload>, PlanError> {
    let group = |workload: &Workload| workload.levels.as_ref().map(|own| own.workload.clone());
    let mut groups: BTreeMap<String, CommonScale> = BTreeMap::new();
    for workload in workloads {
        let Some(name) = group(&workload.value) else { continue };
        if groups.contains_key(&name) {
            continue;
        }
        let own: Vec<&Workload> = workloads
            .iter()
            .map(|one| &one.value)
            .filter(|one| group(one).as_ref() == Some(&name))
            .collect();
        groups.insert(name, common_scale(&own, scale));
    }
    let mut all = Vec::new();
    for workload in workloads {
        let common = match group(&workload.value).and_then(|name| groups.get(&name)) {
            Some(common) => *common,
            None => CommonScale { scale: busy_scale(&workload.value, scale), size_bytes: None },
        };
        let changed = scaled(workload, scale, common)?;
        let dirs = workload.value.dataset.dirs;
        if changed.varies(Parameter::Dirs) && changed.dataset.dirs != dirs {
            let files = changed.dataset.files;
            let what = format!("at this scale there are {files} files for dirs={dirs}");
            return Err(PlanError::new(&workload.place, what, "use fewer dirs, or a larger scale"));
        }
        all.push(changed);
    }
    Ok(all)
}

fn common_scale(own: &[&Workload], scale: f64) -> CommonScale {
    let busy = own.iter().map(|one| busy_scale(one, scale));
    let scale = busy.reduce(|all, one| Some(all?.max(one?))).flatten();
    let sizes = own.iter().map(|one| scaled_files(one, scale).dataset.size_bytes);
    let varies = own.iter().any(|one| one.varies(Parameter::Size));
    CommonScale { scale, size_bytes: sizes.min().filter(|_| !varies) }
}
