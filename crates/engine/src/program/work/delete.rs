//! `rm -rf`: a tree or an archive removed.

use super::{Amounts, Starts, Work};
use crate::Root;
use crate::program::ProgramError;
use fsarena_model::work::JobTask;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub(super) struct Delete;

impl Work for Delete {
    fn starts(&self, task: &JobTask, _: &Path) -> Result<Starts, ProgramError> {
        Ok(Starts::Once(vec!["-rf".into(), "--".into(), task.input.clone().into()]))
    }

    fn amounts(&self, task: &JobTask, _: &Root, _: u64) -> io::Result<Amounts> {
        Ok(Amounts { ops: task.contents.entries(), ..Amounts::default() })
    }
}
