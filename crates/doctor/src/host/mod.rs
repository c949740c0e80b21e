//! Checks of the machine itself, one file each.

pub(crate) mod battery;
pub(crate) mod cgroup_limits;
pub(crate) mod clock_source;
pub(crate) mod debug_kernel;
pub(crate) mod dirty_limits;
pub(crate) mod governor;
pub(crate) mod hypervisor;
pub(crate) mod load;
pub(crate) mod numa;
pub(crate) mod page_reporting;
pub(crate) mod pressure;
pub(crate) mod smt;
pub(crate) mod steal;
pub(crate) mod swap;
pub(crate) mod turbo;
pub(crate) mod zswap;
