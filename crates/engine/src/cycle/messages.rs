//! What the threads of a phase of cycles tell each other: orders to them, events to the scheduler.

use fsarena_model::cycle::{CycleReport, DisturbReport};
use fsarena_model::work::{OpError, WorkerUsage};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A cycle that is to begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct CycleOrder {
    pub number: u32,
    /// When it was due, and the first clock read of the phase, `CLOCK_MONOTONIC`.
    pub due_ns: u64,
    pub start_ns: u64,
    /// Version of what it writes.
    pub version: u16,
    /// Other cycles that run now.
    pub concurrent: u32,
    /// Whether the second load runs at the same time.
    pub is_disturbed: bool,
}

/// A cycle that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub report: CycleReport,
    pub usage: WorkerUsage,
    /// Why it ended early.
    pub error: Option<OpError>,
}

/// A disturbance that is to begin.
#[derive(Debug)]
pub(super) struct DisturbOrder {
    /// Number of its cycle.
    pub number: u32,
    /// First clock read of the phase.
    pub start_ns: u64,
    /// Set when its cycle is durable.
    pub cycle_ended: Arc<AtomicBool>,
}

/// What a thread sends to the scheduler.
#[derive(Debug)]
pub(super) enum ThreadEvent {
    /// It waits for orders.
    Ready,
    /// The cycle of this worker has ended.
    Ended(usize, Box<Ended>),
    /// The disturbance of this cycle has ended.
    Disturbed(u32, Box<DisturbReport>),
    Died,
}
