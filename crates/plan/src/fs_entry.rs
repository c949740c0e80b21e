//! An element of the list of file systems: its name and options as text.

use crate::error::{PlanError, Span};
use crate::sweep;
use crate::text::name;
use fsarena_model::contender::FsLevel;
use std::collections::BTreeMap;

/// Most combinations of levels: each of them is a contender.
pub(crate) const MAX_CONTENDERS: usize = 1000;

/// The error where there are more.
pub(crate) fn too_many(place: &Span) -> PlanError {
    let what = format!("more than {MAX_CONTENDERS} combinations of levels");
    PlanError::new(place, what, "shorten some of the lists")
}

/// One element of the list of file systems.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FsEntry {
    /// Name and the options written with it.
    pub level: FsLevel,
    /// The text as written; of a range, with the level in its place.
    pub text: String,
    /// The text with the range that it is a level of, where there is one.
    pub sweep: Option<String>,
}

impl FsEntry {
    /// Whether it has options of its own; then the axes of its file system do not apply to it.
    #[must_use]
    pub fn has_options(&self) -> bool {
        !self.level.mkfs.is_empty() || !self.level.mount.is_empty()
    }
}

/// A file system with its options: `name[:mount-option…][:mkfs.KEY=VALUE…]`, a value perhaps a
/// range: then there is one for each level.
///
/// No option begins with a digit: what does goes on with the value before it, as in
/// `btrfs:compress=zstd:3`.
pub(crate) fn fs_entries(text: &str, place: &Span) -> Result<Vec<FsEntry>, PlanError> {
    let entry = fs_entry(text, place)?;
    let mut all = vec![entry.clone()];
    for (key, value) in &entry.level.mkfs {
        let levels = sweep::levels(value, place)?;
        if levels.len() == 1 {
            continue;
        }
        if all.len() * levels.len() > MAX_CONTENDERS {
            return Err(too_many(place));
        }
        let of_range = |entry: &FsEntry, level: &String| {
            let mut one = entry.clone();
            one.level.mkfs.insert(key.clone(), level.clone());
            one.text =
                one.text.replace(&format!("mkfs.{key}={value}"), &format!("mkfs.{key}={level}"));
            one.sweep = Some(text.trim().to_owned());
            one
        };
        all = all
            .iter()
            .flat_map(|entry| levels.iter().map(move |level| of_range(entry, level)))
            .collect();
    }
    Ok(all)
}

/// One file system; ranges are left as they are.
pub(crate) fn fs_entry(text: &str, place: &Span) -> Result<FsEntry, PlanError> {
    if text.contains(',') {
        let what = format!("{text:?} holds a comma");
        let remedy =
            "write several as a list: [\"ext4\", \"xfs\"], options with colons: \"ext4:a:b\"";
        return Err(PlanError::new(place, what, remedy));
    }
    let mut parts = text.trim().split(':');
    let fs_name = name(parts.next().unwrap_or_default(), place, "a file system")?;
    let mut mkfs = BTreeMap::new();
    let mut mount = Vec::new();
    for part in whole_options(parts, text, place)? {
        match part.strip_prefix("mkfs.") {
            Some(option) => {
                let (key, value) = mkfs_option(option, text, place)?;
                if mkfs.insert(key.clone(), value).is_some() {
                    return Err(twice(place, &format!("mkfs.{key}"), text));
                }
            }
            None => mount.push(part),
        }
    }
    let mount = mount_options(mount, text, place)?;
    let level = FsLevel { name: fs_name, mkfs, mount, external: None };
    Ok(FsEntry { level, text: text.trim().to_owned(), sweep: None })
}

/// The options between the colons, values with a colon put together again.
fn whole_options<'t>(
    parts: impl Iterator<Item = &'t str>,
    text: &str,
    place: &Span,
) -> Result<Vec<String>, PlanError> {
    let mut options: Vec<String> = Vec::new();
    for part in parts {
        if !part.starts_with(|c: char| c.is_ascii_digit()) {
            options.push(part.to_owned());
            continue;
        }
        let Some(before) = options.last_mut().filter(|option| !option.is_empty()) else {
            let what =
                format!("{text:?}: {part:?} continues an option, and there is none before it");
            return Err(PlanError::new(place, what, "write it like btrfs:compress=zstd:3"));
        };
        before.push(':');
        before.push_str(part);
    }
    Ok(options)
}

fn mkfs_option(option: &str, text: &str, place: &Span) -> Result<(String, String), PlanError> {
    match option.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => {
            Ok((key.to_owned(), value.to_owned()))
        }
        _ => Err(PlanError::new(
            place,
            format!("{text:?}: `mkfs.{option}` is not KEY=VALUE"),
            "write it like mkfs.block_size=1024",
        )),
    }
}

/// Checks mount options that belong together and sorts them.
pub(crate) fn mount_options(
    mut options: Vec<String>,
    text: &str,
    place: &Span,
) -> Result<Vec<String>, PlanError> {
    let odd = |o: &String| o.is_empty() || o.starts_with('-') || o.contains(char::is_whitespace);
    if let Some(option) = options.iter().find(|option| odd(option)) {
        let what = format!("{text:?}: {option:?} is not a mount option");
        return Err(PlanError::new(place, what, "write it as after `mount -o`, such as noatime"));
    }
    // It would make a second identity of the same options.
    if options.iter().any(|option| option == "defaults") {
        let what = format!("{text:?}: \"defaults\" means no options, as a plain name does");
        return Err(PlanError::new(place, what, "leave it out"));
    }
    options.sort();
    let key = |option: &str| option.split('=').next().unwrap_or_default().to_owned();
    if let Some(pair) = options.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
        return Err(twice(place, &key(&pair[0]), text));
    }
    Ok(options)
}

fn twice(place: &Span, key: &str, text: &str) -> PlanError {
    PlanError::new(place, format!("{text:?} gives `{key}` twice"), "keep one of them")
}
