//! A headless Chromium for tests of pages: opens a file, looks at it, presses keys.
//!
//! Speaks the DevTools protocol over a pair of pipes, so nothing listens on a port and nothing has
//! to be fetched. Each [`Browser`] has a profile of its own, which goes with it. No crate depends
//! on it outside `[dev-dependencies]`; it knows nothing of RUNs, reports or charts.
#![forbid(unsafe_code)]

mod axe;
mod checks;
mod chromium;
mod error;
mod input;
mod kept;
mod keyboard;
mod looks;
mod page;
mod wire;

pub use axe::{AXE, AXE_SHA256, AXE_VERSION, Violation};
pub use chromium::{Browser, find};
pub use error::Error;
pub use kept::keep;
pub use looks::{Chart, Folded};
pub use page::{Page, Said, View};
