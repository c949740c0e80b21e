//! Claims: an image with its loop device, memory, or a directory of ours, held until released.
//!
//! Dropping a claim releases it as far as it goes, also while a panic unwinds. When the process is
//! killed, the loop device detaches itself and the image is left to [`crate::leftovers`].

use crate::error::TargetError;
use crate::image::Image;
use crate::leftovers;
use crate::loopdev::LoopDevice;
use crate::mountinfo;
use crate::vet::{IMAGE_MARGIN_BYTES, VettedDirectory, VettedImageDir, free_bytes};
use fsarena_model::record::Notice;
use fsarena_model::spec::TargetSpec;
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A target that is ours until it is released.
#[derive(Debug)]
pub struct Claimed {
    // Before the image: fields are dropped in this order.
    loop_device: Option<LoopDevice>,
    image: Option<Image>,
    directory: Option<OurDirectory>,
    target: TargetSpec,
    facts: BTreeMap<String, String>,
    notices: Vec<Notice>,
    kept: bool,
}

/// A directory of ours; removed with its contents when dropped, unless kept.
#[derive(Debug)]
struct OurDirectory {
    path: PathBuf,
    keep: bool,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.let_go_if_kept();
    }
}

impl OurDirectory {
    fn remove_now(&mut self) -> Result<(), TargetError> {
        if self.keep {
            return Ok(());
        }
        self.keep = true;
        leftovers::remove_dir(&self.path).map(|_| ())
    }
}

impl Drop for OurDirectory {
    fn drop(&mut self) {
        let _ = self.remove_now();
    }
}

impl Claimed {
    /// What the executor works on.
    #[must_use]
    pub fn target(&self) -> TargetSpec {
        self.target.clone()
    }

    /// Facts of the device, by name: `logical_sector_bytes`, `scheduler`, `backing_fs`, …
    #[must_use]
    pub fn facts(&self) -> BTreeMap<String, String> {
        self.facts.clone()
    }

    /// What has to be said with every result on this target.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        self.notices.clone()
    }

    /// Leaves the image or the directory in place when the claim is released; the loop device is
    /// detached with its last mount.
    pub fn keep(&mut self) {
        self.kept = true;
        if let Some(image) = &mut self.image {
            image.keep();
        }
        if let Some(directory) = &mut self.directory {
            directory.keep = true;
        }
    }

    fn let_go_if_kept(&mut self) {
        if self.kept
            && let Some(device) = self.loop_device.take()
        {
            device.let_go();
        }
    }

    /// Detaches the device and removes the image or directory, unless it is kept.
    ///
    /// # Errors
    /// Everything that went wrong; an image whose device is still in use is left in place, for
    /// recovery to find.
    pub fn release(mut self) -> Result<(), Vec<TargetError>> {
        let mut errors = Vec::new();
        self.let_go_if_kept();
        if let Some(Err(error)) = self.loop_device.take().map(LoopDevice::detach) {
            errors.push(error);
            if let Some(image) = &mut self.image {
                image.keep();
            }
        }
        if let Some(Err(error)) = self.image.take().map(Image::remove) {
            errors.push(error);
        }
        if let Some(Err(error)) = self.directory.take().map(|mut dir| dir.remove_now()) {
            errors.push(error);
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
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
    let target = TargetSpec::Image {
        device: device.path().to_owned(),
        image: image.path().to_owned(),
        size_bytes,
        direct_io: device.direct_io(),
        in_memory: dir.in_memory(),
    };
    let mut facts = block_facts(Path::new("/sys"), device.path());
    facts.insert("direct_io".to_owned(), device.direct_io().to_string());
    facts.insert("in_memory".to_owned(), dir.in_memory().to_string());
    facts.insert("size_bytes".to_owned(), size_bytes.to_string());
    let backing = backing_facts(dir.path(), &mut facts);
    let notices = image_notices(dir.in_memory(), device.direct_io(), &backing);
    Ok(Claimed {
        loop_device: Some(device),
        image: Some(image),
        directory: None,
        target,
        facts,
        notices,
        kept: false,
    })
}

/// Claims memory for a file system without a device; nothing is taken before it is mounted.
///
/// # Errors
/// None today; the signature is that of the other claims.
pub fn claim_memory(size_bytes: u64) -> Result<Claimed, TargetError> {
    let facts = [("in_memory", "true".to_owned()), ("size_bytes", size_bytes.to_string())];
    Ok(Claimed {
        loop_device: None,
        image: None,
        directory: None,
        target: TargetSpec::Memory { size_bytes },
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
        notices: Vec::new(),
        kept: false,
    })
}

/// Makes a directory of ours, called `name`, in the user's.
///
/// # Errors
/// When it is there already or cannot be made.
pub fn claim_directory(dir: &VettedDirectory, name: &str) -> Result<Claimed, TargetError> {
    our_name(dir.path(), name)?;
    let path = dir.ours(name);
    fs::create_dir(&path).map_err(|error| TargetError::io("mkdir", &path, error))?;
    let mut facts = BTreeMap::new();
    facts.insert("in_memory".to_owned(), dir.in_memory().to_string());
    backing_facts(dir.path(), &mut facts);
    let mut notices = Vec::new();
    if dir.in_memory() {
        notices.push(notice(
            "directory-in-memory",
            "the directory lies on tmpfs: this is memory, not a disk",
            "name a directory on a disk",
        ));
    }
    Ok(Claimed {
        loop_device: None,
        image: None,
        target: TargetSpec::Directory { path: path.clone() },
        directory: Some(OurDirectory { path, keep: false }),
        facts,
        notices,
        kept: false,
    })
}

fn our_name(dir: &Path, name: &str) -> Result<(), TargetError> {
    if name.starts_with("fsarena-") && !name.contains('/') {
        return Ok(());
    }
    let problem = format!("{name:?} is not a name of ours: it must begin with fsarena-");
    Err(TargetError::state(dir, problem, ""))
}

fn notice(code: &str, text: &str, remedy: &str) -> Notice {
    Notice {
        code: code.to_owned(),
        text: text.to_owned(),
        remedy: Some(remedy.to_owned()),
        measure: None,
    }
}

fn image_notices(in_memory: bool, direct_io: bool, backing: &str) -> Vec<Notice> {
    let mut notices = Vec::new();
    if in_memory {
        notices.push(notice(
            "loop-in-memory",
            "the image lies on tmpfs: a loop on tmpfs is memory, not a disk",
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

/// What the directory lies on; gives the type.
fn backing_facts(dir: &Path, facts: &mut BTreeMap<String, String>) -> String {
    let Ok(Some(entry)) = mountinfo::of_path(dir) else {
        return "an unknown file system".to_owned();
    };
    facts.insert("backing_fs".to_owned(), entry.fstype.clone());
    facts.insert("backing_options".to_owned(), entry.options());
    facts.insert("backing_source".to_owned(), entry.source);
    entry.fstype
}

/// Facts from `/sys/block/X/queue`; what is missing is left out.
fn block_facts(sys_root: &Path, device: &Path) -> BTreeMap<String, String> {
    const FILES: [(&str, &str); 9] = [
        ("logical_sector_bytes", "logical_block_size"),
        ("physical_sector_bytes", "physical_block_size"),
        ("scheduler", "scheduler"),
        ("rotational", "rotational"),
        ("write_cache", "write_cache"),
        ("read_ahead_kib", "read_ahead_kb"),
        ("requests", "nr_requests"),
        ("discard_max_bytes", "discard_max_bytes"),
        ("max_request_kib", "max_sectors_kb"),
    ];
    let queue = sys_root.join("block").join(device.file_name().unwrap_or_default()).join("queue");
    let mut facts = BTreeMap::new();
    for (name, file) in FILES {
        if let Ok(text) = fs::read_to_string(queue.join(file)) {
            facts.insert(name.to_owned(), chosen(text.trim()).to_owned());
        }
    }
    facts
}

/// `none` of `mq-deadline [none]`.
fn chosen(text: &str) -> &str {
    match text.split_once('[').and_then(|(_, rest)| rest.split_once(']')) {
        Some((word, _)) => word,
        None => text,
    }
}
