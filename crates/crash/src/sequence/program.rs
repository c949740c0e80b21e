//! From a skeleton to a program: before each operation comes what it needs, so that none fails.
//!
//! A directory is made, a file is opened and has 32 KiB, what is in the way is removed, an
//! attribute is set. None of it is synced: it is lost with the rest.

use super::bounds::{CoreOp, Point, Region, Skeleton};
use super::model::{Model, ModelError};
use super::op::{Extent, FileOp, ROOT, split};

/// Of an append.
const APPENDED: u64 = 32 << 10;
const UNALIGNED: u64 = 5000;
const BEFORE_END: u64 = 2000;
const ALIGNED: u64 = 8 << 10;
/// Offsets of direct writes are multiples of it.
const BLOCK: u64 = 4096;

/// Makes the program of a skeleton.
///
/// # Errors
/// None is known: an operation that would fail on every file system.
pub fn program(skeleton: &Skeleton) -> Result<Vec<FileOp>, ModelError> {
    let mut builder = Builder::default();
    for (op, point) in &skeleton.0 {
        builder.core(*op)?;
        match point {
            Point::Nothing => {}
            Point::Sync => builder.push(FileOp::Sync)?,
            Point::Fsync(path) => {
                builder.needs(path)?;
                builder.push(FileOp::Fsync { path: (*path).to_owned() })?;
            }
        }
    }
    Ok(builder.ops)
}

/// The program in one line, its operations parted by `; `.
#[must_use]
pub fn one_line(ops: &[FileOp]) -> String {
    ops.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[derive(Default)]
struct Builder {
    ops: Vec<FileOp>,
    model: Model,
}

impl Builder {
    fn push(&mut self, op: FileOp) -> Result<(), ModelError> {
        self.model.apply(&op)?;
        self.ops.push(op);
        Ok(())
    }

    /// Number of the next operation, for what it writes.
    fn fill(&self) -> u8 {
        self.ops.len() as u8 + 1
    }

    fn is_directory(path: &str) -> bool {
        path == ROOT || !path.contains("foo") && !path.contains("bar")
    }

    /// The directory that a name is in is there.
    fn needs_parent(&mut self, path: &str) -> Result<(), ModelError> {
        let parent = split(path).0;
        if self.model.lookup(parent).is_some() {
            return Ok(());
        }
        self.push(FileOp::Mkdir { dir: parent.to_owned() })
    }

    /// It is there; a file is open.
    fn needs(&mut self, path: &str) -> Result<(), ModelError> {
        self.needs_parent(path)?;
        if !Self::is_directory(path) {
            if self.model.is_open(path) {
                return Ok(());
            }
            // A symbolic link in its place would be followed.
            let found = self.model.lookup(path);
            if found.is_some_and(|inode| self.model.file(inode).is_none()) {
                self.push(FileOp::Unlink { file: path.to_owned() })?;
            }
            return self.push(FileOp::Open { file: path.to_owned() });
        }
        if self.model.lookup(path).is_some() {
            return Ok(());
        }
        self.push(FileOp::Mkdir { dir: path.to_owned() })
    }

    fn needs_data(&mut self, path: &str) -> Result<(), ModelError> {
        self.needs(path)?;
        if self.size(path) > 0 {
            return Ok(());
        }
        let extent = Extent { offset: 0, bytes: APPENDED, fill: self.fill() };
        self.push(FileOp::Write { file: path.to_owned(), extent })
    }

    fn needs_closed(&mut self, path: &str) -> Result<(), ModelError> {
        if !self.model.is_open(path) {
            return Ok(());
        }
        self.push(FileOp::Close { file: path.to_owned() })
    }

    /// Nothing is there of this name.
    fn needs_absent(&mut self, path: &str) -> Result<(), ModelError> {
        let Some(inode) = self.model.lookup(path) else { return Ok(()) };
        if self.model.directory(inode).is_none() {
            self.needs_closed(path)?;
            return self.push(FileOp::Unlink { file: path.to_owned() });
        }
        self.needs_empty(path)?;
        self.push(FileOp::Rmdir { dir: path.to_owned() })
    }

    fn needs_empty(&mut self, dir: &str) -> Result<(), ModelError> {
        let inode = self.model.lookup(dir);
        let entries = inode.and_then(|inode| self.model.directory(inode));
        let names: Vec<String> =
            entries.into_iter().flatten().map(|(name, _)| name.clone()).collect();
        for name in names {
            self.needs_absent(&format!("{dir}/{name}"))?;
        }
        Ok(())
    }

    /// No file in it is open.
    fn needs_quiet(&mut self, dir: &str) -> Result<(), ModelError> {
        let prefix = format!("{dir}/");
        let is_inside = |file: &&str| file.starts_with(&prefix);
        let open: Vec<String> =
            self.model.open_files().filter(is_inside).map(str::to_owned).collect();
        for file in open {
            self.needs_closed(&file)?;
        }
        Ok(())
    }

    fn size(&self, path: &str) -> u64 {
        let inode = self.model.acted_on(path);
        inode.and_then(|inode| self.model.file(inode)).map_or(0, |file| file.data.len() as u64)
    }

    /// Where it writes, of a file that is there.
    fn region(&mut self, path: &str, region: Region) -> Result<Extent, ModelError> {
        if region != Region::Append {
            self.needs_data(path)?;
        }
        let (size, fill) = (self.size(path), self.fill());
        Ok(match region {
            Region::Append => Extent { offset: size, bytes: APPENDED, fill },
            Region::UnalignedStart => Extent { offset: 0, bytes: UNALIGNED, fill },
            Region::OverEnd => {
                Extent { offset: size.saturating_sub(BEFORE_END), bytes: UNALIGNED, fill }
            }
            Region::AlignedStart => Extent { offset: 0, bytes: ALIGNED, fill },
        })
    }

    fn core(&mut self, op: CoreOp) -> Result<(), ModelError> {
        match op {
            CoreOp::Creat(file) => {
                self.needs_parent(file)?;
                self.needs_absent(file)?;
                self.push(FileOp::Open { file: file.to_owned() })
            }
            CoreOp::Mkdir(dir) => {
                self.needs_absent(dir)?;
                self.push(FileOp::Mkdir { dir: dir.to_owned() })
            }
            CoreOp::Rmdir(dir) => {
                self.needs(dir)?;
                self.needs_empty(dir)?;
                self.push(FileOp::Rmdir { dir: dir.to_owned() })
            }
            CoreOp::Link(from, to) => {
                self.two_names(from, to)?;
                self.needs_absent(to)?;
                self.push(FileOp::Link { from: from.to_owned(), to: to.to_owned() })
            }
            CoreOp::Symlink(from, to) => {
                self.two_names(from, to)?;
                self.needs_absent(to)?;
                self.push(FileOp::Symlink { target: from.to_owned(), link: to.to_owned() })
            }
            CoreOp::Unlink(name) | CoreOp::Remove(name) => {
                self.needs(name)?;
                self.needs_closed(name)?;
                let name = name.to_owned();
                let is_unlink = matches!(op, CoreOp::Unlink(_));
                self.push(match is_unlink {
                    true => FileOp::Unlink { file: name },
                    false => FileOp::Remove { path: name },
                })
            }
            CoreOp::Rename(from, to) => {
                self.two_names(from, to)?;
                self.needs_closed(from)?;
                self.needs_closed(to)?;
                if Self::is_directory(from) {
                    self.needs_quiet(from)?;
                    self.needs_absent(to)?;
                }
                self.push(FileOp::Rename { from: from.to_owned(), to: to.to_owned() })
            }
            _ => self.file_op(op),
        }
    }

    fn two_names(&mut self, from: &str, to: &str) -> Result<(), ModelError> {
        self.needs(from)?;
        self.needs_parent(to)
    }

    /// An operation on the contents or attributes of one file.
    fn file_op(&mut self, op: CoreOp) -> Result<(), ModelError> {
        match op {
            CoreOp::Write(name, region) => {
                self.needs(name)?;
                let extent = self.region(name, region)?;
                self.push(FileOp::Write { file: name.to_owned(), extent })
            }
            CoreOp::DirectWrite(name, region) => {
                self.needs(name)?;
                let mut extent = self.region(name, region)?;
                extent.offset = extent.offset.next_multiple_of(BLOCK);
                self.push(FileOp::DirectWrite { file: name.to_owned(), extent })
            }
            CoreOp::MmapWrite(name, region) => {
                self.needs(name)?;
                let extent = self.region(name, region)?;
                self.push(FileOp::MmapWrite { file: name.to_owned(), extent })
            }
            CoreOp::Fallocate(name, mode, region) => {
                self.needs_data(name)?;
                let Extent { offset, bytes, .. } = self.region(name, region)?;
                self.push(FileOp::Fallocate { file: name.to_owned(), mode, offset, bytes })
            }
            CoreOp::Truncate(name, bytes) => {
                self.needs_data(name)?;
                self.push(FileOp::Truncate { file: name.to_owned(), bytes })
            }
            CoreOp::SetXattr(name) => {
                self.needs(name)?;
                let fill = self.fill();
                self.push(FileOp::SetXattr { file: name.to_owned(), fill })
            }
            CoreOp::RemoveXattr(name) => {
                self.needs(name)?;
                let inode = self.model.acted_on(name);
                let file = inode.and_then(|inode| self.model.file(inode));
                if file.is_some_and(|file| file.attribute.is_none()) {
                    let fill = self.fill();
                    self.push(FileOp::SetXattr { file: name.to_owned(), fill })?;
                }
                self.push(FileOp::RemoveXattr { file: name.to_owned() })
            }
            CoreOp::Fdatasync(name) => {
                self.needs(name)?;
                self.push(FileOp::Fdatasync { file: name.to_owned() })
            }
            // Names alone.
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bounds::Bounds;
    use super::*;
    use proptest::prelude::*;

    fn text(skeleton: Vec<(CoreOp, Point)>) -> String {
        one_line(&program(&Skeleton(skeleton)).unwrap())
    }

    #[test]
    fn what_an_operation_needs_comes_before_it() {
        use super::super::op::Allocation;
        assert_eq!(
            text(vec![(CoreOp::Creat("A/foo"), Point::Fsync("A"))]),
            "mkdir A; open A/foo (O_CREAT); fsync A"
        );
        let falloc = CoreOp::Fallocate("foo", Allocation::KeepSize, Region::Append);
        assert_eq!(
            text(vec![(falloc, Point::Fsync("bar"))]),
            "open foo (O_CREAT); write foo 0+32768; fallocate foo keep_size 32768+32768; open bar \
             (O_CREAT); fsync bar"
        );
        assert_eq!(
            text(vec![
                (CoreOp::Link("foo", "bar"), Point::Sync),
                (CoreOp::Rename("bar", "A/bar"), Point::Fsync("A/bar"))
            ]),
            "open foo (O_CREAT); link foo bar; sync; open bar (O_CREAT); mkdir A; close bar; \
             rename bar A/bar; open A/bar (O_CREAT); fsync A/bar"
        );
        assert_eq!(
            text(vec![(CoreOp::Creat("A/foo"), Point::Nothing), (CoreOp::Rmdir("A"), Point::Sync)]),
            "mkdir A; open A/foo (O_CREAT); close A/foo; unlink A/foo; rmdir A; sync"
        );
    }

    #[test]
    fn every_program_of_one_operation_works() {
        for skeleton in Bounds::all().skeletons(1) {
            let ops = program(&skeleton).unwrap();
            assert!(ops.last().unwrap().persists(), "{}", one_line(&ops));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        /// Whatever comes after what, no operation fails, and the last is a persistence point.
        #[test]
        fn every_program_works(seed in any::<u64>(), length in 2_usize..=2) {
            for skeleton in Bounds::all().sample(length, 400, seed) {
                let ops = program(&skeleton).unwrap();
                prop_assert!(ops.last().unwrap().persists());
                let cores = skeleton.0.iter().filter(|(op, _)| op.persists()).count();
                let synced = skeleton.0.iter().filter(|(_, point)| *point != Point::Nothing);
                prop_assert_eq!(
                    ops.iter().filter(|op| op.persists()).count(),
                    cores + synced.count()
                );
            }
        }
    }
}
