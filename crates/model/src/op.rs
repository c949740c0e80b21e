//! What an op is: one table, a row an op.
//!
//! The plan, the executor, the engine and the reports ask the row of an op and know no op by
//! itself: an op is a row here, its loop and its io_uring action in the engine
//! (`docs/architecture.md`, "One new thing, one new file").

use crate::JsonSchema;
use crate::io::Sharing;
use crate::state::{DatasetState, Effect};
use serde::{Deserialize, Serialize};

/// One operation of a phase. What it does is in its row of [`OPS`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// open(`O_CREAT|O_WRONLY|O_EXCL`), write, close; one op a file.
    Create,
    /// open(`O_RDONLY`), read, close; one op a file.
    Read,
    /// open(`O_WRONLY`), written over in place from start to end, close; one op a file.
    Overwrite,
    /// open(`O_WRONLY|O_APPEND`), one write of the block size, close; one op a file.
    Append,
    /// open(`O_WRONLY`), ftruncate to the block size where it is longer, close; one op a file.
    Truncate,
    /// open(`O_CREAT|O_WRONLY|O_EXCL`), fallocate of its size, close; one op a file.
    Fallocate,
    /// stat; one op a file.
    Stat,
    /// rename within its directory; one op a file.
    Rename,
    /// link to a second name in its directory; one op a file.
    Link,
    /// symlink to its name in its directory; one op a file.
    Symlink,
    /// setxattr of `user.fsarena`, a value of the block size; one op a file.
    Setxattr,
    /// getxattr of it; one op a file.
    Getxattr,
    /// unlink, also of the links that earlier phases made; one op a file.
    Delete,
    /// mkdir, from the root to the leaves; one op a directory.
    Mkdir,
    /// open of a directory, getdents64 to its end, close; one op a directory.
    List,
    /// The tree walked as find(1) does: getdents64 of each directory, statx of each entry, compared
    /// with a size and a moment; one op an entry.
    Find,
    /// rmdir, from the leaves to the root; one op a directory.
    Rmdir,
    /// Each file written from its start to its end; one op a write call.
    BigWrite,
    /// Each file read from its start to its end; one op a read call.
    BigRead,
    /// Each file written over in place from start to end; one op a write call.
    BigOverwrite,
    /// Blocks of the files read in random order; one op a block.
    #[serde(rename = "randread")]
    RandRead,
    /// Blocks of the files written over in random order; one op a block.
    #[serde(rename = "randwrite")]
    RandWrite,
    /// Random reads and writes in a stated mixture; one op a block.
    #[serde(rename = "randrw")]
    RandRw,
    /// Blocks of the files given back in random order (fallocate with `PUNCH_HOLE`), as a
    /// hypervisor does it for a guest that discards; they read as zeros. One op a block.
    #[serde(rename = "randtrim")]
    RandTrim,
    /// Many files updated every period; how, the phase's cycle says. One op a file and cycle.
    Cycle,
    /// A job of a fio job file.
    Fio,
    /// Real work on a tree or an archive; what, the phase's job says.
    Job,
    /// The work of another application, watched while it runs.
    Watched,
}

/// What one op is done to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A file.
    File,
    /// A directory.
    Dir,
    /// A call of reading or writing.
    Call,
    /// A file, directory or symbolic link of a tree.
    Entry,
}

/// How many ops a phase has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// One a file.
    Files,
    /// One a directory; `with_root`: where there is none, the root of the dataset is one.
    Dirs {
        /// Whether the root counts.
        with_root: bool,
    },
    /// One an entry of the tree: files and directories.
    Entries,
    /// One a call, each file from its start to its end.
    Calls,
    /// One a whole block of all files, in random order, or as many as the phase says.
    Blocks,
    /// One a file and cycle.
    Cycles,
    /// Known only when they have been done.
    Unknown,
}

/// What `bs` of a phase says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockSize {
    /// Bytes of one call, which the workload may say for all phases.
    Call,
    /// How long a file is afterwards.
    Length,
    /// Bytes of a value that is stored with each file.
    Value,
    /// How long the files are that are looked for; 0: as long as the largest of the dataset.
    Match,
}

/// What a phase must have had from the device to be called cold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColdNeed {
    /// Nothing that was written before.
    Nothing,
    /// Some metadata.
    Metadata,
    /// All contents.
    Contents,
    /// The blocks that it meets, each once.
    Blocks,
    /// Of these, as many bytes as it read.
    BlocksRead,
    /// Metadata, where it has read anything.
    MetadataIfRead,
}

/// What the rate of a phase counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateKind {
    /// Nothing: the time itself is the figure.
    Time,
    /// Its ops.
    Ops,
    /// Its ops, or bytes of contents where these are large.
    Contents,
}

/// What a phase writes over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rewrites {
    /// Nothing.
    Nothing,
    /// All contents once.
    Contents,
    /// A block an op.
    Blocks,
    /// The files of each cycle.
    Cycles,
}

/// Names, inodes and blocks that a phase adds to each file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Adds {
    /// Entries of its directory.
    pub names: u64,
    /// Inodes.
    pub inodes: u64,
    /// Whether a value of the block size is stored with the file.
    pub value: bool,
}

/// An opcode of io_uring(7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opcode {
    /// Its number (`enum io_uring_op` of linux/io_uring.h).
    pub code: u8,
    /// Its name, and the first kernel that has it.
    pub name: &'static str,
}

/// Opcodes of io_uring that ops need.
pub mod opcodes {
    use super::Opcode;

    /// fsync(2).
    pub const FSYNC: Opcode = Opcode { code: 3, name: "IORING_OP_FSYNC (Linux 5.1)" };
    /// fallocate(2).
    pub const FALLOCATE: Opcode = Opcode { code: 17, name: "IORING_OP_FALLOCATE (Linux 5.6)" };
    /// openat(2).
    pub const OPENAT: Opcode = Opcode { code: 18, name: "IORING_OP_OPENAT (Linux 5.6)" };
    /// close(2).
    pub const CLOSE: Opcode = Opcode { code: 19, name: "IORING_OP_CLOSE (Linux 5.6)" };
    /// statx(2).
    pub const STATX: Opcode = Opcode { code: 21, name: "IORING_OP_STATX (Linux 5.6)" };
    /// pread(2).
    pub const READ: Opcode = Opcode { code: 22, name: "IORING_OP_READ (Linux 5.6)" };
    /// pwrite(2).
    pub const WRITE: Opcode = Opcode { code: 23, name: "IORING_OP_WRITE (Linux 5.6)" };
    /// renameat2(2).
    pub const RENAMEAT: Opcode = Opcode { code: 35, name: "IORING_OP_RENAMEAT (Linux 5.11)" };
    /// unlinkat(2).
    pub const UNLINKAT: Opcode = Opcode { code: 36, name: "IORING_OP_UNLINKAT (Linux 5.11)" };
    /// mkdirat(2).
    pub const MKDIRAT: Opcode = Opcode { code: 37, name: "IORING_OP_MKDIRAT (Linux 5.15)" };
    /// symlinkat(2).
    pub const SYMLINKAT: Opcode = Opcode { code: 38, name: "IORING_OP_SYMLINKAT (Linux 5.15)" };
    /// linkat(2).
    pub const LINKAT: Opcode = Opcode { code: 39, name: "IORING_OP_LINKAT (Linux 5.15)" };
    /// setxattr(2).
    pub const SETXATTR: Opcode = Opcode { code: 42, name: "IORING_OP_SETXATTR (Linux 5.19)" };
    /// getxattr(2).
    pub const GETXATTR: Opcode = Opcode { code: 44, name: "IORING_OP_GETXATTR (Linux 5.19)" };
    /// ftruncate(2).
    pub const FTRUNCATE: Opcode = Opcode { code: 55, name: "IORING_OP_FTRUNCATE (Linux 6.9)" };
}
use opcodes::{
    CLOSE, FALLOCATE, FTRUNCATE, GETXATTR, LINKAT, MKDIRAT, OPENAT, READ, RENAMEAT, SETXATTR,
    STATX, SYMLINKAT, UNLINKAT, WRITE,
};

/// Why a phase cannot follow those before it: what it would find, and what to do.
pub type Refusal = (&'static str, &'static str);

/// What an op is.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The op.
    pub op: Op,
    /// Its name in files and tables.
    pub name: &'static str,
    /// What the report calls it where it is not a pass over the dataset.
    pub title: Option<&'static str>,
    /// What one op is done to.
    pub unit: Unit,
    /// How many ops there are.
    pub count: Count,
    /// What `bs` says, and what it is where it is not said.
    pub bs: (BlockSize, u64),
    /// Whether it makes the files of the dataset.
    pub creates: bool,
    /// Whether the files must be there before the phase.
    pub needs_files: bool,
    /// Whether contents are read.
    pub reads: bool,
    /// Whether contents are written.
    pub writes: bool,
    /// Whether it changes a file that it has open, so that fsync(2) before close(2) means
    /// something.
    pub changes_file: bool,
    /// Whether it makes, moves or removes entries of directories.
    pub changes_names: bool,
    /// Whether it changes metadata of a file alone.
    pub changes_inode: bool,
    /// Whether files may be taken in random order.
    pub ordered: bool,
    /// Whether several threads may share a directory or a file.
    pub shared: bool,
    /// What it makes of the dataset.
    pub effect: Effect,
    /// Why it cannot follow what has made this state.
    pub refuses: fn(&DatasetState) -> Option<Refusal>,
    /// What it writes over.
    pub rewrites: Rewrites,
    /// What it adds to each file.
    pub adds: Adds,
    /// What a cold phase must have read.
    pub cold: ColdNeed,
    /// What its rate counts.
    pub rate: RateKind,
    /// Assumed cost on a cold file system over a fast disk: ns an op, and ns a byte moved.
    pub cost_ns: (f64, f64),
    /// What it needs of io_uring; absent where no kernel has an opcode for it.
    pub uring: Option<&'static [Opcode]>,
}

/// Calls of large files: what the kernel's read-ahead is not shorter than.
const LARGE_CALL: (BlockSize, u64) = (BlockSize::Call, 1 << 20);
/// A page, as databases and mail servers write it.
const SMALL_CALL: (BlockSize, u64) = (BlockSize::Call, 4096);

/// An op on whole files that changes nothing: what rows begin with.
const fn file(op: Op, name: &'static str) -> OpInfo {
    OpInfo {
        op,
        name,
        title: None,
        unit: Unit::File,
        count: Count::Files,
        bs: LARGE_CALL,
        creates: false,
        needs_files: true,
        reads: false,
        writes: false,
        changes_file: false,
        changes_names: false,
        changes_inode: false,
        ordered: true,
        shared: true,
        effect: Effect::Nothing,
        refuses: |_| None,
        rewrites: Rewrites::Nothing,
        adds: Adds { names: 0, inodes: 0, value: false },
        cold: ColdNeed::Metadata,
        rate: RateKind::Ops,
        cost_ns: (0.0, 0.0),
        uring: None,
    }
}

/// An op that makes files.
const fn new_file(op: Op, name: &'static str) -> OpInfo {
    OpInfo {
        creates: true,
        needs_files: false,
        changes_file: true,
        changes_names: true,
        cold: ColdNeed::Nothing,
        cost_ns: (60_000.0, 0.0),
        ..file(op, name)
    }
}

/// An op that writes contents of files that are there.
const fn written_file(op: Op, name: &'static str) -> OpInfo {
    OpInfo {
        writes: true,
        changes_file: true,
        cold: ColdNeed::Nothing,
        rate: RateKind::Contents,
        // Read for its place, then written.
        cost_ns: (150_000.0, 2.0),
        uring: Some(&[OPENAT, WRITE, CLOSE]),
        ..file(op, name)
    }
}

/// An op that makes, moves or removes names.
const fn names(op: Op, name: &'static str) -> OpInfo {
    OpInfo { changes_names: true, cost_ns: (60_000.0, 0.0), ..file(op, name) }
}

/// An op on directories.
const fn dir(op: Op, name: &'static str) -> OpInfo {
    OpInfo {
        unit: Unit::Dir,
        count: Count::Dirs { with_root: false },
        needs_files: false,
        changes_names: true,
        shared: false,
        cost_ns: (60_000.0, 2.0),
        ..file(op, name)
    }
}

/// A pass over the calls of large files.
const fn big(op: Op, name: &'static str) -> OpInfo {
    OpInfo {
        unit: Unit::Call,
        count: Count::Calls,
        ordered: false,
        refuses: wants_whole_files,
        rate: RateKind::Contents,
        cold: ColdNeed::Nothing,
        ..file(op, name)
    }
}

/// Calls at random places of large files.
const fn random(op: Op, name: &'static str) -> OpInfo {
    OpInfo {
        count: Count::Blocks,
        bs: SMALL_CALL,
        refuses: wants_all_files,
        rate: RateKind::Ops,
        ..big(op, name)
    }
}

/// Calls that write at random places of large files.
const fn random_write(op: Op, name: &'static str) -> OpInfo {
    OpInfo {
        writes: true,
        changes_file: true,
        effect: Effect::RewriteSome,
        rewrites: Rewrites::Blocks,
        cost_ns: (100_000.0, 2.0),
        ..random(op, name)
    }
}

/// What is not an op of the engine.
const fn other(op: Op, name: &'static str) -> OpInfo {
    let cold = ColdNeed::MetadataIfRead;
    OpInfo { needs_files: false, count: Count::Unknown, cold, ..file(op, name) }
}

fn wants_whole_files(state: &DatasetState) -> Option<Refusal> {
    let refusal = ("finds files that were truncated", "put it before the truncation");
    (!state.is_whole()).then_some(refusal)
}

/// Of ops that draw their places from the whole dataset.
fn wants_all_files(state: &DatasetState) -> Option<Refusal> {
    let refusal = ("draws from all files, and a stonewall cuts them", "leave the stonewall out");
    state.reached.map(|_| refusal).or_else(|| wants_whole_files(state))
}

/// Every op, in the order of [`Op`]: those of the engine first, in the order of documentation.
pub const OPS: [OpInfo; 28] = [
    OpInfo {
        writes: true,
        rate: RateKind::Contents,
        cost_ns: (60_000.0, 2.0),
        uring: Some(&[OPENAT, WRITE, CLOSE]),
        ..new_file(Op::Create, "create")
    },
    OpInfo {
        reads: true,
        cold: ColdNeed::Contents,
        rate: RateKind::Contents,
        cost_ns: (150_000.0, 1.0),
        uring: Some(&[OPENAT, READ, CLOSE]),
        ..file(Op::Read, "read")
    },
    OpInfo {
        effect: Effect::Rewrite,
        rewrites: Rewrites::Contents,
        ..written_file(Op::Overwrite, "overwrite")
    },
    OpInfo { bs: SMALL_CALL, effect: Effect::Append, ..written_file(Op::Append, "append") },
    OpInfo {
        bs: (BlockSize::Length, 0),
        changes_file: true,
        effect: Effect::Truncate,
        cost_ns: (60_000.0, 0.0),
        uring: Some(&[OPENAT, FTRUNCATE, CLOSE]),
        ..file(Op::Truncate, "truncate")
    },
    OpInfo {
        effect: Effect::Allocate,
        uring: Some(&[OPENAT, FALLOCATE, CLOSE]),
        ..new_file(Op::Fallocate, "fallocate")
    },
    OpInfo { cost_ns: (10_000.0, 0.0), uring: Some(&[STATX]), ..file(Op::Stat, "stat") },
    OpInfo {
        effect: Effect::Rename,
        cost_ns: (60_000.0, 2.0),
        uring: Some(&[RENAMEAT]),
        ..names(Op::Rename, "rename")
    },
    OpInfo {
        effect: Effect::Link,
        refuses: |state| state.linked.then_some(("finds links that are there", "leave it out")),
        adds: Adds { names: 1, inodes: 0, value: false },
        uring: Some(&[LINKAT]),
        ..names(Op::Link, "link")
    },
    OpInfo {
        effect: Effect::Symlink,
        refuses: |state| {
            let refusal = ("finds symbolic links that are there", "leave it out");
            state.symlinked.then_some(refusal)
        },
        adds: Adds { names: 1, inodes: 1, value: false },
        uring: Some(&[SYMLINKAT]),
        ..names(Op::Symlink, "symlink")
    },
    OpInfo {
        bs: (BlockSize::Value, 32),
        changes_inode: true,
        effect: Effect::SetAttribute,
        adds: Adds { names: 0, inodes: 0, value: true },
        cost_ns: (60_000.0, 0.0),
        uring: Some(&[SETXATTR]),
        ..file(Op::Setxattr, "setxattr")
    },
    OpInfo {
        bs: (BlockSize::Value, 32),
        refuses: |state| {
            let refusal = ("finds no attributes", "put `setxattr` before it");
            state.attribute_bytes.is_none().then_some(refusal)
        },
        cost_ns: (10_000.0, 0.0),
        uring: Some(&[GETXATTR]),
        ..file(Op::Getxattr, "getxattr")
    },
    OpInfo {
        effect: Effect::Delete,
        cost_ns: (30_000.0, 0.0),
        uring: Some(&[UNLINKAT]),
        ..names(Op::Delete, "delete")
    },
    OpInfo {
        ordered: false,
        cold: ColdNeed::Nothing,
        uring: Some(&[MKDIRAT]),
        ..dir(Op::Mkdir, "mkdir")
    },
    OpInfo {
        count: Count::Dirs { with_root: true },
        needs_files: true,
        changes_names: false,
        cost_ns: (300_000.0, 0.0),
        ..dir(Op::List, "list")
    },
    OpInfo {
        unit: Unit::Entry,
        count: Count::Entries,
        bs: (BlockSize::Match, 0),
        ordered: false,
        shared: false,
        cost_ns: (10_000.0, 0.0),
        ..file(Op::Find, "find")
    },
    OpInfo {
        ordered: false,
        effect: Effect::RemoveDirs,
        uring: Some(&[UNLINKAT]),
        ..dir(Op::Rmdir, "rmdir")
    },
    OpInfo {
        creates: true,
        needs_files: false,
        writes: true,
        changes_file: true,
        changes_names: true,
        shared: false,
        cost_ns: (0.0, 2.0),
        uring: Some(&[WRITE]),
        ..big(Op::BigWrite, "big-write")
    },
    OpInfo {
        reads: true,
        cold: ColdNeed::Contents,
        cost_ns: (0.0, 1.0),
        uring: Some(&[READ]),
        ..big(Op::BigRead, "big-read")
    },
    OpInfo {
        writes: true,
        changes_file: true,
        effect: Effect::Rewrite,
        rewrites: Rewrites::Contents,
        cost_ns: (0.0, 2.0),
        uring: Some(&[WRITE]),
        ..big(Op::BigOverwrite, "big-overwrite")
    },
    OpInfo {
        reads: true,
        cold: ColdNeed::Blocks,
        cost_ns: (100_000.0, 1.0),
        uring: Some(&[READ]),
        ..random(Op::RandRead, "randread")
    },
    OpInfo { uring: Some(&[WRITE]), ..random_write(Op::RandWrite, "randwrite") },
    OpInfo {
        reads: true,
        // Which of its ops read is drawn; what was met again needs no second read.
        cold: ColdNeed::BlocksRead,
        uring: Some(&[READ, WRITE]),
        ..random_write(Op::RandRw, "randrw")
    },
    OpInfo {
        changes_file: true,
        effect: Effect::TrimSome,
        cost_ns: (60_000.0, 0.0),
        uring: Some(&[FALLOCATE]),
        ..random(Op::RandTrim, "randtrim")
    },
    OpInfo {
        count: Count::Cycles,
        writes: true,
        changes_file: true,
        ordered: false,
        refuses: wants_all_files,
        effect: Effect::RewriteEachCycle,
        rewrites: Rewrites::Cycles,
        cold: ColdNeed::Nothing,
        rate: RateKind::Time,
        ..file(Op::Cycle, "cycle")
    },
    OpInfo {
        title: Some("a job of fio"),
        unit: Unit::Call,
        reads: true,
        writes: true,
        changes_file: true,
        cost_ns: (0.0, 2.0),
        ..other(Op::Fio, "fio")
    },
    OpInfo {
        title: Some("real work"),
        unit: Unit::Entry,
        reads: true,
        writes: true,
        changes_file: true,
        rate: RateKind::Time,
        cost_ns: (0.0, 2.0),
        ..other(Op::Job, "job")
    },
    OpInfo {
        title: Some("another application"),
        cold: ColdNeed::Nothing,
        rate: RateKind::Time,
        ..other(Op::Watched, "watched")
    },
];

/// Ops at the end of the table that are not the engine's.
const OTHERS: usize = 3;
const ENGINE_OPS: usize = OPS.len() - OTHERS;

impl Op {
    /// Every op of the engine, in the order of documentation.
    pub const ALL: [Self; ENGINE_OPS] = {
        let mut all = [Self::Create; ENGINE_OPS];
        let mut index = 0;
        while index < ENGINE_OPS {
            all[index] = OPS[index].op;
            index += 1;
        }
        all
    };

    /// What it is.
    #[inline]
    #[must_use]
    pub fn info(self) -> &'static OpInfo {
        const { &OPS }.get(self as usize).expect("every op has a row")
    }

    /// Its name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Whether it makes the files of the dataset.
    #[must_use]
    pub fn creates(self) -> bool {
        self.info().creates
    }

    /// Whether the files must be there before the phase.
    #[must_use]
    pub fn needs_files(self) -> bool {
        self.info().needs_files
    }

    /// Whether contents are moved, so that a rate in bytes means something.
    #[must_use]
    pub fn moves_bytes(self) -> bool {
        self.reads() || self.writes()
    }

    /// Whether contents are written.
    #[must_use]
    pub fn writes(self) -> bool {
        self.info().writes
    }

    /// Whether contents are read.
    #[must_use]
    pub fn reads(self) -> bool {
        self.info().reads
    }

    /// Whether an op is one call in a file, not a whole file or directory.
    #[must_use]
    pub fn is_big(self) -> bool {
        matches!(self.info().count, Count::Calls | Count::Blocks)
    }

    /// Whether it goes over the blocks of its files in random order by itself.
    #[must_use]
    pub fn is_random(self) -> bool {
        self.info().count == Count::Blocks
    }

    /// Whether it works on directories, not on files.
    #[must_use]
    pub fn is_about_dirs(self) -> bool {
        self.info().unit == Unit::Dir
    }

    /// Whether it makes or removes directories, level by level.
    #[must_use]
    pub fn changes_dirs(self) -> bool {
        self.is_about_dirs() && self.info().changes_names
    }

    /// Whether its threads divide among them what an earlier phase has made, so that each may work
    /// on what another thread made.
    #[must_use]
    pub fn takes_shift(self) -> bool {
        let makes =
            self.creates() || (self.changes_dirs() && self.info().effect == Effect::Nothing);
        let divides = !matches!(self.info().count, Count::Blocks | Count::Cycles | Count::Unknown);
        divides && !makes
    }

    /// Whether it can end by the clock, with as much made by each thread (a stonewall).
    #[must_use]
    pub fn takes_stonewall(self) -> bool {
        matches!(self, Self::Create | Self::BigWrite)
    }

    /// Whether its latencies can be kept over time.
    #[must_use]
    pub fn takes_latency_period(self) -> bool {
        self.is_of_engine() && self != Self::Cycle
    }

    /// Whether threads can divide the work in that way.
    #[must_use]
    pub fn takes_sharing(self, sharing: Sharing) -> bool {
        match sharing {
            Sharing::Own => true,
            Sharing::Shared => self.info().shared,
            Sharing::Interleaved => self.info().count == Count::Calls,
        }
    }

    /// Whether the engine does it over the files of a dataset.
    #[must_use]
    pub fn is_of_engine(self) -> bool {
        self.info().count != Count::Unknown
    }

    /// Whether it adds one call to each file, whatever is in it.
    #[must_use]
    pub fn appends(self) -> bool {
        self.info().effect == Effect::Append
    }

    /// Whether the file system is another one afterwards.
    #[must_use]
    pub fn changes(self) -> bool {
        let info = self.info();
        info.changes_file || info.changes_names || info.changes_inode
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_table_has_a_row_for_every_op_in_their_order() {
        for (index, row) in OPS.iter().enumerate() {
            assert_eq!(row.op as usize, index, "{}", row.name);
            let written = serde_json::to_string(&row.op).unwrap();
            assert_eq!(written, format!("{:?}", row.name), "as it is written in files");
            assert_eq!(row.op.is_of_engine(), index < ENGINE_OPS, "{}", row.name);
        }
        let names: HashSet<&str> = OPS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), OPS.len());
        // One more variant than rows would have the number of the table's length.
        assert_eq!(Op::Watched as usize, OPS.len() - 1, "the last op has the last row");
        assert_eq!(Op::ALL.len(), OPS.len() - OTHERS);
    }

    #[test]
    fn what_is_new_cannot_be_anothers() {
        let takes = |op: &Op| op.takes_shift();
        let without: Vec<Op> = Op::ALL.into_iter().filter(|op| !takes(op)).collect();
        use Op::{
            BigWrite, Create, Cycle, Fallocate, Mkdir, RandRead, RandRw, RandTrim, RandWrite,
        };
        assert_eq!(
            without,
            [Create, Fallocate, Mkdir, BigWrite, RandRead, RandWrite, RandRw, RandTrim, Cycle]
        );
    }

    #[test]
    fn rows_do_not_contradict_themselves() {
        for row in OPS {
            let name = row.name;
            assert!(!row.creates || !row.needs_files, "{name}");
            assert!(!row.writes || row.changes_file, "{name}");
            assert!(row.rewrites == Rewrites::Nothing || row.writes, "{name}");
            let reads =
                matches!(row.cold, ColdNeed::Contents | ColdNeed::Blocks | ColdNeed::BlocksRead);
            assert!(!reads || row.reads, "{name}");
            let is_length = matches!(row.bs.0, BlockSize::Length | BlockSize::Match);
            assert!(row.bs.1 > 0 || is_length, "{name}");
        }
    }
}
