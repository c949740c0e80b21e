//! The keys that say how the calls of a phase are made.
//!
//! In a phase they say how that phase is done. In the workload they are defaults: each goes to the
//! phases that can take it, and one that no phase can take is an error. `threads` and `bs` go to
//! all.

use crate::error::PlanError;
use crate::span::{At, Span};
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::io::{Backend, Fsync, Io, Sharing};
use fsarena_model::op::Op;
use std::collections::BTreeMap;

/// Keys of a phase or a workload.
pub(super) const KEYS: [&str; 8] =
    ["backend", "direct", "iodepth", "fsync", "threads", "sharing", "ops", "rwmixread"];
/// Most threads of a phase.
const MAX_THREADS: u64 = 1024;
/// Most ops in flight in a thread: entries of a ring, far below the kernel's 32768.
const MAX_IODEPTH: u64 = 4096;
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

/// The keys as written in one table.
#[derive(Default)]
pub(super) struct Keys {
    backend: Option<At<Backend>>,
    direct: Option<At<bool>>,
    iodepth: Option<At<u32>>,
    fsync: Option<At<Fsync>>,
    threads: Option<At<u32>>,
    sharing: Option<At<Sharing>>,
    ops: Option<At<u64>>,
    rwmixread: Option<At<u32>>,
}

impl Keys {
    /// Reads them from a table that may hold others.
    pub(super) fn read(table: &Table<'_>) -> Result<Self, PlanError> {
        let number = |node: &Node<'_>, most: u64, example: &str| {
            let number = node.integer(1..=most, example)?;
            Ok(u32::try_from(number).expect("the limits are within u32"))
        };
        Ok(Self {
            backend: key(table, "backend", |node| {
                text::word(node.text("\"sync\"")?, &node.place, "backend", &Backend::ALL)
            })?,
            direct: key(table, "direct", |node| node.flag())?,
            iodepth: key(table, "iodepth", |node| number(node, MAX_IODEPTH, "32"))?,
            fsync: key(table, "fsync", |node| {
                text::word(node.text("\"file\"")?, &node.place, "fsync policy", &Fsync::ALL)
            })?,
            threads: key(table, "threads", |node| number(node, MAX_THREADS, "4"))?,
            sharing: key(table, "sharing", |node| {
                text::word(node.text("\"shared\"")?, &node.place, "sharing", &Sharing::ALL)
            })?,
            ops: key(table, "ops", |node| node.integer(1..=MAX_OPS, "10_000"))?,
            rwmixread: key(table, "rwmixread", |node| {
                let share = node.integer(0..=100, "70")?;
                Ok(u32::try_from(share).expect("up to 100"))
            })?,
        })
    }

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
        put.key("sharing", &self.sharing, &mut io.sharing, |to| {
            to == Sharing::Own || takes_shared(op)
        });
        let ops = self.ops.as_ref().map(|ops| At::new(Some(ops.value), &ops.place));
        put.key("ops", &ops, &mut io.ops, |_| op.is_random());
        put.key("rwmixread", &self.rwmixread, &mut io.rwmixread_percent, |_| op == Op::RandRw);
    }

    /// The keys that are written, with their spans.
    fn written(&self) -> Vec<(&'static str, &Span)> {
        fn place<T>(key: Option<&At<T>>) -> Option<&Span> {
            key.map(|at| &at.place)
        }
        let spans = [
            place(self.backend.as_ref()),
            place(self.direct.as_ref()),
            place(self.iodepth.as_ref()),
            place(self.fsync.as_ref()),
            place(self.threads.as_ref()),
            place(self.sharing.as_ref()),
            place(self.ops.as_ref()),
            place(self.rwmixread.as_ref()),
        ];
        KEYS.into_iter().zip(spans).filter_map(|(key, place)| Some((key, place?))).collect()
    }

    /// Refuses defaults that no phase took.
    pub(super) fn all_taken(&self, spans: &[Spans]) -> Result<(), PlanError> {
        for (key, place) in self.written() {
            if spans.iter().any(|phase| phase.keys.contains_key(key)) {
                continue;
            }
            let remedy = match key {
                "iodepth" => "it needs backend = \"io_uring\"",
                "ops" => "it is for randread, randwrite and randrw",
                "rwmixread" => "it is for randrw",
                "fsync" => {
                    "op and end are for phases that change something, file and dsync for phases \
                     that write contents, dir for those that make or remove entries"
                }
                "direct" => "it is for phases that read or write contents, not by mmap",
                "backend" => "mmap is for big files and random ops; io_uring cannot list",
                _ => "leave it out",
            };
            return Err(PlanError::new(place, format!("no phase can take `{key}`"), remedy));
        }
        Ok(())
    }
}

/// How the calls of a phase are made, beginning with `io`.
pub(super) fn resolve(op: Op, mut io: Io, defaults: &Keys, own: &Keys, spans: &mut Spans) -> Io {
    let default = defaults.backend.as_ref().filter(|to| takes_backend(op, to.value));
    if let Some(backend) = own.backend.as_ref().or(default) {
        io.backend = backend.value;
        spans.put("backend", &backend.place);
    }
    defaults.put(op, false, &mut io, spans);
    own.put(op, true, &mut io, spans);
    io
}

struct Put<'p> {
    own: bool,
    spans: &'p mut Spans,
}

impl Put<'_> {
    fn key<T: Copy>(
        &mut self,
        key: &'static str,
        written: &Option<At<T>>,
        to: &mut T,
        takes: impl Fn(T) -> bool,
    ) {
        if let Some(written) = written
            && (self.own || takes(written.value))
        {
            *to = written.value;
            self.spans.put(key, &written.place);
        }
    }
}

fn key<T>(
    table: &Table<'_>,
    key: &str,
    read: impl Fn(&Node<'_>) -> Result<T, PlanError>,
) -> Result<Option<At<T>>, PlanError> {
    table.get(key).map(|node| Ok(At::new(read(&node)?, &node.place))).transpose()
}

/// Whether an op can be done by a backend.
pub(super) fn takes_backend(op: Op, backend: Backend) -> bool {
    match backend {
        Backend::Sync => true,
        Backend::Null => op != Op::Cycle,
        Backend::IoUring => op.info().uring.is_some(),
        Backend::Mmap => op.is_big(),
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

/// Whether several threads can share directories or files with an op.
pub(super) fn takes_shared(op: Op) -> bool {
    op.info().shared
}
