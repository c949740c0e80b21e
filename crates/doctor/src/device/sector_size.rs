//! Sectors as the disk takes them and as it writes them.

use crate::check::Said;
use crate::layers::Layer;
use crate::scene::Scene;
use fsarena_model::units::Bytes;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    if !layer.is_hardware() {
        return None;
    }
    let (logical, physical) =
        (layer.device.logical_sector_bytes, layer.device.physical_sector_bytes);
    let (Some(logical), Some(physical)) = (logical, physical) else {
        return Some(Said::unknown("the disk does not tell its sector sizes"));
    };
    let reading = format!("sectors of {}, written in {}", Bytes(logical), Bytes(physical));
    Some(match physical > logical {
        true => Said::note(
            reading,
            "a write of less than a physical sector, or across two, is a read and a write; file \
             systems with blocks below it suffer",
        )
        .remedy("keep blocks of file systems and direct I/O at the physical size or above"),
        false => Said::fine(reading),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    #[test]
    fn sectors() {
        let said = |physical: &str| {
            let tree = disk().with("sys/block/sda/queue/physical_block_size", physical);
            device("sector-size", &tree, "sda").unwrap()
        };
        assert_eq!(said("512\n").0, "fine");
        let emulated = said("4096\n");
        assert_eq!(emulated, ("note".to_owned(), "sectors of 512 B, written in 4 KiB".to_owned()));
        assert_eq!(said("many\n").0, "unknown");
        let tree = disk().without("sys/block/sda/queue/physical_block_size");
        assert_eq!(device("sector-size", &tree, "sda").unwrap().0, "unknown");
        assert_eq!(device("sector-size", &disk(), "sda1"), None);
    }
}
