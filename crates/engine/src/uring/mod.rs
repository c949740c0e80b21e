//! io_uring(7): one ring a thread, as many ops in flight as `iodepth` says.
//!
//! A loop is made before its thread waits at the barrier, and by the thread itself (the kernel then
//! needs no lock for the ring): ring, slots, a buffer a slot, a table of files. It fills all free
//! slots, enters the kernel once, which submits them and waits for at least one completion, and
//! handles the completions. Nothing in it allocates. After a failure no op is begun, and
//! those in flight are waited for.
//!
//! | module | what |
//! |---|---|
//! | `thread` | one thread of a phase: its clocks, its ring |
//! | `outcome` | what a loop did, and what failed |
//! | `ring` | what the kernel can do; setup and registration |
//! | `blocks` | calls in big files, in order or at random |
//! | `files` | whole small files, and ops on names |
//! | `sources`, `dirs` | where both get their work from: the context of a thread |
//! | `paths` | memory for the names of ops in flight |
//! | `recorder` | latencies of ops that overlap |
//!
//! There is no opcode for reading directories: `list` is refused.

mod actions;
mod blocks;
mod dirs;
mod files;
mod outcome;
mod paths;
mod recorder;
mod ring;
mod sources;
mod thread;

pub use ring::check;
pub(crate) use thread::run_thread;
