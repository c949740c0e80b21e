//! Factors of the device: what is discarded, how its flash is conditioned, how its queue is set.

use super::descriptor::{ActsOn, Factor, FactorInfo, Illegal, Setting, Target};
use super::level::{LevelError, UNCHANGED, bytes, known_bytes, size_words, word};
use crate::contender::{DeviceLevel, Discard, Levels};
use crate::device::{SsdPolicy, WriteCache};
use crate::memory_device::MemoryDevice;
use crate::units::{Bytes, size_text};

/// Largest read-ahead: far above what any device has.
const MAX_READ_AHEAD_BYTES: u64 = 1 << 30;
/// Longest name of a scheduler (`ELV_NAME_MAX` of the kernel).
const MAX_SCHEDULER_BYTES: usize = 16;

pub(super) struct DiscardPolicy;

impl Factor for DiscardPolicy {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            help: "What mkfs and mount may discard: none or on",
            example: "\"none\"",
            default_level: "none",
            ..FactorInfo::new("discard", ActsOn::Device)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        word(text, "discard policy", &Discard::ALL.map(Discard::name))
    }
    fn get(&self, levels: &Levels) -> String {
        levels.discard.name().to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.discard = Discard::named(level).unwrap_or_default();
    }
    fn illegal(&self, target: &Target<'_>) -> Option<Illegal> {
        let levels = target.levels;
        let reason = "without mkfs and mount nothing is discarded";
        (levels.is_raw() && !levels.discard.is_none()).then_some(Illegal::LeftOut(reason))
    }
    fn label(&self, level: &str) -> String {
        if level == "on" { "discard" } else { "no-discard" }.to_owned()
    }
}

pub(super) struct Conditioning;

impl Factor for Conditioning {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            title: "SSD policy",
            head: Some("before mkfs"),
            help: "How to prepare the device before each mkfs: none, blkdiscard or precondition",
            example: "\"blkdiscard\"",
            default_level: "none",
            ..FactorInfo::new("ssd", ActsOn::Device)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        word(text, "SSD policy", &SsdPolicy::ALL.map(SsdPolicy::name))
    }
    fn fact(&self, level: &str) -> Option<String> {
        (!self.is_unset(level)).then(|| format!("{level} before each mkfs"))
    }
    fn get(&self, levels: &Levels) -> String {
        levels.ssd.name().to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.ssd = SsdPolicy::named(level).unwrap_or_default();
    }
}

pub(super) struct Scheduler;

impl Factor for Scheduler {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            title: "I/O scheduler",
            help: "I/O scheduler of the device, such as none or mq-deadline; restored after each \
                   trial",
            example: "\"mq-deadline\"",
            ..FactorInfo::new("scheduler", ActsOn::Device)
        }
    }
    /// Which there are is known to the kernel alone.
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if text.is_empty() || text.len() > MAX_SCHEDULER_BYTES || !text.chars().all(legal) {
            return Err(LevelError::new(
                format!("{text:?} is no name of an I/O scheduler"),
                "use none, mq-deadline, kyber or bfq, or \"default\" to leave it as it is",
            ));
        }
        Ok(text.to_owned())
    }
    fn get(&self, levels: &Levels) -> String {
        levels.queue.scheduler.clone().unwrap_or_else(|| UNCHANGED.to_owned())
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.queue.scheduler = (level != UNCHANGED).then(|| level.to_owned());
    }
    fn illegal(&self, target: &Target<'_>) -> Option<Illegal> {
        let device = &target.levels.device;
        let scheduler = target.levels.queue.scheduler.as_deref().filter(|name| *name != "none")?;
        let no_queue = matches!(device, DeviceLevel::Memory { kind, .. } if !kind.row().has_queue);
        no_queue.then(|| {
            Illegal::Forbidden(format!(
                "{} has no queue that {scheduler} could sort; use scheduler = \"none\", or \
                 {}",
                device.written(),
                MemoryDevice::all()
                    .map(MemoryDevice::row)
                    .filter(|row| row.has_queue)
                    .map(|row| row.written)
                    .collect::<Vec<_>>()
                    .join(", ")
            ))
        })
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        (level != UNCHANGED).then(|| Setting::Queue("scheduler", level.to_owned()))
    }
}

pub(super) struct ReadAhead;

impl Factor for ReadAhead {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            flag: "read-ahead",
            title: "read-ahead",
            help: "Read-ahead of the device, such as 128KiB; restored after each trial",
            example: "\"128K\"",
            ..FactorInfo::new("read_ahead", ActsOn::Device)
        }
    }
    /// In whole KiB.
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        if text == UNCHANGED {
            return Ok(text.to_owned());
        }
        let size = bytes(text)?;
        if size > MAX_READ_AHEAD_BYTES || !size.is_multiple_of(1024) {
            return Err(LevelError::new(
                format!("a read-ahead of {}", Bytes(size)),
                format!("use whole KiB up to {}", Bytes(MAX_READ_AHEAD_BYTES)),
            ));
        }
        Ok(size_text(size))
    }
    fn get(&self, levels: &Levels) -> String {
        levels.queue.read_ahead_bytes.map_or_else(|| UNCHANGED.to_owned(), size_text)
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.queue.read_ahead_bytes = known_bytes(level);
    }
    fn words(&self, level: &str) -> String {
        size_words(level, "as it is")
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        let kib = known_bytes(level)? / 1024;
        Some(Setting::Queue("read_ahead_kb", kib.to_string()))
    }
}

pub(super) struct WriteCachePolicy;

impl Factor for WriteCachePolicy {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            flag: "write-cache",
            title: "write cache",
            help: "Write cache of the device as the kernel treats it: write-back or write-through; \
                   restored after each trial",
            example: "\"write-back\"",
            ..FactorInfo::new("write_cache", ActsOn::Device)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        let [back, through] = WriteCache::ALL.map(WriteCache::name);
        word(text, "write cache", &[back, through, UNCHANGED])
    }
    fn get(&self, levels: &Levels) -> String {
        levels.queue.write_cache.map_or(UNCHANGED, WriteCache::name).to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.queue.write_cache = WriteCache::named(level);
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        // The kernel writes it with a space.
        WriteCache::named(level).map(|_| Setting::Queue("write_cache", level.replace('-', " ")))
    }
}
