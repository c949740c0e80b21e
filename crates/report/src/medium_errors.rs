//! Errors of the medium as a table: which calls reported them, what was lost, and cases.

use crate::campaign_tables::CampaignTables;
use crate::crash::few_runs;
use crate::table::{Column, Table};
use fsarena_model::units::Bytes;
use fsarena_study::{CrashShare, MediumErrorRow};
use serde::Serialize;

/// What all rows have in common.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MediumErrorHead {
    /// Kernel of the guests: release and first digits of the hash of its binary.
    pub kernel: String,
    pub memory_bytes: u64,
    pub device_model: String,
    pub device_bytes: u64,
    /// Of the work, in virtual time.
    pub seconds: u64,
    pub runs: u32,
    /// Requests that fail in each run, each in a work of its own.
    pub cases: u32,
    /// Of the first run; the next ones count up.
    pub seed: u64,
}

/// What was injected, in plain words.
const INJECTED: &str = "In each case the work is done again from its begin, and one request of it \
     fails: the disk reports an I/O error for it, keeps what was there before, and goes on. Data: a \
     write with contents of the files of the work; metadata: any other, journals too; flush: what \
     the cache of the disk has stays there. Once: the next write to this place, or the next flush, \
     succeeds. Always: every write that touches these sectors, or every flush, fails until the end \
     of the work. The application writes nothing again; an fsync that fails is made once more. At \
     the end the disk has no errors any more, after flushes that failed its power goes, and another \
     guest mounts what is on it.";

const READ: &str = "Reported: some op failed, or the file system takes no writes any more \
     (stopped). Silent: work of which fsync had returned 0 is lost, and no op failed: it is \
     nowhere reported. Lost: such work is lost, whatever other ops reported; more than 0 is a \
     broken promise of fsync. Damaged: a file holds what is neither what was there before \
     the op that failed nor what it wrote. Again 0: fsyncs that failed, and the same call right \
     after it returned 0. Then missing: cases in which a later fsync of a file returned 0, and \
     what an earlier op had reported as lost is not there. In memory: cases in which the \
     running system showed contents that are not on the disk. Kernel alone: the kernel's log has \
     it, and no op reported it. Mounted: as before, without a repair. Repair: its check found \
     damage. Where there is none, ≤ is the upper end of the interval (95 %).";

/// What was injected, all rows, what was found, and how it is read.
pub(crate) fn medium_error_tables(
    head: &MediumErrorHead,
    rows: &[MediumErrorRow],
) -> CampaignTables {
    let notes = rows.iter().flat_map(notes).map(|(lead, words)| (lead.to_owned(), words));
    CampaignTables {
        above: [head_words(head), INJECTED.to_owned()].map(|words| (String::new(), words)).to_vec(),
        grid: table(rows),
        notes: notes.collect(),
        read: READ,
        few_runs: few_runs(head.runs),
    }
}

fn head_words(head: &MediumErrorHead) -> String {
    let MediumErrorHead { kernel, device_model, seconds, runs, cases, seed, .. } = head;
    let last = seed.wrapping_add(u64::from(*runs).saturating_sub(1));
    format!(
        "Linux {kernel} in guests of {}, {device_model} of {}, {runs} runs of {seconds} s (seeds \
         {seed} to {last}), {cases} cases each.",
        Bytes(head.memory_bytes),
        Bytes(head.device_bytes)
    )
}

fn table(rows: &[MediumErrorRow]) -> Table {
    let mut grid = Table::new([
        Column::text("contender"),
        Column::text("workload"),
        Column::text("request"),
        Column::text("fails"),
        Column::figure("reported"),
        Column::figure("stopped"),
        Column::figure("silent"),
        Column::figure("lost"),
        Column::figure("damaged"),
        Column::figure("again 0").optional(3),
        Column::figure("then missing").narrow().optional(2),
        Column::figure("in memory").narrow().optional(4),
        Column::figure("kernel alone").narrow().optional(5),
        Column::figure("mounted"),
        Column::figure("repair").optional(1),
    ]);
    for row in rows {
        grid.row(vec![
            row.contender.clone(),
            row.workload.clone(),
            row.request.clone(),
            row.fails.clone(),
            hits(&row.reported),
            row.stopped.hits.to_string(),
            none_or_hits(&row.silent),
            row.lost.hits.to_string(),
            row.damaged.hits.to_string(),
            hits(&row.again),
            row.missing_after_sync.hits.to_string(),
            row.only_in_memory.hits.to_string(),
            row.kernel_alone.hits.to_string(),
            hits(&row.mounted_as_before),
            hits(&row.needs_repair),
        ]);
    }
    grid
}

fn hits(share: &CrashShare) -> String {
    format!("{}/{}", share.hits, share.of)
}

/// `0 (≤14 %)` where there is none.
fn none_or_hits(share: &CrashShare) -> String {
    match share.high.filter(|_| share.hits == 0) {
        Some(high) => format!("0 (≤{:.0} %)", 100.0 * high),
        None => share.hits.to_string(),
    }
}

/// What has to be known with a row.
fn notes(row: &MediumErrorRow) -> Vec<(&'static str, String)> {
    let who = format!("{}, {}, {} {}: ", row.contender, row.workload, row.request, row.fails);
    let mut out = Vec::new();
    if row.struck + row.not_ended < row.cases {
        let what = format!("{who}the fault met a request in {} of {} cases", row.struck, row.cases);
        out.push(("mind: ", what));
    }
    if row.not_ended > 0 {
        let what = format!("{who}the guest did not come to the end of the work in {} cases", {
            row.not_ended
        });
        out.push(("mind: ", what));
    }
    if row.not_as_drawn > 0 {
        let times = row.not_as_drawn;
        let what = format!("{who}another request failed first in {times} cases");
        out.push(("mind: ", what));
    }
    if !row.reported_calls.is_empty() {
        let calls = row.reported_calls.iter().map(|(call, times)| format!("{call} ({times})"));
        let calls: Vec<String> = calls.collect();
        out.push(("  reported: ", format!("{who}{}", calls.join(", "))));
    }
    let lead = if row.breaks_the_contract() { "broken: " } else { "  such as " };
    if row.breaks_the_contract() {
        let CrashShare { hits, of, .. } = row.lost;
        let silent = row.silent.hits;
        let what = format!(
            "{who}fsync had returned 0, and the work is lost in {hits} of {of} cases; in {silent} \
             of them no op reported an error"
        );
        out.push((lead, what));
    }
    out.extend(row.reported_cases.iter().map(|case| ("  such as ", case.clone())));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;

    fn share(hits: u64, of: u64) -> CrashShare {
        let high = (hits == 0).then_some(0.138);
        CrashShare { hits, of, crash_points: hits, low: Some(0.0), high }
    }

    fn row(lost: u64, silent: u64) -> MediumErrorRow {
        MediumErrorRow {
            contender: "ext4".to_owned(),
            workload: "synced".to_owned(),
            request: "data".to_owned(),
            fails: "once".to_owned(),
            runs: 10,
            cases: 25,
            struck: 24,
            not_ended: 0,
            not_as_drawn: 0,
            reported: share(20, 24),
            stopped: share(0, 24),
            silent: share(silent, 24),
            lost: share(lost, 24),
            damaged: share(2, 24),
            again: share(20, 20),
            missing_after_sync: share(19, 24),
            only_in_memory: share(18, 24),
            kernel_alone: share(0, 24),
            mounted_as_before: share(24, 24),
            needs_repair: share(0, 24),
            reported_calls: vec![("fsync: EIO".to_owned(), 20)],
            mount_options: "rw".to_owned(),
            reported_cases: vec!["seed 1, write at 3.000 s".to_owned()],
        }
    }

    fn text(rows: &[MediumErrorRow]) -> String {
        let head = MediumErrorHead {
            kernel: "6.12.117-2df9".to_owned(),
            memory_bytes: 256 << 20,
            device_model: "hdd-2007".to_owned(),
            device_bytes: 1 << 30,
            seconds: 60,
            runs: 10,
            cases: 8,
            seed: 7,
        };
        let cases: [u8; 0] = [];
        let body = serde_json::json!({"head": head, "rows": rows, "cases": cases});
        crate::schema::assert_valid("medium-errors", "medium_errors", body);
        medium_error_tables(&head, rows).text(170, Style { colour: false, ..Style::default() })
    }

    #[test]
    fn names_the_calls_that_reported_and_what_is_lost() {
        let text = text(&[row(3, 1)]);
        for said in [
            "hdd-2007 of 1 GiB, 10 runs of 60 s (seeds 7 to 16), 8 cases each.",
            "the disk reports an I/O error for it",
            "the fault met a request in 24 of 25 cases",
            "reported: ext4, synced, data once: fsync: EIO (20)",
            "broken: ext4, synced, data once: fsync had returned 0, and the work is lost in 3 of",
            "in 1 of them no op reported an error",
            "such as seed 1, write at 3.000 s",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }

    #[test]
    fn nothing_lost_says_how_sure_that_is_and_breaks_nothing() {
        let text = text(&[row(0, 0)]);
        assert!(text.contains("0 (≤14 %)") && !text.contains("broken:"), "{text}");
        assert!(!row(0, 0).breaks_the_contract());
    }
}
