//! What a measurement gave.

/// What a measurement gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// In the unit of the probe.
    pub value: f64,
    /// Time of each request, ascending.
    pub latencies_ns: Vec<u64>,
}
