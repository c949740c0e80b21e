//! What a kind of device is, and what a claim of one holds.

use super::facts;
use crate::TargetError;
use crate::inventory::Roots;
use crate::queue;
use crate::vet::VettedDevice;
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::record::Notice;
use fsarena_model::spec::{TargetSpec, Under};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Limit for a node to appear.
const NODE_LIMIT: Duration = Duration::from_secs(5);

/// Something that outlives this process, and what removes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Made {
    /// An image: [`crate::leftovers::remove_image`].
    Image(PathBuf),
    /// A directory: [`crate::leftovers::remove_dir`].
    Directory(PathBuf),
    /// A device of the kernel: [`crate::claim::remove_made`].
    Device(DeviceIdentity),
}

/// What a claim tells while it is made.
pub trait Hooks {
    /// This is about to be made, or cannot do harm yet: to be written down now.
    ///
    /// # Errors
    /// When it cannot be written down; then it is not made.
    fn will_make(&mut self, what: &Made) -> Result<(), String>;

    /// Bytes of the image that are written; may end the claim.
    fn written(&mut self, bytes: u64) -> ControlFlow<()>;
}

/// What a claim needs next to the level.
pub struct Order<'a> {
    /// Name of what is made, beginning with `fsarena-`.
    pub name: &'a str,
    /// Directory of images.
    pub image_dir: &'a Path,
    /// Directory of images in memory.
    pub memory_dir: &'a Path,
    /// The user's block devices of the level, each vetted with their consent.
    pub vetted: &'a [VettedDevice],
    /// Hears of everything that is made.
    pub hooks: &'a mut dyn Hooks,
}

impl Order<'_> {
    pub(super) fn will_make(&mut self, path: &Path, what: &Made) -> Result<(), TargetError> {
        self.hooks.will_make(what).map_err(|error| {
            let problem = format!("not made, because it could not be written down: {error}");
            TargetError::state(path, problem, "see that the journal can be written")
        })
    }
}

/// One kind of device.
pub(super) trait Kind: Sync {
    /// As [`DeviceLevel::kind`].
    fn name(&self) -> &'static str;

    /// One line for lists.
    fn summary(&self) -> &'static str;

    /// Whether this machine has it. Looks, and changes nothing.
    fn availability(&self, roots: &Roots, modules: &Path) -> Availability;

    /// Whether memory for a device of this size is there, where it would lie in memory and is not
    /// taken at once.
    ///
    /// # Errors
    /// Says how much is there.
    fn fits(&self, level: &DeviceLevel) -> Result<(), TargetError> {
        let _ = level;
        Ok(())
    }

    /// Claims a device for the level, which is of this kind.
    fn claim(&self, level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError>;

    /// Whether a device of this identity was made by this kind.
    fn has_made(&self, identity: &DeviceIdentity) -> bool {
        let _ = identity;
        false
    }

    /// Removes such a device, if it is still there and the same; true where it was.
    fn remove(&self, identity: &DeviceIdentity) -> Result<bool, TargetError> {
        let _ = identity;
        Ok(false)
    }
}

/// What a claim holds.
pub(super) trait Held: Debug + Send {
    /// Leaves what was made in place when it is released.
    fn keep(&mut self);

    /// Lets go and undoes; a second time there is nothing to do.
    fn release(&mut self) -> Vec<TargetError>;
}

/// Nothing to undo: memory that is taken by a mount, or a disk that is there with its guest.
#[derive(Debug)]
pub(super) struct Nothing;

impl Held for Nothing {
    fn keep(&mut self) {}

    fn release(&mut self) -> Vec<TargetError> {
        Vec::new()
    }
}

/// A target that is ours until it is released.
#[derive(Debug)]
pub struct Claimed {
    pub(super) held: Box<dyn Held>,
    pub(super) target: TargetSpec,
    pub(super) facts: BTreeMap<String, String>,
    pub(super) notices: Vec<Notice>,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let _ = self.held.release();
    }
}

impl Claimed {
    /// What the executor works on.
    #[must_use]
    pub fn target(&self) -> TargetSpec {
        self.target.clone()
    }

    /// Facts of the device, by name: `logical_sector_bytes`, `scheduler`, `backing_fs`, `model`, …
    /// Those of its queue are as they are now.
    #[must_use]
    pub fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = self.facts.clone();
        let names = queue::names_of(&self.target);
        let of_queue = |name: &String| facts::of_queue(Path::new("/sys"), name);
        facts.extend(facts::of_all(names.iter().map(of_queue).collect()));
        facts
    }

    /// What has to be said with every result on this target.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        self.notices.clone()
    }

    /// Leaves what was made in place when the claim is released; a loop device is detached with its
    /// last mount.
    pub fn keep(&mut self) {
        self.held.keep();
    }

    /// Lets go of the device and removes what was made, unless it is kept.
    ///
    /// # Errors
    /// Everything that went wrong; what is still in use is left in place, for recovery to find.
    pub fn release(mut self) -> Result<(), Vec<TargetError>> {
        let errors = self.held.release();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

pub(super) fn missing(reason: impl Into<String>) -> Availability {
    Availability::Missing { reason: reason.into(), package: None }
}

pub(super) fn our_name(dir: &Path, name: &str) -> Result<(), TargetError> {
    if name.starts_with("fsarena-") && !name.contains('/') {
        return Ok(());
    }
    let problem = format!("{name:?} is not a name of ours: it must begin with fsarena-");
    Err(TargetError::state(dir, problem, ""))
}

pub(super) fn notice(code: &str, text: &str, remedy: &str) -> Notice {
    Notice {
        code: code.to_owned(),
        text: text.to_owned(),
        remedy: Some(remedy.to_owned()),
        measure: None,
    }
}

/// A level of another kind; the registry never lets that happen.
pub(super) fn wrong_level(level: &DeviceLevel) -> TargetError {
    TargetError::state(Path::new(level.kind()), "not a level of this kind of device", "")
}

/// The claim of a device of the kernel that is memory.
pub(super) fn memory_device(
    held: Box<dyn Held>,
    identity: DeviceIdentity,
    code: &str,
    text: &str,
) -> Claimed {
    let mut facts = facts::of_queue(Path::new("/sys"), &identity.name);
    facts.insert("in_memory".to_owned(), "true".to_owned());
    facts.insert("size_bytes".to_owned(), identity.size_bytes.to_string());
    let remedy = "name a disk, or --on loop:SIZE on a disk, to compare disks";
    let target = TargetSpec::Block {
        device: identity.path.clone(),
        size_bytes: identity.size_bytes,
        in_memory: true,
        under: Under::Made { identity },
        members: Vec::new(),
    };
    Claimed { held, facts, notices: vec![notice(code, text, remedy)], target }
}

/// Writes into a file of the kernel, which is there or is not made.
pub(super) fn write_existing(file: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}

/// Waits for the node of a device that was just made.
pub(super) fn wait_for_node(node: &Path) -> Result<(), TargetError> {
    let deadline = Instant::now() + NODE_LIMIT;
    while !node.exists() {
        if Instant::now() > deadline {
            let remedy = "mount devtmpfs at /dev, or make the node";
            return Err(TargetError::state(node, "its node has not appeared", remedy));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
