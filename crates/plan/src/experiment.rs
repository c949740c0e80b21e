//! The experiment as written, each level with its span.
//!
//! Values are checked as far as they can be without knowing the file systems; that is left to
//! [`crate::expand`].

use crate::error::{At, Span};
use crate::fs_entry::FsEntry;
use crate::question::QuestionPattern;
use fsarena_model::clock::Clock;
use fsarena_model::contender::{DeviceLevel, ExternalFs};
use fsarena_model::crash::CrashPlan;
use fsarena_model::factor::Factor;
use fsarena_model::phase::Workload;
use fsarena_model::run::RateStyle;
use fsarena_model::verdict::{DEFAULT_MARGIN, Rule};
use std::collections::BTreeMap;

/// Version of the experiment file that this program reads (`schema = 1`).
pub const EXPERIMENT_SCHEMA: i64 = 1;

/// An experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// Name, such as `quick`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What it shall answer.
    pub question: Option<String>,
    /// What has to be said with its figures, a line each: where an article is repeated, what is
    /// done otherwise than there.
    pub notes: Vec<String>,
    /// The file as read, or the equivalent of the command line.
    pub text: String,
    /// How it is run.
    pub run: RunSettings,
    /// What varies.
    pub factors: Factors,
    /// File systems defined by their commands.
    pub filesystems: Vec<At<DefinedFs>>,
    /// The work, in the order written.
    pub workloads: Vec<At<Workload>>,
    /// Rows of a table in the shape of an article.
    pub rows: Vec<ArticleRow>,
    /// Its crash runs; absent where no power is cut.
    pub crash: Option<CrashPlan>,
    /// Who takes the place of a file system that cannot be run.
    pub stand_ins: Vec<StandIn>,
}

impl Experiment {
    /// Whether all of it is in virtual time.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        let devices = &self.factors.device;
        !devices.is_empty() && devices.iter().all(|device| device.value.is_virtual())
    }
}

/// How an experiment is run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunSettings {
    /// When the figures are looked at; absent: the default, which is for [`crate::expand`] to know.
    pub rule: Option<Rule>,
    /// Seed; absent: each RUN takes its own.
    pub seed: Option<u64>,
    /// Factor on the number of files and the size of single big ones, where `--scale` says none.
    pub scale: f64,
    /// Clock that is compared.
    pub compare: Clock,
    /// Period of the sampler; 0: no time series.
    pub sample_period_ns: u64,
    /// Whether block requests are traced, for the account of where the bytes went.
    pub account: bool,
    /// Read all contents again after each trial.
    pub verify: bool,
    /// How rates are shown.
    pub rate: RateStyle,
    /// What its verdicts are about.
    pub verdicts: VerdictSettings,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            rule: None,
            seed: None,
            scale: 1.0,
            compare: Clock::Durable,
            sample_period_ns: 100_000_000,
            account: false,
            verify: false,
            rate: RateStyle::Auto,
            verdicts: VerdictSettings::default(),
        }
    }
}

/// The share of the machine's time that a hypervisor may give to others during a timed phase,
/// where nothing else is said.
pub(crate) const DEFAULT_STEAL_SHARE: f64 = 0.2;
/// Difference in what other programs have of the machine, above which a block is run again.
pub(crate) const DEFAULT_FOREIGN_SHARE: f64 = 0.2;

/// What the verdicts of an experiment are about.
#[derive(Clone, PartialEq, Debug)]
pub struct VerdictSettings {
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// Time that a RUN may take, ns; absent: as long as it needs.
    pub budget_ns: Option<u64>,
    /// The contender that all others are compared with, as written; absent: every pair.
    pub baseline: Option<At<String>>,
    /// What is asked; empty: the time of every timed phase.
    pub ask: Vec<At<QuestionPattern>>,
    /// The question whose answer comes first; absent: the first that is asked.
    pub headline: Option<At<QuestionPattern>>,
    /// Steal above which a block is run again, as a share of the machine's time; absent: none.
    pub steal_share: Option<f64>,
    /// Difference between contenders in what other programs have of the machine above which a block
    /// is run again, as a share of the machine's time; absent: none.
    pub foreign_share: Option<f64>,
}

impl Default for VerdictSettings {
    fn default() -> Self {
        Self {
            margin: DEFAULT_MARGIN,
            budget_ns: None,
            baseline: None,
            ask: Vec::new(),
            headline: None,
            steal_share: Some(DEFAULT_STEAL_SHARE),
            foreign_share: Some(DEFAULT_FOREIGN_SHARE),
        }
    }
}

/// What varies: a list is an axis. Lists other than `fs` are never empty.
#[derive(Clone, PartialEq, Debug)]
pub struct Factors {
    /// File systems; empty: `directory`, where every device is one.
    pub fs: Vec<At<FsEntry>>,
    /// Devices.
    pub device: Vec<At<DeviceLevel>>,
    /// Levels of the other factors by their keys, as canonical texts; a factor that is not in it
    /// has its default alone.
    pub levels: BTreeMap<&'static str, Vec<At<String>>>,
    /// Further axes of one file system, by its name.
    pub of_fs: BTreeMap<String, At<FsAxes>>,
}

impl Factors {
    /// The levels of a factor: as written, or its default.
    #[must_use]
    pub fn axis(&self, factor: &dyn Factor) -> Vec<At<String>> {
        let default = || vec![At::new(factor.default_level().to_owned(), &Span::Default)];
        self.levels.get(factor.key()).cloned().unwrap_or_else(default)
    }
}

/// Axes that exist for one file system only.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FsAxes {
    /// Mount options: each level is a set of them.
    pub mount: Vec<At<Vec<String>>>,
    /// mkfs options by name: each level is a value; `None` leaves the option at its default.
    pub mkfs: BTreeMap<String, Vec<At<Option<String>>>>,
}

/// A file system of the experiment, and the one that takes its place where it cannot be run.
#[derive(Clone, PartialEq, Debug)]
pub struct StandIn {
    /// Name of the file system.
    pub missing: String,
    /// The other one.
    pub instead: At<FsEntry>,
}

/// A file system defined in the experiment by its commands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefinedFs {
    /// Its name.
    pub name: String,
    /// Its commands.
    pub commands: ExternalFs,
}

/// A row of an article's table and the phase that measures the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArticleRow {
    /// Title in the article (`phase` in the reference data).
    pub title: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the phase.
    pub phase: String,
    /// `KB/s` (1024 bytes), `files/s`, or `s` (the time itself).
    pub unit: String,
}
