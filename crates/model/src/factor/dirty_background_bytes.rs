//! From how many dirty bytes on the kernel writes back by itself (`vm.dirty_background_bytes`).
//!
//! Setting it zeroes `vm.dirty_background_ratio`, which is what is put back where it was in force.

use super::descriptor::{ActsOn, Factor, Setting};
use super::level::{LevelError, UNCHANGED, bytes, known_bytes, size_words};
use crate::units::{Bytes, size_text};

/// A page, and far more than any machine has.
const LIMITS_BYTES: std::ops::RangeInclusive<u64> = 4096..=1 << 46;

pub(super) struct DirtyBackgroundBytes;

impl Factor for DirtyBackgroundBytes {
    fn key(&self) -> &'static str {
        "dirty_background_bytes"
    }
    fn flag(&self) -> &'static str {
        "dirty-background-bytes"
    }
    fn title(&self) -> &'static str {
        "dirty_background_bytes"
    }
    fn help(&self) -> &'static str {
        "Dirty bytes from which on the kernel writes back by itself, such as 16M; restored after \
         each trial"
    }
    fn example(&self) -> &'static str {
        "\"16M\""
    }
    fn takes_number(&self) -> bool {
        true
    }
    fn default_level(&self) -> &'static str {
        UNCHANGED
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        if text == UNCHANGED {
            return Ok(text.to_owned());
        }
        let limit = bytes(text)?;
        if LIMITS_BYTES.contains(&limit) {
            return Ok(size_text(limit));
        }
        let (least, most) = (Bytes(*LIMITS_BYTES.start()), Bytes(*LIMITS_BYTES.end()));
        Err(LevelError::new(
            format!("a limit of {} for dirty bytes", Bytes(limit)),
            format!("use {least} to {most}, or \"default\""),
        ))
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Host
    }
    fn words(&self, level: &str) -> String {
        size_words(level, "as it is")
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        let ratio = Some("vm/dirty_background_ratio");
        let limit = known_bytes(level)?.to_string();
        Some(Setting::Sysctl("vm/dirty_background_bytes", limit, ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_limit_in_bytes() {
        assert_eq!(DirtyBackgroundBytes.parse("16 MiB").unwrap(), "16M");
        assert!(DirtyBackgroundBytes.parse("0").is_err(), "0 is what the kernel has for the ratio");
        let setting = DirtyBackgroundBytes.setting("16M").unwrap();
        assert_eq!(setting.text(), "16777216");
        assert_eq!(setting.fact_key(), "sysctl vm.dirty_background_bytes");
        assert_eq!(DirtyBackgroundBytes.setting(UNCHANGED), None);
    }
}
