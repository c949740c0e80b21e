//! What the file systems accept, for the plan: a thin way from `plan` to the drivers in `targets`.

use fsarena_model::contender::FsLevel;
use fsarena_plan::Rules;
use fsarena_targets::fs::{self, Place};

/// The rules of the drivers of this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriverRules;

impl Rules for DriverRules {
    fn file_systems(&self) -> Vec<String> {
        fs::builtin().iter().map(|driver| driver.name().to_owned()).collect()
    }

    fn check(&self, level: &FsLevel, device_bytes: Option<u64>) -> Result<(), String> {
        let driver = fs::driver(level).map_err(|error| error.to_string())?;
        driver.check(level, device_bytes).map_err(|error| error.to_string())
    }

    fn needs_device(&self, level: &FsLevel) -> bool {
        fs::driver(level).is_ok_and(|driver| driver.place() == Place::Block)
    }
}
