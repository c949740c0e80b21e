//! Parsers of what guests, kernels and their builds say: entries for the targets of `fsarena-fuzz`,
//! and for nothing else.

use crate::kernel::Version;
use crate::{guest, kernel};
use fsarena_disk_server::fuse::{ServedFile, TRANSFER_MAX_BYTES, What, decoded};
use std::path::{Path, PathBuf};

/// What a request of `/dev/fuse` asks of a file: where it begins, and how many bytes it is about,
/// of which so many came with it. `None`: it is none, or asks nothing of the file.
#[must_use]
pub fn fuse_request(bytes: &[u8], size_bytes: u64) -> Option<(u64, u64, usize)> {
    let file = ServedFile { size_bytes, is_cached: false };
    match decoded(bytes, file)?.what {
        What::Read { at, bytes } => Some((at, bytes as u64, 0)),
        What::Write { at, data } => Some((at, data.len() as u64, data.len())),
        What::Zero { at, bytes, .. } => Some((at, bytes, 0)),
        What::Flush | What::Answer(_) | What::Fails(_) | What::Silent | What::End => None,
    }
}

/// Largest write of [`fuse_request`].
pub const FUSE_TRANSFER_MAX_BYTES: usize = TRANSFER_MAX_BYTES;

/// The version that the main Makefile of a source states.
#[must_use]
pub fn version_in(makefile: &str) -> Option<Version> {
    kernel::version_in(makefile)
}

/// The first refusal in what `patch` said.
#[must_use]
pub fn rejected_patch(output: &str) -> String {
    kernel::rejected(output)
}

/// The first error in the log of a build.
#[must_use]
pub fn failed_build(log: &str) -> String {
    kernel::why_it_failed(log)
}

/// The reason of a panic on the console of a guest.
#[must_use]
pub fn guest_panic(console: &str) -> Option<String> {
    guest::panic_in(console)
}

/// Files that are mapped as code, by `/proc/self/maps`.
#[must_use]
pub fn mapped_libraries(maps: &str, program: &Path) -> Vec<PathBuf> {
    guest::libraries_in(maps, program)
}

/// The dynamic loader that an ELF file names.
///
/// # Errors
/// When it is no program for 64 bits, or cannot be read.
pub fn interpreter(path: &Path) -> Result<Option<String>, guest::ProgramError> {
    guest::interpreter_of(path)
}
