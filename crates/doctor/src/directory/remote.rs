//! File systems whose disk is behind something: a network, a program, another file system.

use crate::check::Said;
use crate::scene::{Directory, Scene};

pub(crate) fn look(_: &Scene, dir: &Directory) -> Option<Said> {
    let fstype = dir.mount.fstype.as_str();
    let behind = match fstype {
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "glusterfs" | "afs" | "lustre" => "a network",
        "9p" | "virtiofs" | "vboxsf" | "prl_fs" => "the host of this virtual machine",
        "overlay" | "aufs" | "ecryptfs" => "another file system",
        fuse if fuse == "fuse" || fuse.starts_with("fuse.") || fuse == "fuseblk" => "a program",
        _ if dir.device.is_some() || matches!(fstype, "tmpfs" | "ramfs" | "rootfs") => return None,
        _ => {
            let reason = format!("which device {fstype} lies on is not told by its mount");
            return Some(Said::unknown(reason));
        }
    };
    Some(
        Said::warning(
            format!("{fstype}: the disk is behind {behind}"),
            "what is behind has a cache and other users of its own, and its device cannot be \
             looked at from here",
        )
        .remedy("name a directory on a disk of this machine, or say so beside the figures"),
    )
}

#[cfg(test)]
mod tests {
    use crate::stage::{directory, scene, tree, words};
    use crate::{stage, subject::Subject};

    #[test]
    fn types() {
        let said = |fstype| directory("behind", fstype, "rw");
        assert_eq!(said("ext4"), None);
        assert_eq!(said("nfs4").unwrap().1, "nfs4: the disk is behind a network");
        assert_eq!(said("fuse.sshfs").unwrap().0, "warning");
        assert_eq!(said("overlay").unwrap().0, "warning");
    }

    #[test]
    fn a_device_that_is_not_listed() {
        let mounts = "30 22 0:9 / /data rw - zfs pool/data rw\n";
        let tree = tree(&[("proc/self/mountinfo", mounts)]);
        let scene = scene(&tree, &[Subject::Directory("/data".into())]);
        assert_eq!(words(stage::said(&scene, "behind", "/data").unwrap()).0, "unknown");
    }
}
