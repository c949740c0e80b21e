//! Views for tables and documents, computed from a plan and its records.
//!
//! Pure: nothing here reads a file, a clock or the machine, so that any old RUN can be looked at
//! again with a corrected formula. A ratio of medians is a ratio of medians; whether a difference
//! is real is said by `fsarena-verdict` alone, and the absence of one is never called
//! "no difference".
#![forbid(unsafe_code)]

pub mod account;
mod ageing;
mod clients;
mod contenders;
mod course;
mod cpu;
mod crash;
mod curves;
pub mod cycles;
mod device;
mod facts;
mod fairness;
mod figures;
mod heat;
mod ledger;
mod notes;
mod over_time;
mod parameters;
mod phases;
mod points;
mod programs;
mod ranks;
mod rates;
mod scaling;
mod stonewall;
mod study;
pub mod sweep;
mod traces;
pub mod watched;
mod workers;
mod workloads;

#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub use account::{AccountLine, AccountMeans, AccountPart, AccountRow, AccountView, TrialAccount};
pub use ageing::{AgeRow, AgeingRatio, AgeingView};
pub use clients::ClientView;
pub use cpu::{CpuLoad, CpuPerOp, TICK_NS, TOO_SHORT_TICKS, median_task_clock_ns};
pub use crash::{
    BrokenRule, CrashApplication, CrashApplicationRow, CrashFailedRow, CrashFigures, CrashMeasure,
    CrashNotRunRow, CrashRow, CrashRunsView, CrashShare, HuntCase, HuntRow, LitmusRow,
    MediumErrorCaseRow, MediumErrorRow, SequenceCase, SequenceRow, crash,
};
pub use curves::{CURVE_POINTS_MAX, LatencyCurve, PhaseCurves, curves};
pub use cycles::{CycleFigures, CyclesRow, CyclesView};
pub use device::{ConditioningRow, QueueRow};
pub use facts::facts;
pub use fairness::{
    AsMade, CacheProof, DeviceFacts, Difference, Disturbance, Fact, Fairness, fairness,
};
pub use figures::{SpreadF, SpreadNs};
pub use fsarena_crash::figures::Share as FigureShare;
pub use heat::{HeatCell, HeatRow, HeatView, heat};
pub use ledger::{DeviceBytes, Latency};
pub use notes::{
    FailureRow, NotRunRow, NoticeRow, PartialPhase, SamplerTotal, TrialRow, VerifyTotal,
};
pub use over_time::OverTimeView;
pub use parameters::{ParameterCurve, ParameterCurves, ParameterLevelView, ParameterPoint};
pub use phases::{Absence, AbsentRow, DrainedView, MemoryView, PhaseRow, PhaseTable};
pub use points::{PhasePoints, TrialPoint, points};
pub use programs::{ProgramUse, ToolOverhead, ToolOverheadRow};
pub use ranks::{RanksView, SlowRank};
pub use rates::{RateUnit, Rates, SMALL_FILE_BYTES};
pub use scaling::{ScalingLevel, ScalingOver, ScalingView};
pub use stonewall::StonewallView;
pub use study::{Study, study};
pub use sweep::{SweepCurve, SweepMeasure, SweepView};
pub use traces::{HostTrace, PhaseTrace, Quantity, TraceLine, TrialTrace, traces};
pub use workers::{ProgramView, ThreadsView, WorkerView};
pub use workloads::{SourceView, WorkloadView};
