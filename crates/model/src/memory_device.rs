//! Memory devices of the kernel, which fsarena makes for a RUN: what is said and known of each in
//! one row. How a device is made is `fsarena-devices`' business.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What is known of a memory device.
#[derive(Debug)]
pub struct MemoryDeviceRow {
    /// Its kind in records and plans.
    pub name: &'static str,
    /// As it is written in an experiment or after `--on`, before `:SIZE`, and in tables.
    pub written: &'static str,
    /// What the kernel's names of its disks begin with, before the number.
    pub disk: &'static str,
    /// Its name in a sentence, before its size.
    pub phrase: &'static str,
    /// What it is.
    pub nature: &'static str,
    /// Whether its requests pass a queue that a scheduler can sort.
    pub has_queue: bool,
    /// Whether there are such disks without a size, which are only free names.
    pub may_be_a_free_name: bool,
}

/// Every memory device; a new one is its row here, and its file in `fsarena-devices`.
pub static MEMORY_DEVICES: &[MemoryDeviceRow] = &[
    MemoryDeviceRow {
        name: "zram",
        written: "zram",
        disk: "zram",
        phrase: "zram",
        nature: "compressed memory",
        has_queue: false,
        may_be_a_free_name: true,
    },
    MemoryDeviceRow {
        name: "brd",
        written: "brd",
        disk: "ram",
        phrase: "RAM disk",
        nature: "memory",
        has_queue: false,
        may_be_a_free_name: true,
    },
    MemoryDeviceRow {
        name: "null-blk",
        written: "null_blk",
        disk: "nullb",
        phrase: "null_blk",
        nature: "memory that answers at once",
        has_queue: true,
        may_be_a_free_name: false,
    },
];

/// A memory device of the kernel, by its name in [`MEMORY_DEVICES`].
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct MemoryDevice(&'static MemoryDeviceRow);

impl MemoryDevice {
    /// All of them, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        MEMORY_DEVICES.iter().map(Self)
    }

    /// That of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|device| device.row().name == name)
    }

    /// Whether a disk of this kernel name is one of them: null_blk's have names of their user's
    /// behind theirs.
    #[must_use]
    pub fn is_disk(disk: &str) -> bool {
        Self::all().any(|device| disk.starts_with(device.row().disk))
    }

    /// That of a disk by its kernel name, such as `zram3`.
    #[must_use]
    pub fn of_disk(disk: &str) -> Option<Self> {
        let numbered = |prefix| {
            disk.strip_prefix(prefix)
                .is_some_and(|rest: &str| rest.starts_with(|first: char| first.is_ascii_digit()))
        };
        Self::all().find(|device| numbered(device.row().disk))
    }

    /// What is known of it.
    #[must_use]
    pub const fn row(self) -> &'static MemoryDeviceRow {
        self.0
    }
}

impl fmt::Debug for MemoryDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

impl PartialEq for MemoryDevice {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for MemoryDevice {}

impl TryFrom<String> for MemoryDevice {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("no kind of device is called {name:?}"))
    }
}

impl From<MemoryDevice> for &'static str {
    fn from(device: MemoryDevice) -> Self {
        device.row().name
    }
}

#[cfg(feature = "schema")]
impl crate::JsonSchema for MemoryDevice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MemoryDevice".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<&str> = MEMORY_DEVICES.iter().map(|row| row.name).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::DeviceLevel;
    use std::collections::BTreeSet;

    #[test]
    fn levels_are_written_as_ever_and_nothing_else_is_read() {
        let read = |text: &str| serde_json::from_str::<DeviceLevel>(text);
        for kind in ["zram", "brd", "null-blk"] {
            let text = format!("{{\"kind\":{kind:?},\"size_bytes\":1024}}");
            let level = read(&text).unwrap();
            assert_eq!((level.kind(), level.size_bytes()), (kind, Some(1024)));
            assert_eq!(serde_json::to_string(&level).unwrap(), text);
        }
        for text in [
            "{\"kind\":\"zram\",\"size_bytes\":1,\"x\":2}",
            "{\"kind\":\"zram\"}",
            "{\"kind\":\"loop\"}",
            "{\"kind\":\"tape\",\"size_bytes\":1}",
            "{\"size_bytes\":1}",
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with("expected a device of a known kind"), "{text}: {error}");
        }
    }

    #[test]
    fn names_are_of_one_device_each_and_disks_are_known_by_theirs() {
        for field in [
            |row: &MemoryDeviceRow| row.name,
            |row: &MemoryDeviceRow| row.written,
            |row: &MemoryDeviceRow| row.disk,
        ] {
            let all: BTreeSet<&str> = MEMORY_DEVICES.iter().map(field).collect();
            assert_eq!(all.len(), MEMORY_DEVICES.len());
        }
        let of_disk = |disk: &str| -> Option<&'static str> {
            MemoryDevice::of_disk(disk).map(|device| device.row().name)
        };
        for device in MemoryDevice::all() {
            assert_eq!(MemoryDevice::named(device.row().name), Some(device));
            assert_eq!(of_disk(&format!("{}12", device.row().disk)), Some(device.row().name));
        }
        assert!(MemoryDevice::is_disk("nullb_test") && !MemoryDevice::is_disk("sda"));
        assert_eq!((of_disk("sda"), of_disk("ram"), of_disk("ramdisk")), (None, None, None));
    }
}
