//! Labels of contenders: the name of the file system, and only what differs between contenders.
//!
//! `ext4`, `ext4 data=writeback`, `xfs block_size=1024 on ram:1G`, `ext4#2`. Labels are for people
//! and no part of an identity.

use fsarena_model::contender::{Contender, DeviceLevel, FsLevel, device_labels};
use fsarena_model::factor::{self, ActsOn};
use fsarena_model::units::size_text;
use std::collections::{BTreeMap, BTreeSet};

/// What has more than one level, and so is part of the labels.
#[derive(Clone, Default, Debug)]
pub(crate) struct Varies {
    pub(crate) device: bool,
    /// Keys of the factors.
    pub(crate) factors: BTreeSet<&'static str>,
}

/// Puts the labels in.
pub(crate) fn label(contenders: &mut [Contender], varies: &Varies) {
    let common = common_options(contenders);
    let mut arms: BTreeMap<String, u32> = BTreeMap::new();
    for contender in contenders.iter() {
        let arm = arms.entry(identity(contender)).or_default();
        *arm = (*arm).max(contender.replicate);
    }
    let devices: Vec<&DeviceLevel> =
        contenders.iter().map(|contender| &contender.levels.device).collect();
    let devices = device_labels(&devices, DeviceLevel::written);
    for (contender, device) in contenders.iter_mut().zip(devices) {
        let mut label = contender.levels.fs.name.clone();
        for option in options(&contender.levels.fs).difference(&common) {
            label.push(' ');
            label.push_str(option);
        }
        let levels = &contender.levels;
        if varies.device {
            match levels.device.size_bytes().filter(|_| levels.is_in_memory()) {
                Some(size) => label.push_str(&format!(" of {}", size_text(size))),
                None => label.push_str(&format!(" on {device}")),
            }
        }
        for factor in factor::all() {
            let level = factor.get(levels);
            let no_device = factor.info().acts_on == ActsOn::Device && !levels.has_own_device();
            let varies = varies.factors.contains(factor.key()) && !no_device;
            if varies || factor.is_always_labelled(&level) {
                label.push_str(&format!(" {}", factor.label(&level)));
            }
        }
        if arms[&identity(contender)] > 1 {
            label.push_str(&format!("#{}", contender.replicate));
        }
        contender.label = label;
    }
}

fn identity(contender: &Contender) -> String {
    fsarena_model::contender::ContenderId::from_levels(&contender.levels, 1).0
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
