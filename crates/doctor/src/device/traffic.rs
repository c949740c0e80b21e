//! What the device does while nothing is measured yet.

use crate::check::Said;
use crate::layers::Layer;
use crate::scene::Scene;
use fsarena_model::units::Bytes;

/// Traffic a second above which it is said: what a log file or two write.
const QUIET_BYTES_PER_S: f64 = 512.0 * 1024.0;

pub(crate) fn look(scene: &Scene, layer: &Layer) -> Option<Said> {
    if !layer.is_hardware() {
        return None;
    }
    let traffic = match scene.sample.devices.get(&layer.device.name)? {
        Ok(traffic) => *traffic,
        Err(reason) => return Some(Said::unknown(reason.clone())),
    };
    let seconds = (scene.sample.window_ns as f64 * 1e-9).max(1e-9);
    let reading = format!(
        "{} read and {} written in one second",
        Bytes(traffic.read_bytes),
        Bytes(traffic.written_bytes)
    );
    let bytes = traffic.read_bytes.saturating_add(traffic.written_bytes) as f64;
    Some(match bytes / seconds > QUIET_BYTES_PER_S {
        true => Said::warning(
            reading,
            "requests of others stand in the same queue, and are counted as those of the work",
        )
        .remedy("wait until it is over, or find out who it is")
        .command("sudo iotop --only --batch --iter=3"),
        false => Said::fine(reading),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, device_with, disk, quiet, with_traffic};

    #[test]
    fn bytes_in_a_second() {
        let said = |read, written| {
            let sample = with_traffic(quiet(), "sda", read, written);
            device_with("traffic", &disk(), "sda", sample).unwrap()
        };
        assert_eq!(said(0, 4096).0, "fine");
        let busy = said(1 << 20, 2 << 20);
        assert_eq!(busy.1, "1 MiB read and 2 MiB written in one second");
        assert_eq!(busy.0, "warning");
        let mut sample = quiet();
        sample.devices.insert("sda".to_owned(), Err("no such file".to_owned()));
        assert_eq!(device_with("traffic", &disk(), "sda", sample).unwrap().0, "unknown");
        assert_eq!(device("traffic", &disk(), "sda1"), None);
    }
}
