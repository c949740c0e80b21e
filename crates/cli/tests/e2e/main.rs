//! The program as its users meet it: started, stopped, killed and fed with nonsense.
//!
//! Each test has a directory of its own with database, state and images, and ends with the proof
//! that nothing else was left on the machine. Tests of modules named `loop_…` and `fuse_…` need
//! root and are serial; the others work in directories or are refused before anything is made.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod bad_database;
mod bad_input;
mod bad_mixtures;
mod bad_verdicts;
mod dataset;
mod everyday;
mod foreign;
mod fuse_external;
mod loop_account;
mod loop_alone_memory_devices;
mod loop_alone_queue;
mod loop_alone_watch;
mod loop_bad_input;
mod loop_cycle;
mod loop_devices;
mod loop_disturbances;
mod loop_engine;
mod loop_external;
mod loop_fio;
mod loop_io_errors;
mod loop_levels;
mod loop_programs;
mod loop_programs_articles;
mod loop_programs_bad;
mod loop_programs_own;
mod loop_programs_stage;
mod loop_resume;
mod loop_run;
mod loop_safety;
mod loop_verdict;
mod loop_verdict_resume;
mod merge;
mod plain_directory;
mod programs;
mod programs_bad;
mod selftest;
mod support;
mod watch;
