//! The languages of articles.

use super::phrases::Phrases;
use super::phrases::english::English;
use super::phrases::russian::Russian;
use std::fmt;

/// Every language; a new one is its file in `phrases` and its line here.
static LANGUAGES: [&dyn Phrases; 2] = [&English, &Russian];

/// In which language an article is written.
#[derive(Clone, Copy)]
pub struct Language(&'static dyn Phrases);

impl Language {
    /// All of them, English first.
    pub fn all() -> impl Iterator<Item = Self> {
        LANGUAGES.into_iter().map(Self)
    }

    /// That of a tag of BCP 47, such as `en`.
    #[must_use]
    pub fn named(tag: &str) -> Option<Self> {
        Self::all().find(|language| language.tag() == tag)
    }

    /// Its tag.
    #[must_use]
    pub fn tag(self) -> &'static str {
        self.0.tag()
    }

    /// Its English name, and what else there is to know.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Its words.
    pub(super) fn phrases(self) -> &'static dyn Phrases {
        self.0
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}
