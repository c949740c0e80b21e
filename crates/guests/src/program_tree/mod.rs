//! Programs of 32 bits for a machine of 64: packages of i386 from the distribution of this machine,
//! unpacked into a tree of their own in root's cache.
//!
//! Nothing is installed: apt works in a private directory with the sources and keys of the system,
//! finds the dependencies and verifies signatures, and what it has fetched is unpacked. A trial
//! lays the tree over `/usr` in its own mounts (`fsarena-executor`), so that every program in it is
//! started by the loader of the tree.
//!
//! | module | what |
//! |---|---|
//! | `apt` | what apt is asked, in a private directory |
//! | `fetch` | from packages to a tree |
//! | `unpack` | packages laid together as `/usr` |
//! | `cache` | the tree that there is, held and deleted |
//! | `copyright` | licences that a package names |
//!
//! It must not start a program of the tree but its loader, nor say what is measured.

mod apt;
mod cache;
mod copyright;
mod fetch;
mod unpack;

pub use apt::{AptError, NativePackages};
pub use cache::{CacheError, HeldPrograms, InstalledTree, Manifest, Package, ProgramCache};
pub use fetch::{Fetched, Offer, TreeError, missing_here, offer};

/// The programs that a tree is made for, each with its package: those of the workloads of real
/// work that were measured in 2008, and the shell that tar starts compressors by.
pub const PROGRAMS: [(&str, &str); 8] = [
    ("tar", "tar"),
    ("gzip", "gzip"),
    ("bzip2", "bzip2"),
    ("cp", "coreutils"),
    ("rm", "coreutils"),
    ("sh", "dash"),
    ("flac", "flac"),
    ("oggenc", "vorbis-tools"),
];

/// The packages that are asked for, each once.
fn packages() -> Vec<&'static str> {
    let mut packages: Vec<&str> = PROGRAMS.iter().map(|(_, package)| *package).collect();
    packages.dedup();
    packages
}
