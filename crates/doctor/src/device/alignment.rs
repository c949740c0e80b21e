//! Where a partition begins, against the units that its disk works in
//! (Documentation/ABI/stable/sysfs-block: `alignment_offset`, `optimal_io_size`).

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;
use fsarena_model::units::Bytes;

const REMEDY: &str = "make the partition anew from 1 MiB on (its contents are lost)";

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    let offset = read::parsed(&layer.dir.join("alignment_offset"), "bytes, or -1", |text| {
        text.parse::<i64>().ok()
    });
    let offset = match offset {
        Ok(offset) => offset,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let why = "a block of the file system lies across two sectors of the medium, so that a write \
               of one reads and writes two";
    if offset != 0 {
        let reading = match offset {
            -1 => "the kernel finds it misaligned".to_owned(),
            bytes => format!("it begins {bytes} B before a sector of the medium"),
        };
        return Some(Said::bad(reading, why).remedy(REMEDY));
    }
    if layer.is_whole() {
        return None;
    }
    let start_bytes = layer.device.start_bytes;
    let Some(physical_bytes) = layer.device.physical_sector_bytes.filter(|bytes| *bytes > 0) else {
        return Some(Said::unknown("the disk does not tell its physical sector size"));
    };
    let begins = format!("it begins at {}", Bytes(start_bytes));
    if !start_bytes.is_multiple_of(physical_bytes) {
        let reading =
            format!("{begins}, no multiple of the physical sector of {}", Bytes(physical_bytes));
        return Some(Said::bad(reading, why).remedy(REMEDY));
    }
    let optimal_bytes = match read::number(&layer.queue.join("optimal_io_size")) {
        Ok(bytes) => bytes,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    // Some USB bridges tell 65,535 sectors, which is no unit of anything.
    let is_unit = optimal_bytes > 0 && optimal_bytes.is_multiple_of(physical_bytes.max(4096));
    if is_unit && !start_bytes.is_multiple_of(optimal_bytes) {
        let reading =
            format!("{begins}, no multiple of the optimal I/O size of {}", Bytes(optimal_bytes));
        let why = "large writes lie across two stripes or erase blocks, so that both are rewritten";
        return Some(Said::warning(reading, why).remedy(REMEDY));
    }
    Some(Said::fine(format!("{begins}, aligned")))
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    fn starting(sector: &str, physical: &str, optimal: &str) -> (String, String) {
        let tree = disk()
            .with("sys/block/sda/sda1/start", sector)
            .with("sys/block/sda/queue/physical_block_size", physical)
            .with("sys/block/sda/queue/optimal_io_size", optimal);
        device("alignment", &tree, "sda1").unwrap()
    }

    #[test]
    fn starts_of_partitions() {
        assert_eq!(starting("2048\n", "4096\n", "0\n").1, "it begins at 1 MiB, aligned");
        let odd = starting("63\n", "4096\n", "0\n");
        assert_eq!(odd.0, "bad");
        assert!(odd.1.ends_with("no multiple of the physical sector of 4 KiB"), "{odd:?}");
        assert_eq!(starting("63\n", "512\n", "0\n").0, "fine");
        assert_eq!(starting("2048\n", "512\n", "1572864\n").0, "warning", "three disks of 512 KiB");
        assert_eq!(starting("2048\n", "512\n", "33553920\n").0, "fine", "a bridge's number");
        assert_eq!(starting("2048\n", "512\n", "wide\n").0, "unknown");
        assert_eq!(starting("2048\n", "big\n", "0\n").0, "unknown");
    }

    #[test]
    fn what_the_kernel_finds() {
        let said = |value: &str| {
            let tree = disk().with("sys/block/sda/sda1/alignment_offset", value);
            device("alignment", &tree, "sda1").unwrap().0
        };
        assert_eq!(said("-1\n"), "bad");
        assert_eq!(said("3584\n"), "bad");
        assert_eq!(said("none\n"), "unknown");
        let tree = disk().without("sys/block/sda/sda1/alignment_offset");
        assert_eq!(device("alignment", &tree, "sda1").unwrap().0, "unknown");
        assert_eq!(
            device("alignment", &disk(), "sda"),
            None,
            "a whole disk begins at its beginning"
        );
    }
}
