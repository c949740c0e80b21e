//! Compressed memory before swap, or as swap (zswap, zram).

use crate::check::Said;
use crate::read;
use crate::scene::{Scene, swaps};

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let areas = match swaps(&scene.roots) {
        Ok(areas) => areas,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let file = scene.roots.sys.join("module/zswap/parameters/enabled");
    let enabled = match file.exists() {
        false => Ok(false),
        true => read::parsed(&file, "Y or N", |text| match text {
            "Y" | "1" => Some(true),
            "N" | "0" => Some(false),
            _ => None,
        }),
    };
    let is_zram = areas.iter().any(|area| area.name.to_string_lossy().contains("zram"));
    let why = "under a memory limit, pages are compressed instead of written: processor time is \
               spent where others have device traffic";
    Some(match enabled {
        _ if is_zram => Said::note("swap lies on zram", why)
            .remedy("switch it off while measuring")
            .command("sudo swapoff -a"),
        Err(reason) => Said::unknown(reason),
        Ok(true) if !areas.is_empty() => Said::note("zswap is on", why)
            .remedy("switch it off while measuring")
            .command(read::echo("N", &file)),
        Ok(_) => Said::fine("no swap is compressed"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    #[test]
    fn compressed_swap() {
        let said = |swaps: &str, enabled: &str| {
            let swaps = format!("Filename Type Size Used Priority\n{swaps}");
            let enabled_at = "sys/module/zswap/parameters/enabled";
            host("compressed-swap", &[("proc/swaps", &swaps), (enabled_at, enabled)]).0
        };
        assert_eq!(said("/dev/sda2 partition 64 0 -2\n", "N\n"), "fine");
        assert_eq!(said("", "Y\n"), "fine", "zswap without swap does nothing");
        assert_eq!(said("/dev/sda2 partition 64 0 -2\n", "Y\n"), "note");
        assert_eq!(said("/dev/zram0 partition 64 0 100\n", "N\n"), "note");
        assert_eq!(said("", "perhaps\n"), "unknown");
        assert_eq!(host("compressed-swap", &[]).0, "unknown");
    }
}
