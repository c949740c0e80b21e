//! Temperatures and heat throttling: what a machine of hours may slow down by.

use crate::KernelRoots;
use crate::read_file::text;
use fsarena_model::thermal::{SensorReading, ThermalRecord};
use std::collections::BTreeMap;
use std::fs::read_dir;
use std::path::{Path, PathBuf};

/// What a processor counts below `thermal_throttle`.
const THROTTLES: [&str; 2] = ["core_throttle_count", "package_throttle_count"];

/// What sensors said at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thermal {
    /// Thousandths of a degree Celsius of each sensor: `nvme Composite`, `coretemp Core 0`.
    temperatures: BTreeMap<String, i64>,
    /// How often each processor was slowed down for its heat since boot, by file.
    throttles: BTreeMap<PathBuf, u64>,
}

impl Thermal {
    /// Reads the sensors of hwmon(4) and the throttle counts of all processors. What is not there
    /// or cannot be read is left out, as in most virtual machines.
    #[must_use]
    pub fn read(roots: &KernelRoots) -> Self {
        let chips = entries(&roots.sys.join("class/hwmon"));
        let cpus = entries(&roots.sys.join("devices/system/cpu"));
        let counts = cpus.iter().flat_map(|cpu| {
            let file = |name| cpu.join("thermal_throttle").join(name);
            let count = |name| Some((file(name), text(&file(name))?.parse().ok()?));
            THROTTLES.into_iter().filter_map(count).collect::<Vec<_>>()
        });
        Self {
            temperatures: chips.iter().flat_map(|chip| sensors(chip)).collect(),
            throttles: counts.collect(),
        }
    }

    /// From this moment to `after`; `None` where the machine tells nothing.
    #[must_use]
    pub fn until(&self, after: &Self) -> Option<ThermalRecord> {
        let both = self.temperatures.iter().filter_map(|(sensor, &before)| {
            Some(SensorReading {
                sensor: sensor.clone(),
                before_millidegrees: before,
                after_millidegrees: *after.temperatures.get(sensor)?,
            })
        });
        let sensors: Vec<SensorReading> = both.collect();
        // Siblings of a core and all of a package count the same event: the most of any.
        let grown = self
            .throttles
            .iter()
            .filter_map(|(file, before)| Some(after.throttles.get(file)?.saturating_sub(*before)));
        let throttles = grown.max();
        (!sensors.is_empty() || throttles.is_some()).then_some(ThermalRecord { sensors, throttles })
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let all = read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The sensors of a chip, each with the chip's name and its own label or file. Chips of one name
/// are told apart by a number.
fn sensors(chip: &Path) -> Vec<(String, i64)> {
    let dir = chip.file_name().map(|name| name.to_string_lossy().into_owned());
    let dir = dir.unwrap_or_default();
    let name = text(&chip.join("name")).unwrap_or_default();
    let sensor = |file: PathBuf| {
        let own = file.file_name()?.to_str()?.strip_suffix("_input")?;
        let own = own.starts_with("temp").then_some(own)?;
        let value = text(&file)?.parse().ok()?;
        let label = text(&chip.join(format!("{own}_label")));
        let label = label.unwrap_or_else(|| own.to_owned());
        Some((format!("{name} {label} ({dir})"), value))
    };
    entries(chip).into_iter().filter_map(sensor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, KernelRoots) {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let roots = KernelRoots { sys: dir.path().to_owned(), ..KernelRoots::default() };
        (dir, roots)
    }

    #[test]
    fn sensors_and_throttles_between_two_moments() {
        let (dir, roots) = tree(&[
            ("class/hwmon/hwmon0/name", "nvme\n"),
            ("class/hwmon/hwmon0/temp1_input", "41850\n"),
            ("class/hwmon/hwmon0/temp1_label", "Composite\n"),
            ("class/hwmon/hwmon0/fan1_input", "1200\n"),
            ("class/hwmon/hwmon1/name", "drivetemp\n"),
            ("class/hwmon/hwmon1/temp1_input", "-3000\n"),
            ("class/hwmon/hwmon1/temp2_input", "none\n"),
            ("devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5\n"),
            ("devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "2\n"),
            ("devices/system/cpu/cpufreq/policy0", ""),
        ]);
        let before = Thermal::read(&roots);
        let write = |path: &str, now| std::fs::write(dir.path().join(path), now).unwrap();
        write("class/hwmon/hwmon0/temp1_input", "70850\n");
        write("devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "9\n");
        let record = before.until(&Thermal::read(&roots)).unwrap();
        let sensors: Vec<_> = record
            .sensors
            .iter()
            .map(|one| (one.sensor.as_str(), one.before_millidegrees, one.after_millidegrees))
            .collect();
        let own = [
            ("drivetemp temp1 (hwmon1)", -3000, -3000),
            ("nvme Composite (hwmon0)", 41_850, 70_850),
        ];
        assert_eq!((sensors.as_slice(), record.throttles), (own.as_slice(), Some(7)));
    }

    #[test]
    fn a_machine_without_sensors_tells_nothing() {
        let (_dir, roots) = tree(&[("class/block/x", "")]);
        let read = Thermal::read(&roots);
        assert_eq!(read.until(&read), None);
    }
}
