//! Datasets of real work: seeded trees, files and archives, byte-identical on every machine.
//!
//! A dataset is described by a small TOML ([`Description`]; the built-in ones lie in `datasets/`),
//! resolved into a [`Tree`], and written below a directory or packed into an archive, both straight
//! from the description. The user's own directories and archives are looked at by [`own`].
//!
//! It knows nothing of devices, file systems and trials, and never measures.
#![forbid(unsafe_code)]

mod archive;
mod builtin;
mod compress;
pub mod contents;
mod description;
mod error;
mod name;
pub mod own;
mod pieces;
mod tree;
mod write;

pub use builtin::{builtin, names, small};
pub use compress::{Writer, reader, writer};
pub use description::Description;
pub use error::CorpusError;
pub use tree::{ClassFigures, Entry, EntryKind, Tree};
pub use write::Written;
