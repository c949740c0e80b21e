//! Disks after a power cut whose contents a guest has itself: it maps a file with what all of them
//! have, and gets the changes of each. Nobody is asked for a sector any more, which is most of what
//! a look at a crash state costs.

use super::crash_view::CrashViewDisk;
use super::message::{self, Description, Features, Request, Status};
use super::server::{Disk, DiskError};
use fsarena_vdisk::{Change, Discarded, SECTOR_BYTES, Store, View};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{DumpableBehavior, dumpable_behavior};
use std::fs::{self, File};
use std::io;
use std::sync::Arc;

const QUEUE_DEPTH: u32 = 32;
/// Of a disk, in the mean of those of a guest: as many as a look at one reads.
const OWN_BYTES_MOST: u64 = 4 << 20;
/// What all of them have: it is in memory, once for each guest at one time.
const COMMON_BYTES_MOST: u64 = 512 << 20;
/// The kernel counts mappings that may be written as memory that is taken.
const STRICT_OVERCOMMIT: &str = "2";

/// See the module.
struct MappedDisk<'a> {
    view: View<'a>,
    /// So many of its pieces are in the base.
    common: usize,
    base: Arc<File>,
    size_bytes: u64,
}

/// Disks with the contents of these views over one store and log: mapped by their guest where it
/// can, and is not sent more than it would ask for, else asked. File systems that write elsewhere
/// at each sync have other contents all the time.
pub fn disks_of_views<'a>(views: Vec<View<'a>>, store: &Store) -> Vec<Box<dyn Disk + 'a>> {
    let size_bytes = store.size_bytes();
    let common = View::common_pieces(&views);
    // Where there is no memory for a base, they are asked as well.
    let base = are_mapped(&views, common).then(|| base_of(&views, common, store).ok()).flatten();
    let Some(base) = base.map(Arc::new) else {
        let asked = |view| Box::new(CrashViewDisk::new(view, size_bytes)) as Box<dyn Disk + 'a>;
        return views.into_iter().map(asked).collect();
    };
    let mapped = |view| {
        let base = Arc::clone(&base);
        Box::new(MappedDisk { view, common, base, size_bytes }) as Box<dyn Disk + 'a>
    };
    views.into_iter().map(mapped).collect()
}

/// What all these views begin with.
fn base_of(views: &[View<'_>], common: usize, store: &Store) -> io::Result<File> {
    let file = File::from(memfd_create("fsarena-crash-states", MemfdFlags::CLOEXEC)?);
    let mut base = Store::over(file.try_clone()?, store.size_bytes(), Discarded::Zeros)?;
    let mut written = Ok(());
    store.each_piece(&mut |at, data| {
        if written.is_ok() {
            written = base.write(at / SECTOR_BYTES, data);
        }
    })?;
    written?;
    if let Some(first) = views.first() {
        first.each_change(0..common, &mut |sector, change| match without_zeros(change) {
            Change::Data(data) => base.write(sector, data),
            Change::Zeros { sectors } => base.discard(sector, sectors),
        })?;
    }
    Ok(file)
}

fn are_mapped(views: &[View<'_>], common: usize) -> bool {
    let Some(first) = views.first() else { return false };
    let own = views.iter().map(|view| view.sectors(common..view.pieces()));
    let own_bytes = own.fold(0, u64::saturating_add).saturating_mul(SECTOR_BYTES);
    own_bytes <= OWN_BYTES_MOST.saturating_mul(views.len() as u64)
        && first.sectors(0..common).saturating_mul(SECTOR_BYTES) <= COMMON_BYTES_MOST
        && can_map()
}

/// Whether a guest may open a file of this process, and map more than there is memory for.
fn can_map() -> bool {
    let overcommit = fs::read_to_string("/proc/sys/vm/overcommit_memory");
    let is_dumpable = matches!(dumpable_behavior(), Ok(DumpableBehavior::Dumpable));
    is_dumpable && overcommit.is_ok_and(|mode| mode.trim() != STRICT_OVERCOMMIT)
}

/// Zeros take no memory.
fn without_zeros(change: Change<'_>) -> Change<'_> {
    match change {
        Change::Data(data) if data.iter().all(|byte| *byte == 0) => {
            Change::Zeros { sectors: data.len() as u64 / SECTOR_BYTES }
        }
        other => other,
    }
}

fn add(to: &mut Vec<u8>, sector: u64, change: Change<'_>) {
    match without_zeros(change) {
        Change::Data(data) => {
            to.extend(message::change(sector, data.len() as u64, false));
            to.extend(data);
        }
        Change::Zeros { sectors } => {
            to.extend(message::change(sector, sectors * SECTOR_BYTES, true));
        }
    }
}

impl Disk for MappedDisk<'_> {
    fn description(&self) -> Description {
        let about = Description::with_sectors(self.size_bytes / SECTOR_BYTES);
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

    fn base(&self) -> Option<&File> {
        Some(&self.base)
    }

    fn add_changes(&self, to: &mut Vec<u8>) -> io::Result<()> {
        let own = self.common..self.view.pieces();
        self.view.each_change(own, &mut |sector, change| {
            add(to, sector, change);
            Ok(())
        })?;
        self.view.written().for_each(|(sector, data)| add(to, sector, Change::Data(data)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_vdisk::{Completion, Outcome, Piece, Request as ModelRequest, WriteLog};
    use proptest::prelude::*;
    use std::os::unix::fs::FileExt as _;

    const SECTORS: u64 = 96;
    const SECTOR: usize = SECTOR_BYTES as usize;

    /// What a guest makes of base and changes.
    fn mapped(disk: &dyn Disk) -> Vec<u8> {
        let mut contents = vec![0; SECTOR * SECTORS as usize];
        disk.base().unwrap().read_exact_at(&mut contents, 0).unwrap();
        let mut changes = Vec::new();
        disk.add_changes(&mut changes).unwrap();
        let mut rest = changes.as_slice();
        while let Some((head, data)) = rest.split_at_checked(24) {
            let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap());
            let (at, bytes) = (word(0) as usize * SECTOR, word(8) as usize);
            if head[16] == 1 {
                contents[at..at + bytes].fill(0);
                rest = data;
            } else {
                contents[at..at + bytes].copy_from_slice(&data[..bytes]);
                rest = &data[bytes..];
            }
        }
        assert!(rest.is_empty());
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
        /// Whatever is missing of a log, and was written to a view: base and changes are the view.
        #[test]
        fn base_and_changes_are_the_view(
            all in prop::collection::vec(
                (0..SECTORS, 1..20_u64, prop::option::weighted(0.8, 0..4_u8)), 0..24),
            kept in prop::collection::vec(any::<u32>(), 1..5),
            cut in 0..20_u64,
            own in prop::collection::vec((0..SECTORS - 4, 1..4_u64, 0..4_u8), 0..4),
            before in prop::collection::vec((0..SECTORS - 8, 1..8_u64), 0..3),
        ) {
            let log = log_of(&all);
            let mut store = Store::in_memory(SECTORS * SECTOR_BYTES, Discarded::Zeros);
            for (sector, sectors) in before {
                store.write(sector, &vec![9; SECTOR * sectors as usize]).unwrap();
            }
            let views = || -> Vec<View<'_>> {
                let view = |kept: &u32| {
                    let there = |number: &u32| kept >> (number % 32) & 1 == 0;
                    let numbers = (0..log.entries().len() as u32).filter(there);
                    let pieces = numbers.map(|number| {
                        let entry = &log.entries()[number as usize];
                        let sectors = entry.sectors.min(cut.max(u64::from(number % 2) * 20));
                        Piece { entry: number, sector: entry.sector, sectors }
                    });
                    let mut view = View::of_pieces(&store, &log, pieces);
                    for (sector, sectors, byte) in &own {
                        view.write(*sector, &vec![*byte; SECTOR * *sectors as usize]).unwrap();
                    }
                    view
                };
                kept.iter().map(view).collect()
            };
            let disks = disks_of_views(views(), &store);
            for (disk, view) in disks.iter().zip(views()) {
                prop_assert!(mapped(&**disk) == read(&view));
            }
        }
    }

    /// Of a log that is written again and again, as btrfs writes its log tree.
    #[test]
    fn what_differs_much_or_is_much_is_asked_for() {
        let store = Store::in_memory(1 << 30, Discarded::Zeros);
        let mut log = WriteLog::in_memory();
        let data = vec![0; 1 << 20];
        for number in 0..40 {
            let request = ModelRequest::write(0, 0, 2048);
            let done = Completion { tag: 0, at_ns: number, outcome: Outcome::Done };
            log.completed(&request, number, &done, &data).unwrap();
        }
        let views = |counts: &[usize]| -> Vec<View<'_>> {
            counts.iter().map(|count| View::prefix(&store, &log, *count)).collect()
        };
        let is_mapped = |views| disks_of_views(views, &store)[0].base().is_some();
        assert!(is_mapped(views(&[30, 34, 36])));
        assert!(!is_mapped(views(&[20, 34, 36])));
        assert!(!are_mapped(&[], 0), "nothing is made for no disk");
        let often = (0..600).map(|_| Piece { entry: 0, sector: 0, sectors: 2048 });
        let large = View::of_pieces(&store, &log, often);
        assert!(!is_mapped(vec![large]));
    }

    #[test]
    fn what_all_have_is_sent_once() {
        let log = log_of(&[(0, 8, Some(1)), (8, 8, Some(2)), (16, 8, Some(3)), (0, 4, None)]);
        let store = Store::in_memory(SECTORS * SECTOR_BYTES, Discarded::Zeros);
        let views = (2..5).map(|count| View::prefix(&store, &log, count)).collect();
        let disks = disks_of_views(views, &store);
        let changes = disks.iter().map(|disk| {
            let mut changes = Vec::new();
            disk.add_changes(&mut changes).unwrap();
            changes.len()
        });
        let one = 24 + 8 * SECTOR;
        assert_eq!(changes.collect::<Vec<_>>(), [0, one, one + 24]);
        assert!(disks[0].description().features.mapped);
    }
}
