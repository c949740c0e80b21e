//! Crash safety of contenders as a table: speed, loss window, acknowledged work, damage.

use crate::campaign_tables::CampaignTables;
use crate::format::{bytes, ns};
use crate::table::{Column, Table};
use fsarena_model::units::Bytes;
use fsarena_study::{CrashRow, CrashShare};
use serde::Serialize;

/// What all rows have in common.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CrashHead {
    /// Of guests release and first digits of the hash of the binary; natively the release.
    pub kernel: String,
    /// Of a guest; `None`: it is the kernel of this machine, in real time.
    pub memory_bytes: Option<u64>,
    pub device_model: String,
    pub device_bytes: u64,
    /// Of the work.
    pub seconds: u64,
    pub runs: u32,
    /// Power cuts of each run, of all states together.
    pub points: u32,
    /// Of the first run; the next ones count up.
    pub seed: u64,
}

/// Share by which answers may be late before it is told, as in trials.
const LATE_MOST: f64 = 0.05;
/// Clusters of a bootstrap.
const RUNS_LEAST: u32 = 10;

/// What has to be known of intervals from few runs.
pub(crate) fn few_runs(runs: u32) -> Option<&'static str> {
    let few = "intervals where some are hits are of runs, and too narrow with fewer than 10";
    (2..RUNS_LEAST).contains(&runs).then_some(few)
}

/// How the columns are read.
pub(crate) const READ: &str = "Loss: age of the oldest op that is lost and was not promised to stay, over crash \
     points at uniform times. Synced work lost: checks of files with acknowledged work \
     (fsync had returned) that is gone, of all such checks; more than 0 on an honest \
     disk is a bug. Replaced damaged: checks of files that another one was renamed \
     over. Where there is none, ≤ is the upper end of the interval of the share of \
     power cuts with any. Stale: bytes of another file, place or earlier version, in \
     all crash points together. Mounted: crash points at which it could be mounted and \
     used as before. Repair: crash points after which its check found damage. Recovery: \
     length of the mount with what it recovered, in guests on the modelled disk, and \
     natively on a disk that answers at once.";

/// What was done, all rows, the promises that were broken, and how it is read.
pub(crate) fn crash_tables<'a>(
    head: &CrashHead,
    rows: impl Iterator<Item = &'a CrashRow> + Clone,
) -> CampaignTables {
    CampaignTables {
        above: vec![(String::new(), head_words(head))],
        grid: grid(rows.clone()),
        notes: rows.flat_map(notes).map(|(lead, words)| (lead.to_owned(), words)).collect(),
        read: READ,
        few_runs: few_runs(head.runs),
    }
}

pub(crate) fn head_words(head: &CrashHead) -> String {
    let CrashHead { kernel, device_model, seconds, runs, points, seed, .. } = head;
    let last = seed.wrapping_add(u64::from(*runs).saturating_sub(1));
    format!(
        "Linux {kernel} {}, {device_model} of {}, {runs} runs of {seconds} s (seeds {seed} to \
         {last}), {points} power cuts each.",
        place_words(head),
        Bytes(head.device_bytes)
    )
}

/// Where its kernel is.
pub(crate) fn place_words(head: &CrashHead) -> String {
    match head.memory_bytes {
        Some(bytes) => format!("in guests of {}", Bytes(bytes)),
        None => "of this machine".to_owned(),
    }
}

/// A row a contender, workload and class of crash states.
pub(crate) fn grid<'a>(rows: impl IntoIterator<Item = &'a CrashRow>) -> Table {
    let mut grid = Table::new([
        Column::text("contender"),
        Column::text("workload"),
        Column::text("state"),
        Column::figure("sync p50").optional(2),
        Column::figure("p99").optional(3),
        Column::figure("loss p50"),
        Column::figure("loss max"),
        Column::figure("synced work lost"),
        Column::figure("replaced damaged"),
        Column::figure("stale"),
        Column::figure("mounted"),
        Column::figure("repair").optional(1),
        Column::figure("recovery").optional(4),
        Column::figure("max").optional(5),
    ]);
    let asked_first = || "repaired first".to_owned();
    for row in rows {
        grid.row(vec![
            row.contender.clone(),
            row.workload.clone(),
            row.state.clone(),
            ns(row.sync_p50_ns),
            ns(row.sync_p99_ns),
            seconds(row.loss_window_p50_ns),
            seconds(row.loss_window_max_ns as f64),
            share(&row.acknowledged_lost),
            share(&row.replaced_damaged),
            bytes(Some(row.stale_bytes)),
            row.mounted_as_before.as_ref().map_or_else(asked_first, of_points),
            row.needs_repair.as_ref().map_or_else(|| "-".to_owned(), of_points),
            ns(row.recovery_p50_ns.map(|ns| ns as u64)),
            ns(row.recovery_max_ns),
        ]);
    }
    grid
}

/// What has to be known with a row: how a line begins, and its words.
pub(crate) fn notes(row: &CrashRow) -> Vec<(&'static str, String)> {
    let who = format!("{}, {}, {}: ", row.contender, row.workload, row.state);
    let mut out = Vec::new();
    if row.failed_ops > 0 {
        let errno = row.first_errno.unwrap_or(0);
        let what = format!(
            "{who}{} of {} ops failed (error {errno} first); their files are not judged",
            row.failed_ops, row.ops
        );
        out.push(("mind: ", what));
    }
    if let Some(share) = row.late_share.filter(|share| *share > LATE_MOST) {
        let what = format!(
            "{who}the disk answered later than its model, by up to {:.0} % of the modelled time of a \
             run: losses may be longer than on such a disk; stop other programs, or use guests",
            share * 100.0
        );
        out.push(("mind: ", what));
    }
    if row.ops_not_begun > 0 {
        let all = row.ops + row.ops_not_begun;
        let what = format!(
            "{who}{} of {all} ops had not begun when the time was over: with fewer files or more \
             seconds all of them are done",
            row.ops_not_begun
        );
        out.push(("mind: ", what));
    }
    out.extend(whose_loss(row).map(|what| ("mind: ", format!("{who}{what}"))));
    if row.kernel_reported > 0 {
        let times = row.kernel_reported;
        let what = format!("{who}the kernel reported damage at {times} crash points");
        out.push(("mind: ", what));
    }
    let lead = match &row.disk_fault {
        Some(_) if row.state.starts_with("lying") => "the disk lied: ",
        Some(fault) => {
            out.push(("mind: ", format!("{who}{fault}: what is broken is broken by the disk")));
            "the disk's fault: "
        }
        None => "broken: ",
    };
    for (sentence, times) in &row.broken {
        out.push((lead, format!("{who}{times} checks of files: {sentence}")));
    }
    out.extend(row.cases.iter().map(|case| ("  such as ", case.clone())));
    out
}

/// Why synced work may be gone though the disk was honest, where it is not the order of writes.
fn whose_loss(row: &CrashRow) -> impl Iterator<Item = String> {
    let no_flush = row.sends_no_flush.then(|| {
        "it sends no flush to the disk, so that what fsync reported stays only where the cache of \
         the disk is not volatile"
            .to_owned()
    });
    let no_replay = (row.failed_replays > 0).then(|| {
        format!(
            "the repair before the mount could not replay the log at {} of {} crash points, and \
             what was in it is lost by this repair",
            row.failed_replays, row.crash_points
        )
    });
    no_flush.into_iter().chain(no_replay)
}

pub(crate) fn seconds(ns: f64) -> String {
    format!("{:.1} s", ns / 1e9)
}

/// `24/900`; `0/900 (≤1.9 %)` where there is none, with the upper end of the interval of the share
/// of crash points.
pub(crate) fn share(share: &CrashShare) -> String {
    let CrashShare { hits, of, .. } = share;
    match share.high.filter(|_| *hits == 0 && *of > 0) {
        Some(high) => format!("0/{of} (≤{:.1} %)", 100.0 * high),
        None => format!("{hits}/{of}"),
    }
}

fn of_points(share: &CrashShare) -> String {
    format!("{}/{}", share.hits, share.of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;

    fn checks(hits: u64, of: u64) -> CrashShare {
        CrashShare { hits, of, crash_points: 200, low: Some(0.0), high: Some(0.0188) }
    }

    #[test]
    fn shares_of_none_say_of_how_many_power_cuts_it_could_be() {
        assert_eq!(share(&checks(0, 15_238)), "0/15238 (≤1.9 %)");
        assert_eq!(share(&checks(24, 90)), "24/90");
        let none = CrashShare { high: None, ..checks(0, 0) };
        assert_eq!(share(&none), "0/0");
        assert_eq!(of_points(&checks(200, 200)), "200/200");
    }

    #[test]
    fn says_what_is_not_judged_and_who_broke_it() {
        let row = CrashRow {
            contender: "ext4".to_owned(),
            workload: "journal".to_owned(),
            state: "lying=2".to_owned(),
            runs: 1,
            crash_points: 200,
            mount_options: "rw".to_owned(),
            ops: 50,
            failed_ops: 3,
            first_errno: Some(95),
            late_share: Some(0.31),
            ops_not_begun: 7,
            sync_p50_ns: Some(8_000_000),
            sync_p99_ns: Some(9_000_000),
            loss_window_p50_ns: 2.5e9,
            loss_window_max_ns: 5_000_000_000,
            recovery_p50_ns: Some(31_000_000.0),
            recovery_max_ns: Some(1_200_000_000),
            acknowledged_lost: checks(2, 90),
            documented_broken: checks(0, 200),
            replaced_damaged: checks(0, 90),
            stale_bytes: 0,
            stale_files: 0,
            mounted_as_before: None,
            needs_repair: None,
            failed_replays: 12,
            sends_no_flush: true,
            kernel_reported: 1,
            broken: vec![("fsync(2): kept".to_owned(), 2)],
            cases: vec!["seed 1, cut at 3.000 s: f: gone".to_owned()],
            disk_fault: Some("it reported flushes and kept the data".to_owned()),
        };
        let lost = CrashRow {
            state: "dropall".to_owned(),
            disk_fault: Some("the disk lost flush 7 of the work".to_owned()),
            ..row.clone()
        };
        let honest = CrashRow { disk_fault: None, ..lost.clone() };
        assert!(honest.breaks_the_contract() && !lost.breaks_the_contract());
        let head = CrashHead {
            kernel: "6.12.117-2df9".to_owned(),
            memory_bytes: Some(256 << 20),
            device_model: "hdd-2007".to_owned(),
            device_bytes: 8 << 30,
            seconds: 120,
            runs: 2,
            points: 200,
            seed: 7,
        };
        let style = Style { colour: false, ..Style::default() };
        let rows = [row, lost];
        let body = serde_json::json!({"head": head, "rows": rows});
        crate::schema::assert_valid("crash", "crash", body);
        let text = crash_tables(&head, rows.iter()).text(160, style);
        for said in [
            "hdd-2007 of 8 GiB, 2 runs of 120 s (seeds 7 to 8)",
            "repaired first",
            "3 of 50 ops failed (error 95 first)",
            "the disk lied: ext4, journal, lying=2: 2 checks of files: fsync(2): kept",
            "such as seed 1, cut at 3.000 s: f: gone",
            "the kernel reported damage at 1 crash points",
            "mind: ext4, journal, lying=2: it sends no flush to the disk",
            "could not replay the log at 12 of 200 crash points",
            "dropall: the disk lost flush 7 of the work: what is broken is broken by the disk",
            "the disk's fault: ext4, journal, dropall: 2 checks of files: fsync(2): kept",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}
