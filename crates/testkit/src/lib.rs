//! Things that only tests need. No crate depends on it outside `[dev-dependencies]`.
#![forbid(unsafe_code)]

pub mod browser;
pub mod fake_tree;
pub mod records;

pub use fake_tree::FakeTree;

pub const SECOND_NS: u64 = 1_000_000_000;
