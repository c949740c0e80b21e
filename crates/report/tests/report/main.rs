//! Tables, documents and pages as they are shown and published, over hand-made records.
#![allow(clippy::unwrap_used)] // helpers of tests

mod documents;
mod golden;
mod page;
