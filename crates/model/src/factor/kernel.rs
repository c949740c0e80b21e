//! Factors that are a number of the kernel: a setting below `/proc/sys` or of a device's queue.
//!
//! A further one of them is a constant here and a line of [`super::FACTORS`].

use super::descriptor::{ActsOn, Factor, FactorInfo, Setting};
use super::level::{LevelError, UNCHANGED, bytes, nanos};
use crate::units::{Bytes, Nanos, nanos_text, size_text};
use std::ops::RangeInclusive;

/// How a number is written.
enum Unit {
    Plain,
    Bytes,
    Time,
}

impl Unit {
    /// The number, its canonical text, and its text for people.
    fn read(&self, text: &str) -> Result<(u64, String, String), LevelError> {
        match self {
            Self::Plain => {
                let number = text.parse::<u32>().map_or(u64::MAX, u64::from);
                Ok((number, number.to_string(), format!("{text:?}")))
            }
            Self::Bytes => bytes(text).map(|size| (size, size_text(size), Bytes(size).to_string())),
            Self::Time => nanos(text).map(|ns| (ns, nanos_text(ns), Nanos(ns).to_string())),
        }
    }
}

/// A setting of the kernel that is a number.
pub(super) struct KernelNumber {
    info: FactorInfo,
    unit: Unit,
    limits: RangeInclusive<u64>,
    /// What the kernel counts in: it takes whole ones.
    counts_in: u64,
    /// What is wrong with a number out of the limits, around its text.
    refused: (&'static str, &'static str),
    /// What to use in its place.
    remedy: &'static str,
    setting: fn(String) -> Setting,
}

impl Factor for KernelNumber {
    fn info(&self) -> FactorInfo {
        self.info
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        if text == UNCHANGED {
            return Ok(text.to_owned());
        }
        let (number, level, shown) = self.unit.read(text)?;
        if self.limits.contains(&number) && number.is_multiple_of(self.counts_in) {
            return Ok(level);
        }
        let (before, after) = self.refused;
        Err(LevelError::new(format!("{before}{shown}{after}"), self.remedy))
    }
    fn words(&self, level: &str) -> String {
        match (&self.unit, self.unit.read(level)) {
            (Unit::Plain, _) if level != UNCHANGED => level.to_owned(),
            (Unit::Bytes | Unit::Time, Ok((.., shown))) => shown,
            _ => "as it is".to_owned(),
        }
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        let (number, ..) = self.unit.read(level).ok().filter(|_| level != UNCHANGED)?;
        Some((self.setting)((number / self.counts_in).to_string()))
    }
}

/// How many requests the queue of a device holds (`nr_requests`,
/// Documentation/ABI/stable/sysfs-block).
///
/// The kernel chooses it anew with each scheduler; without one it takes no more than the driver
/// has tags.
pub(super) static NR_REQUESTS: KernelNumber = KernelNumber {
    info: FactorInfo {
        flag: "nr-requests",
        title: "number of requests in the queue",
        head: Some("requests"),
        help: "Requests that the queue of the device holds, such as 32; restored after each trial",
        example: "\"64\"",
        takes_number: true,
        ..FactorInfo::new("nr_requests", ActsOn::Device)
    },
    unit: Unit::Plain,
    // `BLKDEV_MIN_RQ`; far above what a device has.
    limits: 4..=65_536,
    counts_in: 1,
    refused: ("", " requests in a queue"),
    remedy: "use 4 to 65536, or \"default\"",
    setting: |number| Setting::Queue("nr_requests", number),
};

/// From how many dirty bytes on the kernel writes back by itself (`vm.dirty_background_bytes`).
///
/// Setting it zeroes `vm.dirty_background_ratio`, which is what is put back where it was in force.
pub(super) static DIRTY_BACKGROUND_BYTES: KernelNumber = KernelNumber {
    info: FactorInfo {
        flag: "dirty-background-bytes",
        help: "Dirty bytes from which on the kernel writes back by itself, such as 16M; restored \
               after each trial",
        example: "\"16M\"",
        takes_number: true,
        ..FactorInfo::new("dirty_background_bytes", ActsOn::Host)
    },
    unit: Unit::Bytes,
    // A page, and far more than any machine has.
    limits: 4096..=1 << 46,
    counts_in: 1,
    refused: ("a limit of ", " for dirty bytes"),
    remedy: "use 4 KiB to 64 TiB, or \"default\"",
    setting: |limit| {
        let ratio = Some("vm/dirty_background_ratio");
        Setting::Sysctl("vm/dirty_background_bytes", limit, ratio)
    },
};

/// After what time dirty data is old enough to be written back (`vm.dirty_expire_centisecs`).
pub(super) static DIRTY_EXPIRE: KernelNumber = KernelNumber {
    info: FactorInfo {
        flag: "dirty-expire",
        help: "Age from which on dirty data is written back, such as 5s; restored after each trial",
        example: "\"5s\"",
        ..FactorInfo::new("dirty_expire", ActsOn::Host)
    },
    unit: Unit::Time,
    limits: 10_000_000..=24 * 3_600_000_000_000,
    counts_in: 10_000_000,
    refused: ("an age of ", " for dirty data"),
    remedy: "use whole hundredths of a second up to 24 h, or \"default\"",
    setting: |age| Setting::Sysctl("vm/dirty_expire_centisecs", age, None),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_file_of_the_queue() {
        assert_eq!(NR_REQUESTS.parse("0064").unwrap(), "64");
        for odd in ["3", "-1", "64K", "", "100000"] {
            assert!(NR_REQUESTS.parse(odd).is_err(), "{odd}");
        }
        assert_eq!(NR_REQUESTS.setting(UNCHANGED), None);
        let setting = NR_REQUESTS.setting("64").unwrap();
        assert_eq!(setting, Setting::Queue("nr_requests", "64".to_owned()));
        assert_eq!(setting.fact_key(), "requests");
        let refused = LevelError::new("\"3\" requests in a queue", NR_REQUESTS.remedy);
        assert_eq!(NR_REQUESTS.parse("3"), Err(refused));
    }

    #[test]
    fn a_level_is_a_limit_in_bytes() {
        assert_eq!(DIRTY_BACKGROUND_BYTES.parse("16 MiB").unwrap(), "16M");
        let odd = DIRTY_BACKGROUND_BYTES.parse("0");
        assert!(odd.is_err(), "0 is what the kernel has for the ratio");
        let setting = DIRTY_BACKGROUND_BYTES.setting("16M").unwrap();
        assert_eq!(setting.text(), "16777216");
        assert_eq!(setting.fact_key(), "sysctl vm.dirty_background_bytes");
        assert_eq!(DIRTY_BACKGROUND_BYTES.setting(UNCHANGED), None);
    }

    #[test]
    fn a_level_is_an_age_in_hundredths_of_a_second() {
        assert_eq!(DIRTY_EXPIRE.parse("5 s").unwrap(), "5s");
        for odd in ["0s", "5ms", "2000h", "5"] {
            assert!(DIRTY_EXPIRE.parse(odd).is_err(), "{odd}");
        }
        let setting = DIRTY_EXPIRE.setting("1500ms").unwrap();
        assert_eq!(setting, Setting::Sysctl("vm/dirty_expire_centisecs", "150".to_owned(), None));
        assert_eq!(DIRTY_EXPIRE.setting(UNCHANGED), None);
    }
}
