//! Identity of a boot and of a process, and whether free memory is given away.

use crate::Roots;
use crate::read_file::text;
use crate::worker::{fields, state};

/// Identity of one uptime of the machine; `None` where the kernel does not tell (some sandboxes).
#[must_use]
pub fn boot_id(roots: &Roots) -> Option<String> {
    text(&roots.proc.join("sys/kernel/random/boot_id")).filter(|id| !id.is_empty())
}

/// When a process started, in clock ticks since boot; `None` where there is no such process, or it
/// has ended and only waits for its parent to notice (a zombie does nothing any more).
///
/// With the process number and [`boot_id`] it names a process for ever.
/// (`/proc/PID/stat`, value 22.)
#[must_use]
pub fn process_start_ticks(roots: &Roots, pid: u32) -> Option<u64> {
    let stat = std::fs::read(roots.proc.join(pid.to_string()).join("stat")).ok()?;
    let ended = matches!(state(&stat), Some(b'Z' | b'X'));
    fields(&stat, [22]).ok().map(|[start]| start).filter(|_| !ended)
}

/// Whether a virtio balloon reports free pages to the hypervisor, which takes them away so that
/// their next touch is slow.
///
/// Read from `/sys/bus/virtio/devices/*`: device 5 is a balloon, and the negotiated feature bit 5
/// is `VIRTIO_BALLOON_F_REPORTING` (virtio 1.2, 5.5.3). Hyper-V reports pages too (hv_balloon) and
/// has no file that tells: not seen here.
#[must_use]
pub fn page_reporting_active(roots: &Roots) -> bool {
    let Ok(devices) = std::fs::read_dir(roots.sys.join("bus/virtio/devices")) else {
        return false;
    };
    devices.flatten().any(|device| {
        let file = |name| text(&device.path().join(name)).unwrap_or_default();
        let balloon = u32::from_str_radix(file("device").trim_start_matches("0x"), 16) == Ok(5);
        balloon
            && device.path().join("driver").exists()
            && file("features").as_bytes().get(5) == Some(&b'1')
    })
}
