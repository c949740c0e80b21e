//! One executor process: started, listened to, stopped when the user asks.
//!
//! It is in a process group of its own, so that a Ctrl-C at the terminal reaches this process
//! alone, which then asks the executor to stop. A second Ctrl-C kills it: its mounts and processes
//! go with its namespaces.

use crate::{Request, RunError};
use fsarena_executor::{ExecutorSays, blank_record};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::spec::TrialSpec;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often the wish to stop is looked for; nothing is woken on the measured processors but here.
const LOOK: Duration = Duration::from_millis(250);

/// A running executor.
pub(crate) struct Session<'a> {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    spec: &'a TrialSpec,
    interrupts: &'a AtomicUsize,
}

impl<'a> Session<'a> {
    /// Starts an executor and hands it `spec`.
    pub(crate) fn start(
        request: &Request<'a>,
        journal: &Path,
        spec: &'a TrialSpec,
    ) -> Result<Self, RunError> {
        let start =
            |source| RunError::Start { program: request.program.display().to_string(), source };
        let mut child = Command::new(request.program)
            .arg("executor")
            .args(["--parent", &std::process::id().to_string()])
            .arg("--journal")
            .arg(journal)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(start)?;
        let mut input = child.stdin.take().expect("stdin was piped");
        let output = BufReader::new(child.stdout.take().expect("stdout was piped"));
        let (sender, lines) = channel();
        // Ends with the pipe.
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let text = serde_json::to_string(spec).expect("a spec is plain data");
        // An executor that died already is noticed by the end of its lines.
        let _ = writeln!(input, "{text}");
        Ok(Self { child, input, lines, spec, interrupts: request.interrupts })
    }

    /// Listens until the record is there, or the executor is gone without one.
    pub(crate) fn finish(mut self, step: &mut dyn FnMut(&str, Option<&str>)) -> TrialRecord {
        let mut heeded = 0;
        let mut record = None;
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => match serde_json::from_str(&line) {
                    Ok(ExecutorSays::Step { step: name, phase }) => step(&name, phase.as_deref()),
                    Ok(ExecutorSays::Record(said)) => record = Some(*said),
                    Ok(ExecutorSays::Refused(reason)) => record = Some(self.failed(&reason)),
                    Err(error) => record = Some(self.failed(&format!("bad answer: {error}"))),
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let asked = self.interrupts.load(Ordering::SeqCst);
            if asked > heeded {
                heeded = asked;
                self.ask_to_stop(asked);
            }
        }
        let ended = self.child.wait();
        record.unwrap_or_else(|| {
            if heeded > 0 {
                return blank_record(self.spec);
            }
            let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            self.failed(&format!("the executor ended without a record ({how})"))
        })
    }

    fn ask_to_stop(&mut self, asked: usize) {
        if asked == 1 {
            let _ = self.input.write_all(b"stop\n");
        } else {
            let _ = self.child.kill();
        }
    }

    fn failed(&self, error: &str) -> TrialRecord {
        let mut record = blank_record(self.spec);
        record.outcome = Outcome::Failed {
            step: "executor".to_owned(),
            error: error.to_owned(),
            remedy: Some("its own words are above; please report it".to_owned()),
        };
        record
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // Does nothing where it has ended and was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
