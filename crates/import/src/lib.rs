//! Records of other programs as a RUN: the text of their files in, a plan with its records out.
//!
//! What such a RUN cannot say is left out, not guessed: the machine, the device, the state of the
//! caches, when the data were safe. Compared is therefore `returned`, in one look at all that there
//! is, and every record says that the question was asked after the data were seen and that nothing
//! was interleaved ([`notices`]).
//!
//! Pure: nothing here opens a file, reads a clock or knows the database.
#![forbid(unsafe_code)]

mod build;
mod error;
mod fio;
mod hyperfine;
pub mod notices;

pub use error::ImportError;
pub use fio::fio;
pub use hyperfine::hyperfine;

use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;
use std::path::PathBuf;

/// A file of another program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given {
    /// The label of its contender, where one was given.
    pub label: Option<String>,
    /// Where it lies, for messages.
    pub path: PathBuf,
    /// What stands in it.
    pub text: String,
}

/// What the RUN is told from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Terms {
    /// Unique id of the RUN.
    pub uid: String,
    /// Now, ns since 1970.
    pub now_unix_ns: u64,
    /// Version of this program.
    pub program_version: String,
    /// Arguments of the command line.
    pub arguments: Vec<String>,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
}

/// A RUN that is done.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// Its plan.
    pub header: RunHeader,
    /// Its records, in the order of the schedule.
    pub records: Vec<TrialRecord>,
}
