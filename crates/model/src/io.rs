//! How the calls of a phase are made: backend, depth, threads, and what is made durable meanwhile.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest time of a stonewall: a day.
pub const MAX_STONEWALL_NS: u64 = 86_400_000_000_000;
/// Longest runtime: a week.
pub const MAX_RUNTIME_NS: u64 = 7 * 86_400_000_000_000;

/// How the calls of a phase are made. Names are those of fio where it has one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Io {
    /// By which interface of the kernel.
    pub backend: Backend,
    /// Without the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Ops in flight in each thread; more than 1 only with io_uring.
    pub iodepth: u32,
    /// What is made durable by the work itself, within `returned`.
    pub fsync: Fsync,
    /// Threads that share the work, those of all ranks; they start together.
    pub threads: u32,
    /// Worker processes over which the threads are spread, here or on several hosts.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub ranks: u32,
    /// How they share it.
    pub sharing: Sharing,
    /// A thread works on what is the share of the thread with this much higher a number; after the
    /// last comes the first.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub shift: u32,
    /// Ops a second that each thread is to begin, whether it is done with those before or not (an
    /// open loop): op i is due i ÷ rate after the start, and its latency counts from then. What is
    /// late is not left out. Absent: each op begins when the one before it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// How long all threads, those of all ranks, work by the clock, ns (stonewall). Then each goes
    /// on to the largest number of ops that one of them had done by then, so that all have made the
    /// same (wear-out), and the phase ends. The dataset says how much there is at most. Absent: all
    /// of it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stonewall_ns: Option<u64>,
    /// Latencies are also kept for each period of so many ns, which becomes longer in a phase of
    /// many. Absent: for the whole phase alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_period_ns: Option<u64>,
    /// Number of ops of a random phase, over all threads; absent: each block once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
    /// How long a random phase works by the clock, ns, in place of a number of ops: each thread
    /// ends with the op that it is at then. Absent: `ops` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_ns: Option<u64>,
    /// Share of reads in `randrw`, percent.
    pub rwmixread_percent: u32,
}

impl Default for Io {
    fn default() -> Self {
        Self {
            backend: Backend::Sync,
            direct: false,
            iodepth: 1,
            fsync: Fsync::None,
            threads: 1,
            ranks: 1,
            sharing: Sharing::Own,
            shift: 0,
            rate: None,
            stonewall_ns: None,
            latency_period_ns: None,
            ops: None,
            runtime_ns: None,
            rwmixread_percent: 50,
        }
    }
}

impl Io {
    /// Whether this is one thread of blocking, buffered calls.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde hands over")]
fn is_one(ranks: &u32) -> bool {
    *ranks == 1
}

/// Interface of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Blocking system calls.
    #[default]
    Sync,
    /// io_uring(7).
    IoUring,
    /// mmap(2) and memory copies, for the contents of big files.
    Mmap,
    /// No call at all: what remains is the harness.
    Null,
}

names!(Backend.name { Sync = "sync", IoUring = "io_uring", Mmap = "mmap", Null = "null" });

/// What a phase itself makes durable; this is part of its ops and of `returned`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fsync {
    /// Nothing.
    #[default]
    None,
    /// fsync(2) after every op that writes: what mail servers and databases do.
    Op,
    /// fsync(2) of each file before it is closed.
    File,
    /// fsync(2) of each directory when a thread has done its last file in it.
    Dir,
    /// syncfs(2) by each thread after its last op, within `returned`.
    End,
    /// Every write is durable when it returns (`O_DSYNC`).
    Dsync,
}

names!(Fsync.name {
    None = "none", Op = "op", File = "file", Dir = "dir", End = "end", Dsync = "dsync",
});

/// How threads share the work.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Each thread has whole leaf directories (or whole big files) of its own.
    #[default]
    Own,
    /// All threads work in the same directories, file by file in turn (or in the same big file,
    /// each in its part of it).
    Shared,
    /// The calls in each big file are dealt out in turn: call i is thread i modulo threads.
    Interleaved,
}

names!(Sharing.name { Own = "own", Shared = "shared", Interleaved = "interleaved" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_older_versions_did_not_know_is_not_written() {
        let one = serde_json::to_value(Io { threads: 2, ..Io::default() }).unwrap();
        assert!(
            ["ranks", "shift", "rate", "stonewall_ns", "latency_period_ns", "runtime_ns"]
                .iter()
                .all(|key| one.get(key).is_none())
        );
        let read = serde_json::from_value::<Io>(one).unwrap();
        assert_eq!((read.ranks, read.shift, read.rate), (1, 0, None));
    }
}
