//! One RUN a disk: locks by name that end with their process and leave no file.
//!
//! A name in the abstract space of Unix sockets (unix(7)) can be taken once in a network namespace.
//! It keeps two RUNs of careful users apart; what keeps a device from harm is [`crate::inventory`].
//!
//! Two locks: that of the device, taken once, and that of the disk that it is a part of, which the
//! claims of one process share. Two RUNs on parts of one disk would change its queue under each
//! other and measure each other's work; one RUN works on one of its devices at a time.

use crate::TargetError;
use crate::inventory::Roots;
use crate::queue;
use fsarena_model::device::DeviceIdentity;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The longest wait for the locks of a device that was given back.
const FREED_MAX: Duration = Duration::from_secs(2);

/// Disks that claims of this process have, by number.
static DISKS: Mutex<Vec<(String, Weak<UnixListener>)>> = Mutex::new(Vec::new());

/// The lock of a device and that of its disk; released when dropped.
#[derive(Debug)]
pub(crate) struct DeviceLock {
    _device: UnixListener,
    _disk: Arc<UnixListener>,
}

impl DeviceLock {
    /// Takes the locks of a device that the kernel has just made for this process, or given to it
    /// as unused. Whoever had its number before may have ended a moment ago, and a process that it
    /// was starting has a copy of its locks until it executes: that is waited for.
    ///
    /// # Errors
    /// As [`Self::take`], when the locks are still taken after [`FREED_MAX`].
    pub(crate) fn take_new(identity: &DeviceIdentity, roots: &Roots) -> Result<Self, TargetError> {
        let began = Instant::now();
        loop {
            match Self::take(identity, roots) {
                Err(TargetError::State { .. }) if began.elapsed() < FREED_MAX => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                taken => return taken,
            }
        }
    }

    /// Takes the locks.
    ///
    /// # Errors
    /// When another RUN has one of them: it works on the disk or on another part of it.
    pub(crate) fn take(identity: &DeviceIdentity, roots: &Roots) -> Result<Self, TargetError> {
        let (major, minor) = identity.number;
        let own = format!("{major}:{minor}");
        let disk = queue::disk(&roots.sys, &identity.name);
        let number = std::fs::read_to_string(disk.join("dev"));
        let number = number.map_or_else(|_| own.clone(), |text| text.trim().to_owned());
        let device = bind(identity, "device", &own, "this device")?;
        let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        disks.retain(|(_, lock)| lock.strong_count() > 0);
        let shared = disks.iter().find(|(known, _)| *known == number);
        let lock = match shared.and_then(|(_, lock)| lock.upgrade()) {
            Some(lock) => lock,
            None => Arc::new(bind(identity, "disk", &number, "this disk or a part of it")?),
        };
        disks.push((number, Arc::downgrade(&lock)));
        Ok(Self { _device: device, _disk: lock })
    }
}

/// Whether a RUN has locked a device. Whoever only looks leaves such a device alone: to open
/// and read it would fill its page cache, and keep it from being mounted meanwhile.
pub(crate) fn is_locked(number: (u32, u32), roots: &Roots) -> bool {
    let name = format!("@fsarena-device-{}:{}", number.0, number.1);
    let sockets = std::fs::read_to_string(roots.proc.join("net/unix")).unwrap_or_default();
    sockets.lines().any(|line| line.ends_with(&name))
}

fn bind(
    identity: &DeviceIdentity,
    what: &str,
    number: &str,
    words: &str,
) -> Result<UnixListener, TargetError> {
    let name = format!("fsarena-{what}-{number}");
    let address = SocketAddr::from_abstract_name(name.as_bytes());
    address.and_then(|address| UnixListener::bind_addr(&address)).map_err(|error| {
        match error.kind() {
            std::io::ErrorKind::AddrInUse => TargetError::state(
                &identity.path,
                format!("another run of fsarena works on {words}"),
                "wait until it has ended, or name another device",
            ),
            _ => TargetError::io("lock", &identity.path, error),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, minor: u32) -> DeviceIdentity {
        DeviceIdentity {
            path: format!("/dev/{name}").into(),
            name: name.to_owned(),
            number: (4095, minor),
            size_bytes: 0,
            diskseq: None,
            hardware: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn a_device_is_had_once_and_again_after_it_was_given_up() {
        let identity = device("fsarena-test", std::process::id());
        let roots = Roots::default();
        let lock = DeviceLock::take(&identity, &roots).unwrap();
        let error = DeviceLock::take(&identity, &roots).unwrap_err();
        assert!(error.to_string().contains("another run"), "{error}");
        assert!(is_locked(identity.number, &roots));
        drop(lock);
        assert!(!is_locked(identity.number, &roots));
        drop(DeviceLock::take(&identity, &roots).unwrap());
    }

    #[test]
    fn a_new_device_waits_for_locks_that_are_being_released() {
        let identity = device("fsarena-new", std::process::id() ^ 0x8_0000);
        let roots = Roots::default();
        let lock = DeviceLock::take(&identity, &roots).unwrap();
        let release = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(lock);
        });
        drop(DeviceLock::take_new(&identity, &roots).unwrap());
        release.join().unwrap();
    }

    #[test]
    fn the_parts_of_a_disk_share_its_lock_within_one_run_alone() {
        let root = tempfile::tempdir().unwrap();
        let pid = std::process::id();
        let number = format!("4094:{pid}");
        let class = root.path().join("class/block");
        std::fs::create_dir_all(&class).unwrap();
        let disk = root.path().join("block/sdx");
        for part in ["sdx1", "sdx2"] {
            std::fs::create_dir_all(disk.join(part)).unwrap();
            std::fs::write(disk.join(part).join("partition"), "1\n").unwrap();
            let target = format!("../../block/sdx/{part}");
            std::os::unix::fs::symlink(target, class.join(part)).unwrap();
        }
        std::fs::write(disk.join("dev"), format!("{number}\n")).unwrap();
        let roots = Roots { sys: root.path().to_owned(), ..Roots::default() };
        let (one, two) = (device("sdx1", pid + 1), device("sdx2", pid + 2));
        let first = DeviceLock::take(&one, &roots).unwrap();
        let second = DeviceLock::take(&two, &roots).expect("one run has both");
        drop(first);
        let name = format!("fsarena-disk-{number}");
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        assert!(UnixListener::bind_addr(&address).is_err(), "the second still has it");
        drop(second);
        let theirs = UnixListener::bind_addr(&address).unwrap();
        let error = DeviceLock::take(&one, &roots).unwrap_err().to_string();
        assert!(error.contains("this disk or a part of it"), "{error}");
        drop(theirs);
        drop(DeviceLock::take(&one, &roots).unwrap());
    }
}
