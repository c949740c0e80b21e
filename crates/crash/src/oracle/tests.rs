//! Tests of the oracle: each promise broken and kept, each kind of damage counted.

use super::*;
use crate::observation::{FsckResult, MountAttempt, Runs};
use crate::op::{Action, Sync};
use crate::promise::PromiseClass;
use crate::stamp::fill;
use crate::state::{Class, Sampling, Survivors};

const SEED: u64 = 7;
/// A target, a file that is appended to, one that is created, one of the prefill.
const TARGET: u32 = 1 << 24;
const LOG: u32 = 2 << 24;
const FILE: u32 = 5;
const DELETED: u32 = 5 << 24;
const ALL: Promises = Promises {
    replace_is_whole: true,
    replace_keeps_the_name: true,
    no_stale_bytes: true,
    mounts_without_repair: true,
};

/// One of the numbers of a count.
type Count<T> = fn(&T) -> u32;

/// Op number n begins at 100 n and ends 50 later.
fn ops(actions: &[Action]) -> Vec<Op> {
    let op = |(action, at): (&Action, u64)| Op {
        action: action.clone(),
        begin_ns: at * 100,
        end_ns: at * 100 + 50,
        error: None,
    };
    actions.iter().zip(0..).map(op).collect()
}

fn create(file: u32, bytes: u64, sync: Sync) -> Action {
    Action::Create { file, bytes, version: 1, sync }
}

fn replace(version: u32, sync: Sync) -> Action {
    Action::Replace { target: TARGET, bytes: 1300, version, sync }
}

fn stamped(file: u32, version: u32, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    fill(&mut data, Stamp { seed: SEED, file, version }, 0);
    data
}

fn seen(files: &[(u32, Vec<u8>)]) -> Observation {
    let file = |(file, data): &(u32, Vec<u8>)| {
        let mut contents = Runs::default();
        contents.take(data);
        ObservedFile {
            path: path(*file).unwrap(),
            size_bytes: data.len() as u64,
            contents,
            errno: None,
        }
    };
    let mounts =
        vec![MountAttempt { step: MountStep::ReadWrite, errno: None, began_ns: 0, duration_ns: 9 }];
    Observation { mounts, files: files.iter().map(file).collect(), ..Observation::default() }
}

fn state(at_ns: u64) -> CrashState {
    CrashState {
        at_ns,
        count: 0,
        class: Class::Prefix,
        sampling: Sampling::Uniform,
        survivors: Survivors::All,
        in_flight: Vec::new(),
        torn: None,
        contents: 0,
    }
}

/// Judged at 1000, when all ops are acknowledged.
fn judge(actions: &[Action], files: &[(u32, Vec<u8>)]) -> Findings {
    let oracle = Oracle::new(&ops(actions), SEED, ALL).unwrap();
    oracle.judge(&state(1000), &seen(files))
}

fn promises(findings: &Findings) -> Vec<Promise> {
    findings.violations.iter().map(|violation| violation.promise).collect()
}

#[test]
fn a_synced_file_must_be_there_as_it_was() {
    let actions = [create(FILE, 1300, Sync::FileAndDirectory)];
    let whole = judge(&actions, &[(FILE, stamped(FILE, 1, 1300))]);
    assert_eq!(promises(&whole), []);
    assert_eq!((whole.acknowledged_files, whole.is_prefix), (1, true));
    assert_eq!(whole.loss_window, LossWindow::default());
    let absent = judge(&actions, &[]);
    assert_eq!(promises(&absent), [Promise::SyncedName]);
    assert_eq!((absent.lost_names, absent.lost_bytes), (1, 1300));
    assert_eq!(absent.acknowledged_loss_ns, Some(950));
    assert_eq!(absent.loss_window.all_ns(), 0, "what was promised is counted apart");
    let violation = &absent.violations[0];
    assert_eq!((violation.op, violation.path.as_deref()), (Some(0), Some("created/000005")));
    let mut zeros = stamped(FILE, 1, 1300);
    zeros[600..].fill(0);
    let mut foreign = stamped(FILE, 1, 1300);
    foreign[1250] ^= 1;
    let longer = [stamped(FILE, 1, 1300), vec![0; 10]].concat();
    for bad in [vec![], stamped(FILE, 1, 1299), zeros, foreign, longer] {
        let findings = judge(&actions, &[(FILE, bad)]);
        assert_eq!(promises(&findings), [Promise::SyncedContents]);
        assert_eq!(findings.acknowledged_files_lost, 1);
    }
}

#[test]
fn what_was_not_acknowledged_is_not_demanded() {
    let oracle =
        Oracle::new(&ops(&[create(FILE, 900, Sync::FileAndDirectory)]), SEED, ALL).unwrap();
    for files in [vec![], vec![(FILE, vec![0; 100])]] {
        let at_its_end = oracle.judge(&state(50), &seen(&files));
        assert_eq!((promises(&at_its_end), at_its_end.acknowledged_files), (vec![], 0));
        assert_eq!(oracle.judge(&state(51), &seen(&files)).acknowledged_files_lost, 1);
    }
    // A file synced without its directory may have no name; with a name it has its contents.
    let actions = [create(FILE, 900, Sync::File)];
    let absent = judge(&actions, &[]);
    assert_eq!((promises(&absent), absent.lost_names_of_synced_files), (vec![], 1));
    let empty = judge(&actions, &[(FILE, vec![])]);
    assert_eq!(promises(&empty), [Promise::SyncedContents]);
    let unsynced = judge(&[create(FILE, 900, Sync::None)], &[(FILE, vec![])]);
    assert_eq!((promises(&unsynced), unsynced.lost_bytes), (vec![], 900));
    assert_eq!(unsynced.loss_window, LossWindow { data_ns: 950, metadata_ns: 0 });
}

#[test]
fn a_later_write_may_be_there_in_part() {
    let overwrite =
        |sync| Action::Overwrite { file: FILE, offset: 512, bytes: 788, version: 2, sync };
    let actions = |sync| [create(FILE, 1300, Sync::FileAndDirectory), overwrite(sync)];
    let mut mixed = stamped(FILE, 1, 1300);
    mixed[512..1024].copy_from_slice(&stamped(FILE, 2, 1024)[512..]);
    let files = [(FILE, mixed)];
    let unsynced = judge(&actions(Sync::None), &files);
    assert_eq!(promises(&unsynced), []);
    assert_eq!((unsynced.lost_bytes, unsynced.loss_window.data_ns), (276, 850));
    assert_eq!(promises(&judge(&actions(Sync::Data), &files)), [Promise::SyncedContents]);
    // What no op has written there is no later write.
    let other = [(FILE, [stamped(FILE, 2, 512), stamped(FILE, 1, 1300)[512..].to_vec()].concat())];
    assert_eq!(promises(&judge(&actions(Sync::None), &other)), [Promise::SyncedContents]);
    let truncate = [
        create(FILE, 1300, Sync::FileAndDirectory),
        Action::Truncate { file: FILE, bytes: 600, sync: Sync::None },
    ];
    let lost = judge(&truncate, &[(FILE, stamped(FILE, 1, 1300))]);
    assert_eq!((promises(&lost), lost.loss_window.metadata_ns), (vec![], 850));
    let kept = judge(&truncate, &[(FILE, stamped(FILE, 1, 600))]);
    assert_eq!((promises(&kept), kept.loss_window.all_ns()), (vec![], 0));
    assert_eq!(
        promises(&judge(&truncate, &[(FILE, stamped(FILE, 1, 599))])),
        [Promise::SyncedContents]
    );
}

#[test]
fn a_replaced_file_is_counted_by_its_damage() {
    let history = |sync| {
        let first = create(TARGET, 1300, Sync::FileAndDirectory);
        [first, replace(2, sync), replace(3, sync)]
    };
    let unsynced = |data| judge(&history(Sync::None), &[(TARGET, data)]);
    for version in 1..=3 {
        let whole = unsynced(stamped(TARGET, version, 1300));
        assert_eq!((promises(&whole), whole.replaced.whole), (vec![], 1));
        let window_ns = [850, 750, 0][version as usize - 1];
        assert_eq!(whole.loss_window.all_ns(), window_ns);
    }
    let mut zeros = stamped(TARGET, 3, 1300);
    zeros[512..1024].fill(0);
    let mut stale = stamped(TARGET, 3, 1300);
    stale[..512].copy_from_slice(&stamped(DELETED, 1, 512));
    let mut own = stamped(TARGET, 3, 1300);
    own[..512].copy_from_slice(&stamped(TARGET, 2, 512));
    let (mut foreign, partial) = (stamped(TARGET, 3, 1300), stamped(TARGET, 3, 1000));
    foreign[100] ^= 8;
    let kinds: [(Vec<u8>, Count<ReplacedTargets>); 6] = [
        (vec![], |it| it.zero_length),
        (zeros, |it| it.zeros),
        (partial, |it| it.partial),
        (stale, |it| it.stale),
        (own, |it| it.stale),
        (foreign, |it| it.foreign),
    ];
    for (data, count) in kinds {
        let findings = unsynced(data.clone());
        assert_eq!((count(&findings.replaced), findings.replaced.checked()), (1, 1));
        assert!(promises(&findings).contains(&Promise::ReplaceIsWhole));
        assert!(!findings.breaks_the_contract() && findings.breaks(PromiseClass::Documented));
        // Synced before it was renamed, the same is a broken contract.
        let synced = judge(&history(Sync::File), &[(TARGET, data)]);
        assert!(promises(&synced).contains(&Promise::SyncedBeforeRename));
    }
    // The rename was made after the fsync had returned, whether or not the op was at its end.
    let oracle = Oracle::new(&ops(&history(Sync::File)), SEED, Promises::default()).unwrap();
    let in_flight =
        |bytes| promises(&oracle.judge(&state(130), &seen(&[(TARGET, stamped(TARGET, 2, bytes))])));
    assert_eq!(in_flight(1000), [Promise::SyncedBeforeRename]);
    assert_eq!(in_flight(1300), []);
    let absent = judge(&history(Sync::None), &[]);
    assert_eq!(promises(&absent), [Promise::ReplaceKeepsTheName]);
    assert_eq!(absent.replaced.absent, 1);
    let old = [(TARGET, stamped(TARGET, 2, 1300))];
    assert_eq!(promises(&judge(&history(Sync::File), &old)), []);
    let violation = &judge(&history(Sync::FileAndDirectory), &old).violations[0];
    assert_eq!((violation.promise, violation.op), (Promise::SyncedContents, Some(2)));
}

#[test]
fn stale_bytes_are_those_of_other_files_and_places() {
    let actions = [create(FILE, 1024, Sync::None), create(6, 1024, Sync::None)];
    let mut data = stamped(FILE, 1, 1024);
    data[512..].copy_from_slice(&stamped(DELETED, 1, 1024)[512..]);
    let findings = judge(&actions, &[(FILE, data), (6, stamped(6, 1, 1024))]);
    let stray = findings.stray;
    assert_eq!((stray.stale_files, stray.stale_bytes, stray.of_prefill_bytes), (1, 512, 512));
    assert_eq!(promises(&findings), [Promise::NoStaleBytes]);
    let mut moved = stamped(FILE, 1, 1024);
    moved.rotate_left(512);
    let other_seed = {
        let mut data = vec![0; 512];
        fill(&mut data, Stamp { seed: 8, file: FILE, version: 1 }, 0);
        data
    };
    assert_eq!(judge(&actions, &[(FILE, moved)]).stray.stale_bytes, 1024);
    let findings = judge(&actions, &[(FILE, other_seed)]);
    assert_eq!((findings.stray.stale_bytes, findings.stray.of_prefill_bytes), (512, 0));
    let torn = [stamped(FILE, 1, 300), stamped(6, 1, 512)[300..].to_vec()].concat();
    let findings = judge(&actions, &[(FILE, torn)]);
    assert_eq!((findings.stray.foreign_bytes, promises(&findings)), (512, vec![]));
}

#[test]
fn append_tails_are_told_apart() {
    let append = Action::Append { file: LOG, bytes: 1000, version: 1, sync: Sync::None };
    let actions = [create(LOG, 1000, Sync::FileAndDirectory), append.clone(), append];
    let mut zeros = stamped(LOG, 1, 2000);
    zeros[1024..].fill(0);
    let mut stale = stamped(LOG, 1, 2048);
    stale[1536..].copy_from_slice(&stamped(DELETED, 1, 512));
    let tails: [(Vec<u8>, Count<AppendTails>, u64); 6] = [
        (stamped(LOG, 1, 3000), |it| it.whole, 0),
        (stamped(LOG, 1, 2000), |it| it.prefix, 750),
        (stamped(LOG, 1, 1000), |it| it.prefix, 850),
        (stamped(LOG, 1, 1010), |it| it.prefix, 850),
        (zeros, |it| it.zeros, 850),
        (stale, |it| it.stale, 850),
    ];
    for (data, count, window_ns) in tails {
        let size = data.len();
        let findings = judge(&actions, &[(LOG, data)]);
        assert_eq!(count(&findings.appended), 1, "{size}: {:?}", findings.appended);
        assert_eq!(findings.loss_window.data_ns, window_ns, "{size}");
        assert!(!findings.breaks_the_contract(), "{size}");
    }
    let cut = judge(&actions, &[(LOG, stamped(LOG, 1, 999))]);
    assert_eq!(promises(&cut), [Promise::SyncedContents]);
}

#[test]
fn deletes_and_order_are_judged() {
    let delete = |sync| Action::Delete { file: FILE, sync };
    let back = [(FILE, stamped(FILE, 1, 900))];
    let actions = |sync| [create(FILE, 900, Sync::FileAndDirectory), delete(sync)];
    assert_eq!(promises(&judge(&actions(Sync::FileAndDirectory), &[])), []);
    assert_eq!(promises(&judge(&actions(Sync::FileAndDirectory), &back)), [Promise::SyncedDelete]);
    let lost = judge(&actions(Sync::None), &back);
    assert_eq!((promises(&lost), lost.loss_window.metadata_ns), (vec![], 850));
    // The first of three files is lost and a later one is there.
    let three: Vec<Action> = (5..8).map(|file| create(file, 100, Sync::None)).collect();
    let order = |files: &[u32]| {
        let files: Vec<_> = files.iter().map(|file| (*file, stamped(*file, 1, 100))).collect();
        judge(&three, &files).is_prefix
    };
    assert!(order(&[]) && order(&[5]) && order(&[5, 6]) && order(&[5, 6, 7]));
    assert!(!order(&[6]) && !order(&[5, 7]) && !order(&[7]));
}

#[test]
fn a_mount_has_a_length_where_its_disk_took_time() {
    let oracle = Oracle::new(&ops(&[]), SEED, ALL).unwrap();
    let timed = seen(&[]);
    let untimed = Observation { is_untimed: true, ..timed.clone() };
    let length_ns = |seen| oracle.judge(&state(1000), seen).mount_ns;
    assert_eq!((length_ns(&timed), length_ns(&untimed)), (Some(9), None));
    assert_eq!(oracle.judge(&state(1000), &untimed).mounted, Some(MountStep::ReadWrite));
}

#[test]
fn mounts_are_judged_and_foreign_input_is_counted() {
    let actions = [create(FILE, 900, Sync::FileAndDirectory)];
    let oracle = Oracle::new(&ops(&actions), SEED, ALL).unwrap();
    let attempt = |step, errno| MountAttempt { step, errno, began_ns: 0, duration_ns: 3 };
    let mounts =
        vec![attempt(MountStep::ReadWrite, Some(117)), attempt(MountStep::ReadOnly, Some(5))];
    let fsck = Some(FsckResult { exit_code: 4, is_clean: false, duration_ns: 5 });
    let failed = Observation { mounts, fsck, ..Observation::default() };
    let findings = oracle.judge(&state(1000), &failed);
    assert_eq!(promises(&findings), [Promise::Reachable, Promise::MountsWithoutRepair]);
    assert_eq!(findings.violations[1].found, "it cannot be mounted as it was: errno 117");
    assert_eq!((findings.mounted, findings.needs_repair), (None, Some(true)));
    assert_eq!(findings.acknowledged_files_lost, 1);

    // What could be read without recovery gives way to what a repair has made of it.
    let mounts =
        vec![attempt(MountStep::WithoutRecovery, None), attempt(MountStep::AfterRepair, None)];
    let repaired = oracle.judge(&state(1000), &Observation { mounts, ..failed });
    assert_eq!(repaired.mounted, Some(MountStep::AfterRepair));
    assert!(promises(&repaired).contains(&Promise::SyncedName), "{repaired:?}");

    let mut strange = seen(&[(FILE, stamped(FILE, 1, 900)), (77, vec![1; 700])]);
    strange.files.push(ObservedFile {
        path: "x".into(),
        size_bytes: 1,
        ..strange.files[0].clone()
    });
    let huge = Runs::default();
    strange.files.push(ObservedFile {
        path: format!("{}.tmp", path(FILE).unwrap()),
        size_bytes: u64::MAX,
        contents: huge,
        errno: Some(5),
    });
    let findings = oracle.judge(&state(1000), &strange);
    assert_eq!((promises(&findings), findings.unknown_files), (vec![], 2));
    strange.files[0].size_bytes = u64::MAX;
    let findings = oracle.judge(&state(1000), &strange);
    assert_eq!(promises(&findings), [Promise::SyncedContents]);
    // Contents from after the crash.
    let early = oracle.judge(&state(0), &seen(&[(FILE, stamped(FILE, 1, 900))]));
    assert_eq!(early.later_files, 0, "it had begun");
    let later = [create(6, 9, Sync::None), create(FILE, 900, Sync::None)];
    let oracle = Oracle::new(&ops(&later), SEED, ALL).unwrap();
    assert_eq!(oracle.judge(&state(60), &seen(&[(FILE, stamped(FILE, 1, 900))])).later_files, 1);
}

#[test]
fn a_file_with_a_failed_op_is_not_judged_from_then_on() {
    let mut ops = ops(&[
        create(FILE, 900, Sync::FileAndDirectory),
        Action::Append { file: FILE, bytes: 9, version: 1, sync: Sync::File },
    ]);
    ops[1].error = Some(28);
    let oracle = Oracle::new(&ops, SEED, ALL).unwrap();
    let after = oracle.judge(&state(1000), &seen(&[]));
    assert_eq!((promises(&after), after.not_judged_files), (vec![], 1));
    assert_eq!(promises(&oracle.judge(&state(99), &seen(&[]))), [Promise::SyncedName]);
}

#[test]
fn findings_come_back_from_text() {
    let findings = judge(&[create(FILE, 900, Sync::FileAndDirectory)], &[]);
    let text = serde_json::to_string(&findings).unwrap();
    assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), findings);
}

#[test]
fn sectors_are_told_beside_what_may_be_there() {
    let actions = [
        create(FILE, 1500, Sync::FileAndDirectory),
        Action::Overwrite { file: FILE, offset: 512, bytes: 512, version: 2, sync: Sync::None },
    ];
    let oracle = Oracle::new(&ops(&actions), SEED, ALL).unwrap();
    let path = path(FILE).unwrap();
    let told = |data: Vec<u8>| -> Vec<(u32, u32, String, String, bool)> {
        let runs = oracle.sectors(&state(1000), &seen(&[(FILE, data)]), &path);
        let of =
            |run: SectorRun| (run.from, run.sectors, run.expected, run.found, run.is_as_expected);
        runs.into_iter().map(of).collect()
    };
    let row = |from, expected: &str, found: &str, is_there| {
        (from, 1, expected.to_owned(), found.to_owned(), is_there)
    };
    let mut data = stamped(FILE, 1, 1500);
    data[..512].fill(0);
    assert_eq!(
        told(data),
        [
            row(0, "version 1", "zeros", false),
            row(1, "version 1 or version 2", "version 1", true),
            row(2, "476 bytes of version 1", "476 bytes of version 1", true),
        ]
    );
    assert_eq!(told(stamped(6, 1, 600))[0].3, "created/000006, version 1");
    let absent = oracle.sectors(&state(1000), &seen(&[]), &path);
    assert_eq!((absent[0].sectors, absent[0].found.as_str()), (0, "the name is not there"));
    assert_eq!(absent[0].expected, "the file, 1500 bytes");
    assert!(oracle.sectors(&state(1000), &seen(&[]), "none").is_empty());
}
