//! Devices that keep their contents in memory.

use crate::check::Said;
use crate::layers::Layer;
use crate::scene::Scene;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    let why = "nothing of a disk is in the figures: no seek, no flush, no wear; what is left is \
               the cost of the code";
    let remedy = "name a disk for figures of disks";
    if layer.is_memory() {
        let reading = format!("a device in memory ({})", layer.device.kind.name());
        return Some(Said::warning(reading, why).remedy(remedy));
    }
    let backing = layer.backing.as_ref()?;
    Some(match backing.fstype.as_deref() {
        Some(fstype @ ("tmpfs" | "ramfs" | "rootfs")) => {
            let reading = format!("a loop device over a file in memory ({fstype})");
            Said::warning(reading, why).remedy(remedy)
        }
        Some(fstype) => Said::fine(format!("a loop device over a file on {fstype}")),
        None if backing.file.starts_with("/dev") => Said::fine("a loop device over a device"),
        None => Said::unknown("where the file below the loop device lies is not known"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{block, device, disk};

    #[test]
    fn devices_in_memory() {
        let tree = disk();
        block(&tree, "sys/block/zram0", "252:0", 2048);
        let said = device("memory", &tree, "zram0").unwrap();
        assert_eq!(said, ("warning".to_owned(), "a device in memory (zram)".to_owned()));
        assert_eq!(device("memory", &tree, "sda"), None);
    }

    #[test]
    fn loops() {
        let said = |file: &str, mounts: &str| {
            let tree = disk().with("proc/self/mountinfo", mounts);
            block(&tree, "sys/block/loop0", "7:0", 2048);
            device("memory", &tree.with("sys/block/loop0/loop/backing_file", file), "loop0")
        };
        let root = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:9 / /tmp rw - tmpfs tmpfs rw\n";
        let on_disk = said("/var/image\n", root).unwrap();
        assert_eq!(on_disk.1, "a loop device over a file on ext4");
        let in_memory = said("/tmp/image\n", root).unwrap();
        assert_eq!(in_memory.1, "a loop device over a file in memory (tmpfs)");
        assert_eq!((on_disk.0.as_str(), in_memory.0.as_str()), ("fine", "warning"));
        assert_eq!(said("/var/image\n", "odd\n").unwrap().0, "unknown");
        assert_eq!(said("/dev/sda1\n", root).unwrap().0, "fine");
    }
}
