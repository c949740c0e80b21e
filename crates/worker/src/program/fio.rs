//! fio, run for one phase of a job file.
//!
//! `worker.rs` calls it for `Task::Fio` in two steps, as it does for phases of our own:
//!
//! ```text
//! // before `ready`: parses, refuses, asks fio for its version and lets it parse (not in the tree)
//! let fio = FioRun::prepare(&job, &section, lay_out, &spec.dataset_seed)?;   // ProgramError
//! // after `go`: one run, to the report
//! let report: WorkerReport = fio.run(&root);
//! ```
//!
//! `section` is the name of the phase (that of the first job of its group). A lay-out of a phase
//! that makes its own files does nothing and reports no ops.
//!
//! fio gets a job file that was written anew ([`fsarena_foreign::fio`]), on its standard input, and
//! the root of the trial as its working directory: the way to the root need not be open to the user
//! who does the work, and no path of the machine is in a job. Job file and output are in anonymous
//! memory: nothing of ours is written to any file system. Before `go` fio is only asked things, and
//! never with the root as its working directory, because it looks for the files of a job while it
//! parses.
//!
//! The phase lasts from right before fio is started to its end, so it holds fio's own start
//! (0.1 s to 0.3 s); `own_ns` of the report is the time of the work by fio's clock. fio has a clock
//! for each job and none for all, so there is no `own_ns` where jobs start at different times.

use super::ProgramError;
use super::find::{Missing, Program};
use super::lifetime::{environment, start_in_root};
use fsarena_engine::InjectedDelay;
use fsarena_engine::Root;
use fsarena_engine::clock::monotonic_ns;
use fsarena_engine::durable::process_cpu_ns;
use fsarena_engine::outcome::sync_error;
use fsarena_engine::resources::Usage;
use fsarena_foreign::fio::{JobFile, Outcome, OutputError, PhaseRun, version_of};
use fsarena_model::seed::Seed;
use fsarena_model::work::{OpError, ProgramReport, WorkerReport};
use fsarena_process::cmd::{Captured, End, SearchPath, Streams, TOO_MUCH_OUTPUT, capture};
use fsarena_process::command::ProgramCommand;
use fsarena_process::kill_orphans;
use fsarena_process::limits::Limits;
use rustix::process::Signal;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

/// How long fio may think about its version, or about a job that it is not to run.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// Oldest fio whose latencies are in nanoseconds.
const OLDEST_MAJOR: u32 = 3;
/// What fio is told to do when its worker dies. Not KILL: its jobs are processes of their own, and
/// only fio itself can end them (within about a second).
const DEATH_SIGNAL: Signal = Signal::TERM;

/// A phase of a job file that is ready to run.
#[derive(Debug)]
pub struct FioRun {
    /// Name of the phase.
    name: String,
    program: Program,
    /// Version line of the program.
    version: String,
    /// `None` where there is nothing to lay out.
    phase: Option<(PhaseRun, Streams)>,
    /// Slept after fio's end.
    pub delay: InjectedDelay,
}

impl FioRun {
    /// Reads and checks the job, finds fio, asks for its version and lets it parse the job. Touches
    /// nothing below the root.
    ///
    /// # Errors
    /// When the job is refused, by us or by fio, and when there is no fio.
    pub fn prepare(
        job: &str,
        phase: &str,
        lay_out: bool,
        seed: &Seed,
    ) -> Result<Self, ProgramError> {
        let file = JobFile::parse(job, "job")?;
        if !file.phases().iter().any(|known| known.name == phase) {
            let known: Vec<&str> = file.phases().iter().map(|known| known.name.as_str()).collect();
            let known = known.join(", ");
            return Err(ProgramError::NoPhase { name: phase.to_owned(), known });
        }
        let program = find_fio()?;
        let failed = |source| ProgramError::Run { program: program.path().to_owned(), source };
        let mut ask = command(&program, &["--version".to_owned()]);
        let version = answer(&mut ask, "").map_err(failed)?.stdout.trim().to_owned();
        if version_of(&version).is_none_or(|major| major < OLDEST_MAJOR) {
            let (program, oldest) = (program.path().to_owned(), OLDEST_MAJOR);
            return Err(ProgramError::Version { program, printed: version, oldest });
        }
        let phase_run = file.for_phase(phase, lay_out, seed.tag());
        let ready = match phase_run {
            None => None,
            Some(run) => {
                let mut check = command(&program, &run.check_args);
                let printed = answer(&mut check, &run.job_file).map_err(failed)?;
                if !printed.succeeded() {
                    let printed = first_lines(&format!("{}\n{}", printed.stderr, printed.stdout));
                    return Err(ProgramError::NotTaken { printed });
                }
                let streams = Streams::new(&run.job_file).map_err(failed)?;
                Some((run, streams))
            }
        };
        let (name, delay) = (phase.to_owned(), InjectedDelay::default());
        Ok(Self { name, program, version, phase: ready, delay })
    }

    /// Runs fio below `root` and reports. A failure is part of the report.
    #[must_use]
    pub fn run(self, root: &Root) -> WorkerReport {
        let Self { name, program, version, phase, delay } = self;
        let Some((phase, mut streams)) = phase else { return nothing_to_do(root) };
        let mut command = command(&program, &phase.args);
        let prepared = streams.attach(&mut command);
        start_in_root(&mut command, root, DEATH_SIGNAL);
        let used_before = Usage::children();
        let before_cpu_ns = process_cpu_ns();
        let start_ns = monotonic_ns();
        let ended = prepared.and_then(|()| command.spawn()).and_then(|mut fio| fio.wait());
        let ended_ns = monotonic_ns();
        if ended.as_ref().is_ok_and(ExitStatus::success) {
            delay.sleep();
        }
        let returned_ns = monotonic_ns();
        if ended.as_ref().map_or(true, |status| status.signal().is_some()) {
            // Each job of a fio that was killed (the memory limit of a trial can do that) is a
            // process with a session of its own, and works on until it is done.
            kill_orphans(is_fio);
        }
        let synced = root.make_durable();
        let usage = Usage::children().since(&used_before);
        let cpu_ns = synced.ok().map(|durable| {
            let own_ns = durable.cpu_ns.saturating_sub(before_cpu_ns);
            own_ns.saturating_add(usage.user_ns).saturating_add(usage.system_ns)
        });

        let mut argv = vec![program.path().display().to_string()];
        argv.extend(phase.args.iter().cloned());
        let outcome = streams
            .read()
            .map_err(Failure::Streams)
            .and_then(|(out, err)| Outcome::parse(&out, &err).map_err(Failure::Output));
        let (status_error, outcome) = (failed_to_end(&name, &ended), outcome);
        let mut report = WorkerReport {
            start_monotonic_ns: start_ns,
            returned_monotonic_ns: returned_ns,
            durable_monotonic_ns: synced.as_ref().ok().map(|durable| durable.monotonic_ns),
            cpu_ns,
            usage,
            ..WorkerReport::default()
        };
        let mut program = ProgramReport {
            name: "fio".to_owned(),
            tools: vec![program.tool(version.clone())],
            version,
            argv,
            ..ProgramReport::default()
        };
        match outcome {
            Ok(outcome) => {
                report.ops = outcome.ops;
                report.asked_bytes = outcome.asked_bytes;
                report.asked_written_bytes = outcome.written_bytes;
                report.latency = outcome.latency;
                report.write_latency = outcome.write_latency;
                report.error = outcome.error.or(status_error);
                program.own_ns = phase.starts_at_once.then_some(outcome.own_ns);
                program.startup_ns = startup_ns(ended_ns - start_ns, program.own_ns);
                program.figures = outcome.figures;
            }
            Err(failure) => {
                let words = failure.to_string();
                // A fio that was killed or never started says nothing, and why is known.
                report.error = status_error
                    .filter(|_| !matches!(&ended, Ok(status) if status.signal().is_none()))
                    .or_else(|| Some(op_error(&name, "fio", 0, words)));
            }
        }
        if let (Err(errno), None) = (synced, &report.error) {
            report.error = Some(sync_error(report.ops, errno));
        }
        program.figures.insert("randseed".to_owned(), phase.randseed.to_string());
        report.program = Some(program);
        report
    }
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("fio's output cannot be read: {0}")]
    Streams(io::Error),
    #[error(transparent)]
    Output(OutputError),
}

/// What fio took to start and end, of all that it took.
fn startup_ns(all_ns: u64, own_ns: Option<u64>) -> Option<u64> {
    own_ns.map(|own_ns| all_ns.saturating_sub(own_ns))
}

/// A report of a phase in which nothing had to be done.
fn nothing_to_do(root: &Root) -> WorkerReport {
    let start_ns = monotonic_ns();
    let synced = root.make_durable();
    WorkerReport {
        start_monotonic_ns: start_ns,
        returned_monotonic_ns: start_ns,
        durable_monotonic_ns: synced.ok().map(|durable| durable.monotonic_ns),
        asked_written_bytes: Some(0),
        error: synced.err().map(|errno| sync_error(0, errno)),
        ..WorkerReport::default()
    }
}

fn op_error(phase: &str, call: &str, errno: i32, words: String) -> OpError {
    let text = format!("fio phase {phase}: {words}");
    OpError { op_index: 0, thread: None, call: call.to_owned(), path: ".".to_owned(), errno, text }
}

/// What is wrong with how fio ended; nothing where it ended well.
fn failed_to_end(phase: &str, ended: &io::Result<ExitStatus>) -> Option<OpError> {
    match ended {
        Ok(status) if status.success() => None,
        Ok(status) => Some(op_error(phase, "fio", 0, format!("fio ended with {status}"))),
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(0);
            Some(op_error(phase, "execve", errno, format!("fio cannot be started: {error}")))
        }
    }
}

/// The first `fio` in `PATH` and the usual directories; for root that nobody else may write.
fn find_fio() -> Result<Program, ProgramError> {
    find_fio_in(&SearchPath::from_env())
}

fn find_fio_in(path: &SearchPath) -> Result<Program, ProgramError> {
    let found = path.find("fio").map(|trusted| Program { name: "fio".to_owned(), trusted });
    let missing = || Missing {
        program: "fio".to_owned(),
        package: Some("fio"),
        looked_in: path.joined().to_string_lossy().into_owned(),
        untrusted: path.why_untrusted("fio"),
    };
    Ok(found.ok_or_else(missing)?)
}

/// What fio says when it is asked something, which takes a moment.
fn answer(command: &mut ProgramCommand, input: &str) -> io::Result<Captured> {
    answer_within(command, input, ANSWER_LIMIT)
}

fn answer_within(
    command: &mut ProgramCommand,
    input: &str,
    limit: Duration,
) -> io::Result<Captured> {
    let printed = capture(command, input, Limits::of_tool(), Some(limit), None)?;
    let broken = match (printed.end, printed.broken_limit) {
        (End::TimedOut, _) => format!("it has not answered after {} s", limit.as_secs()),
        (End::TooMuchOutput, _) => format!("it {TOO_MUCH_OUTPUT}"),
        (_, Some(broken)) => broken.to_string(),
        _ => return Ok(printed),
    };
    Err(io::Error::other(broken))
}

fn command(program: &Program, args: &[String]) -> ProgramCommand {
    let mut command = ProgramCommand::new(&program.trusted);
    environment(&mut command).args(args);
    command
}

fn is_fio(pid: rustix::process::Pid) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_pid()));
    name.is_ok_and(|name| name.trim() == "fio")
}

/// The first lines that say something, as one.
fn first_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.take(3).collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_process::program::TrustedProgram;
    use std::time::Instant;

    fn shell(text: &str) -> ProgramCommand {
        ProgramCommand::new(&TrustedProgram::confirmed(text))
    }

    #[test]
    fn a_fio_that_does_not_answer_is_ended_and_told() {
        let started = Instant::now();
        let limit = Duration::from_secs(1);
        let refused = |text| answer_within(&mut shell(text), "", limit).unwrap_err().to_string();
        assert_eq!(refused("sleep 100"), "it has not answered after 1 s");
        assert_eq!(
            refused("echo fio: out of memory >&2; exit 1").split(" than the ").next(),
            Some("needs more memory")
        );
        assert!(started.elapsed() < Duration::from_secs(50));
        assert_eq!(answer(&mut shell("cat"), "a job").unwrap().stdout, "a job");
    }

    #[test]
    fn root_runs_no_fio_that_others_may_write() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: this is not root");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fio");
        fsarena_testkit::write_script(&path, "echo fio-3.36");
        let search_path = SearchPath::new(vec![dir.path().to_owned()]);
        assert_eq!(find_fio_in(&search_path).unwrap().path(), path);
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
        let missing = find_fio_in(&search_path).unwrap_err().to_string();
        assert!(missing.contains("fio is not run as root"), "{missing}");
    }
}
