//! The kinds of contents, as a class of a description names them.

use super::head::Head;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of a whole in percent: 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Percent(u8);

impl Percent {
    /// `percent`, or `None` if it is over 100.
    #[must_use]
    pub const fn new(percent: u8) -> Option<Self> {
        if percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// The number, 0 to 100.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<i64> for Percent {
    type Error = String;

    fn try_from(percent: i64) -> Result<Self, String> {
        let known = u8::try_from(percent).ok().and_then(Self::new);
        known.ok_or_else(|| format!("{percent} is not a percentage; write a number from 0 to 100"))
    }
}

impl From<Percent> for i64 {
    fn from(percent: Percent) -> Self {
        Self::from(percent.0)
    }
}

/// One kind of contents.
///
/// In a description: `contents = "text"`, `contents = { headed = "jpeg" }`,
/// `contents = { mixed = { random_percent = 60 } }`,
/// `contents = { ebuild = { unique_percent = 10 } }`.
/// Kinds of lines end with the end of a line, whatever the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Kind {
    /// Bytes that do not compress.
    Random,
    /// Bytes that do not compress behind the head of a known format: only the head is real.
    Headed(Head),
    /// Bytes of which a part does not compress and the rest compresses to next to nothing.
    Mixed {
        /// The part that does not compress, in percent: what gzip makes of it is this part and
        /// 1 to 2 % of the whole.
        random_percent: Percent,
    },
    /// Prose of made words: gzip makes it about three times smaller.
    Text,
    /// The same within tags.
    Html,
    /// Lines as of recipes of packages, in the shell's language.
    Ebuild {
        /// The part of the bytes that are digits of hashes, in percent.
        unique_percent: Percent,
    },
    /// Lines as of recipes of ports, in the language of make.
    Makefile {
        /// The part of the bytes that are digits of hashes, in percent.
        unique_percent: Percent,
    },
    /// A source file in C, which includes `common.h`; compiles from [`Kind::least_bytes`] on.
    C,
    /// The same with a `main`.
    CMain,
    /// A header in C, as `common.h`.
    CHeader,
    /// The Makefile of a tree of sources: builds `src/*.c` (which finds headers in `include`,
    /// `src` and the root of the tree) and `main.c` into the directory `OUT`, which may be empty
    /// or missing: objects, `libmade.a`, and the program `made`. The tree is only read.
    CMakefile,
    /// A sound of music-like voices: RIFF WAVE, 16 bit, stereo, 44.1 kHz. Sizes are those of
    /// whole samples when 44 bytes over a multiple of 4.
    Wav,
}

impl Kind {
    /// Whether it is a part of what the Makefile of [`Kind::CMakefile`] builds.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        matches!(self, Self::C | Self::CMain | Self::CHeader | Self::CMakefile)
    }
}

/// For people: `text`, `head of jpeg, random`, `ebuild, 12 % hashes`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Random => "random",
            Self::Headed(head) => return write!(f, "head of {}, random", head.name()),
            Self::Mixed { random_percent } => {
                return write!(f, "{} % random", random_percent.get());
            }
            Self::Text => "text",
            Self::Html => "html",
            Self::Ebuild { unique_percent } => {
                return write!(f, "ebuild, {} % hashes", unique_percent.get());
            }
            Self::Makefile { unique_percent } => {
                return write!(f, "makefile, {} % hashes", unique_percent.get());
            }
            Self::C => "c",
            Self::CMain => "c-main",
            Self::CHeader => "c-header",
            Self::CMakefile => "c-makefile",
            Self::Wav => "wav",
        };
        f.write_str(name)
    }
}
