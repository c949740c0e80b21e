//! A file system of its own on a loop device, in a mount namespace of its own.
//!
//! The image has no name once it is mounted: whatever ends this process, the kernel puts mount,
//! loop device and image away.

use anyhow::{Context as _, Result, ensure};
use fsarena_process::cmd::find;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a loop device is waited for.
const LOOP_PATIENCE: Duration = Duration::from_secs(60);

/// A file system, mounted.
pub(super) struct Mounted {
    dir: tempfile::TempDir,
}

impl Mounted {
    /// Makes an image of `size_bytes` in `place`, ext4 in it, and mounts it, in a mount namespace
    /// that this process enters; the reason where that cannot be done here.
    ///
    /// # Errors
    /// When it should have worked and did not.
    pub(super) fn new(place: &Path, size_bytes: u64) -> Result<Result<Self, String>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Err("needs root".to_owned()));
        }
        // No thread of the sections is alive here: the namespace is that of the whole task.
        if let Err(error) = fsarena_process::child::enter_private_mounts() {
            return Ok(Err(format!("needs a mount namespace of its own: {error}")));
        }
        let needed = ["mkfs.ext4", "mount", "umount"];
        if let Some(missing) = needed.iter().find(|name| find(name).is_none()) {
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
        call(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(image.path()))?;
        let begun = Instant::now();
        while let Err(error) = call(
            Command::new("mount")
                .args(["-t", "ext4", "-o", "loop"])
                .arg(image.path())
                .arg(dir.path()),
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
    fn messages_of_a_failed_program_are_kept() {
        let error = call(Command::new("sh").args(["-c", "echo bad >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("bad"), "{error}");
    }
}
