//! The datasets that are built in: the files of `datasets/`, and `small-N` by its name.
//!
//! Their seeds and sizes are what published results refer to: a changed dataset gets a new name.

use crate::Description;

/// The files of `datasets/`, by name.
const FILES: &[(&str, &str)] = &[
    ("mixed-830m", include_str!("../../../datasets/mixed-830m.toml")),
    ("ports-2004", include_str!("../../../datasets/ports-2004.toml")),
    ("portage-2008", include_str!("../../../datasets/portage-2008.toml")),
    ("portage-2010", include_str!("../../../datasets/portage-2010.toml")),
    ("flac-16", include_str!("../../../datasets/flac-16.toml")),
    ("wav-5", include_str!("../../../datasets/wav-5.toml")),
    ("big-693m", include_str!("../../../datasets/big-693m.toml")),
    ("iso-586m", include_str!("../../../datasets/iso-586m.toml")),
    ("avi-3400m", include_str!("../../../datasets/avi-3400m.toml")),
    ("c-tree", include_str!("../../../datasets/c-tree.toml")),
];

/// Size of the files of `small-N`, bytes: that of the tests of 2003.
const SMALL_BYTES: u64 = 256;
/// Files of `small-N` in a directory.
const SMALL_PER_DIR: u64 = 100;
/// Most files of `small-N`.
const SMALL_MOST: u64 = 25_000_000;

/// The names of the built-in datasets, but those of `small-N`.
#[must_use]
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// A built-in dataset. `small-N` has N files of 256 bytes, 100 to a directory, N from 1 to 25
/// million.
///
/// # Panics
/// Never: the files are checked by a test.
#[must_use]
pub fn builtin(name: &str) -> Option<Description> {
    if let Some(digits) = name.strip_prefix("small-") {
        let files: u64 = digits.parse().ok()?;
        let is_canonical = files.to_string() == digits && (1..=SMALL_MOST).contains(&files);
        return is_canonical.then(|| small(files, SMALL_BYTES, (files / SMALL_PER_DIR).max(1)));
    }
    let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
    let file = format!("datasets/{name}.toml");
    Some(Description::parse(text, &file).expect("a test reads every built-in dataset"))
}

/// `files` files of `size_bytes` each in `dirs` directories; 0 directories: all in the root. At
/// least one file, no more than 25 million files and as many directories, of 1 TiB at most.
///
/// # Panics
/// Never, for the same reason.
#[must_use]
pub fn small(files: u64, size_bytes: u64, dirs: u64) -> Description {
    let (files, dirs) = (files.clamp(1, SMALL_MOST), dirs.min(SMALL_MOST - 1));
    let size_bytes = size_bytes.min(1 << 40);
    let group = format!("[[dirs]]\nname = \"dir\"\ncount = {dirs}\nnames = \"d{{n:5}}\"\n");
    let (group, within) = if dirs == 0 { ("", "") } else { (&group[..], "in = \"dir\"\n") };
    let place = match dirs {
        0 => "without directories".to_owned(),
        dirs => format!("in {dirs} {}", if dirs == 1 { "directory" } else { "directories" }),
    };
    let noun = if files == 1 { "file" } else { "files" };
    let text = format!(
        "schema = 1\nname = \"small-{files}\"\n\
         title = \"{files} {noun} of {size_bytes} B {place}\"\nseed = 2003\n\
         {group}[[class]]\nname = \"small\"\n{within}count = {files}\nnames = \"f{{n:8}}\"\n\
         size_bytes = {size_bytes}\ncontents = \"text\"\n"
    );
    Description::parse(&text, "small").expect("numbers within the limits of a description")
}

#[cfg(test)]
mod tests;
