//! Factors of the device: what is discarded, how its flash is conditioned, how its queue is set.

use super::descriptor::{ActsOn, Factor, Illegal, Setting, Target};
use super::level::{LevelError, UNCHANGED, bytes, known_bytes, size_words, word};
use crate::contender::{DeviceLevel, Discard, Levels};
use crate::device::{SsdPolicy, WriteCache};
use crate::units::{Bytes, size_text};

/// Largest read-ahead: far above what any device has.
const MAX_READ_AHEAD_BYTES: u64 = 1 << 30;
/// Longest name of a scheduler (`ELV_NAME_MAX` of the kernel).
const MAX_SCHEDULER_BYTES: usize = 16;

pub(super) struct DiscardPolicy;

impl Factor for DiscardPolicy {
    fn key(&self) -> &'static str {
        "discard"
    }
    fn help(&self) -> &'static str {
        "What mkfs and mount may discard: none or on"
    }
    fn example(&self) -> &'static str {
        "\"none\""
    }
    fn default_level(&self) -> &'static str {
        "none"
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        word(text, "discard policy", &["none", "on"])
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Device
    }
    fn get(&self, levels: &Levels) -> String {
        if levels.discard.is_none() { "none" } else { "on" }.to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.discard = if level == "on" { Discard::On } else { Discard::None };
    }
    fn label(&self, level: &str) -> String {
        if level == "on" { "discard" } else { "no-discard" }.to_owned()
    }
}

pub(super) struct Conditioning;

impl Factor for Conditioning {
    fn key(&self) -> &'static str {
        "ssd"
    }
    fn title(&self) -> &'static str {
        "SSD policy"
    }
    fn head(&self) -> &'static str {
        "before mkfs"
    }
    fn help(&self) -> &'static str {
        "How to prepare the device before each mkfs: none, blkdiscard or precondition"
    }
    fn example(&self) -> &'static str {
        "\"blkdiscard\""
    }
    fn default_level(&self) -> &'static str {
        "none"
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        word(text, "SSD policy", &SsdPolicy::ALL.map(|known| known.0))
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Device
    }
    fn fact(&self, level: &str) -> Option<String> {
        (!self.is_unset(level)).then(|| format!("{level} before each mkfs"))
    }
    fn get(&self, levels: &Levels) -> String {
        levels.ssd.name().to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        let policy = SsdPolicy::ALL.iter().find(|known| known.0 == level);
        levels.ssd = policy.map_or(SsdPolicy::None, |known| known.1);
    }
}

pub(super) struct Scheduler;

impl Factor for Scheduler {
    fn key(&self) -> &'static str {
        "scheduler"
    }
    fn title(&self) -> &'static str {
        "I/O scheduler"
    }
    fn help(&self) -> &'static str {
        "I/O scheduler of the device, such as none or mq-deadline; restored after each trial"
    }
    fn example(&self) -> &'static str {
        "\"mq-deadline\""
    }
    fn default_level(&self) -> &'static str {
        UNCHANGED
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
    fn acts_on(&self) -> ActsOn {
        ActsOn::Device
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
        matches!(device, DeviceLevel::Zram { .. } | DeviceLevel::Brd { .. }).then(|| {
            Illegal::Forbidden(format!(
                "{} has no queue that {scheduler} could sort; use scheduler = \"none\", or \
                 null_blk",
                device.written()
            ))
        })
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        (level != UNCHANGED).then(|| Setting::Queue("scheduler", level.to_owned()))
    }
}

pub(super) struct ReadAhead;

impl Factor for ReadAhead {
    fn key(&self) -> &'static str {
        "read_ahead"
    }
    fn flag(&self) -> &'static str {
        "read-ahead"
    }
    fn title(&self) -> &'static str {
        "read-ahead"
    }
    fn help(&self) -> &'static str {
        "Read-ahead of the device, such as 128KiB; restored after each trial"
    }
    fn example(&self) -> &'static str {
        "\"128K\""
    }
    fn default_level(&self) -> &'static str {
        UNCHANGED
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
    fn acts_on(&self) -> ActsOn {
        ActsOn::Device
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
    fn key(&self) -> &'static str {
        "write_cache"
    }
    fn flag(&self) -> &'static str {
        "write-cache"
    }
    fn title(&self) -> &'static str {
        "write cache"
    }
    fn help(&self) -> &'static str {
        "Write cache of the device as the kernel treats it: write-back or write-through; restored \
         after each trial"
    }
    fn example(&self) -> &'static str {
        "\"write-back\""
    }
    fn default_level(&self) -> &'static str {
        UNCHANGED
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        let [back, through] = WriteCache::ALL.map(|known| known.0);
        word(text, "write cache", &[back, through, UNCHANGED])
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Device
    }
    fn get(&self, levels: &Levels) -> String {
        levels.queue.write_cache.map_or(UNCHANGED, WriteCache::name).to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.queue.write_cache =
            WriteCache::ALL.iter().find(|known| known.0 == level).map(|known| known.1);
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        let cache = WriteCache::ALL.iter().find(|known| known.0 == level)?;
        Some(Setting::Queue("write_cache", cache.1.kernel_text().to_owned()))
    }
}
