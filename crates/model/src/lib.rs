//! Plain data and units: what the other crates hand to each other.
//!
//! Everything here is a value that can be written as JSON and read back years later. Nothing here
//! opens a file, starts a process or knows a kernel interface, and nothing here depends on another
//! crate of the workspace.
//!
//! # Policy for unknown fields
//! * A **spec** (what to do: [`spec::TrialSpec`], [`work::WorkerSpec`]) refuses fields it does not
//!   know: an instruction that is not understood must not be skipped.
//! * A **record** (what happened: [`record::TrialRecord`]) ignores fields it does not know within
//!   one schema version, so that an older program can show what a newer one measured; a newer
//!   *schema version* is refused.
#![forbid(unsafe_code)]

/// The variants of an enum (`ALL`), their names in files and tables, and the variant of a name.
macro_rules! names {
    ($type:ident.$name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $type {
            /// Every variant, in the order of tables.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Its name in files and tables.
            #[must_use]
            pub const fn $name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The variant of a name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.$name() == name)
            }
        }
    };
}

/// The same for variants with fields: their names alone.
macro_rules! kinds {
    ($(#[$doc:meta])* $type:ident.$name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $type {
            $(#[$doc])*
            #[must_use]
            pub const fn $name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $text,)+
                }
            }
        }
    };
}

/// What is handed on as JSON is written and read here: compiled once, and not in every crate that
/// reads it.
macro_rules! handed_on_as_json {
    ($($type:ident),+) => {
        $(impl $type {
            /// Reads it from JSON.
            ///
            /// # Errors
            /// Where the text is no JSON, or of another form.
            pub fn from_json(text: &str) -> serde_json::Result<Self> {
                serde_json::from_str(text)
            }

            /// As JSON on one line.
            ///
            /// # Errors
            /// Where a path in it is no UTF-8.
            pub fn to_json(&self) -> serde_json::Result<String> {
                serde_json::to_string(self)
            }
        })+
    };
}

/// Whether a value is its default, and is left out where it is written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub mod account;
pub mod age;
pub mod braces;
pub mod capacity;
pub mod client;
pub mod clock;
pub mod contender;
pub mod crash;
pub mod cycle;
pub mod dataset;
pub mod device;
pub mod exit;
pub mod factor;
pub mod free;
pub mod header_rules;
pub mod host;
pub mod io;
pub mod job;
pub mod level_line;
pub mod memory_device;
pub mod metric;
pub mod op;
pub mod outcome;
pub mod parameter;
pub mod past;
pub mod phase;
pub mod rank;
pub mod record;
pub mod run;
pub mod sample;
pub mod score;
pub mod seed;
pub mod spec;
pub mod split;
pub mod stamp;
pub mod state;
pub mod thermal;
pub mod trust;
pub mod units;
pub mod verdict;
pub mod visible;
pub mod worker;

#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

/// Work under one name: datasets, phases, and what the executor and the worker say to each other.
pub mod work {
    pub use crate::dataset::Dataset;
    pub use crate::free::{Constraints, CountedWork, FreeQuantity};
    pub use crate::io::{Backend, Fsync, Io, Sharing};
    pub use crate::op::Op;
    pub use crate::outcome::OpError;
    pub use crate::phase::{Order, Phase, Workload};
    pub use crate::state::DatasetState;
    pub use crate::worker::{
        CounterFile, CounterTexts, FindReport, HostHello, JobTask, LINE_MOST_BYTES, NOT_DIALLED,
        Pauses, ProgramReport, StonewallReport, Task, ThreadReport, Tool, UserIds, VerifyReport,
        WEAR_OUT, WorkerReport, WorkerSays, WorkerSpec, WorkerUsage,
    };
}

/// Version of [`spec::TrialSpec`] and [`work::WorkerSpec`] written by this program.
pub const SPEC_SCHEMA: u32 = 1;
/// Version of [`record::TrialRecord`] written by this program.
pub const RECORD_SCHEMA: u32 = 1;
