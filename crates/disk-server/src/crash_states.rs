//! A disk that shows crash states one after another. Its guest maps a file with the contents of
//! the first; what makes the next ones of them is written to that file between two looks. Nobody is
//! asked for a sector, which is most of what a look at a crash state costs, and a state costs what
//! it differs from the last one.

use super::crash_view::{CrashViewDisk, Views, next_of};
use super::message::{Description, Features, Request, Status};
use super::server::{Disk, DiskError};
use fsarena_vdisk::{Change, Discarded, SECTOR_BYTES, Store, View, WriteLog};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{DumpableBehavior, dumpable_behavior};
use std::fs::{self, File};
use std::io;

const QUEUE_DEPTH: u32 = 32;
/// What all states of a disk together have: it is in memory, once for each such disk at one time.
const MAPPED_BYTES_MOST: u64 = 512 << 20;
/// A disk up to this size is mapped: its guest has 2 MiB of memory for each TiB, to know what was
/// written, and up to 32 disks.
const MAPPED_DISK_BYTES_MOST: u64 = 1 << 40;
/// The kernel counts mappings that may be written as memory that is taken.
const STRICT_OVERCOMMIT: &str = "2";

/// See the module.
struct MappedDisk<'a> {
    /// What it shows.
    view: View<'a>,
    later: Views<'a>,
    /// The same, but for what the guest has written.
    file: File,
    contents: Store,
}

/// A disk with the contents of the first view, and of the later ones each in its turn: mapped by
/// its guest where it can, else asked for them.
pub fn disk_of_states<'a>(
    first: View<'a>,
    later: Views<'a>,
    (store, log): (&Store, &WriteLog),
) -> Box<dyn Disk + 'a> {
    let is_small = store.size_bytes() <= MAPPED_DISK_BYTES_MOST;
    let can_map = is_small && log.touched_bytes() <= MAPPED_BYTES_MOST && can_map();
    // Where there is no memory for the contents, it is asked as well.
    match can_map.then(|| contents_of(&first, store).ok()).flatten() {
        Some((file, contents)) => Box::new(MappedDisk { view: first, later, file, contents }),
        None => Box::new(CrashViewDisk::in_turn(first, later, store.size_bytes())),
    }
}

fn contents_of(view: &View<'_>, store: &Store) -> io::Result<(File, Store)> {
    let file = File::from(memfd_create("fsarena-crash-states", MemfdFlags::CLOEXEC)?);
    let mut contents = Store::over(file.try_clone()?, store.size_bytes(), Discarded::Zeros)?;
    store.copy_to(&mut contents)?;
    view.each_difference(None, &mut |sector, change| make(&mut contents, sector, change))?;
    Ok((file, contents))
}

/// Zeros take no memory.
fn make(contents: &mut Store, sector: u64, change: Change<'_>) -> io::Result<()> {
    match change {
        Change::Data(data) if data.iter().any(|byte| *byte != 0) => contents.write(sector, data),
        Change::Data(data) => contents.discard(sector, data.len() as u64 / SECTOR_BYTES),
        Change::Zeros { sectors } => contents.discard(sector, sectors),
    }
}

/// Whether a guest may open a file of this process, and map more than there is memory for.
fn can_map() -> bool {
    let overcommit = fs::read_to_string("/proc/sys/vm/overcommit_memory");
    let is_dumpable = matches!(dumpable_behavior(), Ok(DumpableBehavior::Dumpable));
    is_dumpable && overcommit.is_ok_and(|mode| mode.trim() != STRICT_OVERCOMMIT)
}

impl Disk for MappedDisk<'_> {
    fn description(&self) -> Description {
        let about = Description::with_sectors(self.contents.size_bytes() / SECTOR_BYTES);
        let features = Features { mapped: true, ..about.features };
        // Repair is looked at, and no discard.
        Description { queue_depth: QUEUE_DEPTH, discard_max_sectors: 0, features, ..about }
    }

    fn submit(&mut self, _: u64, request: &Request, _: &[u8]) -> Result<(), DiskError> {
        Err(DiskError::Refused(format!("{request:?} to a disk that is mapped")))
    }

    fn poll(&mut self, _: u64) -> Result<Option<(u32, Status)>, DiskError> {
        Ok(None)
    }

    fn read(&mut self, request: &Request, _: &mut [u8]) -> Result<(), DiskError> {
        Err(DiskError::Refused(format!("{request:?} to a disk that is mapped")))
    }

    fn next_event_ns(&self) -> Option<u64> {
        None
    }

    fn mapped(&self) -> Option<&File> {
        Some(&self.file)
    }

    fn take_next_contents(&mut self) -> Result<(), DiskError> {
        let (next, contents) = (next_of(&mut self.later)?, &mut self.contents);
        let from = Some(&self.view);
        next.each_difference(from, &mut |sector, change| make(contents, sector, change))?;
        self.view = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_vdisk::{Completion, Outcome, Piece, Request as ModelRequest};
    use proptest::prelude::*;
    use std::os::unix::fs::FileExt as _;

    const SECTORS: u64 = 96;
    const SECTOR: usize = SECTOR_BYTES as usize;

    /// What a guest maps.
    fn mapped(disk: &dyn Disk) -> Vec<u8> {
        let mut contents = vec![0; SECTOR * SECTORS as usize];
        disk.mapped().unwrap().read_exact_at(&mut contents, 0).unwrap();
        contents
    }

    fn read(view: &View<'_>) -> Vec<u8> {
        let mut contents = vec![0; SECTOR * SECTORS as usize];
        view.read(0, &mut contents).unwrap();
        contents
    }

    /// A write of bytes, or a discard.
    type Logged = (u64, u64, Option<u8>);

    fn log_of(all: &[Logged]) -> WriteLog {
        let mut log = WriteLog::in_memory();
        for (number, (sector, sectors, byte)) in (0..).zip(all) {
            let sectors = (*sectors).min(SECTORS - sector);
            let count = u32::try_from(sectors).unwrap();
            let data = vec![byte.unwrap_or(0); SECTOR * sectors as usize];
            let (request, data) = match byte {
                Some(_) => (ModelRequest::write(0, *sector, count), data.as_slice()),
                None => (ModelRequest::discard(0, *sector, count), &[][..]),
            };
            let done = Completion { tag: 0, at_ns: number, outcome: Outcome::Done };
            log.completed(&request, number, &done, data).unwrap();
        }
        log
    }

    proptest! {
        /// Whatever is missing of a log, and was written to a view, and whatever was shown before:
        /// what a guest maps is the view.
        #[test]
        fn what_is_mapped_is_each_view_in_its_turn(
            all in prop::collection::vec(
                (0..SECTORS, 1..20_u64, prop::option::weighted(0.8, 0..4_u8)), 0..24),
            kept in prop::collection::vec((any::<u32>(), 0..3_usize), 1..5),
            cut in 0..20_u64,
            own in prop::collection::vec((0..SECTORS - 4, 1..4_u64, 0..4_u8), 2),
            before in prop::collection::vec((0..SECTORS - 8, 1..8_u64), 0..3),
        ) {
            let log = log_of(&all);
            let mut store = Store::in_memory(SECTORS * SECTOR_BYTES, Discarded::Zeros);
            for (sector, sectors) in before {
                store.write(sector, &vec![9; SECTOR * sectors as usize]).unwrap();
            }
            let view = |(kept, written): &(u32, usize)| {
                let there = |number: &u32| kept >> (number % 32) & 1 == 0;
                let numbers = (0..log.entries().len() as u32).filter(there);
                let pieces = numbers.map(|number| {
                    let entry = &log.entries()[number as usize];
                    let sectors = entry.sectors.min(cut.max(u64::from(number % 2) * 20));
                    Piece { entry: number, sector: entry.sector, sectors }
                });
                let mut view = View::of_pieces(&store, &log, pieces);
                for (sector, sectors, byte) in &own[..*written] {
                    view.write(*sector, &vec![*byte; SECTOR * *sectors as usize]).unwrap();
                }
                view
            };
            let later = kept[1..].iter().map(|one| Ok(view(one)));
            let mut disk = disk_of_states(view(&kept[0]), Box::new(later), (&store, &log));
            prop_assert!(mapped(&*disk) == read(&view(&kept[0])));
            for one in &kept[1..] {
                disk.take_next_contents().unwrap();
                prop_assert!(mapped(&*disk) == read(&view(one)));
            }
            let error = disk.take_next_contents().unwrap_err().to_string();
            prop_assert!(error.contains("no further contents"), "{}", error);
        }
    }

    #[test]
    fn what_is_much_is_asked_for() {
        let store = Store::in_memory(1 << 30, Discarded::Zeros);
        let mut log = WriteLog::in_memory();
        let write = |log: &mut WriteLog, sector| {
            let done = Completion { tag: 0, at_ns: 1, outcome: Outcome::Done };
            let count = 32 << 11;
            let data = vec![0; 32 << 20];
            log.completed(&ModelRequest::write(0, sector, count), 0, &done, &data).unwrap();
        };
        let is_mapped = |log: &WriteLog| {
            let first = View::prefix(&store, log, 0);
            disk_of_states(first, Box::new(std::iter::empty()), (&store, log)).mapped().is_some()
        };
        (0..16).for_each(|part| write(&mut log, part * (32 << 11)));
        assert!(is_mapped(&log));
        let large = Store::in_memory(MAPPED_DISK_BYTES_MOST + 512, Discarded::Zeros);
        let first = View::prefix(&large, &log, 0);
        let of_large = disk_of_states(first, Box::new(std::iter::empty()), (&large, &log));
        assert!(of_large.mapped().is_none());
        drop(of_large);
        write(&mut log, 16 * (32 << 11));
        assert!(!is_mapped(&log));
    }

    #[test]
    fn what_does_not_differ_is_not_written() {
        let log = log_of(&[(0, 8, Some(1)), (8, 8, Some(2)), (16, 8, Some(3)), (0, 4, None)]);
        let store = Store::in_memory(SECTORS * SECTOR_BYTES, Discarded::Zeros);
        let differences = |from: Option<usize>, to: usize| {
            let (mut all, view) = (Vec::new(), |count| View::prefix(&store, &log, count));
            let mut take = |sector, _: Change<'_>| {
                all.push(sector);
                Ok(())
            };
            view(to).each_difference(from.map(view).as_ref(), &mut take).unwrap();
            all
        };
        assert_eq!(differences(None, 2), [0, 8]);
        assert_eq!(differences(Some(2), 4), [16, 0]);
        assert_eq!(differences(Some(4), 2), [16, 0], "what is gone is made as it was");
        assert!(differences(Some(3), 3).is_empty());
    }
}
