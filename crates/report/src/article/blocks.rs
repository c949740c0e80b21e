//! Values of ours in the shape of the article of 2007: sizes of blocks in rows, the work of a
//! cycle, load and rate in columns; and what they suggest for the question that it left open.

use super::layout::{Values, tables};
use crate::article::model::OwnRun;
use crate::article::model::{PlainTable, ThenAndNow};
use crate::format::{bare_seconds, digits};
use crate::style::Style;
use crate::text::heading;
use crate::text::{clean, wrap};
use fsarena_model::record::Effective;
use fsarena_model::units::{Bytes, three_digits};
use fsarena_reference::BlockRow;
use fsarena_study::{AccountMeans, AccountPart, AccountRow, CycleFigures};

const COLUMNS: [&str; 6] =
    ["block", "fragment or cluster", "work time, s", "disk busy, %", "written, MB/s", "MB a cycle"];

/// From so many times the rounding as written on rounding as allocated is told apart in words.
const ALLOCATED_MORE: f64 = 3.0;

/// Our RUNs, one a machine, in one table.
pub(super) fn ours(runs: &[OwnRun<'_>], width: usize, style: Style) -> String {
    let mut out = String::new();
    for run in runs {
        let rows = rows(run);
        if rows.is_empty() {
            continue;
        }
        out.push_str(&heading(&title(run), width, style));
        let titles: Vec<String> = rows.iter().map(|row| row.head.clone()).collect();
        let column = |(at, head): (usize, &&str)| Values {
            head: (*head).to_owned(),
            cells: rows.iter().map(|row| row.cells()[at].clone()).collect(),
        };
        let columns: Vec<Values> = COLUMNS.iter().enumerate().map(column).collect();
        out.push_str(&tables(&titles, &columns, width));
    }
    if !out.is_empty() {
        out.push_str(&wrap("", LEGEND, width));
    }
    out
}

pub(super) const LEGEND: &str = "Ours: medians over trials, each by the mean of its cycles; work time by `returned`, as in the \
     article; load and rate over the whole period. MB are 10^6 bytes.";

fn title(run: &OwnRun<'_>) -> String {
    let scale = match run.study.scale {
        scale if (scale - 1.0).abs() < 1e-12 => String::new(),
        scale => format!(", scaled by {scale}"),
    };
    let periods: Vec<f64> =
        run.study.cycles.iter().map(|view| view.cycle.period_ns as f64 / 1e9).collect();
    let period =
        periods.first().map_or_else(String::new, |s| format!(", a cycle of {} s", digits(*s)));
    format!("This machine: {}{period}{scale}", clean(&run.study.machine))
}

/// A contender, or its disturbed cycles.
struct OwnRow {
    contender: usize,
    head: String,
    disturbed: bool,
    block: Option<String>,
    cluster: Option<String>,
    work_s: Option<f64>,
    busy_percent: Option<f64>,
    mb_per_s: Option<f64>,
    cycle_mb: Option<f64>,
}

impl OwnRow {
    fn cells(&self) -> [String; COLUMNS.len()] {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let work = self.work_s.map(|work_s| bare_seconds((work_s * 1e9).round() as u64));
        [
            or_dash(self.block.clone()),
            or_dash(self.cluster.clone()),
            or_dash(work),
            or_dash(self.busy_percent.map(|busy| format!("{busy:.1}"))),
            or_dash(self.mb_per_s.map(three_digits)),
            or_dash(self.cycle_mb.map(three_digits)),
        ]
    }
}

fn rows(run: &OwnRun<'_>) -> Vec<OwnRow> {
    let views = run.study.cycles.iter();
    let mut rows = Vec::new();
    for row in views.flat_map(|view| &view.rows) {
        for (figures, disturbed) in [(&row.plain, false), (&row.disturbed, true)] {
            let Some(found) = figures else { continue };
            let (block, cluster) = sizes(run, row.contender);
            rows.push(own_row((row.contender, &row.label), disturbed, (block, cluster), found));
        }
    }
    rows
}

fn own_row(
    (contender, label): (usize, &str),
    disturbed: bool,
    (block, cluster): (Option<String>, Option<String>),
    found: &CycleFigures,
) -> OwnRow {
    OwnRow {
        contender,
        head: if disturbed { format!("{label}, disturbed") } else { label.to_owned() },
        disturbed,
        block,
        cluster,
        work_s: found.work.map(|spread| spread.median_ns as f64 / 1e9),
        busy_percent: found.busy_share.map(|spread| spread.median * 100.0),
        mb_per_s: found.written_bytes_per_s.map(|spread| spread.median / 1e6),
        cycle_mb: found.written_bytes.map(|spread| spread.median / 1e6),
    }
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

/// The table of one machine.
pub(super) fn plain(run: &OwnRun<'_>) -> Vec<PlainTable> {
    let rows = rows(run);
    if rows.is_empty() {
        return Vec::new();
    }
    vec![PlainTable {
        title: "by block and fragment or cluster".to_owned(),
        columns: COLUMNS.map(str::to_owned).to_vec(),
        rows: rows.iter().map(|row| (row.head.clone(), row.cells().to_vec())).collect(),
        footnotes: Vec::new(),
    }]
}

/// Work time, load and rate, then and now, of undisturbed cycles.
pub(super) fn then_and_now(published: &[BlockRow], run: &OwnRun<'_>) -> Vec<ThenAndNow> {
    type Then = fn(&BlockRow) -> f64;
    type Now = fn(&OwnRow) -> Option<f64>;
    let tests: [(&str, &str, Then, Now); 3] = [
        ("Work time", "s", |row| row.work_time_s, |row| row.work_s),
        ("Disk busy", "%", |row| row.busy_percent, |row| row.busy_percent),
        ("Written", "MB/s", |row| row.write_mb_per_s, |row| row.mb_per_s),
    ];
    let rows = rows(run);
    let test = |&(title, unit, then, now): &(&str, &str, Then, Now)| ThenAndNow {
        title: title.to_owned(),
        unit: unit.to_owned(),
        more_is_better: false,
        then: published
            .iter()
            .filter(|row| !row.disturbed)
            .map(|row| (format!("UFS {}", row.head()), then(row)))
            .collect(),
        now: rows
            .iter()
            .filter(|row| !row.disturbed)
            .filter_map(|row| Some((row.contender, row.head.clone(), now(row)?)))
            .collect(),
        left_out: Vec::new(),
    };
    tests.iter().map(test).collect()
}

/// What the article's own numbers and the accounts of ours suggest for its question; marked as
/// inference.
pub(super) fn inference(
    published: &[String],
    runs: &[OwnRun<'_>],
    width: usize,
    style: Style,
) -> String {
    let mut out = heading(
        "What this suggests for the article's question about UFS (inference, not measurement)",
        width,
        style,
    );
    for text in suggestions(published, runs) {
        out.push_str(&wrap("  - ", &text, width));
    }
    out
}

/// The same, a line each.
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
