//! Free memory that is handed to the hypervisor (virtio balloon).

use crate::check::Said;
use crate::scene::Scene;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let devices = scene.roots.sys.join("bus/virtio/devices");
    let hypervisor = scene.host.hypervisor.as_deref();
    Some(match (scene.host.page_reporting, hypervisor) {
        (true, _) => Said::warning(
            "free memory is reported to the hypervisor, which takes it away",
            "the first touch of such a page waits for the hypervisor: writing into the page cache \
             is slow after a pause, and fast just before one",
        )
        .remedy(
            "switch free page reporting of the balloon off in the hypervisor, or give the machine \
             memory of a fixed size",
        ),
        (false, _) if devices.is_dir() => Said::fine("no balloon reports free memory"),
        (false, None) => Said::fine("no hypervisor that could take memory away"),
        (false, Some(name)) => Said::unknown(format!(
            "whether {name} takes free memory away is not told (no /sys/bus/virtio/devices)"
        )),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    #[test]
    fn balloons() {
        let balloon = |features: &str| {
            let dir = "sys/bus/virtio/devices/virtio0";
            let files = [
                (format!("{dir}/device"), "0x0005\n"),
                (format!("{dir}/features"), features),
                (format!("{dir}/driver/module"), ""),
            ];
            let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), *b)).collect();
            host("page-reporting", &files).0
        };
        assert_eq!(balloon("0000010000\n"), "warning");
        assert_eq!(balloon("0000000000\n"), "fine");
        assert_eq!(balloon("?\n"), "fine", "a feature that is not told is not in force");
        assert_eq!(host("page-reporting", &[]).0, "fine");
        let guest = [("sys/hypervisor/type", "xen\n")];
        assert_eq!(host("page-reporting", &guest).0, "unknown");
    }
}
