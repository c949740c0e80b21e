//! `tar`: an archive unpacked, a tree packed; the compressor is a process of its own.

use super::products::file_bytes;
use super::{Amounts, Starts, Work};
use crate::Root;
use crate::program::ProgramError;
use fsarena_model::job::Compression;
use fsarena_model::work::JobTask;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Unpacks.
#[derive(Debug)]
pub(super) struct Untar(pub Compression);

/// Packs.
#[derive(Debug)]
pub(super) struct Archive(pub Compression);

/// The first arguments; `--force-local`, for a colon in a name is not another machine.
fn first(what: &str, compression: Compression) -> Vec<OsString> {
    let mut args = vec![OsString::from(what)];
    args.extend(compression.program().map(|program| format!("--{program}").into()));
    args.push("--force-local".into());
    args
}

impl Work for Untar {
    fn starts(&self, task: &JobTask, _: &Path) -> Result<Starts, ProgramError> {
        let mut args = first("-x", self.0);
        args.extend(["-f".into(), task.input.clone().into()]);
        args.extend(["-C".into(), task.name.clone().into()]);
        Ok(Starts::Once(args))
    }

    fn amounts(&self, task: &JobTask, root: &Root, _: u64) -> io::Result<Amounts> {
        let read_bytes = file_bytes(root, &task.input)?.unwrap_or(0);
        let contents = &task.contents;
        Ok(Amounts { ops: contents.entries(), read_bytes, written_bytes: contents.bytes })
    }

    fn fills_directory(&self) -> bool {
        true
    }
}

impl Work for Archive {
    fn starts(&self, task: &JobTask, _: &Path) -> Result<Starts, ProgramError> {
        let mut args = first("-c", self.0);
        args.extend(["-f".into(), product(task).into()]);
        args.extend(["-C".into(), task.input.clone().into(), ".".into()]);
        Ok(Starts::Once(args))
    }

    fn amounts(&self, task: &JobTask, root: &Root, _: u64) -> io::Result<Amounts> {
        let written_bytes = file_bytes(root, Path::new(&product(task)))?.unwrap_or(0);
        let contents = &task.contents;
        Ok(Amounts { ops: contents.entries(), read_bytes: contents.bytes, written_bytes })
    }
}

fn product(task: &JobTask) -> String {
    task.job.product(&task.name).unwrap_or_else(|| task.name.clone())
}
