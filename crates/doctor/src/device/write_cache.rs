//! Whether the disk has a write cache that loses its contents without power.

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    if !layer.is_hardware() {
        return None;
    }
    let file = layer.queue.join("write_cache");
    Some(match read::text(&file).as_deref() {
        Err(reason) => Said::unknown(reason),
        Ok("write back") => Said::fine("the write cache is write back: fsync flushes it"),
        Ok("write through") => Said::note(
            "the write cache is write through: the kernel sends no flush",
            "fsync costs little here; on a disk with a volatile cache the order of file systems \
             may be another. If the disk has such a cache all the same, data are not safe",
        )
        .remedy("have it flushed, or say it beside the figures")
        .command(read::echo("\"write back\"", &file)),
        Ok(other) => Said::unknown(format!(
            "{}: found {other:?}, expected write back or write through",
            file.display()
        )),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    #[test]
    fn caches() {
        let said = |value: &str| {
            let tree = disk().with("sys/block/sda/queue/write_cache", value);
            device("write-cache", &tree, "sda").unwrap().0
        };
        assert_eq!(said("write back\n"), "fine");
        assert_eq!(said("write through\n"), "note");
        assert_eq!(said("write around\n"), "unknown");
        let tree = disk().without("sys/block/sda/queue/write_cache");
        assert_eq!(device("write-cache", &tree, "sda").unwrap().0, "unknown");
    }
}
