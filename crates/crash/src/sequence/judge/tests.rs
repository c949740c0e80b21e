//! A state that loses what was promised is found, and one that loses what was not is none.

use super::super::bounds::Bounds;
use super::super::op::{Allocation, Extent, byte_at};
use super::super::program::program;
use super::super::tree::runs_of;
use super::*;
use crate::observation::{MountAttempt, Observation};
use proptest::prelude::*;

fn open(file: &str) -> FileOp {
    FileOp::Open { file: file.to_owned() }
}

fn write(file: &str, offset: u64, bytes: u64, fill: u8) -> FileOp {
    FileOp::Write { file: file.to_owned(), extent: Extent { offset, bytes, fill } }
}

fn fsync(path: &str) -> FileOp {
    FileOp::Fsync { path: path.to_owned() }
}

fn mkdir(dir: &str) -> FileOp {
    FileOp::Mkdir { dir: dir.to_owned() }
}

fn rename(from: &str, to: &str) -> FileOp {
    FileOp::Rename { from: from.to_owned(), to: to.to_owned() }
}

fn whole() -> Observation {
    let mount =
        MountAttempt { step: MountStep::ReadWrite, errno: None, began_ns: 0, duration_ns: 0 };
    Observation { mounts: vec![mount], is_usable: Some(true), ..Observation::default() }
}

/// What is there where nothing after so many operations has reached the disk.
fn tree(history: &History, step: usize) -> TreeObservation {
    let state = &history.states[step];
    let mut seen = TreeObservation { whole: whole(), entries: Vec::new() };
    for inode in 1..state.inodes() {
        let paths = state.paths_of(inode);
        for path in &paths {
            let mut entry = TreeEntry {
                path: path.clone(),
                kind: NodeKind::Directory,
                inode: 100 + inode as u64,
                links: paths.len() as u64,
                size_bytes: 0,
                allocated_bytes: 0,
                contents: Vec::new(),
                attribute: None,
                target: None,
                errno: None,
            };
            match state.inode(inode).unwrap() {
                Inode::Directory(_) => {}
                Inode::Symlink(target) => {
                    entry.kind = NodeKind::Symlink;
                    entry.target = Some(target.clone());
                }
                Inode::File(file) => {
                    entry.kind = NodeKind::File;
                    entry.size_bytes = file.data.len() as u64;
                    entry.allocated_bytes = file.reserved.len() as u64 * BLOCK;
                    entry.contents = runs_of(&file.data);
                    entry.attribute = file.attribute.clone();
                }
            }
            seen.entries.push(entry);
        }
    }
    seen
}

/// The rules that are broken where the operations have returned and this is there.
fn rules(ops: &[FileOp], change: impl FnOnce(&mut TreeObservation)) -> Vec<Rule> {
    let history = History::new(ops).unwrap();
    let mut seen = tree(&history, ops.len());
    change(&mut seen);
    let progress = Progress { returned: ops.len(), begun: ops.len() };
    judge(&history, progress, &seen).into_iter().map(|broken| broken.rule).collect()
}

fn without(path: &'static str) -> impl FnOnce(&mut TreeObservation) {
    move |seen| seen.entries.retain(|entry| entry.path != path)
}

fn entry_of<'a>(seen: &'a mut TreeObservation, path: &str) -> &'a mut TreeEntry {
    seen.entries.iter_mut().find(|entry| entry.path == path).unwrap()
}

fn put(seen: &mut TreeObservation, path: &str, data: &[u8]) {
    let entry = entry_of(seen, path);
    entry.size_bytes = data.len() as u64;
    entry.contents = runs_of(data);
}

fn bytes(fill: u8, count: u64) -> Vec<u8> {
    (0..count).map(|at| byte_at(fill, at)).collect()
}

#[test]
fn a_new_name_is_promised_by_the_directory_and_customary_by_the_file() {
    let ops = |point: FileOp| vec![open("foo"), point];
    assert_eq!(rules(&ops(FileOp::Sync), without("foo")), [Rule::SyncedEntry]);
    assert_eq!(rules(&ops(fsync(ROOT)), without("foo")), [Rule::SyncedEntry]);
    assert_eq!(rules(&ops(fsync("foo")), without("foo")), [Rule::NameOfSyncedFile]);
    assert_eq!(rules(&[open("foo")], without("foo")), []);
}

#[test]
fn a_directory_that_was_synced_has_its_entries_where_it_is_there() {
    let ops = [mkdir("A"), open("A/foo"), fsync("A")];
    assert_eq!(rules(&ops, without("A/foo")), [Rule::SyncedEntry]);
    let gone = |seen: &mut TreeObservation| seen.entries.clear();
    assert_eq!(rules(&ops, gone), [Rule::NameOfSyncedDirectory]);
    assert_eq!(rules(&[mkdir("A"), open("A/foo"), fsync(ROOT)], without("A/foo")), []);
}

#[test]
fn synced_contents_are_what_they_were_or_what_was_written_since() {
    let synced = [open("foo"), write("foo", 0, 5000, 1), fsync("foo")];
    let of_synced =
        |data: Vec<u8>| rules(&synced, move |seen: &mut TreeObservation| put(seen, "foo", &data));
    assert_eq!(of_synced(bytes(1, 5000)), []);
    assert_eq!(of_synced(Vec::new()), [Rule::SyncedSize]);
    assert_eq!(of_synced(vec![0; 5000]), [Rule::SyncedContents]);
    assert_eq!(of_synced(bytes(1, 4999)), [Rule::SyncedSize]);
    let mut later = synced.to_vec();
    later.extend([write("foo", 512, 512, 2), write("foo", 5000, 3000, 3)]);
    let of_later =
        |data: Vec<u8>| rules(&later, move |seen: &mut TreeObservation| put(seen, "foo", &data));
    let mut mix = bytes(1, 5000);
    mix[600..800].copy_from_slice(&bytes(2, 800)[600..]);
    assert_eq!(of_later(mix.clone()), [], "torn between two versions");
    mix.resize(8000, 0);
    assert_eq!(of_later(mix.clone()), [], "zeros behind what was synced");
    mix[7000] = byte_at(3, 7000) ^ 0x55;
    assert_eq!(of_later(mix.clone()), [Rule::StrayBytes]);
    mix[100] = 0;
    assert_eq!(of_later(mix.clone()), [Rule::SyncedContents, Rule::StrayBytes]);
    mix.resize(9000, 0);
    assert!(of_later(mix).contains(&Rule::SyncedSize), "larger than it ever was");
}

#[test]
fn fdatasync_and_msync_promise_less() {
    let attribute = FileOp::SetXattr { file: "foo".to_owned(), fill: 4 };
    let lost = |seen: &mut TreeObservation| entry_of(seen, "foo").attribute = None;
    let ops = |point: FileOp| vec![open("foo"), attribute.clone(), point];
    assert_eq!(rules(&ops(fsync("foo")), lost), [Rule::SyncedAttribute]);
    let fdatasync = FileOp::Fdatasync { file: "foo".to_owned() };
    assert_eq!(rules(&ops(fdatasync), lost), []);
    let extent = Extent { offset: 8192, bytes: 4096, fill: 3 };
    let msync = FileOp::MmapWrite { file: "foo".to_owned(), extent };
    let ops = [open("foo"), write("foo", 0, 8192, 2), msync];
    let zeros = |from: usize| {
        move |seen: &mut TreeObservation| {
            let mut data = bytes(2, 8192);
            data.extend((8192..12_288).map(|at| byte_at(3, at)));
            data[from..from + 512].fill(0);
            put(seen, "foo", &data);
        }
    };
    assert_eq!(rules(&ops, zeros(0)), [], "it was not in the range");
    assert_eq!(rules(&ops, zeros(8192)), [Rule::SyncedContents]);
    let short = |seen: &mut TreeObservation| put(seen, "foo", &bytes(2, 8192));
    assert_eq!(rules(&ops, short), [Rule::SyncedSize]);
}

#[test]
fn what_was_removed_is_gone_after_fsync_of_the_directory() {
    let ops = |point: FileOp| {
        vec![open("foo"), FileOp::Sync, FileOp::Unlink { file: "foo".to_owned() }, point]
    };
    let history = History::new(&ops(FileOp::Sync)).unwrap();
    let again = |seen: &mut TreeObservation| *seen = tree(&history, 2);
    assert_eq!(rules(&ops(fsync(ROOT)), again), [Rule::SyncedRemoval]);
    assert_eq!(rules(&ops(FileOp::Sync), again), [Rule::SyncedRemoval]);
    let unsynced = &ops(FileOp::Sync)[..3];
    assert_eq!(rules(unsynced, again), [], "old or new");
    assert_eq!(rules(unsynced, |_| ()), []);
}

#[test]
fn a_name_that_was_replaced_is_the_old_or_the_new_file_and_never_absent() {
    let ops = [
        open("bar"),
        write("bar", 0, 1000, 1),
        FileOp::Sync,
        open("foo"),
        write("foo", 0, 1000, 2),
        rename("foo", "bar"),
    ];
    let history = History::new(&ops).unwrap();
    assert_eq!(rules(&ops, |_| ()), []);
    assert_eq!(rules(&ops, |seen: &mut TreeObservation| *seen = tree(&history, 3)), []);
    let gone = |seen: &mut TreeObservation| seen.entries.clear();
    assert_eq!(rules(&ops, gone), [Rule::SyncedEntry]);
    let empty = |seen: &mut TreeObservation| put(seen, "bar", &[]);
    assert_eq!(rules(&ops, empty), [], "nobody synced the new one");
}

#[test]
fn a_rename_that_nothing_synced_leaves_one_name() {
    let ops = [open("foo"), FileOp::Sync, mkdir("A"), rename("foo", "A/foo")];
    let history = History::new(&ops).unwrap();
    assert_eq!(rules(&ops, |_| ()), []);
    assert_eq!(rules(&ops, |seen: &mut TreeObservation| *seen = tree(&history, 2)), []);
    assert_eq!(rules(&ops, without("A/foo")), [Rule::RenameIsAtomic]);
    let both = |seen: &mut TreeObservation| {
        let copy = TreeEntry { path: "foo".to_owned(), ..entry_of(seen, "A/foo").clone() };
        seen.entries.push(copy);
    };
    let found = rules(&ops, both);
    assert_eq!(found, [Rule::RenameIsAtomic, Rule::LinkCount, Rule::LinkCount]);
}

#[test]
fn names_of_a_file_that_was_synced_are_customary() {
    let link = FileOp::Link { from: "foo".to_owned(), to: "bar".to_owned() };
    let ops = [open("foo"), link, fsync("foo")];
    let one_link = |seen: &mut TreeObservation| {
        without("bar")(seen);
        entry_of(seen, "foo").links = 1;
    };
    assert_eq!(rules(&ops, one_link), [Rule::OtherNameOfSyncedFile]);
    let ops = [open("foo"), FileOp::Sync, rename("foo", "bar"), fsync("bar")];
    let old_too = |seen: &mut TreeObservation| {
        let copy = TreeEntry { path: "foo".to_owned(), ..entry_of(seen, "bar").clone() };
        seen.entries.push(copy);
        seen.entries.iter_mut().for_each(|entry| entry.links = 2);
    };
    assert_eq!(rules(&ops, old_too), [Rule::OldNameOfSyncedFile]);
}

#[test]
fn links_and_room_are_kept() {
    let link = FileOp::Symlink { target: "foo".to_owned(), link: "bar".to_owned() };
    let empty = |seen: &mut TreeObservation| entry_of(seen, "bar").target = Some(String::new());
    assert_eq!(rules(&[link, fsync(ROOT)], empty), [Rule::SymlinkTarget]);
    let mode = Allocation::KeepSize;
    let falloc = FileOp::Fallocate { file: "foo".to_owned(), mode, offset: 0, bytes: 8192 };
    let freed = |seen: &mut TreeObservation| entry_of(seen, "foo").allocated_bytes = 4096;
    let ops = [open("foo"), falloc, fsync("foo")];
    assert_eq!(rules(&ops, freed), [Rule::ReservedSpace]);
    assert_eq!(rules(&ops[..2], freed), []);
}

#[test]
fn a_file_system_that_is_not_whole_is_told_of() {
    let ops = [open("foo"), FileOp::Sync];
    let unmounted = |seen: &mut TreeObservation| {
        let failed = MountAttempt {
            step: MountStep::ReadWrite,
            errno: Some(117),
            began_ns: 0,
            duration_ns: 0,
        };
        seen.whole.mounts = vec![failed];
        seen.entries.clear();
    };
    assert_eq!(rules(&ops, unmounted), [Rule::MountsAsBefore, Rule::Reachable]);
    let unusable = |seen: &mut TreeObservation| seen.whole.is_usable = Some(false);
    assert_eq!(rules(&ops, unusable), [Rule::IsUsable]);
    let stranger = |seen: &mut TreeObservation| {
        let copy = TreeEntry { path: "x".to_owned(), inode: 9, ..entry_of(seen, "foo").clone() };
        seen.entries.push(copy);
    };
    assert_eq!(rules(&ops, stranger), [Rule::UnknownName]);
}

#[test]
fn an_operation_that_has_not_returned_may_be_there_or_not() {
    let ops = [open("foo"), FileOp::Sync, FileOp::Unlink { file: "foo".to_owned() }, fsync(ROOT)];
    let history = History::new(&ops).unwrap();
    let at = |returned, begun, step| {
        judge(&history, Progress { returned, begun }, &tree(&history, step)).len()
    };
    assert_eq!((at(2, 3, 2), at(2, 3, 3)), (0, 0));
    assert_eq!(at(2, 2, 3), 1, "nobody had begun to unlink it");
    assert_eq!((at(3, 4, 2), at(4, 4, 2)), (0, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// A disk that has everything up to some operation after the last persistence point, and a
    /// power cut anywhere behind it: nothing is broken.
    #[test]
    fn what_is_durable_and_any_later_state_breaks_nothing(seed in any::<u64>()) {
        for skeleton in Bounds::all().sample(2, 30, seed) {
            let ops = program(&skeleton).unwrap();
            let history = History::new(&ops).unwrap();
            for returned in 0..=ops.len() {
                let durable = history.persisted.iter().map(|point| point.step);
                let from = durable.filter(|step| *step <= returned).max().unwrap_or(0);
                for step in from..=returned {
                    let progress = Progress { returned, begun: returned };
                    let broken = judge(&history, progress, &tree(&history, step));
                    prop_assert_eq!(broken, vec![], "{:?} {} of {}", ops, step, returned);
                }
            }
        }
    }

    /// After sync every name is promised: each that is missing is found to be so.
    #[test]
    fn a_name_that_is_lost_after_sync_is_found(seed in any::<u64>()) {
        for skeleton in Bounds::all().sample(1, 40, seed) {
            let mut ops = program(&skeleton).unwrap();
            ops.push(FileOp::Sync);
            let history = History::new(&ops).unwrap();
            let all = tree(&history, ops.len());
            for entry in &all.entries {
                let mut seen = all.clone();
                let below = format!("{}/", entry.path);
                seen.entries.retain(|one| {
                    one.path != entry.path && !one.path.starts_with(&below)
                });
                let progress = Progress { returned: ops.len(), begun: ops.len() };
                let broken = judge(&history, progress, &seen);
                prop_assert!(broken.iter().any(|one| one.rule == Rule::SyncedEntry
                    && one.path.as_ref() == Some(&entry.path)), "{:?}: {:?}", ops, broken);
            }
        }
    }
}
