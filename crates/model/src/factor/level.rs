//! Texts of levels: what is read the same way by several factors.

use crate::contender::FsLevel;
use crate::units::{BadQuantity, Bytes, Nanos};
use std::collections::{BTreeMap, BTreeSet};

/// The level of a setting that stays as it is.
pub const UNCHANGED: &str = "default";

/// A text that is no level of a factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LevelError {
    /// It is none of a few words.
    Unknown {
        /// What the words are, such as `cache state`.
        kind: &'static str,
        known: Vec<&'static str>,
    },
    /// Anything else.
    Refused {
        /// What is wrong, with the value as written.
        what: String,
        /// What to do about it.
        remedy: String,
    },
}

impl LevelError {
    pub(super) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), remedy: remedy.into() }
    }
}

impl From<BadQuantity> for LevelError {
    fn from(error: BadQuantity) -> Self {
        let (what, remedy) = error.what_and_remedy();
        Self::Refused { what, remedy }
    }
}

/// One of a few words.
pub(super) fn word(
    text: &str,
    kind: &'static str,
    known: &[&'static str],
) -> Result<String, LevelError> {
    if known.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(LevelError::Unknown { kind, known: known.to_vec() })
}

/// A number of bytes.
pub(super) fn bytes(text: &str) -> Result<u64, LevelError> {
    Ok(text.parse::<Bytes>()?.0)
}

/// The number of bytes of a canonical text.
pub(super) fn known_bytes(level: &str) -> Option<u64> {
    level.parse::<Bytes>().ok().map(|bytes| bytes.0)
}

/// A size in words; `none` where there is none.
pub(super) fn size_words(level: &str, none: &str) -> String {
    known_bytes(level).map_or_else(|| none.to_owned(), |bytes| Bytes(bytes).to_string())
}

/// A number of things, from 1 on, or [`UNCHANGED`].
pub(super) fn count(text: &str, kind: &str, most: u32) -> Result<String, LevelError> {
    let text = text.trim();
    if text == UNCHANGED {
        return Ok(text.to_owned());
    }
    match text.parse::<u32>() {
        Ok(number) if (1..=most).contains(&number) => Ok(number.to_string()),
        _ => Err(LevelError::new(
            format!("{text:?} is no number of {kind}"),
            format!("use a number from 1 to {most}, such as 1,2,4 or 1..8"),
        )),
    }
}

/// The number that a level of these is; none where nothing is said, or nothing that [`count`]
/// takes.
pub(super) fn known_count(level: &str, most: u32) -> Option<u32> {
    level.parse().ok().filter(|number| (1..=most).contains(number))
}

pub(super) fn nanos(text: &str) -> Result<u64, LevelError> {
    Ok(text.parse::<Nanos>()?.0)
}

/// The keys of all mkfs options.
pub(super) fn mkfs_keys<'f>(all: &[&'f FsLevel]) -> BTreeSet<&'f String> {
    all.iter().flat_map(|fs| fs.mkfs.keys()).collect()
}

/// Keys of mount options, and whether all that have one have it without a value.
pub(super) fn mount_keys(all: &[&FsLevel]) -> BTreeMap<String, bool> {
    let mut keys = BTreeMap::new();
    for option in all.iter().flat_map(|fs| &fs.mount) {
        let (key, has_value) = match option.split_once('=') {
            Some((key, _)) => (key, true),
            None => (option.as_str(), false),
        };
        *keys.entry(key.to_owned()).or_insert(true) &= !has_value;
    }
    keys
}

/// What the mount options say of a key.
pub(super) fn mounted(fs: &FsLevel, key: &str) -> Option<String> {
    let value = |option: &String| match option.split_once('=') {
        Some((known, value)) if known == key => Some(value.to_owned()),
        None if option == key => Some("on".to_owned()),
        _ => None,
    };
    let values: Vec<String> = fs.mount.iter().filter_map(value).collect();
    (!values.is_empty()).then(|| values.join(","))
}
