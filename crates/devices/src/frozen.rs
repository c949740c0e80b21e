//! A file system that a killed process has left frozen, and that is mounted nowhere any more.
//!
//! Frozen, it holds itself and its device until the machine is started again: its mount went with
//! its process, and there is no place left to thaw it at. One more mount of the device finds it; by
//! that mount it is thawed, and with the unmount the kernel takes it down.

use crate::TargetError;
use crate::device_events::DeviceEvents;
use crate::device_lock::DeviceLock;
use crate::inventory::{self, Exclusive, Roots, block_number, is_mounted, open_exclusive, unread};
use crate::reopen::recheck_identity;
use crate::thaw::thaw;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::spec::TargetSpec;
use std::path::Path;
use std::time::{Duration, Instant};

/// Limit for the device to be free after the thaw.
const FREE_LIMIT: Duration = Duration::from_secs(10);

/// Takes down what a dead RUN has left frozen on a device, and waits until that is free; true where
/// there was something. A device that is another one by now, that a live RUN works on, or that is
/// mounted where some process sees it, is left alone.
///
/// # Errors
/// When the device does not answer, or stays in use though it was thawed.
pub fn release(identity: &DeviceIdentity) -> Result<bool, TargetError> {
    let roots = Roots::default();
    if inventory::same(identity, &roots).is_err() {
        return Ok(false);
    }
    let Ok(_lock) = DeviceLock::take(identity, &roots) else { return Ok(false) };
    released(&identity.path, identity.number, &roots)
}

/// The same for the target of a RUN that is at work, one of whose executors was killed.
///
/// # Errors
/// As [`release`], and when the device is another one than was claimed.
pub fn release_target(target: &TargetSpec) -> Result<bool, TargetError> {
    recheck_identity(target)?;
    let mut was_frozen = false;
    for device in target.devices() {
        if let Some(number) = block_number(device) {
            // The first one takes the others with it.
            was_frozen |= released(device, number, &Roots::default())?;
        }
    }
    Ok(was_frozen)
}

fn released(device: &Path, number: (u32, u32), roots: &Roots) -> Result<bool, TargetError> {
    let is_busy = || match open_exclusive(device, number, Exclusive::Read, Duration::ZERO) {
        Ok(_) => Ok(false),
        Err(not_held) if not_held.busy => Ok(true),
        Err(not_held) => Err(TargetError::from(not_held.refusal)),
    };
    let is_mounted = is_mounted(device, number, roots).map_err(|error| unread(device, &error))?;
    if !is_busy()? || is_mounted {
        return Ok(false);
    }
    let events = DeviceEvents::listen();
    if !thaw(device)? {
        return Ok(false);
    }
    let thawed = Instant::now();
    while is_busy()? {
        if thawed.elapsed() > FREE_LIMIT {
            let problem = "still in use, though the file system that was left frozen is thawed";
            return Err(TargetError::state(device, problem, "end what uses it"));
        }
        events.wait(FREE_LIMIT);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_another_one_by_now_is_left_alone() {
        let identity = DeviceIdentity {
            path: "/dev/null".into(),
            name: "fsarena-test".to_owned(),
            number: (1, 3),
            size_bytes: 1 << 30,
            diskseq: Some(1),
            hardware: [].into(),
        };
        assert!(!release(&identity).unwrap());
        assert!(!release_target(&TargetSpec::Memory { size_bytes: 1 << 30 }).unwrap());
    }
}
