//! Inode tables that ext4 still writes in the background (mke2fs(8), `lazy_itable_init`).

use crate::check::Said;
use crate::read;
use crate::scene::{Directory, Scene};
use fsarena_targets::cmd;
use std::time::Duration;

/// Name of the kernel thread that writes them (fs/ext4/super.c, `ext4_run_lazyinit_thread`).
const THREAD: &str = "ext4lazyinit";
/// A description of the groups that takes longer is done without.
const LIMIT: Duration = Duration::from_secs(1);

pub(crate) fn look(scene: &Scene, dir: &Directory) -> Option<Said> {
    if dir.mount.fstype != "ext4" {
        return None;
    }
    if threads(scene) {
        return Some(pending("the kernel is writing inode tables of a new file system".to_owned()));
    }
    Some(match groups(scene, dir) {
        Err(reason) => Said::unknown(reason),
        Ok((0, all)) => Said::fine(format!("all inode tables of its {all} groups are written")),
        Ok((left, all)) => {
            let reading = format!("inode tables of {left} of {all} groups are not written yet");
            match dir.option("noinit_itable") {
                Some(_) => Said::note(
                    format!("{reading}, and will not be (noinit_itable)"),
                    "the first files in such a group are created a little faster than later ones",
                ),
                None => pending(reading),
            }
        }
    })
}

fn pending(reading: String) -> Said {
    Said::warning(reading, "the kernel writes them beside the work until all are done")
        .remedy("wait until the thread has ended, or make file systems with the tables written")
        .command("pgrep ext4lazyinit # or: mkfs.ext4 -E lazy_itable_init=0,lazy_journal_init=0")
}

/// Whether the thread runs, for whichever file system.
fn threads(scene: &Scene) -> bool {
    let proc = &scene.roots.proc;
    let names = read::names(proc).unwrap_or_default();
    let pids = names.iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    pids.into_iter().any(|pid| read::text(&proc.join(pid).join("comm")).is_ok_and(|c| c == THREAD))
}

/// Groups whose inode table is not written, and all groups.
fn groups(scene: &Scene, dir: &Directory) -> Result<(usize, usize), String> {
    let tool = scene.tools.find("dumpe2fs");
    let tool = tool.ok_or("not run: dumpe2fs (e2fsprogs) is not installed")?;
    let layer = scene.layers.iter().find(|layer| Some(&layer.device.name) == dir.device.as_ref());
    let device = layer.ok_or("the device of the file system is not known")?.place();
    let ran = cmd::run(&tool.path, &[&device], LIMIT).map_err(|error| error.to_string())?;
    count(&ran.stdout)
}

/// Counts the groups in the text of dumpe2fs.
fn count(text: &str) -> Result<(usize, usize), String> {
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("Group ")).collect();
    if heads.is_empty() {
        return Err("dumpe2fs names no group".to_owned());
    }
    // Without checksums of groups nothing is ever put off, and no flags are printed.
    let has_flags = text.contains("uninit_bg") || text.contains("metadata_csum");
    // With Group N: (Blocks a-b) csum 0x… [INODE_UNINIT, ITABLE_ZEROED]
    let left = heads.iter().filter(|line| has_flags && !line.contains("ITABLE_ZEROED"));
    Ok((left.count(), heads.len()))
}

#[cfg(test)]
mod tests {
    use super::count;
    use crate::stage::{directory, disk, said, scene, words};
    use crate::subject::Subject;

    #[test]
    fn groups_of_dumpe2fs() {
        let text = "Filesystem features:      has_journal metadata_csum\n\n\
                    Group 0: (Blocks 0-32767) csum 0x1 [ITABLE_ZEROED]\n  Primary superblock at 0\n\
                    Group 1: (Blocks 32768-65535) csum 0x2 [INODE_UNINIT, BLOCK_UNINIT]\n";
        assert_eq!(count(text), Ok((1, 2)));
        assert_eq!(count(&text.replace("metadata_csum", "")), Ok((0, 2)), "nothing is put off");
        assert_eq!(count("").unwrap_err(), "dumpe2fs names no group");
    }

    #[test]
    fn the_thread_of_the_kernel() {
        let tree = disk().with("proc/77/comm", "ext4lazyinit\n");
        let scene = scene(&tree, &[Subject::Directory("/data".into())]);
        assert_eq!(words(said(&scene, "lazy-init", "/data").unwrap()).0, "warning");
    }

    #[test]
    fn without_the_program() {
        assert_eq!(directory("lazy-init", "ext4", "rw").unwrap().0, "unknown");
        assert_eq!(directory("lazy-init", "xfs", "rw"), None);
    }
}
