//! How many requests the queue of a device holds (`nr_requests`,
//! Documentation/ABI/stable/sysfs-block).
//!
//! The kernel chooses it anew with each scheduler; without one it takes no more than the driver
//! has tags.

use super::descriptor::{ActsOn, Factor, Setting};
use super::level::{LevelError, UNCHANGED};

/// Fewest and most that the kernel is asked for (`BLKDEV_MIN_RQ`; far above what a device has).
const REQUESTS: std::ops::RangeInclusive<u32> = 4..=65_536;

pub(super) struct NrRequests;

impl Factor for NrRequests {
    fn key(&self) -> &'static str {
        "nr_requests"
    }
    fn flag(&self) -> &'static str {
        "nr-requests"
    }
    fn title(&self) -> &'static str {
        "number of requests in the queue"
    }
    fn head(&self) -> &'static str {
        "requests"
    }
    fn help(&self) -> &'static str {
        "Requests that the queue of the device holds, such as 32; restored after each trial"
    }
    fn example(&self) -> &'static str {
        "\"64\""
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
        match text.parse::<u32>() {
            Ok(number) if REQUESTS.contains(&number) => Ok(number.to_string()),
            _ => Err(LevelError::new(
                format!("{text:?} requests in a queue"),
                format!("use {} to {}, or \"default\"", REQUESTS.start(), REQUESTS.end()),
            )),
        }
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Device
    }
    fn setting(&self, level: &str) -> Option<Setting> {
        (level != UNCHANGED).then(|| Setting::Queue("nr_requests", level.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_file_of_the_queue() {
        assert_eq!(NrRequests.parse("0064").unwrap(), "64");
        for odd in ["3", "-1", "64K", "", "100000"] {
            assert!(NrRequests.parse(odd).is_err(), "{odd}");
        }
        assert_eq!(NrRequests.setting(UNCHANGED), None);
        let setting = NrRequests.setting("64").unwrap();
        assert_eq!(setting, Setting::Queue("nr_requests", "64".to_owned()));
        assert_eq!(setting.fact_key(), "requests");
    }
}
