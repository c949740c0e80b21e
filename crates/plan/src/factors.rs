//! The table `[factors]`: file systems, devices, and the levels of every factor.
//!
//! The factors are those of the registry of `fsarena-model`; their keys are not written here.

use crate::JsonSchema;
use crate::error::{At, PlanError, nearest};
use crate::experiment::{Factors, FsAxes};
use crate::fs_entry::FsEntry;
use crate::tree::{Node, Table};
use crate::values::{List, Scalar};
use crate::{fs_entry, sweep, text};
use fsarena_model::factor::{self, Factor};
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
#[cfg(feature = "schema")]
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// An axis: a value or a list, each element read, none twice.
fn axis<T: PartialEq>(
    node: &Node<'_>,
    read: impl Fn(&Node<'_>) -> Result<T, PlanError>,
) -> Result<Vec<At<T>>, PlanError> {
    let mut levels: Vec<At<T>> = Vec::new();
    for element in node.list()? {
        text::push_level(&mut levels, read(&element)?, &element.place)?;
    }
    Ok(levels)
}

/// Keys of `[factors]`: file systems, devices, and the factors under all their names.
fn factor_keys() -> Vec<&'static str> {
    let names = factor::all().into_iter().flat_map(Factor::names);
    ["fs", "device"].into_iter().chain(names).collect()
}

/// The levels of every factor that the table has.
fn levels(table: &Table<'_>) -> Result<BTreeMap<&'static str, Vec<At<String>>>, PlanError> {
    let mut levels = BTreeMap::new();
    for factor in factor::all() {
        let mut nodes = factor.names().filter_map(|name| table.get(name));
        let Some(node) = nodes.next() else { continue };
        if let Some(again) = nodes.next() {
            let what = format!("`{}` under two names", factor.key());
            return Err(again.error(what, "keep one of them"));
        }
        let mut axis = Vec::new();
        for element in node.list()? {
            let text = match factor.info().takes_number {
                true => element.read::<Scalar>()?.0,
                false => element.read::<String>()?,
            };
            sweep::push_levels(&mut axis, factor, &text, &element.place)?;
        }
        levels.insert(factor.key(), axis);
    }
    Ok(levels)
}

pub(crate) fn factors(table: &Table<'_>) -> Result<Factors, PlanError> {
    let mut fs: Vec<At<FsEntry>> = Vec::new();
    if let Some(node) = table.get("fs") {
        for element in node.list()? {
            let all = fs_entry::fs_entries(&element.read::<String>()?, &element.place)?;
            fs.extend(all.into_iter().map(|entry| At::new(entry, &element.place)));
        }
    }
    let missing = || table.missing("device", "device = \"loop:2G\"");
    let device = axis(&table.get("device").ok_or_else(missing)?, |node| {
        text::device(&node.read::<String>()?, &node.place)
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
            if node.as_table().is_none() {
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
        let axes = fs_axes(node.read()?)?;
        of_fs.insert(key.value.to_owned(), At::new(axes, &key.place));
    }
    Ok(of_fs)
}

/// `[factors.NAME]`: axes of one file system.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FsKeys {
    /// Mount options, separated by commas; "defaults" for none.
    #[schemars(example = &"noatime")]
    mount: Option<List<At<String>>>,
    /// Options of mkfs: values, or ranges such as 1024..65536.
    #[schemars(schema_with = "mkfs_schema")]
    #[serde(default)]
    mkfs: BTreeMap<String, List<At<Scalar>>>,
}

#[cfg(feature = "schema")]
fn mkfs_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut value = generator.subschema_for::<List<Scalar>>();
    value.insert("examples".to_owned(), json!([4096]));
    json_schema!({ "type": "object", "additionalProperties": value })
}

fn fs_axes(keys: FsKeys) -> Result<FsAxes, PlanError> {
    let mut axes = FsAxes::default();
    for At { value: written, place } in keys.mount.into_iter().flat_map(|mount| mount.0) {
        let options = match written.as_str() {
            "defaults" => Vec::new(),
            _ => {
                let options = written.split(',').map(|option| option.trim().to_owned()).collect();
                fs_entry::mount_options(options, &written, &place)?
            }
        };
        text::push_level(&mut axes.mount, options, &place)?;
    }
    for (key, values) in keys.mkfs {
        axes.mkfs.insert(key, sweep::axis(&values.0)?);
    }
    Ok(axes)
}

/// The schema of `[factors]`, with every factor of the program.
#[cfg(feature = "schema")]
pub(crate) fn schema(generator: &mut SchemaGenerator) -> Schema {
    let mut list = |examples: Value, description: &str| {
        let mut schema = generator.subschema_for::<List<Scalar>>();
        schema.insert("examples".to_owned(), examples);
        schema.insert("description".to_owned(), description.into());
        schema.to_value()
    };
    let mut keys = Map::new();
    let fs = "File systems, each with its options: name[:mount-option][:mkfs.KEY=VALUE].";
    keys.insert("fs".to_owned(), list(json!([["ext4", "xfs"]]), fs));
    let device = "Devices: loop:SIZE, ram:SIZE, /dev/NAME or /a/directory.";
    keys.insert("device".to_owned(), list(json!(["loop:2G"]), device));
    for factor in factor::all() {
        let key = list(json!([factor.example_level()]), factor.info().help);
        keys.extend(factor.names().map(|name| (name.to_owned(), key.clone())));
    }
    json_schema!({
        "type": "object",
        "properties": keys,
        "required": ["device"],
        "additionalProperties": generator.subschema_for::<FsKeys>(),
    })
}
