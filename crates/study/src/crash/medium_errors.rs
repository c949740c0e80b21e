//! Errors of the medium: which calls reported them, and what was lost.

use super::share::{CASES_MOST, CrashShare};
use crate::JsonSchema;
use fsarena_crash::figures::{FigureError, FigureOptions, Share};
use fsarena_crash::medium_error::figures::medium_error_figures;
use fsarena_crash::medium_error::judge::MediumErrorCase;
use fsarena_crash::medium_error::plan::{Lasting, RequestKind};
use fsarena_crash::record::MediumErrorRecord;
use serde::Serialize;
use std::collections::BTreeMap;

/// One contender with one workload and one kind of failing request. Shares are of the cases in
/// which the disk failed a request and the guest came to the end of the work, but where it says
/// otherwise.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct MediumErrorRow {
    pub contender: String,
    pub workload: String,
    /// `data` or `metadata`, of a write, or `flush`.
    pub request: String,
    /// `once` or `always`.
    pub fails: String,
    pub runs: u32,
    pub cases: u64,
    pub struck: u64,
    /// The kernel did not survive it, or an op never returned.
    pub not_ended: u64,
    /// Another write to these sectors, or flush, failed first than the one that was drawn.
    pub not_as_drawn: u64,
    /// An op failed, or the file system takes no writes any more.
    pub reported: CrashShare,
    pub stopped: CrashShare,
    /// Acknowledged work is lost, and no op reported an error.
    pub silent: CrashShare,
    /// Acknowledged work is lost, whatever other ops reported.
    pub lost: CrashShare,
    /// A file holds bytes that no op wrote there.
    pub damaged: CrashShare,
    /// Of the fsyncs that failed: the same call right after it returned 0.
    pub again: CrashShare,
    /// What was reported as lost is not there, though a later fsync of the file returned 0.
    pub missing_after_sync: CrashShare,
    /// The running system showed what is not on the disk.
    pub only_in_memory: CrashShare,
    /// The log of the kernel has it, and no op reported it.
    pub kernel_alone: CrashShare,
    pub mounted_as_before: CrashShare,
    /// Of the cases in which fsck was run.
    pub needs_repair: CrashShare,
    /// What calls failed with, and how often: `fsync: EIO`.
    pub reported_calls: Vec<(String, u64)>,
    pub mount_options: String,
    /// The first ones in which something is lost or damaged, each with its seed, time and place.
    pub reported_cases: Vec<String>,
}

impl MediumErrorRow {
    /// Whether work of which fsync returned 0 is lost.
    #[must_use]
    pub fn breaks_the_contract(&self) -> bool {
        self.lost.hits > 0
    }
}

/// The rows of a contender with one workload: one for each kind of request that failed.
///
/// # Errors
/// Cases of which no rates can be made.
pub(super) fn medium_error_rows(
    names: (&str, &str),
    records: &[&MediumErrorRecord],
) -> Result<Vec<MediumErrorRow>, FigureError> {
    let mount_options = records.last().map(|it| it.mount_options.as_str()).unwrap_or_default();
    let mut rows = Vec::new();
    for kind in RequestKind::ALL {
        for lasting in Lasting::ALL {
            let is_it = |case: &&MediumErrorCase| {
                (case.request.kind, case.request.lasting) == (kind, lasting)
            };
            let all = records.iter().flat_map(|record| &record.cases);
            let cases: Vec<&MediumErrorCase> = all.filter(is_it).collect();
            if !cases.is_empty() {
                rows.push(row(names, (kind, lasting), &cases, mount_options)?);
            }
        }
    }
    Ok(rows)
}

fn row(
    names: (&str, &str),
    (kind, lasting): (RequestKind, Lasting),
    cases: &[&MediumErrorCase],
    mount_options: &str,
) -> Result<MediumErrorRow, FigureError> {
    let of = medium_error_figures(cases, &FigureOptions::default())?;
    let share = |share: &Share| CrashShare::new(share, share);
    let mut worst: Vec<&&MediumErrorCase> = cases.iter().filter(|case| is_reported(case)).collect();
    worst.sort_by_key(|case| std::cmp::Reverse(case.verdict()));
    Ok(MediumErrorRow {
        contender: names.0.to_owned(),
        workload: names.1.to_owned(),
        request: kind.name().to_owned(),
        fails: lasting.name().to_owned(),
        runs: of.runs,
        cases: of.cases,
        struck: of.struck,
        not_ended: of.not_ended,
        not_as_drawn: of.not_as_drawn,
        reported: share(&of.reported),
        stopped: share(&of.stopped),
        silent: share(&of.silent),
        lost: share(&of.lost),
        damaged: share(&of.damaged),
        again: share(&of.again),
        missing_after_sync: share(&of.missing_after_sync),
        only_in_memory: share(&of.only_in_memory),
        kernel_alone: share(&of.kernel_alone),
        mounted_as_before: share(&of.mounted_as_it_was),
        needs_repair: share(&of.needs_repair),
        reported_calls: reported_calls(cases),
        mount_options: mount_options.to_owned(),
        reported_cases: worst.iter().take(CASES_MOST).map(|case| words(case)).collect(),
    })
}

/// Whether the report describes a case in words.
fn is_reported(case: &MediumErrorCase) -> bool {
    case.not_ended.is_some() || !case.lost.is_empty() || !case.damaged.is_empty()
}

/// What calls failed with, and how often, the most frequent first.
fn reported_calls(cases: &[&MediumErrorCase]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for failed in cases.iter().flat_map(|case| &case.failed) {
        let call = format!("{}: {}", failed.call.name(), errno_name(failed.errno));
        *counts.entry(call).or_default() += 1;
    }
    let mut reported: Vec<(String, u64)> = counts.into_iter().collect();
    reported.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    reported
}

fn errno_name(errno: i32) -> String {
    match errno {
        0 => "returned 0".to_owned(),
        5 => "EIO".to_owned(),
        28 => "ENOSPC".to_owned(),
        30 => "EROFS".to_owned(),
        61 => "ENODATA".to_owned(),
        117 => "EUCLEAN".to_owned(),
        other => format!("error {other}"),
    }
}

/// A case in words: what failed, what was lost, and which call reported it.
fn words(case: &MediumErrorCase) -> String {
    let after = |at_ns: u64| at_ns.saturating_sub(case.begin_ns) as f64 / 1e9;
    let request = &case.request;
    let what = match request.kind {
        RequestKind::Flush => "a flush".to_owned(),
        RequestKind::Data | RequestKind::Metadata => {
            format!("{} sectors at {}", request.sectors, request.sector)
        }
    };
    let mut words = format!("seed {}, {what}", case.seed);
    if let Some(why) = &case.not_ended {
        return words + &format!(": {why}");
    }
    let failed_s = after(request.at_ns);
    words.push_str(&format!(" failed at {failed_s:.3} s ({} requests): ", case.failed_requests));
    let mut found = Vec::new();
    if let Some(lost) = case.lost.first() {
        let mut when = if lost.is_before_error { ", before the error" } else { "" }.to_owned();
        if let Some(call) = lost.reported_by {
            when.push_str(&format!(", where {} failed then", call.name()));
        }
        let others = case.lost.len() - 1;
        let others = if others > 0 { format!(", and {others} files more") } else { String::new() };
        found.push(format!(
            "{} lost what was acknowledged at {:.3} s{when}: {}{others}",
            lost.path,
            after(lost.acknowledged_ns),
            lost.found
        ));
    }
    if let Some(damaged) = case.damaged.first() {
        found.push(format!("{} is damaged: {}", damaged.path, damaged.found));
    }
    found.push(match case.failed.first() {
        None if case.is_stopped() => "no op failed, and it takes no writes any more".to_owned(),
        None => "no op reported an error".to_owned(),
        Some(failed) => {
            let again = failed.again.map(|again| format!(", again: {}", errno_name(again)));
            format!(
                "{} of {} ops failed, the first in {} with {}{}",
                case.failed.len(),
                case.ops,
                failed.call.name(),
                errno_name(failed.errno),
                again.unwrap_or_default()
            )
        }
    });
    if let Some(line) = case.kernel_messages.first() {
        found.push(format!("kernel: {line}"));
    }
    words + &found.join("; ")
}
