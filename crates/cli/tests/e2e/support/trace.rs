//! The kernel's tracing, mounted where only the program under test sees it: a machine need not
//! have it mounted, and nothing of it stays.

use super::{PROGRAM, Scene, sh, tool};
use std::fs;
use std::process::Command;

const MOUNT: &str = "mount -t tracefs none /sys/kernel/tracing";

impl Scene {
    /// As [`Scene::command`], with tracefs.
    pub fn traced(&self, args: &[&str]) -> Command {
        self.with_mounts(MOUNT, args)
    }

    /// As [`Scene::command`], without tracefs wherever it is mounted.
    pub fn untraced(&self, args: &[&str]) -> Command {
        let unmount =
            "awk '$0 ~ / - tracefs / { print $5 }' /proc/self/mountinfo | xargs -r umount -l";
        self.with_mounts(unmount, args)
    }

    fn with_mounts(&self, change: &str, args: &[&str]) -> Command {
        let script = format!("{change} && exec \"$0\" \"$@\"");
        let inside = ["-m", "sh", "-c", &script, PROGRAM];
        self.command_of("unshare", &[&inside, args].concat())
    }

    /// Instances of tracing of this scene's RUNs.
    pub fn traces(&self) -> Vec<String> {
        let list = format!("unshare -m sh -c '{MOUNT} && ls /sys/kernel/tracing/instances'");
        let uids: Vec<String> = self.runs().into_iter().map(|run| run.uid).collect();
        let ours = |name: &&str| uids.iter().any(|uid| name.contains(uid.as_str()));
        sh(&list).lines().filter(ours).map(str::to_owned).collect()
    }
}

/// Whether block requests can be traced; prints the reason where they cannot.
pub fn has_tracing() -> bool {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !known.lines().any(|line| line.ends_with("\ttracefs")) {
        println!("not run: this kernel has no tracefs");
        return false;
    }
    if tool("unshare").is_none() {
        return false;
    }
    let look = format!("unshare -m sh -c '{MOUNT} && ls /sys/kernel/tracing/events'");
    let there = Command::new("/bin/sh").args(["-c", &look]).output().unwrap();
    let there = String::from_utf8_lossy(&there.stdout).lines().any(|line| line == "block");
    if !there {
        println!("not run: block requests cannot be traced here");
    }
    there
}
