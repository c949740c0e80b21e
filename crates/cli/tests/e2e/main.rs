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
mod browser_report;
mod dataset;
mod everyday;
mod foreign;
mod fuse_external;
mod loop_account;
mod loop_bad_input;
mod loop_cycle;
mod loop_devices;
mod loop_disturbances;
mod loop_engine;
mod loop_external;
mod loop_fio;
mod loop_io_errors;
mod loop_levels;
mod loop_memory_devices;
mod loop_queue;
mod loop_real_bad;
mod loop_real_work;
mod loop_real_work_articles;
mod loop_real_work_own;
mod loop_resume;
mod loop_run;
mod loop_safety;
mod loop_sweep;
mod loop_verdict;
mod loop_verdict_resume;
mod loop_watch;
mod merge;
mod plain_directory;
mod real_bad;
mod real_stage;
mod real_work;
mod selftest;
mod support;
mod watch;
