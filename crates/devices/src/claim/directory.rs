//! Directories of ours in a directory of the user's.

use super::facts;
use super::kind::{Claimed, Held, Kind, Made, Order, notice, our_name, wrong_level};
use crate::TargetError;
use crate::inventory::Roots;
use crate::leftovers;
use crate::vet::{VettedDirectory, vet_directory};
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::spec::TargetSpec;
use fsarena_process::private;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A directory of ours may hold copies of the user's data: it can be passed through, not listed.
const OURS_MODE: u32 = 0o711;

pub(super) struct Directory;

impl Kind for Directory {
    fn name(&self) -> &'static str {
        "directory"
    }

    fn summary(&self) -> &'static str {
        "a directory of a file system that is mounted already; needs no root"
    }

    fn availability(&self, _roots: &Roots, _modules: &Path) -> Availability {
        Availability::Ready
    }

    fn claim(&self, level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
        let DeviceLevel::Directory { path } = level else { return Err(wrong_level(level)) };
        let vetted = vet_directory(path)?;
        let ours = vetted.ours(order.name);
        order.will_make(&ours, &Made::Directory(ours.clone()))?;
        claim_directory(&vetted, order.name)
    }
}

/// Makes a directory of ours, called `name`, in the user's.
///
/// # Errors
/// When it is there already or cannot be made.
pub fn claim_directory(dir: &VettedDirectory, name: &str) -> Result<Claimed, TargetError> {
    our_name(dir.path(), name)?;
    let path = dir.ours(name);
    private::create_dir(&path).map_err(|error| TargetError::io("mkdir", &path, error))?;
    // The user of the work has to get through; what each trial makes in it is its own.
    fs::set_permissions(&path, Permissions::from_mode(OURS_MODE))
        .map_err(|error| TargetError::io("chmod", &path, error))?;
    let mut facts = BTreeMap::new();
    facts.insert("in_memory".to_owned(), dir.in_memory().to_string());
    facts::of_backing(dir.path(), &mut facts);
    let mut notices = Vec::new();
    if dir.in_memory() {
        notices.push(notice(
            "directory-in-memory",
            "the directory is on tmpfs: this is memory, not a disk",
            "name a directory on a disk",
        ));
    }
    let target = TargetSpec::Directory { path: path.clone() };
    Ok(Claimed { held: Box::new(OurDirectory { path, done: false }), target, facts, notices })
}

/// The directory, removed with its contents.
#[derive(Debug)]
struct OurDirectory {
    path: PathBuf,
    done: bool,
}

impl Held for OurDirectory {
    fn keep(&mut self) {
        self.done = true;
    }

    fn release(&mut self) -> Vec<TargetError> {
        if std::mem::replace(&mut self.done, true) {
            return Vec::new();
        }
        leftovers::remove_dir(&self.path).err().into_iter().collect()
    }
}
