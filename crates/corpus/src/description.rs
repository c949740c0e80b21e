//! Descriptions of datasets: a small TOML that says which directories and files there are.
//!
//! A dataset has groups of directories (`[[dirs]]`), each in the directories of an earlier group or
//! in the root, and classes of files (`[[class]]`), each in the directories of a group or in the
//! root. `datasets/README.md` has the format key by key. The description alone decides every byte:
//! its seed is in it. Nothing is resolved or generated here; see `tree`.

mod parse;
mod size;

pub use size::Size;

use crate::contents::Kind;
use fsarena_model::job::Compression;
use serde::{Deserialize, Serialize};

/// The version of the format.
const SCHEMA: u32 = 1;
/// Smallest class of one file that [`Description::scaled`] makes smaller, and how far, bytes.
const SHRINKS_FROM_BYTES: u64 = 1 << 20;

/// What a dataset is made of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    schema: u32,
    name: String,
    title: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    pub(crate) seed: u64,
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    scale: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    archive_ratio: Ratios,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) dirs: Vec<Dirs>,
    #[serde(rename = "class")]
    pub(crate) classes: Vec<Class>,
}

/// Size of an archive as a part of the bytes of the files, by compression.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ratios {
    none: Option<f64>,
    gzip: Option<f64>,
    bzip2: Option<f64>,
    xz: Option<f64>,
    zstd: Option<f64>,
}

impl Ratios {
    fn get(&self, compression: Compression) -> Option<f64> {
        match compression {
            Compression::None => self.none,
            Compression::Gzip => self.gzip,
            Compression::Bzip2 => self.bzip2,
            Compression::Xz => self.xz,
            Compression::Zstd => self.zstd,
        }
    }
}

/// A group of directories.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dirs {
    /// Name of the group, for `in`.
    pub(crate) name: String,
    /// The group whose directories these lie in; absent: the root.
    #[serde(rename = "in")]
    pub(crate) within: Option<String>,
    /// How many there are in all.
    pub(crate) count: Option<u64>,
    /// How many there are in each directory of `in`.
    pub(crate) each: Option<u64>,
    /// How they are dealt to the directories of `in`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) spread: Spread,
    /// Templates of their names, in turn.
    pub(crate) names: Names,
}

/// A class of files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    /// Name of the class, for people and errors.
    pub(crate) name: String,
    /// The group whose directories these lie in; absent: the root.
    #[serde(rename = "in")]
    pub(crate) within: Option<String>,
    /// How many there are in all.
    pub(crate) count: Option<u64>,
    /// How many there are in each directory of `in`.
    pub(crate) each: Option<u64>,
    /// Bytes of all of them; drawn sizes are corrected until they come to this.
    pub(crate) total_bytes: Option<u64>,
    /// How they are dealt to the directories of `in`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) spread: Spread,
    /// Of a hundred files, how many hold what the one before them in the class holds, as far as
    /// their sizes allow: real trees are full of such twins, and compress the better.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) twins_percent: u64,
    /// Mode of the files, octal: `"0644"` (default) or `"0755"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) mode: Mode,
    /// Templates of their names, in turn.
    pub(crate) names: Names,
    /// Size of each, bytes.
    pub(crate) size_bytes: Size,
    /// What is in them.
    pub(crate) contents: Kind,
}

/// How many are dealt to each directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Spread {
    /// The same number to each, as far as that goes.
    #[default]
    Even,
    /// One to each, if there are as many; the rest by weights that are lognormal (sigma 1).
    Uneven,
}

/// One template of names, or several that are used in turn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a template of names, or a list of them")]
pub(crate) enum Names {
    One(String),
    Several(Vec<String>),
}

impl Names {
    pub(crate) fn templates(&self) -> &[String] {
        match self {
            Self::One(template) => std::slice::from_ref(template),
            Self::Several(templates) => templates,
        }
    }
}

/// Permissions of files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Mode {
    /// 0644.
    #[default]
    #[serde(rename = "0644")]
    Plain,
    /// 0755.
    #[serde(rename = "0755")]
    Executable,
}

impl Mode {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Plain => 0o644,
            Self::Executable => 0o755,
        }
    }
}

fn whole() -> f64 {
    1.0
}

#[allow(clippy::trivially_copy_pass_by_ref, clippy::float_cmp)] // for serde; set as it is
fn is_whole(scale: &f64) -> bool {
    *scale == 1.0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Description {
    /// The description as TOML; reading it gives the same description.
    ///
    /// # Panics
    /// Never: every description can be written.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers, strings and tables are all that is in it")
    }

    /// The same dataset, `scale` times as large: there are fewer files and directories, but one of
    /// each at least, and no small file gets smaller; a class of a single file of 1 MiB or more
    /// shrinks in size, to no less than 1 MiB. Scales multiply.
    #[must_use]
    pub fn scaled(&self, scale: f64) -> Self {
        Self { scale: self.scale * scale, ..self.clone() }
    }

    /// Its name: `ports-2004`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is, in one line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What else there is to know, a line each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How much of the dataset is made; 1 is all of it.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The stated guess of the size of an archive, as a part of the bytes of the files. Where none
    /// is stated, that of an archive that is not compressed; where that is missing too, 1.
    #[must_use]
    pub fn archive_ratio(&self, compression: Compression) -> f64 {
        self.archive_ratio.get(compression).or(self.archive_ratio.none).unwrap_or(1.0)
    }

    /// `count` at this scale: at least 1, where it was that.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded on purpose: one multiplication of IEEE, the same everywhere"
    )]
    pub(crate) fn at_scale(&self, count: u64) -> u64 {
        if is_whole(&self.scale) {
            return count;
        }
        ((count as f64 * self.scale + 0.5) as u64).max(count.min(1))
    }
}

impl Class {
    /// Whether it shrinks in size, not in number.
    pub(crate) fn shrinks(&self) -> bool {
        self.count == Some(1) && self.size_bytes.range().1 >= SHRINKS_FROM_BYTES
    }

    /// The least that a single file of `size_bytes` shrinks to, bytes.
    pub(crate) fn shrunk(size_bytes: u64, scaled_bytes: u64) -> u64 {
        scaled_bytes.max(size_bytes.min(SHRINKS_FROM_BYTES))
    }
}

#[cfg(test)]
mod tests;
