//! Reading what somebody else wrote, within limits: a line, all that there is, the headers of an
//! archive.
//!
//! Whoever writes decides how much comes; how much of it is held in memory is decided here. This is
//! the one place where a line or a whole text is read (`cargo xtask tidy` refuses it elsewhere).
//! Nothing here knows what the bytes mean.
#![forbid(unsafe_code)]

mod header_limit;
mod reader;

pub use header_limit::{HeaderLimit, LimitedReader, MAX_HEADERS_BYTES};
pub use reader::{Bounded, TooLong};
