//! What real work is done with: the keys `dataset` and `source`.

use super::dataset::{MAX_DIRS, MAX_FILES};
use crate::JsonSchema;
use crate::error::{At, PlanError, Span};
use crate::files::{Files, Surveyed};
use crate::tree::Node;
use crate::values::{Either, Size, Within};
use fsarena_corpus::own::{Own, TopLevel};
use fsarena_corpus::{CorpusError, Description};
use fsarena_model::dataset::Dataset;
use fsarena_model::job::{Contents, Origin, Source, SourcePlace};
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Largest of many small files.
const MAX_SMALL_BYTES: u64 = 1 << 30;
/// Size and number a directory of `small`, where these are not said.
const SMALL_BYTES: u64 = 256;
const SMALL_PER_DIR: u64 = 100;

/// A dataset that is no built-in one: one of `small`, `file`, `description` and `from`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// So many small files.
    #[schemars(example = 10_000)]
    small: Option<Within<1, MAX_FILES>>,
    /// Of each small file.
    #[schemars(example = &"1 KiB")]
    size: Option<At<Size>>,
    /// That small files are spread over.
    #[schemars(example = 50)]
    dirs: Option<At<Within<1, MAX_DIRS>>>,
    /// Name of the file of a description, relative to this one.
    #[schemars(example = &"my-tree.toml")]
    file: Option<At<String>>,
    /// Text of a description.
    description: Option<At<String>>,
    /// A directory or tar archive of your own.
    #[schemars(example = &"/srv/our/tree")]
    from: Option<At<String>>,
}

/// Reads `dataset`. What is the user's own is an archive or a tree as it was found, with what is
/// directly in it; of what is made, the phases decide later.
pub(super) fn read(
    node: &Node<'_>,
    files: &Files<'_>,
) -> Result<(Source, Option<TopLevel>), PlanError> {
    let keys = match node.read::<Either<String, Keys>>()? {
        Either::Plain(name) => return Ok((named(&name, node)?, None)),
        Either::Table(keys) => keys,
    };
    let belongs_to_small = |kind: &str| match (&keys.size, &keys.dirs) {
        (Some(At { place, .. }), _) | (None, Some(At { place, .. })) => {
            let what = format!("`size` and `dirs` belong to `small`, not to `{kind}`");
            Err(PlanError::new(place, what, "leave them out"))
        }
        (None, None) => Ok(()),
    };
    let source = match (keys.small, &keys.file, &keys.description, &keys.from) {
        (Some(files), None, None, None) => small(files.0, &keys)?,
        (None, Some(file), None, None) => {
            belongs_to_small("file")?;
            from_file(file, files)?
        }
        (None, None, Some(text), None) => {
            belongs_to_small("description")?;
            let read = Description::parse(&text.value, "the description");
            made(&read.map_err(|error| within(&error, &text.place))?)
        }
        (None, None, None, Some(from)) => {
            belongs_to_small("from")?;
            return own(from, files).map(|(source, top)| (source, Some(top)));
        }
        _ => {
            let remedy = "write one of small, file, description, from";
            return Err(node.error("not one dataset", remedy));
        }
    };
    Ok((source, None))
}

/// The schema of `dataset`.
#[cfg(feature = "schema")]
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<Keys>();
    let names = fsarena_corpus::names();
    let name = json_schema!({ "type": "string", "examples": names });
    json_schema!({ "anyOf": [name, table], "examples": ["mixed-830m"] })
}

/// A built-in dataset.
fn named(name: &str, node: &Node<'_>) -> Result<Source, PlanError> {
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

fn small(files: u64, keys: &Keys) -> Result<Source, PlanError> {
    let size = match &keys.size {
        Some(At { value: Size(size), place }) if *size > MAX_SMALL_BYTES => {
            let remedy = "describe the dataset in a file: { file = … }";
            return Err(PlanError::new(place, "small files of more than 1 GiB", remedy));
        }
        size => size.as_ref().map_or(SMALL_BYTES, |size| size.value.0),
    };
    let dirs = match &keys.dirs {
        Some(At { value: Within(dirs), place }) if *dirs > files => {
            let what = format!("`workload.dataset.dirs` is {dirs}");
            return Err(PlanError::new(place, what, format!("it has to be from 1 to {files}")));
        }
        Some(dirs) => dirs.value.0,
        None => (files / SMALL_PER_DIR).clamp(1, MAX_DIRS),
    };
    Ok(made(&fsarena_corpus::small(files, size, dirs)))
}

fn from_file(file: &At<String>, files: &Files<'_>) -> Result<Source, PlanError> {
    let here = "write its text here: { description = \"\"\"…\"\"\" }";
    let (shown, text) = files.text_of(file, here)?;
    let description =
        Description::parse(&text, &shown).map_err(|error| in_file(&error, &file.place))?;
    Ok(made(&description))
}

/// The user's own tree or archive.
fn own(
    At { value: written, place }: &At<String>,
    files: &Files<'_>,
) -> Result<(Source, TopLevel), PlanError> {
    let Some(outside) = files.outside else {
        let what = format!("{written:?} is a path of yours, and only this file is read here");
        return Err(PlanError::new(place, what, "run it as a file: fsarena run FILE"));
    };
    let path = files.path(written);
    let found = (outside.survey)(&path).map_err(|error| unusable(&error, place))?;
    let Surveyed { path, own, top } = found;
    let Some(name) = path.to_str().filter(|_| path.is_absolute()).map(str::to_owned) else {
        let what = format!("the path {} cannot be recorded: it is not UTF-8", path.display());
        return Err(PlanError::new(
            place,
            what,
            "move it to a path in UTF-8 (names below it are free)",
        ));
    };
    let (archive, contents) = match own {
        Own::Tree(contents) => (None, contents),
        Own::Archive(compression, contents) => (Some(compression), contents),
    };
    if contents.entries() == 0 {
        return Err(PlanError::new(place, format!("{name} is empty"), "give one that holds files"));
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
