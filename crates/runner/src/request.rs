//! What to run and where things go, what a RUN tells meanwhile, and how it ended.

use crate::journal::JournalError;
use fsarena_crash_runs::kept_states::KeptStates;
use fsarena_devices::vet::WipeConsent;
use fsarena_executor::machine;
use fsarena_metrics::WallClock;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::spec::RankHost;
use fsarena_process::program::TrustedProgram;
use fsarena_store::{RunId, StoreError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;

/// Where images in memory are.
pub(crate) const MEMORY_DIR: &str = "/dev/shm";

/// Images where the header of a RUN does not say: that of the command line.
const DEFAULT_IMAGE_DIR: &str = "/var/tmp";

/// What to run, and where things go.
#[derive(Debug)]
pub struct Request<'a> {
    /// The RUN as it will be stored, or as it is stored already.
    pub header: &'a RunHeader,
    /// The RUN in the database, where it is gone on with.
    pub resumed: Option<Resumed>,
    /// This binary: it is started again as executor and worker.
    pub program: &'a TrustedProgram,
    /// Directory for journals and mount points.
    pub state_dir: &'a Path,
    /// Block devices whose contents the user gave up.
    pub consents: &'a [WipeConsent],
    /// Hosts over which the ranks of phases are spread; none: they all run here.
    pub hosts: &'a [RankHost],
    /// Programs of i386, which trials lay over `/usr`; absent: no trial has them.
    pub i386_usr: Option<&'a Path>,
    /// Where crash states that break a promise are kept.
    pub crash_states: &'a KeptStates,
    /// Leave images and directories behind.
    pub keep: bool,
    /// Dates trials and sessions.
    pub clock: WallClock,
    /// How often the user has asked to stop.
    pub interrupts: &'a AtomicUsize,
    /// Expected length of a trial by contender and workload (indices into the plan), ns; for what
    /// this RUN has not yet shown.
    pub expected_ns: &'a BTreeMap<(usize, usize), u64>,
}

/// A RUN that is gone on with.
#[derive(Clone, Copy, Debug)]
pub struct Resumed {
    /// Its number in the database.
    pub run: RunId,
    /// Number of the session to come, from 1.
    pub session: usize,
}

impl Request<'_> {
    /// Directory for images.
    pub(crate) fn image_dir(&self) -> &Path {
        self.header.place.as_ref().map_or(Path::new(DEFAULT_IMAGE_DIR), |place| &place.image_dir)
    }
}

/// A block that begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockProgress {
    /// From 1.
    pub number: usize,
    /// How many there will be.
    pub blocks: Blocks,
    /// Its trials.
    pub trials: usize,
    /// Pairs that are decided and pairs that are asked, where it is looked at on the way.
    pub decided: Option<(usize, usize)>,
    /// Time to the end, once a block has shown how long one takes; never beyond the budget, ns.
    pub left_ns: Option<u64>,
    /// The budget, ns.
    pub budget_ns: Option<u64>,
}

/// Number of blocks of a RUN, as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocks {
    /// So many.
    Exactly(usize),
    /// So many, or fewer where all is decided before.
    AtMost(usize),
    /// So many, by how long they take, until the budget ends.
    About(usize),
    /// As many as fit; to be seen at the end of the first.
    Unknown,
}

/// A trial that begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrialProgress<'a> {
    /// From 1.
    pub number: usize,
    /// How many there will be at most.
    pub of: usize,
    /// Label of the contender.
    pub contender: &'a str,
    /// Name of the workload.
    pub workload: &'a str,
    /// Time to the end, as of a block.
    pub left_ns: Option<u64>,
}

/// A crash run that begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CrashProgress<'a> {
    /// From 1.
    pub number: usize,
    /// How many there will be.
    pub of: usize,
    /// Label of the contender.
    pub contender: &'a str,
    /// Name of the crash workload.
    pub workload: &'a str,
    /// Time to the end, once one was done.
    pub left_ns: Option<u64>,
}

/// What a RUN says while it is at work.
pub trait Progress {
    /// An image is being written.
    fn image(&mut self, name: &str, done_bytes: u64, total_bytes: u64);
    /// A block begins.
    fn block(&mut self, block: &BlockProgress);
    /// A trial begins.
    fn trial(&mut self, trial: &TrialProgress<'_>);
    /// A step of it begins.
    fn step(&mut self, step: &str, phase: Option<&str>);
    /// It has ended and its record is stored.
    fn trial_done(&mut self, record: &TrialRecord);
    /// A crash run begins.
    fn crash_run(&mut self, crash: &CrashProgress<'_>);
    /// Something to be read by people.
    fn message(&mut self, text: &str);
}

/// How a RUN ended.
#[derive(Debug)]
pub struct Finished {
    /// Its number in the database.
    pub run: RunId,
    /// Done or interrupted.
    pub state: RunState,
    /// What was left on purpose.
    pub kept: Vec<PathBuf>,
    /// What could not be taken down.
    pub left: Vec<String>,
    /// How it was cut off before its plan was carried out, in words; absent where it was not.
    pub cut_off: Option<String>,
}

/// Why a RUN could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A target could not be had.
    #[error("{error}{}", remedy.as_ref().map(|text| format!("; {text}")).unwrap_or_default())]
    Target {
        /// What is wrong.
        error: String,
        /// What to do.
        remedy: Option<String>,
    },
    /// The database lies where the work would be done.
    #[error(
        "the database {} lies in {}, which is under test; name another with --db",
        database.display(), target.display()
    )]
    DatabaseUnderTest { database: PathBuf, target: PathBuf },
    /// What lies under the targets has changed since the trials that are done.
    #[error("the rest of the RUN would not be comparable: {changes}; begin a new RUN instead")]
    Changed {
        /// Each change.
        changes: String,
    },
    /// The user asked to stop before the first trial.
    #[error("stopped")]
    Stopped,
    /// Nothing in the plan can be run here.
    #[error("nothing to run: {reasons}")]
    Nothing {
        /// Each contender with its reason.
        reasons: String,
    },
    /// Another program measured it.
    #[error(
        "{label} was measured by {program} and cannot be run by fsarena; plan it anew with `fsarena \
         run`"
    )]
    Imported { label: String, program: String },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The database could not be written: the RUN is interrupted, and what was measured is kept.
    #[error("{}: {cause}; the RUN is interrupted: {rest}", database.display())]
    Unstored {
        database: PathBuf,
        cause: String,
        /// What has become of what was measured, and what to do.
        rest: String,
    },
    /// A limit of the machine was reached, and not by the work: the RUN is interrupted.
    #[error("{error}; {remedy}; the RUN is interrupted, and `fsarena run --resume` goes on")]
    Limit { error: Box<RunError>, remedy: String },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An executor could not be started.
    #[error("{program}: cannot be started: {source}")]
    Start { program: String, source: std::io::Error },
}

impl RunError {
    pub(crate) fn target(error: impl Into<String>, remedy: Option<&str>) -> Self {
        Self::Target { error: error.into(), remedy: remedy.map(str::to_owned) }
    }

    /// The same, as a limit of the machine where it is one, with what raises it.
    pub(crate) fn or_limit(self) -> Self {
        let remedy = match &self {
            Self::Journal(error) if error.is_full() => Some("make room there".to_owned()),
            Self::Journal(_) | Self::Target { .. } | Self::Start { .. } | Self::Store(_) => {
                machine::remedy(&self.to_string())
            }
            _ => None,
        };
        match remedy {
            Some(remedy) => Self::Limit { error: Box::new(self), remedy },
            None => self,
        }
    }
}

impl From<fsarena_devices::TargetError> for RunError {
    fn from(error: fsarena_devices::TargetError) -> Self {
        if let fsarena_devices::TargetError::Stopped { .. } = error {
            return Self::Stopped;
        }
        Self::Target { remedy: error.remedy(), error: error.to_string() }
    }
}

impl From<fsarena_devices::Refusal> for RunError {
    fn from(refusal: fsarena_devices::Refusal) -> Self {
        Self::target(refusal.to_string(), None)
    }
}
