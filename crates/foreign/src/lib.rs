//! Files of other programs: fio job files as workloads, results of fio and hyperfine as RUNs.
//!
//! Pure functions on text: nothing here opens a file, starts a process, reads a clock or knows the
//! database.
#![forbid(unsafe_code)]

pub mod fio;
pub mod import;
mod seen;
