//! Whether the kernel takes the disk for one that turns.

use crate::check::Said;
use crate::device::virtual_disk;
use crate::layers::Layer;
use crate::scene::Scene;
use fsarena_model::finding::Weight;

pub(crate) fn look(scene: &Scene, layer: &Layer) -> Option<Said> {
    if !layer.is_hardware() {
        return None;
    }
    let is_virtual =
        || virtual_disk::look(scene, layer).is_some_and(|said| said.weight == Weight::Warning);
    Some(match layer.device.rotational {
        None => Said::unknown("the disk does not tell whether it turns"),
        Some(false) => Said::fine("the kernel takes it for a disk that does not turn"),
        Some(true) if is_virtual() => Said::note(
            "the kernel takes this virtual disk for one that turns",
            "file systems and schedulers choose by it (btrfs: ssd), whatever lies below",
        )
        .remedy("if the host has SSDs, say so")
        .command(crate::read::echo("0", &layer.queue.join("rotational"))),
        Some(true) => Said::fine("the disk turns"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    #[test]
    fn turning() {
        let said = |value: &str, model: &str| {
            let tree = disk()
                .with("sys/block/sda/queue/rotational", value)
                .with("sys/block/sda/device/model", model);
            device("rotational", &tree, "sda").unwrap().0
        };
        assert_eq!(said("0\n", "Disk\n"), "fine");
        assert_eq!(said("1\n", "Disk\n"), "fine");
        assert_eq!(said("1\n", "QEMU HARDDISK\n"), "note");
        let tree = disk().without("sys/block/sda/queue/rotational");
        assert_eq!(device("rotational", &tree, "sda").unwrap().0, "unknown");
    }
}
