//! Loop devices by their ioctls (loop(4), `linux/loop.h`).
//!
//! The descriptor of an attached device stays open, and the device has `LO_FLAGS_AUTOCLEAR`: when
//! the process is killed, the kernel detaches it with the last descriptor or mount.

use crate::TargetError;
use crate::device_events::DeviceEvents;
use crate::thaw::thaw;
use rustix::fs::{Mode, OFlags, open};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Logical sector of our loop devices, bytes: that of the disks most file systems were made for.
pub const LOOP_SECTOR_BYTES: u32 = 512;

/// `_IO(0x12, 93)` of `linux/fs.h`.
const BLKROSET: libc::Ioctl = 0x125d;
const LOOP_CLR_FD: libc::Ioctl = 0x4C01;
const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// Attempts at a free device, which other programs want too.
const ATTEMPTS: u32 = 64;
/// After this a device that is still attached is looked into for a frozen file system.
const THAW_AFTER: Duration = Duration::from_millis(1500);
/// Limit for a device to release its file.
const DETACH_LIMIT: Duration = Duration::from_secs(10);

/// `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LoopInfo64 {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo64,
    reserved: [u64; 8],
}

const EMPTY_INFO: LoopInfo64 = LoopInfo64 {
    device: 0,
    inode: 0,
    rdevice: 0,
    offset: 0,
    size_limit: 0,
    number: 0,
    encrypt_type: 0,
    encrypt_key_size: 0,
    flags: 0,
    file_name: [0; 64],
    crypt_name: [0; 64],
    encrypt_key: [0; 32],
    init: [0; 2],
};

/// An attached loop device; detached when dropped.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    file: Option<File>,
    direct_io: bool,
}

impl LoopDevice {
    /// Attaches `image` to a free device, with direct I/O where the backing file system allows it.
    ///
    /// # Errors
    /// When there is no free device, or no right to one.
    pub fn attach(image: &File, image_path: &Path) -> Result<Self, TargetError> {
        Self::attach_with(image, image_path, configure)
    }

    /// The same, and the image is read and written through the page cache.
    ///
    /// # Errors
    /// As [`attach`](Self::attach).
    pub(crate) fn attach_cached(image: &File, image_path: &Path) -> Result<Self, TargetError> {
        let configure = |device: &File, image: &File, path: &Path| {
            configure_with(device, image, path, LO_FLAGS_AUTOCLEAR)
        };
        Self::attach_with(image, image_path, configure)
    }

    fn attach_with(
        image: &File,
        image_path: &Path,
        configure: impl Fn(&File, &File, &Path) -> io::Result<()>,
    ) -> Result<Self, TargetError> {
        let control_path = Path::new("/dev/loop-control");
        let control = open(control_path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| TargetError::io("open", control_path, error))?;
        let mut last = io::Error::from_raw_os_error(libc::EBUSY);
        for attempt in 0..ATTEMPTS {
            // SAFETY: LOOP_CTL_GET_FREE takes no argument and touches no memory of ours.
            let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
            if number < 0 {
                return Err(TargetError::io(
                    "LOOP_CTL_GET_FREE",
                    control_path,
                    io::Error::last_os_error(),
                ));
            }
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let device = open_device(&path)?;
            match configure(&device, image, image_path) {
                Ok(()) => {
                    make_writable(&device)
                        .map_err(|error| TargetError::io("BLKROSET", &path, error))?;
                    flush_again(&path)?;
                    return Self::attached(path, device);
                }
                // Somebody else was faster; the kernel will name another one.
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => last = error,
                Err(error) => return Err(TargetError::io("LOOP_CONFIGURE", &path, error)),
            }
            std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20))));
        }
        Err(TargetError::io("LOOP_CONFIGURE", control_path, last))
    }

    fn attached(path: PathBuf, device: File) -> Result<Self, TargetError> {
        let status = status(&device);
        let mut this = Self { path, file: Some(device), direct_io: false };
        let flags =
            status.map_err(|error| TargetError::io("LOOP_GET_STATUS64", &this.path, error))?.flags;
        if flags & LO_FLAGS_AUTOCLEAR == 0 {
            return Err(TargetError::state(&this.path, "did not take LO_FLAGS_AUTOCLEAR", ""));
        }
        let dio = attribute(&this.path, "dio").as_deref() == Some("1");
        this.direct_io = flags & LO_FLAGS_DIRECT_IO != 0 && dio;
        Ok(this)
    }

    /// `/dev/loop3`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the kernel reads and writes the image without the page cache, as it says itself.
    #[must_use]
    pub fn direct_io(&self) -> bool {
        self.direct_io
    }

    /// Detaches the device and waits until it has released its file.
    ///
    /// # Errors
    /// When it is still in use after ten seconds.
    pub fn detach(mut self) -> Result<(), TargetError> {
        self.detach_now()
    }

    /// Closes the device without waiting: the kernel detaches it with its last mount.
    pub fn let_go(mut self) {
        self.file = None;
    }

    fn detach_now(&mut self) -> Result<(), TargetError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let was = backing_file(&self.path);
        clear(&file).map_err(|error| TargetError::io("LOOP_CLR_FD", &self.path, error))?;
        drop(file);
        wait_detached(&self.path, was.as_deref())
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = self.detach_now();
    }
}

fn open_device(path: &Path) -> Result<File, TargetError> {
    match open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        Ok(fd) => Ok(File::from(fd)),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NXIO) => {
            let number = path.to_string_lossy().trim_start_matches("/dev/loop").to_owned();
            Err(TargetError::state(
                path,
                "is the next free loop device, and its node does not exist",
                &format!(
                    "detach loop devices that are not needed (losetup -a), or make the node: \
                     mknod {} b 7 {number}",
                    path.display()
                ),
            ))
        }
        Err(error) => Err(TargetError::io("open", path, error)),
    }
}

/// Lets the kernel flush the device again where an earlier user of the number has told it not to
/// (`write_cache`, kept beyond the image): nothing would be durable, and nobody would know.
fn flush_again(path: &Path) -> Result<(), TargetError> {
    let name = path.file_name().unwrap_or_default();
    let file = Path::new("/sys/block").join(name).join("queue/write_cache");
    match fs::read_to_string(&file) {
        Ok(text) if text.trim() == "write through" => fs::write(&file, "write back")
            .map_err(|error| TargetError::io("switch flushes on", &file, error)),
        _ => Ok(()),
    }
}

/// Lifts a write protection (`blockdev --setro`) that an earlier user of the number has left: the
/// kernel keeps it beyond the image that it was meant for.
fn make_writable(device: &File) -> io::Result<()> {
    let read_only: libc::c_int = 0;
    // SAFETY: BLKROSET reads one int, which `read_only` is, and keeps no pointer to it.
    let result =
        unsafe { libc::ioctl(device.as_raw_fd(), BLKROSET, std::ptr::from_ref(&read_only)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn configure(device: &File, image: &File, image_path: &Path) -> io::Result<()> {
    match configure_with(device, image, image_path, LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            configure_with(device, image, image_path, LO_FLAGS_AUTOCLEAR)
        }
        result => result,
    }
}

fn configure_with(device: &File, image: &File, image_path: &Path, flags: u32) -> io::Result<()> {
    let mut info = LoopInfo64 { flags, ..EMPTY_INFO };
    // The name is only for people: sysfs has the whole path.
    let name = image_path.as_os_str().as_encoded_bytes();
    let length = name.len().min(63);
    info.file_name[..length].copy_from_slice(&name[..length]);
    let config = LoopConfig {
        fd: fd_number(image.as_raw_fd())?,
        block_size: LOOP_SECTOR_BYTES,
        info,
        reserved: [0; 8],
    };
    // SAFETY: LOOP_CONFIGURE reads one `struct loop_config`, which `config` is, and keeps no
    // pointer to it; both descriptors are open.
    let result =
        unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, std::ptr::from_ref(&config)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn fd_number(fd: RawFd) -> io::Result<u32> {
    u32::try_from(fd).map_err(io::Error::other)
}

/// What the device lies over.
pub(crate) fn status(device: &File) -> io::Result<LoopInfo64> {
    let mut info = EMPTY_INFO;
    // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64`, which `info` is; every bit
    // pattern is valid for its fields.
    let result = unsafe {
        libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64, std::ptr::from_mut(&mut info))
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(info) }
}

/// `LOOP_CLR_FD`; a device that is detached already is fine.
pub(crate) fn clear(device: &File) -> io::Result<()> {
    // SAFETY: LOOP_CLR_FD takes no argument and touches no memory of ours.
    if unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::ENXIO) => Ok(()),
        error => Err(error),
    }
}

/// Waits until the device has another backing file than `was`, or none. A file system that a killed
/// process has left frozen on it is taken down on the way.
pub(crate) fn wait_detached(device: &Path, was: Option<&Path>) -> Result<(), TargetError> {
    let start = Instant::now();
    let events = DeviceEvents::listen();
    let mut thawed = None;
    while was.is_some() && backing_file(device).as_deref() == was {
        if thawed.is_none() && start.elapsed() >= THAW_AFTER {
            thawed = Some(thaw(device));
            continue;
        }
        if start.elapsed() > DETACH_LIMIT {
            return Err(match thawed {
                Some(Err(error)) => error,
                _ => TargetError::state(
                    device,
                    "still attached: something has it open or mounted",
                    "unmount it; the kernel then detaches it by itself",
                ),
            });
        }
        let next = if thawed.is_some() { DETACH_LIMIT } else { THAW_AFTER };
        events.wait(next.saturating_sub(start.elapsed()));
    }
    Ok(())
}

/// The file behind a loop device as sysfs names it (with ` (deleted)` where it has no name any
/// more); `None` where it is not attached.
#[must_use]
pub fn backing_file(device: &Path) -> Option<PathBuf> {
    attribute(device, "backing_file").map(PathBuf::from)
}

fn attribute(device: &Path, name: &str) -> Option<String> {
    let path = Path::new("/sys/block").join(device.file_name()?).join("loop").join(name);
    fs::read_to_string(path).ok().map(|text| text.trim_end_matches('\n').to_owned())
}
