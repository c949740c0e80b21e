//! Layers over a device model, each a device model itself: a volatile cache of writes, a flush that
//! lies, and faults.

mod extents;
mod faults;
mod lying_flush;
mod write_cache;

pub use faults::{Fault, FaultKind, Faults, STRIKES_MOST, Strike};
pub use lying_flush::LyingFlush;
pub use write_cache::WriteCache;
