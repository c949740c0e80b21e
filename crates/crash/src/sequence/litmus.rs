//! Small programs that ask what of unsynced work may be seen after a power cut.
//!
//! After Ferrite (Bornholt and others, ASPLOS 2016): their questions are whether an append leaves a
//! prefix of what was written, and whether a rename over a file, or to a new name, leaves a whole
//! one. Nobody promises an answer but for what a file system documents; each is asked at all states
//! of a minute after the work, with other sizes and times for each seed.

use super::op::{Extent, FileOp, byte_at};
use super::tree::{NodeKind, TreeEntry, TreeObservation, bytes_of_runs};
use fsarena_model::seed::{Seed, SeededRng};
use serde::{Deserialize, Serialize};

const SECOND_NS: u64 = 1_000_000_000;
/// Data are written back after 30 s, and a commit comes up to 30 s later.
const AFTER_NS: u64 = 65 * SECOND_NS;
/// What was there before.
const OLD: u8 = 1;
/// What is written.
const NEW: u8 = 2;
const FILE: &str = "file";
const TEMPORARY: &str = "temporary";
const BESIDE: &str = "beside";
const FILLER: &str = "filler";
const FILLER_BYTES: u64 = 4 << 20;

/// A program and its question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Litmus {
    /// A file that is synced is appended to: is there a prefix of all, at least what was synced?
    PrefixAppend,
    /// A new file is renamed over one that is synced: is it the old or the new one, whole?
    ReplaceViaRename,
    /// A new file is renamed to a new name: is it absent, or whole?
    CreateViaRename,
    /// As `ReplaceViaRename`, with fsync of the new file before. Must hold everywhere.
    ReplaceAfterFsync,
}

/// What was seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LitmusOutcome {
    Old,
    New,
    /// Between the two: a prefix of what was appended.
    Prefix,
    /// There is none, where none was before.
    Absent,
    /// There is none, and there was one.
    Lost,
    ZeroLength,
    /// Zeros where bytes should be.
    Zeros,
    /// Shorter, though whole was asked for.
    Partial,
    /// Other bytes.
    Other,
}

impl LitmusOutcome {
    /// Whether the answer of the program is yes.
    #[must_use]
    pub fn holds(self) -> bool {
        matches!(self, Self::Old | Self::New | Self::Prefix | Self::Absent)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
            Self::Prefix => "a prefix",
            Self::Absent => "absent",
            Self::Lost => "lost",
            Self::ZeroLength => "of length zero",
            Self::Zeros => "zeros",
            Self::Partial => "a part",
            Self::Other => "other bytes",
        }
    }
}

impl Litmus {
    pub const ALL: [Self; 4] = [
        Self::PrefixAppend,
        Self::ReplaceViaRename,
        Self::CreateViaRename,
        Self::ReplaceAfterFsync,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PrefixAppend => "prefix-append",
            Self::ReplaceViaRename => "replace-via-rename",
            Self::CreateViaRename => "create-via-rename",
            Self::ReplaceAfterFsync => "replace-after-fsync",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The program of a seed: sizes, and times between its parts. In every second one another file
    /// is synced after some seconds, which makes a journal be committed.
    #[must_use]
    pub fn program(self, seed: u64) -> LitmusProgram {
        let mut rng = Seed::from_number(seed).child(self.name(), 0).rng();
        let old_bytes = 1 + rng.below(6000);
        let new_bytes = 1 + rng.below(12_000);
        let mut ops = Vec::new();
        // Of a disk to which nothing was ever written the kernel writes back at once.
        written(&mut ops, FILLER, Extent { offset: 0, bytes: FILLER_BYTES, fill: OLD });
        ops.extend([FileOp::Sync, FileOp::Unlink { file: FILLER.to_owned() }]);
        if self != Self::CreateViaRename {
            written(&mut ops, FILE, Extent { offset: 0, bytes: old_bytes, fill: OLD });
        }
        ops.push(FileOp::Sync);
        let asked_from = ops.len();
        sleep(&mut ops, &mut rng, 5);
        if self == Self::PrefixAppend {
            written(&mut ops, FILE, Extent { offset: old_bytes, bytes: new_bytes, fill: NEW });
        } else {
            written(&mut ops, TEMPORARY, Extent { offset: 0, bytes: new_bytes, fill: NEW });
            if self == Self::ReplaceAfterFsync {
                ops.push(FileOp::Fsync { path: TEMPORARY.to_owned() });
            }
            ops.push(FileOp::Rename { from: TEMPORARY.to_owned(), to: FILE.to_owned() });
        }
        if seed.is_multiple_of(2) {
            sleep(&mut ops, &mut rng, 30);
            written(&mut ops, BESIDE, Extent { offset: 0, bytes: 100, fill: OLD });
            ops.push(FileOp::Fsync { path: BESIDE.to_owned() });
        }
        ops.push(FileOp::Sleep { duration_ns: AFTER_NS });
        LitmusProgram { ops, asked_from, old_bytes, new_bytes }
    }

    /// What is seen of it in a state after the preparation.
    #[must_use]
    pub fn outcome(self, program: &LitmusProgram, seen: &TreeObservation) -> LitmusOutcome {
        let found = seen.find(FILE);
        let (old, new) = (program.old_bytes as usize, program.new_bytes as usize);
        match (self, found) {
            (Self::CreateViaRename, None) => LitmusOutcome::Absent,
            (_, None) => LitmusOutcome::Lost,
            (_, Some(entry)) if entry.kind != NodeKind::File || entry.errno.is_some() => {
                LitmusOutcome::Other
            }
            (Self::PrefixAppend, Some(entry)) => {
                let fill = |at: usize| byte_at(if at < old { OLD } else { NEW }, at as u64);
                let whole: Vec<u8> = (0..old + new).map(fill).collect();
                let data = bytes_of_runs(&entry.contents);
                match data.len() {
                    size if size < old => shorter(&data),
                    size if data != whole.get(..size).unwrap_or(&[]) => wrong(&data, &whole),
                    size if size == old => LitmusOutcome::Old,
                    size if size == old + new => LitmusOutcome::New,
                    _ => LitmusOutcome::Prefix,
                }
            }
            (_, Some(entry)) => whole_of(self, entry, old, new),
        }
    }
}

/// A litmus program of one seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LitmusProgram {
    pub ops: Vec<FileOp>,
    /// So many operations prepare it, the last of which is a sync; states count after them.
    pub asked_from: usize,
    pub old_bytes: u64,
    pub new_bytes: u64,
}

fn written(ops: &mut Vec<FileOp>, file: &str, extent: Extent) {
    let file = || file.to_owned();
    ops.push(FileOp::Open { file: file() });
    ops.push(FileOp::Write { file: file(), extent });
    ops.push(FileOp::Close { file: file() });
}

/// Up to so many seconds.
fn sleep(ops: &mut Vec<FileOp>, rng: &mut SeededRng, most_s: u64) {
    ops.push(FileOp::Sleep { duration_ns: rng.below(most_s * SECOND_NS) });
}

fn whole_of(litmus: Litmus, entry: &TreeEntry, old: usize, new: usize) -> LitmusOutcome {
    let data = bytes_of_runs(&entry.contents);
    let of = |fill: u8, bytes: usize| -> Vec<u8> {
        (0..bytes).map(|at| byte_at(fill, at as u64)).collect()
    };
    let whole = of(NEW, new);
    if data == whole {
        LitmusOutcome::New
    } else if litmus != Litmus::CreateViaRename && data == of(OLD, old) {
        LitmusOutcome::Old
    } else if data.len() < new {
        shorter(&data)
    } else {
        wrong(&data, &whole)
    }
}

fn shorter(data: &[u8]) -> LitmusOutcome {
    match data {
        [] => LitmusOutcome::ZeroLength,
        _ if data.iter().all(|byte| *byte == 0) => LitmusOutcome::Zeros,
        _ => LitmusOutcome::Partial,
    }
}

/// Of one that has another byte in some place.
fn wrong(data: &[u8], whole: &[u8]) -> LitmusOutcome {
    let mut differing = (0..data.len()).filter(|at| whole.get(*at) != Some(&data[*at]));
    if differing.all(|at| data[at] == 0) { LitmusOutcome::Zeros } else { LitmusOutcome::Other }
}

#[cfg(test)]
mod tests {
    use super::super::model::History;
    use super::super::tree::{ByteRun, runs_of};
    use super::*;

    fn seen(data: Option<Vec<u8>>) -> TreeObservation {
        let entry = |data: Vec<u8>| TreeEntry {
            path: FILE.to_owned(),
            kind: NodeKind::File,
            inode: 12,
            links: 1,
            size_bytes: data.len() as u64,
            allocated_bytes: 4096,
            contents: runs_of(&data),
            attribute: None,
            target: None,
            errno: None,
        };
        let entries = data.into_iter().map(entry).collect();
        TreeObservation { entries, ..TreeObservation::default() }
    }

    fn data_of(fill: u8, from: u64, to: u64) -> Vec<u8> {
        (from..to).map(|at| byte_at(fill, at)).collect()
    }

    #[test]
    fn programs_are_of_their_seeds_and_work() {
        for litmus in Litmus::ALL {
            assert_eq!(Litmus::from_name(litmus.name()), Some(litmus));
            assert_eq!(litmus.program(3), litmus.program(3));
            assert_ne!(litmus.program(3), litmus.program(5));
            for seed in 0..3 {
                let program = litmus.program(seed);
                assert!(History::new(&program.ops).is_ok(), "{litmus:?}");
                assert_eq!(program.ops[program.asked_from - 1], FileOp::Sync);
            }
        }
    }

    #[test]
    fn an_append_holds_where_a_prefix_is_there() {
        let program = Litmus::PrefixAppend.program(1);
        let (old, all) = (program.old_bytes, program.old_bytes + program.new_bytes);
        let whole = [data_of(OLD, 0, old), data_of(NEW, old, all)].concat();
        let outcome = |data| Litmus::PrefixAppend.outcome(&program, &seen(data));
        assert_eq!(outcome(Some(whole.clone())), LitmusOutcome::New);
        assert_eq!(outcome(Some(whole[..old as usize].to_vec())), LitmusOutcome::Old);
        assert_eq!(outcome(Some(whole[..all as usize - 1].to_vec())), LitmusOutcome::Prefix);
        let mut holed = whole.clone();
        holed[old as usize..].fill(0);
        assert_eq!(outcome(Some(holed)), LitmusOutcome::Zeros);
        let mut torn = whole;
        torn[all as usize - 1] ^= 1;
        assert_eq!(outcome(Some(torn)), LitmusOutcome::Other);
        assert_eq!(outcome(Some(Vec::new())), LitmusOutcome::ZeroLength);
        assert_eq!(outcome(None), LitmusOutcome::Lost);
        assert!(!LitmusOutcome::Lost.holds() && LitmusOutcome::Prefix.holds());
    }

    #[test]
    fn a_rename_holds_where_one_of_both_is_there_whole() {
        let program = Litmus::ReplaceViaRename.program(4);
        let outcome = |data| Litmus::ReplaceViaRename.outcome(&program, &seen(data));
        let (old, new) = (data_of(OLD, 0, program.old_bytes), data_of(NEW, 0, program.new_bytes));
        assert_eq!(outcome(Some(old.clone())), LitmusOutcome::Old);
        assert_eq!(outcome(Some(new.clone())), LitmusOutcome::New);
        assert_eq!(outcome(Some(vec![0; new.len()])), LitmusOutcome::Zeros);
        assert_eq!(outcome(Some(Vec::new())), LitmusOutcome::ZeroLength);
        let created = |data| Litmus::CreateViaRename.outcome(&program, &seen(data));
        assert_eq!(created(None), LitmusOutcome::Absent);
        assert_eq!(created(Some(new)), LitmusOutcome::New);
        assert!(!created(Some(old)).holds());
        assert_eq!(runs_of(&[7, 7, 0]), [ByteRun(2, 7), ByteRun(1, 0)]);
    }
}
