//! Checks of each block device from the named one down to the hardware: one function each, in the
//! order of [`crate::CHECKS`].
//!
//! A check reads, judges and says what mends it; it changes nothing.

use crate::check::{CheckResult, Checked, NoResult::NotConcerned};
use crate::layers::{Layer, covering};
use crate::read;
use crate::snapshot::{SystemSnapshot, swaps};
use fsarena_devices::inventory::DeviceKind;
use fsarena_model::host::Weight;
use fsarena_model::units::Bytes;
use fsarena_process::cmd;
use fsarena_process::program::TrustedProgram;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const REALIGN: &str = "make the partition anew from 1 MiB on (its contents are lost)";

/// Where a partition begins, against the units that its disk works in
/// (Documentation/ABI/stable/sysfs-block: `alignment_offset`, `optimal_io_size`).
pub(crate) fn alignment(_: &SystemSnapshot, layer: &Layer) -> Checked {
    let offset = read::parsed(&layer.dir.join("alignment_offset"), "bytes, or -1", |text| {
        text.parse::<i64>().ok()
    })?;
    let why = "a block of the file system spans two sectors of the medium, so that a write \
               of one reads and writes two";
    if offset != 0 {
        let reading = match offset {
            -1 => "the kernel finds it misaligned".to_owned(),
            bytes => format!("it begins {bytes} B before a sector of the medium"),
        };
        return Ok(CheckResult::bad(reading, why).remedy(REALIGN));
    }
    if layer.is_whole() {
        return Err(NotConcerned);
    }
    let start_bytes = layer.device.start_bytes;
    let Some(physical_bytes) = layer.device.physical_sector_bytes.filter(|bytes| *bytes > 0) else {
        return Ok(CheckResult::unknown("the disk does not tell its physical sector size"));
    };
    let begins = format!("it begins at {}", Bytes(start_bytes));
    if !start_bytes.is_multiple_of(physical_bytes) {
        let reading =
            format!("{begins}, no multiple of the physical sector of {}", Bytes(physical_bytes));
        return Ok(CheckResult::bad(reading, why).remedy(REALIGN));
    }
    let optimal_bytes = read::number(&layer.queue.join("optimal_io_size"))?;
    // Some USB bridges tell 65,535 sectors, which is no unit of anything.
    let is_unit = optimal_bytes > 0 && optimal_bytes.is_multiple_of(physical_bytes.max(4096));
    if is_unit && !start_bytes.is_multiple_of(optimal_bytes) {
        let reading =
            format!("{begins}, no multiple of the optimal I/O size of {}", Bytes(optimal_bytes));
        let why = "large writes span two stripes or erase blocks, so that both are rewritten";
        return Ok(CheckResult::warning(reading, why).remedy(REALIGN));
    }
    Ok(CheckResult::fine(format!("{begins}, aligned")))
}

/// Sectors as the disk takes them and as it writes them.
pub(crate) fn sector_size(_: &SystemSnapshot, layer: &Layer) -> Checked {
    let (logical, physical) =
        (layer.device.logical_sector_bytes, layer.device.physical_sector_bytes);
    let (Some(logical), Some(physical)) = (logical, physical) else {
        return Ok(CheckResult::unknown("the disk does not tell its sector sizes"));
    };
    let reading = format!("sectors of {}, written in {}", Bytes(logical), Bytes(physical));
    Ok(match physical > logical {
        true => CheckResult::note(
            reading,
            "a write of less than a physical sector, or across two, is a read and a write; file \
             systems with blocks below it suffer",
        )
        .remedy("keep blocks of file systems and direct I/O at the physical size or above"),
        false => CheckResult::fine(reading),
    })
}

/// Whether the kernel takes the disk for one that turns.
pub(crate) fn rotational(snapshot: &SystemSnapshot, layer: &Layer) -> Checked {
    let is_virtual =
        || virtual_disk(snapshot, layer).is_ok_and(|result| result.weight == Weight::Warning);
    Ok(match layer.device.rotational {
        None => CheckResult::unknown("the disk does not tell whether it turns"),
        Some(false) => CheckResult::fine("the kernel takes it for a disk that does not turn"),
        Some(true) if is_virtual() => CheckResult::note(
            "the kernel takes this virtual disk for one that turns",
            "file systems and schedulers choose by it (btrfs: ssd), whatever is below",
        )
        .remedy("if the host has SSDs, say so")
        .command(crate::read::echo("0", &layer.queue.join("rotational"))),
        Some(true) => CheckResult::fine("the disk turns"),
    })
}

/// The I/O scheduler (Documentation/block/switching-sched.rst).
pub(crate) fn scheduler(_: &SystemSnapshot, layer: &Layer) -> Checked {
    if !layer.is_whole() || layer.is_memory() {
        return Err(NotConcerned);
    }
    let file = layer.queue.join("scheduler");
    if !file.exists() && layer.is_virtual_layer() {
        return Err(NotConcerned); // Device mapper and md pass on what comes, in its order.
    }
    let text = read::text(&file)?;
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let chosen = match (inside, text.as_str()) {
        (Some((chosen, _)), _) => chosen,
        (None, "none") => "none",
        _ => {
            let place = file.display();
            return Ok(CheckResult::unknown(format!(
                "{place}: found {text:?}, none of it in brackets"
            )));
        }
    };
    let reading = format!("the scheduler is {chosen}");
    let to = |name: &str| read::echo(name, &file);
    let offers = |name: &str| text.split([' ', '[', ']']).any(|word| word == name);
    Ok(match (layer.device.rotational, chosen) {
        (Some(true), "none") if offers("mq-deadline") => CheckResult::note(
            reading,
            "a disk that turns is served in the order of requests, so that several writers make it \
             seek",
        )
        .remedy("use mq-deadline, unless the disk is virtual and its host sorts the requests")
        .command(to("mq-deadline")),
        (Some(false), "bfq") => CheckResult::note(
            reading,
            "bfq shares the disk out between programs, which costs a fast disk operations, and \
             lets a worker wait idly",
        )
        .remedy("use none or mq-deadline")
        .command(to("none")),
        _ => CheckResult::fine(reading),
    })
}

/// `VM_READAHEAD_PAGES` (include/linux/pagemap.h), KiB.
const DEFAULT_KIB: u64 = 128;

/// How far the kernel reads ahead of a sequential reader.
pub(crate) fn read_ahead(_: &SystemSnapshot, layer: &Layer) -> Checked {
    // The file system asks the device that it is on; what is below has no say.
    if !layer.is_top && !layer.is_hardware() {
        return Err(NotConcerned);
    }
    if !layer.is_whole() {
        return Err(NotConcerned); // Its disk, which is below, is told.
    }
    let file = layer.queue.join("read_ahead_kb");
    let kib = read::number(&file)?;
    let reading = format!("read-ahead is {}", Bytes(kib.saturating_mul(1024)));
    let own_kib = own_kib(layer);
    let back = read::echo(&own_kib.to_string(), &file);
    Ok(match kib {
        _ if kib == own_kib || kib == DEFAULT_KIB => {
            CheckResult::fine(format!("{reading}, as the kernel chooses"))
        }
        0 => CheckResult::warning(
            "read-ahead is off",
            "sequential reads wait for each page, and no file system is at its speed",
        )
        .remedy("set what the kernel would choose")
        .command(back),
        _ => CheckResult::note(
            format!("{reading}; the kernel would choose {}", Bytes(own_kib.saturating_mul(1024))),
            "sequential reads are those of this setting, and random reads of mapped or small files \
             may fetch more than they need",
        )
        .remedy("set what the kernel would choose, or make it a factor with --read-ahead")
        .command(back),
    })
}

/// What the kernel chooses for the device: twice its optimal I/O size, of a disk that turns and has
/// none twice its largest request (block/blk-settings.c, `blk_apply_bdi_limits`), KiB.
fn own_kib(layer: &Layer) -> u64 {
    let of = |name: &str| read::number(&layer.queue.join(name)).unwrap_or(0);
    let largest_kib = if layer.device.rotational == Some(true) { of("max_sectors_kb") } else { 0 };
    let unit_kib = match of("optimal_io_size") / 1024 {
        0 => largest_kib,
        optimal_kib => optimal_kib,
    };
    unit_kib.saturating_mul(2).max(DEFAULT_KIB)
}

/// Whether the disk has a write cache that loses its contents without power.
pub(crate) fn write_cache(_: &SystemSnapshot, layer: &Layer) -> Checked {
    let file = layer.queue.join("write_cache");
    Ok(match read::text(&file).as_deref()? {
        "write back" => CheckResult::fine("the write cache is write back: fsync flushes it"),
        "write through" => CheckResult::note(
            "the write cache is write through: the kernel sends no flush",
            "fsync costs little here; on a disk with a volatile cache the order of file systems \
             may be another. If the disk has such a cache all the same, data are not safe",
        )
        .remedy("have it flushed, or say it with the figures")
        .command(read::echo("\"write back\"", &file)),
        other => CheckResult::unknown(format!(
            "{}: found {other:?}, expected write back or write through",
            file.display()
        )),
    })
}

/// Whether the device can be told which blocks are free (TRIM, UNMAP, deallocate).
pub(crate) fn discard(_: &SystemSnapshot, layer: &Layer) -> Checked {
    if layer.is_memory() || !(layer.is_whole() && (layer.is_top || layer.is_hardware())) {
        return Err(NotConcerned);
    }
    Ok(match read::number(&layer.queue.join("discard_max_bytes"))? {
        0 if layer.device.rotational == Some(true) => {
            CheckResult::fine("no TRIM, which a disk that turns does not need")
        }
        0 => CheckResult::note(
            "TRIM does not reach the device",
            "the device takes every block for used: an SSD gets slower the longer it is written \
             to, whichever file system is on it at the time",
        )
        .remedy(
            "enable it in the layer above or in the adapter (LUKS: --allow-discards); else let \
             each trial begin alike with --ssd precondition",
        ),
        _ => CheckResult::fine("TRIM is supported"),
    })
}

/// Words in vendor or model of made-up disks, in lower case.
const VIRTUAL_MODELS: [&str; 10] = [
    "amazon elastic block store",
    "amazon ec2",
    "google",
    "msft",
    "nutanix",
    "qemu",
    "vbox",
    "virtual disk",
    "virtio",
    "vmware",
];

/// Disks that another machine makes up.
pub(crate) fn virtual_disk(snapshot: &SystemSnapshot, layer: &Layer) -> Checked {
    let result = |name: &str| read::text(&layer.dir.join("device").join(name)).unwrap_or_default();
    let model = format!("{} {}", result("vendor"), result("model"));
    let model = model.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = model.to_lowercase();
    let name = layer.device.name.as_str();
    let by_name = [("vd", "virtio"), ("xvd", "Xen"), ("ubd", "UML"), ("pmem", "pmem")];
    let by_name = by_name
        .iter()
        .find(|(prefix, _)| name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()));
    let kind = match by_name {
        _ if layer.device.kind == DeviceKind::Network => Some("a disk behind a network".to_owned()),
        _ if VIRTUAL_MODELS.iter().any(|word| lower.contains(word)) => {
            Some(format!("a virtual disk ({model})"))
        }
        Some((_, bus)) => Some(format!("a virtual disk ({bus})")),
        None => None,
    };
    let why = "its cache, its limits and its other users are not seen here: a cold read may come \
               from the memory of the host, and a flush may end before anything is durable";
    Ok(match (kind, &snapshot.host.hypervisor) {
        (Some(kind), _) => CheckResult::warning(kind, why).remedy(
            "say so with the figures; have the host pass the disk through, without a cache of \
             its own",
        ),
        (None, Some(machine)) => CheckResult::unknown(format!(
            "whether the disk is real is unknown: this is a virtual machine ({machine})"
        )),
        (None, None) if model.is_empty() => {
            CheckResult::unknown("the disk does not tell its model")
        }
        (None, None) => CheckResult::fine(format!("a disk of its own ({model})")),
    })
}

/// Devices that keep their contents in memory.
pub(crate) fn memory(_: &SystemSnapshot, layer: &Layer) -> Checked {
    let why = "nothing of a disk is in the figures: no seek, no flush, no wear; what is left is \
               the cost of the code";
    let remedy = "name a disk for figures of disks";
    if layer.is_memory() {
        let reading = format!("a device in memory ({})", layer.device.kind.name());
        return Ok(CheckResult::warning(reading, why).remedy(remedy));
    }
    let backing = layer.backing.as_ref().ok_or(NotConcerned)?;
    Ok(match backing.fstype.as_deref() {
        Some(fstype @ ("tmpfs" | "ramfs" | "rootfs")) => {
            let reading = format!("a loop device over a file in memory ({fstype})");
            CheckResult::warning(reading, why).remedy(remedy)
        }
        Some(fstype) => CheckResult::fine(format!("a loop device over a file on {fstype}")),
        None if backing.file.starts_with("/dev") => {
            CheckResult::fine("a loop device over a device")
        }
        None => CheckResult::unknown("where the file below the loop device is, is not known"),
    })
}

/// Whether a loop device passes by the cache of the file below it (losetup(8), `--direct-io`).
pub(crate) fn loop_direct_io(_: &SystemSnapshot, layer: &Layer) -> Checked {
    layer.backing.as_ref().ok_or(NotConcerned)?;
    Ok(match read::flag(&layer.dir.join("loop/dio"))? {
        true => CheckResult::fine("direct I/O: nothing is cached twice"),
        false => CheckResult::warning(
            "no direct I/O: what is read and written is in the cache of the file below, too",
            "after a remount, reads come from memory and not from the disk, and a limit of memory \
             does not hold",
        )
        .remedy("attach it with direct I/O")
        .command(format!("sudo losetup --direct-io=on {}", cmd::quoted(&layer.place()))),
    })
}

/// A software RAID that is rebuilt or checked (Documentation/admin-guide/md.rst, `sync_action`).
pub(crate) fn md_sync(_: &SystemSnapshot, layer: &Layer) -> Checked {
    if layer.device.kind != DeviceKind::Md {
        return Err(NotConcerned);
    }
    let md = layer.dir.join("md");
    let level = read::text(&md.join("level"))?;
    let file = md.join("sync_action");
    if !file.exists() && (level == "raid0" || level == "linear") {
        return Ok(CheckResult::fine(format!("{level}, which is never rebuilt")));
    }
    let degraded = read::number(&md.join("degraded")).unwrap_or(0);
    Ok(match read::text(&file).as_deref()? {
        "idle" | "frozen" if degraded > 0 => CheckResult::warning(
            format!("{level}, with {degraded} of its disks missing"),
            "reads are put together from the other disks, which costs time and CPUs",
        )
        .remedy("put a disk in the place of the missing one"),
        "idle" | "frozen" => CheckResult::fine(format!("{level}, at rest")),
        action => CheckResult::bad(
            format!("{level}, and a {action} is under way"),
            "all its disks are read and written during the work until it ends",
        )
        .remedy("wait until it ends")
        .command("cat /proc/mdstat"),
    })
}

/// A disk that does not answer by then is left alone.
const SMARTCTL_LIMIT: Duration = Duration::from_secs(3);
/// Share of its rated life from which it is said, percent.
const WORN_NOTE: u64 = 80;
/// From which flash may be slower than it was, percent.
const WORN_WARNING: u64 = 100;
/// Runs the program in its arguments: the exit code of smartctl has bits for old errors of the
/// disk, of which its report says more.
const IGNORE_EXIT_CODE: &str = "\"$@\" || :";

/// What the disk says of its own health (`smartctl --json`, smartmontools 7.0 or later).
///
/// Neither the serial number nor anything else that names one disk is taken from it.
pub(crate) fn wear(snapshot: &SystemSnapshot, layer: &Layer) -> Checked {
    // A virtual disk has no health.
    if layer.device.name.starts_with("vd") {
        return Err(NotConcerned);
    }
    let Some(tool) = snapshot.tools.find("smartctl") else {
        return Ok(CheckResult::unknown("not run: smartctl (smartmontools) is not installed")
            .remedy("install it")
            .command("sudo apt-get install smartmontools"));
    };
    let device = layer.place();
    let smartctl = tool.path().to_string_lossy();
    // A disk that sleeps is not woken up.
    let arguments = ["sh", &smartctl, "--json", "--all", "--nocheck=standby", &device];
    let shell = TrustedProgram::confirmed(IGNORE_EXIT_CODE);
    let result = match cmd::run(&shell, &arguments, SMARTCTL_LIMIT) {
        Ok(ran) => judge_smart_report(&ran.stdout),
        Err(error) => CheckResult::unknown(error.to_string()),
    };
    let look_at = format!("sudo smartctl --all {}", cmd::quoted(&device));
    Ok(if result.weight > Weight::Unknown { result.command(look_at) } else { result })
}

/// Reads the report of smartctl.
pub(crate) fn judge_smart_report(json: &str) -> CheckResult {
    let Ok(report) = serde_json::from_str::<Value>(json) else {
        return CheckResult::unknown("smartctl did not answer in JSON; version 7.0 or later does");
    };
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64);
    let passed = report.pointer("/smart_status/passed").and_then(Value::as_bool);
    let used = number("/nvme_smart_health_information_log/percentage_used")
        .or_else(|| number("/endurance_used/current_percent"))
        .or_else(|| number("/scsi_percentage_used_endurance_indicator"));
    let errors = number("/nvme_smart_health_information_log/media_errors");
    let spare = number("/nvme_smart_health_information_log/available_spare")
        .zip(number("/nvme_smart_health_information_log/available_spare_threshold"));
    let moved = smart_attribute_sum(&report, &[5, 197, 198]);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(used.map(|percent| format!("{percent} % of its rated life used")));
    parts.extend(spare.map(|(spare, _)| format!("{spare} % of its spare left")));
    parts.extend(errors.map(|errors| format!("{errors} media errors")));
    parts.extend(moved.map(|sectors| format!("{sectors} sectors moved or waiting to be")));
    let reading = match (passed, parts.is_empty()) {
        (None, true) => {
            let message = report.pointer("/smartctl/messages/0/string").and_then(Value::as_str);
            let message = message.unwrap_or("the disk tells nothing of its health");
            return CheckResult::unknown(format!("smartctl: {message}"));
        }
        (Some(false), _) => {
            parts.insert(0, "the disk says that it is about to fail".to_owned());
            parts.join(", ")
        }
        (_, true) => "the disk says that it is healthy".to_owned(),
        (_, false) => parts.join(", "),
    };
    let low = spare.is_some_and(|(spare, threshold)| spare <= threshold);
    let broken = errors.unwrap_or(0) > 0 || moved.unwrap_or(0) > 0;
    let worn = "a worn SSD erases more slowly and repeats reads; its figures are not those of a \
                new one";
    if passed == Some(false) || low {
        return CheckResult::bad(reading, "it may fail during the run, and is slow before it does")
            .remedy("save what is on it, and measure on another");
    }
    match used.unwrap_or(0) {
        _ if broken => CheckResult::warning(
            reading,
            "a disk that repeats reads or moves sectors is slow where it is not expected",
        )
        .remedy("measure on another disk"),
        WORN_WARNING.. => CheckResult::warning(reading, worn).remedy("measure on another disk"),
        WORN_NOTE.. => CheckResult::note(reading, worn).remedy("say so with the figures"),
        _ => CheckResult::fine(reading),
    }
}

/// Sum of the raw values of these ATA attributes; `None` where there is none of them.
fn smart_attribute_sum(report: &Value, ids: &[u64]) -> Option<u64> {
    let table = report.pointer("/ata_smart_attributes/table")?.as_array()?;
    let known = |row: &&Value| row["id"].as_u64().is_some_and(|id| ids.contains(&id));
    let mut raw =
        table.iter().filter(known).filter_map(|row| row["raw"]["value"].as_u64()).peekable();
    raw.peek()?;
    Some(raw.fold(0, u64::saturating_add))
}

/// Who uses the device while it would be measured.
pub(crate) fn in_use(snapshot: &SystemSnapshot, layer: &Layer) -> Checked {
    let mounts = snapshot.mounts.as_ref()?;
    let (major, minor) = layer.device.number;
    let number = format!("{major}:{minor}");
    let mut points: Vec<String> = mounts
        .iter()
        .filter(|mount| {
            mount.device == number || std::path::Path::new(&mount.source) == layer.device.path
        })
        .map(|mount| mount.mount_point.display().to_string())
        .collect();
    points.sort();
    points.dedup();
    let mut users: Vec<String> = Vec::new();
    match points.as_slice() {
        [] => {}
        [first] => users.push(format!("mounted at {first}")),
        [first, others @ ..] => users.push(format!("mounted at {first} and {} more", others.len())),
    }
    if !layer.device.holders.is_empty() {
        users.push(format!("part of {}", layer.device.holders.join(", ")));
    }
    if users.is_empty() {
        return Ok(CheckResult::fine("not mounted, and part of nothing"));
    }
    Ok(CheckResult::note(
        users.join("; "),
        "other files on it are written and read at the same time as those of the work",
    )
    .remedy("measure on a disk that nothing else uses"))
}

/// Swap on the device itself.
pub(crate) fn swap_on_device(snapshot: &SystemSnapshot, layer: &Layer) -> Checked {
    let areas = swaps(&snapshot.roots)?;
    let on_it = areas.iter().filter(|area| {
        area.name == layer.device.path
            || layer.device.partitions.iter().any(|part| area.name.ends_with(part))
            || file_lies_on(snapshot, &area.name, layer)
    });
    let names: Vec<String> = on_it.map(|area| area.name.display().to_string()).collect();
    Ok(match names.as_slice() {
        [] => CheckResult::fine("no swap is on it"),
        [first, ..] => CheckResult::warning(
            format!("swap is on it ({})", names.join(", ")),
            "the kernel writes memory to the same disk as the work, at times of its own",
        )
        .remedy("switch this swap off while measuring")
        .command(format!("sudo swapoff {}", cmd::quoted(first))),
    })
}

fn file_lies_on(snapshot: &SystemSnapshot, file: &Path, layer: &Layer) -> bool {
    if file.starts_with("/dev") {
        return false;
    }
    let mount = snapshot.mounts.as_ref().ok().and_then(|mounts| covering(mounts, file));
    let (major, minor) = layer.device.number;
    mount.is_some_and(|mount| {
        mount.device == format!("{major}:{minor}") || Path::new(&mount.source) == layer.device.path
    })
}

/// Traffic a second above which it is said: what a log file or two write.
const QUIET_BYTES_PER_S: f64 = 512.0 * 1024.0;

/// What the device does while nothing is measured yet.
pub(crate) fn traffic(snapshot: &SystemSnapshot, layer: &Layer) -> Checked {
    let traffic = snapshot.sample.devices.get(&layer.device.name).ok_or(NotConcerned)?.as_ref()?;
    let seconds = (snapshot.sample.window_ns as f64 * 1e-9).max(1e-9);
    let reading = format!(
        "{} read and {} written in one second",
        Bytes(traffic.read_bytes),
        Bytes(traffic.written_bytes)
    );
    let bytes = traffic.read_bytes.saturating_add(traffic.written_bytes) as f64;
    Ok(match bytes / seconds > QUIET_BYTES_PER_S {
        true => CheckResult::warning(
            reading,
            "requests of other processes are in the same queue, and are counted as those of the \
             work",
        )
        .remedy("wait until it is over, or identify the process")
        .command("sudo iotop --only --batch --iter=3"),
        false => CheckResult::fine(reading),
    })
}

/// Whether the device counts its requests (`queue/iostats`).
pub(crate) fn counting(_: &SystemSnapshot, layer: &Layer) -> Checked {
    if !layer.is_whole() || !(layer.is_top || layer.is_hardware()) {
        return Err(NotConcerned);
    }
    let file = layer.queue.join("iostats");
    Ok(match read::flag(&file)? {
        true => CheckResult::fine("the device counts its requests"),
        false => CheckResult::warning(
            "the device does not count its requests",
            "no traffic, no write amplification and no proof of cold reads can be had",
        )
        .remedy("let it count")
        .command(read::echo("1", &file)),
    })
}
