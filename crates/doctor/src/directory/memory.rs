//! File systems in memory.

use crate::check::Said;
use crate::scene::{Directory, Scene};

pub(crate) fn look(_: &Scene, dir: &Directory) -> Option<Said> {
    let fstype = dir.mount.fstype.as_str();
    Some(match fstype {
        "tmpfs" | "ramfs" | "rootfs" => Said::warning(
            format!("{fstype}: a file system in memory"),
            "nothing of a disk is in the figures, and nothing survives a crash",
        )
        .remedy("name a directory on a disk"),
        _ => Said::fine(format!("{fstype}, not in memory")),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::directory;

    #[test]
    fn types() {
        let said = |fstype| directory("in-memory", fstype, "rw").unwrap();
        assert_eq!(said("tmpfs").0, "warning");
        assert_eq!(said("xfs"), ("fine".to_owned(), "xfs, not in memory".to_owned()));
    }
}
