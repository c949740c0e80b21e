//! Where a RUN was done, in a line each: the machine, and the devices under the file systems.
//!
//! Names of hosts and users, serials and paths are left out: these lines are passed on.

use fsarena_model::host::Host;
use fsarena_model::record::TrialRecord;
use fsarena_model::units::Bytes;

/// The machine: kernel, processors, memory, hypervisor.
pub(crate) fn machine(host: &Host) -> String {
    let mut parts = vec![format!("{} {}", host.os, host.kernel_release).trim().to_owned()];
    let model = host.cpu_model.as_deref().unwrap_or("processors");
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
pub(crate) fn devices(records: &[TrialRecord]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in records.iter().filter_map(device) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn device(record: &TrialRecord) -> Option<String> {
    let fact = |name: &str| record.device.get(name).map(String::as_str);
    let size_bytes = fact("size_bytes").and_then(|text| text.parse().ok()).map(Bytes);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let host = Host { os: "Linux".into(), cpus: 2, ..Host::default() };
        assert_eq!(machine(&host), "Linux, 2 × processors");
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
