//! Guest kernels: a source, our changes to it, a build of both, and a place where builds are kept.
//!
//! Nothing here knows what a guest is used for. A source of the user's is never written to.

mod build;
mod cache;
mod check;
mod config;
mod digest;
mod embedded;
mod kernels;
mod patches;
mod removal;
mod source;
mod tools;

pub(crate) use build::why_it_failed;
pub use build::{BuildError, BuildRequest, Progress, Surroundings, build};
pub use cache::{Cache, ChangedKernel, Identity, Kernel};
pub use check::{CheckError, CheckedKernel, check};
pub use config::{Configuration, HZ_RANGE};
pub(crate) use digest::hex;
pub use kernels::{FileError, Kernels, Named, is_path, sha256_of};
pub use patches::PatchError;
pub(crate) use patches::rejected;
pub use removal::{HeldKernel, KeyError, RemoveError};
pub(crate) use source::version_in;
pub use source::{DEBIAN_SOURCES, Source, SourceError, Version};
pub use tools::{Missing, packages};
