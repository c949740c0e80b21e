//! Files that fio and hyperfine wrote: what is read from them, and the RUNs that are made of them.
#![allow(clippy::unwrap_used)] // helpers of tests

mod fio_output;
mod import;
