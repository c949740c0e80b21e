//! Whether the device counts its requests (`queue/iostats`).

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    if !layer.is_whole() || !(layer.is_top || layer.is_hardware()) {
        return None;
    }
    let file = layer.queue.join("iostats");
    Some(match read::flag(&file) {
        Err(reason) => Said::unknown(reason),
        Ok(true) => Said::fine("the device counts its requests"),
        Ok(false) => Said::warning(
            "the device does not count its requests",
            "no traffic, no write amplification and no proof of cold reads can be had",
        )
        .remedy("let it count")
        .command(read::echo("1", &file)),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    #[test]
    fn switches() {
        let said = |value: &str| {
            let tree = disk().with("sys/block/sda/queue/iostats", value);
            device("counting", &tree, "sda").unwrap().0
        };
        assert_eq!(said("1\n"), "fine");
        assert_eq!(said("0\n"), "warning");
        assert_eq!(said("\n"), "unknown");
        let tree = disk().without("sys/block/sda/queue/iostats");
        assert_eq!(device("counting", &tree, "sda").unwrap().0, "unknown");
    }
}
