//! How warm a machine was.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sensors before and after a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ThermalRecord {
    /// Those of hwmon.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensors: Vec<SensorReading>,
    /// How often processors were slowed down for their heat meanwhile, at least: the most that one
    /// of them counted. Absent where the kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttles: Option<u64>,
}

/// A sensor at two moments, thousandths of a degree Celsius.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SensorReading {
    /// Chip, label and entry of hwmon: `nvme Composite (hwmon0)`.
    pub sensor: String,
    /// Right before the phase.
    pub before_millidegrees: i64,
    /// After it had drained.
    pub after_millidegrees: i64,
}
