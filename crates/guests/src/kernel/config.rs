//! The configuration of a guest kernel: what is asked for, and whether the source has taken it.

use super::embedded::{BASE_CONFIG, FULL_CONFIG, OPTIONAL_CONFIG, TRIMMED_CONFIG};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Ticks a second that a guest kernel can have.
pub const HZ_RANGE: RangeInclusive<u32> = 100..=1000;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Configuration {
    /// Only what tests mount.
    pub trimmed: bool,
    /// Ticks a second.
    pub hz: u32,
}

impl Default for Configuration {
    fn default() -> Self {
        Self { trimmed: false, hz: 250 }
    }
}

impl Configuration {
    /// `full` or `trimmed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self.trimmed { "trimmed" } else { "full" }
    }

    /// Options that must take effect.
    #[must_use]
    pub fn required(self) -> String {
        let own = if self.trimmed { TRIMMED_CONFIG } else { FULL_CONFIG };
        format!("{BASE_CONFIG}{own}CONFIG_HZ={}\n", self.hz)
    }

    /// What is put behind the defaults of the architecture; of two lines for one option the later
    /// counts.
    #[must_use]
    pub fn fragment(self) -> String {
        format!("{OPTIONAL_CONFIG}{}", self.required())
    }

    /// Which of the required options `config` does not have, as they were asked for.
    #[must_use]
    pub fn lost(self, config: &str) -> Vec<String> {
        let have = options(config);
        let asked = self.required();
        let lost = options(&asked).into_iter().filter(|(name, value)| {
            let is = have.get(name).copied().unwrap_or("n");
            is != *value
        });
        lost.map(|(name, value)| format!("{name}={value}")).collect()
    }
}

/// Options and their values; one that is not set is `n`.
fn options(text: &str) -> BTreeMap<&str, &str> {
    let option = |line| match str::strip_prefix(line, "# ") {
        Some(rest) => rest.strip_suffix(" is not set").map(|name| (name, "n")),
        None => line.split_once('='),
    };
    text.lines().filter_map(option).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_took_no_effect_are_named() {
        let asked = Configuration { trimmed: true, hz: 1000 };
        let whole = asked.required();
        assert_eq!(asked.lost(&whole), Vec::<String>::new());
        let without = whole.replace("CONFIG_XFS_FS=y\n", "").replace("HZ=1000", "HZ=100");
        assert_eq!(asked.lost(&without), ["CONFIG_HZ=1000", "CONFIG_XFS_FS=y"]);
        let with = format!("{whole}CONFIG_MD=y\n");
        assert_eq!(asked.lost(&with), ["CONFIG_MD=n"]);
        let unknown = whole.replace("# CONFIG_MD is not set\n", "");
        assert_eq!(asked.lost(&unknown), Vec::<String>::new(), "not there is not set");
    }

    #[test]
    fn both_configurations_have_the_base_and_no_line_twice() {
        for trimmed in [false, true] {
            let all = Configuration { trimmed, hz: 250 }.fragment();
            let lines = all.lines().filter(|line| line.contains("CONFIG_"));
            let mut names: Vec<&str> = lines.flat_map(|line| options(line).into_keys()).collect();
            assert!(names.contains(&"CONFIG_UML_VDISK") && names.contains(&"CONFIG_EXT4_FS"));
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{names:?}");
        }
    }
}
