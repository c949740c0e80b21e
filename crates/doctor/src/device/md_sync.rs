//! A software RAID that is rebuilt or checked (Documentation/admin-guide/md.rst, `sync_action`).

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;
use fsarena_targets::devices::DeviceKind;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    if layer.device.kind != DeviceKind::Md {
        return None;
    }
    let md = layer.dir.join("md");
    let level = match read::text(&md.join("level")) {
        Ok(level) => level,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let file = md.join("sync_action");
    if !file.exists() && (level == "raid0" || level == "linear") {
        return Some(Said::fine(format!("{level}, which is never rebuilt")));
    }
    let degraded = read::number(&md.join("degraded")).unwrap_or(0);
    Some(match read::text(&file).as_deref() {
        Err(reason) => Said::unknown(reason),
        Ok("idle" | "frozen") if degraded > 0 => Said::warning(
            format!("{level}, with {degraded} of its disks missing"),
            "reads are put together from the other disks, which costs time and processors",
        )
        .remedy("put a disk in the place of the missing one"),
        Ok("idle" | "frozen") => Said::fine(format!("{level}, at rest")),
        Ok(action) => Said::bad(
            format!("{level}, and a {action} is under way"),
            "all its disks are read and written beside the work until it ends",
        )
        .remedy("wait until it ends")
        .command("cat /proc/mdstat"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{block, device, disk};

    #[test]
    fn actions() {
        let said = |files: &[(&str, &str)]| {
            let tree = disk();
            block(&tree, "sys/block/md0", "9:0", 2048);
            for (name, value) in files {
                tree.put(&format!("sys/block/md0/md/{name}"), value);
            }
            device("md-sync", &tree, "md0").unwrap().0
        };
        let mirror = ("level", "raid1\n");
        assert_eq!(said(&[mirror, ("sync_action", "idle\n")]), "fine");
        assert_eq!(said(&[mirror, ("sync_action", "resync\n")]), "bad");
        assert_eq!(said(&[mirror, ("sync_action", "idle\n"), ("degraded", "1\n")]), "warning");
        assert_eq!(said(&[("level", "raid0\n")]), "fine");
        assert_eq!(said(&[mirror]), "unknown");
        assert_eq!(said(&[]), "unknown");
        assert_eq!(device("md-sync", &disk(), "sda"), None);
    }
}
