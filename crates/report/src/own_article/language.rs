//! The languages of articles.

use super::phrases::Phrases;
use super::phrases::english::English;
use super::phrases::russian::Russian;

/// In which language an article is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    English,
    /// That of the articles of 2003 to 2010.
    Russian,
}

impl Language {
    /// Its words.
    pub(super) fn phrases(self) -> &'static dyn Phrases {
        match self {
            Self::English => &English,
            Self::Russian => &Russian,
        }
    }
}
