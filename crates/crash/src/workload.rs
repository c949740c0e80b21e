//! What is done to the files before the power goes: a function of kind, seed and duration.
//!
//! A plan has times and no effects. It begins with files that are made, synced and deleted, so that
//! stale bytes are known when they appear; then come the targets and journals that the kind needs,
//! and from [`Plan::begin_ns`] on the ops that are judged. A kind is a file of `crash-workloads/`
//! and its line in `builtin`.

mod builtin;
mod description;
mod names;
mod planned;

pub use builtin::Kind;
pub use names::{
    NamedFile, TEMPORARY_SUFFIX, file_of, has_second_name, identity, is_prefill, other_name, path,
};
pub(crate) use names::{
    PHASE_DIRECTORIES_MOST, PHASE_FILES_MOST, PREFILL_DIRECTORY, beside, directory_of,
    phase_directory, phase_file,
};
pub(crate) use planned::BEGIN_NS;
pub use planned::{Extent, Planned};

use crate::op::{Action, Sync};
use fsarena_model::seed::Seed;
use names::{DIRECTORIES, PREFILL, WITHIN};

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

const PREFILL_FILE_BYTES: u64 = 1 << 20;

/// The plan of a kind.
#[must_use]
pub fn plan(kind: Kind, seed: u64, extent: Extent) -> Plan {
    let mut rng = Seed::from_number(seed).child(kind.name(), 0).rng();
    let mut actions = Vec::new();
    prefill(extent.prefill_bytes, &mut actions);
    kind.0.actions(extent, &mut rng, &mut actions);
    actions.sort_by_key(|planned| planned.at_ns);
    let directories = DIRECTORIES.map(str::to_owned).to_vec();
    Plan { seed, actions, begin_ns: BEGIN_NS, directories, ends_on_time: false }
}

/// Files that are made, synced and deleted at the very begin.
pub(crate) fn prefill(bytes: u64, actions: &mut Vec<Planned>) {
    let mut first = |action| actions.push(Planned { at_ns: 0, action });
    let count = bytes.div_ceil(PREFILL_FILE_BYTES).min((1 << WITHIN) - 1) as u32;
    let sync = Sync::FileAndDirectory;
    let files = || (0..count).map(|number| PREFILL + number);
    for file in files() {
        first(Action::Create { file, bytes: PREFILL_FILE_BYTES, version: 1, sync });
    }
    for file in files() {
        // The last fsync of the directory covers all of them.
        let sync = if file + 1 == PREFILL + count { sync } else { Sync::None };
        first(Action::Delete { file, sync });
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

    const SECOND_NS: u64 = 1_000_000_000;
    const EXTENT: Extent = Extent { duration_ns: 60 * SECOND_NS, prefill_bytes: 3 << 20 };

    fn kind(name: &str) -> Kind {
        Kind::from_name(name).unwrap()
    }

    fn count(plan: &Plan, counts: impl Fn(&Action) -> bool) -> usize {
        let judged = plan.actions.iter().filter(|planned| planned.at_ns >= plan.begin_ns);
        judged.filter(|planned| counts(&planned.action)).count()
    }

    #[test]
    fn plans_are_a_function_of_the_seed_and_keep_the_rules_of_actions() {
        for kind in Kind::all() {
            let made = plan(kind, 7, EXTENT);
            assert_eq!(made, plan(kind, 7, EXTENT));
            assert_ne!(made.actions, plan(kind, 8, EXTENT).actions, "{kind:?}");
            assert!(made.actions.is_sorted_by_key(|planned| planned.at_ns));
            assert!(history_of(&made).is_ok(), "{kind:?}: {:?}", history_of(&made).err());
        }
    }

    /// As they were before the kinds were files: `run --resume` computes the same plans anew.
    #[test]
    fn plans_stay_as_they_are() {
        let extent = Extent { duration_ns: 90 * SECOND_NS, prefill_bytes: 3 << 20 };
        let line = |kind: Kind| {
            let actions = plan(kind, 7, extent).actions;
            let planned: Vec<_> = actions.iter().map(|one| (one.at_ns, &one.action)).collect();
            let text = serde_json::to_string(&planned).unwrap();
            let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, fold);
            format!("{} {hash:016x}", kind.name())
        };
        let lines: Vec<String> = Kind::all().map(line).collect();
        let before = [
            "unsynced 026ae1d8c1b97f6b",
            "synced affd6efbc11ca153",
            "file-synced bd0485feee868470",
            "mail-spool a4e2dc265f6f2d9e",
            "journal bfb9a6c212ac83f2",
            "truncated 9b046044d6a18925",
        ];
        assert_eq!(lines, before);
    }

    #[test]
    fn rates_are_those_of_the_text() {
        let made = plan(kind("unsynced"), 7, EXTENT);
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
        for (kind, sync) in
            [(kind("synced"), Sync::FileAndDirectory), (kind("file-synced"), Sync::File)]
        {
            let made = plan(kind, 7, EXTENT);
            assert_eq!(count(&made, |action| action.sync() == sync), 180);
            assert_eq!(count(&made, |_| true), 180);
        }
        let made = plan(kind("mail-spool"), 7, EXTENT);
        assert_eq!(count(&made, |action| matches!(action, Action::Replace { .. })), 300);
        assert_eq!(count(&made, |action| matches!(action, Action::Delete { .. })), 200);
        let made = plan(kind("journal"), 7, EXTENT);
        assert_eq!(count(&made, |action| action.sync() == Sync::Data), 600);
        assert_eq!(count(&made, |action| action.sync() == Sync::File), 9);
        let made = plan(kind("truncated"), 7, EXTENT);
        assert_eq!(count(&made, |action| matches!(action, Action::Create { .. })), 240);
        let cut = |action: &Action| matches!(action, Action::Truncate { .. });
        assert!((230..234).contains(&count(&made, cut)));
        let half = count(&made, |action| cut(action) && action.sync() == Sync::File);
        assert!(half.abs_diff(count(&made, cut) / 2) <= 1, "every other one: {half}");
    }

    #[test]
    fn the_prefill_is_gone_before_the_ops_begin() {
        let made = plan(kind("synced"), 7, EXTENT);
        let prefill = || made.actions.iter().filter(|planned| is_prefill(planned.action.file()));
        assert_eq!(prefill().count(), 6);
        assert!(prefill().all(|planned| planned.at_ns == 0));
        assert_eq!(prefill().next_back().unwrap().action.sync(), Sync::FileAndDirectory);
    }
}
