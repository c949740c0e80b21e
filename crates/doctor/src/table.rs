//! All checks: one line each. The order is that of the findings.

use crate::check::{Check, Look, Look::Device, Look::Directory, Look::Host};
use crate::{device, directory, host};

/// Name of what stands for a subject that could not be found.
pub(crate) const UNSEEN: &str = "unseen";

/// Every check.
pub(crate) const CHECKS: &[Check] = &[
    check("governor", Host(host::governor::look)),
    check("turbo", Host(host::turbo::look)),
    check("smt", Host(host::smt::look)),
    check("clock-source", Host(host::clock_source::look)),
    check("numa", Host(host::numa::look)),
    check("virtual-machine", Host(host::hypervisor::look)),
    check("page-reporting", Host(host::page_reporting::look)),
    check("load", Host(host::load::look)),
    check("steal", Host(host::steal::look)),
    check("pressure", Host(host::pressure::look)),
    check("swap", Host(host::swap::look)),
    check("compressed-swap", Host(host::zswap::look)),
    check("cgroup-limits", Host(host::cgroup_limits::look)),
    check("dirty-limits", Host(host::dirty_limits::look)),
    check("battery", Host(host::battery::look)),
    check("debug-kernel", Host(host::debug_kernel::look)),
    check("alignment", Device(device::alignment::look)),
    check("sector-size", Device(device::sector_size::look)),
    check("rotational", Device(device::rotational::look)),
    check("scheduler", Device(device::scheduler::look)),
    check("read-ahead", Device(device::read_ahead::look)),
    check("write-cache", Device(device::write_cache::look)),
    check("discard", Device(device::discard::look)),
    check("virtual-disk", Device(device::virtual_disk::look)),
    check("memory", Device(device::memory::look)),
    check("loop-direct-io", Device(device::loop_direct_io::look)),
    check("md-sync", Device(device::md_sync::look)),
    check("wear", Device(device::wear::look)),
    check("in-use", Device(device::in_use::look)),
    check("swap-on-device", Device(device::swap::look)),
    check("traffic", Device(device::traffic::look)),
    check("counting", Device(device::counting::look)),
    check("free-space", Directory(directory::free_space::look)),
    check("access-times", Directory(directory::atime::look)),
    check("synchronous", Directory(directory::synchronous::look)),
    check("promises", Directory(directory::barriers::look)),
    check("mount-discard", Directory(directory::mount_discard::look)),
    check("compression", Directory(directory::compression::look)),
    check("in-memory", Directory(directory::memory::look)),
    check("behind", Directory(directory::remote::look)),
    check("lazy-init", Directory(directory::lazy_init::look)),
];

const fn check(code: &'static str, look: Look) -> Check {
    Check { code, look }
}
