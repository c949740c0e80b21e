//! Where a value was written, and the one error of this crate: a place, what is wrong there, and
//! what to do.
//!
//! Each text names the value as it was written. A place is a line and column of a file or the
//! option of the command line; nothing here guesses at places that are not known.

use crate::embedded::is_builtin;
use fsarena_model::contender::AskedBy;
use std::fmt;
use strsim::osa_distance;

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

impl Span {
    /// Who asks for what is written there.
    pub(crate) fn asked_by(&self) -> AskedBy {
        match self {
            Self::Default => AskedBy::Program,
            Self::File { file, .. } if is_builtin(file) => AskedBy::Program,
            Self::File { .. } | Self::Option(_) | Self::Factor(_) => AskedBy::User,
        }
    }
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

/// An experiment that cannot be run as it is written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {what}; {remedy}")]
pub struct PlanError {
    /// Where.
    pub place: Span,
    /// What is wrong, with the value as written.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl PlanError {
    /// An error at a place.
    #[must_use]
    pub fn new(place: &Span, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.clone(), what: what.into(), remedy: remedy.into() }
    }

    /// An error about a name that is not one of `known`, with the nearest of them as the remedy.
    #[must_use]
    pub fn unknown<S: AsRef<str>>(place: &Span, kind: &str, name: &str, known: &[S]) -> Self {
        let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
        let remedy = match nearest(name, &known) {
            Some(near) => format!("did you mean {near:?}?"),
            None if known.is_empty() => "none is known here".to_owned(),
            None => format!("known: {}", known.join(", ")),
        };
        Self::new(place, format!("unknown {kind} {name:?}"), remedy)
    }
}

/// The one of `known` that `name` was probably meant to be, if any is near enough.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let allowed = (name.chars().count() / 3).max(1);
    known
        .iter()
        .map(|candidate| (osa_distance(&name, &candidate.to_lowercase()), *candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["ext2", "ext4", "xfs", "btrfs"];
        assert_eq!(nearest("ex4", &known), Some("ext4"));
        assert_eq!(nearest("brtfs", &known), Some("btrfs"));
        assert_eq!(nearest("XFS", &known), Some("xfs"));
        assert_eq!(nearest("zfsonlinux", &known), None);
        assert_eq!(osa_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn an_unknown_name_without_a_neighbour_lists_the_known() {
        let error = PlanError::unknown(&Span::Option("--fs"), "file system", "hpfs", &["xfs"]);
        assert_eq!(error.to_string(), "--fs: unknown file system \"hpfs\"; known: xfs");
    }
}
