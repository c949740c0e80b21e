//! Who uses the device while it would be measured.

use crate::check::Said;
use crate::layers::Layer;
use crate::scene::Scene;

pub(crate) fn look(scene: &Scene, layer: &Layer) -> Option<Said> {
    let mounts = match &scene.mounts {
        Ok(mounts) => mounts,
        Err(reason) => return Some(Said::unknown(reason.clone())),
    };
    let (major, minor) = layer.device.number;
    let number = format!("{major}:{minor}");
    let mut points: Vec<String> = mounts
        .iter()
        .filter(|mount| {
            mount.device == number || std::path::Path::new(&mount.source) == layer.device.path
        })
        .map(|mount| mount.mount_point.display().to_string())
        .collect();
    points.sort();
    points.dedup();
    let mut users: Vec<String> = Vec::new();
    match points.as_slice() {
        [] => {}
        [first] => users.push(format!("mounted at {first}")),
        [first, others @ ..] => users.push(format!("mounted at {first} and {} more", others.len())),
    }
    if !layer.device.holders.is_empty() {
        users.push(format!("part of {}", layer.device.holders.join(", ")));
    }
    if users.is_empty() {
        return Some(Said::fine("not mounted, and part of nothing"));
    }
    Some(
        Said::note(
            users.join("; "),
            "other files on it are written and read at the same time as those of the work",
        )
        .remedy("measure on a disk that nothing else uses"),
    )
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    #[test]
    fn users() {
        let said = |tree: &fsarena_testkit::FakeTree, name| device("in-use", tree, name).unwrap();
        assert_eq!(said(&disk(), "sda1"), ("note".to_owned(), "mounted at /data".to_owned()));
        assert_eq!(said(&disk(), "sda").0, "fine");
        let held = disk().with("sys/block/sda/holders/dm-0", "");
        assert_eq!(said(&held, "sda").1, "part of dm-0");
        let unmounted = disk().with("proc/self/mountinfo", "22 1 9:0 / / rw - ext4 /dev/md0 rw\n");
        assert_eq!(said(&unmounted, "sda1").0, "fine");
        assert_eq!(said(&disk().with("proc/self/mountinfo", "odd\n"), "sda1").0, "unknown");
        assert_eq!(said(&disk().without("proc/self/mountinfo"), "sda1").0, "unknown");
    }
}
