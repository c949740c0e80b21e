//! `fsarena kernel`: guest kernels built, listed and checked.

use super::delete::is_confirmed;
use super::install;
use super::trust::check_guest_kernel;
use crate::args::{
    KernelArgs, KernelBuildArgs, KernelCheckArgs, KernelCommand, KernelDeleteArgs, KernelListArgs,
};
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_guests::guest::{GuestError, ProbeRecord, Program};
use fsarena_guests::kernel::{
    self, BuildError, BuildRequest, Cache, CheckError, CheckedKernel, Configuration, Identity,
    Kernel, Progress, RemoveError, Source, Surroundings,
};
use fsarena_model::units::Bytes;
use fsarena_process::trust::{writer_in_tree_for_root, writers_for_root};
use indicatif::ProgressBar;
use serde::Serialize;
use std::cell::{Cell, OnceCell};
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often a build says how far it is, where no terminal is watched.
const REPORT_PERIOD: Duration = Duration::from_secs(30);

pub fn run(args: &KernelArgs) -> Result<ExitCode> {
    let done = match &args.what {
        KernelCommand::Build(args) => build(args),
        KernelCommand::List(args) => list(args),
        KernelCommand::Delete(args) => delete(args),
        KernelCommand::Check(args) => check(args),
    };
    match done {
        Err(error) if matches!(error.downcast_ref(), Some(BuildError::Stopped)) => {
            say!("stopped; nothing was kept");
            Ok(ExitCode::from(exit::INTERRUPTED))
        }
        // A source or a configuration that cannot be is a matter of the command line.
        Err(error) if matches!(error.downcast_ref(), Some(BuildError::Source(_))) => {
            Err(Usage(error.to_string()).into())
        }
        Err(error) => Err(error),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn build(args: &KernelBuildArgs) -> Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let request = BuildRequest {
        source: Source::parse(&args.source).map_err(BuildError::from)?,
        configuration: Configuration { trimmed: args.trimmed, hz: args.hz },
        jobs: args.jobs.map_or(cpus, usize::from),
        debian_sources: PathBuf::from(kernel::DEBIAN_SOURCES),
    };
    check_source(&request.source)?;
    let cache = context::kernels()?;
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    let mut done = build_with_progress(&request, &cache, &stop);
    if let (Err(BuildError::Missing(missing)), true) = (&done, args.install_tools) {
        install::packages(&kernel::packages(missing))?;
        done = build_with_progress(&request, &cache, &stop);
    }
    let (kernel, built) = done.map_err(|error| match error {
        BuildError::Missing(_) if !args.install_tools => {
            anyhow::anyhow!("{error}, or pass --install-tools (as root, on Debian)")
        }
        error => error.into(),
    })?;
    if args.json {
        return context::print_json(&fsarena_report::json::document(
            "kernel",
            "kernel",
            &kernel_line(&kernel),
        ));
    }
    say!("{}", if built { "built" } else { "built before" });
    context::print(&describe(&kernel))
}

/// A build runs what is in its source.
///
/// # Errors
/// Where root would, and somebody else may change it.
fn check_source(source: &Source) -> Result<()> {
    let found = match source {
        Source::Debian(_) => None,
        Source::Tarball(path) => writers_for_root(path).into_iter().next(),
        Source::Tree(path) => writer_in_tree_for_root(path),
    };
    let Some(found) = found else { return Ok(()) };
    refuse!(
        "the source {} would be built as root, and {} {}; build it without root, which guests do \
         not need, or from a copy that is root's",
        found.program.display(),
        found.place.display(),
        found.writer
    )
}

fn build_with_progress(
    request: &BuildRequest,
    cache: &Cache,
    stop: &dyn Fn() -> bool,
) -> Result<(Kernel, bool), BuildError> {
    let shown = BuildProgress::new();
    let verify = |binary: &Path| {
        let program = Program::this(cache.dir()).map_err(|error| error.to_string())?;
        match kernel::check(binary, &program, stop) {
            Ok(_) => Ok(()),
            // No matter of the kernel, but of where it is booted.
            Err(error @ CheckError::RandomAddresses { .. }) => {
                say!("mind: {error}");
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    };
    let made = OnceCell::new();
    let work_dir = || {
        let dir = context::journaled_dir(cache.dir(), "building").map_err(io::Error::other)?;
        Ok(made.get_or_init(|| dir).path().to_owned())
    };
    let progress = |progress| shown.show(progress);
    let around = Surroundings { progress: &progress, stop, verify: &verify, work_dir: &work_dir };
    let done = kernel::build(request, cache, &around);
    shown.bar.finish_and_clear();
    done
}

/// A line that changes on a terminal; else a line now and then.
struct BuildProgress {
    bar: ProgressBar,
    started: Instant,
    /// When something was said last, and of which step.
    last: Cell<(Option<Instant>, &'static str)>,
}

impl BuildProgress {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if std::io::stderr().is_terminal() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar, started: Instant::now(), last: Cell::new((None, "")) }
    }

    fn show(&self, progress: Progress) {
        let (step, files) = match progress {
            Progress::Unpacking => ("unpacking the source", None),
            Progress::Patching => ("patching", None),
            Progress::Configuring => ("configuring", None),
            Progress::Compiling { files } => ("compiling", Some(files)),
            Progress::Checking => ("booting it", None),
        };
        let mut line = step.to_owned();
        if let Some(files) = files.filter(|files| *files > 0) {
            let _ = write!(line, ": {files} files, {} s", self.started.elapsed().as_secs());
        }
        if !self.bar.is_hidden() {
            self.bar.set_message(line);
            return;
        }
        let (at, of) = self.last.get();
        if of != step || at.is_none_or(|at| at.elapsed() >= REPORT_PERIOD) {
            self.last.set((Some(Instant::now()), step));
            say!("{line}");
        }
    }
}

fn list(args: &KernelListArgs) -> Result<()> {
    let kernels = context::kernels()?.list();
    if args.json {
        let all: Vec<KernelLine<'_>> = kernels.iter().map(kernel_line).collect();
        return context::print_json(&fsarena_report::json::document("kernels", "kernels", &all));
    }
    if kernels.is_empty() {
        say!("no guest kernel was built yet: fsarena kernel build");
        return Ok(());
    }
    let all: Vec<String> = kernels.iter().map(describe).collect();
    context::print(&all.join("\n"))?;
    if kernels.iter().any(Kernel::is_old) {
        say!("old ones are deleted by fsarena kernel delete --old");
    }
    Ok(())
}

fn delete(args: &KernelDeleteArgs) -> Result<()> {
    let cache = context::kernels()?;
    let mut kernels: Vec<Kernel> = Vec::new();
    for key in &args.keys {
        let kernel = cache.of_key(key).map_err(|error| Usage(error.to_string()))?;
        if !kernels.contains(&kernel) {
            kernels.push(kernel);
        }
    }
    if args.old {
        kernels = cache.list();
        kernels.retain(Kernel::is_old);
        if kernels.is_empty() {
            say!("no guest kernel is old");
            return Ok(());
        }
    }
    let lines: Vec<String> = kernels.iter().map(describe).collect();
    context::print_text(&lines.join("\n"));
    let what = match kernels.len() {
        1 => "this guest kernel".to_owned(),
        number => format!("these {number} guest kernels"),
    };
    if !args.yes && !is_confirmed(&what)? {
        refuse!("nothing was deleted");
    }
    let mut deleted_bytes = 0;
    for kernel in &kernels {
        let size_bytes = kernel.size_bytes();
        match cache.remove(kernel) {
            Err(error @ RemoveError::InUse { .. }) if args.old => say!("left: {error}"),
            removed => {
                removed?;
                deleted_bytes += size_bytes;
            }
        }
    }
    say!("{} deleted from {}", Bytes(deleted_bytes), cache.dir().display());
    Ok(())
}

/// A guest kernel that was built here.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct KernelLine<'k> {
    path: &'k Path,
    identity: &'k Identity,
    size_bytes: u64,
    built_unix_s: Option<u64>,
    /// Whether this program would build it otherwise.
    is_old: bool,
}

fn kernel_line(kernel: &Kernel) -> KernelLine<'_> {
    let built = kernel.built().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    KernelLine {
        path: &kernel.binary,
        identity: &kernel.identity,
        size_bytes: kernel.size_bytes(),
        built_unix_s: built.map(|since| since.as_secs()),
        is_old: kernel.is_old(),
    }
}

/// What a guest kernel did in two equal boots.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CheckLine<'k> {
    path: &'k Path,
    release: &'k str,
    probe: &'k ProbeRecord,
    boot_to_power_off_ns: [u64; 2],
}

/// How long ago something was made.
pub(super) fn age(built: SystemTime) -> String {
    let minutes = built.elapsed().unwrap_or_default().as_secs() / 60;
    match minutes {
        0..120 => format!("{minutes} min ago"),
        120..2880 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1440),
    }
}

fn describe(kernel: &Kernel) -> String {
    let it = &kernel.identity;
    format!(
        "Linux {}, {}, HZ {}; {}, built {}{}\n  {}\n  key     {}\n  sha256  {}\n  \
         source  {} ({})\n  by      {}\n",
        it.release,
        it.config,
        it.hz,
        Bytes(kernel.size_bytes()),
        kernel.built().map_or_else(|| "at an unknown time".to_owned(), age),
        if kernel.is_old() { "; old: this program builds it otherwise" } else { "" },
        kernel.binary.display(),
        it.key,
        it.sha256,
        it.source,
        &it.source_sha256[..it.source_sha256.len().min(12)],
        it.compiler,
    )
}

fn check(args: &KernelCheckArgs) -> Result<()> {
    let cache = context::kernels()?;
    let path = match &args.kernel {
        Some(path) => std::path::absolute(path).context("the path of the kernel")?,
        None => {
            let Some(kernel) = cache.preferred() else {
                refuse!("no guest kernel was built yet: fsarena kernel build");
            };
            kernel.binary
        }
    };
    check_guest_kernel(&path)?;
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    let program = Program::this(cache.dir())?;
    let checked = kernel::check(&path, &program, &stop).map_err(|error| match error {
        CheckError::Guest { error: GuestError::Stopped, .. } => BuildError::Stopped.into(),
        error => anyhow::Error::new(error),
    })?;
    if args.json {
        let about = CheckLine {
            path: &path,
            release: &checked.release,
            probe: &checked.probe,
            boot_to_power_off_ns: checked.boot_to_power_off_ns,
        };
        return context::print_json(&fsarena_report::json::document(
            "kernel-check",
            "check",
            &about,
        ));
    }
    context::print(&describe_check(&path, &checked))
}

fn describe_check(path: &Path, checked: &CheckedKernel) -> String {
    let probe = &checked.probe;
    let [first, second] = checked.boot_to_power_off_ns.map(|ns| ns as f64 / 1e9);
    let mut text = format!(
        "{}: Linux {} in virtual time, HZ {}\n  two equal boots gave equal results, {first:.2} and \
         {second:.2} s from start to power-off\n  memory of 256 MiB: {} KiB, {} KiB free\n  \
         file systems: {}\n",
        path.display(),
        checked.release,
        probe.hz,
        probe.memory.total_kib,
        probe.memory.free_kib,
        probe.filesystems.join(" "),
    );
    if let Ok(disk) = &probe.disk {
        let mean = disk.write_ns.iter().sum::<u64>() as f64 / disk.write_ns.len().max(1) as f64;
        let _ = writeln!(text, "  a write of 4 KiB to a disk of 1 ms took {:.4} ms", mean / 1e6);
    }
    text
}
