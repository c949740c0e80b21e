//! A rotating disk: seeks by a curve, rotation as the phase of the stated time, zones, a read cache
//! that reads ahead, and a queue of which the request that is reached first is next.
//!
//! Tracks are skewed so that a sequential transfer meets the first sector of the next track just in
//! time. The time that the head needs from sector 0 to a sector in one go is therefore both its
//! angle (modulo a revolution) and, as a difference, the time of any transfer.

mod disk;
mod geometry;
mod read_cache;
mod seek;

pub use disk::Rotating;
pub use geometry::Geometry;
