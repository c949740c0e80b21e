//! What a machine has that no fixture is the owner of: devices that the kernel made, and settings
//! of queues. Looked at before and after, and never changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Settings of a queue that are factors.
const SETTINGS: [&str; 3] = ["scheduler", "read_ahead_kb", "write_cache"];

/// The machine at a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    zrams: BTreeSet<String>,
    queues: BTreeMap<String, String>,
}

impl Machine {
    /// As it is now.
    #[must_use]
    pub fn now() -> Self {
        let looped = block_devices().into_iter().filter(|name| name.starts_with("loop"));
        // The write cache of a loop device is that of its image, and not to be compared.
        let scheduler = |name: &str| queue_of(name).remove("scheduler").unwrap_or_default();
        Self {
            zrams: zrams(),
            queues: looped.map(|name| (name.clone(), scheduler(&name))).collect(),
        }
    }

    /// What is there more by now, and what is set otherwise.
    #[must_use]
    pub fn differences(&self) -> Vec<String> {
        self.differences_to(&Self::now())
    }

    fn differences_to(&self, now: &Self) -> Vec<String> {
        let made = now.zrams.difference(&self.zrams).map(|zram| format!("device {zram}"));
        let gone = self.zrams.difference(&now.zrams).map(|zram| format!("{zram} is gone"));
        let queues = self.queues.iter().filter(|(name, was)| now.queues.get(*name) != Some(was));
        let set = queues.map(|(name, was)| {
            let is = now.queues.get(name).map_or("gone", String::as_str);
            format!("{name}: the scheduler was {was}, is {is}")
        });
        made.chain(gone).chain(set).collect()
    }
}

/// The zram devices that there are, each with its number of the medium.
#[must_use]
pub fn zrams() -> BTreeSet<String> {
    let named = |name: String| {
        let diskseq = fs::read_to_string(format!("/sys/block/{name}/diskseq")).unwrap_or_default();
        format!("{name} {}", diskseq.trim())
    };
    block_devices().into_iter().filter(|name| name.starts_with("zram")).map(named).collect()
}

/// Why this kernel makes no zram devices; `None` where it does.
#[must_use]
pub fn why_no_zram() -> Option<&'static str> {
    let there = Path::new("/sys/class/zram-control/hot_add").exists();
    (!there).then_some("this kernel has no zram")
}

/// The three settings of a queue that are factors.
#[must_use]
pub fn queue_of(name: &str) -> BTreeMap<&'static str, String> {
    let read = |setting: &'static str| {
        let file = format!("/sys/block/{name}/queue/{setting}");
        let text = fs::read_to_string(file).unwrap_or_default();
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let value = chosen.map_or(text.trim(), |(word, _)| word).to_owned();
        (setting, value)
    };
    SETTINGS.map(read).into()
}

fn block_devices() -> Vec<String> {
    let all = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    all.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(zrams: &[&str], scheduler: &str) -> Machine {
        Machine {
            zrams: zrams.iter().map(|&name| name.to_owned()).collect(),
            queues: [("loop0".to_owned(), scheduler.to_owned())].into(),
        }
    }

    #[test]
    fn what_has_changed_is_named() {
        let before = machine(&["zram0 1"], "none");
        assert_eq!(before.differences_to(&before), [""; 0]);
        let after = machine(&["zram0 2"], "bfq");
        let expected =
            ["device zram0 2", "zram0 1 is gone", "loop0: the scheduler was none, is bfq"];
        assert_eq!(before.differences_to(&after), expected);
    }
}
