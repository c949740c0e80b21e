//! The charts of phases from their views: times, the three clocks, latencies, CPU and device, the
//! heat map; and what all charts share: their ids, keys, units and words of their descriptions.
//! Values come from `fsarena-study`; here they are only put in units and words. Charts of one
//! section alone are in its file.

use crate::context::SectionContext;
use crate::format::{count, grouped, ns, three};
use crate::labels::{absence, row_label};
use crate::verdict::text::ratio_text;
use fsarena_chart::{
    Axis, Bar, Bars, Cell, Curve, Curves, Group, Groups, HUES, Head, Heat, Key, Part, Proof,
    Segment, Spot, Stack, Stacks,
};
use fsarena_model::record::{CacheState, Window};
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_study::{
    AbsentRow, CpuLoad, DrainedView, HeatCell, HeatView, LatencyCurve, MemoryView, PhaseCurves,
    PhasePoints, PhaseRow, PhaseTable, Study, TrialPoint,
};
use fsarena_verdict::{QuestionView, RankRow};

/// Id of a chart of a phase: by the numbers of its workload and, within that, of the phase.
pub(crate) fn phase_id(context: &SectionContext<'_>, table: &PhaseTable, kind: &str) -> String {
    phase_id_of(context, (&table.workload, &table.phase), kind)
}

/// The same by the names of workload and phase.
pub(crate) fn phase_id_of(
    context: &SectionContext<'_>,
    (workload, phase): (&str, &str),
    kind: &str,
) -> String {
    let tables = &context.run.study.tables;
    let mut of_workload = tables.iter().filter(|other| other.workload == workload);
    let phase = of_workload.position(|other| other.phase == phase).map_or(0, |at| at + 1);
    format!("{}-p{phase}-{kind}", workload_id(context, workload))
}

/// What ids of charts of a workload begin with.
pub(crate) fn workload_id(context: &SectionContext<'_>, name: &str) -> String {
    let mut known = context.run.header.plan.workloads.iter();
    let workload = known.position(|workload| workload.name == name).map_or(0, |at| at + 1);
    format!("{}-w{workload}", context.prefix)
}

/// What the file of a chart is named by.
pub(crate) fn file_name(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// A contender in its colour.
pub(crate) fn key(contender: usize, label: impl Into<String>) -> Key {
    Key { label: label.into(), hue: contender }
}

/// A row of a table in its colour, with what it is that its figures do not show.
pub(crate) fn row_key(table: &PhaseTable, row: &PhaseRow) -> Key {
    key(row.contender, row_label(table, row))
}

/// A unit that values of one chart or column share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    /// Of how many base units it is.
    pub(super) size: f64,
}

impl Unit {
    /// For lengths, by the longest of them: ns, µs, ms or s.
    pub(crate) fn of_ns(longest_ns: u64) -> Self {
        let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
        Self::largest(&units, longest_ns).unwrap_or(Self { name: "ns", size: 1.0 })
    }

    /// For sizes, by the largest of them: B to GiB.
    pub(crate) fn of_bytes(most_bytes: u64) -> Self {
        let units = [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0)];
        Self::largest(&units, most_bytes).unwrap_or(Self { name: "B", size: 1.0 })
    }

    fn largest(units: &[(&'static str, f64)], most: u64) -> Option<Self> {
        let mut units = units.iter().map(|&(name, size)| Self { name, size });
        units.find(|unit| most as f64 >= unit.size)
    }

    /// An axis from zero, of which less is better.
    pub(crate) fn axis(self, what: &str) -> Axis {
        match self.name {
            "" => Axis::linear(format!("{what} (less is better)"), ""),
            name => Axis::linear(format!("{what}, {name} (less is better)"), format!(" {name}")),
        }
    }

    /// A value in this unit.
    pub(crate) fn convert(self, base: f64) -> f64 {
        base / self.size
    }
}

/// The least and the largest of these, in words: `least xfs 1.20 s, most ext4 1.31 s`.
pub(crate) fn ends<'a>(values: impl Iterator<Item = (&'a str, f64, String)>) -> String {
    let mut values: Vec<(&str, f64, String)> =
        values.filter(|(_, value, _)| value.is_finite()).collect();
    values.sort_by(|a, b| a.1.total_cmp(&b.1));
    match values.as_slice() {
        [] => "no value".to_owned(),
        [(label, _, text)] => format!("{label} {text}"),
        [first, .., last] => format!("least {} {}, most {} {}", first.0, first.2, last.0, last.2),
    }
}

/// At most so many characters of a text, with an ellipsis where some are left out.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Characters of a note next to a bar; the whole of it stands in the table.
const NOTE_CHARS: usize = 44;

/// Bars of a phase. `points` are its raw values.
pub(crate) fn times(
    context: &SectionContext<'_>,
    table: &PhaseTable,
    points: &[PhasePoints],
) -> Bars {
    let raw = points.iter().find(|own| own.workload == table.workload && own.phase == table.phase);
    let raw = raw.map_or(&[][..], |own| own.points.as_slice());
    let question = question(context, table);
    let unit = times_unit(table);
    let mut bars: Vec<Bar> =
        table.rows.iter().map(|row| bar(table, row, question, raw, unit)).collect();
    bars.extend(table.absent.iter().map(|absent| Bar {
        key: key(absent.contender, absent.label.as_str()),
        note: shortened(&why_absent(context.run.study, table, absent), NOTE_CHARS),
        ..Bar::default()
    }));
    let clock = context.run.study.compared_clock.name();
    let values = bars.iter().filter_map(|bar| {
        let value = bar.value.as_ref()?.value;
        Some((bar.key.label.as_str(), value, format!("{} {}", three(value), unit.name)))
    });
    let description = format!(
        "Median time to {clock} of {} in {} / {}; {}.",
        count(table.rows.len(), "contender"),
        table.workload,
        table.phase,
        ends(values)
    );
    Bars {
        head: Head {
            id: phase_id(context, table, "time"),
            name: file_name(&[&table.workload, &table.phase, "time"]),
            title: format!("{} / {}: time to {clock}", table.workload, table.phase),
            description,
        },
        axis: unit.axis(&format!("time to {clock}")),
        bars,
    }
}

/// The unit of the times of a phase: by the longest of its medians.
fn times_unit(table: &PhaseTable) -> Unit {
    let medians = table.rows.iter().filter_map(|row| row.compared.map(|spread| spread.median_ns));
    Unit::of_ns(medians.max().unwrap_or(0))
}

/// The question that asks what the chart shows.
pub(crate) fn question<'a>(
    context: &SectionContext<'a>,
    table: &PhaseTable,
) -> Option<&'a QuestionView> {
    let clock = context.run.study.compared_clock;
    context.run.verdicts?.questions.iter().find(|asked| {
        (asked.metric, asked.clock) == (Metric::Time, clock)
            && asked.workload == table.workload
            && asked.phase == table.phase
    })
}

/// The row of a ranking that is of exactly the values of a row of the table: a ranking has one row
/// a contender, a table one for each state of cache and memory, so that of several rows of a kind
/// none is meant.
fn ranked<'a>(
    question: Option<&'a QuestionView>,
    table: &PhaseTable,
    row: &PhaseRow,
) -> Option<&'a RankRow> {
    let is_cold = |row: &PhaseRow| row.cache.is_cold();
    let own = table.rows.iter().filter(|other| other.contender == row.contender && other.n > 0);
    let rows: Vec<&PhaseRow> = own.collect();
    let alike = rows.iter().filter(|other| is_cold(other) == is_cold(row)).count();
    let rank = question?.rows.iter().find(|rank| rank.contender == row.contender)?;
    let is_whole = rows.len() == 1 || rank.n <= row.n;
    (rank.cold == is_cold(row) && alike <= 1 && is_whole).then_some(rank)
}

fn bar(
    table: &PhaseTable,
    row: &PhaseRow,
    question: Option<&QuestionView>,
    raw: &[TrialPoint],
    unit: Unit,
) -> Bar {
    let key = row_key(table, row);
    let ranked = ranked(question, table, row);
    let own = raw.iter().filter(|point| is_of(point, row) && point.spoiled.is_none());
    let points = own.filter_map(|point| {
        let compared_ns = point.compared_ns?;
        let tip = format!("{}, block {}: {}", key.label, point.block, ns(Some(compared_ns)));
        Some(Spot { value: unit.convert(compared_ns as f64), tip })
    });
    let points = points.collect();
    let median_ns = ranked
        .map(|rank| rank.median)
        .or_else(|| row.compared.map(|spread| spread.median_ns as f64));
    let interval_ns = ranked.and_then(|rank| Some((rank.median_low?, rank.median_high?)));
    let trials = count(ranked.map_or(row.n, |rank| rank.n), "trial");
    let value = median_ns.map(|median_ns| Spot {
        value: unit.convert(median_ns),
        tip: format!("{}: {}, median of {trials}", key.label, ns(Some(median_ns.round() as u64))),
    });
    let interval = interval_ns.map(|(low, high)| (unit.convert(low), unit.convert(high)));
    Bar { value, interval, points, note: bar_note(row, ranked), key }
}

/// Whether a row of a ranking is what the others are compared with.
pub(crate) fn is_reference(rank: &RankRow) -> bool {
    rank.ratio.is_some() && rank.ratio_n.is_none() && rank.against_reference.is_none()
}

/// Whether a raw value is behind a row.
fn is_of(point: &TrialPoint, row: &PhaseRow) -> bool {
    (point.contender, point.cache) == (row.contender, row.cache) && point.memory == row.memory
}

/// What is written next to a bar: first what must not be overlooked, then what is said of it
/// against the reference, then how many trials it lacks.
fn bar_note(row: &PhaseRow, ranked: Option<&RankRow>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if row.n == 0 {
        parts.push("failed".to_owned());
    }
    if row.trials_with_bad_contents > 0 {
        parts.push("WRONG CONTENTS".to_owned());
    }
    match (row.cache, &row.not_cold_because) {
        (CacheState::WarmByNature, _) => parts.push("warm by nature".to_owned()),
        (CacheState::NotWarm, _) => parts.push("NOT WARM".to_owned()),
        (CacheState::Warm, Some(_)) => parts.push("WARM, cold was asked for".to_owned()),
        _ => {}
    }
    if matches!(row.memory, MemoryView::NotLimited { .. }) {
        parts.push("memory not limited".to_owned());
    }
    if let Some(verdict) = ranked.and_then(|rank| rank.against_reference) {
        parts.push(verdict.word().to_owned());
    } else if ranked.is_some_and(is_reference) {
        parts.push("reference".to_owned());
    }
    if row.trials_partial > 0 {
        parts.push(format!("{} partial", row.trials_partial));
    }
    if row.n > 0 && row.n < row.n_planned {
        parts.push(format!("{} of {} trials", row.n, row.n_planned));
    }
    parts.join(", ")
}

/// Why a contender has no figure, with the reason: `not run: mkfs.xfs is missing`.
pub(crate) fn why_absent(study: &Study, table: &PhaseTable, absent: &AbsentRow) -> String {
    let word = absence(absent.why);
    let not_run = study.not_run.iter().find(|row| {
        row.label == absent.label
            && row.workload.as_ref().is_none_or(|name| *name == table.workload)
    });
    let failed = || {
        let own = |row: &&fsarena_study::FailureRow| {
            row.label == absent.label && row.workload == table.workload
        };
        study.failures.iter().find(own).map(|row| &row.error)
    };
    match not_run.map(|row| &row.reason).or_else(failed) {
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    }
}

/// The segments: up to which clock each goes.
const CLOCK_NAMES: [&str; 3] = ["returned", "until durable", "until drained"];

/// The three clocks of a phase.
pub(crate) fn clocks(context: &SectionContext<'_>, table: &PhaseTable) -> Stacks {
    let rows: Vec<&PhaseRow> = table.rows.iter().filter(|row| row.n > 0).collect();
    let longest = rows.iter().filter_map(|row| ends_ns(row).last().copied()).max();
    let unit = Unit::of_ns(longest.unwrap_or(0));
    let stacks: Vec<Stack> = rows.iter().map(|row| clock_stack(table, row, unit)).collect();
    let whole = stacks.iter().filter_map(|stack| {
        let end = stack.segments.last()?.to;
        Some((stack.key.label.as_str(), end, format!("{} {}", three(end), unit.name)))
    });
    let description = format!(
        "Medians of the three clocks of {} in {} / {}, up to the last of them: {}.",
        count(rows.len(), "contender"),
        table.workload,
        table.phase,
        ends(whole)
    );
    Stacks {
        head: Head {
            id: phase_id(context, table, "clocks"),
            name: file_name(&[&table.workload, &table.phase, "clocks"]),
            title: format!("{} / {}: the three clocks", table.workload, table.phase),
            description,
        },
        axis: unit.axis("time since the start"),
        names: CLOCK_NAMES.map(str::to_owned).to_vec(),
        stacks,
        ..Stacks::default()
    }
}

/// Medians of the clocks that there are, never one before the one before it: each is a median of
/// its own.
fn ends_ns(row: &PhaseRow) -> Vec<u64> {
    let clocks = [row.returned, row.durable, row.drained.spread];
    let medians = clocks.iter().map_while(|spread| spread.map(|spread| spread.median_ns));
    let later = |last: &mut u64, median_ns: u64| {
        *last = (*last).max(median_ns);
        Some(*last)
    };
    medians.scan(0, later).collect()
}

fn clock_stack(table: &PhaseTable, row: &PhaseRow, unit: Unit) -> Stack {
    let key = row_key(table, row);
    let mut from_ns = 0;
    let mut segments = Vec::new();
    for (name, to_ns) in ends_ns(row).into_iter().enumerate() {
        let clock = CLOCK_NAMES[name].trim_start_matches("until ");
        let more = ns(Some(to_ns - from_ns));
        let tip = match name {
            0 => format!("{}: returned after {}", key.label, ns(Some(to_ns))),
            _ => format!("{}: {clock} after {}, {more} later", key.label, ns(Some(to_ns))),
        };
        let (from, to) = (unit.convert(from_ns as f64), unit.convert(to_ns as f64));
        segments.push(Segment { name, from, to, tip });
        from_ns = to_ns;
    }
    Stack { key, segments, note: not_drained(&row.drained), ..Stack::default() }
}

/// Why there is no third clock, or not of all trials.
fn not_drained(drained: &DrainedView) -> String {
    let reasons = drained.reasons.join("; ");
    match (drained.spread, drained.not_drained, drained.no_device) {
        (None, 0, 0) | (Some(_), 0, _) => String::new(),
        (None, 0, _) => "no device".to_owned(),
        (None, ..) => format!("not drained: {reasons}"),
        (Some(_), n, _) => format!("not drained in {}: {reasons}", count(n, "trial")),
    }
}

/// The curves of a phase; `views` are those of all phases. Reads and writes that are mixed have
/// two.
pub(crate) fn latency(
    context: &SectionContext<'_>,
    table: &PhaseTable,
    views: &[PhaseCurves],
) -> Vec<Curves> {
    let own = views.iter().filter(|v| v.workload == table.workload && v.phase == table.phase);
    own.filter(|view| !view.curves.is_empty())
        .map(|view| latency_chart(context, table, view))
        .collect()
}

fn latency_chart(context: &SectionContext<'_>, table: &PhaseTable, view: &PhaseCurves) -> Curves {
    let cold = view.curves.iter().filter(|curve| curve.cache.is_cold()).count();
    let mixed = cold > 0 && cold < view.curves.len();
    let curves: Vec<Curve> = view.curves.iter().map(|own| latency_curve(own, mixed)).collect();
    let (kind, what) = match view.writes_alone {
        true => ("write-latency", "latency of the writes"),
        false => ("latency", "latency of single ops"),
    };
    let longest = view.curves.iter().map(|own| {
        (own.label.as_str(), own.max_ns as f64, format!("{} at the longest", ns(Some(own.max_ns))))
    });
    let description = format!(
        "Latency that a share of the ops did not exceed, {} / {}; {}.",
        view.workload,
        view.phase,
        ends(longest)
    );
    Curves {
        head: Head {
            id: phase_id(context, table, kind),
            name: file_name(&[&table.workload, &table.phase, kind]),
            title: format!("{} / {}: {what}", view.workload, view.phase),
            description,
        },
        title: what.to_owned(),
        curves,
    }
}

fn latency_curve(own: &LatencyCurve, mixed: bool) -> Curve {
    let warm = if mixed && !own.cache.is_cold() { " (warm)" } else { "" };
    let label = format!("{}{warm}", own.label);
    let share = |share: f64, name: &str| {
        let (_, latency_ns) = own.points.iter().find(|(upto, _)| *upto >= share)?;
        Some(format!("{name} {}, ", ns(Some(*latency_ns))))
    };
    let shares = [share(0.5, "half"), share(0.99, "99 %")];
    let tip = format!(
        "{label}: {}longest {}, {} ops",
        shares.into_iter().flatten().collect::<String>(),
        ns(Some(own.max_ns)),
        grouped(own.ops)
    );
    let points = own.points.iter().map(|&(share, latency_ns)| (share, latency_ns as f64)).collect();
    Curve { key: key(own.contender, label), points, tip }
}

/// CPU load of a workload's phases; none where no phase was long enough, or where there are more
/// contenders than colours (the tables have them).
pub(crate) fn cpu(context: &SectionContext<'_>, tables: &[PhaseTable]) -> Option<Groups> {
    let value = |row: &PhaseRow| match row.cpu {
        CpuLoad::Percent { percent } => Some(percent.median),
        CpuLoad::TooShort | CpuLoad::Unknown => None,
    };
    let groups = price_groups(tables, value, &|percent| format!("{} %", three(percent)))?;
    let workload = &tables.first()?.workload;
    let description = format!(
        "CPU load of the machine in the phases of {workload}; {}.",
        describe_ends(&groups, " %")
    );
    Some(Groups {
        head: Head {
            id: format!("{}-cpu", workload_id(context, workload)),
            name: file_name(&[workload, "cpu"]),
            title: format!("{workload}: CPU load"),
            description,
        },
        axis: Axis::linear("CPU load up to durable, % of all CPUs", " %"),
        groups,
    })
}

/// Bytes written to the device by a workload's phases, up to the unmount; none as for [`cpu`].
pub(crate) fn written(context: &SectionContext<'_>, tables: &[PhaseTable]) -> Option<Groups> {
    let rows = tables.iter().flat_map(|table| &table.rows);
    let unit = Unit::of_bytes(rows.filter_map(written_bytes).max().filter(|&most| most > 0)?);
    let value = |row: &PhaseRow| written_bytes(row).map(|own| unit.convert(own as f64));
    let groups = price_groups(tables, value, &|value| format!("{} {}", three(value), unit.name))?;
    let workload = &tables.first()?.workload;
    let suffix = format!(" {}", unit.name);
    let description = format!(
        "Bytes written to the device by the phases of {workload} up to the unmount; {}.",
        describe_ends(&groups, &suffix)
    );
    Some(Groups {
        head: Head {
            id: format!("{}-written", workload_id(context, workload)),
            name: file_name(&[workload, "written"]),
            title: format!("{workload}: written to the device"),
            description,
        },
        axis: Axis::linear(
            format!("written to the device up to the unmount, {}", unit.name),
            suffix,
        ),
        groups,
    })
}

/// Bytes that the device was given, up to the last window that was watched.
pub(crate) fn written_bytes(row: &PhaseRow) -> Option<u64> {
    let of = |window| row.device.iter().find(|seen| seen.window == window)?.written_bytes;
    of(Window::Unmounted).or_else(|| of(Window::Drained)).or_else(|| of(Window::Durable))
}

fn price_groups(
    tables: &[PhaseTable],
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
    let group = |table: &PhaseTable| Group {
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

/// The heat map of a RUN.
pub(crate) fn heat(context: &SectionContext<'_>, view: &HeatView) -> Heat {
    let one_workload = view.columns.windows(2).all(|pair| pair[0].0 == pair[1].0);
    let name = |(workload, phase): &(String, String)| {
        if one_workload { phase.clone() } else { format!("{workload} / {phase}") }
    };
    let columns: Vec<String> = view.columns.iter().map(name).collect();
    let cells: Vec<Vec<Cell>> = view
        .rows
        .iter()
        .map(|row| {
            let each = row.cells.iter().zip(&columns);
            each.map(|(own, column)| heat_cell(view, &row.label, column, *own)).collect()
        })
        .collect();
    let others = view.rows.iter().zip(&cells).filter(|(row, _)| row.label != view.reference);
    let named = others.flat_map(|(row, cells)| {
        let each = cells.iter().zip(&columns);
        each.filter_map(|(cell, column)| {
            let value = cell.ratio.as_ref()?.value;
            Some((row.label.as_str(), value, format!("{value:.2} in {column}")))
        })
    });
    let description = format!(
        "Time of {} contenders over {} phases as a ratio to {}, which is 1.00; {}.",
        view.rows.len(),
        columns.len(),
        view.reference,
        ends(named)
    );
    Heat {
        head: Head {
            id: format!("{}-heat", context.prefix),
            name: file_name(&["all-ratios"]),
            title: format!("Times as ratios to {}", view.reference),
            description,
        },
        rows: view.rows.iter().map(|row| key(row.contender, row.label.as_str())).collect(),
        legend: format!("time ÷ time of {}: above 1 is slower", view.reference),
        columns,
        cells,
    }
}

fn heat_cell(view: &HeatView, label: &str, column: &str, cell: HeatCell) -> Cell {
    let reference = label == view.reference;
    let spot = |ratio: f64| {
        let (low, high) = cell.interval.unzip();
        let text = ratio_text(ratio, low, high);
        let said = match cell.verdict {
            _ if reference => "",
            Some(Verdict::Undecided) => ", UNDECIDED: no difference shown",
            Some(verdict) => &format!(", {}", verdict.word()),
            None => ", of medians; not asked whether it is real",
        };
        let against = &view.reference;
        let tip = format!("{label}, {column}: {text} × the time of {against}{said}");
        Spot { value: ratio, tip }
    };
    let proof = match cell.verdict {
        Some(Verdict::Faster | Verdict::Slower) => Proof::Differs,
        Some(Verdict::Same) => Proof::Same,
        Some(Verdict::Undecided) | None => Proof::None,
    };
    Cell { ratio: cell.ratio.map(spot), proof, reference }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::three;

    #[test]
    fn units_fit_the_largest_value() {
        assert_eq!(three(Unit::of_ns(1_240_000_000).convert(1.24e9)), "1.24");
        assert_eq!(Unit::of_ns(1_240_000_000).name, "s");
        assert_eq!((Unit::of_ns(999_000_000).name, Unit::of_ns(12_000).name), ("ms", "µs"));
        let seconds = Unit::of_ns(1_240_000_000);
        let text = |value| three(seconds.convert(value));
        assert_eq!([text(2.7e7), text(5.0e8)], ["0.0270", "0.500"]);
        assert_eq!((Unit::of_ns(3).name, Unit::of_bytes(3).name), ("ns", "B"));
        assert_eq!(three(Unit::of_bytes(5 << 20).convert(f64::from(5 << 20))), "5.00");
    }

    #[test]
    fn ends_are_named() {
        let of = |values: &[(&'static str, f64)]| {
            ends(values.iter().map(|&(label, value)| (label, value, format!("{value} s"))))
        };
        assert_eq!(of(&[("a", 2.0), ("b", 1.0), ("c", 3.0)]), "least b 1 s, most c 3 s");
        assert_eq!((of(&[("a", 2.0)]), of(&[])), ("a 2 s".into(), "no value".into()));
    }

    #[test]
    fn long_texts_are_cut_at_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äö…");
    }
}

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod specs;
