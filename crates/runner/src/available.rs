//! Which contenders this machine can run: kernel, programs, permission; and what file systems and
//! devices accept, for the plan ([`DriverRules`]).

use fsarena_crash::application::{Application, application};
use fsarena_devices::claim;
use fsarena_devices::inventory::{self, Inventory, Roots};
use fsarena_devices::loopdev::LOOP_SECTOR_BYTES;
use fsarena_executor::crash::check_programs;
use fsarena_filesystems::{Availability, Backing, FileSystem, Kernel};
use fsarena_guests::kernel::{Kernels, Named};
use fsarena_guests::virtual_trial::LEAST_MEMORY_BYTES;
use fsarena_metrics::available_bytes;
use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{DeviceLevel, FsLevel, Levels};
use fsarena_model::crash::{Campaign, CrashNotRun};
use fsarena_model::job::{self, Job};
use fsarena_model::run::{NotRun, RunPlan};
use fsarena_model::units::Bytes;
use fsarena_model::work::Workload;
use fsarena_plan::Rules;
use fsarena_process::cmd::{self, SearchPath};
use fsarena_process::program::TrustedProgram;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Takes out of `plan` what cannot be run here, each with its reason; returns the packages that
/// would bring missing programs, without repetition.
///
/// `is_root` says whether file systems may be made and mounted.
pub fn drop_unavailable(
    plan: &mut RunPlan,
    is_root: bool,
    roots: &fsarena_metrics::KernelRoots,
    kernels: &Kernels,
) -> Vec<String> {
    let mut packages: Vec<String> = Vec::new();
    for (index, contender) in plan.contenders.iter().enumerate() {
        let missing = match fsarena_filesystems::driver(&contender.levels.fs) {
            Err(error) => Availability::Missing { reason: error.to_string(), package: None },
            Ok(driver) if contender.levels.device.is_virtual() => {
                in_guest(&*driver, &contender.levels, kernels)
            }
            Ok(driver) => match fsarena_filesystems::availability(&*driver, &roots.proc) {
                Availability::Ready if driver.backing() == Backing::Directory => {
                    Availability::Ready
                }
                Availability::Ready if !is_root => Availability::Missing {
                    reason: "making and mounting it needs root".to_owned(),
                    package: None,
                },
                Availability::Ready if driver.backing() == Backing::Block => {
                    devices_availability(&contender.levels.device)
                }
                other => other,
            },
        };
        if let Availability::Missing { reason, package } = missing {
            packages.extend(package);
            plan.not_run.push(NotRun { contender: index, workload: None, reason });
        }
    }
    packages.extend(leave_out_unchecked(plan));
    packages.extend(leave_out_applications(plan, &SearchPath::from_env()));
    packages.extend(leave_out_without_programs(plan, &is_installed));
    leave_memory_to_the_machine(plan, available_bytes(roots));
    leave_unscheduled(plan);
    packages.sort();
    packages.dedup();
    packages
}

/// Takes what is not run out of the schedule.
pub(crate) fn leave_unscheduled(plan: &mut RunPlan) {
    let out: Vec<usize> =
        plan.not_run.iter().filter(|row| row.workload.is_none()).map(|row| row.contender).collect();
    let pairs: Vec<(usize, usize)> =
        plan.not_run.iter().filter_map(|row| Some((row.contender, row.workload?))).collect();
    plan.schedule.retain(|slot| {
        !out.contains(&slot.contender) && !pairs.contains(&(slot.contender, slot.workload))
    });
}

/// Whether this machine has each device of the level.
fn devices_availability(level: &DeviceLevel) -> Availability {
    let of = |part: &DeviceLevel| claim::device_availability(part.kind(), &Roots::default());
    let mut all = level.parts().iter().map(of);
    all.find(|one| *one != Availability::Ready).unwrap_or(Availability::Ready)
}

/// Takes contenders out of the crash runs whose check is not installed; returns its packages.
fn leave_out_unchecked(plan: &mut RunPlan) -> Vec<String> {
    let mut packages = Vec::new();
    for contender in plan.crashed_contenders() {
        let fs = &plan.contenders[contender].levels.fs;
        let mut programs = check_programs(&fs.name);
        let Some(missing) = programs.find(|program| cmd::find(program).is_none()) else { continue };
        let reason = format!("its check: {}", cmd::why_missing(missing));
        let tools = fsarena_filesystems::driver(fs).map(|driver| driver.tools());
        packages.extend(tools.into_iter().flatten().filter_map(|tool| tool.package));
        if let Some(crash) = &mut plan.crash {
            crash.not_run.push(CrashNotRun { contender, reason });
        }
    }
    packages
}

/// Takes applications out of the crash runs whose programs are not installed; returns their
/// packages.
fn leave_out_applications(plan: &mut RunPlan, usual: &SearchPath) -> Vec<String> {
    let mut packages = Vec::new();
    let Some(crash) = &mut plan.crash else { return packages };
    let Campaign::Applications { described } = &crash.campaign else { return packages };
    let (mut there, mut notes) = (Vec::new(), Vec::new());
    for name in &crash.workloads {
        let of_text = |text: &String| Application::parse(text, name).ok();
        let found = described.get(name).map_or_else(|| application(name), of_text);
        let lacking = found.and_then(|one| {
            let own = SearchPath::new(one.path.clone());
            let is_lacking =
                |program: &str| own.find(program).is_none() && usual.find(program).is_none();
            one.needs.into_iter().find(|(program, _)| is_lacking(program))
        });
        match lacking {
            None => there.push(name.clone()),
            Some((program, package)) => {
                let why = usual.why_missing(&program);
                notes.push(format!("{name}: not run: {why} (package {package})"));
                packages.push(package);
            }
        }
    }
    crash.workloads = there;
    crash.workload_notes.extend(notes);
    packages
}

/// Whether a guest kernel has what a driver needs.
fn in_guest(driver: &dyn FileSystem, levels: &Levels, kernels: &Kernels) -> Availability {
    let missing = |reason: String| Availability::Missing { reason, package: None };
    let DeviceLevel::Virtual { kernel, .. } = &levels.device else {
        return missing(format!("{} is no device of a guest", levels.device));
    };
    if levels.memory_bytes.is_some_and(|bytes| bytes < LEAST_MEMORY_BYTES) {
        return missing(format!("a guest needs {} of memory", Bytes(LEAST_MEMORY_BYTES)));
    }
    if driver.backing() != Backing::Block {
        let reason = "it has no device of its own, and nothing else takes time in a guest";
        return missing(reason.to_owned());
    }
    if kernel.is_empty() {
        let reason = "there is no guest kernel; build one: fsarena kernel build (15 minutes; with \
                      --trimmed 6)";
        return missing(reason.to_owned());
    }
    let lacks = |named: Named<'_>| {
        let fstype = driver.kernel_type().filter(|fstype| !named.has_filesystem(fstype))?;
        Some(match named {
            Named::Built(built) => format!(
                "the guest kernel {kernel} ({}) has no {fstype}; fsarena kernel build makes one \
                 with all file systems",
                built.identity.config
            ),
            Named::File { about, .. } => format!(
                "the guest kernel {} has no {fstype}; build it with that file system",
                about.path.display()
            ),
        })
    };
    match kernels.named(kernel, lacks) {
        None => missing(format!("the guest kernel {kernel} is not there any more")),
        Some(Some(reason)) => missing(reason),
        Some(None) => fsarena_filesystems::tools_availability(driver, &cmd::SearchPath::from_env()),
    }
}

/// Whether a program that does the work of `workload` is there.
fn is_installed(workload: &Workload, program: &str) -> bool {
    match Path::new(program) {
        path if path.is_absolute() => TrustedProgram::at(path).is_ok(),
        _ => search_path(workload).find(program).is_some(),
    }
}

/// Where the engine looks for the programs of a workload.
fn search_path(workload: &Workload) -> cmd::SearchPath {
    match workload.fio {
        Some(_) => cmd::SearchPath::from_env(),
        None => cmd::SearchPath::new(std::env::split_paths(job::PROGRAM_PATH).collect()),
    }
}

/// Programs that do the work, each with the package that brings it where that is known.
pub(crate) fn programs(workload: &Workload) -> Vec<(&str, Option<&str>)> {
    let jobs = workload.phases.iter().filter_map(|phase| phase.job.as_ref());
    let of_jobs = jobs.flat_map(Job::programs).map(|name| (name, job::package_of(name)));
    let fio = workload.fio.as_ref().map(|_| ("fio", Some("fio")));
    fio.into_iter().chain(of_jobs).collect()
}

fn how_to_get(workload: &Workload, (program, package): (&str, Option<&str>)) -> String {
    let search = search_path(workload);
    match package {
        Some(package) => {
            format!("{}; install the package {package}", search.why_missing(program))
        }
        None => search.why_untrusted(program).unwrap_or_else(|| {
            format!("{program} is not installed (looked in {})", job::PROGRAM_PATH)
        }),
    }
}

/// Takes out the workloads of which a program is missing; the packages that would bring them.
fn leave_out_without_programs(
    plan: &mut RunPlan,
    is_there: &dyn Fn(&Workload, &str) -> bool,
) -> Vec<String> {
    let whole: Vec<usize> =
        plan.not_run.iter().filter(|row| row.workload.is_none()).map(|row| row.contender).collect();
    let mut packages = Vec::new();
    for (index, workload) in plan.workloads.iter().enumerate() {
        let mut missing: Vec<(&str, Option<&str>)> = Vec::new();
        for row in programs(workload) {
            if !missing.contains(&row) && !is_there(workload, row.0) {
                missing.push(row);
            }
        }
        if missing.is_empty() {
            continue;
        }
        packages.extend(missing.iter().filter_map(|(_, package)| package.map(str::to_owned)));
        let reasons: Vec<String> = missing.iter().map(|row| how_to_get(workload, *row)).collect();
        let reason = reasons.join("; ");
        let row = |contender| NotRun { contender, workload: Some(index), reason: reason.clone() };
        let contenders = (0..plan.contenders.len()).filter(|contender| !whole.contains(contender));
        plan.not_run.extend(contenders.map(row));
    }
    packages
}

/// Memory that is filled beyond what is there, by a file system or by data that are kept in it,
/// would have the kernel kill whatever it likes.
fn leave_memory_to_the_machine(plan: &mut RunPlan, available_bytes: Option<u64>) {
    let Some(available_bytes) = available_bytes else { return };
    for (contender, levels) in plan.contenders.iter().map(|c| &c.levels).enumerate() {
        let place = fsarena_filesystems::driver(&levels.fs)
            .map_or(Backing::Block, |driver| driver.backing());
        for (workload, work) in plan.workloads.iter().enumerate() {
            let (_, staged_bytes) = fsarena_plan::stage_bytes(work);
            let (what, needed_bytes, remedy) = match place {
                Backing::Memory => {
                    let needed_bytes = fsarena_plan::needed_bytes(work);
                    ("it needs", needed_bytes.saturating_add(staged_bytes), "")
                }
                _ => ("its data need", staged_bytes, "; say source = \"other\", or use less"),
            };
            if needed_bytes > available_bytes / 10 * 9 {
                let reason = format!(
                    "{what} {} of memory, and {} are available{remedy}",
                    Bytes(needed_bytes),
                    Bytes(available_bytes)
                );
                plan.not_run.push(NotRun { contender, workload: Some(workload), reason });
            }
        }
    }
}

/// The rules of the drivers of this program, and the guest kernels that there are.
#[derive(Clone, Debug, Default)]
pub struct DriverRules {
    kernels: Option<Kernels>,
}

impl DriverRules {
    /// With these guest kernels.
    #[must_use]
    pub fn new(kernels: Kernels) -> Self {
        Self { kernels: Some(kernels) }
    }
}

impl Rules for DriverRules {
    fn check(&self, level: &FsLevel, device: &DeviceLevel) -> Result<(), String> {
        let driver = fsarena_filesystems::driver(level).map_err(|error| error.to_string())?;
        let kernel = match device {
            DeviceLevel::Virtual { kernel, .. } => Kernel::of_release(kernel),
            _ => Kernel::running(Path::new("/proc")),
        };
        driver
            .check_devices(level, &device.sizes_bytes())
            .and_then(|()| driver.kernel_takes(level, &kernel))
            .map_err(|error| error.to_string())
    }

    fn capacity(&self, level: &FsLevel, device: &DeviceLevel) -> Option<Capacity> {
        fsarena_filesystems::driver(level).ok()?.capacity_on(level, &device.sizes_bytes())
    }

    fn guest_kernel(&self, name: &str) -> Result<String, String> {
        match &self.kernels {
            Some(kernels) => kernels.level(name),
            None => Err("build it: fsarena kernel build".to_owned()),
        }
    }

    fn block_device_bytes(&self, path: &Path) -> Option<Result<u64, String>> {
        let is_block = std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_block_device());
        is_block.then(|| {
            let identity = inventory::identify(path, &Roots::default());
            identity.map(|device| device.size_bytes).map_err(|error| error.to_string())
        })
    }

    fn logical_sector_bytes(&self, device: &DeviceLevel) -> Option<u64> {
        match device {
            DeviceLevel::Loop { .. }
            | DeviceLevel::Ram { .. }
            | DeviceLevel::Vdisk { .. }
            | DeviceLevel::Virtual { .. } => Some(LOOP_SECTOR_BYTES.into()),
            DeviceLevel::Block { path, .. } => {
                let roots = Roots::default();
                let name = inventory::identify(path, &roots).ok()?.name;
                Inventory::read(&roots).ok()?.get(&name)?.logical_sector_bytes
            }
            // What is a multiple of the largest is one of them all.
            DeviceLevel::Several { members } => {
                let sectors = members.iter().map(|member| self.logical_sector_bytes(member));
                sectors.collect::<Option<Vec<u64>>>()?.into_iter().max()
            }
            // Those of the kernel say it when they are there.
            _ => None,
        }
    }

    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        let stat = rustix::fs::statvfs(directory).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::work::Phase;
    use fsarena_plan::{Overrides, expand, from_options};

    #[test]
    fn a_file_system_in_memory_is_not_filled_beyond_it() {
        let overrides = Overrides {
            fs: Some("tmpfs".to_owned()),
            on: vec!["loop:8G".to_owned()],
            workloads: Some("big-file,small-files".to_owned()),
            scale: Some(8.0),
            ..Overrides::default()
        };
        let experiment = from_options(&overrides).unwrap();
        let mut plan = expand(&experiment, &overrides, &DriverRules::default()).unwrap();
        let needed = fsarena_plan::needed_bytes(&plan.workloads[0]);
        leave_memory_to_the_machine(&mut plan, Some(needed * 2));
        assert!(plan.not_run.is_empty());
        leave_memory_to_the_machine(&mut plan, Some(needed));
        assert_eq!(plan.not_run.len(), 1, "{:?}", plan.not_run);
        assert_eq!(plan.not_run[0].workload, Some(0));
    }

    /// Data in memory are there whatever they are worked on with.
    #[test]
    fn data_in_memory_leave_a_tenth_on_every_contender() {
        let text = "schema = 1\nname = \"m\"\n[factors]\nfs = [\"ext4\", \"tmpfs\"]\n\
                    device = \"loop:1G\"\n[[workload]]\nname = \"w\"\nsource = \"memory\"\n\
                    dataset = \"small-1000\"\nphases = [\"copy\"]\n";
        let experiment = fsarena_plan::parse(text, "m.toml").unwrap();
        let mut plan = expand(&experiment, &Overrides::default(), &DriverRules::default()).unwrap();
        let (_, staged) = fsarena_plan::stage_bytes(&plan.workloads[0]);
        let needed = fsarena_plan::needed_bytes(&plan.workloads[0]) + staged;
        leave_memory_to_the_machine(&mut plan, Some(needed * 2));
        assert_eq!(plan.not_run, []);
        leave_memory_to_the_machine(&mut plan, Some(staged * 9 / 8));
        assert_eq!(plan.not_run.len(), 1, "{:?}", plan.not_run);
        assert_ne!(plan.contenders[plan.not_run[0].contender].levels.fs.name, "ext4");
        plan.not_run.clear();
        leave_memory_to_the_machine(&mut plan, Some(staged));
        assert_eq!(plan.not_run.len(), 2, "{:?}", plan.not_run);
        let told = &plan.not_run[0].reason;
        assert!(told.starts_with("its data need ") && told.contains("\"other\""), "{told}");
    }

    /// The engine does not look in the user's `PATH`.
    #[test]
    fn programs_are_looked_for_where_the_engine_does() {
        let mut work = fsarena_plan::builtin::workload("small-files").unwrap();
        assert!(is_installed(&work, "sh") && !is_installed(&work, "no-such-program"));
        work.phases.clear();
        let command = job::Command {
            run: "true".to_owned(),
            prepare: None,
            cleanup: None,
            programs: vec!["no-such-program".to_owned()],
        };
        let command = Job::new(job::JobKind::Command(command), job::DATA);
        work.phases.push(Phase::of_job("c", command));
        let missing = programs(&work).into_iter().find(|row| row.0 == "no-such-program").unwrap();
        assert!(
            how_to_get(&work, missing).ends_with(&format!("(looked in {})", job::PROGRAM_PATH))
        );
    }

    #[test]
    fn work_whose_programs_are_missing_is_left_out_with_the_package() {
        let overrides = Overrides {
            fs: Some("tmpfs,ext4".to_owned()),
            on: vec!["loop:8G".to_owned()],
            workloads: Some("small-files".to_owned()),
            ..Overrides::default()
        };
        let experiment = from_options(&overrides).unwrap();
        let mut plan = expand(&experiment, &overrides, &DriverRules::default()).unwrap();
        let untar = job::JobKind::Untar { compression: job::Compression::Zstd };
        plan.workloads[0].phases = vec![
            Phase::of_job("untar", Job::new(untar.clone(), job::DATA)),
            Phase::of_job("flac", Job::new(job::JobKind::Flac, job::DATA)),
            Phase::of_job("again", Job::new(untar, job::DATA)),
        ];
        let whole = plan.clone();
        assert!(leave_out_without_programs(&mut plan, &|_, _| true).is_empty());
        assert_eq!(plan, whole);
        let packages = leave_out_without_programs(&mut plan, &|_, program| program == "tar");
        assert_eq!(packages, ["zstd", "flac"]);
        assert_eq!(plan.not_run.len(), 2, "on each contender");
        assert_eq!(
            plan.not_run[0].reason,
            "zstd is not installed; install the package zstd; flac is not installed; install the \
             package flac"
        );
    }
}
