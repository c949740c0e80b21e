//! What speed costs: load of the processors and bytes written to the device, a group a phase.

use super::{Unit, ends, row_key, workload_id};
use crate::context::SectionContext;
use crate::format::three;
use fsarena_chart::{Axis, Group, Groups, HUES, Head, Part, Spot};
use fsarena_model::record::Window;
use fsarena_study::{CpuLoad, PhaseRow, PhaseTable};

/// CPU load of a workload's phases; none where no phase was long enough, or where there are more
/// contenders than colours (the tables have them).
pub(crate) fn cpu(context: &SectionContext<'_>, tables: &[&PhaseTable]) -> Option<Groups> {
    let value = |row: &PhaseRow| match row.cpu {
        CpuLoad::Percent { percent } => Some(percent.median),
        CpuLoad::TooShort | CpuLoad::Unknown => None,
    };
    let groups = groups(tables, value, &|percent| format!("{} %", three(percent)))?;
    let workload = &tables.first()?.workload;
    let description = format!(
        "CPU load of the machine in the phases of {workload}; {}.",
        describe_ends(&groups, " %")
    );
    Some(Groups {
        head: Head {
            id: format!("{}-cpu", workload_id(context, workload)),
            title: format!("{workload}: CPU load"),
            description,
        },
        axis: Axis {
            title: "CPU load up to durable, % of all CPUs".to_owned(),
            log: false,
            unit: " %".to_owned(),
        },
        groups,
    })
}

/// Bytes written to the device by a workload's phases, up to the unmount; none as for [`cpu`].
pub(crate) fn written(context: &SectionContext<'_>, tables: &[&PhaseTable]) -> Option<Groups> {
    let rows = tables.iter().flat_map(|table| &table.rows);
    let unit = Unit::of_bytes(rows.filter_map(written_bytes).max().filter(|&most| most > 0)?);
    let value = |row: &PhaseRow| written_bytes(row).map(|own| unit.convert(own as f64));
    let groups = groups(tables, value, &|value| format!("{} {}", three(value), unit.name))?;
    let workload = &tables.first()?.workload;
    let suffix = format!(" {}", unit.name);
    let description = format!(
        "Bytes written to the device by the phases of {workload} up to the unmount; {}.",
        describe_ends(&groups, &suffix)
    );
    Some(Groups {
        head: Head {
            id: format!("{}-written", workload_id(context, workload)),
            title: format!("{workload}: written to the device"),
            description,
        },
        axis: Axis {
            title: format!("written to the device up to the unmount, {}", unit.name),
            log: false,
            unit: suffix,
        },
        groups,
    })
}

/// Bytes that the device was given, up to the last window that was watched.
pub(crate) fn written_bytes(row: &PhaseRow) -> Option<u64> {
    let of = |window| row.device.iter().find(|seen| seen.window == window)?.written_bytes;
    of(Window::Unmounted).or_else(|| of(Window::Drained)).or_else(|| of(Window::Durable))
}

fn groups(
    tables: &[&PhaseTable],
    value: impl Fn(&PhaseRow) -> Option<f64>,
    text: &dyn Fn(f64) -> String,
) -> Option<Vec<Group>> {
    let contenders = tables.iter().flat_map(|table| &table.rows).map(|row| row.contender);
    if contenders.max()? >= HUES {
        return None;
    }
    let part = |table: &PhaseTable, row: &PhaseRow| {
        let value = value(row).map(|value| Spot { value, tip: text(value) });
        Part { key: row_key(table, row), hatched: false, value }
    };
    let group = |table: &&PhaseTable| Group {
        label: table.phase.clone(),
        parts: table.rows.iter().filter(|row| row.n > 0).map(|row| part(table, row)).collect(),
    };
    let groups: Vec<Group> =
        tables.iter().map(group).filter(|g| g.parts.iter().any(|p| p.value.is_some())).collect();
    (!groups.is_empty()).then_some(groups)
}

fn describe_ends(groups: &[Group], unit: &str) -> String {
    let parts = groups.iter().flat_map(|group| group.parts.iter().map(move |part| (group, part)));
    ends(parts.filter_map(|(group, part)| {
        let value = part.value.as_ref()?.value;
        Some((part.key.label.as_str(), value, format!("{}{unit} in {}", three(value), group.label)))
    }))
}
