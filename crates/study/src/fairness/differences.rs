//! In what contenders differ: levels, mount options in force, features, programs, devices.
//!
//! What every file system has (access times, the size of a block, the device) is compared among
//! all; what only one file system knows, among the contenders of that file system. A difference is
//! under test where a factor explains it in every pair that differs.

use super::ledger::{ContenderRecords, Difference};
use super::{caches, devices, made};
use fsarena_model::contender::{Contender, Levels};
use fsarena_model::factor::{self, Values};
use fsarena_model::record::{Effective, TrialRecord};
use fsarena_model::units::Bytes;
use indexmap::IndexSet;
use std::collections::{BTreeMap, BTreeSet};

/// Options that the kernel knows for every file system (mount(8)).
const GENERIC: [&str; 15] = [
    "ro",
    "rw",
    "sync",
    "dirsync",
    "nosuid",
    "nodev",
    "noexec",
    "mand",
    "discard",
    "atime",
    "relatime",
    "noatime",
    "strictatime",
    "nodiratime",
    "lazytime",
];
/// Of these, the ones by which times are kept: one of them asked for changes the others.
const TIMES: [&str; 6] = ["atime", "relatime", "noatime", "strictatime", "nodiratime", "lazytime"];
/// Features that hold the names of many.
const LISTS: [&str; 4] =
    ["filesystem_features", "features", "journal_features", "filesystem_flags"];

/// All of them: levels first, then what came about.
pub(super) fn all(trials: &ContenderRecords<'_>) -> Vec<Difference> {
    let found = Compared {
        contenders: &trials.plan.contenders,
        made: (0..trials.own.len())
            .map(|index| trials.mounted(index).next().map(|record| &record.filesystem))
            .collect(),
        first: trials.own.iter().map(|own| own.first().copied()).collect(),
    };
    let mounts = found.mounts();
    let mut all = found.levels(&mounts);
    all.extend(found.states(trials));
    all.extend(mounts.into_iter().map(|(_, difference)| difference));
    all.extend(found.common());
    all.extend(found.features());
    all.extend(found.devices());
    all
}

/// What was found of each contender.
struct Compared<'a> {
    contenders: &'a [Contender],
    /// Its file system as it was mounted first; none where it never was.
    made: Vec<Option<&'a Effective>>,
    first: Vec<Option<&'a TrialRecord>>,
}

impl Compared<'_> {
    /// The difference, where there is one among the values that are known.
    fn difference(
        &self,
        what: String,
        values: Vec<Option<String>>,
        explained: impl Fn(&Levels, &Levels) -> bool,
    ) -> Option<Difference> {
        let known: Vec<usize> = (0..values.len()).filter(|&at| values[at].is_some()).collect();
        let pairs = known
            .iter()
            .enumerate()
            .flat_map(|(place, &a)| known[place + 1..].iter().map(move |&b| (a, b)));
        let levels = |at: usize| &self.contenders[at].levels;
        let mut differ = pairs.filter(|&(a, b)| values[a] != values[b]).peekable();
        differ.peek()?;
        let under_test = differ.all(|(a, b)| explained(levels(a), levels(b)));
        Some(Difference { what, under_test, values })
    }

    fn of_made(&self, of: impl Fn(&Effective) -> Option<String>) -> Vec<Option<String>> {
        self.made.iter().map(|made| made.and_then(&of)).collect()
    }

    /// Names of the file systems that were mounted, in the order of the plan.
    fn drivers(&self) -> IndexSet<&str> {
        self.made.iter().flatten().map(|made| made.name.as_str()).collect()
    }

    /// ` of ext4`, where there are several file systems.
    fn of_driver(&self, driver: &str) -> String {
        if self.drivers().len() > 1 { format!(" of {driver}") } else { String::new() }
    }

    /// The factors, but for device and cache, and mount options that are trials in force.
    fn levels(&self, mounts: &[(String, Difference)]) -> Vec<Difference> {
        let contenders: Vec<&Contender> = self.contenders.iter().collect();
        let mut all = Vec::new();
        for Values { name, title, values: texts, .. } in factor::values(&contenders) {
            if texts.iter().all(|text| *text == texts[0]) {
                continue;
            }
            let values: Vec<Option<String>> = texts.into_iter().map(Some).collect();
            let what = match name.split_once(' ') {
                Some(("mkfs", key)) => format!("mkfs option {key}"),
                Some(("mount", key)) if mounts.iter().any(|(known, _)| known == key) => continue,
                Some(("mount", key)) => format!("mount option {key} asked for"),
                // Said of what they were, and not of what was asked for.
                _ if name == "device" || name == "cache" => continue,
                _ => title,
            };
            all.push(Difference { what, under_test: true, values });
        }
        all
    }

    /// What each contender lay on, without paths; devices of one description are numbered.
    fn lay_on(&self, trials: &ContenderRecords<'_>) -> Vec<Option<String>> {
        let mut known: BTreeMap<String, IndexSet<String>> = BTreeMap::new();
        let titles: Vec<(String, usize)> = self
            .contenders
            .iter()
            .enumerate()
            .map(|(index, contender)| {
                let device = &contender.levels.device;
                let title = devices::title(trials, index).unwrap_or_else(|| {
                    if self.made[index].is_some() {
                        return "memory alone".to_owned();
                    }
                    let size = device.size_bytes().map(|bytes| format!(" of {}", Bytes(bytes)));
                    format!("{}{}", device.kind(), size.unwrap_or_default())
                });
                let all = known.entry(title.clone()).or_default();
                let (number, _) = all.insert_full(device.to_string());
                (title, number + 1)
            })
            .collect();
        let several = |title: &String| known.get(title).is_some_and(|all| all.len() > 1);
        let words = |(title, number): (String, usize)| {
            if several(&title) { format!("{title} (no. {number})") } else { title }
        };
        titles.into_iter().map(|one| Some(words(one))).collect()
    }

    /// Devices, caches, programs and drivers.
    fn states(&self, trials: &ContenderRecords<'_>) -> Vec<Difference> {
        let cache = (0..self.made.len()).map(|index| caches::states(trials, index)).collect();
        let other_fs = |a: &Levels, b: &Levels| a.fs.name != b.fs.name;
        let other_place = |a: &Levels, b: &Levels| a.device != b.device || other_fs(a, b);
        [
            self.difference("device".to_owned(), self.lay_on(trials), other_place),
            self.difference("cache".to_owned(), cache, |a, b| a.cache != b.cache),
            self.difference(
                "program that made it".to_owned(),
                self.of_made(|made| made.tool_version.clone()),
                other_fs,
            ),
            self.difference(
                "driver in the kernel".to_owned(),
                self.of_made(made::served_by),
                other_fs,
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Mount options in force, each with its key.
    fn mounts(&self) -> Vec<(String, Difference)> {
        let options: Vec<Option<BTreeMap<String, String>>> = self
            .made
            .iter()
            .map(|made| Some(parsed(made.as_ref()?.mounted_options.as_deref()?)))
            .collect();
        let keys: BTreeSet<&String> = options.iter().flatten().flat_map(BTreeMap::keys).collect();
        let mut all = Vec::new();
        for &key in &keys {
            if GENERIC.contains(&key.as_str()) {
                let value = |own: &Option<BTreeMap<String, String>>| {
                    let own = own.as_ref()?;
                    Some(own.get(key).cloned().unwrap_or_else(|| "off".to_owned()))
                };
                let values = options.iter().map(value).collect();
                let explained = |a: &Levels, b: &Levels| explains_generic(key, a, b);
                let what = format!("mount option {key}");
                all.extend(self.difference(what, values, explained).map(|one| (key.clone(), one)));
                continue;
            }
            for driver in self.drivers() {
                let value =
                    |(own, made): (&Option<BTreeMap<String, String>>, &Option<&Effective>)| {
                        let own =
                            own.as_ref().filter(|_| made.is_some_and(|m| m.name == driver))?;
                        Some(own.get(key).cloned().unwrap_or_else(|| "not set".to_owned()))
                    };
                let values = options.iter().zip(&self.made).map(value).collect();
                let what = format!("mount option {key}{}", self.of_driver(driver));
                let explained =
                    |a: &Levels, b: &Levels| a.fs.mount != b.fs.mount || is_other_format(a, b);
                all.extend(self.difference(what, values, explained).map(|one| (key.clone(), one)));
            }
        }
        all
    }

    /// Features of each file system, among its own contenders.
    fn features(&self) -> Vec<Difference> {
        let mut all = Vec::new();
        for driver in self.drivers() {
            let own: Vec<Option<BTreeMap<String, String>>> = self
                .made
                .iter()
                .map(|made| made.filter(|made| made.name == driver).map(features_of))
                .collect();
            let keys: BTreeSet<&String> = own.iter().flatten().flat_map(BTreeMap::keys).collect();
            for key in keys {
                let value = |own: &Option<BTreeMap<String, String>>| {
                    Some(own.as_ref()?.get(key).cloned().unwrap_or_else(|| "off".to_owned()))
                };
                let values = own.iter().map(value).collect();
                let what = format!("feature {key}{}", self.of_driver(driver));
                all.extend(self.difference(what, values, is_other_format));
            }
        }
        all
    }

    /// What file systems have in common, among those of several.
    fn common(&self) -> Vec<Difference> {
        if self.drivers().len() < 2 {
            return Vec::new();
        }
        let of = |common: &Common| {
            let values = self.of_made(|made| (common.of)(made));
            let explained = |a: &Levels, b: &Levels| {
                let concerns = |key: &&String| common.keys.iter().any(|part| key.contains(part));
                let own = |levels: &Levels| -> Vec<(String, String)> {
                    let mkfs = levels.fs.mkfs.iter().filter(|(key, _)| concerns(key));
                    mkfs.map(|(key, value)| (key.clone(), value.clone())).collect()
                };
                let is_nature = |levels: &Levels| common.without.contains(&levels.fs.name.as_str());
                own(a) != own(b) || is_nature(a) != is_nature(b)
            };
            self.difference(common.what.to_owned(), values, explained)
        };
        COMMON.iter().filter_map(of).collect()
    }

    /// Facts of devices, among the contenders that have one.
    fn devices(&self) -> Vec<Difference> {
        let own: Vec<BTreeMap<String, String>> = self
            .first
            .iter()
            .map(|first| {
                let facts = first.map(devices::facts).unwrap_or_default();
                facts.into_iter().map(|fact| (fact.name, fact.value)).collect()
            })
            .collect();
        let names: BTreeSet<&String> = own.iter().flat_map(BTreeMap::keys).collect();
        let of = |name: &String| {
            let values = own.iter().map(|facts| facts.get(name).cloned()).collect();
            let explained = |a: &Levels, b: &Levels| (&a.device, &a.queue) != (&b.device, &b.queue);
            self.difference(format!("device: {name}"), values, explained)
        };
        names.into_iter().filter_map(of).collect()
    }
}

/// Whether these levels ask for another format.
fn is_other_format(a: &Levels, b: &Levels) -> bool {
    (&a.fs.name, &a.fs.mkfs, &a.fs.external) != (&b.fs.name, &b.fs.mkfs, &b.fs.external)
        || (a.discard, &a.device) != (b.discard, &b.device)
}

/// Whether these levels ask for another value of an option that all file systems have.
fn explains_generic(key: &str, a: &Levels, b: &Levels) -> bool {
    let asked = |levels: &Levels| -> Vec<String> {
        let is_own = |option: &&String| {
            let known = option.split('=').next().unwrap_or_default();
            let known = known.strip_prefix("no").filter(|_| key == "discard").unwrap_or(known);
            known == key || (TIMES.contains(&key) && TIMES.contains(&known))
        };
        levels.fs.mount.iter().filter(is_own).cloned().collect()
    };
    asked(a) != asked(b) || (key == "discard" && a.discard != b.discard)
}

/// The options of mountinfo by key; of one that is there several times, all values.
fn parsed(options: &str) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').unwrap_or((option, "on"));
        let known = all.entry(key.to_owned()).or_default();
        if !known.is_empty() {
            known.push(',');
        }
        known.push_str(value);
    }
    all
}

/// Features by name; those that hold the names of many are taken apart.
fn features_of(made: &Effective) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in &made.features {
        if LISTS.contains(&key.as_str()) {
            let names = value.split_whitespace().filter(|name| *name != "(none)");
            all.extend(names.map(|name| (name.to_owned(), "on".to_owned())));
        } else {
            all.insert(key.clone(), value.clone());
        }
    }
    all
}

/// Something that file systems have in common under different names.
struct Common {
    what: &'static str,
    /// Parts of the names of mkfs options that set it.
    keys: &'static [&'static str],
    /// File systems that by their nature are without it.
    without: &'static [&'static str],
    of: fn(&Effective) -> Option<String>,
}

const COMMON: [Common; 4] = [
    Common {
        what: "block size",
        keys: &["block_size", "sectorsize"],
        without: &[],
        of: block_size,
    },
    Common { what: "inode size", keys: &["inode_size"], without: &[], of: inode_size },
    Common {
        what: "journal",
        keys: &["journal", "log_size", "features"],
        without: &["ext2"],
        of: journal,
    },
    Common {
        what: "checksums of metadata",
        keys: &["features", "checksum"],
        without: &["ext2", "ext3"],
        of: checksums,
    },
];

fn number(made: &Effective, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| made.features.get(*name)?.parse().ok())
}

/// Bytes of a block of contents. f2fs states the logarithm.
fn block_bytes(made: &Effective) -> Option<u64> {
    let names = ["block_size", "data.bsize", "sectorsize", "aggregate_block_size"];
    let by_log = || {
        let log = number(made, &["log_blocksize"])?;
        1u64.checked_shl(u32::try_from(log).ok()?)
    };
    number(made, &names).or_else(by_log)
}

fn block_size(made: &Effective) -> Option<String> {
    block_bytes(made).map(|bytes| Bytes(bytes).to_string())
}

fn inode_size(made: &Effective) -> Option<String> {
    number(made, &["inode_size", "meta.isize"]).map(|bytes| Bytes(bytes).to_string())
}

/// Size of the journal or log; `none` of an ext file system that has none.
fn journal(made: &Effective) -> Option<String> {
    if let Some(features) = made.features.get("filesystem_features")
        && made.features.contains_key("inode_size")
        && !features.contains("has_journal")
        && made.name.starts_with("ext")
    {
        return Some("none".to_owned());
    }
    if let Some(text) = made.features.get("total_journal_size") {
        return Some(text.parse::<Bytes>().map_or_else(|_| text.clone(), |b| b.to_string()));
    }
    let blocks = number(made, &["log.blocks", "journal_blocks"])?;
    let bytes = number(made, &["log.bsize"]).or_else(|| block_bytes(made))?;
    Some(Bytes(blocks.saturating_mul(bytes)).to_string())
}

fn checksums(made: &Effective) -> Option<String> {
    let has = fsarena_filesystems::builtin_driver(&made.name)?.checksums(&made.features)?;
    Some(if has { "yes" } else { "no" }.to_owned())
}
