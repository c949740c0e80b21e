//! The database: what is written is read back, also after a crash, a merge or a bad file.

mod bad_files;
mod crash;
mod fixture;
mod merge;
mod queries;
mod roundtrip;
mod scores;
mod verdicts;
