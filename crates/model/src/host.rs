//! The machine and its settings, as far as they can change a result.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A host in one boot.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// Host name; left out of reports unless asked for.
    pub hostname: String,
    /// `Linux`.
    pub os: String,
    /// `uname -r`.
    pub kernel_release: String,
    /// `uname -v`.
    pub kernel_version: String,
    /// `x86_64`.
    pub architecture: String,
    /// Pretty name of the distribution.
    pub distribution: Option<String>,
    /// Model of the processor.
    pub cpu_model: Option<String>,
    /// Processors online.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Swap, bytes.
    pub swap_bytes: u64,
    /// One uptime of the machine.
    pub boot_id: String,
    /// Hypervisor, where one says so.
    pub hypervisor: Option<String>,
    /// `tsc`, `kvm-clock`, …
    pub clocksource: Option<String>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Whether free memory is handed to the hypervisor, so that its next touch is slow.
    pub page_reporting: bool,
    /// Everything else worth knowing, by name (`thp`, `dirty_ratio`, …).
    pub settings: BTreeMap<String, String>,
}
