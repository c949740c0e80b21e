//! Packing: files of ours into one tar in zstd, with the list of their hashes at its end.

use crate::BundleError;
use crate::sums::{Hashed, SUMS, is_name, line};
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use tar::{Builder, Header};

/// Of zstd: records of trials are text that shrinks to a tenth with it, at 50 MB/s and more.
const LEVEL: i32 = 10;

/// A file of a bundle.
#[derive(Debug)]
pub struct Part {
    /// Its name in the bundle; with at most one directory, `figures/create.svg`.
    pub name: String,
    /// What it holds.
    pub contents: Contents,
}

/// What a file holds.
#[derive(Debug)]
pub enum Contents {
    /// These bytes.
    Bytes(Vec<u8>),
    /// What a file of this machine holds.
    File(PathBuf),
}

/// Packs `parts` and the list of their hashes as the directory `directory`. The files belong to
/// nobody and have one time, so that equal parts make equal bundles.
///
/// # Errors
/// When a file cannot be read, or what is packed cannot be written.
///
/// # Panics
/// When a part has a name that no file of a bundle may have.
pub fn pack(
    to: impl Write,
    (directory, modified_unix_s): (&str, u64),
    parts: &[Part],
) -> Result<(), BundleError> {
    let mut encoder = zstd::Encoder::new(to, LEVEL).map_err(BundleError::Write)?;
    encoder.include_checksum(true).map_err(BundleError::Write)?;
    let mut bundle = Builder::new(encoder);
    let mut add = |name: &str, size: u64, from: &mut dyn Read| {
        let mut header = Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o644);
        header.set_mtime(modified_unix_s);
        bundle.append_data(&mut header, format!("{directory}/{name}"), from)
    };
    let mut sums = String::new();
    for part in parts {
        assert!(is_name(&part.name) && part.name != SUMS, "{:?} is no name", part.name);
        let sum = match &part.contents {
            Contents::Bytes(bytes) => {
                let mut from = Hashed::new(bytes.as_slice());
                add(&part.name, bytes.len() as u64, &mut from).map_err(BundleError::Write)?;
                from.finish()
            }
            Contents::File(path) => {
                let wrong = |source| BundleError::File { path: path.clone(), source };
                let file = File::open(path).map_err(wrong)?;
                let size = file.metadata().map_err(wrong)?.len();
                let mut from = Hashed::new(file.take(size));
                add(&part.name, size, &mut from).map_err(wrong)?;
                from.finish()
            }
        };
        sums.push_str(&line(&sum, &part.name));
    }
    add(SUMS, sums.len() as u64, &mut sums.as_bytes()).map_err(BundleError::Write)?;
    let finished = bundle.into_inner().and_then(zstd::Encoder::finish);
    finished.and_then(|mut to| to.flush()).map_err(BundleError::Write)
}
