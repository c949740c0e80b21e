//! The keys that say how the calls of a phase are made.
//!
//! In a phase they say how that phase is done. In the workload they are defaults: each goes to the
//! phases that can take it, and one that no phase can take is an error. `threads` and `bs` go to
//! all.

use crate::JsonSchema;
use crate::error::{At, PlanError, Span};
use crate::tree::{Table, keys};
use crate::values::{Duration, Get, Read, Within, Word};
use fsarena_model::factor;
use fsarena_model::io::{Backend, Fsync, Io, Sharing};
use fsarena_model::op::Op;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Most threads of a phase.
const MAX_THREADS: u64 = 1024;
/// Most ranks of a phase.
const MAX_RANKS: u64 = factor::MAX_RANKS as u64;
/// Most ops in flight in a thread: entries of a ring, far below the kernel's 32768.
const MAX_IODEPTH: u64 = 4096;
/// Most ops a second of a thread.
const MAX_RATE: u64 = 10_000_000;
/// Most ops of a random phase.
const MAX_OPS: u64 = 1_000_000_000_000;

/// Where the keys of a phase were written.
#[derive(Clone, Debug)]
pub(super) struct Spans {
    /// The phase itself.
    pub(super) phase: Span,
    keys: BTreeMap<&'static str, Span>,
}

impl Spans {
    /// Everything in one place.
    pub(super) fn all(place: &Span) -> Self {
        Self { phase: place.clone(), keys: BTreeMap::new() }
    }

    /// Where a key was written, or the phase where it was not.
    pub(super) fn key(&self, key: &str) -> &Span {
        self.keys.get(key).unwrap_or(&self.phase)
    }

    pub(super) fn put(&mut self, key: &'static str, place: &Span) {
        self.keys.insert(key, place.clone());
    }
}

/// How the calls of a phase are made; in a workload, for all phases that can take it.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct Keys {
    /// How the kernel is asked.
    #[schemars(example = &"sync")]
    backend: Option<At<Word<Backend>>>,
    /// Without the page cache (O_DIRECT).
    direct: Option<At<bool>>,
    /// Ops in flight in each thread, with io_uring.
    #[schemars(example = 32)]
    iodepth: Option<At<Within<1, MAX_IODEPTH>>>,
    /// When what was written is made durable.
    #[schemars(example = &"file")]
    fsync: Option<At<Word<Fsync>>>,
    /// Threads that do the phase together, those of all ranks.
    #[schemars(example = 4)]
    threads: Option<At<Within<1, MAX_THREADS>>>,
    /// Worker processes over which the threads are spread; without threads one each.
    #[schemars(example = 4)]
    ranks: Option<At<Within<1, MAX_RANKS>>>,
    /// Whether threads have directories and files of their own.
    #[schemars(example = &"shared")]
    sharing: Option<At<Word<Sharing>>>,
    /// Each thread works on the share of the thread so many numbers further on.
    #[schemars(example = 1)]
    shift: Option<At<Within<1, { MAX_THREADS - 1 }>>>,
    /// Ops a second that each thread is to begin; latency counts from when an op is due.
    #[schemars(example = 1000)]
    rate: Option<At<Within<1, MAX_RATE>>>,
    /// How long all threads work; then each goes on to the largest number of ops of any of them.
    #[schemars(example = &"30 s")]
    stonewall: Option<At<Read<Duration>>>,
    /// Latencies are also kept for each such period, and drawn over time.
    #[schemars(example = &"1 s")]
    latency_period: Option<At<Read<Duration>>>,
    /// How many ops a random phase does.
    #[schemars(example = 10_000)]
    ops: Option<At<Within<1, MAX_OPS>>>,
    /// How long a random phase works, in place of `ops`.
    #[schemars(example = &"60 s")]
    runtime: Option<At<Read<Duration>>>,
    /// Reads of randrw, percent.
    #[schemars(example = 70)]
    rwmixread: Option<At<Within<0, 100>>>,
}

impl Keys {
    /// Puts the values into `io`, whose backend is decided: those that an op can take of the
    /// workload's defaults, all of a phase's own.
    fn put(&self, op: Op, own: bool, io: &mut Io, spans: &mut Spans) {
        if op == Op::Cycle {
            // One thread of blocking calls.
            return;
        }
        let mut put = Put { own, spans };
        let backend = io.backend;
        put.key("direct", &self.direct, &mut io.direct, |to| {
            !to || (op.moves_bytes() && backend != Backend::Mmap)
        });
        put.key("iodepth", &self.iodepth, &mut io.iodepth, |to| {
            to == 1 || backend == Backend::IoUring
        });
        put.key("fsync", &self.fsync, &mut io.fsync, |to| takes_fsync(op, to));
        put.key("threads", &self.threads, &mut io.threads, |_| true);
        put.key("ranks", &self.ranks, &mut io.ranks, |_| true);
        put.key("sharing", &self.sharing, &mut io.sharing, |to| op.takes_sharing(to));
        let threads = io.threads.max(io.ranks);
        put.key("shift", &self.shift, &mut io.shift, |to| op.takes_shift() && to < threads);
        put.key("rate", &self.rate, &mut io.rate, |_| backend != Backend::IoUring);
        put.key("stonewall", &self.stonewall, &mut io.stonewall_ns, |_| {
            op.takes_stonewall() && backend == Backend::Sync
        });
        put.key("latency_period", &self.latency_period, &mut io.latency_period_ns, |_| {
            op.takes_latency_period()
        });
        put.key("ops", &self.ops, &mut io.ops, |_| op.is_random());
        put.key("runtime", &self.runtime, &mut io.runtime_ns, |_| op.is_random());
        put.key("rwmixread", &self.rwmixread, &mut io.rwmixread_percent, |_| op == Op::RandRw);
    }

    /// Refuses defaults that no phase took.
    pub(super) fn all_taken(table: &Table<'_>, spans: &[Spans]) -> Result<(), PlanError> {
        for key in keys::<Self>() {
            let Some(node) = table.get(key) else { continue };
            if spans.iter().any(|phase| phase.keys.contains_key(key)) {
                continue;
            }
            let remedy = match *key {
                "iodepth" => "it needs backend = \"io_uring\"",
                "ops" => "it is for randread, randwrite, randrw and randtrim",
                "runtime" => "it is for randread, randwrite, randrw and randtrim",
                "rwmixread" => "it is for randrw",
                "rate" => "it is for blocking calls, not for io_uring",
                "latency_period" => "it is for ops of fsarena itself, not of programs or cycles",
                "stonewall" => "it is for create and big-write by blocking calls",
                "shift" => {
                    "it is for phases that read, stat, overwrite or delete what earlier phases \
                     made, by more threads than it says"
                }
                "fsync" => {
                    "op and end are for phases that change something, file for those that \
                     change a file, dsync for those that write contents, dir for those that make or remove entries"
                }
                "direct" => "it is for phases that read or write contents, not by mmap",
                "sharing" => {
                    "shared is for files, by any op that finds them or creates small ones, \
                     interleaved for big-write, big-read and big-overwrite"
                }
                "backend" => "mmap is for contents of big files; io_uring cannot list or find",
                _ => "leave it out",
            };
            return Err(node.error(format!("no phase can take `{key}`"), remedy));
        }
        Ok(())
    }
}

/// How the calls of a phase are made, beginning with `io`.
pub(super) fn resolve(op: Op, mut io: Io, defaults: &Keys, own: &Keys, spans: &mut Spans) -> Io {
    let default = defaults.backend.as_ref().filter(|to| takes_backend(op, to.value.0));
    if let Some(backend) = own.backend.as_ref().or(default) {
        io.backend = backend.value.0;
        spans.put("backend", &backend.place);
    }
    defaults.put(op, false, &mut io, spans);
    own.put(op, true, &mut io, spans);
    if !spans.keys.contains_key("threads") {
        io.threads = io.threads.max(io.ranks);
    }
    io
}

struct Put<'p> {
    own: bool,
    spans: &'p mut Spans,
}

impl Put<'_> {
    fn key<W: Get<T>, T: Copy>(
        &mut self,
        key: &'static str,
        written: &Option<At<W>>,
        to: &mut T,
        takes: impl Fn(T) -> bool,
    ) {
        if let Some(written) = written
            && let value = written.value.get()
            && (self.own || takes(value))
        {
            *to = value;
            self.spans.put(key, &written.place);
        }
    }
}

/// Whether an op can be done by a backend.
pub(super) fn takes_backend(op: Op, backend: Backend) -> bool {
    match backend {
        Backend::Sync => true,
        Backend::Null => op != Op::Cycle,
        Backend::IoUring => op.info().uring.is_some(),
        Backend::Mmap => op.is_big() && op.moves_bytes(),
    }
}

/// Whether an fsync policy means something with an op.
pub(super) fn takes_fsync(op: Op, fsync: Fsync) -> bool {
    let info = op.info();
    match fsync {
        Fsync::None => true,
        Fsync::Op => info.changes_file || info.changes_names,
        Fsync::End => op.changes(),
        Fsync::File => info.changes_file,
        Fsync::Dsync => info.writes,
        Fsync::Dir => info.changes_names,
    }
}
