//! Whether the device can be told which blocks are free (TRIM, UNMAP, deallocate).

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    if layer.is_memory() || !(layer.is_whole() && (layer.is_top || layer.is_hardware())) {
        return None;
    }
    Some(match read::number(&layer.queue.join("discard_max_bytes")) {
        Err(reason) => Said::unknown(reason),
        Ok(0) if layer.device.rotational == Some(true) => {
            Said::fine("no TRIM, which a disk that turns does not need")
        }
        Ok(0) => Said::note(
            "TRIM does not reach the device",
            "the device takes every block for used: an SSD gets slower the longer it is written \
             to, whichever file system is on it at the time",
        )
        .remedy(
            "enable it in the layer above or in the adapter (LUKS: --allow-discards); else let \
             each trial begin alike with --ssd precondition",
        ),
        Ok(_) => Said::fine("TRIM is supported"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    #[test]
    fn trim() {
        let said = |rotational: &str, bytes: &str| {
            let tree = disk()
                .with("sys/block/sda/queue/rotational", rotational)
                .with("sys/block/sda/queue/discard_max_bytes", bytes);
            device("discard", &tree, "sda").unwrap().0
        };
        assert_eq!(said("0\n", "2147450880\n"), "fine");
        assert_eq!(said("0\n", "0\n"), "note");
        assert_eq!(said("1\n", "0\n"), "fine");
        assert_eq!(said("0\n", "-\n"), "unknown");
        let tree = disk().without("sys/block/sda/queue/discard_max_bytes");
        assert_eq!(device("discard", &tree, "sda").unwrap().0, "unknown");
    }
}
