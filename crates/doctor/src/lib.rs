//! `fsarena doctor`: conditions that distort results, before a RUN.
//!
//! Each check reads something of [`fsarena_metrics::KernelRoots`] or `fsarena-devices`, and says
//! what it read, why that matters and what mends it. Nothing is changed. A reading that could not
//! be had is [`Weight::Unknown`] with its reason, never fine.
//!
//! One check is one function and one line in `CHECKS`. [`noise`] judges what two minutes of equal
//! runs have shown. Nothing here prints, and no serial number gets into a finding.
#![forbid(unsafe_code)]

mod below;
mod check;
mod device;
mod directory;
#[cfg(test)]
mod fixtures;
mod host;
mod layers;
pub mod noise;
mod read;
mod sample;
mod snapshot;
mod target;

pub use below::{Below, Piece, below};
pub use target::{NotATarget, Target};

use check::{Check, Scope, Scope::Device, Scope::Directory, Scope::Hardware, Scope::Host};
use fsarena_metrics::KernelRoots;
use fsarena_model::host::{Finding, Weight};
use fsarena_process::cmd::SearchPath;
use snapshot::SystemSnapshot;
use std::time::Duration;

/// Name of the entry for a target that could not be found.
const UNSEEN: &str = "unseen";

/// Every check, in the order of the findings; a check is its function and its line here.
const CHECKS: &[Check] = &[
    check("governor", Host(host::governor)),
    check("turbo", Host(host::turbo)),
    check("smt", Host(host::smt)),
    check("clock-source", Host(host::clock_source)),
    check("numa", Host(host::numa)),
    check("virtual-machine", Host(host::virtual_machine)),
    check("page-reporting", Host(host::page_reporting)),
    check("load", Host(host::load)),
    check("steal", Host(host::steal)),
    check("pressure", Host(host::pressure)),
    check("swap", Host(host::swap)),
    check("compressed-swap", Host(host::compressed_swap)),
    check("cgroup-limits", Host(host::cgroup_limits)),
    check("dirty-limits", Host(host::dirty_limits)),
    check("battery", Host(host::battery)),
    check("debug-kernel", Host(host::debug_kernel)),
    check("alignment", Device(device::alignment)),
    check("sector-size", Hardware(device::sector_size)),
    check("rotational", Hardware(device::rotational)),
    check("scheduler", Device(device::scheduler)),
    check("read-ahead", Device(device::read_ahead)),
    check("write-cache", Hardware(device::write_cache)),
    check("discard", Device(device::discard)),
    check("virtual-disk", Hardware(device::virtual_disk)),
    check("memory", Device(device::memory)),
    check("loop-direct-io", Device(device::loop_direct_io)),
    check("md-sync", Device(device::md_sync)),
    check("wear", Hardware(device::wear)),
    check("in-use", Device(device::in_use)),
    check("swap-on-device", Device(device::swap_on_device)),
    check("traffic", Hardware(device::traffic)),
    check("counting", Device(device::counting)),
    check("free-space", Directory(directory::free_space)),
    check("access-times", Directory(directory::access_times)),
    check("synchronous", Directory(directory::synchronous)),
    check("promises", Directory(directory::promises)),
    check("mount-discard", Directory(directory::mount_discard)),
    check("compression", Directory(directory::compression)),
    check("in-memory", Directory(directory::in_memory)),
    check("behind", Directory(directory::behind)),
    check("lazy-init", Directory(directory::lazy_init)),
];

const fn check(code: &'static str, scope: Scope) -> Check {
    Check { code, scope }
}

/// Carries out every check that concerns the targets; the machine itself is always looked at. In
/// the order of the table of checks. For as long as `watched` it does nothing but watch the load.
#[must_use]
pub fn examine(roots: &KernelRoots, targets: &[Target], watched: Duration) -> Vec<Finding> {
    let snapshot = SystemSnapshot::read(roots, targets, SearchPath::from_env(), watched);
    judge(&snapshot)
}

/// What the report of smartctl comes to, in words: for the targets of `fsarena-fuzz`.
#[doc(hidden)]
#[must_use]
pub fn smart_reading(json: &str) -> String {
    device::judge_smart_report(json).reading
}

/// Size of all areas of swap and how much of it is in use, bytes: for the targets of
/// `fsarena-fuzz`.
///
/// # Errors
/// A line that is not understood.
#[doc(hidden)]
pub fn swap_bytes(roots: &KernelRoots) -> Result<(u64, u64), String> {
    let all = snapshot::swaps(roots)?;
    let sum = |of: fn(&snapshot::Swap) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    Ok((sum(|swap| swap.all_bytes), sum(|swap| swap.used_bytes)))
}

/// Names of all checks, in their order.
pub fn codes() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.code)
}

fn judge(snapshot: &SystemSnapshot) -> Vec<Finding> {
    let unseen = snapshot.unseen.iter().map(|(place, reason)| Finding {
        code: UNSEEN.to_owned(),
        place: place.clone(),
        weight: Weight::Unknown,
        reading: reason.clone(),
        why: String::new(),
        remedy: None,
        command: None,
    });
    CHECKS.iter().flat_map(|check| check.findings(snapshot)).chain(unseen).collect()
}

#[cfg(test)]
mod tests;
