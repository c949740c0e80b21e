//! Where a figure of a forecast comes from, the strongest source first.

/// Where a figure comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CostSource {
    /// Records of the same work on the same levels.
    SameWork,
    /// Records of earlier RUNs.
    Measured,
    /// The workload itself states the time.
    Stated,
    /// Records of nearly the same work: other options, another scale, file system or device.
    Near,
    /// A calibration just now.
    Calibrated,
    /// An assumption of this program.
    Assumed,
}
