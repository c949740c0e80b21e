//! Mounts on which every write waits, or none is possible.

use crate::check::Said;
use crate::scene::{Directory, Scene};
use fsarena_targets::cmd;

pub(crate) fn look(_: &Scene, dir: &Directory) -> Option<Said> {
    let point = cmd::quoted(&dir.mount.mount_point.to_string_lossy());
    let remount = |options: &str| format!("sudo mount -o remount,{options} {point}");
    Some(if dir.option("ro").is_some() {
        Said::bad("mounted read-only", "nothing can be written, so nothing can be measured")
            .remedy("mount it for writing, if it is sound")
            .command(remount("rw"))
    } else if dir.option("sync").is_some() {
        Said::bad(
            "mounted with sync: each write waits until it is durable",
            "the page cache, which every ordinary program writes to, is not in the figures",
        )
        .remedy("mount without it")
        .command(remount("async"))
    } else if dir.option("dirsync").is_some() {
        Said::warning(
            "mounted with dirsync: each change of a directory waits until it is durable",
            "creating, renaming and deleting are slower by the flushes of the disk",
        )
        .remedy("mount without it (an unmount and a mount: it cannot be taken off)")
    } else {
        Said::fine("writes do not wait (no sync, no dirsync)")
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::directory;

    #[test]
    fn options() {
        let weight = |options: &str| directory("synchronous", "ext4", options).unwrap().0;
        assert_eq!(weight("rw,relatime"), "fine");
        assert_eq!(weight("rw,sync"), "bad");
        assert_eq!(weight("rw / rw,sync"), "bad");
        assert_eq!(weight("rw,dirsync"), "warning");
        assert_eq!(weight("ro"), "bad");
        assert_eq!(weight("rw,async"), "fine");
    }
}
