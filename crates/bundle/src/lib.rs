//! One file with all that is needed to check a RUN: packed, unpacked within limits, compared.
//!
//! A bundle is one directory as tar, compressed by zstd, so that every tar opens it. `SHA256SUMS`
//! in it has the hash of each of its other files, as sha256sum(1) writes and checks them. A hash
//! shows damage and a change by hand; whoever changes a file and its hash is found by recomputing.
//!
//! Nothing here knows what a RUN is, or prints. A bundle comes from somebody else: nothing of it is
//! written outside of the directory that is given, and no more than [`MOST_BYTES`].
#![forbid(unsafe_code)]

mod difference;
mod error;
mod pack;
mod sums;
mod unpack;

pub use difference::differences;
pub use error::BundleError;
pub use pack::{Contents, Part, pack};
pub use sums::SUMS;
pub use unpack::{MOST_BYTES, Unpacked, unpack};
