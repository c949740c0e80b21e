//! Figures of many cases: the unit is the case, and runs (seeds) are the clusters, as with crash
//! points.

use super::judge::{MediumErrorCase, Verdict};
use crate::figures::{FigureOptions, Share, share_of};
use crate::observation::MountStep;
use fsarena_stats::SampleError;
use std::collections::BTreeMap;

/// Cases of one contender, workload and kind of failing request.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumErrorFigures {
    pub runs: u32,
    pub cases: u64,
    /// Cases in which the disk failed a request and the guest came to its end: all others are of
    /// these.
    pub struck: u64,
    /// Cases in which the kernel did not survive it, or an op never returned.
    pub not_ended: u64,
    /// Of the struck ones those in which another request was struck first than the drawn one.
    pub not_as_drawn: u64,
    /// An op failed, or the file system stopped.
    pub reported: Share,
    /// It takes no writes any more.
    pub stopped: Share,
    /// Acknowledged work is lost, and no op reported an error.
    pub silent: Share,
    /// Acknowledged work is lost, whatever other ops reported.
    pub lost: Share,
    /// Some file holds what nobody wrote.
    pub damaged: Share,
    /// What an op that failed wrote is not there, though a later sync of the file returned 0.
    pub missing_after_sync: Share,
    /// The running system showed what is not on the disk.
    pub only_in_memory: Share,
    /// The log of the kernel has it, and no op reported it.
    pub kernel_alone: Share,
    /// Of the fsyncs that failed, those that returned 0 when they were made again.
    pub again: Share,
    pub mounted_as_it_was: Share,
    /// Of the cases in which fsck was run.
    pub needs_repair: Share,
}

/// Figures of cases.
///
/// # Errors
/// Options out of their range.
pub fn medium_error_figures(
    cases: &[&MediumErrorCase],
    options: &FigureOptions,
) -> Result<MediumErrorFigures, SampleError> {
    let mut runs: BTreeMap<u64, Vec<&MediumErrorCase>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.verdict() >= Verdict::Unharmed) {
        runs.entry(case.seed).or_default().push(case);
    }
    let counted = |count: &dyn Fn(&MediumErrorCase) -> (u64, u64)| {
        let of_run = |run: &Vec<&MediumErrorCase>| {
            let counts = run.iter().map(|case| count(case));
            counts.fold((0, 0), |(hits, of), it| (hits + it.0, of + it.1))
        };
        share_of(&runs.values().map(of_run).collect::<Vec<_>>(), options)
    };
    let share =
        |is_hit: &dyn Fn(&MediumErrorCase) -> bool| counted(&|case| (is_hit(case).into(), 1));
    Ok(MediumErrorFigures {
        runs: runs.len() as u32,
        cases: cases.len() as u64,
        struck: runs.values().map(Vec::len).sum::<usize>() as u64,
        not_ended: cases.iter().filter(|case| case.not_ended.is_some()).count() as u64,
        not_as_drawn: runs.values().flatten().filter(|case| !case.is_as_drawn()).count() as u64,
        reported: share(&MediumErrorCase::is_reported)?,
        stopped: share(&MediumErrorCase::is_stopped)?,
        silent: share(&|case| case.verdict() == Verdict::Silent)?,
        lost: share(&|case| !case.lost.is_empty())?,
        damaged: share(&|case| !case.damaged.is_empty())?,
        missing_after_sync: share(&|case| case.missing_after_sync > 0)?,
        only_in_memory: share(&|case| case.only_in_memory > 0)?,
        kernel_alone: share(&|case| !case.is_reported() && !case.kernel_messages.is_empty())?,
        again: counted(&|case| {
            let returned_0 = case.again().filter(|errno| *errno == 0).count();
            (returned_0 as u64, case.again().count() as u64)
        })?,
        mounted_as_it_was: share(&|case| {
            case.mounted == Some(MountStep::ReadWrite) && case.is_usable != Some(false)
        })?,
        needs_repair: counted(&|case| {
            let is_damaged = case.needs_repair == Some(true);
            (is_damaged.into(), case.needs_repair.is_some().into())
        })?,
    })
}
