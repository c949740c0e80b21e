//! One executor process: started, listened to, stopped when the user asks.
//!
//! It is in a process group of its own, so that a Ctrl-C at the terminal reaches this process
//! alone, which then asks the executor to stop. A second Ctrl-C kills it: its mounts and processes
//! go with its namespaces.

use crate::inner_processes::InnerProcesses;
use crate::request::{Request, RunError};
use fsarena_bounded::Bounded;
use fsarena_devices::{frozen, members};
use fsarena_executor::machine::{self, Doing};
use fsarena_executor::worker::SECRET_VARIABLE;
use fsarena_executor::{ExecutorSays, blank_record};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::spec::TrialSpec;
use fsarena_process::command::ProgramCommand;
use rustix::process::Signal;
use std::io::{BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Commands of this program: the executor of this kernel, and that of guests.
/// Bytes of a line of an executor, at most: a record is the longest, and none larger is stored.
const LINE_MOST_BYTES: u64 = 512 << 20;
const EXECUTOR: &str = "executor";
const VIRTUAL_EXECUTOR: &str = "virtual_executor";

/// How often the wish to stop is looked for; nothing is woken on the measured processors but here.
const LOOK: Duration = Duration::from_millis(250);

/// How long a signal that went to every process may take to be counted here.
const GRACE: Duration = Duration::from_millis(500);

/// How long the processes of an executor that has died may take to write what their mounts hold.
const DYING_LIMIT: Duration = Duration::from_secs(60);

/// A failure to take down is one, whoever asked for what.
const TEARDOWN: &str = "teardown";

/// Signals that ask to stop, as [`ExitStatus`] writes them.
const STOP_SIGNALS: [(Signal, &str); 3] =
    [(Signal::INT, "(SIGINT)"), (Signal::TERM, "(SIGTERM)"), (Signal::HUP, "(SIGHUP)")];

/// A running executor.
pub(crate) struct Session<'a> {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    spec: TrialSpec,
    interrupts: &'a AtomicUsize,
}

impl<'a> Session<'a> {
    /// Starts an executor and hands it `spec`. `cpu_index` is its number among guests that run
    /// at one time.
    pub(crate) fn start(
        request: &Request<'a>,
        journal: &Path,
        spec: TrialSpec,
        cpu_index: usize,
    ) -> Result<Self, RunError> {
        let start = |source| RunError::Start {
            program: request.program.path().display().to_string(),
            source,
        };
        let mut command = ProgramCommand::new(request.program);
        if spec.target.is_virtual() {
            command.args([VIRTUAL_EXECUTOR, "--cpu-index", &cpu_index.to_string()]);
        } else {
            command.arg(EXECUTOR);
        }
        let mut child = command
            .args(["--parent", &std::process::id().to_string()])
            .env_remove(SECRET_VARIABLE)
            .arg("--journal")
            .arg(journal)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .own_group()
            .spawn()
            .map_err(start)?;
        let mut input = child.stdin.take().expect("stdin was piped");
        let output = BufReader::new(child.stdout.take().expect("stdout was piped"));
        let mut output = Bounded::new(output, LINE_MOST_BYTES);
        let (sender, lines) = channel();
        // Ends with the pipe.
        std::thread::spawn(move || {
            while let Ok(Some(line)) = output.next_text_line() {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let text = spec.to_json().expect("a spec is plain data");
        // An executor that died already is noticed by the end of its lines.
        let _ = writeln!(input, "{text}");
        Ok(Self { child, input, lines, spec, interrupts: request.interrupts })
    }

    /// Listens until the record is there, or the executor is gone without one.
    pub(crate) fn finish(mut self, step: &mut dyn FnMut(&str, Option<&str>)) -> TrialRecord {
        let mut interrupts_handled = 0;
        let mut record = None;
        let mut inner = None;
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => match serde_json::from_str(&line) {
                    Ok(ExecutorSays::Step { step: name, phase }) => {
                        let pid = self.child.id();
                        inner.get_or_insert_with(|| InnerProcesses::of_executor(pid));
                        step(&name, phase.as_deref());
                    }
                    Ok(ExecutorSays::Record(said)) => record = Some(*said),
                    Ok(ExecutorSays::Refused(reason)) => record = Some(self.failed(&reason)),
                    Err(error) => record = Some(self.failed(&format!("bad answer: {error}"))),
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let asked = self.interrupts.load(Ordering::SeqCst);
            if asked > interrupts_handled {
                interrupts_handled = asked;
                self.ask_to_stop(asked);
            }
        }
        let ended = self.child.wait();
        if let Some(inner) = inner {
            inner.wait(DYING_LIMIT);
        }
        let status = ended.as_ref().ok().copied();
        if !status.is_some_and(|status| status.success()) {
            // Killed between freeze and thaw. A device that stays busy is said by the next attempt.
            let _ = frozen::release_target(&self.spec.target);
            // What its file system has told the kernel of its devices.
            let _ = members::forget(&self.spec.target);
        }
        let mut record = record.unwrap_or_else(|| {
            let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            self.failed(&format!("the executor ended without a record ({how})"))
        });
        let is_silent = record.steps.is_empty() && status.is_some_and(was_killed);
        if let Outcome::Failed { step, error, .. } = &record.outcome
            && step != TEARDOWN
            && self.is_stopped(status, error)
        {
            record.outcome = Outcome::Interrupted;
        }
        // What the executor said itself before its first step, or what it died of.
        if let Outcome::Failed { step, error, .. } = &record.outcome
            && (is_silent || (step == EXECUTOR && machine::is_at_fault(error, Doing::default())))
        {
            let how = error.clone();
            record.end_by_machine(&how, machine::remedy(&how).as_deref());
        }
        record
    }

    /// Whether a failure comes from a stop, or with one: that of a service or a session reaches
    /// every process, and what the executor has started, or itself, may die of it before this
    /// process has counted it. The trial is then done again by a resume.
    fn is_stopped(&self, status: Option<ExitStatus>, error: &str) -> bool {
        let asked = || self.interrupts.load(Ordering::SeqCst) > 0;
        if status.and_then(|status| status.signal()).is_some_and(is_stop_signal) {
            return true;
        }
        let deadline = Instant::now() + GRACE;
        let of_stop = STOP_SIGNALS.iter().any(|(_, name)| error.contains(name));
        while of_stop && !asked() && Instant::now() < deadline {
            std::thread::sleep(GRACE / 50);
        }
        asked()
    }

    fn ask_to_stop(&mut self, asked: usize) {
        if asked == 1 {
            let _ = self.input.write_all(b"stop\n");
        } else {
            let _ = self.child.kill();
        }
    }

    fn failed(&self, error: &str) -> TrialRecord {
        let mut record = blank_record(&self.spec);
        record.outcome = Outcome::Failed {
            step: EXECUTOR.to_owned(),
            error: error.to_owned(),
            remedy: machine::remedy(error)
                .or_else(|| Some("its own words are above; please report it".to_owned())),
        };
        record
    }
}

/// Killed, or the inner one was, of which the outer one tells as a shell does.
fn was_killed(status: ExitStatus) -> bool {
    let kill = Signal::KILL.as_raw();
    status.signal() == Some(kill) || status.code() == Some(128 + kill)
}

fn is_stop_signal(number: i32) -> bool {
    STOP_SIGNALS.iter().any(|(signal, _)| signal.as_raw() == number)
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // Does nothing where it has ended and was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_crash_runs::kept_states::KeptStates;
    use fsarena_metrics::WallClock;
    use fsarena_model::run::RunHeader;
    use fsarena_model::spec::{Drain, TargetSpec, TrialKey};
    use fsarena_process::program::TrustedProgram;
    use fsarena_testkit::records;

    fn spec(header: &RunHeader) -> TrialSpec {
        let contender = header.plan.contenders[0].clone();
        TrialSpec {
            schema: fsarena_model::SPEC_SCHEMA,
            key: TrialKey {
                run: header.uid.clone(),
                sequence: 0,
                block: 0,
                position: 0,
                contender: contender.id(),
                workload: "w".to_owned(),
            },
            target: TargetSpec::Memory { size_bytes: 1 },
            device: [].into(),
            notices: Vec::new(),
            contender,
            workload: records::big_file(),
            staged: None,
            source_cache: None,
            programs: None,
            realtime_offset_ns: None,
            steps: Vec::new(),
            seed: header.plan.seed,
            age_image_dir: None,
            name: "fsarena-test".to_owned(),
            scratch_dir: "/nonexistent".into(),
            sample_period_ns: 0,
            account: false,
            predicted: None,
            drain: Drain::default(),
            user: None,
            hosts: Vec::new(),
            trust: Vec::new(),
            cpus: Vec::new(),
            keep: false,
        }
    }

    /// What comes of a trial whose executor does `script`, after `interrupts` wishes to stop.
    fn outcome(script: &str, interrupts: usize) -> Outcome {
        record(script, interrupts).outcome
    }

    fn record(script: &str, interrupts: usize) -> TrialRecord {
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![records::big_file()], 1);
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        fsarena_testkit::write_script(&program, &format!("read line\n{script}"));
        let program = TrustedProgram::at(&program).unwrap();
        let interrupts = AtomicUsize::new(interrupts);
        let request = Request {
            header: &header,
            resumed: None,
            program: &program,
            state_dir: dir.path(),
            consents: &[],
            hosts: &[],
            crash_states: &KeptStates::new(dir.path().join("crash-states")),
            keep: false,
            clock: WallClock::set_now(),
            i386_usr: None,
            expected_ns: &std::collections::BTreeMap::new(),
            interrupts: &interrupts,
        };
        let spec = spec(&header);
        let session = Session::start(&request, Path::new("/nonexistent"), spec, 0).unwrap();
        session.finish(&mut |_, _| {})
    }

    /// A trial of which nothing came is dated as one that was done.
    #[test]
    fn a_trial_is_dated_by_the_clock_of_its_run() {
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![records::big_file()], 1);
        // As if somebody had put the time of day forward by an hour since the RUN began.
        let offset_ns = WallClock::set_now().offset_ns() - 3_600_000_000_000;
        let spec = TrialSpec { realtime_offset_ns: Some(offset_ns), ..spec(&header) };
        let dated_ns = fsarena_executor::blank_record(&spec).started_unix_ns;
        let off_ns = WallClock::of_offset(offset_ns).unix_ns().abs_diff(dated_ns);
        assert!(off_ns < 1_000_000_000, "{off_ns}");
    }

    #[test]
    fn an_executor_that_is_told_to_stop_by_others_is_interrupted() {
        for signal in ["TERM", "INT", "HUP"] {
            // Whoever runs the tests may have it ignored (nohup).
            let script = format!("exec env --default-signal={signal} sh -c 'kill -{signal} $$'");
            assert_eq!(outcome(&script, 0), Outcome::Interrupted);
        }
        assert_eq!(outcome("exit 1", 1), Outcome::Interrupted, "it died before it was asked");
        assert!(matches!(outcome("exit 1", 0), Outcome::Failed { .. }));
        assert!(matches!(outcome("kill -KILL $$", 0), Outcome::Failed { .. }));
    }

    /// With the last of them the mounts of its namespace go: before, the device is busy.
    #[test]
    fn what_a_killed_executor_has_started_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let step = r#"{"step":{"step":"reset","phase":null}}"#;
        let script = format!(
            "(exec >&-; sleep 1; touch {}) & echo '{step}'; sleep 0.3; kill -KILL $$",
            mark.display()
        );
        assert!(record(&script, 0).is_ended_by_machine());
        assert!(mark.exists(), "it goes on");
    }

    #[test]
    fn an_executor_that_was_killed_was_ended_by_the_machine() {
        for (script, is_machine) in [
            ("kill -KILL $$", true),
            ("exit 137", true),
            ("exit 101", false),
            ("kill -SEGV $$", false),
        ] {
            assert_eq!(record(script, 0).is_ended_by_machine(), is_machine, "{script}");
        }
    }

    #[test]
    fn a_program_that_died_of_the_stop_is_no_failure() {
        let refused = |reason: &str| format!("echo '{{\"refused\":\"{reason}\"}}'; sleep 0.4");
        let died = refused("mkfs ended (signal: 15 (SIGTERM))");
        assert_eq!(outcome(&died, 1), Outcome::Interrupted);
        assert!(matches!(outcome(&died, 0), Outcome::Failed { .. }), "somebody killed mkfs alone");
        assert_eq!(outcome(&refused("fio: exit status: 128"), 1), Outcome::Interrupted);
    }
}
