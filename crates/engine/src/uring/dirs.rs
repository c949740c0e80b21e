//! Directories of a thread, one by one: those above are made before those in them, and go after.

use super::files::{Piece, Pieces, Then};
use crate::crew::Gate;
use crate::names::DirNames;
use crate::outcome::Failure;
use crate::share::DirShare;
use rustix::fd::BorrowedFd;
use std::ffi::CStr;

/// Directories, from the root to the leaves or back.
pub(super) struct Dirs<'a> {
    share: DirShare,
    order: Option<&'a [u32]>,
    backwards: bool,
    /// Whether a parent is synced when the next directory lies elsewhere.
    sync: bool,
    index: u32,
    names: &'a mut DirNames,
    gate: &'a Gate,
}

impl<'a> Dirs<'a> {
    /// The directories of `share`, in an order or by number.
    pub fn new(
        (share, order): (DirShare, Option<&'a [u32]>),
        backwards: bool,
        sync: bool,
        names: &'a mut DirNames,
        gate: &'a Gate,
    ) -> Self {
        Self { share, order, backwards, sync, index: 0, names, gate }
    }

    fn at(&self, index: u32) -> u32 {
        let k = self.order.map_or(index, |order| order[index as usize]);
        // The last directory is the deepest: they go away from the end.
        self.share.first + if self.backwards { self.share.count - 1 - k } else { k }
    }
}

impl Pieces for Dirs<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<Piece> {
        if self.index == self.share.count || self.gate.is_stopped() {
            return None;
        }
        let number = self.at(self.index);
        self.names.set(number);
        self.index += 1;
        let (level, parent) = self.names.parent();
        let next =
            (self.index < self.share.count).then(|| self.names.parent_of(self.at(self.index)));
        let then = if self.sync && next != Some((level, parent)) {
            Then::SyncParent
        } else if next.is_some_and(|next| next.0 != level) {
            Then::Drain
        } else {
            Then::Next
        };
        Some(Piece { number: u64::from(number), bytes: 0, offset: 0, then })
    }

    #[inline(always)]
    fn path(&self) -> &CStr {
        self.names.as_c_str()
    }

    fn new_path(&mut self) -> &CStr {
        self.names.as_c_str()
    }

    fn own(&mut self, _slot: usize, _number: u64, _offset: u64, _len: usize) -> Option<&[u8]> {
        None
    }

    fn fill(&mut self, _number: u64, _offset: u64, _bytes: &mut [u8]) {}

    fn done(&mut self, _number: u64, _lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        Ok(())
    }
}
