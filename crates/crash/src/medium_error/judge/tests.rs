//! Tests of the judgement: told, lost, silent, damaged, unharmed.

use super::*;
use crate::medium_error::plan::{Lasting, RequestKind};
use crate::medium_error::record::{AfterWork, Call};
use crate::observation::{MountAttempt, Runs};
use crate::op::{Action, Op, Sync};
use crate::stamp::fill;
use proptest::prelude::*;

const SEED: u64 = 7;
const FILE: u32 = 5;
const TARGET: u32 = 1 << 24;
const LOG: u32 = 4 << 24;
const BOTH: Sync = Sync::FileAndDirectory;
const EIO: i32 = 5;

/// Op number n begins at 100 n and ends 50 later; those that failed are told.
fn work(actions: &[Action], failed: &[FailedCall]) -> MediumErrorWork {
    let op = |(action, at): (&Action, u32)| Op {
        action: action.clone(),
        begin_ns: u64::from(at) * 100,
        end_ns: u64::from(at) * 100 + 50,
        error: failed.iter().find(|failed| failed.op == at).map(|failed| failed.errno),
    };
    MediumErrorWork {
        ops: actions.iter().zip(0..).map(op).collect(),
        failed: failed.to_vec(),
        begin_ns: 0,
        end_ns: 10_000,
        mount_options: String::new(),
        after: AfterWork::default(),
    }
}

fn failed(op: u32, call: Call, again: Option<i32>) -> FailedCall {
    FailedCall { op, call, errno: EIO, again }
}

fn create(file: u32, bytes: u64) -> Action {
    Action::Create { file, bytes, version: 1, sync: BOTH }
}

fn replace(version: u32) -> Action {
    Action::Replace { target: TARGET, bytes: 1300, version, sync: BOTH }
}

fn overwrite(sector: u64, version: u32, sync: Sync) -> Action {
    Action::Overwrite { file: LOG, offset: sector * 512, bytes: 512, version, sync }
}

/// Contents of a file, each sector of a version; `None`: zeros.
fn sectors(file: u32, versions: &[Option<u32>]) -> Vec<u8> {
    let mut data = vec![0; versions.len() * 512];
    for (at, (version, sector)) in versions.iter().zip(data.chunks_mut(512)).enumerate() {
        if let Some(version) = *version {
            fill(sector, Stamp { seed: SEED, file, version }, at as u64 * 512);
        }
    }
    data
}

fn stamped(file: u32, version: u32, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    fill(&mut data, Stamp { seed: SEED, file, version }, 0);
    data
}

fn observed(files: &[(u32, Vec<u8>)]) -> Vec<ObservedFile> {
    let file = |(file, data): &(u32, Vec<u8>)| {
        let mut contents = Runs::default();
        contents.take(data);
        let (path, size_bytes) = (path(*file).unwrap(), data.len() as u64);
        ObservedFile { path, size_bytes, contents, errno: None }
    };
    files.iter().map(file).collect()
}

fn seen(files: Vec<ObservedFile>) -> Observation {
    let step = MountStep::ReadWrite;
    let mounts = vec![MountAttempt { step, errno: None, began_ns: 0, duration_ns: 1 }];
    Observation { mounts, files, ..Observation::default() }
}

/// The first write that failed came between ops 1 and 2.
fn judged(work: &MediumErrorWork, files: &[(u32, Vec<u8>)]) -> MediumErrorCase {
    let (kind, lasting) = (RequestKind::Data, Lasting::Once);
    let write = FailingRequest { kind, lasting, at_ns: 170, sector: 8, sectors: 8 };
    let struck = InjectedFailure { requests: 1, first: Some((170, 8)) };
    judge(SEED, write, &struck, work, &seen(observed(files)))
}

#[test]
fn acknowledged_work_that_is_gone_is_silent_where_nobody_was_told() {
    let work = work(&[create(FILE, 1024), create(FILE + 1, 600)], &[]);
    let both = [(FILE, stamped(FILE, 1, 1024)), (FILE + 1, stamped(FILE + 1, 1, 600))];
    let whole = judged(&work, &both);
    assert_eq!((whole.verdict(), whole.is_as_drawn()), (Verdict::Unharmed, true));
    let zeros = judged(&work, &[both[0].clone(), (FILE + 1, vec![0; 600])]);
    assert_eq!(zeros.verdict(), Verdict::Silent);
    let lost = &zeros.lost[0];
    assert_eq!((lost.op, lost.acknowledged_ns, lost.is_before_error), (1, 150, true));
    assert!(lost.found.contains("zeros in place of version 1"), "{}", lost.found);
    let absent = judged(&work, &both[1..]);
    assert_eq!(absent.lost[0].found, "the name is not there");
    let short = judged(&work, &[(FILE, stamped(FILE, 1, 512)), both[1].clone()]);
    assert_eq!(short.lost[0].found, "512 bytes of 1024");
    let mut told = work.clone();
    told.after.is_read_only = true;
    assert_eq!(judged(&told, &both).verdict(), Verdict::Reported);
    assert_eq!(judged(&told, &both[1..]).verdict(), Verdict::LostBesideReport);
}

#[test]
fn what_an_op_was_told_of_may_be_there_or_not_and_is_not_lost() {
    let fsync = failed(1, Call::Sync, Some(0));
    let mut work = work(&[create(FILE, 1024), create(FILE + 1, 600)], &[fsync]);
    let first = (FILE, stamped(FILE, 1, 1024));
    for there in [vec![], vec![(FILE + 1, stamped(FILE + 1, 1, 600))], vec![(FILE + 1, vec![])]] {
        let case = judged(&work, &[vec![first.clone()], there].concat());
        assert_eq!((case.verdict(), case.damaged.len()), (Verdict::Reported, 0));
    }
    let zeros = judged(&work, &[first.clone(), (FILE + 1, vec![0; 600])]);
    assert!(zeros.lost.is_empty(), "{:?}", zeros.lost);
    assert!(zeros.damaged[0].found.contains("zeros in place of version 1"), "{zeros:?}");
    assert_eq!((zeros.reported_missing, zeros.missing_after_sync), (1, 1), "fsync again: 0");
    assert_eq!(zeros.again().collect::<Vec<_>>(), [0]);
    work.after.files = observed(&[first.clone(), (FILE + 1, stamped(FILE + 1, 1, 600))]);
    assert_eq!(judged(&work, &[first, (FILE + 1, vec![0; 600])]).only_in_memory, 1);
}

#[test]
fn a_replace_that_failed_leaves_the_old_file_and_only_an_fsync_of_the_directory_leaves_both() {
    let actions = [replace(1), replace(2), create(FILE, 512)];
    let file = (FILE, stamped(FILE, 1, 512));
    let with = |version| [(TARGET, stamped(TARGET, version, 1300)), file.clone()];
    let told = |call| work(&actions, &[failed(1, call, None)]);
    assert!(judged(&told(Call::Sync), &with(1)).lost.is_empty());
    assert_eq!(judged(&told(Call::Sync), &with(2)).lost.len(), 1, "it was not renamed");
    for call in [Call::Rename, Call::SyncDirectory] {
        assert!(judged(&told(call), &with(1)).lost.is_empty());
        assert!(judged(&told(call), &with(2)).lost.is_empty());
        let zeros = [(TARGET, vec![0; 1300]), file.clone()];
        assert_eq!(judged(&told(call), &zeros).verdict(), Verdict::LostBesideReport);
    }
    let none = judged(&work(&actions, &[]), &with(1));
    assert_eq!((none.verdict(), none.lost[0].reported_by), (Verdict::Silent, None));
}

#[test]
fn a_record_that_failed_is_missing_behind_one_that_was_synced_later() {
    let log = Action::Preallocate { file: LOG, bytes: 2048, sync: BOTH };
    let actions = [log, overwrite(0, 1, Sync::Data), overwrite(1, 1, Sync::Data)];
    let told = work(&actions, &[failed(1, Call::Sync, Some(EIO))]);
    let of = |versions| judged(&told, &[(LOG, sectors(LOG, versions))]);
    let missing = of(&[None, Some(1), None, None]);
    assert_eq!((missing.verdict(), missing.missing_after_sync), (Verdict::Reported, 1));
    let there = of(&[Some(1), Some(1), None, None]);
    assert_eq!((there.reported_missing, there.missing_after_sync), (0, 0));
    let lost = of(&[Some(1), None, None, None]);
    assert_eq!((lost.verdict(), lost.lost[0].op), (Verdict::LostBesideReport, 2));
    assert!(!lost.lost[0].is_before_error);
    // What was there before must be there, whatever the op was told.
    let stale = of(&[Some(9), Some(1), None, None]);
    assert_eq!(stale.lost.len(), 1, "{stale:?}");
}

#[test]
fn what_nobody_synced_is_not_demanded_and_a_later_sync_covers_it() {
    let pages = Action::Create { file: LOG, bytes: 1024, version: 1, sync: BOTH };
    let unsynced = [pages.clone(), overwrite(0, 2, Sync::None)];
    let old = [(LOG, sectors(LOG, &[Some(1), Some(1)]))];
    assert_eq!(judged(&work(&unsynced, &[]), &old).verdict(), Verdict::Unharmed);
    let synced = [pages, overwrite(0, 2, Sync::None), overwrite(1, 2, Sync::File)];
    let half = [(LOG, sectors(LOG, &[Some(1), Some(2)]))];
    assert_eq!(judged(&work(&synced, &[]), &half).verdict(), Verdict::Silent);
    // The fsync that failed told of both.
    let told = work(&synced, &[failed(2, Call::Sync, None)]);
    assert_eq!(judged(&told, &half).verdict(), Verdict::Reported);
    assert_eq!(judged(&told, &old).verdict(), Verdict::Reported);
}

#[test]
fn an_append_behind_one_that_failed_is_demanded_where_it_can_be_told() {
    let file = 2 << 24;
    let append = |bytes| Action::Append { file, bytes, version: 1, sync: BOTH };
    let actions = [create(file, 1024), append(1000), append(1048)];
    let told = work(&actions, &[failed(1, Call::Sync, Some(0))]);
    let whole = stamped(file, 1, 3072);
    assert_eq!(judged(&told, &[(file, whole.clone())]).verdict(), Verdict::Reported);
    // A hole where the first one was; the sector that both share is not known.
    let mut hole = whole.clone();
    hole[1024..2024].fill(0);
    let case = judged(&told, &[(file, hole)]);
    assert!(case.lost.is_empty() && case.missing_after_sync == 1, "{case:?}");
    let mut lost = whole;
    lost[2560..].fill(0);
    assert_eq!(judged(&told, &[(file, lost)]).lost[0].op, 2);
    // The fsync of the file had returned 0, and the one of its directory told of the error.
    let directory = work(&actions, &[failed(2, Call::SyncDirectory, None)]);
    let lost = judged(&directory, &[(file, stamped(file, 1, 2024))]).lost;
    assert_eq!((lost.len(), lost[0].reported_by), (1, Some(Call::SyncDirectory)));
    // Its write took a part: nobody knows where the next one begins.
    let partly = work(&actions, &[failed(1, Call::Write, None)]);
    assert_eq!(judged(&partly, &[(file, stamped(file, 1, 1024))]).unknown, 1);
    // Where none comes, the rest is demanded still.
    let both = [failed(1, Call::Write, None), failed(2, Call::Write, None)];
    let stopped = work(&actions, &both);
    assert_eq!(judged(&stopped, &[(file, stamped(file, 1, 1024))]).verdict(), Verdict::Reported);
    assert_eq!(judged(&stopped, &[(file, stamped(file, 1, 512))]).lost.len(), 1);
}

#[test]
fn a_file_that_cannot_be_read_is_lost() {
    let work = work(&[create(FILE, 2048)], &[]);
    let mut files = observed(&[(FILE, stamped(FILE, 1, 1024))]);
    (files[0].size_bytes, files[0].errno) = (2048, Some(EIO));
    let (kind, lasting) = (RequestKind::Metadata, Lasting::Always);
    let write = FailingRequest { kind, lasting, at_ns: 20, sector: 8, sectors: 8 };
    let case = judge(SEED, write, &InjectedFailure::until(100, &[]), &work, &seen(files));
    assert!(case.lost[0].found.contains("reading it fails with error 5"), "{case:?}");
    assert_eq!(case.verdict(), Verdict::NotStruck, "no request failed");
}

#[test]
fn a_guest_that_does_not_come_to_its_end_is_a_case_of_its_own() {
    let (kind, lasting) = (RequestKind::Metadata, Lasting::Always);
    let write = FailingRequest { kind, lasting, at_ns: 20, sector: 8, sectors: 8 };
    let struck = InjectedFailure { requests: 3, first: Some((20, 8)) };
    let case = not_ended(SEED, write, &struck, "a panic".to_owned());
    assert_eq!((case.verdict(), case.failed_requests), (Verdict::NotEnded, 3));
}

proptest! {
    /// A disk that holds, of each record that failed, the old or the new sector, and all others, is
    /// never called a broken promise; and one acknowledged sector that is not there always is.
    #[test]
    fn only_what_was_acknowledged_is_demanded(
        records in prop::collection::vec((0_u64..8, any::<bool>(), any::<bool>()), 1..24),
        taken in any::<prop::sample::Index>(),
    ) {
        let mut actions = vec![Action::Preallocate { file: LOG, bytes: 8 * 512, sync: BOTH }];
        let (mut told, mut disk) = (Vec::new(), vec![None; 8]);
        let mut demanded = [true; 8];
        for (number, (sector, is_failed, is_there)) in (1..).zip(&records) {
            actions.push(overwrite(*sector, number, Sync::Data));
            if *is_failed {
                told.push(failed(number, Call::Sync, None));
            }
            let at = *sector as usize;
            demanded[at] = !is_failed;
            if !is_failed || *is_there {
                disk[at] = Some(number);
            }
        }
        let work = work(&actions, &told);
        let case = judged(&work, &[(LOG, sectors(LOG, &disk))]);
        prop_assert!(case.lost.is_empty() && case.damaged.is_empty(), "{case:?}");
        prop_assert_eq!(case.is_reported(), !told.is_empty());
        let all: Vec<usize> = (0..8).filter(|at| demanded[*at]).collect();
        if !all.is_empty() {
            // A version that was never written.
            disk[all[taken.index(all.len())]] = Some(1000);
            let case = judged(&work, &[(LOG, sectors(LOG, &disk))]);
            prop_assert_eq!(case.lost.len(), 1);
        }
    }
}
