//! `make`: a tree of sources built into another directory, which it is told as `OUT`.

use super::products::tree_bytes;
use super::{Amounts, Starts, Work};
use crate::Root;
use crate::program::ProgramError;
use crate::reach::closed_way;
use fsarena_model::work::JobTask;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// With how many compilers at once.
#[derive(Debug)]
pub(super) struct Compile(pub u32);

impl Work for Compile {
    fn starts(&self, task: &JobTask, root: &Path) -> Result<Starts, ProgramError> {
        if let Some(closed) = closed_way(root).filter(|_| task.input.is_absolute()) {
            return Err(ProgramError::Task {
                phase: task.name.clone(),
                what: format!(
                    "make works in {}, and the user of the work may not go from there to {}: {} \
                     is closed to it",
                    task.input.display(),
                    root.display(),
                    closed.display()
                ),
                remedy: "use source = \"same\", or leave --user out",
            });
        }
        let mut out = OsString::from("OUT=");
        out.push(from_input(&task.input, root).join(&task.name));
        Ok(Starts::Once(vec![
            "-s".into(),
            "-C".into(),
            task.input.clone().into(),
            format!("-j{}", self.0.max(1)).into(),
            out,
        ]))
    }

    fn amounts(&self, task: &JobTask, root: &Root, _: u64) -> io::Result<Amounts> {
        let written_bytes = tree_bytes(root, Path::new(&task.name))?;
        Ok(Amounts { ops: 0, read_bytes: task.contents.bytes, written_bytes })
    }

    fn fills_directory(&self) -> bool {
        true
    }

    /// make ends its compilers when it is told to end.
    fn at_death(&self) -> Signal {
        Signal::TERM
    }
}

/// The root as seen from `input`: the way to it need not be open to the user who does the work, so
/// it is named only where the sources lie elsewhere.
fn from_input(input: &Path, root: &Path) -> PathBuf {
    if input.is_absolute() { root.to_owned() } else { input.components().map(|_| "..").collect() }
}
