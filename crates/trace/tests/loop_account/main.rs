//! Traces of real devices: needs root, loop devices, the tools of each file system and a kernel
//! with block tracepoints; what cannot run says why. Serial; nothing is left.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, with their helpers")]

mod cases;
mod fixture;
mod sessions;
