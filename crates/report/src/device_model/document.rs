//! What is said of device models: plain values, as they are written as JSON.

use serde::Serialize;

/// A device model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceModelLine {
    /// Name, as options take it.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// `rotating`, `flash`, `card`, `constant`.
    pub kind: String,
    /// What the device holds.
    pub capacity_bytes: u64,
    /// Figures that its numbers were chosen by, and figures that were left out of that.
    pub fitted: usize,
    pub held_out: usize,
    /// Whether enough were left out to judge it by.
    pub is_calibrated: bool,
}

/// A measurement of a model, beside a published figure where there is one.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceModelRow {
    /// What was measured.
    pub probe: String,
    pub unit: String,
    pub measured: f64,
    pub published: Option<f64>,
    /// How far the model is from it, as a share of it.
    pub deviation: Option<f64>,
    /// `fitted`, `held out`.
    pub role: Option<String>,
    pub source: Option<String>,
    /// Whether it is as near as its role asks for.
    pub is_near: Option<bool>,
    /// Why it is further away, where that is known.
    pub remark: Option<String>,
}

/// A figure of a model over another one, measured in simulated time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceModelCurve {
    /// `seek`, `zones`, `sequential_writes`, `random_writes`, `write_sizes`, `allocation_units`.
    pub name: String,
    /// The same in words.
    pub title: String,
    pub along: DeviceModelAxis,
    pub upright: DeviceModelAxis,
    pub lines: Vec<DeviceModelCurveLine>,
}

/// An axis of a curve.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceModelAxis {
    /// What lies on it.
    pub words: String,
    /// Unit of its values; empty for numbers of things.
    pub unit: String,
    /// Whether it is drawn with equal factors equally far apart.
    pub is_log: bool,
}

/// A line of a curve.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceModelCurveLine {
    /// Which it is of several; empty for one alone.
    pub label: String,
    /// In the order of the axis along.
    pub points: Vec<DeviceModelPoint>,
}

/// A measurement, in the units of the axes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceModelPoint {
    /// Where it lies along.
    pub at: f64,
    pub value: f64,
}

/// A model with everything that was measured of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceModel {
    pub model: DeviceModelLine,
    /// Remarks of its sheet.
    pub notes: Vec<String>,
    /// Where a disk was in its revolution at the beginning.
    pub seed: u64,
    pub rows: Vec<DeviceModelRow>,
    pub curves: Vec<DeviceModelCurve>,
}

/// Latencies of a kind of request, for the drawing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceModelLatencies {
    pub label: String,
    /// Ascending.
    pub latencies_ns: Vec<u64>,
}
