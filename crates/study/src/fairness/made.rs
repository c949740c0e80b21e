//! Contenders as they were made and mounted.

use super::ledger::{AsMade, ContenderRecords, Fact};
use fsarena_model::braces::quoted;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::record::{Effective, TrialRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

/// Placeholder for a device or an image.
const DEVICE: &str = "DEVICE";
/// Devices that are no place.
const NO_PLACE: [&str; 6] = ["null", "zero", "full", "urandom", "stdout", "stderr"];
/// Values that are listed where trials were not alike.
const VALUES_MAX: usize = 3;

/// Every contender that was made at least once.
pub(super) fn as_made(trials: &ContenderRecords<'_>) -> Vec<AsMade> {
    let places = places(trials);
    let of = |index: usize| {
        let was_made = |record: &&TrialRecord| {
            !record.filesystem.mkfs_argv.is_empty() || record.filesystem.mounted_options.is_some()
        };
        let made: Vec<&TrialRecord> = trials.own[index].iter().copied().filter(was_made).collect();
        let first = &made.first()?.filesystem;
        // Of a trial that failed before the mount there are no options: the first that has them.
        let mounted = trials.mounted(index).next().map_or(first, |record| &record.filesystem);
        let contender = &trials.plan.contenders[index];
        Some(AsMade {
            contender: index,
            label: contender.label.clone(),
            id: contender.id().short().to_owned(),
            mkfs: command(&first.mkfs_argv, &places),
            tool: first.tool_version.clone(),
            mount_asked: without(&mounted.mount_asked, &places),
            mounted: mounted.mounted_options.as_ref().map(|text| without(text, &places)),
            served_by: served_by(mounted),
            features: mounted.features.iter().map(|(name, value)| Fact::new(name, value)).collect(),
            varied: varied(&made, &places),
        })
    };
    (0..trials.own.len()).filter_map(of).collect()
}

/// The driver in the kernel: another one where that is said, else that of the mounted type.
pub(super) fn served_by(filesystem: &Effective) -> Option<String> {
    filesystem.served_by.clone().or_else(|| filesystem.mounted_type.clone())
}

/// Beginnings of paths that lead to devices and images.
fn places(trials: &ContenderRecords<'_>) -> Vec<String> {
    let mut places = BTreeSet::from(["/dev/".to_owned()]);
    for contender in &trials.plan.contenders {
        for part in contender.levels.device.parts() {
            if let DeviceLevel::Block { path, .. } | DeviceLevel::Directory { path } = part {
                places.insert(path.to_string_lossy().into_owned());
            }
        }
    }
    if let Some(place) = &trials.header.place {
        places.insert(place.image_dir.to_string_lossy().into_owned());
    }
    // A path that is too short would be found everywhere.
    places.into_iter().filter(|place| place.len() > 1).collect()
}

/// The command as a shell takes it; of one that is for a shell already, its text.
fn command(argv: &[String], places: &[String]) -> String {
    match argv {
        [shell, flag, text] if shell == "/bin/sh" && flag == "-c" => without(text, places),
        _ => {
            let word = |word: &String| {
                quoted(OsStr::new(&without(word, places))).to_string_lossy().into_owned()
            };
            argv.iter().map(word).collect::<Vec<_>>().join(" ")
        }
    }
}

/// `text` with [`DEVICE`] for every path that begins with one of `places`.
fn without(text: &str, places: &[String]) -> String {
    let mut out = String::new();
    let mut rest = text;
    let is_end = |c: char| c.is_whitespace() || "'\",;|&()<>".contains(c);
    while let Some(c) = rest.chars().next() {
        let begins = out.chars().last().is_none_or(|c| !c.is_alphanumeric() && c != '/');
        let length = rest.find(is_end).unwrap_or(rest.len());
        let is_kept = rest[..length].strip_prefix("/dev/").is_some_and(|n| NO_PLACE.contains(&n));
        if begins && !is_kept && places.iter().any(|place| rest.starts_with(place.as_str())) {
            out.push_str(DEVICE);
            rest = &rest[length..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// In what the trials of a contender were not made alike.
fn varied(made: &[&TrialRecord], places: &[String]) -> Vec<String> {
    let Some(first) = made.first() else { return Vec::new() };
    if made.iter().all(|record| record.filesystem == first.filesystem) {
        return Vec::new();
    }
    let mut texts = Vec::new();
    let mut ask = |what: &str, of: &dyn Fn(&Effective) -> Option<String>| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for value in made.iter().filter_map(|record| of(&record.filesystem)) {
            *counts.entry(value).or_default() += 1;
        }
        if counts.len() > 1 {
            let many = if counts.len() > VALUES_MAX { ", …" } else { "" };
            let each: Vec<String> = counts
                .iter()
                .take(VALUES_MAX)
                .map(|(value, trials)| format!("{value} (trials: {trials})"))
                .collect();
            texts.push(format!("{what}: {}{many}", each.join(", ")));
        }
    };
    ask("command", &|fs| Some(command(&fs.mkfs_argv, places)).filter(|text| !text.is_empty()));
    ask("program", &|fs| fs.tool_version.clone());
    ask("mount options asked for", &|fs| {
        fs.mounted_options.as_ref().map(|_| without(&fs.mount_asked, places))
    });
    ask("mount options in force", &|fs| {
        fs.mounted_options.as_ref().map(|text| without(text, places))
    });
    ask("driver in the kernel", &served_by);
    let names: BTreeSet<&String> =
        made.iter().flat_map(|record| record.filesystem.features.keys()).collect();
    for name in names {
        ask(&format!("feature {name}"), &|fs| fs.features.get(name).cloned());
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_left_out_of_commands() {
        let places = ["/dev/".to_owned(), "/srv/images".to_owned()];
        let of = |argv: &[&str]| {
            command(&argv.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), &places)
        };
        assert_eq!(
            of(&["mkfs.xfs", "-l", "logdev=/dev/sdb1,size=1", "/dev/disk/by-id/ata-SERIAL"]),
            "mkfs.xfs -l logdev=DEVICE,size=1 DEVICE"
        );
        assert_eq!(of(&["mkfs", "/srv/images/a.img", "a b"]), "mkfs DEVICE 'a b'");
        let shell = ["/bin/sh", "-c", "mkfs.zfs '/dev/loop0' >/dev/null 2>&1 && echo /mydev/x"];
        assert_eq!(of(&shell), "mkfs.zfs 'DEVICE' >/dev/null 2>&1 && echo /mydev/x");
        assert_eq!(of(&[]), "");
    }
}
