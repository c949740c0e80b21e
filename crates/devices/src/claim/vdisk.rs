//! A modelled disk: a FUSE file that a process of ours serves in the time of the model, under a
//! loop device with direct I/O.
//!
//! The file system is mounted nowhere: it is held by a descriptor alone, as are the loop device and
//! the connection to the process, so that whoever is killed leaves nothing but a file system that
//! was frozen just then ([`crate::frozen`]). The process ends when this one does. When it ends
//! first, the kernel answers everything that is outstanding with an error.

use super::facts;
use super::kind::{Claimed, Held, Kind, Order, missing, our_name, write_existing, wrong_level};
use crate::TargetError;
use crate::cache;
use crate::device_lock::DeviceLock;
use crate::inventory::{Roots, identify};
use crate::loopdev::LoopDevice;
use crate::queue;
use crate::served;
use crate::vet::{IMAGE_MARGIN_BYTES, available_bytes, free_bytes, vet_image_dir};
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_model::units::Bytes;
use fsarena_process::partner::Partner;
use fsarena_vdisk::{DeviceOptions, Request, ServedDisk, VirtualDevice, builtin};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Hidden argument of this program.
const ARGUMENT: &str = "vdisk_server";
/// Limit for the process to begin and to end.
const LIMIT: Duration = Duration::from_secs(10);
/// Flushes that are sent to see that all of them arrive.
const FLUSHES: u64 = 16;
/// Reads that show how fast a native disk can be at all.
const READS: usize = 200;
const BLOCK_BYTES: usize = 4096;

pub(super) struct Vdisk;

impl Kind for Vdisk {
    fn name(&self) -> &'static str {
        "vdisk"
    }

    fn summary(&self) -> &'static str {
        "a modelled disk, served in the time of its model"
    }

    fn availability(&self, roots: &Roots, _modules: &Path) -> Availability {
        for (node, module) in [("fuse", "fuse"), ("loop-control", "loop")] {
            let node = roots.dev.join(node);
            if !node.exists() {
                return missing(format!(
                    "a modelled disk needs {module} ({} is not there; modprobe {module})",
                    node.display()
                ));
            }
        }
        Availability::Ready
    }

    fn fits(&self, level: &DeviceLevel) -> Result<(), TargetError> {
        modelled(level, 0).map(drop)
    }

    fn claim(&self, level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
        let DeviceLevel::Vdisk { size_bytes, model } = level else {
            return Err(wrong_level(level));
        };
        our_name(Path::new("vdisk"), order.name)?;
        let told = ServedDisk {
            model: model.clone(),
            size_bytes: *size_bytes,
            store_dir: store_dir(*size_bytes, order.image_dir)?,
            socket: format!("{}-vdisk", order.name),
            is_logged: false,
            states_dir: None,
            is_beside_another: false,
        };
        let mut disk = HeldDisk::begin(&told)?;
        disk.attach(order.name)?;
        let path = disk.path()?;
        disk.see_flushes(&path, &told.socket)?;
        let floor_ns = floor_ns(&path)?;
        slower_than(level, floor_ns)?;
        disk.announce(level)?;
        served::fresh(&told.socket, 0)?;
        cache::flush_device(&path)?;
        let roots = Roots::default();
        let identity = identify(&path, &roots)?;
        disk.lock = Some(DeviceLock::take_new(&identity, &roots)?);
        let mut facts = facts::of_queue(Path::new("/sys"), &identity.name);
        let in_memory = told.store_dir.is_none();
        for (name, value) in [
            ("size_bytes", size_bytes.to_string()),
            ("model", model.clone()),
            ("contents", if in_memory { "memory" } else { "file" }.to_owned()),
        ] {
            facts.insert(name.to_owned(), value);
        }
        let target = TargetSpec::Block {
            device: path,
            size_bytes: *size_bytes,
            in_memory: false,
            under: Under::Modelled { identity, socket: told.socket },
            members: Vec::new(),
        };
        Ok(Claimed { held: Box::new(disk), target, facts, notices: Vec::new() })
    }
}

/// The device of a level.
pub(super) fn modelled(level: &DeviceLevel, seed: u64) -> Result<VirtualDevice, TargetError> {
    let (size_bytes, model) = match level {
        DeviceLevel::Vdisk { size_bytes, model }
        | DeviceLevel::Virtual { size_bytes, model, .. } => (size_bytes, model),
        _ => return Err(wrong_level(level)),
    };
    let refuse = |problem: String| TargetError::state(Path::new("vdisk"), problem, "");
    let sheet = builtin(model).map_err(|error| refuse(error.to_string()))?;
    let options = DeviceOptions { size_bytes: Some(*size_bytes), seed, ..Default::default() };
    VirtualDevice::new(&sheet, &options).map_err(|error| refuse(error.to_string()))
}

/// In memory where half of it is enough for the whole disk, else in the image directory.
pub(super) fn store_dir(size_bytes: u64, image_dir: &Path) -> Result<Option<PathBuf>, TargetError> {
    let has_bytes = available_bytes(Path::new("/proc")).unwrap_or(0);
    if size_bytes <= has_bytes / 2 {
        return Ok(None);
    }
    let needed_bytes = size_bytes.saturating_add(IMAGE_MARGIN_BYTES);
    let free = free_bytes(image_dir).map_err(|e| TargetError::io("statvfs", image_dir, e))?;
    if free < needed_bytes {
        return Err(TargetError::state(
            Path::new("vdisk"),
            format!(
                "the contents of {} fit neither into half of the memory that is available ({}) \
                 nor into {} ({} free)",
                Bytes(size_bytes),
                Bytes(has_bytes / 2),
                image_dir.display(),
                Bytes(free)
            ),
            "use a smaller size, or name another directory with --image-dir",
        ));
    }
    vet_image_dir(image_dir, size_bytes)?;
    Ok(Some(image_dir.to_owned()))
}

/// Refuses a model that answers faster than anything here can.
pub(super) fn slower_than(level: &DeviceLevel, floor_ns: u64) -> Result<(), TargetError> {
    let mut device = modelled(level, 0)?;
    let blocks = device.size_bytes() / BLOCK_BYTES as u64;
    let (mut now_ns, mut fastest_ns) = (0, u64::MAX);
    for number in 0..64_u64 {
        let sector = number * 7919 % blocks * 8;
        let request = match number % 2 {
            0 => Request::write(0, sector, 8),
            _ => Request::read(0, sector, 8),
        };
        let began_ns = now_ns;
        if device.submit(now_ns, request).is_err() {
            break;
        }
        while device.outstanding() > 0 {
            let Some(at_ns) = device.next_event_ns() else { break };
            now_ns = now_ns.max(at_ns);
            while device.poll(now_ns).is_some() {}
        }
        fastest_ns = fastest_ns.min(now_ns - began_ns);
    }
    // Most requests take longer than the floor.
    if fastest_ns >= floor_ns * 3 / 2 {
        return Ok(());
    }
    Err(TargetError::FasterThanNative { level: level.clone(), fastest_ns, floor_ns })
}

/// The process, the file and the loop device.
#[derive(Debug)]
pub(super) struct HeldDisk {
    loop_device: Option<LoopDevice>,
    lock: Option<DeviceLock>,
    /// The file, and the file system that it is in.
    file: Option<File>,
    mount: Option<OwnedFd>,
    server: Partner,
    /// See [`ServedDisk::is_cached`].
    is_cached: bool,
}

impl HeldDisk {
    /// Starts the process and opens its file.
    pub(super) fn begin(told: &ServedDisk) -> Result<Self, TargetError> {
        let fuse_path = Path::new("/dev/fuse");
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fuse = open(fuse_path, flags, Mode::empty())
            .map_err(|error| TargetError::io("open", fuse_path, error))?;
        let mount =
            mounted(&fuse).map_err(|error| TargetError::io("mount fuse", fuse_path, error))?;
        let start = |error: io::Error| TargetError::io("start", Path::new("/proc/self/exe"), error);
        // It alone has the connection: its end is the end of that.
        let server = Partner::start(ARGUMENT, fuse).map_err(start)?;
        let told_line = serde_json::to_string(told).map_err(|error| start(error.into()))?;
        let answer = server.ask(&told_line, LIMIT).map_err(start)?;
        if answer != "ready" {
            let answer = if answer.is_empty() { "it has ended" } else { &answer };
            let problem = format!("the process that is to serve it: {answer}");
            return Err(TargetError::state(Path::new("vdisk"), problem, ""));
        }
        let direct = if told.is_cached() { OFlags::empty() } else { OFlags::DIRECT };
        let flags = OFlags::RDWR | OFlags::CLOEXEC | direct;
        let file = openat(&mount, told.socket.as_str(), flags, Mode::empty())
            .map_err(|error| TargetError::io("open", Path::new("the file of vdisk"), error))?;
        Ok(Self {
            loop_device: None,
            lock: None,
            file: Some(file.into()),
            mount: Some(mount),
            server,
            is_cached: told.is_cached(),
        })
    }

    pub(super) fn attach(&mut self, name: &str) -> Result<(), TargetError> {
        let Some(file) = &self.file else { return Ok(()) };
        let device = if self.is_cached {
            LoopDevice::attach_cached(file, Path::new(name))?
        } else {
            LoopDevice::attach(file, Path::new(name))?
        };
        let direct_io = device.direct_io();
        let path = device.path().to_owned();
        self.loop_device = Some(device);
        if direct_io || self.is_cached {
            return Ok(());
        }
        Err(TargetError::state(
            &path,
            "does no direct I/O on the file of the disk, which its page cache would hide",
            "a modelled disk needs a newer kernel; use --on virtual:SIZE:model=MODEL",
        ))
    }

    pub(super) fn path(&self) -> Result<PathBuf, TargetError> {
        let none = || TargetError::state(Path::new("vdisk"), "has no device", "");
        self.loop_device.as_ref().map(|device| device.path().to_owned()).ok_or_else(none)
    }

    /// Every flush that is sent has to arrive: a disk that loses them is fast, and wrong.
    pub(super) fn see_flushes(&self, path: &Path, socket: &str) -> Result<(), TargetError> {
        let device = File::options().read(true).write(true).open(path);
        let device = device.map_err(|error| TargetError::io("open", path, error))?;
        served::report(socket)?;
        for _ in 0..FLUSHES {
            device.sync_all().map_err(|error| TargetError::io("flush", path, error))?;
        }
        let seen = served::report(socket)?.flushes;
        if seen == FLUSHES {
            return Ok(());
        }
        Err(TargetError::state(
            path,
            format!("of {FLUSHES} flushes that were sent to it, {seen} arrived"),
            "this kernel hides flushes from the disk; use --on virtual:SIZE:model=MODEL",
        ))
    }

    /// Tells the kernel whether it turns: the next file on the same loop device is asked anew.
    ///
    /// Nothing else is set. A limit of discards of 0 and a cache that is written through stay with
    /// the loop device after a kill, and whoever uses it next would have no discards or no flushes.
    pub(super) fn announce(&self, level: &DeviceLevel) -> Result<(), TargetError> {
        let name = queue::kernel_name(&self.path()?);
        let file = queue::directory(Path::new("/sys"), &name).join("rotational");
        let is_rotating = if modelled(level, 0)?.is_rotating() { "1" } else { "0" };
        write_existing(&file, is_rotating).map_err(|error| TargetError::io("write", &file, error))
    }

    fn release_now(&mut self) -> Vec<TargetError> {
        let mut errors = Vec::new();
        self.lock = None;
        if let Some(Err(error)) = self.loop_device.take().map(LoopDevice::detach) {
            errors.push(error);
        }
        self.file = None;
        self.mount = None;
        self.server.end(LIMIT);
        errors
    }
}

impl Drop for HeldDisk {
    fn drop(&mut self) {
        let _ = self.release_now();
    }
}

impl Held for HeldDisk {
    /// There is nothing that could stay: it ends with this process.
    fn keep(&mut self) {}

    fn release(&mut self) -> Vec<TargetError> {
        self.release_now()
    }
}

/// A file system on the connection, which is in no directory.
fn mounted(fuse: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let context = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let number = fuse.as_raw_fd().to_string();
    for (key, value) in [
        ("source", "fsarena-vdisk"),
        ("fd", number.as_str()),
        ("rootmode", "40000"),
        ("user_id", "0"),
        ("group_id", "0"),
    ] {
        fsconfig_set_string(&context, key, value)?;
    }
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// How long a read of a block takes that is answered at once: one of ten is faster, so that load
/// of the machine counts little.
pub(super) fn floor_ns(path: &Path) -> Result<u64, TargetError> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let device = open(path, flags, Mode::empty()).map_err(|e| TargetError::io("open", path, e))?;
    let device = File::from(device);
    // Direct I/O needs memory that begins at a block.
    let mut buffer = vec![0; 2 * BLOCK_BYTES];
    let from = buffer.as_ptr().align_offset(BLOCK_BYTES);
    let mut times = Vec::with_capacity(READS);
    for number in 0..READS {
        let at = (number * BLOCK_BYTES) as u64;
        let began = Instant::now();
        device
            .read_exact_at(&mut buffer[from..from + BLOCK_BYTES], at)
            .map_err(|error| TargetError::io("read", path, error))?;
        times.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    times.sort_unstable();
    Ok(times[READS / 10])
}
