//! Where a RUN was done, in a line each: the machine, and the devices under the file systems.
//!
//! Names of hosts and users, serials and paths are left out: these lines are passed on.

use crate::contenders::Contenders;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::factor::{self, Factor, SYSCTL_FACT};
use fsarena_model::host::Host;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunPlan;
use fsarena_model::units::Bytes;

/// Whether anything says on which machine it was: of imported RUNs nothing does.
pub(crate) fn is_known(host: &Host) -> bool {
    !host.os.is_empty() || host.cpus > 0
}

/// The machine: kernel, processors, memory, hypervisor.
pub(crate) fn machine(host: &Host) -> String {
    if !is_known(host) {
        return "the machine is not known".to_owned();
    }
    let system = format!("{} {}", host.os, host.kernel_release).trim().to_owned();
    format!("{system}, {}", hardware_of(host))
}

/// The same without the kernel: what stays when it is changed.
pub(crate) fn hardware_of(host: &Host) -> String {
    let mut parts = Vec::new();
    let model = host.cpu_model.as_deref().unwrap_or("CPUs");
    parts.push(format!("{} × {model}", host.cpus));
    if host.memory_bytes > 0 {
        parts.push(format!("{} of memory", Bytes(host.memory_bytes)));
    }
    if let Some(hypervisor) = &host.hypervisor {
        parts.push(format!("a virtual machine ({hypervisor})"));
    }
    parts.join(", ")
}

/// The devices of the records, each once, in the order of first use.
pub(crate) fn devices(plan: &RunPlan, records: &[TrialRecord]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let state = common_state(plan);
    let contenders = Contenders::new(plan);
    let of = |record: &TrialRecord| {
        let level = contenders.get(record).map(|contender| &contender.levels.device);
        let line = device(level, record)?;
        Some(format!("{line}{state}"))
    };
    for line in records.iter().filter_map(of) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// What was done to the devices of all contenders alike; what varies is in their labels.
fn common_state(plan: &RunPlan) -> String {
    let fact = |factor: &'static dyn Factor| {
        let mut levels = plan.contenders.iter().map(|contender| factor.get(&contender.levels));
        let first = levels.next()?;
        levels.all(|level| level == first).then(|| factor.fact(&first)).flatten()
    };
    factor::all().into_iter().filter_map(fact).map(|fact| format!(", {fact}")).collect()
}

/// What a trial was on; `None` for what is in memory alone.
pub(crate) fn device(level: Option<&DeviceLevel>, record: &TrialRecord) -> Option<String> {
    let fact = |name: &str| record.device.get(name).map(String::as_str);
    let size_bytes = fact("size_bytes").and_then(|text| text.parse().ok()).map(Bytes);
    let own_bytes = level.and_then(DeviceLevel::size_bytes).map(Bytes);
    let sized = |name: &str| match size_bytes.or(own_bytes) {
        Some(size) => format!("{name} of {size}"),
        None => name.to_owned(),
    };
    let made = match level {
        Some(DeviceLevel::Zram { .. }) => Some(("zram", "compressed memory")),
        Some(DeviceLevel::Brd { .. }) => Some(("brd", "memory")),
        Some(DeviceLevel::NullBlk { .. }) => Some(("null_blk", "memory that answers at once")),
        // A file system in memory takes the size of the device and not the device.
        Some(DeviceLevel::Block { .. })
            if record.device.keys().all(|name| name.starts_with(SYSCTL_FACT)) =>
        {
            return None;
        }
        Some(DeviceLevel::Block { .. }) => return Some(sized(&hardware(&fact))),
        Some(DeviceLevel::Elsewhere { .. }) if fact("watched").is_some() => {
            return Some(format!("{}, watched", sized(fact("kind")?)));
        }
        _ => None,
    };
    if let Some((name, what)) = made {
        return Some(format!("{}, {what}", sized(name)));
    }
    let backing = fact("backing_fs")?;
    let way = match (fact("in_memory"), fact("direct_io")) {
        (Some("true"), _) => ", in memory",
        (_, Some("true")) => ", direct I/O",
        (_, Some(_)) => ", through the page cache",
        _ => "",
    };
    Some(match size_bytes {
        Some(size) => format!("loop device over an image of {size} on {backing}{way}"),
        None => format!("a directory on {backing}{way}"),
    })
}

/// A block device of the user's, by what it says of itself.
fn hardware<'a>(fact: &impl Fn(&str) -> Option<&'a str>) -> String {
    if fact("backing_file").is_some() {
        let place = if fact("in_memory") == Some("true") { " in memory" } else { "" };
        return format!("loop device over a file{place}");
    }
    let turning = match fact("rotational") {
        Some("1") => "rotating ",
        Some("0") => "non-rotating ",
        _ => "",
    };
    let model = fact("model").map(|model| format!(" {}", model.trim())).unwrap_or_default();
    format!("{turning}block device{model}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let host = Host { os: "Linux".into(), cpus: 2, ..Host::default() };
        assert_eq!(machine(&host), "Linux, 2 × CPUs");
        let host = Host {
            kernel_release: "6.1.0".into(),
            cpu_model: Some("Duron".into()),
            memory_bytes: 64 << 20,
            hypervisor: Some("KVM".into()),
            ..host
        };
        let line = "Linux 6.1.0, 2 × Duron, 64 MiB of memory, a virtual machine (KVM)";
        assert_eq!(machine(&host), line);
    }
}
