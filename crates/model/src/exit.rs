//! Exit codes of the program, which also say how a RUN on another host has ended.

/// Something failed.
pub const FAILED: u8 = 1;
/// The command line or an experiment file is wrong.
pub const USAGE: u8 = 2;
/// A comparison with `--fail-on slower` found a slower one.
pub const SLOWER: u8 = 3;
/// `--require-decision` was given, and a question is undecided.
pub const UNDECIDED: u8 = 4;
/// A phase was to be cold and could not be proved cold.
pub const INVALID: u8 = 5;
/// A comparison had nothing to compare, or, with `--fail-on missing`, a side without figures.
pub const MISSING: u8 = 6;
/// A promise of fsync was broken on a disk that is honest.
pub const BROKEN: u8 = 7;
/// Stopped by the user.
pub const INTERRUPTED: u8 = 130;
