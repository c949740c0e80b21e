//! What real work is done with: the keys `dataset` and `source`.

use super::dataset::{MAX_DIRS, MAX_FILES};
use crate::error::PlanError;
use crate::files::{Files, Surveyed};
use crate::span::{At, Span};
use crate::text;
use crate::tree::{Node, Table};
use fsarena_corpus::own::{Own, TopLevel};
use fsarena_corpus::{CorpusError, Description};
use fsarena_model::dataset::Dataset;
use fsarena_model::job::{Contents, Origin, Source, SourcePlace};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Largest of many small files.
const MAX_SMALL_BYTES: u64 = 1 << 30;
/// Size and number a directory of `small`, where these are not said.
const SMALL_BYTES: u64 = 256;
const SMALL_PER_DIR: u64 = 100;
const EXAMPLE: &str = "\"mixed-830m\", or { from = \"DIR or archive\" }";

/// Reads `dataset`. What is the user's own is an archive or a tree as it was found, with what is
/// directly in it; of what is made, the phases decide later.
pub(super) fn read(
    node: &Node<'_>,
    files: &Files<'_>,
) -> Result<(Source, Option<TopLevel>), PlanError> {
    if !node.is_table() {
        return named(node).map(|source| (source, None));
    }
    let table = node.table(EXAMPLE)?;
    table.only(&["small", "size", "dirs", "file", "description", "from"])?;
    let kinds = ["small", "file", "description", "from"];
    let given: Vec<&str> = kinds.into_iter().filter(|key| table.get(key).is_some()).collect();
    let [kind] = given[..] else {
        let remedy = "write one of small, file, description, from";
        return Err(node.error("not one dataset", remedy));
    };
    if let Some(other) = table.get("size").or(table.get("dirs")).filter(|_| kind != "small") {
        let what = format!("`size` and `dirs` belong to `small`, not to `{kind}`");
        return Err(other.error(what, "leave them out"));
    }
    let node = table.need(kind, EXAMPLE)?;
    let source = match kind {
        "small" => small(&table, &node)?,
        "file" => from_file(&node, files)?,
        "from" => return own(&node, files).map(|(source, top)| (source, Some(top))),
        _ => {
            let text = node.text("\"\"\"…\"\"\", the description of a dataset")?;
            let read = Description::parse(text, "the description");
            made(&read.map_err(|error| within(&error, &node.place))?)
        }
    };
    Ok((source, None))
}

/// A built-in dataset.
fn named(node: &Node<'_>) -> Result<Source, PlanError> {
    let name = node.text(EXAMPLE)?;
    if let Some(description) = fsarena_corpus::builtin(name) {
        return Ok(made(&description));
    }
    if name.starts_with("small-") {
        let remedy = "small-N has N files, from 1 to 25 million: write it like small-10000";
        return Err(node.error(format!("unknown dataset {name:?}"), remedy));
    }
    let mut known = fsarena_corpus::names();
    known.push("small-N");
    Err(PlanError::unknown(&node.place, "dataset", name, &known))
}

/// Reads `source`: where the data is.
pub(super) fn place(node: &Node<'_>) -> Result<SourcePlace, PlanError> {
    let places = [SourcePlace::Same, SourcePlace::Other, SourcePlace::Memory];
    let places = places.map(|place| (place.name(), place));
    text::word(node.text("\"same\"")?, &node.place, "place of the source", &places)
}

/// Whether it is data of the user's.
pub(super) fn is_own(source: &Source) -> bool {
    matches!(source.origin, Origin::Own { .. })
}

/// A source that is generated, as a tree.
fn made(description: &Description) -> Source {
    Source {
        name: description.name().to_owned(),
        origin: Origin::Made { description: description.to_toml() },
        place: SourcePlace::default(),
        archive: None,
        contents: contents(description),
    }
}

/// What a description comes to. Trees are large: each is gone through once.
fn contents(description: &Description) -> Contents {
    static KNOWN: OnceLock<Mutex<HashMap<String, Contents>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let text = description.to_toml();
    let held = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(contents) = held().get(&text) {
        return *contents;
    }
    let contents = description.tree().contents();
    held().insert(text, contents);
    contents
}

fn small(table: &Table<'_>, node: &Node<'_>) -> Result<Source, PlanError> {
    let files = node.integer(1..=MAX_FILES, "10_000")?;
    let size = match table.get("size") {
        None => SMALL_BYTES,
        Some(node) => {
            let size = text::bytes(&node.scalar("\"1 KiB\"")?, &node.place)?;
            if size > MAX_SMALL_BYTES {
                let what = "small files of more than 1 GiB";
                return Err(node.error(what, "describe the dataset in a file: { file = … }"));
            }
            size
        }
    };
    let dirs = match table.get("dirs") {
        None => (files / SMALL_PER_DIR).clamp(1, MAX_DIRS),
        Some(node) => node.integer(1..=MAX_DIRS.min(files), "50")?,
    };
    Ok(made(&fsarena_corpus::small(files, size, dirs)))
}

fn from_file(node: &Node<'_>, files: &Files<'_>) -> Result<Source, PlanError> {
    let here = "write its text here: { description = \"\"\"…\"\"\" }";
    let (shown, text) = files.text_of(node, "\"my-tree.toml\"", here)?;
    let description =
        Description::parse(&text, &shown).map_err(|error| in_file(&error, &node.place))?;
    Ok(made(&description))
}

/// The user's own tree or archive.
fn own(node: &Node<'_>, files: &Files<'_>) -> Result<(Source, TopLevel), PlanError> {
    let written = node.text("\"/srv/our/tree\"")?;
    let Some(survey) = files.survey else {
        let what = format!("{written:?} is a path of yours, and only this file is read here");
        return Err(node.error(what, "run it as a file: fsarena run FILE"));
    };
    let path = files.path(written);
    let found = survey(&path).map_err(|error| unusable(&error, &node.place))?;
    let Surveyed { path, own, top } = found;
    let Some(name) = path.to_str().filter(|_| path.is_absolute()).map(str::to_owned) else {
        let what = format!("the path {} cannot be recorded: it is not UTF-8", path.display());
        return Err(node.error(what, "move it to a path in UTF-8 (names below it are free)"));
    };
    let (archive, contents) = match own {
        Own::Tree(contents) => (None, contents),
        Own::Archive(compression, contents) => (Some(compression), contents),
    };
    if contents.entries() == 0 {
        return Err(node.error(format!("{name} is empty"), "give one that holds files"));
    }
    let origin = Origin::Own { path };
    Ok((Source { name, origin, place: SourcePlace::default(), archive, contents }, top))
}

/// What the rest of the program sees of a source where it sees a dataset: as many files, and bytes.
pub(super) fn summary(source: &Source) -> Dataset {
    let files = source.contents.files.max(1);
    Dataset::uniform(files, source.contents.bytes.div_ceil(files), 0)
}

/// The source at a scale; what is the user's own stays as it is.
pub(super) fn scaled(source: &At<&Source>, scale: f64) -> Result<Source, PlanError> {
    let Origin::Made { description } = &source.value.origin else {
        return Ok(source.value.clone());
    };
    let description = Description::parse(description, &source.value.name)
        .map_err(|error| within(&error, &source.place))?;
    let whole = made(&description.scaled(scale));
    Ok(Source { place: source.value.place, archive: source.value.archive, ..whole })
}

/// Whether a made tree has a file for which `holds` is true; of the user's own that is not known.
pub(super) fn has_file(source: &Source, holds: impl Fn(&str) -> bool) -> Option<bool> {
    let Origin::Made { description } = &source.origin else { return None };
    let description = Description::parse(description, &source.name).ok()?;
    let tree = description.tree();
    let found = tree.entries().any(|entry| holds(entry.path));
    Some(found)
}

/// An error of a description within another file.
fn within(error: &CorpusError, place: &Span) -> PlanError {
    match error {
        CorpusError::Description { line, what, remedy, .. } => {
            PlanError::new(place, format!("line {line} of the description: {what}"), remedy)
        }
        other => PlanError::new(place, other.to_string(), "give another dataset"),
    }
}

/// An error of a file that holds a description.
fn in_file(error: &CorpusError, place: &Span) -> PlanError {
    match error {
        CorpusError::Description { file, line, what, remedy } => {
            let place = Span::File { file: file.clone(), line: *line, column: 1 };
            PlanError::new(&place, what, remedy)
        }
        other => within(other, place),
    }
}

/// An error about the user's own data.
fn unusable(error: &CorpusError, place: &Span) -> PlanError {
    let (what, remedy) = match error {
        CorpusError::Own { path, what, remedy } => {
            (format!("{}: {what}", path.display()), remedy.clone())
        }
        CorpusError::Refused { path, member, what, remedy } => {
            (format!("{}: {member:?} {what}", path.display()), (*remedy).to_owned())
        }
        CorpusError::Damaged { path, members, error } => {
            let noun = if *members == 1 { "member" } else { "members" };
            let what = format!("damaged or cut off after {members} {noun}: {error}");
            let remedy = "fetch or pack the archive again".to_owned();
            (format!("{}: {what}", path.display()), remedy)
        }
        other => {
            (other.to_string(), "give a directory or a tar archive that can be read".to_owned())
        }
    };
    PlanError::new(place, what, remedy)
}
