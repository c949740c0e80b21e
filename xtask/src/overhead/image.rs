//! A file system of its own on a loop device, in a mount namespace of its own.
//!
//! The task starts itself anew in a namespace that nobody else sees, and the image has no name once
//! it is mounted: whatever ends this process, the kernel puts mount, loop device and image away.

use anyhow::{Context as _, Result, ensure};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// First argument of this task once it has mounts of its own.
pub(super) const OWN_MOUNTS: &str = "--own-mounts";
/// How long a loop device is waited for.
const LOOP_PATIENCE: Duration = Duration::from_secs(60);

/// Whether a section mounts something.
pub(super) fn may_mount(section: &str) -> bool {
    ["uring", "corpus", "million"].contains(&section)
}

/// Replaces this process by one in a mount namespace of its own. Returns where that is not allowed:
/// then nothing will be mounted, and the sections say so.
pub(super) fn enter_own_mounts(args: &[String]) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "--"]);
        command
    };
    // Tried first: it cannot come back once it has replaced this process.
    if let (Ok(program), Ok(())) = (std::env::current_exe(), call(unshare().arg("true"))) {
        let error = unshare().arg(program).args(["overhead", OWN_MOUNTS]).args(args).exec();
        eprintln!("unshare: {error}");
    }
}

/// A file system, mounted.
pub(super) struct Mounted {
    dir: tempfile::TempDir,
}

impl Mounted {
    /// Makes an image of `size_bytes` in `place`, `fs` (`ext4` or `xfs`) in it, and mounts it; the
    /// reason where that cannot be done here.
    ///
    /// # Errors
    /// When it should have worked and did not.
    pub(super) fn new(fs: &str, place: &Path, size_bytes: u64) -> Result<Result<Self, String>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Err("needs root".to_owned()));
        }
        if !std::env::args().any(|arg| arg == OWN_MOUNTS) {
            return Ok(Err("needs unshare(1) and the right to make a mount namespace".to_owned()));
        }
        let mkfs = format!("mkfs.{fs}");
        let needed = [mkfs.as_str(), "mount", "umount"];
        if let Some(missing) = needed.iter().find(|name| !on_path(name)) {
            return Ok(Err(format!("{missing} is not installed")));
        }
        if !Path::new("/dev/loop-control").exists() {
            return Ok(Err("this kernel has no loop devices".to_owned()));
        }
        let free = rustix::fs::statvfs(place).with_context(|| place.display().to_string())?;
        let free_bytes = free.f_bavail * free.f_frsize;
        if free_bytes < size_bytes {
            let (free, wanted, place) = (free_bytes >> 20, size_bytes >> 20, place.display());
            return Ok(Err(format!("{free} MiB are free in {place} and it needs {wanted}")));
        }
        let dir = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
        let image = tempfile::Builder::new().prefix("fsarena-overhead-").tempfile_in(place)?;
        image.as_file().set_len(size_bytes)?;
        let force = if fs == "xfs" { ["-q", "-f"] } else { ["-q", "-F"] };
        call(Command::new(&mkfs).args(force).arg(image.path()))?;
        let begun = Instant::now();
        while let Err(error) = call(
            Command::new("mount").args(["-t", fs, "-o", "loop"]).arg(image.path()).arg(dir.path()),
        ) {
            if begun.elapsed() > LOOP_PATIENCE || !error.to_string().contains("loop") {
                return Err(error);
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        // The image loses its name here; the loop device holds it.
        Ok(Ok(Self { dir }))
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmount = |lazily: &[&str]| call(Command::new("umount").args(lazily).arg(self.path()));
        if let Err(error) = unmount(&[]).or_else(|_| unmount(&["--lazy"])) {
            eprintln!("{error:#}; it goes when this process ends");
        }
    }
}

/// Whether a program can be started.
fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

fn call(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| name.clone())?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name}: {}: {}", output.status, complaint.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_mounted_where_others_would_see_it() {
        let place = std::env::temp_dir();
        let refused = Mounted::new("ext4", &place, 1 << 20).unwrap().map(drop).unwrap_err();
        assert!(refused.contains("root") || refused.contains("namespace"), "{refused}");
    }

    #[test]
    fn programs_are_looked_for_and_their_complaints_kept() {
        assert!(on_path("sh") && !on_path("no-such-program"));
        let error = call(Command::new("sh").args(["-c", "echo bad >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("bad"), "{error}");
    }
}
