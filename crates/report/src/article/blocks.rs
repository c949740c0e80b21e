//! Values of ours in the shape of the article of 2007: sizes of blocks in rows, the work of a
//! cycle, load and rate in columns; and what they suggest for the question that it left open.

use super::model::{OwnRun, ThenAndNow};
use crate::format::{bare_seconds, digits};
use crate::table::{Cell, Column, Table};
use crate::text::{capital, clean};
use fsarena_model::record::Effective;
use fsarena_model::units::{Bytes, three_digits};
use fsarena_reference::BlockRow;
use fsarena_study::{AccountMeans, AccountPart, AccountRow, CycleFigures, CyclesRow};

/// From so many times the rounding as written on rounding as allocated is told apart in words.
const ALLOCATED_MORE: f64 = 3.0;

pub(super) const INFERENCE: &str =
    "What this suggests for the article's question about UFS (inference, not measurement)";

pub(super) const LEGEND: &str = "Ours: medians over trials, each by the mean of its cycles; work time by `returned`, as in the \
     article; load and rate over the whole period. MB are 10^6 bytes.";

/// A figure of a cycle.
struct Figure {
    head: &'static str,
    unit: &'static str,
    /// Value of the article, where it has one.
    then: Option<fn(&BlockRow) -> f64>,
    now: fn(&CycleFigures) -> Option<f64>,
    text: fn(f64) -> String,
}

const FIGURES: [Figure; 4] = [
    Figure {
        head: "work time",
        unit: "s",
        then: Some(|row| row.work_time_s),
        now: |found| Some(found.work?.median_ns as f64 / 1e9),
        text: |work_s| bare_seconds((work_s * 1e9).round() as u64),
    },
    Figure {
        head: "disk busy",
        unit: "%",
        then: Some(|row| row.busy_percent),
        now: |found| Some(found.busy_share?.median * 100.0),
        text: |percent| format!("{percent:.1}"),
    },
    Figure {
        head: "written",
        unit: "MB/s",
        then: Some(|row| row.write_mb_per_s),
        now: |found| Some(found.written_bytes_per_s?.median / 1e6),
        text: three_digits,
    },
    Figure {
        head: "a cycle",
        unit: "MB",
        then: None,
        now: |found| Some(found.written_bytes?.median / 1e6),
        text: three_digits,
    },
];

fn rows<'a>(run: &OwnRun<'a>) -> impl Iterator<Item = &'a CyclesRow> + use<'a> {
    run.study.cycles.iter().flat_map(|view| &view.rows)
}

/// The table of one machine: a row a contender, and one for its disturbed cycles.
pub(super) fn table(run: &OwnRun<'_>) -> Option<Table> {
    let mut columns = vec![Column::text("")];
    columns.extend(["block", "fragment or cluster"].map(|head| Column::figure(head).narrow()));
    columns.extend(FIGURES.iter().map(|own| Column::figure(own.head).unit(own.unit).narrow()));
    let mut table = Table::new(columns).titled(title(run)).in_groups(1);
    for row in rows(run) {
        for (figures, disturbed) in [(&row.plain, ""), (&row.disturbed, ", disturbed")] {
            let Some(found) = figures else { continue };
            let (block, cluster) = sizes(run, row.contender);
            let label = Cell::contender(row.contender, format!("{}{disturbed}", row.label));
            let size = |size: Option<String>| size.map_or_else(Cell::none, Cell::text);
            let figure = |own: &Figure| {
                Cell::maybe((own.now)(found).map(|value| ((own.text)(value), value)))
            };
            let sizes = [label, size(block), size(cluster)];
            table.row(sizes.into_iter().chain(FIGURES.iter().map(figure)));
        }
    }
    (!table.is_empty()).then_some(table)
}

fn title(run: &OwnRun<'_>) -> String {
    let scale = match run.study.scale {
        scale if (scale - 1.0).abs() < 1e-12 => String::new(),
        scale => format!(", scaled by {scale}"),
    };
    let period = run.study.cycles.first().map_or_else(String::new, |view| {
        format!(", a cycle of {} s", digits(view.cycle.period_ns as f64 / 1e9))
    });
    format!("This machine: {}{period}{scale}", clean(&run.study.machine))
}

/// Work time, load and rate, then and now, of undisturbed cycles.
pub(super) fn then_and_now(published: &[BlockRow], run: &OwnRun<'_>) -> Vec<ThenAndNow> {
    let test = |own: &Figure| {
        let then = own.then?;
        let printed = published.iter().filter(|row| !row.disturbed);
        let ours = rows(run).filter_map(|row| {
            Some((row.contender, row.label.clone(), (own.now)(row.plain.as_ref()?)?))
        });
        Some(ThenAndNow {
            title: capital(own.head),
            unit: own.unit.to_owned(),
            phase: None,
            more_is_better: false,
            then: printed.map(|row| (format!("UFS {}", row.head()), then(row))).collect(),
            now: ours.collect(),
            left_out: Vec::new(),
        })
    };
    FIGURES.iter().filter_map(test).collect()
}

/// Sizes of block and cluster of a contender: as read back from the file system, else as asked for.
/// What has no clusters fills them with its blocks.
fn sizes(run: &OwnRun<'_>, contender: usize) -> (Option<String>, Option<String>) {
    let Some(planned) = run.header.plan.contenders.get(contender) else { return (None, None) };
    let id = planned.id();
    let record = run.records.iter().find(|record| record.key.contender == id);
    let mkfs = &planned.levels.fs.mkfs;
    let read = |names: &[&str]| {
        let features = record.map(|record: &_| &record.filesystem);
        let found = |name: &&str| features.and_then(|f: &Effective| f.features.get(*name)).cloned();
        names.iter().find_map(found)
    };
    let block = mkfs
        .get("block_size")
        .cloned()
        .or_else(|| read(&["block_size", "data.bsize", "sectorsize", "sector_size"]));
    let cluster = mkfs.get("cluster_size").cloned().or_else(|| read(&["cluster_size"]));
    let plain = |text: String| match text.parse::<Bytes>() {
        Ok(Bytes(size_bytes)) => size_bytes.to_string(),
        Err(_) => text,
    };
    (block.clone().map(plain), cluster.or(block).map(plain))
}

/// What the article's own numbers and the accounts of ours suggest for its question, a line each;
/// inference.
pub(super) fn suggestions(published: &[String], runs: &[OwnRun<'_>]) -> Vec<String> {
    let mut said = published.to_vec();
    let before = said.len();
    for run in runs {
        let rows = run.study.accounts.iter().flat_map(|view| &view.rows);
        said.extend(rows.filter_map(|row| from_account(&row.label, row.means.as_ref()?)));
    }
    let all = runs.iter().flat_map(|run| &run.study.accounts).flat_map(|view| &view.rows);
    said.extend(from_allocation(all));
    if said.len() > before {
        said.push(
            "So far as UFS is like these, extra bytes of its rows are to be looked for in the parts \
             that are largest here at the same sizes; soft updates, fragments that move and \
             writeback of 2007 have no counterpart in them."
                .to_owned(),
        );
    }
    said
}

/// What the bytes beyond the data were in an account of ours.
fn from_account(label: &str, means: &AccountMeans) -> Option<String> {
    let beyond = means.check.counter_bytes - means.bytes(AccountPart::Data);
    if beyond <= 0.0 {
        return None;
    }
    let named: [(&str, &[AccountPart]); 5] = [
        ("rounding as written", &[AccountPart::Rounding]),
        ("journal and other metadata", &[AccountPart::Journal, AccountPart::Metadata]),
        ("sectors written again", &[AccountPart::Again]),
        ("files that were replaced or deleted afterwards", &[AccountPart::Gone]),
        ("unattributed", &[AccountPart::Unattributed]),
    ];
    let share = |(name, parts): &(&str, &[AccountPart])| {
        let bytes: f64 = parts.iter().map(|part| means.bytes(*part)).sum();
        let percent = bytes / beyond * 100.0;
        (percent >= 0.5).then(|| format!("{percent:.0} % {name}"))
    };
    let shares: Vec<String> = named.iter().filter_map(share).collect();
    Some(format!(
        "{label} here: of the {} MB a cycle that are not the data, {}.",
        three_digits(beyond / 1e6),
        shares.join(", ")
    ))
}

/// That room which is allocated is not written for that alone: of the row that shows it best.
fn from_allocation<'a>(rows: impl Iterator<Item = &'a AccountRow>) -> Option<String> {
    let times = |means: &AccountMeans| {
        means.allocated.rounding_bytes / means.bytes(AccountPart::Rounding).max(1.0)
    };
    let found = rows.filter_map(|row| Some((&row.label, row.means.as_ref()?)));
    let (label, means) = found.max_by(|a, b| times(a.1).total_cmp(&times(b.1)))?;
    (times(means) >= ALLOCATED_MORE).then(|| {
        format!(
            "What is allocated need not be written: the files of {label} take {} MB more than they \
             hold, and {} MB of rounding are written in a cycle.",
            three_digits(means.allocated.rounding_bytes / 1e6),
            three_digits(means.bytes(AccountPart::Rounding) / 1e6)
        )
    })
}
