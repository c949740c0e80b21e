//! Block devices: what identifies one, and the settings of its queue that are factors.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a block device is known by. It is written down when the device is claimed and compared
/// before every mkfs and on resume: a device that differs in any of it is another one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeviceIdentity {
    /// Canonical path, such as `/dev/sdb` or `/dev/nvme0n1p2`.
    pub path: PathBuf,
    /// Kernel name, such as `sdb` or `nvme0n1p2`.
    pub name: String,
    /// Device number, major and minor.
    pub number: (u32, u32),
    /// Capacity.
    pub size_bytes: u64,
    /// Number that the kernel gives to each disk that appears (`diskseq`), new for every medium;
    /// valid within one boot.
    pub diskseq: Option<u64>,
    /// What the hardware says of itself, by name: `serial`, `wwid`, `model`, and `start_bytes` and
    /// `partition` of a partition. Valid across boots.
    pub hardware: BTreeMap<String, String>,
}

impl DeviceIdentity {
    /// How `now` differs from this, in words; empty where it is the same device. Within another
    /// boot device numbers, paths and `diskseq` may change, and only the rest is compared.
    #[must_use]
    pub fn differences(&self, now: &Self, same_boot: bool) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, was: String, is: String| {
            if was != is {
                found.push(format!("its {what} was {was} and is {is}"));
            }
        };
        compare("size in bytes", self.size_bytes.to_string(), now.size_bytes.to_string());
        if same_boot {
            let number = |of: &Self| format!("{}:{}", of.number.0, of.number.1);
            compare("device number", number(self), number(now));
            let sequence =
                |of: &Self| of.diskseq.map_or_else(|| "unknown".to_owned(), |seq| seq.to_string());
            compare("diskseq (the kernel's number of the medium)", sequence(self), sequence(now));
        }
        let names: std::collections::BTreeSet<&String> =
            self.hardware.keys().chain(now.hardware.keys()).collect();
        for name in names {
            let value = |of: &Self| of.hardware.get(name).cloned().unwrap_or("unknown".to_owned());
            compare(name, value(self), value(now));
        }
        found
    }

    /// Whether it has a name of its own (`serial`, `wwid`; the UUID of a volume or an array), so
    /// that it can be told from another of the same size when numbers and names of the kernel have
    /// begun anew.
    #[must_use]
    pub fn is_named(&self) -> bool {
        let says = |name: &&str| self.hardware.get(*name).is_some_and(|text| !text.is_empty());
        ["serial", "wwid", "dm_uuid", "md_uuid"].iter().any(says)
    }
}

/// Settings of a device's queue (`/sys/block/X/queue`); what is absent stays as it is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueLevel {
    /// I/O scheduler: `none`, `mq-deadline`, `kyber`, `bfq`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Largest read-ahead, bytes (`read_ahead_kb`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// How the kernel treats the device's write cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<WriteCache>,
}

/// `/sys/block/X/queue/write_cache`: whether the kernel sends flushes. It does not switch the cache
/// of the hardware (Documentation/ABI/stable/sysfs-block).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// The kernel flushes where a file system asks for it.
    WriteBack,
    /// The kernel takes every completed write for durable and sends no flush.
    WriteThrough,
}

names!(WriteCache.name { WriteBack = "write-back", WriteThrough = "write-through" });

/// What is done to a device before each mkfs, so that its flash is in a stated state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SsdPolicy {
    /// Nothing: it is as the trial before left it.
    #[default]
    None,
    /// The whole device is discarded (`BLKDISCARD`).
    Blkdiscard,
    /// Written twice from start to end, then overwritten at random until the rate is steady, as
    /// SNIA's Solid State Storage Performance Test Specification describes.
    Precondition,
}

names!(SsdPolicy.name { None = "none", Blkdiscard = "blkdiscard", Precondition = "precondition" });

/// What a policy did to a device before mkfs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Conditioning {
    /// The whole device was discarded.
    Discarded {
        /// Bytes.
        discarded_bytes: u64,
        /// Length.
        elapsed_ns: u64,
    },
    /// It was written over.
    Preconditioned {
        /// Bytes of the sequential fill.
        fill_bytes: u64,
        /// Length of the fill.
        fill_ns: u64,
        /// Bytes of one random write.
        bs_bytes: u64,
        /// Random writes per second in each round.
        rounds_ops_per_s: Vec<f64>,
        /// Rounds that the steady state was looked for in.
        window_rounds: u32,
        /// Whether it was found.
        steady: bool,
        /// Length of all rounds.
        rounds_ns: u64,
    },
    /// Each of several devices, in their order.
    Several {
        /// What was done to each.
        devices: Vec<Conditioning>,
    },
    /// Could not be done; says why.
    NotDone {
        /// Why.
        reason: String,
    },
}

impl Conditioning {
    /// What was done to each device: of one device that alone.
    #[must_use]
    pub fn parts(&self) -> &[Conditioning] {
        match self {
            Self::Several { devices } => devices,
            one => std::slice::from_ref(one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> DeviceIdentity {
        DeviceIdentity {
            path: "/dev/sdb".into(),
            name: "sdb".to_owned(),
            number: (8, 16),
            size_bytes: 1 << 40,
            diskseq: Some(7),
            hardware: [("serial".to_owned(), "S1".to_owned())].into(),
        }
    }

    #[test]
    fn another_medium_is_another_device() {
        assert!(disk().differences(&disk(), true).is_empty());
        let changed = DeviceIdentity { diskseq: Some(8), ..disk() };
        assert_eq!(disk().differences(&changed, true).len(), 1);
        assert!(disk().differences(&changed, false).is_empty(), "after a reboot they are new");
        let other = DeviceIdentity {
            hardware: [("serial".to_owned(), "S2".to_owned())].into(),
            path: "/dev/sdc".into(),
            ..disk()
        };
        assert_eq!(disk().differences(&other, false), ["its serial was S1 and is S2"]);
        let silent = DeviceIdentity { hardware: BTreeMap::new(), ..disk() };
        assert_eq!(disk().differences(&silent, false), ["its serial was S1 and is unknown"]);
        assert!(disk().is_named() && !silent.is_named());
        let small = DeviceIdentity { size_bytes: 1, ..disk() };
        assert_eq!(disk().differences(&small, false).len(), 1);
    }
}
