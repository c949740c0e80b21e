//! Records of other programs as a RUN: the text of their files in, a plan with its records out.
//!
//! What such a RUN cannot say is left out, not guessed: the machine, the device, the state of the
//! caches, when the data were safe. Compared is therefore `returned`, in one look at all that there
//! is, and every record says that the question was asked after the data were seen and that nothing
//! was interleaved ([`notices`]).
//!
//! Pure: nothing here opens a file, reads a clock or knows the database.

mod build;
mod fio;
mod hyperfine;
pub mod notices;

pub use build::{Given, Imported, Terms};
pub use fio::fio;
pub use hyperfine::hyperfine;

use std::path::PathBuf;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is nothing to import.
    #[error("no file was given")]
    NoFile,
    /// There is nothing in the file.
    #[error("{}: is empty; {program} writes such a file with {option}", path.display())]
    Empty {
        path: PathBuf,
        /// The program whose file it should be.
        program: &'static str,
        option: &'static str,
    },
    /// It is not a file of that program, or not a whole one.
    #[error("{}: is not what {program} writes with {option}: {detail}", path.display())]
    Foreign {
        path: PathBuf,
        /// The program whose file it should be.
        program: &'static str,
        option: &'static str,
        /// What is wrong, with line and column where they are known.
        detail: String,
    },
    /// A value that cannot be.
    #[error("{}: {place}: {detail}", path.display())]
    Value {
        path: PathBuf,
        place: String,
        /// What is wrong, and what to do.
        detail: String,
    },
    /// Files that are not of one kind.
    #[error("{}: {detail}", path.display())]
    Differs {
        path: PathBuf,
        /// How it differs from the others, and what to do.
        detail: String,
    },
    /// More than a RUN can hold.
    #[error("{count} {what} are more than a RUN holds (at most {most}); import fewer files")]
    TooMany {
        /// How many.
        count: usize,
        what: &'static str,
        /// How many there may be.
        most: usize,
    },
}
