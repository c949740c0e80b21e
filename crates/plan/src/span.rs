//! Where a value was written: a line and column of a file, an option of the command line, or
//! nowhere.
//!
//! Below everything else of this crate; knows nothing of experiments.

use std::fmt;

/// Where a value was written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Span {
    /// In a file.
    File {
        /// Name of the file as the user gave it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// In an option of the command line, such as `--fs`.
    Option(&'static str),
    /// In the option of a factor, by its name without dashes.
    Factor(&'static str),
    /// Nowhere: a default.
    #[default]
    Default,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Self::Option(option) => f.write_str(option),
            Self::Factor(flag) => write!(f, "--{flag}"),
            Self::Default => f.write_str("default value"),
        }
    }
}

/// A value and where it was written.
#[derive(Clone, PartialEq, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub place: Span,
}

impl<T> At<T> {
    /// A value at a place.
    pub fn new(value: T, place: &Span) -> Self {
        Self { value, place: place.clone() }
    }
}
