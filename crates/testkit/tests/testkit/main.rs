//! What the tests of other crates rely on: each check of the browser finds its own planted fault.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod browser_faults;
