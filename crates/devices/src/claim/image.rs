//! Loop devices over an image of ours: on a disk (`loop`) or in memory (`ram`).

use super::facts;
use super::kind::{Claimed, Held, Kind, Made, Order, missing, notice, our_name, wrong_level};
use crate::TargetError;
use crate::device_lock::DeviceLock;
use crate::image::Image;
use crate::inventory::{Roots, identify};
use crate::loopdev::LoopDevice;
use crate::queue;
use crate::vet::{IMAGE_MARGIN_BYTES, VettedImageDir, free_bytes, vet_image_dir};
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::record::Notice;
use fsarena_model::spec::{TargetSpec, Under};
use std::ops::ControlFlow;
use std::path::Path;

/// A loop device over an image.
pub(super) struct OverImage {
    in_memory: bool,
}

/// The image lies in the image directory.
pub(super) const LOOP: OverImage = OverImage { in_memory: false };
/// The image lies in memory.
pub(super) const RAM: OverImage = OverImage { in_memory: true };

impl Kind for OverImage {
    fn name(&self) -> &'static str {
        if self.in_memory { "ram" } else { "loop" }
    }

    fn summary(&self) -> &'static str {
        if self.in_memory {
            "a loop device over an image in memory"
        } else {
            "a loop device over an image in --image-dir"
        }
    }

    fn availability(&self, roots: &Roots, _modules: &Path) -> Availability {
        let control = roots.dev.join("loop-control");
        if control.exists() {
            return Availability::Ready;
        }
        missing(format!("no loop devices ({} is not there; modprobe loop)", control.display()))
    }

    fn claim(&self, level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
        let size_bytes = level.size_bytes().ok_or_else(|| wrong_level(level))?;
        let dir = if self.in_memory { order.memory_dir } else { order.image_dir };
        let vetted = vet_image_dir(dir, size_bytes)?;
        let path = vetted.image_path(order.name);
        order.will_make(&path, &Made::Image(path.clone()))?;
        let mut progress = |bytes| order.hooks.written(bytes);
        claim_image(&vetted, order.name, size_bytes, self.in_memory, &mut progress)
    }
}

/// Makes an image of `size_bytes`, fully written, and attaches a loop device to it. `name` begins
/// with `fsarena-`; `progress` hears the bytes written so far. With `in_memory` the directory must
/// lie in memory.
///
/// # Errors
/// When there is no room, no right, or no free loop device; nothing is left then.
pub fn claim_image(
    dir: &VettedImageDir,
    name: &str,
    size_bytes: u64,
    in_memory: bool,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Claimed, TargetError> {
    our_name(dir.path(), name)?;
    if in_memory && !dir.in_memory() {
        return Err(TargetError::state(
            dir.path(),
            "an image in memory was asked for, and this directory does not lie in memory",
            "use a directory on tmpfs, such as /dev/shm, or --on loop:SIZE",
        ));
    }
    // Vetting may be long ago.
    let needed_bytes = size_bytes.saturating_add(IMAGE_MARGIN_BYTES);
    let free = free_bytes(dir.path()).map_err(|e| TargetError::io("statvfs", dir.path(), e))?;
    if free < needed_bytes {
        return Err(TargetError::NoSpace {
            dir: dir.path().to_owned(),
            free_bytes: free,
            needed_bytes,
        });
    }
    let image = Image::create(&dir.image_path(name), size_bytes, progress)?;
    let device = LoopDevice::attach(image.file(), image.path())?;
    let roots = Roots::default();
    let lock = DeviceLock::take_new(&identify(device.path(), &roots)?, &roots)?;
    let target = TargetSpec::Block {
        device: device.path().to_owned(),
        size_bytes,
        in_memory: dir.in_memory(),
        under: Under::Image { image: image.path().to_owned(), direct_io: device.direct_io() },
        members: Vec::new(),
    };
    let kernel_name = queue::kernel_name(device.path());
    let mut facts = facts::of_queue(Path::new("/sys"), &kernel_name);
    facts.insert("direct_io".to_owned(), device.direct_io().to_string());
    facts.insert("in_memory".to_owned(), dir.in_memory().to_string());
    facts.insert("size_bytes".to_owned(), size_bytes.to_string());
    let backing = facts::of_backing(dir.path(), &mut facts);
    let notices = image_notices(dir.in_memory(), device.direct_io(), &backing);
    let held =
        HeldImage { loop_device: Some(device), image: Some(image), kept: false, lock: Some(lock) };
    Ok(Claimed { held: Box::new(held), target, facts, notices })
}

/// The image and its device.
#[derive(Debug)]
struct HeldImage {
    // Before the image: fields are dropped in this order.
    loop_device: Option<LoopDevice>,
    image: Option<Image>,
    kept: bool,
    lock: Option<DeviceLock>,
}

impl Held for HeldImage {
    fn keep(&mut self) {
        self.kept = true;
        if let Some(image) = &mut self.image {
            image.keep();
        }
    }

    /// An image whose device is still in use is left in place.
    fn release(&mut self) -> Vec<TargetError> {
        let mut errors = Vec::new();
        self.lock = None;
        match self.loop_device.take() {
            Some(device) if self.kept => device.let_go(),
            Some(device) => {
                if let Err(error) = device.detach() {
                    errors.push(error);
                    if let Some(image) = &mut self.image {
                        image.keep();
                    }
                }
            }
            None => {}
        }
        if let Some(Err(error)) = self.image.take().map(Image::remove) {
            errors.push(error);
        }
        errors
    }
}

fn image_notices(in_memory: bool, direct_io: bool, backing: &str) -> Vec<Notice> {
    let mut notices = Vec::new();
    if in_memory {
        notices.push(notice(
            "loop-in-memory",
            "the image is on tmpfs: a loop on tmpfs is memory, not a disk",
            "name a directory on a disk with --image-dir to compare disks",
        ));
    } else if !direct_io {
        notices.push(notice(
            "loop-buffered",
            &format!(
                "the loop device goes through the page cache of {backing}, which takes no direct \
                 I/O: everything is cached twice, and durable means no more than that cache allows"
            ),
            "name a directory on a file system with direct I/O with --image-dir",
        ));
    }
    notices
}
