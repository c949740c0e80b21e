//! Contenders of `fsarena crash` and its commands, and the workloads of experiments among what is
//! done on them.

use crate::commands::run::read_experiment;
use crate::commands::trust::check_guest_kernel;
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::workload::Kind;
use fsarena_executor::crash::check_programs;
use fsarena_guests::kernel::Kernels;
use fsarena_model::contender::{Contender, DeviceLevel, RAW};
use fsarena_model::work::Workload;
use fsarena_plan::{Experiment, NOTHING_PROMISED, Overrides, PlanError, Span};
use fsarena_process::cmd;
use fsarena_runner::DriverRules;
use std::path::Path;

/// Contenders need an experiment; its workload is not used where others are not named.
const EXPERIMENT: &str = "schema = 1\nname = \"crash\"\n[factors]\nfs = \"ext4\"\n\
     device = \"virtual:8G:model=hdd-2007\"\n[[workload]]\nuse = \"small-files\"\n";
const DEFAULT_WORKLOADS: [&str; 2] = ["unsynced", "synced"];

/// On which devices it can be done.
#[derive(Clone, Copy)]
pub(super) enum AllowedDevices {
    /// On any modelled disk, of a guest or of this machine.
    Modelled,
    /// In guests alone; what it is that is done there.
    Guests(&'static str),
}

impl AllowedDevices {
    fn check(self, contenders: &[Contender]) -> Result<()> {
        let guest = "write --on virtual:8G:model=hdd-2007";
        let mut devices = contenders.iter().map(|one| &one.levels.device);
        let what = match self {
            Self::Modelled if devices.all(DeviceLevel::is_modelled) => return Ok(()),
            Self::Guests(_) if devices.all(DeviceLevel::is_virtual) => return Ok(()),
            Self::Modelled => format!(
                "--on: power is cut on modelled disks alone; {guest}, or --on \
                 vdisk:8G:model=hdd-2007 as root"
            ),
            Self::Guests(what) => format!("--on: {what} in guests alone; {guest}"),
        };
        Err(Usage(what).into())
    }
}

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct ContenderOrder<'a> {
    pub fs: &'a str,
    pub on: &'a str,
    pub allowed: AllowedDevices,
    /// Workloads that the disks have to hold.
    pub phases: Option<&'a PhasesOrder>,
}

/// Workloads of experiments of which the phases are done.
pub(super) struct PhasesOrder {
    /// `None`: those that are built in.
    experiment: Option<Experiment>,
    names: Vec<String>,
    scale: Option<f64>,
}

/// What there is of it.
pub(super) struct ResolvedContenders {
    pub contenders: Vec<Contender>,
    /// Why others cannot be had.
    pub not_run: Vec<String>,
    /// At their scale.
    pub workloads: Vec<Workload>,
}

/// The workloads that are asked for.
pub(super) struct WorkloadNames {
    names: Vec<String>,
    pub phases: Option<PhasesOrder>,
}

impl WorkloadNames {
    /// `names`: of `--workload`; without them all of the experiment, where one is named.
    pub fn new(
        names: Option<Vec<String>>,
        experiment: Option<&str>,
        scale: Option<f64>,
    ) -> Result<Self> {
        let experiment = experiment.map(read_experiment).transpose()?;
        let of_experiment = || experiment.iter().flat_map(|it| &it.workloads);
        let names = match names {
            Some(names) => names,
            None if experiment.is_none() => DEFAULT_WORKLOADS.map(str::to_owned).to_vec(),
            None => of_experiment().map(|workload| workload.value.name.clone()).collect(),
        };
        let own: Vec<&str> = of_experiment().map(|workload| &*workload.value.name).collect();
        names.iter().try_for_each(|name| check_name(name, &own))?;
        let of_phases = names.iter().filter(|name| Kind::from_name(name).is_none());
        let of_phases: Vec<String> = of_phases.cloned().collect();
        let option = match (&experiment, scale) {
            (Some(_), _) => "--experiment",
            (None, Some(_)) => "--scale",
            (None, None) => "",
        };
        if of_phases.is_empty() && !option.is_empty() {
            let what = format!("{option}: no workload of an experiment is named by --workload");
            return Err(Usage(what).into());
        }
        let phases = (!of_phases.is_empty()).then(|| {
            let scale = scale.or(experiment.as_ref().map(|it| it.run.scale));
            PhasesOrder { experiment, names: of_phases, scale }
        });
        Ok(Self { names, phases })
    }

    /// What is done for each of them; `found`: those of experiments.
    pub fn crash_workloads(&self, found: &[Workload]) -> Result<Vec<CrashWorkload>> {
        let one = |name: &String| {
            let none = || Usage(format!("--workload: {name:?} is none; see fsarena crash --help"));
            let workload = fsarena_plan::crash_workload(name, found).ok_or_else(none)?;
            let notes = workload.check().map_err(|error| Usage(error.to_string()))?;
            for note in notes {
                say!("mind: {name}: {note}");
            }
            Ok(workload)
        };
        self.names.iter().map(one).collect()
    }
}

/// There is such a workload; `own`: those of the experiment that is named.
fn check_name(name: &str, own: &[&str]) -> Result<(), PlanError> {
    let built_in = fsarena_plan::builtin::workload_names();
    let known = Kind::ALL.map(Kind::name).into_iter().chain(own.iter().copied()).chain(built_in);
    let known: Vec<&str> = known.collect();
    match known.contains(&name) {
        true => Ok(()),
        false => Err(PlanError::unknown(&Span::Option("--workload"), "workload", name, &known)),
    }
}

/// The contenders that can be had here.
pub(super) fn contenders(
    order: &ContenderOrder<'_>,
    kernels: &mut Kernels,
    own: &Path,
) -> Result<ResolvedContenders> {
    let mut experiment = fsarena_plan::parse(EXPERIMENT, "crash")?;
    let mut overrides = Overrides {
        fs: Some(order.fs.to_owned()),
        on: vec![order.on.to_owned()],
        ..Overrides::default()
    };
    if let Some(phases) = order.phases {
        if let Some(named) = &phases.experiment {
            experiment.workloads.clone_from(&named.workloads);
        }
        overrides.workloads = Some(phases.names.join(","));
        overrides.scale = phases.scale;
    }
    for path in fsarena_plan::kernel_files(&experiment, &overrides)? {
        check_guest_kernel(&path)?;
        let added = kernels.add_file(&path, own, &|| false);
        added.map_err(|error| Usage(format!("the guest kernel {error}")))?;
    }
    let rules = DriverRules::new(kernels.clone());
    let mut plan = fsarena_plan::expand(&experiment, &overrides, &rules)?;
    order.allowed.check(&plan.contenders)?;
    if plan.contenders.iter().any(|contender| contender.levels.is_raw()) {
        let what = format!("--fs: {RAW}: {NOTHING_PROMISED}; name file systems, such as ext4");
        return Err(Usage(what).into());
    }
    let roots = fsarena_metrics::KernelRoots::default();
    fsarena_runner::drop_unavailable(&mut plan, context::is_root(), &roots, kernels);
    let not_run: Vec<String> = plan
        .not_run
        .iter()
        .map(|row| format!("{}: {}", plan.contenders[row.contender].label, row.reason))
        .collect();
    let is_run = |at: &usize| !plan.not_run.iter().any(|row| row.contender == *at);
    let there = (0..plan.contenders.len()).filter(is_run).map(|at| plan.contenders[at].clone());
    let mut lacking = Vec::new();
    let there = there.filter(|contender| {
        let mut programs = check_programs(&contender.levels.fs.name);
        let missing = programs.find(|program| cmd::find(program).is_none());
        let why = |program| format!("{}: {}", contender.label, cmd::why_missing(program));
        lacking.extend(missing.map(why));
        missing.is_none()
    });
    let contenders = there.collect();
    let not_run = not_run.into_iter().chain(lacking).collect();
    Ok(ResolvedContenders { contenders, not_run, workloads: plan.workloads })
}
