//! Whether reading writes: access times (mount(8): `relatime`, `noatime`, `strictatime`).

use crate::check::Said;
use crate::scene::{Directory, Scene};
use fsarena_targets::cmd;

pub(crate) fn look(_: &Scene, dir: &Directory) -> Option<Said> {
    let point = cmd::quoted(&dir.mount.mount_point.to_string_lossy());
    let off = format!("sudo mount -o remount,noatime {point}");
    Some(if dir.option("noatime").is_some() {
        Said::fine("noatime: reading writes nothing")
    } else if dir.option("relatime").is_some() {
        Said::note(
            "relatime: the first read of a file after a change or a day writes its access time",
            "the first reads of a tree write to the disk, and the second ones do not",
        )
        .remedy("mount with noatime, or make sure that all contenders are mounted alike")
        .command(off)
    } else {
        Said::warning(
            "strictatime: each read of a file writes its access time",
            "reading becomes writing, which no usual system does today",
        )
        .remedy("mount with noatime")
        .command(off)
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::directory;

    #[test]
    fn options() {
        let weight = |options: &str| directory("access-times", "ext4", options).unwrap().0;
        assert_eq!(weight("rw,noatime"), "fine");
        assert_eq!(weight("rw,relatime"), "note");
        assert_eq!(weight("rw"), "warning");
        assert_eq!(weight("rw / rw,noatime"), "fine", "where the superblock says it");
        assert_eq!(weight("rw,noatimes"), "warning", "another word");
    }
}
