//! The machine that a RUN was done on, in a line.
//!
//! Names of hosts and users are left out: this line is passed on.

use fsarena_model::host::Host;
use fsarena_model::units::Bytes;

/// Whether anything says on which machine it was: of imported RUNs nothing does.
pub(super) fn is_known(host: &Host) -> bool {
    !host.os.is_empty() || host.cpus > 0
}

/// The machine: kernel, processors, memory, hypervisor.
#[must_use]
pub fn machine_line(host: &Host) -> String {
    if !is_known(host) {
        return "the machine is not known".to_owned();
    }
    let system = format!("{} {}", host.os, host.kernel_release).trim().to_owned();
    format!("{system}, {}", hardware_of(host))
}

/// The same without the kernel: what stays when it is changed.
pub(super) fn hardware_of(host: &Host) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let host = Host { os: "Linux".into(), cpus: 2, ..Host::default() };
        assert_eq!(machine_line(&host), "Linux, 2 × CPUs");
        let host = Host {
            kernel_release: "6.1.0".into(),
            cpu_model: Some("Duron".into()),
            memory_bytes: 64 << 20,
            hypervisor: Some("KVM".into()),
            ..host
        };
        let line = "Linux 6.1.0, 2 × Duron, 64 MiB of memory, a virtual machine (KVM)";
        assert_eq!(machine_line(&host), line);
    }
}
