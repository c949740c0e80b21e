//! io_uring(7): one ring a thread, as many ops in flight as `iodepth` says.
//!
//! A lane is made before the thread passes the gate, and by the thread itself (the kernel then
//! needs no lock for the ring): ring, slots, a buffer a slot, a table of files. The loop fills all
//! free slots, enters the kernel once, which submits them and waits for at least one to end, and
//! works off what has ended. Nothing in it allocates. After a failure no op is begun any more, and
//! those in flight are waited for.
//!
//! | module | what |
//! |---|---|
//! | `thread` | one thread of a phase: its clocks, its ring |
//! | `outcome` | what a loop did, and what failed |
//! | `ring` | what the kernel can do; setup and registration |
//! | `blocks` | calls in big files, in order or at random |
//! | `files` | whole small files, and ops on names |
//! | `feed`, `dirs` | where both get their work from: the hand of a thread |
//! | `paths` | memory for the names of ops in flight |
//! | `watch` | latencies of ops that overlap |
//!
//! There is no opcode for reading directories: `list` is refused.

mod blocks;
mod dirs;
mod feed;
mod files;
mod outcome;
mod paths;
mod ring;
mod thread;
mod watch;

pub use ring::check;
pub(crate) use thread::run_thread;
