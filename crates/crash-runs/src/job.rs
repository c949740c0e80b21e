//! One crash run of a plan, and where it is done.

use crate::crash_run::CrashRunError;
use crate::medium_error_run::MediumErrorRunError;
use fsarena_crash::history::HistoryError;
use fsarena_crash::state::Class;
use fsarena_disk_server::DiskOrder;
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::crash::{CrashPlan, CrashSlot};
use fsarena_model::run::RunPlan;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// Real time after which a guest is given up.
pub(crate) const LIMIT: Duration = Duration::from_secs(1200);

/// A crash run of a plan that is to be done.
#[derive(Clone, Copy)]
pub struct CrashJob<'a> {
    /// It has crash runs.
    pub plan: &'a RunPlan,
    pub slot: CrashSlot,
    pub place: CrashJobPlace<'a>,
    /// For what people should know of it.
    pub say: &'a dyn Fn(String),
}

/// Where a crash run is done.
#[derive(Clone, Copy, Debug)]
pub enum CrashJobPlace<'a> {
    Guests {
        /// Their kernel.
        kernel: &'a Path,
        /// The kernel is a file of the user's, and was not built here.
        is_users: bool,
        /// Their init.
        program: &'a Program,
    },
    /// The kernel of this machine, as root.
    Native {
        /// For the write log and a place to mount.
        scratch_dir: &'a Path,
    },
}

/// Why there is no record.
#[derive(Debug, thiserror::Error)]
pub enum CrashJobError {
    #[error("{0} is not on a modelled disk of this place")]
    OtherPlace(String),
    #[error("this fsarena knows no {what} {name:?}")]
    Unknown { what: &'static str, name: String },
    #[error(transparent)]
    Run(#[from] CrashRunError),
    #[error(transparent)]
    MediumErrors(#[from] MediumErrorRunError),
    #[error("the op journal of a guest: {0}")]
    History(#[from] HistoryError),
    #[error("{0}")]
    Work(String),
}

impl CrashJobError {
    /// Whether the caller asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        match self {
            Self::Run(error) => error.is_stop(),
            Self::MediumErrors(error) => error.is_stop(),
            _ => false,
        }
    }

    /// Whether the file system lacks what the work needs.
    pub(crate) fn is_lacking(&self) -> bool {
        matches!(self, Self::MediumErrors(MediumErrorRunError::FailsAnyway { .. }))
    }
}

impl<'a> CrashJob<'a> {
    /// # Panics
    /// Never for a job of a plan with crash runs.
    pub(crate) fn crash_plan(&self) -> &'a CrashPlan {
        self.plan.crash.as_ref().expect("a crash run is of a plan with crash runs")
    }

    pub(crate) fn contender(&self) -> &'a Contender {
        &self.plan.contenders[self.slot.contender]
    }

    /// Name of its workload, as planned.
    pub(crate) fn workload(&self) -> &'a str {
        &self.crash_plan().workloads[self.slot.workload]
    }

    pub(crate) fn seed(&self) -> u64 {
        self.plan.crash_seed(self.slot.number)
    }

    pub(crate) fn classes(&self) -> Result<Vec<Class>, CrashJobError> {
        let unknown =
            |name: &String| CrashJobError::Unknown { what: "crash state", name: name.clone() };
        let class = |name: &String| Class::from_name(name).ok_or_else(|| unknown(name));
        self.crash_plan().states.iter().map(class).collect()
    }

    /// The disk of its guests, what they are booted with, and their init; a guest is given up after
    /// so much real time.
    pub(crate) fn guests(
        &self,
        limit: Duration,
    ) -> Result<(DiskOrder<'a>, GuestOptions, &'a Program), CrashJobError> {
        let CrashJobPlace::Guests { kernel, program, .. } = self.place else {
            return Err(self.other_place());
        };
        let DeviceLevel::Virtual { size_bytes, model, syscall_ns, .. } =
            &self.contender().levels.device
        else {
            return Err(self.other_place());
        };
        let options = GuestOptions { syscall_ns: *syscall_ns, limit, ..GuestOptions::new(kernel) };
        Ok((DiskOrder { model, size_bytes: *size_bytes, store_dir: None }, options, program))
    }

    pub(crate) fn other_place(&self) -> CrashJobError {
        CrashJobError::OtherPlace(self.contender().label.clone())
    }

    /// The file of the guests' kernel, where it was none that was built here.
    pub(crate) fn kernel_file(&self) -> Option<PathBuf> {
        match self.place {
            CrashJobPlace::Guests { kernel, is_users: true, .. } => Some(kernel.to_owned()),
            _ => None,
        }
    }
}

/// Guests side by side.
pub(crate) fn guests_at_once() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
