//! What is outside an experiment's file, as far as the file names it: read through functions of the
//! caller ([`Outside`], [`Rules`]). Relative names are looked for in the directory of the file.

use crate::error::{At, PlanError};
use fsarena_corpus::CorpusError;
use fsarena_corpus::own::{Own, TopLevel};
use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{DeviceLevel, FsLevel};
use std::io;
use std::path::{Path, PathBuf};

/// What reads a file that an experiment names.
pub type ReadFile<'r> = &'r dyn Fn(&Path) -> io::Result<String>;

/// Data of the user's own, as it was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Surveyed {
    /// Its absolute path.
    pub path: PathBuf,
    /// What it is.
    pub own: Own,
    /// What is directly in it.
    pub top: TopLevel,
}

/// What looks at data of the user's own.
pub type Survey<'r> = &'r dyn Fn(&Path) -> Result<Surveyed, CorpusError>;

/// What is outside an experiment's file, as far as the file names it. Relative names are looked for
/// in the directory of the file.
#[derive(Clone, Copy)]
pub struct Outside<'r> {
    /// Reads job files of fio and descriptions of datasets.
    pub read: ReadFile<'r>,
    /// Looks at trees and archives.
    pub survey: Survey<'r>,
}

/// The files that an experiment names: where they are looked for, and by whom they are read.
#[derive(Clone, Copy)]
pub(crate) struct Files<'r> {
    /// The experiment's own, as the user gave it.
    pub(crate) file: &'r str,
    /// Absent where nothing else is read.
    pub(crate) outside: Option<&'r Outside<'r>>,
}

impl<'r> Files<'r> {
    /// Nothing outside the file itself.
    pub(crate) fn none(file: &'r str) -> Self {
        Self { file, outside: None }
    }

    /// Where a name of the file leads.
    pub(crate) fn path(&self, written: &str) -> PathBuf {
        Path::new(self.file).parent().unwrap_or(Path::new("")).join(written)
    }

    /// Name for errors and text of a file that the experiment names; `here` says how the same is
    /// written in place.
    pub(crate) fn text_of(
        &self,
        At { value: written, place }: &At<String>,
        here: &str,
    ) -> Result<(String, String), PlanError> {
        let Some(outside) = self.outside else {
            let what = format!("{written:?} is another file, and only this one is read");
            return Err(PlanError::new(place, what, here));
        };
        let path = self.path(written);
        let shown = path.display().to_string();
        let text = (outside.read)(&path).map_err(|error| {
            let what = format!("{shown} cannot be read: {error}");
            PlanError::new(place, what, "the name is relative to the experiment's file")
        })?;
        Ok((shown, text))
    }
}

/// What the file systems and this machine's devices accept: known outside this crate.
pub trait Rules {
    /// Whether these options are legal together, on this device.
    ///
    /// # Errors
    /// The rule that is broken and what to do, in one line.
    fn check(&self, fs: &FsLevel, device: &DeviceLevel) -> Result<(), String>;
    /// The guest kernel that is called so, as levels of devices name it; without a name the one
    /// that is taken then.
    ///
    /// # Errors
    /// Why there is none and what to do, in one line.
    fn guest_kernel(&self, _name: &str) -> Result<String, String> {
        Err("there is no guest kernel; fsarena kernel build makes one".to_owned())
    }
    /// Size of the block device at this path; absent where it is none, and so a directory.
    ///
    /// # Errors
    /// Why it cannot be asked and what to do, in one line.
    fn block_device_bytes(&self, path: &Path) -> Option<Result<u64, String>>;
    /// Logical sector of a device, where it is known: what calls without the page cache have to be
    /// multiples of.
    fn logical_sector_bytes(&self, device: &DeviceLevel) -> Option<u64>;
    /// Room that is left in a directory that is a target, bytes; absent where it is not known.
    fn free_bytes(&self, _directory: &Path) -> Option<u64> {
        None
    }
    /// Room on a file system of these options on this device, and how it is handed out; absent
    /// where it is not known: then a rule of thumb holds.
    fn capacity(&self, _fs: &FsLevel, _device: &DeviceLevel) -> Option<Capacity> {
        None
    }
}
