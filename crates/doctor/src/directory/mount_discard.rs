//! Whether deleting sends TRIM at once (`-o discard`).

use crate::check::Said;
use crate::scene::{Directory, Scene};
use fsarena_targets::cmd;

pub(crate) fn look(_: &Scene, dir: &Directory) -> Option<Said> {
    dir.device.as_ref()?;
    let point = cmd::quoted(&dir.mount.mount_point.to_string_lossy());
    Some(match dir.option("discard") {
        None => Said::fine("deleting sends no TRIM (no discard in the mount options)"),
        Some("async") => Said::note(
            "mounted with discard=async: TRIM follows some time after deleting",
            "it comes while the next phase runs",
        )
        .remedy("mount with nodiscard while measuring")
        .command(format!("sudo mount -o remount,nodiscard {point}")),
        Some(_) => Said::note(
            "mounted with discard: deleting sends TRIM at once",
            "what a TRIM takes depends on the disk and is in the time of deletes; for an image in \
             a file it frees the blocks below",
        )
        .remedy("mount with nodiscard while measuring, and run fstrim now and then")
        .command(format!("sudo mount -o remount,nodiscard {point}")),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::directory;

    #[test]
    fn options() {
        let said = |options| directory("mount-discard", "btrfs", options).unwrap().0;
        assert_eq!(said("rw"), "fine");
        assert_eq!(said("rw / rw,nodiscard"), "fine");
        assert_eq!(said("rw / rw,discard"), "note");
        let later = directory("mount-discard", "btrfs", "rw / rw,discard=async").unwrap();
        assert!(later.1.contains("some time after"), "{later:?}");
    }
}
