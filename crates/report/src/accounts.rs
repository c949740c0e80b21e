//! Where the bytes went: accounts of contenders side by side, and the answer in words.

use crate::article::layout::{Column, tables};
use crate::footnotes::Footnotes;
use crate::format::count;
use crate::style::{MIN_WIDTH, Style};
use crate::table::{Grid, Kind};
use crate::text::{bold, wrap};
use fsarena_model::units::three_digits;
use fsarena_study::{AccountMeans, AccountPart, AccountRow, AccountView, Study};

/// All accounts of a RUN, each with its words; empty where none was asked for.
#[must_use]
pub fn account_tables(study: &Study, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for view in &study.accounts {
        for line in wrap("", &account_title(view), width).lines() {
            out.push_str(&format!("{}\n", bold(line, style.colour)));
        }
        let mut footnotes = Footnotes::default();
        for sheet in sheets(view, &mut footnotes) {
            out.push_str(&tables(&sheet.titles, &sheet.columns, width));
        }
        out.push_str(&footnotes.render(width));
        for (label, words) in account_words(view) {
            for line in wrap("", &label, width).lines() {
                out.push_str(&format!("{}\n", bold(line, style.colour)));
            }
            words.iter().for_each(|text| out.push_str(&wrap("  ", text, width)));
        }
        out.push('\n');
    }
    if !out.is_empty() {
        out.push_str(&wrap("", LEGEND, width));
    }
    out
}

/// What stands below accounts.
pub const LEGEND: &str = "Account: means over trials; of a cycle those of all its cycles, disturbed ones and what the \
     unmount writes included, while tables, sweeps and verdicts are of the plain cycles alone. A \
     cycle's span begins at its start and ends at the next one's: what a cycle at work meanwhile \
     writes meanwhile is in it too. Parts come from a trace of block requests, the total from the \
     device's own counter; what no part holds, or was seen beyond the counter, is unattributed (then lines add up to more \
     than the counter). data as asked, rounding as written, \
     gone since (taken for contents of files replaced or deleted afterwards, with their rounding): \
     sectors not yet written in the same cycle; written again: the others of these. journal, other metadata: \
     with what was written again. Rounding as allocated is what files take on the device, written \
     or not, at the end; it is no part of the sum, and nor are discards. MB = 10^6 bytes.";

/// What an account is of.
#[must_use]
pub fn account_title(view: &AccountView) -> String {
    let per = if view.per_cycle { "a cycle" } else { "the phase" };
    let title = format!("{} / {}: where the bytes of {per} went", view.workload, view.phase);
    let mut scopes: Vec<String> =
        view.rows.iter().filter_map(|row| row.means.as_ref()?.scope()).collect();
    scopes.dedup();
    match scopes.as_slice() {
        [] => title,
        [one] => format!("{title} ({one})"),
        _ => format!("{title} (mean of all cycles, unmount included)"),
    }
}

/// In MB and as multiples of what was asked for; none where no account is sound.
pub(crate) fn sheets(view: &AccountView, footnotes: &mut Footnotes) -> Vec<Sheet> {
    if view.rows.iter().all(|row| row.means.is_none()) {
        return Vec::new();
    }
    vec![megabytes(view, footnotes), multiples(view, footnotes)]
}

/// The answer in words of each contender, then what has to be known when its account is read; those
/// of whom the same is said together.
#[must_use]
pub fn account_words(view: &AccountView) -> Vec<(String, Vec<String>)> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for row in view.rows.iter().filter(|row| !row.words.is_empty()) {
        let all: Vec<String> = row.words.iter().chain(further(row)).cloned().collect();
        match said.iter_mut().find(|(_, words)| *words == all) {
            Some((labels, _)) => labels.push_str(&format!(", {}", row.label)),
            None => said.push((row.label.clone(), all)),
        }
    }
    said
}

/// What has to be known when an account is read, as far as its words do not say it.
fn further(row: &AccountRow) -> impl Iterator<Item = &String> {
    row.notes.iter().filter(|note| !row.words.contains(note))
}

/// A table by columns.
pub(crate) struct Sheet {
    titles: Vec<String>,
    columns: Vec<Column>,
}

impl Sheet {
    /// As a table with all its columns; the first one has this heading.
    pub(crate) fn grid(&self, head: &str) -> Grid {
        let heads = self.columns.iter().map(|column| (column.head.as_str(), Kind::Figure));
        let columns: Vec<(&str, Kind)> = std::iter::once((head, Kind::Text)).chain(heads).collect();
        let mut grid = Grid::new(&columns);
        for (at, title) in self.titles.iter().enumerate() {
            let cells = self.columns.iter().map(|column| column.cells[at].clone());
            grid.row(std::iter::once(title.clone()).chain(cells).collect());
        }
        grid
    }
}

/// Gaps in an account: what is spoilt, what was not taken.
#[must_use]
pub fn account_notes(row: &AccountRow) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if !row.spoilt.is_empty() {
        let lost: Vec<String> = row
            .spoilt
            .iter()
            .map(|one| format!("trial {} ({} events lost)", one.trial, one.lost_events))
            .collect();
        let what = count(row.spoilt.len(), "account");
        notes.push(format!("SPOILT: {what} in no figure: {}", lost.join(", ")));
    }
    for one in &row.not_taken {
        notes.push(format!("no account in {}: {}", count(one.trials, "trial"), one.reason));
    }
    notes
}

/// Rows below the parts: name and value.
type Further = (&'static str, fn(&AccountMeans) -> Option<f64>);

const FURTHER: [Further; 6] = [
    ("the device wrote", |means| Some(means.check.counter_bytes)),
    ("seen by the trace", |means| Some(means.check.counter_bytes - means.check.unseen_bytes)),
    ("asked for", |means| Some(means.asked_bytes)),
    ("asked, never written as data", |means| means.never_written_bytes),
    ("rounding as allocated", |means| Some(means.allocated.rounding_bytes)),
    ("discarded", |means| Some(means.discarded_bytes)),
];

/// In MB, with the share of each part.
fn megabytes(view: &AccountView, footnotes: &mut Footnotes) -> Sheet {
    let mb = |bytes: f64| three_digits(bytes / 1e6);
    let cells = |means: &AccountMeans| {
        let parts = means.lines.iter().map(|line| match line.share {
            Some(share) => format!("{} ({:.1} %)", mb(line.bytes), share * 100.0),
            None => mb(line.bytes),
        });
        let further = FURTHER.iter().map(|(_, of)| of(means).map_or_else(|| "-".to_owned(), mb));
        parts.chain(further).collect()
    };
    let mut titles: Vec<String> =
        AccountPart::ALL.iter().map(|(name, _)| format!("{name}, MB")).collect();
    titles.extend(FURTHER.iter().map(|(name, _)| format!("{name}, MB")));
    let columns = columns(view, footnotes, titles.len(), &cells);
    Sheet { titles, columns }
}

/// As multiples of the bytes asked for.
fn multiples(view: &AccountView, footnotes: &mut Footnotes) -> Sheet {
    let cells = |means: &AccountMeans| {
        let times = |bytes: f64| match bytes / means.asked_bytes {
            times if times.is_finite() => three_digits(times),
            _ => "-".to_owned(),
        };
        let parts = means.lines.iter().map(|line| times(line.bytes));
        parts.chain([times(means.check.counter_bytes)]).collect()
    };
    let mut titles: Vec<String> =
        AccountPart::ALL.iter().map(|(name, _)| format!("{name}, × asked")).collect();
    titles.push("the device wrote, × asked".to_owned());
    let columns = columns(view, footnotes, titles.len(), &cells);
    Sheet { titles, columns }
}

fn columns(
    view: &AccountView,
    footnotes: &mut Footnotes,
    count: usize,
    cells: &dyn Fn(&AccountMeans) -> Vec<String>,
) -> Vec<Column> {
    let none = || vec!["-".to_owned(); count];
    let column = |row: &AccountRow| {
        let head = footnotes.annotate(row.label.clone(), account_notes(row));
        Column { head, cells: row.means.as_ref().map_or_else(none, cells) }
    };
    view.rows.iter().map(column).collect()
}
