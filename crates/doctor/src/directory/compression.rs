//! Mounts that compress.

use crate::check::Said;
use crate::scene::{Directory, Scene};

pub(crate) fn look(_: &Scene, dir: &Directory) -> Option<Said> {
    if !matches!(
        dir.mount.fstype.as_str(),
        "btrfs" | "f2fs" | "bcachefs" | "ubifs" | "zfs" | "ntfs3"
    ) {
        return None;
    }
    let names = ["compress", "compress-force", "compress_algorithm", "compression", "compr"];
    let set = names.iter().find_map(|name| Some((name, dir.option(name)?)));
    Some(match set {
        // It is a property of the dataset there, and no mount option tells of it.
        None if dir.mount.fstype == "zfs" => {
            Said::unknown("whether zfs compresses here is not told by its mount")
                .remedy("ask it")
                .command("zfs get compression")
        }
        None | Some((_, "no" | "none")) => Said::fine("the mount compresses nothing"),
        Some((name, value)) => Said::note(
            if value.is_empty() {
                format!("mounted with {name}")
            } else {
                format!("mounted with {name}={value}")
            },
            "what is written to the device depends on the contents: bytes a second of a program \
             that writes zeros say nothing of one that writes pictures",
        )
        .remedy("mount without it, or make it a level of its own"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::directory;

    #[test]
    fn options() {
        let said = |fstype, options| directory("compression", fstype, options);
        assert_eq!(said("ext4", "rw"), None);
        assert_eq!(said("btrfs", "rw / rw,ssd").unwrap().0, "fine");
        let zstd = said("btrfs", "rw / rw,compress=zstd:3").unwrap();
        assert_eq!(zstd, ("note".to_owned(), "mounted with compress=zstd:3".to_owned()));
        assert_eq!(said("btrfs", "rw / rw,compress=no").unwrap().0, "fine");
        assert_eq!(said("zfs", "rw").unwrap().0, "unknown");
    }
}
