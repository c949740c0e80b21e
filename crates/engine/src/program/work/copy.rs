//! `cp -a`: a tree, or an archive as it is, copied under a new name.

use super::products::file_bytes;
use super::{Amounts, Starts, Work};
use crate::Root;
use crate::program::ProgramError;
use fsarena_model::work::JobTask;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub(super) struct Copy;

impl Work for Copy {
    fn starts(&self, task: &JobTask, _: &Path) -> Result<Starts, ProgramError> {
        Ok(Starts::Once(vec![
            "-a".into(),
            format!("--reflink={}", task.reflink.name()).into(),
            "--".into(),
            task.input.clone().into(),
            task.name.clone().into(),
        ]))
    }

    fn amounts(&self, task: &JobTask, root: &Root, _: u64) -> io::Result<Amounts> {
        let (ops, bytes) = match file_bytes(root, Path::new(&task.name))? {
            Some(bytes) => (1, bytes),
            None => (task.contents.entries(), task.contents.bytes),
        };
        Ok(Amounts { ops, read_bytes: bytes, written_bytes: bytes })
    }
}
