//! Whether a loop device passes by the cache of the file below it (losetup(8), `--direct-io`).

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;
use fsarena_targets::cmd;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    layer.backing.as_ref()?;
    Some(match read::flag(&layer.dir.join("loop/dio")) {
        Err(reason) => Said::unknown(reason),
        Ok(true) => Said::fine("direct I/O: nothing is cached twice"),
        Ok(false) => Said::warning(
            "no direct I/O: what is read and written lies in the cache of the file below, too",
            "after a remount, reads come from memory and not from the disk, and a limit of memory \
             does not hold",
        )
        .remedy("attach it with direct I/O")
        .command(format!("sudo losetup --direct-io=on {}", cmd::quoted(&layer.place()))),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{block, device, disk};

    #[test]
    fn direct_io() {
        let said = |value: Option<&str>| {
            let tree = disk().with("sys/block/loop0/loop/backing_file", "/var/image\n");
            block(&tree, "sys/block/loop0", "7:0", 2048);
            if let Some(value) = value {
                tree.put("sys/block/loop0/loop/dio", value);
            }
            device("loop-direct-io", &tree, "loop0").unwrap().0
        };
        assert_eq!(said(Some("1\n")), "fine");
        assert_eq!(said(Some("0\n")), "warning");
        assert_eq!(said(Some("on\n")), "unknown");
        assert_eq!(said(None), "unknown");
        assert_eq!(device("loop-direct-io", &disk(), "sda"), None);
    }
}
