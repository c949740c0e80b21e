//! Daemons behind a mount (FUSE): waits until they have let go of their device.

use crate::devices::ancestors;
use crate::error::TargetError;
use std::path::Path;
use std::time::{Duration, Instant};

/// Limit for a daemon to close its device.
const DAEMON_LIMIT: Duration = Duration::from_secs(60);

/// Waits until no other process has the device open: umount2 of a FUSE file system comes back
/// before its daemon has written everything and ended.
pub(super) fn wait_closed(device: &Path) -> Result<(), TargetError> {
    let deadline = Instant::now() + DAEMON_LIMIT;
    // As this /proc counts: it may be that of an outer PID namespace.
    let own = std::fs::read_link("/proc/self").unwrap_or_default().display().to_string();
    // Whoever holds the claim has the device open too, and is not waited for.
    while let Some(pid) = opener(device, &own) {
        if Instant::now() > deadline {
            return Err(TargetError::state(
                device,
                format!("process {pid} still has it open after the unmount"),
                "end it; the file system may not be written completely",
            ));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// A process that has the device open and was started after the mount: not this one, and none of
/// its ancestors.
fn opener(device: &Path, own: &str) -> Option<String> {
    let ancestors = ancestors(Path::new("/proc"), own);
    let processes = std::fs::read_dir("/proc").ok()?;
    processes.flatten().find_map(|entry| {
        let pid = entry.file_name().into_string().ok()?;
        if !pid.bytes().all(|byte| byte.is_ascii_digit()) || ancestors.contains(&pid) {
            return None;
        }
        let fds = std::fs::read_dir(entry.path().join("fd")).ok()?;
        let open =
            fds.flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == device));
        open.then_some(pid)
    })
}
