//! The virtual disk: device models, layers over them, its contents and its write log.
//!
//! A [`DeviceModel`] says when requests complete. It is a pure function of the history of its
//! calls: times are integers that the caller states, there is no clock and no floating point in
//! what decides a time, and nothing is allocated for a request. So the same model serves wall time
//! and virtual time, and gives the same answer on every machine. A [`VirtualDevice`] is a model
//! with the layers that a [`Sheet`] and the options ask for: a volatile cache, a flush that lies,
//! faults.
//!
//! What is in the disk is a matter of its own: the [`Store`] holds contents, the [`WriteLog`] what
//! became of them in which order, and a [`View`] what is there after a power cut.
//!
//! [`measure`] measures a model in simulated time and compares it with published figures.
//!
//! Starts nothing, serves nobody: drivers (a FUSE file, a block driver of a guest) are on top.
#![forbid(unsafe_code)]

mod builtin;
mod card;
mod constant;
mod device;
mod finished;
mod flash;
mod layers;
mod log;
pub mod measure;
mod probe;
mod request;
mod rotating;
mod served;
mod sheet;
mod splitmix;
mod store;
mod view;

pub use builtin::{UnknownModel, names, sheet as builtin};
pub use card::Card;
pub use constant::Constant;
pub use device::{DeviceError, DeviceOptions, MOST_SECTORS, Refused, VirtualDevice};
pub use flash::Flash;
pub use layers::{Fault, FaultKind, Faults, LyingFlush, STRIKES_MOST, Strike, WriteCache};
pub use log::{Entry, EntryKind, LogError, SECTORS_MOST, WriteLog};
pub use probe::{Probe, State, Stroke};
pub use request::{
    ALL_TAGS, Completion, DeviceModel, HOST_TAGS, Op, Outcome, Request, SECTOR_BYTES,
};
pub use rotating::{Geometry, Rotating};
pub use served::{Logged, Question, Served, ServedDisk};
pub use sheet::{
    CardSheet, ConstantSheet, FITTED_LIMIT, Figure, FlashSheet, HELD_OUT_LIMIT, Ordering, Role,
    RotatingSheet, Sheet, SheetError, WriteCacheSheet,
};
pub use store::{Discarded, Store};
pub use view::{Change, Piece, View};
