//! Claims: a device, memory or a directory that is ours until it is released.
//!
//! Each kind of device is one file below this one and one line in `KINDS`. Dropping a claim
//! releases it as far as it goes, also while a panic unwinds. When the process is killed, a loop
//! device detaches itself; what stays (an image, a directory, a device that was made) was told to
//! [`Hooks::will_make`] before, and is left to [`crate::leftovers`].

mod brd;
mod directory;
mod facts;
mod image;
mod null_blk;
mod real;
mod zram;

pub use directory::claim_directory;
pub use image::claim_image;

use crate::devices::Roots;
use crate::error::TargetError;
use crate::fs::Availability;
use crate::queue;
use crate::vet::VettedDevice;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::record::Notice;
use fsarena_model::spec::TargetSpec;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Something that outlives this process, and what removes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Made {
    /// An image: [`crate::leftovers::remove_image`].
    Image(PathBuf),
    /// A directory: [`crate::leftovers::remove_dir`].
    Directory(PathBuf),
    /// A device of the kernel: [`crate::leftovers::remove_made`].
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

/// What a claim needs beside the level.
pub struct Order<'a> {
    /// Name of what is made, beginning with `fsarena-`.
    pub name: &'a str,
    /// Directory of images.
    pub image_dir: &'a Path,
    /// Directory of images in memory.
    pub memory_dir: &'a Path,
    /// The user's block device, vetted with their consent; for a level of that kind alone.
    pub vetted: Option<&'a VettedDevice>,
    /// Hears of everything that is made.
    pub hooks: &'a mut dyn Hooks,
}

impl Order<'_> {
    fn will_make(&mut self, path: &Path, what: &Made) -> Result<(), TargetError> {
        self.hooks.will_make(what).map_err(|error| {
            let problem = format!("not made, because it could not be written down: {error}");
            TargetError::state(path, problem, "see that the journal can be written")
        })
    }
}

/// One kind of device.
trait Kind: Sync {
    /// As [`DeviceLevel::kind`].
    fn name(&self) -> &'static str;

    /// One line for lists.
    fn summary(&self) -> &'static str;

    /// Whether this machine has it. Looks, and changes nothing.
    fn availability(&self, roots: &Roots, modules: &Path) -> Availability;

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

/// Every kind of device; a new one is its file and its line here.
static KINDS: [&dyn Kind; 7] = [
    &image::LOOP,
    &image::RAM,
    &zram::Zram,
    &brd::Brd,
    &null_blk::NullBlk,
    &real::Real,
    &directory::Directory,
];

/// The kinds of devices, with one line each.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|kind| (kind.name(), kind.summary()))
}

/// Whether this machine has devices of this kind (as [`DeviceLevel::kind`]); a kind that is not
/// known is missing.
#[must_use]
pub fn device_availability(kind: &str, roots: &Roots) -> Availability {
    availability_with(kind, roots, Path::new("/lib/modules"))
}

fn availability_with(kind: &str, roots: &Roots, modules: &Path) -> Availability {
    match KINDS.iter().find(|known| known.name() == kind) {
        Some(known) => known.availability(roots, modules),
        None => missing(format!("there is no kind of device called {kind:?}")),
    }
}

fn missing(reason: impl Into<String>) -> Availability {
    Availability::Missing { reason: reason.into(), package: None }
}

/// Claims a target for the level: vets what needs no consent, tells the hooks what is made, makes
/// it, and holds it.
///
/// # Errors
/// When this machine has no such device, or it cannot be had; nothing is left then.
pub fn claim(level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
    let place = Path::new(level.kind());
    let none = || TargetError::state(place, "no such kind of device", "");
    let kind = KINDS.iter().find(|kind| kind.name() == level.kind()).ok_or_else(none)?;
    let ready = kind.availability(&Roots::default(), Path::new("/lib/modules"));
    if let Availability::Missing { reason, .. } = ready {
        return Err(TargetError::state(place, reason, "use --on loop:SIZE"));
    }
    kind.claim(level, order)
}

/// Removes a device that a dead run has made. Only in the boot that it was made in: `diskseq`
/// begins anew with each.
pub(crate) fn remove_made(identity: &DeviceIdentity) -> Result<bool, TargetError> {
    match KINDS.iter().find(|kind| kind.has_made(identity)) {
        Some(kind) => kind.remove(identity),
        None => Err(TargetError::state(
            &identity.path,
            "not a device that fsarena makes, so it is left alone",
            "",
        )),
    }
}

/// What a claim holds.
trait Held: Debug + Send {
    /// Leaves what was made in place when it is released.
    fn keep(&mut self);

    /// Lets go and undoes; a second time there is nothing to do.
    fn release(&mut self) -> Vec<TargetError>;
}

/// Nothing to undo: memory that is taken by a mount.
#[derive(Debug)]
struct Nothing;

impl Held for Nothing {
    fn keep(&mut self) {}

    fn release(&mut self) -> Vec<TargetError> {
        Vec::new()
    }
}

/// A target that is ours until it is released.
#[derive(Debug)]
pub struct Claimed {
    held: Box<dyn Held>,
    target: TargetSpec,
    facts: BTreeMap<String, String>,
    notices: Vec<Notice>,
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
        if let Some(name) = queue::name_of(&self.target) {
            facts.extend(facts::of_queue(Path::new("/sys"), &name));
        }
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

/// Claims memory for a file system without a device; nothing is taken before it is mounted.
///
/// # Errors
/// None today; the signature is that of the other claims.
pub fn claim_memory(size_bytes: u64) -> Result<Claimed, TargetError> {
    let facts = [("in_memory", "true".to_owned()), ("size_bytes", size_bytes.to_string())];
    Ok(Claimed {
        held: Box::new(Nothing),
        target: TargetSpec::Memory { size_bytes },
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
        notices: Vec::new(),
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

/// A level of another kind; the registry never lets that happen.
fn wrong_level(level: &DeviceLevel) -> TargetError {
    TargetError::state(Path::new(level.kind()), "not a level of this kind of device", "")
}

#[cfg(test)]
mod tests;
