//! A device of flash memory: a page-mapped translation layer with garbage collection over dies and
//! channels, a buffer of writes, and a part that is programmed with one bit a cell.

mod ssd;
mod translation;

pub use ssd::Flash;
