//! What is done to the files before the power goes: a function of kind, seed and duration.
//!
//! A plan has times and no effects. It begins with files that are made, synced and deleted, so that
//! stale bytes are known when they appear; then come the targets and journals that the kind needs,
//! and from [`Plan::begin_ns`] on the ops that are judged.

use crate::op::{Action, Sync};
use crate::stamp::SECTOR;
use fsarena_model::seed::{Seed, SeededRng};
use serde::{Deserialize, Serialize};

/// What kind of work.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Per second 20 creates of 4 to 20 KiB, 4 replaces of 8,000 B by rename over 10 targets and
    /// 5 appends of 1,000 B; nothing is synced.
    Unsynced,
    /// One of each per second, each with fsync of the file and of its directory.
    Synced,
    /// One of each per second, each with fsync of the file alone.
    FileSynced,
    /// Per second 5 messages of 1 to 12 KiB: tmp, fsync, rename to a new name, fsync of the
    /// directory; each is deleted 20 s later, which is not synced.
    MailSpool,
    /// Ten records of 512 B per second, each with fdatasync, into a preallocated journal that is
    /// written from its start again; every 64 records 8 pages of a database are written in place
    /// and synced.
    Journal,
    /// Per second 4 files of 16 to 64 KiB, made and synced with their directory; cut to a random
    /// number of their sectors 2 s later, and 1 to 16 sectors are appended 2 s after that: to every
    /// other file each with fsync, to those between without.
    Truncated,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::Unsynced,
        Self::Synced,
        Self::FileSynced,
        Self::MailSpool,
        Self::Journal,
        Self::Truncated,
    ];

    /// As it is written in experiments.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsynced => "unsynced",
            Self::Synced => "synced",
            Self::FileSynced => "file-synced",
            Self::MailSpool => "mail-spool",
            Self::Journal => "journal",
            Self::Truncated => "truncated",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// How much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Of the ops that are judged. Shorter than 120 s says little where data are written back
    /// after 30 s.
    pub duration_ns: u64,
    /// Bytes of the files that are made and deleted at the begin, in files of 1 MiB. As much as
    /// the ops will write, so that they get blocks that held something.
    pub prefill_bytes: u64,
}

/// An action and the earliest time for it, counted from the begin of the plan. Actions are done
/// one after the other, in this order, by one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    pub at_ns: u64,
    pub action: Action,
}

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Of all stamps in it.
    pub seed: u64,
    pub actions: Vec<Planned>,
    /// When the ops that are judged begin: crash times are drawn from there on. Where what comes
    /// before takes longer, from its end. Between the two the driver syncs the file system
    /// (syncfs): what is lost of the preparation says nothing about the ops.
    pub begin_ns: u64,
    /// Directories, each after the one that it is in. The driver makes them before the plan begins,
    /// and syncs them.
    pub directories: Vec<String>,
    /// Whether ops that have not begun when the time is over are left out.
    pub ends_on_time: bool,
}

/// Directories of the plans of all kinds.
pub(crate) const PREFILL_DIRECTORY: &str = "prefill";
const DIRECTORIES: [&str; 6] =
    ["created", "replaced", "appended", "spool", "journal", PREFILL_DIRECTORY];
/// Behind a name: the file that is renamed to it.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// Bits of a file's number behind those that name its directory.
const WITHIN: u32 = 24;
const CREATED: u32 = 0;
const REPLACED: u32 = 1 << WITHIN;
const APPENDED: u32 = 2 << WITHIN;
const SPOOL: u32 = 3 << WITHIN;
const JOURNAL: u32 = 4 << WITHIN;
const PREFILL: u32 = 5 << WITHIN;

const SECOND_NS: u64 = 1_000_000_000;
/// Time for what comes before the ops that are judged.
pub(crate) const BEGIN_NS: u64 = 10 * SECOND_NS;
const PREFILL_FILE_BYTES: u64 = 1 << 20;
const TARGETS: u32 = 10;
const TARGET_BYTES: u64 = 8000;
const APPENDED_FILES: u32 = 5;
const APPEND_BYTES: u64 = 1000;
const RECORD_BYTES: u64 = 512;
const RECORDS: u64 = 512;
const RECORDS_PER_CHECKPOINT: u64 = 64;
const PAGE_BYTES: u64 = 4096;
const PAGES: u64 = 64;
const PAGES_PER_CHECKPOINT: u64 = 8;

/// Marks files of phases: their numbers have a directory in its 12 bits below, then a bit for a
/// temporary file beside the others, and 17 bits for the file in its directory.
const PHASES: u32 = 1 << 31;
/// Of a file of phases, whether its second name is meant.
const SECOND_NAME: u32 = 1 << 30;
const DIRECTORY: u32 = 18;
const BESIDE: u32 = 1 << 17;
/// The directory of all files of phases.
pub(crate) const PHASES_DIRECTORY: &str = "phases";
/// Directories that phases can have, and files in each.
pub(crate) const PHASE_DIRECTORIES_MOST: u32 = (1 << 12) - 1;
pub(crate) const PHASE_FILES_MOST: u32 = BESIDE;

/// The number of a file of phases: `directory` counted from 1, 0 for none.
pub(crate) fn phase_file(directory: u32, file: u32) -> u32 {
    PHASES | directory << DIRECTORY | file
}

/// The directory of a file of phases.
pub(crate) fn directory_of(file: u32) -> u32 {
    file >> DIRECTORY & PHASE_DIRECTORIES_MOST
}

/// The number of a temporary file beside a file of phases.
pub(crate) fn beside(file: u32) -> u32 {
    identity(file) | BESIDE
}

/// The number of a file of phases under its other name.
#[must_use]
pub fn other_name(file: u32) -> u32 {
    file ^ SECOND_NAME
}

/// Whether the number is that of a file under its second name.
#[must_use]
pub fn has_second_name(file: u32) -> bool {
    file & PHASES != 0 && file & SECOND_NAME != 0
}

/// The number of the file under its first name, which is that in its stamps.
#[must_use]
pub fn identity(file: u32) -> u32 {
    if has_second_name(file) { other_name(file) } else { file }
}

/// A directory of phases: one below [`PHASES_DIRECTORY`], or that itself.
pub(crate) fn phase_directory(directory: u32) -> String {
    match directory {
        0 => PHASES_DIRECTORY.to_owned(),
        number => format!("{PHASES_DIRECTORY}/d{number:04}"),
    }
}

/// The path of a file, from the root of the file system under test. `None`: no plan has it.
#[must_use]
pub fn path(file: u32) -> Option<String> {
    if file & PHASES != 0 {
        let directory = phase_directory(directory_of(file));
        let letter = match (file & BESIDE != 0, file & SECOND_NAME != 0) {
            (false, false) => 'f',
            (false, true) => 'r',
            (true, false) => 't',
            (true, true) => return None,
        };
        return Some(format!("{directory}/{letter}{:06}", file & (BESIDE - 1)));
    }
    let directory = DIRECTORIES.get((file >> WITHIN) as usize)?;
    Some(format!("{directory}/{:06}", file & ((1 << WITHIN) - 1)))
}

/// The file of a path, and whether it is the temporary one that is renamed to it.
#[must_use]
pub fn file_of(path: &str) -> Option<NamedFile> {
    let stem = path.strip_suffix(TEMPORARY_SUFFIX);
    let (directory, name) = stem.unwrap_or(path).split_once('/')?;
    let file = if directory == PHASES_DIRECTORY {
        phase_file_of(name)?
    } else {
        let class = DIRECTORIES.iter().position(|known| *known == directory)?;
        let within = name.parse().ok().filter(|number: &u32| *number < 1 << WITHIN)?;
        u32::try_from(class).ok()? << WITHIN | within
    };
    (self::path(file).as_deref() == Some(stem.unwrap_or(path)))
        .then_some(NamedFile { file, is_temporary: stem.is_some() })
}

/// The number of what is below the directory of phases; it may be of another path.
fn phase_file_of(below: &str) -> Option<u32> {
    let (directory, name) = match below.split_once('/') {
        Some((directory, name)) => (directory.strip_prefix('d')?.parse().ok()?, name),
        None => (0, below),
    };
    let letter = name.chars().next()?;
    let number = name.get(1..)?.parse().ok().filter(|number: &u32| *number < BESIDE)?;
    let file = phase_file(u32::min(directory, PHASE_DIRECTORIES_MOST), number);
    match letter {
        'f' => Some(file),
        'r' => Some(other_name(file)),
        't' => Some(beside(file)),
        _ => None,
    }
}

/// What a path stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedFile {
    pub file: u32,
    pub is_temporary: bool,
}

/// Whether the file is one of those that were deleted before the ops began.
#[must_use]
pub fn is_prefill(file: u32) -> bool {
    file >> WITHIN == PREFILL >> WITHIN
}

/// The plan of a kind.
#[must_use]
pub fn plan(kind: Kind, seed: u64, extent: Extent) -> Plan {
    let mut rng = Seed::from_number(seed).child(kind.name(), 0).rng();
    let mut actions = Vec::new();
    prefill(extent.prefill_bytes, &mut actions);
    match kind {
        Kind::Unsynced => files(Rates::UNSYNCED, extent, &mut rng, &mut actions),
        Kind::Synced => {
            files(Rates::synced(Sync::FileAndDirectory), extent, &mut rng, &mut actions);
        }
        Kind::FileSynced => files(Rates::synced(Sync::File), extent, &mut rng, &mut actions),
        Kind::MailSpool => mail_spool(extent, &mut rng, &mut actions),
        Kind::Journal => journal(extent, &mut rng, &mut actions),
        Kind::Truncated => truncated(extent, &mut rng, &mut actions),
    }
    actions.sort_by_key(|planned| planned.at_ns);
    let directories = DIRECTORIES.map(str::to_owned).to_vec();
    Plan { seed, actions, begin_ns: BEGIN_NS, directories, ends_on_time: false }
}

/// Actions at the very begin.
fn first(actions: &mut Vec<Planned>, action: Action) {
    actions.push(Planned { at_ns: 0, action });
}

pub(crate) fn prefill(bytes: u64, actions: &mut Vec<Planned>) {
    let count = bytes.div_ceil(PREFILL_FILE_BYTES).min((1 << WITHIN) - 1) as u32;
    let sync = Sync::FileAndDirectory;
    let files = || (0..count).map(|number| PREFILL + number);
    for file in files() {
        first(actions, Action::Create { file, bytes: PREFILL_FILE_BYTES, version: 1, sync });
    }
    for file in files() {
        // The last fsync of the directory covers all of them.
        let sync = if file + 1 == PREFILL + count { sync } else { Sync::None };
        first(actions, Action::Delete { file, sync });
    }
}

/// So many a second, with this sync.
struct Rates {
    creates: u64,
    replaces: u64,
    appends: u64,
    sync: Sync,
}

impl Rates {
    const UNSYNCED: Self = Self { creates: 20, replaces: 4, appends: 5, sync: Sync::None };

    fn synced(sync: Sync) -> Self {
        Self { creates: 1, replaces: 1, appends: 1, sync }
    }
}

/// Times of something that happens so often a second: evenly, shifted by a part of the period that
/// the kind of action has for itself, so that two are not at the same time.
fn times(per_second: u64, shift_eighths: u64, duration_ns: u64) -> impl Iterator<Item = u64> {
    let period_ns = SECOND_NS / per_second;
    let first_ns = BEGIN_NS + period_ns * shift_eighths / 8;
    (0..)
        .map(move |at| first_ns + at * period_ns)
        .take_while(move |at_ns| *at_ns < BEGIN_NS.saturating_add(duration_ns))
}

/// The number of an action in its kind, as a part of a number of a file.
fn within(number: usize) -> u32 {
    number as u32 % (1 << WITHIN)
}

fn files(rates: Rates, extent: Extent, rng: &mut SeededRng, actions: &mut Vec<Planned>) {
    let sync = rates.sync;
    for target in (0..TARGETS).map(|number| REPLACED + number) {
        let (bytes, sync) = (TARGET_BYTES, Sync::FileAndDirectory);
        first(actions, Action::Create { file: target, bytes, version: 1, sync });
    }
    for file in (0..APPENDED_FILES).map(|number| APPENDED + number) {
        let sync = Sync::FileAndDirectory;
        first(actions, Action::Create { file, bytes: APPEND_BYTES, version: 1, sync });
    }
    for (number, at_ns) in times(rates.creates, 1, extent.duration_ns).enumerate() {
        let (file, bytes) = (CREATED + within(number), 4096 + rng.below(16_385));
        actions.push(Planned { at_ns, action: Action::Create { file, bytes, version: 1, sync } });
    }
    for (number, at_ns) in times(rates.replaces, 3, extent.duration_ns).enumerate() {
        let target = REPLACED + rng.below(TARGETS.into()) as u32;
        let version = number as u32 + 2;
        let action = Action::Replace { target, bytes: TARGET_BYTES, version, sync };
        actions.push(Planned { at_ns, action });
    }
    for (number, at_ns) in times(rates.appends, 6, extent.duration_ns).enumerate() {
        let file = APPENDED + number as u32 % APPENDED_FILES;
        let action = Action::Append { file, bytes: APPEND_BYTES, version: 1, sync };
        actions.push(Planned { at_ns, action });
    }
}

fn mail_spool(extent: Extent, rng: &mut SeededRng, actions: &mut Vec<Planned>) {
    const KEPT_NS: u64 = 20 * SECOND_NS;
    let end_ns = BEGIN_NS.saturating_add(extent.duration_ns);
    for (number, at_ns) in times(5, 1, extent.duration_ns).enumerate() {
        let (target, bytes) = (SPOOL + within(number), 1024 + rng.below(11_265));
        let sync = Sync::FileAndDirectory;
        actions
            .push(Planned { at_ns, action: Action::Replace { target, bytes, version: 1, sync } });
        // Between two deliveries.
        let at_ns = at_ns + KEPT_NS + SECOND_NS / 10;
        if at_ns < end_ns {
            let action = Action::Delete { file: target, sync: Sync::None };
            actions.push(Planned { at_ns, action });
        }
    }
}

fn truncated(extent: Extent, rng: &mut SeededRng, actions: &mut Vec<Planned>) {
    const BETWEEN_NS: u64 = 2 * SECOND_NS;
    let end_ns = BEGIN_NS.saturating_add(extent.duration_ns);
    for (number, at_ns) in times(4, 1, extent.duration_ns).enumerate() {
        let (file, sectors) = (CREATED + within(number), 32 + rng.below(97));
        let sync = if number.is_multiple_of(2) { Sync::File } else { Sync::None };
        // Borders of sectors, most of them within a block: its rest has to be zeros.
        let (kept, appended) = (rng.below(sectors), 1 + rng.below(16));
        let bytes = |sectors: u64| sectors * SECTOR as u64;
        let both = Sync::FileAndDirectory;
        let steps = [
            Action::Create { file, bytes: bytes(sectors), version: 1, sync: both },
            Action::Truncate { file, bytes: bytes(kept), sync },
            Action::Append { file, bytes: bytes(appended), version: 2, sync },
        ];
        for (step, action) in (0..).zip(steps) {
            let at_ns = at_ns + step * (BETWEEN_NS + SECOND_NS / 12);
            if at_ns < end_ns {
                actions.push(Planned { at_ns, action });
            }
        }
    }
}

fn journal(extent: Extent, rng: &mut SeededRng, actions: &mut Vec<Planned>) {
    let (log, pages, sync) = (JOURNAL, JOURNAL + 1, Sync::FileAndDirectory);
    first(actions, Action::Preallocate { file: log, bytes: RECORD_BYTES * RECORDS, sync });
    let bytes = PAGE_BYTES * PAGES;
    first(actions, Action::Create { file: pages, bytes, version: 1, sync });
    for (number, at_ns) in times(10, 1, extent.duration_ns).enumerate() {
        let number = number as u64;
        let (offset, version) = (number % RECORDS * RECORD_BYTES, 1 + (number / RECORDS) as u32);
        let action =
            Action::Overwrite { file: log, offset, bytes: RECORD_BYTES, version, sync: Sync::Data };
        actions.push(Planned { at_ns, action });
        if (number + 1).is_multiple_of(RECORDS_PER_CHECKPOINT) {
            let version = 1 + ((number + 1) / RECORDS_PER_CHECKPOINT) as u32;
            checkpoint(pages, version, at_ns + SECOND_NS / 20, rng, actions);
        }
    }
}

/// Pages are written in place; the last write is followed by fsync, which covers them all.
fn checkpoint(
    file: u32,
    version: u32,
    at_ns: u64,
    rng: &mut SeededRng,
    actions: &mut Vec<Planned>,
) {
    let mut pages: Vec<u64> = (0..PAGES).collect();
    rng.shuffle(&mut pages);
    for (at, page) in pages.iter().take(PAGES_PER_CHECKPOINT as usize).enumerate() {
        let is_last = at as u64 + 1 == PAGES_PER_CHECKPOINT;
        let action = Action::Overwrite {
            file,
            offset: page * PAGE_BYTES,
            bytes: PAGE_BYTES,
            version,
            sync: if is_last { Sync::File } else { Sync::None },
        };
        actions.push(Planned { at_ns, action });
    }
}

/// What the plan would leave, with each op after the other.
#[cfg(test)]
pub(crate) fn history_of(
    plan: &Plan,
) -> Result<crate::history::History, crate::history::HistoryError> {
    let op = |(planned, at): (&Planned, u64)| crate::op::Op {
        action: planned.action.clone(),
        begin_ns: at * 10,
        end_ns: at * 10 + 5,
        error: None,
    };
    let ops: Vec<crate::op::Op> = plan.actions.iter().zip(0..).map(op).collect();
    crate::history::History::new(&ops, plan.seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTENT: Extent = Extent { duration_ns: 60 * SECOND_NS, prefill_bytes: 3 << 20 };

    fn count(plan: &Plan, counts: impl Fn(&Action) -> bool) -> usize {
        let judged = plan.actions.iter().filter(|planned| planned.at_ns >= plan.begin_ns);
        judged.filter(|planned| counts(&planned.action)).count()
    }

    #[test]
    fn plans_are_a_function_of_the_seed_and_keep_the_rules_of_actions() {
        for kind in Kind::ALL {
            let made = plan(kind, 7, EXTENT);
            assert_eq!(made, plan(kind, 7, EXTENT));
            assert_ne!(made.actions, plan(kind, 8, EXTENT).actions, "{kind:?}");
            assert!(made.actions.is_sorted_by_key(|planned| planned.at_ns));
            assert!(history_of(&made).is_ok(), "{kind:?}: {:?}", history_of(&made).err());
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
        }
    }

    #[test]
    fn rates_are_those_of_the_text() {
        let made = plan(Kind::Unsynced, 7, EXTENT);
        assert_eq!(count(&made, |action| action.sync() != Sync::None), 0);
        assert_eq!(count(&made, |action| matches!(action, Action::Create { .. })), 1200);
        assert_eq!(count(&made, |action| matches!(action, Action::Replace { .. })), 240);
        assert_eq!(count(&made, |action| matches!(action, Action::Append { .. })), 300);
        let sizes: Vec<u64> = (made.actions.iter())
            .filter_map(|planned| match planned.action {
                Action::Create { file, bytes, .. } if file >> WITHIN == 0 => Some(bytes),
                _ => None,
            })
            .collect();
        assert!(sizes.iter().all(|bytes| (4096..=20_480).contains(bytes)));
        assert!(sizes.iter().max() > Some(&20_000) && sizes.iter().min() < Some(&4_500));
        for (kind, sync) in [(Kind::Synced, Sync::FileAndDirectory), (Kind::FileSynced, Sync::File)]
        {
            let made = plan(kind, 7, EXTENT);
            assert_eq!(count(&made, |action| action.sync() == sync), 180);
            assert_eq!(count(&made, |_| true), 180);
        }
        let made = plan(Kind::MailSpool, 7, EXTENT);
        assert_eq!(count(&made, |action| matches!(action, Action::Replace { .. })), 300);
        assert_eq!(count(&made, |action| matches!(action, Action::Delete { .. })), 200);
        let made = plan(Kind::Journal, 7, EXTENT);
        assert_eq!(count(&made, |action| action.sync() == Sync::Data), 600);
        assert_eq!(count(&made, |action| action.sync() == Sync::File), 9);
        let made = plan(Kind::Truncated, 7, EXTENT);
        assert_eq!(count(&made, |action| matches!(action, Action::Create { .. })), 240);
        let cut = |action: &Action| matches!(action, Action::Truncate { .. });
        assert!((230..234).contains(&count(&made, cut)));
        let half = count(&made, |action| cut(action) && action.sync() == Sync::File);
        assert!(half.abs_diff(count(&made, cut) / 2) <= 1, "every other one: {half}");
    }

    #[test]
    fn the_prefill_is_gone_before_the_ops_begin() {
        let made = plan(Kind::Synced, 7, EXTENT);
        let prefill = || made.actions.iter().filter(|planned| is_prefill(planned.action.file()));
        assert_eq!(prefill().count(), 6);
        assert!(prefill().all(|planned| planned.at_ns == 0));
        assert_eq!(prefill().next_back().unwrap().action.sync(), Sync::FileAndDirectory);
    }

    #[test]
    fn paths_and_files_belong_together() {
        for file in [CREATED + 12, REPLACED, SPOOL + 7, PREFILL + 2] {
            let name = path(file).unwrap();
            assert_eq!(file_of(&name), Some(NamedFile { file, is_temporary: false }));
            let temporary = file_of(&(name + TEMPORARY_SUFFIX));
            assert_eq!(temporary, Some(NamedFile { file, is_temporary: true }));
        }
        let file = phase_file(12, 17);
        let names = [file, other_name(file), beside(file), phase_file(0, 3)].map(|it| {
            let name = path(it).unwrap();
            assert_eq!(file_of(&name).map(|named| named.file), Some(it));
            name
        });
        let seen = ["phases/d0012/f000017", "phases/d0012/r000017", "phases/d0012/t000017"];
        assert_eq!((&names[..3], &*names[3]), (&seen.map(str::to_owned)[..], "phases/f000003"));
        assert_eq!([file, other_name(file)].map(identity), [file, file]);
        for other in
            ["phases/d0012/x000017", "phases/d12/f000017", "phases/", "phases/d9999/f000001"]
        {
            assert_eq!(file_of(other), None, "{other}");
        }
        assert_eq!(path(REPLACED + 3).as_deref(), Some("replaced/000003"));
        assert_eq!(path(9 << WITHIN), None);
        for other in ["lost+found/x", "created", "created/12", "created/+00012", "created/x.tmp"] {
            assert_eq!(file_of(other), None, "{other}");
        }
    }
}
