//! Arguments of `advise`: what for, and of `run` what an experiment of built-in workloads needs.

use super::RunArgs;
use crate::complete;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = ADVISE_EXAMPLES)]
pub struct AdviseArgs {
    /// Purposes: mail, vm, backup, database, build, desktop.
    ///
    /// Separated by commas. Each is decided by phases of built-in workloads. With --run and without
    /// this: those that the RUN has asked.
    #[arg(long = "for", value_name = "LIST", required_unless_present = "run")]
    pub purposes: Option<String>,
    /// Say again what this stored RUN answers; nothing is run.
    #[arg(long, value_name = "RUN", add = complete::runs(), conflicts_with_all = [
        "fs", "on", "device", "kernel", "budget", "runs", "margin", "scale", "seed", "image_dir",
        "wipe", "trust", "install_tools", "dry_run", "report", "no_report", "quiet",
    ])]
    pub run: Option<String>,
    /// File systems with options, as in `run` [default: ext4,xfs,btrfs].
    #[arg(long, value_name = "LIST", add = complete::filesystems())]
    pub fs: Option<String>,
    /// loop:SIZE, ram:SIZE, a device or a directory, as in `run` [default: loop:2G].
    #[arg(long, value_name = "LIST", add = complete::devices())]
    pub on: Option<String>,
    /// A modelled disk, such as hdd-2007, in a guest kernel and in virtual time.
    ///
    /// The same as --on virtual:4G:model=MODEL; `fsarena devices --models` lists them.
    #[arg(long, value_name = "MODEL", conflicts_with = "on", add = complete::device_models())]
    pub device: Option<String>,
    /// Guest kernel of --device, as in `run`.
    #[arg(long, value_name = "RELEASE|PATH")]
    pub kernel: Option<String>,
    /// Time limit of all purposes together [default: 30m].
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// Run exactly N blocks, or 4..12 to fit the budget, as in `run`.
    #[arg(long, short = 'r', value_name = "N")]
    pub runs: Option<String>,
    /// Within this it is the same [default: 5%].
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
    /// Multiply files and the size of large files [default: 0.25].
    #[arg(long, value_name = "FACTOR")]
    pub scale: Option<f64>,
    /// Seed of the order and the data; stored with the RUN.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Directory for image files [default: /var/tmp].
    #[arg(long, value_name = "DIR")]
    pub image_dir: Option<PathBuf>,
    /// Destroy all data on this block device, as in `run`.
    #[arg(long, value_name = "DEVICE[=SIG+…]")]
    pub wipe: Vec<String>,
    /// As root, run a program that this user may change, as in `run`.
    #[arg(long, value_name = "PATH=USER[+…]")]
    pub trust: Vec<String>,
    /// Install the Debian packages of missing tools (needs root).
    #[arg(long)]
    pub install_tools: bool,
    /// Print the plan and its cost; change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print only errors and where the RUN is stored.
    #[arg(long, short = 'q', conflicts_with = "json")]
    pub quiet: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
    /// File of the report, one HTML page.
    #[arg(long, value_name = "FILE", conflicts_with = "no_report")]
    pub report: Option<PathBuf>,
    /// Do not write a report.
    #[arg(long)]
    pub no_report: bool,
}

impl AdviseArgs {
    /// The arguments of the RUN that asks these purposes.
    pub fn run_args(&self, purposes: Vec<fsarena_plan::purpose::Purpose>) -> RunArgs {
        let modelled = |model: &String| format!("virtual:4G:model={model}");
        RunArgs {
            fs: self.fs.clone(),
            on: self.device.as_ref().map(modelled).or_else(|| self.on.clone()),
            kernel: self.kernel.clone(),
            budget: self.budget.clone(),
            runs: self.runs.clone(),
            margin: self.margin.clone(),
            scale: self.scale,
            seed: self.seed,
            image_dir: self.image_dir.clone(),
            wipe: self.wipe.clone(),
            trust: self.trust.clone(),
            install_tools: self.install_tools,
            dry_run: self.dry_run,
            quiet: self.quiet,
            json: self.json,
            report: self.report.clone(),
            no_report: self.no_report,
            purposes,
            ..RunArgs::default()
        }
    }
}

const ADVISE_EXAMPLES: &str = "\
Examples:
  fsarena advise --for mail,vm --dry-run
  fsarena advise --for mail,backup --fs ext4,xfs --on loop:2G --budget 10m
  fsarena advise --for database --device hdd-2007
  fsarena advise --run latest";
