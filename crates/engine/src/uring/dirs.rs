//! Directories of a thread, one by one: those above are made before those in them, and go after.

use super::files::{AfterOp, FileOp, FileOpSource};
use crate::names::DirNames;
use crate::outcome::Failure;
use crate::share::DirShare;
use crate::threads::StartBarrier;
use rustix::fd::BorrowedFd;
use std::ffi::CStr;

/// Directories, from the root to the leaves or back.
pub(super) struct Dirs<'a> {
    pub share: DirShare,
    pub order: Option<&'a [u32]>,
    pub backwards: bool,
    /// Whether a parent is synced when the next directory has another one.
    pub sync: bool,
    pub index: u32,
    pub names: &'a mut DirNames,
    pub barrier: &'a StartBarrier,
}

impl Dirs<'_> {
    fn at(&self, index: u32) -> u32 {
        let k = self.order.map_or(index, |order| order[index as usize]);
        // The last directory is the deepest: they go away from the end.
        self.share.first + if self.backwards { self.share.count - 1 - k } else { k }
    }
}

impl FileOpSource for Dirs<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<FileOp> {
        if self.index == self.share.count || self.barrier.is_stopped() {
            return None;
        }
        let number = self.at(self.index);
        self.names.set(number);
        self.index += 1;
        let (level, parent) = self.names.parent();
        let next =
            (self.index < self.share.count).then(|| self.names.parent_of(self.at(self.index)));
        let after = if self.sync && next != Some((level, parent)) {
            AfterOp::SyncParent
        } else if next.is_some_and(|next| next.0 != level) {
            AfterOp::Drain
        } else {
            AfterOp::Next
        };
        Some(FileOp { number: u64::from(number), bytes: 0, offset: 0, after })
    }

    #[inline(always)]
    fn path(&self) -> &CStr {
        self.names.as_c_str()
    }

    fn new_path(&mut self) -> &CStr {
        self.names.as_c_str()
    }

    fn done(&mut self, _number: u64, _lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        Ok(())
    }
}
