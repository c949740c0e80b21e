//! Real work by the programs that people use: a tree copied, an archive unpacked, a shell command.
//!
//! ```text
//! // before `ready`: finds the programs and asks for their versions (not in the tree)
//! let job = JobRun::prepare(&task, &spec.root)?;   // ProgramError
//! // after `go`: the work, to the report
//! let report: WorkerReport = job.run(&root);
//! ```
//!
//! Right after the first clock read the directory of a product is made, where the program wants one
//! that is there, and the wav files that shall be encoded are listed, by reading one directory:
//! nothing of the source or below the root is looked at before. The phase lasts to the end of the
//! last program that was started. Then whoever was left behind is ended, and syncfs makes it
//! durable, with what they had written. Sizes of products are read when all clocks have been.
//!
//! A source outside the root has to be open to the user who does the work; that is asked before
//! `ready`.
//!
//! Standard output goes to `/dev/null`; of standard error the end is kept, for the report of a
//! failure.
//!
//! What differs from kind to kind is in `kinds`.

mod kinds;
mod products;
mod runs;

use super::ProgramError;
use super::find::{Program, find_all};
use super::lifetime::{StderrTail, version};
use fsarena_engine::InjectedDelay;
use fsarena_engine::Root;
use fsarena_engine::clock::monotonic_ns;
use fsarena_engine::durable::process_cpu_ns;
use fsarena_engine::outcome::sync_error;
use fsarena_engine::resources::Usage;
use fsarena_model::job::{By, JobKind};
use fsarena_model::work::{JobTask, ProgramReport, Tool, WorkerReport};
use fsarena_process::OrphanReaper;
use kinds::{Amounts, Invocations, absolute, amounts, at_death, fills_directory, invocations};
pub use runs::HookRun;
use runs::{Failure, ProgramRuns};
use rustix::fs::Mode;
use std::path::{Component, Path};

/// A job of a program that is ready to run.
#[derive(Debug)]
pub struct JobRun {
    task: JobTask,
    invocations: Invocations,
    /// The first is the one that is started.
    programs: Vec<Program>,
    tools: Vec<Tool>,
    stderr_tail: StderrTail,
    /// Slept after the end of the last program.
    pub delay: InjectedDelay,
}

impl JobRun {
    /// Finds the programs of `task`, asks for their versions and puts their arguments together.
    /// `root` is the path of the root, for `{mnt}`; nothing below it is touched.
    ///
    /// # Errors
    /// When a program is not installed, a word in braces has no meaning, the task would work
    /// outside the root, or the engine is to do it.
    pub fn prepare(task: &JobTask, root: &Path) -> Result<Self, ProgramError> {
        let root = &absolute(root)?;
        let mut task = task.clone();
        check(&task)?;
        // A program may treat a symbolic link to the source as a link. Only what lies elsewhere is
        // looked at.
        if task.input.is_absolute() && !task.input.starts_with(root) {
            open_to_user(&task)?;
            task.input = task.input.canonicalize().unwrap_or(task.input);
        }
        let invocations = invocations(&task, root)?;
        let programs = find_all(&task.job)?;
        let tools = programs.iter().map(|found| found.tool(version(found))).collect();
        let stderr_tail = StderrTail::new().map_err(|source| {
            let program = programs.first().map(|found| found.path().to_owned()).unwrap_or_default();
            ProgramError::Run { program, source }
        })?;
        let delay = InjectedDelay::default();
        Ok(Self { task, invocations, programs, tools, stderr_tail, delay })
    }

    /// Does the work below `root` and reports. A failure is part of the report.
    #[must_use]
    pub fn run(self, root: &Root) -> WorkerReport {
        let Self { task, invocations, programs, tools, mut stderr_tail, delay } = self;
        let program = &programs[0];
        let product = task.job.product(&task.name).filter(|_| fills_directory(&task.job.kind));
        let mut program_runs =
            ProgramRuns::new(program, root, at_death(&task.job.kind), &mut stderr_tail);
        program_runs.ready(&invocations);
        let orphans = OrphanReaper::mark();
        let used_before = Usage::children();
        let before_cpu_ns = process_cpu_ns();
        let start_ns = monotonic_ns();
        let made = product.map_or(Ok(()), |product| make_product(product, root));
        let outcome = made.and_then(|()| program_runs.all(&task, &invocations));
        if outcome.is_ok() {
            delay.sleep();
        }
        let returned_ns = monotonic_ns();
        let ended_in_background = orphans.end();
        let synced = root.make_durable();
        let usage = Usage::children().since(&used_before);
        let cpu_ns = synced.ok().map(|durable| {
            let own_ns = durable.cpu_ns.saturating_sub(before_cpu_ns);
            own_ns.saturating_add(usage.user_ns).saturating_add(usage.system_ns)
        });

        let (done, argv) = (program_runs.done(), program_runs.into_argv());
        let amounts = outcome.and_then(|wavs| amounts(&task, root, wavs).map_err(Failure::Product));
        let synced = synced.map_err(|errno| sync_error(0, errno));
        let (amounts, error) = match amounts {
            Ok(amounts) => (amounts, synced.as_ref().err().cloned()),
            Err(failure) => {
                let place = format!("phase {}", task.name);
                let error = failure.report(&place, &program.name, done, &mut stderr_tail);
                (Amounts::default(), Some(error))
            }
        };
        let mut report = ProgramReport {
            name: program.name.clone(),
            version: tools[0].version.clone(),
            tools,
            argv,
            ..ProgramReport::default()
        };
        if done > 1 {
            report.figures.insert("starts".to_owned(), done.to_string());
        }
        if ended_in_background > 0 {
            let count = ended_in_background.to_string();
            report.figures.insert("ended_in_background".to_owned(), count);
        }
        WorkerReport {
            start_monotonic_ns: start_ns,
            returned_monotonic_ns: returned_ns,
            durable_monotonic_ns: synced.as_ref().ok().map(|durable| durable.monotonic_ns),
            cpu_ns,
            ops: amounts.ops,
            asked_bytes: amounts.read_bytes + amounts.written_bytes,
            asked_written_bytes: Some(amounts.written_bytes),
            error,
            usage,
            program: Some(report),
            ..WorkerReport::default()
        }
    }
}

/// Refuses a source elsewhere that the user who does the work may not read.
fn open_to_user(task: &JobTask) -> Result<(), ProgramError> {
    let Some(closed) = crate::closed(&task.input) else { return Ok(()) };
    Err(ProgramError::Task {
        phase: task.name.clone(),
        what: format!(
            "the user of the work may not read {}: {} is closed to it",
            task.input.display(),
            closed.display()
        ),
        remedy: OPEN_IT,
    })
}

/// What to do where a source is closed.
pub(crate) const OPEN_IT: &str = "open it to that user (chmod o+x, o+r), or leave --user out";

/// Refuses what would work where it must not.
fn check(task: &JobTask) -> Result<(), ProgramError> {
    let refuse =
        |what: String, remedy| Err(ProgramError::Task { phase: task.name.clone(), what, remedy });
    if task.job.by == By::Engine {
        return refuse(
            "its job is the engine's, not a program's".to_owned(),
            "give it to the engine, or say by = \"program\"",
        );
    }
    let inside = |path: &Path| {
        let mut parts = path.components();
        path.components().next().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    let input = &task.input;
    if !input.is_absolute() && !inside(input) {
        return refuse(
            format!("its input {} leaves the root", input.display()),
            "name something below the root, or an absolute path elsewhere",
        );
    }
    if task.job.kind == JobKind::Delete && !inside(input) {
        return refuse(
            format!("it would delete {}, which is not below the root", input.display()),
            "delete only what is on the file system under test",
        );
    }
    let product = task.job.product(&task.name);
    if product.as_deref().is_some_and(|product| input == Path::new(product)) {
        return refuse(
            format!("what it makes would be called like its input, {}", input.display()),
            "give the phase another name",
        );
    }
    if let Some(product) = product
        && (!inside(Path::new(&product)) || product.contains('/') || product.starts_with('-'))
    {
        return refuse(
            format!("what it makes would be called {product}"),
            "give the phase a name of letters, digits and hyphens",
        );
    }
    Ok(())
}

/// Makes the directory that a program fills.
fn make_product(product: String, root: &Root) -> Result<(), Failure> {
    rustix::fs::mkdirat(root.lookup(), product.as_str(), Mode::from_raw_mode(0o755))
        .map_err(|errno| Failure::MakeDir(product, errno))
}

#[cfg(test)]
mod tests;
