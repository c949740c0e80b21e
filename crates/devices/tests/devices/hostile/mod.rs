//! Vetting against hostile states: block devices that must not be written, built for real from
//! loop devices, zram and whatever the tools here can write, and trees of files that look like
//! `/sys` and `/proc` of other machines.
//!
//! Of every state that is refused, the SHA-256 of the whole backing image is the same after the
//! refusal. Needs root; what cannot be built says why. The disks of this machine are
//! only looked at.
//! `FSARENA_HOSTILE=word` runs the states that have the word in their name.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, with their helpers")]

mod between;
mod bytes;
mod fake_trees;
mod fixture;
mod in_use;
mod no_device;
mod positive;
mod signatures;
mod states;
