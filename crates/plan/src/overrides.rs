//! The options of the command line, as text where a file has text.

use std::collections::BTreeMap;

/// Options of the command line, as text where a file has text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Overrides {
    /// `--fs`: `ext4,ext4:data=writeback,xfs`. A comma separates contenders, a colon options.
    pub fs: Option<String>,
    /// `--on`, each: `loop:2G`, `ram:512M`, `/a/directory` (made absolute by the caller).
    pub on: Vec<String>,
    /// `--kernel`: the guest kernel of every device in a guest that names none: a release, or
    /// a path (made absolute by the caller).
    pub kernel: Option<String>,
    /// `--workload`: `small-files,big-file`: names of the experiment's or of the built-in ones, or
    /// paths of fio job files, which end in `.fio`.
    pub workloads: Option<String>,
    /// The job files that `workloads` names ([`Overrides::fio_paths`]), each with its text.
    pub fio_files: Vec<(String, String)>,
    /// `--runs`: the fixed number of blocks, which takes the place of a cap and of the file's
    /// budget; or `4..12`: as many as fit into the budget.
    pub runs: Option<String>,
    /// `--cap`: most blocks, looked at on the way.
    pub cap: Option<u32>,
    /// `--margin`: `5%`, `0.05`.
    pub margin: Option<String>,
    /// `--budget`: `30m`.
    pub budget: Option<String>,
    /// `--baseline`: the label of a contender, or a file system as written in `--fs`.
    pub baseline: Option<String>,
    /// `--ask`: `small-files:create,big-file:*:cpu`.
    pub ask: Option<String>,
    /// `--headline`: one of the questions.
    pub headline: Option<String>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// Seed to use where neither the experiment nor `--seed` has one.
    pub fallback_seed: u64,
    /// `--crash-runs`: in place of `runs` of `[crash]`; 0 for none.
    pub crash_runs: Option<u32>,
    /// `--scale`: above 0, up to 100.
    pub scale: Option<f64>,
    /// `--stonewall`: `300s`, for every phase that has one.
    pub stonewall: Option<String>,
    /// `--runtime`: `60s`, for every timed phase of random ops.
    pub runtime: Option<String>,
    /// Levels of factors by their keys, each a comma list: `64M,none`.
    pub levels: BTreeMap<&'static str, String>,
    /// `--compare`: `returned`, `durable`, `drained`.
    pub compare: Option<String>,
    /// `--sample-period`: `100 ms`, `0 ms` for none.
    pub sample_period: Option<String>,
    /// `--rate`: `auto`, `article-2003`.
    pub rate: Option<String>,
    /// `--account`; where it is absent, the experiment's own setting holds.
    pub account: bool,
    /// `--verify`; where it is absent, the experiment's own setting holds.
    pub verify: bool,
}

impl Overrides {
    /// Paths of the job files that `workloads` names: the caller reads them into `fio_files`.
    #[must_use]
    pub fn fio_paths(&self) -> Vec<&str> {
        let names = self.workloads.as_deref().unwrap_or_default();
        names.split(',').map(str::trim).filter(|name| is_fio(name)).collect()
    }
}

/// Whether a workload is named by the path of a job file.
pub(crate) fn is_fio(name: &str) -> bool {
    name.ends_with(".fio")
}
