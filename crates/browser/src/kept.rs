//! Pictures and prints that are kept, so that a person can look at what the tests saw.

use std::io;
use std::path::{Path, PathBuf};

/// Where they are kept, beside what the steps of `cargo xtask test` printed.
fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/xtask/report")
}

/// Keeps a file under this name, in place of what an earlier test has kept there.
///
/// # Errors
/// When it cannot be written.
pub fn keep(name: &str, bytes: &[u8]) -> io::Result<()> {
    let place = place();
    std::fs::create_dir_all(&place)?;
    std::fs::write(place.join(name), bytes)
}
