//! Targets on real loop devices: needs root, loop devices and the tools of each file system; what
//! cannot run says why. Serial, one loop device at a time, nothing is left.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, with their helpers")]

mod cases;
mod conditions;
mod exchanged;
mod faults;
mod fixture;
mod killed;
mod loop_alone_made;
mod older;
mod real;
mod refused;
mod variants;
