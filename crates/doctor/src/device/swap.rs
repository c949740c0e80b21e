//! Swap on the device itself.

use crate::check::Said;
use crate::layers::{Layer, covering};
use crate::scene::{Scene, swaps};
use fsarena_targets::cmd;
use std::path::Path;

pub(crate) fn look(scene: &Scene, layer: &Layer) -> Option<Said> {
    let areas = match swaps(&scene.roots) {
        Ok(areas) => areas,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let on_it = areas.iter().filter(|area| {
        area.name == layer.device.path
            || layer.device.partitions.iter().any(|part| area.name.ends_with(part))
            || file_lies_on(scene, &area.name, layer)
    });
    let names: Vec<String> = on_it.map(|area| area.name.display().to_string()).collect();
    Some(match names.as_slice() {
        [] => Said::fine("no swap lies on it"),
        [first, ..] => Said::warning(
            format!("swap lies on it ({})", names.join(", ")),
            "the kernel writes memory to the same disk as the work, at times of its own",
        )
        .remedy("switch this swap off while measuring")
        .command(format!("sudo swapoff {}", cmd::quoted(first))),
    })
}

fn file_lies_on(scene: &Scene, file: &Path, layer: &Layer) -> bool {
    if file.starts_with("/dev") {
        return false;
    }
    let mount = scene.mounts.as_ref().ok().and_then(|mounts| covering(mounts, file));
    let (major, minor) = layer.device.number;
    mount.is_some_and(|mount| {
        mount.device == format!("{major}:{minor}") || Path::new(&mount.source) == layer.device.path
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    #[test]
    fn areas() {
        let said = |line: &str, name| {
            let text = format!("Filename Type Size Used Priority\n{line}");
            device("swap-on-device", &disk().with("proc/swaps", text), name).unwrap().0
        };
        assert_eq!(said("", "sda"), "fine");
        assert_eq!(said("/dev/sda1 partition 64 0 -2\n", "sda1"), "warning");
        assert_eq!(said("/dev/sda1 partition 64 0 -2\n", "sda"), "warning", "a part of the disk");
        assert_eq!(said("/dev/sdb1 partition 64 0 -2\n", "sda"), "fine");
        assert_eq!(said("/data/swap file 64 0 -2\n", "sda1"), "warning", "a file on it");
        assert_eq!(said("/dev/sda1 partition\n", "sda1"), "unknown");
        let tree = disk().without("proc/swaps");
        assert_eq!(device("swap-on-device", &tree, "sda").unwrap().0, "unknown");
    }
}
