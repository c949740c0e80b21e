//! The op journal as a history of each file: what it held after each op, and for how long the name
//! stood for the same inode.
//!
//! A *generation* is an inode under a name: it begins with a create or with a rename onto the name,
//! and ends with the next one or with a delete. Later appends, overwrites and truncates are of it.

use crate::op::{Action, Op, Sync};
use crate::stamp::SECTOR;
use crate::workload::{has_second_name, identity};
use std::collections::BTreeMap;

/// Files that a journal may have are at most so large: the oracle keeps a number for each sector.
pub const MOST_BYTES: u64 = 1 << 30;

/// What was done to each file.
#[derive(Debug)]
pub struct History {
    pub(crate) seed: u64,
    pub(crate) files: BTreeMap<u32, FileHistory>,
}

/// A journal that no history can be made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("op {op} of the journal, on file {file}: {fault}")]
pub struct HistoryError {
    /// Its place, counted from 0.
    pub op: usize,
    pub file: u32,
    pub fault: Fault,
}

/// What is wrong with an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    #[error("it ends before it begins, or begins before the last op on the file ended")]
    Times,
    #[error("the file is there already")]
    Exists,
    #[error("the file is not there")]
    Missing,
    #[error("the bytes are not on borders of sectors within the file")]
    Unaligned,
    #[error("a truncate makes the file larger")]
    Grows,
    #[error("the file has more than 1 GiB")]
    TooLarge,
    #[error("the version was written before, or another one is in the same sector")]
    Version,
}

/// What a file holds: sections that ascend.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Contents {
    sections: Vec<Section>,
}

/// Up to which byte, and of which version; `None`: zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Section {
    end: u64,
    version: Option<u32>,
}

/// What is expected in a sector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ExpectedSector {
    /// `None`: zeros.
    pub version: Option<u32>,
    /// So many bytes are in the file.
    pub bytes: u16,
}

impl Contents {
    pub fn size(&self) -> u64 {
        self.sections.last().map_or(0, |section| section.end)
    }

    pub fn sector(&self, sector: u64) -> ExpectedSector {
        let from = sector * SECTOR as u64;
        let bytes = self.size().saturating_sub(from).min(SECTOR as u64) as u16;
        let at = self.sections.partition_point(|section| section.end <= from);
        ExpectedSector { version: self.sections.get(at).and_then(|found| found.version), bytes }
    }

    pub fn truncate(&mut self, size: u64) {
        let kept = self.sections.partition_point(|section| section.end < size);
        self.sections.truncate(kept + 1);
        if let Some(last) = self.sections.last_mut() {
            last.end = last.end.min(size);
        }
        if size == 0 {
            self.sections.clear();
        }
    }

    /// Puts bytes of a version over what is there, or behind it.
    pub fn write(&mut self, from: u64, end: u64, version: Option<u32>) {
        let old = std::mem::take(&mut self.sections);
        let mut begin = 0;
        let mut pieces = Vec::with_capacity(old.len() + 2);
        for section in old {
            pieces.push((begin, section.end.min(from), section.version));
            pieces.push((begin.max(end), section.end, section.version));
            begin = section.end;
        }
        pieces.push((from, end, version));
        pieces.retain(|(begin, end, _)| begin < end);
        pieces.sort_unstable_by_key(|(begin, _, _)| *begin);
        for (_, end, version) in pieces {
            match self.sections.last_mut() {
                Some(last) if last.version == version => last.end = end,
                _ => self.sections.push(Section { end, version }),
            }
        }
    }
}

/// What an op is for the name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// The name appears.
    Create,
    /// The name stands for another inode, that was complete before.
    Replace,
    /// The inode is written.
    Write,
    /// The inode becomes shorter.
    Truncate,
    /// The inode has its other name.
    Rename,
    /// The name is gone.
    Delete,
    /// What was done before is durable: a sync of the file system with an op on another file.
    Sync,
}

/// An op on a file, and what the file is after it.
#[derive(Debug)]
pub(crate) struct Step {
    /// Its place in the journal.
    pub op: u32,
    pub begin_ns: u64,
    pub end_ns: u64,
    pub effect: Effect,
    pub sync: Sync,
    /// Number of the inode under this name.
    pub generation: u32,
    /// Whether the file has its second name afterwards.
    pub has_second_name: bool,
    /// Bytes that it wrote.
    pub from: u64,
    pub end: u64,
    /// `None` after a delete.
    pub contents: Option<Contents>,
}

/// The ops on a file, one after the other.
#[derive(Debug, Default)]
pub(crate) struct FileHistory {
    pub steps: Vec<Step>,
    /// The generation in which a version was written.
    pub generation_of: BTreeMap<u32, u32>,
    /// When an op began that failed: from then on nobody knows what the file holds.
    pub failed_ns: Option<u64>,
}

impl History {
    /// Takes in a journal; ops on one file are in their order. What comes after a failed op on a
    /// file is left out, and the file is not judged from then on.
    ///
    /// # Errors
    /// The first op that cannot be, by the rules of [`Action`].
    pub fn new(ops: &[Op], seed: u64) -> Result<Self, HistoryError> {
        let mut files: BTreeMap<u32, FileHistory> = BTreeMap::new();
        for (number, op) in ops.iter().enumerate() {
            let file = identity(op.action.file());
            let history = files.entry(file).or_default();
            let taken = history.take(number as u32, op);
            taken.map_err(|fault| HistoryError { op: number, file, fault })?;
            if op.action.sync() == Sync::FileSystem && op.error.is_none() {
                let others = files.iter_mut().filter(|(other, _)| **other != file);
                others.for_each(|(_, history)| history.take_sync(number as u32, op));
            }
        }
        Ok(Self { seed, files })
    }
}

impl FileHistory {
    fn take(&mut self, number: u32, op: &Op) -> Result<(), Fault> {
        if self.failed_ns.is_some() {
            return Ok(());
        }
        let last_ns = self.steps.last().map_or(0, |step| step.end_ns);
        if op.end_ns < op.begin_ns || op.begin_ns < last_ns {
            return Err(Fault::Times);
        }
        let step = self.step(number, op)?;
        if op.error.is_some() {
            self.failed_ns = Some(op.begin_ns);
            return Ok(());
        }
        self.steps.push(step);
        Ok(())
    }

    /// A sync of the whole file system that began when all ops on the file had ended.
    fn take_sync(&mut self, number: u32, op: &Op) {
        let Some(last) = self.steps.last().filter(|last| last.end_ns <= op.begin_ns) else {
            return;
        };
        if self.failed_ns.is_none() {
            let (generation, has_second_name) = (last.generation, last.has_second_name);
            let contents = last.contents.clone();
            self.steps.push(Step {
                op: number,
                begin_ns: op.begin_ns,
                end_ns: op.end_ns,
                effect: Effect::Sync,
                sync: Sync::FileSystem,
                generation,
                has_second_name,
                from: 0,
                end: 0,
                contents,
            });
        }
    }

    fn step(&mut self, number: u32, op: &Op) -> Result<Step, Fault> {
        let has_second_name = has_second_name(op.action.file());
        let known = self.steps.last().filter(|last| last.contents.is_some());
        let next = self.steps.last().map_or(0, |step| step.generation + 1);
        let generation = next.saturating_sub(1);
        let named = known.filter(|last| last.has_second_name == has_second_name);
        let there = || named.and_then(|last| last.contents.clone()).ok_or(Fault::Missing);
        let absent = || if known.is_some() { Err(Fault::Exists) } else { Ok(Contents::default()) };
        let new = |generation, effect| Step {
            op: number,
            begin_ns: op.begin_ns,
            end_ns: op.end_ns,
            effect,
            sync: op.action.sync(),
            generation,
            has_second_name,
            from: 0,
            end: 0,
            contents: None,
        };
        match op.action {
            Action::Create { bytes, version, .. } => {
                let step = new(next, Effect::Create);
                self.written(step, absent()?, 0, bytes, Some(version))
            }
            Action::Preallocate { bytes, .. } => {
                let step = new(next, Effect::Create);
                self.written(step, absent()?, 0, bytes, None)
            }
            Action::Replace { .. } if known.is_some() && named.is_none() => Err(Fault::Exists),
            Action::Replace { bytes, version, .. } => {
                let step = new(next, Effect::Replace);
                self.written(step, Contents::default(), 0, bytes, Some(version))
            }
            Action::Append { bytes, version, .. } => {
                let contents = there()?;
                let from = contents.size();
                let last = contents.sections.last().and_then(|section| section.version);
                if !from.is_multiple_of(SECTOR as u64) && last != Some(version) {
                    return Err(Fault::Version);
                }
                self.written(new(generation, Effect::Write), contents, from, bytes, Some(version))
            }
            Action::Overwrite { offset, bytes, version, .. } => {
                let contents = there()?;
                let end = offset.checked_add(bytes).filter(|end| *end <= contents.size());
                let is_border = |at: u64| at.is_multiple_of(SECTOR as u64);
                let fits = end.is_some_and(|end| is_border(end) || end == contents.size());
                if !fits || !is_border(offset) {
                    return Err(Fault::Unaligned);
                }
                let step = new(generation, Effect::Write);
                self.written(step, contents, offset, bytes, Some(version))
            }
            Action::Truncate { bytes, .. } => {
                let mut contents = there()?;
                if bytes > contents.size() {
                    return Err(Fault::Grows);
                }
                contents.truncate(bytes);
                Ok(Step { contents: Some(contents), ..new(generation, Effect::Truncate) })
            }
            Action::Rename { .. } => {
                let contents = Some(there()?);
                let step = new(generation, Effect::Rename);
                Ok(Step { contents, has_second_name: !has_second_name, ..step })
            }
            Action::Delete { .. } => there().map(|_| new(generation, Effect::Delete)),
        }
    }

    fn written(
        &mut self,
        step: Step,
        mut contents: Contents,
        from: u64,
        bytes: u64,
        version: Option<u32>,
    ) -> Result<Step, Fault> {
        let end = from.checked_add(bytes).filter(|end| *end <= MOST_BYTES);
        let end = end.ok_or(Fault::TooLarge)?;
        if let Some(version) = version {
            let known = self.generation_of.entry(version).or_insert(step.generation);
            if *known != step.generation {
                return Err(Fault::Version);
            }
        }
        contents.write(from, end, version);
        Ok(Step { from, end, contents: Some(contents), ..step })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: Sync = Sync::None;

    fn history(actions: &[Action]) -> Result<History, HistoryError> {
        let ops = (actions.iter().zip(0..)).map(|(action, at)| Op {
            action: action.clone(),
            begin_ns: at * 10,
            end_ns: at * 10 + 5,
            error: None,
        });
        History::new(&ops.collect::<Vec<_>>(), 7)
    }

    fn fault(actions: &[Action]) -> Fault {
        history(actions).unwrap_err().fault
    }

    proptest! {
        /// Sections are what an array of bytes would hold.
        #[test]
        fn contents_are_those_of_an_array(
            writes in prop::collection::vec((0_u64..40, 1_u64..20, 0_u32..4, any::<bool>()), 0..12)
        ) {
            let (mut contents, mut array) = (Contents::default(), Vec::new());
            for (from, len, version, is_cut) in writes {
                if is_cut {
                    let size = from.min(contents.size());
                    contents.truncate(size);
                    array.truncate(size as usize);
                } else {
                    let from = from.min(contents.size());
                    let end = from + len;
                    array.resize(array.len().max(end as usize), None);
                    contents.write(from, end, Some(version));
                    array[from as usize..end as usize].fill(Some(version));
                }
                prop_assert_eq!(contents.size(), array.len() as u64);
                let mut begin = 0;
                for section in &contents.sections {
                    let part = &array[begin as usize..section.end as usize];
                    prop_assert!(begin < section.end);
                    prop_assert!(part.iter().all(|version| *version == section.version));
                    begin = section.end;
                }
            }
        }
    }

    #[test]
    fn generations_follow_the_inode() {
        let create = Action::Create { file: 1, bytes: 1000, version: 1, sync: NONE };
        let made = history(&[
            create.clone(),
            Action::Append { file: 1, bytes: 1000, version: 1, sync: NONE },
            Action::Replace { target: 1, bytes: 700, version: 2, sync: NONE },
            Action::Overwrite { file: 1, offset: 512, bytes: 188, version: 3, sync: NONE },
            Action::Delete { file: 1, sync: NONE },
            Action::Create { file: 1, bytes: 5, version: 4, sync: NONE },
        ])
        .unwrap();
        let steps = &made.files[&1].steps;
        let generations: Vec<u32> = steps.iter().map(|step| step.generation).collect();
        assert_eq!(generations, [0, 0, 1, 1, 1, 2]);
        let contents = steps[3].contents.as_ref().unwrap();
        assert_eq!(contents.sector(0), ExpectedSector { version: Some(2), bytes: 512 });
        assert_eq!(contents.sector(1), ExpectedSector { version: Some(3), bytes: 188 });
        assert_eq!(contents.sector(2), ExpectedSector { version: None, bytes: 0 });
        assert_eq!(steps[1].contents.as_ref().unwrap().size(), 2000);
    }

    #[test]
    fn what_cannot_be_is_named() {
        let create = Action::Create { file: 1, bytes: 1000, version: 1, sync: NONE };
        let overwrite =
            |offset, bytes| Action::Overwrite { file: 1, offset, bytes, version: 2, sync: NONE };
        let append = |bytes, version| Action::Append { file: 1, bytes, version, sync: NONE };
        let replace = Action::Replace { target: 1, bytes: 9, version: 1, sync: NONE };
        assert_eq!(fault(&[append(1, 1)]), Fault::Missing);
        assert_eq!(fault(&[create.clone(), create.clone()]), Fault::Exists);
        assert_eq!(fault(&[create.clone(), overwrite(0, 100)]), Fault::Unaligned);
        assert_eq!(fault(&[create.clone(), overwrite(512, 512)]), Fault::Unaligned);
        assert_eq!(fault(&[create.clone(), overwrite(512, u64::MAX)]), Fault::Unaligned);
        assert_eq!(fault(&[create.clone(), append(9, 2)]), Fault::Version);
        assert_eq!(fault(&[create.clone(), append(u64::MAX, 1)]), Fault::TooLarge);
        assert_eq!(fault(&[create.clone(), replace]), Fault::Version);
        let grow = Action::Truncate { file: 1, bytes: 1001, sync: NONE };
        let error = history(&[create.clone(), grow]).unwrap_err();
        let text = "op 1 of the journal, on file 1: a truncate makes the file larger";
        assert_eq!(error.to_string(), text);
        let op = Op { action: create, begin_ns: 9, end_ns: 8, error: None };
        assert_eq!(History::new(&[op], 7).unwrap_err().fault, Fault::Times);
    }
}
