//! After what time dirty data is old enough to be written back (`vm.dirty_expire_centisecs`).

use super::descriptor::{ActsOn, Factor, Setting};
use super::level::{LevelError, UNCHANGED, nanos};
use crate::units::{Nanos, nanos_text};

/// What the kernel counts in: hundredths of a second.
const CENTISECOND_NS: u64 = 10_000_000;
/// Longest time.
const MAX_NS: u64 = 24 * 3_600_000_000_000;

pub(super) struct DirtyExpire;

impl Factor for DirtyExpire {
    fn key(&self) -> &'static str {
        "dirty_expire"
    }
    fn flag(&self) -> &'static str {
        "dirty-expire"
    }
    fn title(&self) -> &'static str {
        "dirty_expire"
    }
    fn help(&self) -> &'static str {
        "Age from which on dirty data is written back, such as 5s; restored after each trial"
    }
    fn example(&self) -> &'static str {
        "\"5s\""
    }
    fn default_level(&self) -> &'static str {
        UNCHANGED
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        if text == UNCHANGED {
            return Ok(text.to_owned());
        }
        let age = nanos(text)?;
        if age > 0 && age <= MAX_NS && age.is_multiple_of(CENTISECOND_NS) {
            return Ok(nanos_text(age));
        }
        Err(LevelError::new(
            format!("an age of {} for dirty data", Nanos(age)),
            "use whole hundredths of a second up to 24 h, or \"default\"",
        ))
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Host
    }
    fn words(&self, level: &str) -> String {
        nanos(level).map_or_else(|_| "as it is".to_owned(), |age| Nanos(age).to_string())
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        let centiseconds = nanos(level).ok()? / CENTISECOND_NS;
        Some(Setting::Sysctl("vm/dirty_expire_centisecs", centiseconds.to_string(), None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_an_age_in_hundredths_of_a_second() {
        assert_eq!(DirtyExpire.parse("5 s").unwrap(), "5s");
        for odd in ["0s", "5ms", "2000h", "5"] {
            assert!(DirtyExpire.parse(odd).is_err(), "{odd}");
        }
        let setting = DirtyExpire.setting("1500ms").unwrap();
        assert_eq!(setting, Setting::Sysctl("vm/dirty_expire_centisecs", "150".to_owned(), None));
        assert_eq!(DirtyExpire.setting(UNCHANGED), None);
    }
}
