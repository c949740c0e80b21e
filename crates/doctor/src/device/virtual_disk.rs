//! Disks that another machine makes up.

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;
use fsarena_targets::devices::DeviceKind;

/// Words in vendor or model of made-up disks, in lower case.
const MODELS: [&str; 10] = [
    "amazon elastic block store",
    "amazon ec2",
    "google",
    "msft",
    "nutanix",
    "qemu",
    "vbox",
    "virtual disk",
    "virtio",
    "vmware",
];

pub(crate) fn look(scene: &Scene, layer: &Layer) -> Option<Said> {
    if !layer.is_hardware() {
        return None;
    }
    let said = |name: &str| read::text(&layer.dir.join("device").join(name)).unwrap_or_default();
    let model = format!("{} {}", said("vendor"), said("model"));
    let model = model.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = model.to_lowercase();
    let name = layer.device.name.as_str();
    let by_name = [("vd", "virtio"), ("xvd", "Xen"), ("ubd", "UML"), ("pmem", "pmem")];
    let by_name = by_name
        .iter()
        .find(|(prefix, _)| name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()));
    let kind = match by_name {
        _ if layer.device.kind == DeviceKind::Network => Some("a disk behind a network".to_owned()),
        _ if MODELS.iter().any(|word| lower.contains(word)) => {
            Some(format!("a virtual disk ({model})"))
        }
        Some((_, bus)) => Some(format!("a virtual disk ({bus})")),
        None => None,
    };
    let why = "its cache, its limits and its other users are not seen here: a cold read may come \
               from the memory of the host, and a flush may end before anything is durable";
    Some(match (kind, &scene.host.hypervisor) {
        (Some(kind), _) => Said::warning(kind, why).remedy(
            "say so beside the figures; have the host pass the disk through, without a cache of \
             its own",
        ),
        (None, Some(machine)) => Said::unknown(format!(
            "whether the disk is real is not told: this is a virtual machine ({machine})"
        )),
        (None, None) if model.is_empty() => Said::unknown("the disk does not tell its model"),
        (None, None) => Said::fine(format!("a disk of its own ({model})")),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{block, device, disk};

    #[test]
    fn models() {
        let said = |vendor: &str, model: &str| {
            let tree = disk()
                .with("sys/block/sda/device/vendor", vendor)
                .with("sys/block/sda/device/model", model);
            device("virtual-disk", &tree, "sda").unwrap()
        };
        let real = said("ATA     \n", "WDC WDS500G2B0A\n");
        assert_eq!(real, ("fine".to_owned(), "a disk of its own (ATA WDC WDS500G2B0A)".to_owned()));
        assert_eq!(said("QEMU\n", "QEMU HARDDISK\n").0, "warning");
        assert_eq!(said("Msft\n", "Virtual Disk\n").0, "warning");
        assert_eq!(said("", "").0, "unknown");
    }

    #[test]
    fn names_and_machines() {
        let tree = disk();
        block(&tree, "sys/block/vdb", "254:16", 2048);
        assert_eq!(device("virtual-disk", &tree, "vdb").unwrap().1, "a virtual disk (virtio)");
        block(&tree, "sys/block/nbd0", "43:0", 2048);
        assert_eq!(device("virtual-disk", &tree, "nbd0").unwrap().1, "a disk behind a network");
        let guest = tree.with("sys/hypervisor/type", "xen\n");
        assert_eq!(device("virtual-disk", &guest, "sda").unwrap().0, "unknown");
        assert_eq!(device("virtual-disk", &guest, "sda1"), None);
    }
}
