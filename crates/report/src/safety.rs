//! Crash safety of contenders as a table: speed, loss window, acknowledged work, damage.

use crate::format::{bytes, ns};
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::{MIN_WIDTH, Style, wrap};
use serde::Serialize;

/// A share of crash points, or of checks, with its interval at 95 %.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SafetyShare {
    pub hits: u64,
    pub of: u64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// One contender with one workload and one class of crash states.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SafetyRow {
    pub contender: String,
    pub workload: String,
    /// Which writes that no flush covers are there.
    pub class: String,
    pub runs: u32,
    pub crash_points: u64,
    /// Of ops that sync, in the time of the modelled disk.
    pub sync_p50_ns: Option<u64>,
    pub sync_p99_ns: Option<u64>,
    /// Age of the oldest op that is lost and was not promised to stay.
    pub loss_window_p50_ns: f64,
    pub loss_window_max_ns: u64,
    /// Files of which something was acknowledged as durable that are lost, of all checks.
    pub acknowledged_lost: SafetyShare,
    /// Crash points at which a documented promise is broken.
    pub documented_broken: SafetyShare,
    /// Checks of files that another one was renamed over.
    pub replaced_damaged: SafetyShare,
    /// Bytes of deleted files found in others, in all crash points together.
    pub stale_bytes: u64,
    /// Crash points at which it could be mounted as before, without a repair.
    pub mounted_as_before: SafetyShare,
    /// Crash points after which its check found damage.
    pub needs_repair: Option<SafetyShare>,
    /// Sentences of promises that were broken, and how often.
    pub broken: Vec<(String, u64)>,
    /// First cases of broken promises, in words.
    pub cases: Vec<String>,
}

/// All rows, the promises that were broken, and how it is read.
#[must_use]
pub fn safety_text(rows: &[SafetyRow], width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut grid = Table::new([
        Column::text("contender"),
        Column::text("workload"),
        Column::text("state"),
        Column::figure("sync p50").optional(2),
        Column::figure("p99").optional(3),
        Column::figure("loss p50"),
        Column::figure("max"),
        Column::figure("acked lost"),
        Column::figure("replaced damaged"),
        Column::figure("stale"),
        Column::figure("mounted"),
        Column::figure("repair").optional(1),
    ]);
    for row in rows {
        grid.row(vec![
            row.contender.clone(),
            row.workload.clone(),
            row.class.clone(),
            ns(row.sync_p50_ns),
            ns(row.sync_p99_ns),
            seconds(row.loss_window_p50_ns),
            seconds(row.loss_window_max_ns as f64),
            share(&row.acknowledged_lost),
            share(&row.replaced_damaged),
            bytes(Some(row.stale_bytes)),
            share(&row.mounted_as_before),
            row.needs_repair.as_ref().map_or_else(|| "-".to_owned(), share),
        ]);
    }
    let mut out = text::listing(&grid, width, style);
    for row in rows.iter().filter(|row| !row.broken.is_empty()) {
        let who = format!("{}, {}, {}: ", row.contender, row.workload, row.class);
        for (sentence, times) in &row.broken {
            out.push_str(&wrap("broken: ", &format!("{who}{times} times: {sentence}"), width));
        }
        for case in &row.cases {
            out.push_str(&wrap("  such as ", case, width));
        }
    }
    out.push('\n');
    let read = "Loss: age of the oldest op that is lost and was not promised to stay, over crash \
                points at uniform times. Acked lost: checks of files with acknowledged work (fsync \
                returned) that is gone, of all such checks; more than 0 is a bug of file system or \
                disk. Replaced damaged: checks of files that another one was renamed over. Stale: \
                bytes of deleted files in others. Mounted: crash points at which it could be \
                mounted as before. Repair: crash points after which its check found damage.";
    out.push_str(&wrap("", read, width));
    out
}

fn seconds(ns: f64) -> String {
    format!("{:.1} s", ns / 1e9)
}

/// `24/90`; `0/90 (≤ 4.1 %)` where none, with the upper end of the interval.
fn share(share: &SafetyShare) -> String {
    let SafetyShare { hits, of, .. } = share;
    match share.high.filter(|_| *hits == 0 && *of > 0) {
        Some(high) => format!("0/{of} (≤{:.1} %)", 100.0 * high),
        None => format!("{hits}/{of}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_none_say_how_many_it_could_be() {
        let of = |hits, of| SafetyShare { hits, of, low: Some(0.0), high: Some(0.041) };
        assert_eq!(share(&of(0, 90)), "0/90 (≤4.1 %)");
        assert_eq!(share(&of(24, 90)), "24/90");
        assert_eq!(share(&SafetyShare { hits: 0, of: 0, low: None, high: None }), "0/0");
    }
}
