//! How far the kernel reads ahead of a sequential reader.

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;
use fsarena_model::units::Bytes;

/// `VM_READAHEAD_PAGES` (include/linux/pagemap.h), KiB.
const DEFAULT_KIB: u64 = 128;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    // The file system asks the device that it lies on; what is below has no say.
    if !layer.is_top && !layer.is_hardware() {
        return None;
    }
    if !layer.is_whole() {
        return None; // Its disk, which is below, is told.
    }
    let file = layer.queue.join("read_ahead_kb");
    let kib = match read::number(&file) {
        Ok(kib) => kib,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let reading = format!("read-ahead is {}", Bytes(kib.saturating_mul(1024)));
    let own_kib = own_kib(layer);
    let back = read::echo(&own_kib.to_string(), &file);
    Some(match kib {
        _ if kib == own_kib || kib == DEFAULT_KIB => {
            Said::fine(format!("{reading}, as the kernel chooses"))
        }
        0 => Said::warning(
            "read-ahead is off",
            "sequential reads wait for each page, and no file system is at its speed",
        )
        .remedy("set what the kernel would choose")
        .command(back),
        _ => Said::note(
            format!("{reading}; the kernel would choose {}", Bytes(own_kib.saturating_mul(1024))),
            "sequential reads are those of this setting, and random reads of mapped or small files \
             may fetch more than they need",
        )
        .remedy("set what the kernel would choose, or make it a factor with --read-ahead")
        .command(back),
    })
}

/// What the kernel chooses for the device: twice its optimal I/O size, of a disk that turns and has
/// none twice its largest request (block/blk-settings.c, `blk_apply_bdi_limits`), KiB.
fn own_kib(layer: &Layer) -> u64 {
    let of = |name: &str| read::number(&layer.queue.join(name)).unwrap_or(0);
    let largest_kib = if layer.device.rotational == Some(true) { of("max_sectors_kb") } else { 0 };
    let unit_kib = match of("optimal_io_size") / 1024 {
        0 => largest_kib,
        optimal_kib => optimal_kib,
    };
    unit_kib.saturating_mul(2).max(DEFAULT_KIB)
}

#[cfg(test)]
mod tests {
    use crate::stage::{device, disk};

    #[test]
    fn sizes() {
        let said = |kib: &str| {
            let tree = disk().with("sys/block/sda/queue/read_ahead_kb", kib);
            device("read-ahead", &tree, "sda").unwrap()
        };
        assert_eq!(said("128\n").0, "fine");
        let more = said("4096\n");
        assert_eq!(more.1, "read-ahead is 4 MiB; the kernel would choose 128 KiB");
        assert_eq!((more.0.as_str(), said("0\n").0.as_str()), ("note", "warning"));
        assert_eq!(said("far\n").0, "unknown");
        let of_stripes = disk()
            .with("sys/block/sda/queue/read_ahead_kb", "3072\n")
            .with("sys/block/sda/queue/optimal_io_size", "1572864\n");
        let chosen = device("read-ahead", &of_stripes, "sda").unwrap();
        assert_eq!(chosen.1, "read-ahead is 3 MiB, as the kernel chooses");
        let turning = disk()
            .with("sys/block/sda/queue/read_ahead_kb", "2560\n")
            .with("sys/block/sda/queue/max_sectors_kb", "1280\n")
            .with("sys/block/sda/queue/rotational", "1\n");
        assert_eq!(device("read-ahead", &turning, "sda").unwrap().0, "fine");
        let tree = disk().without("sys/block/sda/queue/read_ahead_kb");
        assert_eq!(device("read-ahead", &tree, "sda").unwrap().0, "unknown");
        assert_eq!(device("read-ahead", &disk(), "sda1"), None);
    }
}
