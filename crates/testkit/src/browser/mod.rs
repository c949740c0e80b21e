//! A headless Chromium for tests of pages: opens a file, reads what is shown, presses keys.
//!
//! Speaks the DevTools protocol over a pair of pipes, so nothing listens on a port and nothing has
//! to be fetched. Each [`Browser`] has a profile of its own, which is removed with it. It knows
//! nothing of RUNs, reports or charts.

mod axe;
mod checks;
mod chromium;
mod input;
mod looks;
mod page;
mod wire;

pub use axe::{AXE, AXE_SHA256, AXE_VERSION, Violation};
pub use chromium::{Browser, find};
pub use looks::{Chart, Folded};
pub use page::{Page, PageMessages, View};
pub use wire::Error;

use std::io;
use std::path::{Path, PathBuf};

/// Where pictures and prints are kept, next to the output of the steps of `cargo xtask test`.
fn output_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/xtask/report")
}

/// Keeps a picture or print of a page under this name, so that a person can look at what a test
/// saw; an earlier one is replaced.
///
/// # Errors
/// When it cannot be written.
pub fn keep(name: &str, bytes: &[u8]) -> io::Result<()> {
    let dir = output_dir();
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join(name), bytes)
}
