//! Labels of contenders: the name of the file system, and only what differs between contenders.
//!
//! `ext4`, `ext4 data=writeback`, `xfs block_size=1024 on ram:1G`, `ext4#2`. Labels are for people
//! and no part of an identity.

use crate::steps::{has_own_device, in_memory};
use crate::text::{UNCHANGED, cache_text, device_text, nanos_text, size_text};
use fsarena_model::contender::{Contender, Discard, FsLevel, Levels};
use fsarena_model::device::WriteCache;
use std::collections::{BTreeMap, BTreeSet};

/// Which factors have more than one level, and so are part of the labels; a handicap always does.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Varies {
    pub(crate) device: bool,
    pub(crate) memory: bool,
    pub(crate) cache: bool,
    pub(crate) discard: bool,
    pub(crate) ssd: bool,
    pub(crate) scheduler: bool,
    pub(crate) read_ahead: bool,
    pub(crate) write_cache: bool,
    pub(crate) reflink: bool,
    pub(crate) handicap: bool,
}

/// Puts the labels in.
pub(crate) fn label(contenders: &mut [Contender], varies: Varies) {
    let common = common_options(contenders);
    let mut arms: BTreeMap<String, u32> = BTreeMap::new();
    for contender in contenders.iter() {
        let arm = arms.entry(identity(contender)).or_default();
        *arm = (*arm).max(contender.replicate);
    }
    for contender in contenders.iter_mut() {
        let mut label = contender.levels.fs.name.clone();
        for option in options(&contender.levels.fs).difference(&common) {
            label.push(' ');
            label.push_str(option);
        }
        let levels = &contender.levels;
        if varies.device {
            match levels.device.size_bytes().filter(|_| in_memory(levels)) {
                Some(size) => label.push_str(&format!(" of {}", size_text(size))),
                None => label.push_str(&format!(" on {}", device_text(&levels.device))),
            }
        }
        if varies.memory {
            label.push_str(" in ");
            label.push_str(&levels.memory_bytes.map_or("all memory".to_owned(), size_text));
        }
        if varies.cache {
            label.push_str(&format!(" {}", cache_text(levels.cache)));
        }
        if varies.discard {
            let none = levels.discard == Discard::None;
            label.push_str(if none { " no-discard" } else { " discard" });
        }
        if varies.reflink {
            label.push_str(&format!(" reflink={}", levels.reflink.name()));
        }
        if varies.handicap {
            label.push_str(&format!(" handicap={}", nanos_text(levels.handicap_ns)));
        }
        if has_own_device(levels) {
            device_settings(&mut label, levels, varies);
        }
        if arms[&identity(contender)] > 1 {
            label.push_str(&format!("#{}", contender.replicate));
        }
        contender.label = label;
    }
}

/// What was done to the device, and how its queue is set.
fn device_settings(label: &mut String, levels: &Levels, varies: Varies) {
    let queue = &levels.queue;
    if varies.ssd {
        label.push_str(&format!(" ssd={}", levels.ssd.name()));
    }
    if varies.scheduler {
        let scheduler = queue.scheduler.as_deref().unwrap_or(UNCHANGED);
        label.push_str(&format!(" scheduler={scheduler}"));
    }
    if varies.read_ahead {
        let size = queue.read_ahead_bytes.map_or(UNCHANGED.to_owned(), size_text);
        label.push_str(&format!(" read_ahead={size}"));
    }
    if varies.write_cache {
        let cache = queue.write_cache.map_or(UNCHANGED, WriteCache::name);
        label.push_str(&format!(" write_cache={cache}"));
    }
}

fn identity(contender: &Contender) -> String {
    fsarena_model::contender::ContenderId::of(&contender.levels, 1).0
}

/// The options as a label shows them: `mkfs.` is put before what could be a mount option.
fn options(fs: &FsLevel) -> BTreeSet<String> {
    let mkfs = fs.mkfs.iter().map(|(key, value)| match fs.mount.iter().any(|m| is(m, key)) {
        true => format!("mkfs.{key}={value}"),
        false => format!("{key}={value}"),
    });
    mkfs.chain(fs.mount.iter().cloned()).collect()
}

fn is(option: &str, key: &str) -> bool {
    option.split('=').next() == Some(key)
}

fn common_options(contenders: &[Contender]) -> BTreeSet<String> {
    let mut sets = contenders.iter().map(|contender| options(&contender.levels.fs));
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |common, set| common.intersection(&set).cloned().collect())
}
