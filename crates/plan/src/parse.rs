//! Reads an experiment file (`FORMAT.md` describes it).
//!
//! What is wrong is said as soon as it is seen, once, with its line and column. Whether a file
//! system exists and accepts its options is not known here; [`crate::expand`] asks.

use crate::error::{PlanError, nearest};
use crate::experiment::{
    ArticleRow, DefinedFs, EXPERIMENT_SCHEMA, Experiment, Factors, FsAxes, RunSettings,
};
use crate::files::{Files, Outside};
use crate::fs_entry::FsEntry;
use crate::span::At;
use crate::tree::{Node, Source, Table};
use crate::{fs_entry, question, settings, sweep, text, workload};
use fsarena_model::braces;
use fsarena_model::contender::ExternalFs;
use fsarena_model::factor::{self, Factor};
use fsarena_model::phase::Workload;
use std::collections::BTreeMap;

const KEYS: [&str; 10] = [
    "schema",
    "name",
    "title",
    "question",
    "notes",
    "run",
    "factors",
    "filesystem",
    "workload",
    "row",
];

/// Reads an experiment that names no other file; `file` is its name for errors.
///
/// # Errors
/// The first error, with line, column and a remedy.
pub fn parse(text: &str, file: &str) -> Result<Experiment, PlanError> {
    read(text, &Files::none(file))
}

/// Reads an experiment, with the files and the user's own data that it names.
///
/// # Errors
/// The first error, with line, column and a remedy.
pub fn parse_from(text: &str, file: &str, outside: &Outside<'_>) -> Result<Experiment, PlanError> {
    read(text, &Files { file, read: Some(outside.read), survey: Some(outside.survey) })
}

fn read(text: &str, files: &Files<'_>) -> Result<Experiment, PlanError> {
    let file = files.file;
    let source = Source { file, text };
    let document = source.parse()?;
    let root = source.root(&document);
    schema(&root)?;
    root.only(&KEYS)?;
    let name_node = root.need("name", "name = \"my-experiment\"")?;
    let name = text::name(name_node.text("\"quick\"")?, &name_node.place, "an experiment")?;
    let line = |key: &str| -> Result<Option<String>, PlanError> {
        root.get(key).map(|node| node.text("\"one line\"").map(str::to_owned)).transpose()
    };
    let run = match root.get("run") {
        Some(node) => settings::read(&node.table("[run]")?)?,
        None => RunSettings::default(),
    };
    let factors_node = root.need("factors", "a table [factors] with fs and device")?;
    let factors = factors(&factors_node.table("[factors]")?)?;
    let filesystems = filesystems(&root)?;
    let workloads = workloads(&root, files)?;
    asked_for(&run, &workloads)?;
    let rows = rows(&root, &workloads)?;
    Ok(Experiment {
        title: line("title")?.unwrap_or_else(|| name.clone()),
        question: line("question")?,
        notes: notes(&root)?,
        name,
        text: text.to_owned(),
        run,
        factors,
        filesystems,
        workloads,
        rows,
    })
}

/// Refuses a question about what is not in the file. Options may take workloads out of it later.
fn asked_for(run: &RunSettings, workloads: &[At<Workload>]) -> Result<(), PlanError> {
    let workloads: Vec<&Workload> = workloads.iter().map(|work| &work.value).collect();
    let verdicts = &run.verdicts;
    let asked = question::questions(&verdicts.ask, &workloads, run.compare)?;
    if let Some(one) = &verdicts.headline {
        question::headline(one, &asked, &workloads, run.compare)?;
    }
    Ok(())
}

fn notes(root: &Table<'_>) -> Result<Vec<String>, PlanError> {
    let Some(node) = root.get("notes") else { return Ok(Vec::new()) };
    let notes = node.list("[\"one line\"]")?;
    notes.iter().map(|note| note.text("\"one line\"").map(str::to_owned)).collect()
}

/// The `notes` of an experiment's text, as it is stored with a RUN; none where it cannot be read.
#[must_use]
pub fn notes_of(text: &str) -> Vec<String> {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    let notes = table.get("notes").and_then(toml::Value::as_array);
    notes.into_iter().flatten().filter_map(|note| note.as_str().map(str::to_owned)).collect()
}

fn schema(root: &Table<'_>) -> Result<(), PlanError> {
    let node = root.need("schema", "schema = 1 as the first line")?;
    let schema = node.integer(0..=i64::MAX as u64, "1")?;
    if schema == EXPERIMENT_SCHEMA as u64 {
        return Ok(());
    }
    let what = format!("schema {schema} is not the one this program reads ({EXPERIMENT_SCHEMA})");
    Err(node.error(what, "use the program the file was written for, or write schema = 1"))
}

/// An axis: a value or a list, each element read, none twice.
fn axis<T: PartialEq>(
    node: &Node<'_>,
    example: &str,
    read: impl Fn(&Node<'_>) -> Result<T, PlanError>,
) -> Result<Vec<At<T>>, PlanError> {
    let mut levels: Vec<At<T>> = Vec::new();
    for element in node.list(example)? {
        text::push_level(&mut levels, read(&element)?, &element.place)?;
    }
    Ok(levels)
}

/// Keys of `[factors]`: file systems, devices, and the factors under all their names.
fn factor_keys() -> Vec<&'static str> {
    let names = |factor: &'static dyn Factor| {
        std::iter::once(factor.key()).chain(factor.aliases().iter().copied())
    };
    ["fs", "device"].into_iter().chain(factor::all().into_iter().flat_map(names)).collect()
}

/// The levels of every factor that the table has.
fn levels(table: &Table<'_>) -> Result<BTreeMap<&'static str, Vec<At<String>>>, PlanError> {
    let mut levels = BTreeMap::new();
    for factor in factor::all() {
        let names = std::iter::once(factor.key()).chain(factor.aliases().iter().copied());
        let mut nodes = names.filter_map(|name| table.get(name));
        let Some(node) = nodes.next() else { continue };
        if let Some(again) = nodes.next() {
            let what = format!("`{}` under two names", factor.key());
            return Err(again.error(what, "keep one of them"));
        }
        let read = |node: &Node<'_>| match factor.takes_number() {
            true => text::level(factor, &node.scalar(factor.example())?, &node.place),
            false => text::level(factor, node.text(factor.example())?, &node.place),
        };
        levels.insert(factor.key(), axis(&node, factor.example(), read)?);
    }
    Ok(levels)
}

fn factors(table: &Table<'_>) -> Result<Factors, PlanError> {
    let mut fs: Vec<At<FsEntry>> = Vec::new();
    if let Some(node) = table.get("fs") {
        for element in node.list("[\"ext4\", \"xfs\"]")? {
            let all = fs_entry::fs_entries(element.text("\"ext4:noatime\"")?, &element.place)?;
            fs.extend(all.into_iter().map(|entry| At::new(entry, &element.place)));
        }
    }
    let device = axis(&table.need("device", "device = \"loop:2G\"")?, "\"loop:2G\"", |node| {
        text::device(node.text("\"loop:2G\"")?, &node.place)
    })?;
    let levels = levels(table)?;
    let of_fs = fs_tables(table, &fs)?;
    if fs.is_empty()
        && let Some(device) = device.iter().find(|device| !text::is_directory(&device.value))
    {
        let remedy = "add fs = [\"ext4\", \"xfs\"] (only directories go without)";
        return Err(PlanError::new(&device.place, "this device needs file systems", remedy));
    }
    Ok(Factors { fs, device, levels, of_fs })
}

/// The tables `[factors.NAME]`, each for a plain element of `fs`.
fn fs_tables(
    table: &Table<'_>,
    fs: &[At<FsEntry>],
) -> Result<BTreeMap<String, At<FsAxes>>, PlanError> {
    let mut of_fs = BTreeMap::new();
    let named = factor_keys();
    for (key, node) in table.entries() {
        if named.contains(&key.value) {
            continue;
        }
        let names: Vec<&str> = fs.iter().map(|entry| entry.value.level.name.as_str()).collect();
        if !names.contains(&key.value) {
            if !node.is_table() {
                return Err(table.unknown(&key, &named));
            }
            let what = format!("[factors.{}] is for a file system that is not in `fs`", key.value);
            let remedy = match nearest(key.value, &names) {
                Some(near) => format!("did you mean [factors.{near}]?"),
                None => format!("add {:?} to `fs`, or remove the table", key.value),
            };
            return Err(PlanError::new(&key.place, what, remedy));
        }
        if fs.iter().all(|e| e.value.level.name != key.value || e.value.has_options()) {
            let what = format!("[factors.{0}] applies to no element of `fs`", key.value);
            let remedy = format!(
                "write a plain {:?} there: an element with options is taken as it is written",
                key.value
            );
            return Err(PlanError::new(&key.place, what, remedy));
        }
        let axes = fs_axes(&node.table(&format!("[factors.{}]", key.value))?)?;
        of_fs.insert(key.value.to_owned(), At::new(axes, &key.place));
    }
    Ok(of_fs)
}

fn fs_axes(table: &Table<'_>) -> Result<FsAxes, PlanError> {
    table.only(&["mount", "mkfs"])?;
    let mut axes = FsAxes::default();
    if let Some(node) = table.get("mount") {
        axes.mount = axis(&node, "\"noatime\"", |element| {
            let written = element.text("\"noatime,data=ordered\"")?;
            if written == "defaults" {
                return Ok(Vec::new());
            }
            let options = written.split(',').map(|option| option.trim().to_owned()).collect();
            fs_entry::mount_options(options, written, &element.place)
        })?;
    }
    if let Some(node) = table.get("mkfs") {
        for (key, node) in node.table("mkfs.block_size = [1024, 4096]")?.entries() {
            axes.mkfs.insert(key.value.to_owned(), sweep::axis(&node)?);
        }
    }
    Ok(axes)
}

/// The tables of an array of tables (`[[workload]]`).
fn tables<'t>(root: &Table<'t>, key: &str) -> Result<Vec<Table<'t>>, PlanError> {
    let example = format!("[[{key}]]");
    match root.get(key) {
        None => Ok(Vec::new()),
        Some(node) => node.list(&example)?.iter().map(|node| node.table(&example)).collect(),
    }
}

fn filesystems(root: &Table<'_>) -> Result<Vec<At<DefinedFs>>, PlanError> {
    let mut defined: Vec<At<DefinedFs>> = Vec::new();
    for table in tables(root, "filesystem")? {
        let fs = external(&table)?;
        if defined.iter().any(|earlier| earlier.value.name == fs.name) {
            let what = format!("two file systems are named {:?}", fs.name);
            return Err(PlanError::new(&table.place, what, "rename one of them"));
        }
        defined.push(At::new(fs, &table.place));
    }
    Ok(defined)
}

fn external(table: &Table<'_>) -> Result<DefinedFs, PlanError> {
    const COMMANDS: [&str; 5] = ["create", "mount", "unmount", "destroy", "version"];
    const OTHERS: [&str; 5] = ["name", "programs", "package", "device", "memory"];
    table.only(&[&OTHERS[..], &COMMANDS[..]].concat())?;
    let node = table.need("name", "name = \"fuse2fs\"")?;
    let name = text::name(node.text("\"fuse2fs\"")?, &node.place, "a file system")?;
    let device = table.get("device").map_or(Ok(true), |node| node.flag())?;
    let memory = table.get("memory").map_or(Ok(false), |node| node.flag())?;
    if let Some(node) = table.get("memory").filter(|_| memory && device) {
        return Err(node.error("memory = true with a device", "say device = false as well"));
    }
    let mut commands = BTreeMap::new();
    for key in COMMANDS {
        let Some(node) = table.get(key) else { continue };
        let command = node.text("\"mount -t zfs {dev} {mnt}\"")?;
        placeholders(command, device, &node)?;
        commands.insert(key, command.to_owned());
    }
    let mount_node = table.need("mount", "mount = \"fuse2fs -o rw {dev} {mnt}\"")?;
    if !braces::words(&commands["mount"]).any(|word| word == "{mnt}") {
        let what = "`mount` does not say where: {mnt} is not in it";
        return Err(mount_node.error(what, "put {mnt} where the mount point belongs"));
    }
    let uses_device =
        |key: &str| commands.get(key).is_some_and(|c| braces::words(c).any(|word| word == "{dev}"));
    if device && !uses_device("create") && !uses_device("mount") {
        let what = "neither `create` nor `mount` uses {dev}";
        return Err(mount_node.error(what, "use it, or say device = false"));
    }
    let programs = match table.get("programs") {
        None => Vec::new(),
        Some(node) => node
            .list("\"fuse2fs\"")?
            .iter()
            .map(|node| node.text("\"fuse2fs\"").map(str::to_owned))
            .collect::<Result<_, _>>()?,
    };
    let package = match table.get("package") {
        None => None,
        Some(node) => Some(package_name(node.text("\"fuse2fs\"")?, &node)?),
    };
    let mut take = |key: &str| commands.remove(key);
    let commands = ExternalFs {
        create: take("create"),
        mount: take("mount").expect("it is there"),
        unmount: take("unmount"),
        destroy: take("destroy"),
        version: take("version"),
        programs,
        package,
        device,
        memory,
    };
    Ok(DefinedFs { name, commands })
}

/// A name that Debian allows for a package (Policy 5.6.1), and that no program takes for an option.
fn package_name(text: &str, node: &Node<'_>) -> Result<String, PlanError> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let good = text.len() > 1
        && text.starts_with(allowed)
        && text.chars().all(|c| allowed(c) || "+-.".contains(c));
    if good {
        return Ok(text.to_owned());
    }
    Err(node.error(format!("{text:?} is no name of a package"), "use a-z, 0-9, +, - and ."))
}

/// Refuses a command with braces that would not be filled in.
fn placeholders(command: &str, device: bool, node: &Node<'_>) -> Result<(), PlanError> {
    if command.trim().is_empty() {
        return Err(node.error("an empty command", "leave the key out"));
    }
    for word in braces::words(command) {
        if !["{dev}", "{mnt}", "{size}"].contains(&word) {
            let remedy = "use {dev}, {mnt} or {size}; ${NAME} is a variable of the shell, {{ and \
                          }} are braces";
            return Err(node.error(format!("{word} is not filled in"), remedy));
        }
        if word == "{dev}" && !device {
            return Err(node.error("{dev} with device = false", "leave one of them out"));
        }
    }
    Ok(())
}

fn workloads(root: &Table<'_>, files: &Files<'_>) -> Result<Vec<At<Workload>>, PlanError> {
    let mut workloads = Vec::new();
    for table in tables(root, "workload")? {
        add_workload(&mut workloads, workload::read(&table, files)?)?;
    }
    if workloads.is_empty() {
        root.need("workload", "[[workload]] with use = \"small-files\"")?;
    }
    Ok(workloads)
}

/// Adds a workload, unless there is one of its name.
pub(crate) fn add_workload(
    workloads: &mut Vec<At<Workload>>,
    workload: At<Workload>,
) -> Result<(), PlanError> {
    let name = &workload.value.name;
    if workloads.iter().any(|earlier| earlier.value.name == *name) {
        let what = format!("two workloads are named {name:?}");
        return Err(PlanError::new(&workload.place, what, "rename one of them, or keep one"));
    }
    workloads.push(workload);
    Ok(())
}

fn rows(root: &Table<'_>, workloads: &[At<Workload>]) -> Result<Vec<ArticleRow>, PlanError> {
    let mut rows = Vec::new();
    for table in tables(root, "row")? {
        table.only(&["title", "workload", "phase", "unit"])?;
        let title = table.need("title", "title = \"write 5000 files\"")?.text("\"write\"")?;
        let node = table.need("workload", "workload = \"small-files\"")?;
        let name = node.text("\"small-files\"")?;
        let names: Vec<&str> = workloads.iter().map(|w| w.value.name.as_str()).collect();
        let Some(workload) = workloads.iter().find(|w| w.value.name == name) else {
            return Err(PlanError::unknown(&node.place, "workload", name, &names));
        };
        let node = table.need("phase", "phase = \"create\"")?;
        let phase = node.text("\"create\"")?;
        let timed = workload.value.phases.iter().filter(|phase| phase.timed);
        let phases: Vec<&str> = timed.map(|phase| phase.name.as_str()).collect();
        if !phases.contains(&phase) {
            return Err(PlanError::unknown(&node.place, "timed phase", phase, &phases));
        }
        let node = table.need("unit", "unit = \"KB/s\"")?;
        let units = [("KB/s", "KB/s"), ("files/s", "files/s"), ("s", "s")];
        let unit = text::word(node.text("\"KB/s\"")?, &node.place, "unit", &units)?;
        rows.push(ArticleRow {
            title: title.to_owned(),
            workload: name.to_owned(),
            phase: phase.to_owned(),
            unit: unit.to_owned(),
        });
    }
    Ok(rows)
}
