//! A RUN without what says whose machine it was done on, so that it can be passed on.
//!
//! Removed everywhere: the name of the host, names of users and home directories as far as the RUN
//! itself tells them, serial numbers and world-wide names of devices, UUIDs (those of boots get a
//! short pseudonym that stays the same over RUNs). Everything else stays, so that the views of the
//! result are those of the RUN. Contenders are matched with records by their identity, which is a
//! hash of levels: where a path among these changes, so does the identity, in plan and records
//! alike.
//!
//! A name that the plan itself uses for something else (a host that is called `ext4`) is no secret
//! and stays: removing it would take labels and commands apart. Names of facts and options (keys)
//! are never changed.

mod text;

use fsarena_model::contender::ContenderId;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use text::{Secrets, digest};

/// Keys below which a single word is free text. Elsewhere it is a word of ours or a name from the
/// plan (`kind`, `op`, `name`, `label`), which a host or user may share by chance.
const FREE: [&str; 23] = [
    "argv",
    "arguments",
    "cleanup",
    "command",
    "create",
    "destroy",
    "devices",
    "error",
    "figures",
    "hardware",
    "hostname",
    "image_dir",
    "mkfs_argv",
    "path",
    "prepare",
    "reading",
    "reason",
    "remedy",
    "settings",
    "text",
    "title",
    "unmount",
    "why",
];

/// Facts of a device that name one piece of hardware: `serial`, `wwid`, `dm_uuid`, …
fn names_hardware(fact: &str) -> bool {
    ["serial", "wwid", "wwn", "uuid", "eui", "nguid"].iter().any(|part| fact.contains(part))
}

/// A RUN, the pieces it was done in and its records, without serial numbers and the names of host,
/// users and home directories. Names of users are those that a path or address of the RUN tells,
/// such as `/home/NAME`, and `names`, which are known otherwise: wherever one of these stands
/// alone, it goes.
///
/// # Panics
/// Never in practice: everything here was read from JSON and is representable as JSON.
#[must_use]
pub fn anonymous(
    header: &RunHeader,
    sessions: &[RunSession],
    records: &[TrialRecord],
    names: &[String],
) -> (RunHeader, Vec<RunSession>, Vec<TrialRecord>) {
    let mut whole = [value(header), value(&sessions), value(&records)];
    let mut secrets = Secrets::default();
    secrets.add_host(&header.host.hostname);
    for part in &whole {
        collect(part, false, &mut secrets);
    }
    names.iter().for_each(|name| secrets.add_user(name));
    for argument in &header.arguments {
        secrets.add_own(argument.trim_start_matches('-'), argument.starts_with('-'));
    }
    for line in header.experiment_toml.lines() {
        let key = line.split_once('=').map(|(key, _)| key.trim());
        key.into_iter().for_each(|key| secrets.add_own(key, true));
    }
    secrets.settle();
    for part in &mut whole {
        scrub(part, &secrets);
    }
    let [plain, pieces, trials] = whole;
    let mut plain: RunHeader = back(plain);
    let (pieces, mut trials): (Vec<RunSession>, Vec<TrialRecord>) = (back(pieces), back(trials));
    let ids = identities(header, &mut plain);
    for record in &mut trials {
        if let Some(id) = ids.get(&record.key.contender) {
            record.key.contender = id.clone();
        }
    }
    (plain, pieces, trials)
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("a RUN is plain data")
}

fn back<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("only free text was changed")
}

/// The new identity of each contender. Two that differed in nothing but what was removed stay two.
fn identities(before: &RunHeader, after: &mut RunHeader) -> BTreeMap<ContenderId, ContenderId> {
    let mut seen = BTreeSet::new();
    let both = before.plan.contenders.iter().zip(&mut after.plan.contenders);
    both.map(|(old, new)| {
        while !seen.insert(new.id()) {
            new.replicate += 1;
        }
        (old.id(), new.id())
    })
    .collect()
}

/// Looks for what is to be removed, and for words that stay.
fn collect(value: &Value, is_free: bool, secrets: &mut Secrets) {
    match value {
        Value::String(text) => {
            secrets.look_at(text);
            if !is_free {
                secrets.add_own(text, false);
                secrets.add_own_options(text);
            }
        }
        Value::Array(all) => all.iter().for_each(|one| collect(one, is_free, secrets)),
        Value::Object(map) => {
            for (key, one) in map {
                match one {
                    Value::String(text) if names_hardware(key) => secrets.add_serial(text),
                    _ => collect(one, is_free || FREE.contains(&key.as_str()), secrets),
                }
            }
        }
        _ => {}
    }
}

/// Removes it.
fn scrub(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => *text = secrets.removed_from(text),
        Value::Array(all) => all.iter_mut().for_each(|one| scrub(one, secrets)),
        Value::Object(map) => scrub_map(map, secrets),
        _ => {}
    }
}

fn scrub_map(map: &mut Map<String, Value>, secrets: &Secrets) {
    map.retain(|key, one| !(names_hardware(key) && one.is_string()));
    for (key, one) in map {
        match one {
            Value::String(text) if key == "boot_id" => *text = pseudonym(text),
            Value::String(text) if key == "hostname" => text.clear(),
            _ => scrub(one, secrets),
        }
    }
}

/// `boot-3f2a9c01d7`: the same for the same boot, in every RUN.
fn pseudonym(boot_id: &str) -> String {
    if boot_id.is_empty() {
        return String::new();
    }
    format!("boot-{}", digest(boot_id))
}

#[cfg(test)]
mod tests;
