//! The connections that are open: scripts on hosts, each by an ssh of its own, and what ends them.
//!
//! Ctrl-C closes the standard input of all, which ends their RUNs; a second one kills every ssh.
//! Where this process is killed the kernel does both.

use fsarena_bounded::Bounded;
use fsarena_hosts::{Answers, Ending, Host, TrustedSsh};
use fsarena_process::piped::Piped;
use std::collections::VecDeque;
use std::io::{self, BufReader};
use std::process::{ChildStderr, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often it is looked whether something is to be ended.
const PERIOD: Duration = Duration::from_millis(100);
/// Bytes of a line of standard error, and lines that are kept.
const LINE_MAX_BYTES: u64 = 16 << 10;
const LINES_KEPT: usize = 40;
/// Somebody else may hold standard error open after ssh has ended: a connection that is shared.
const ERRORS_WAIT: Duration = Duration::from_secs(2);

/// All connections.
pub(super) struct Connections {
    interrupts: Arc<AtomicUsize>,
    open: Mutex<Vec<Open>>,
}

struct Open {
    piped: Weak<Piped>,
    deadline: Option<Instant>,
    is_late: Arc<AtomicBool>,
}

/// What takes a line of standard error of a host.
pub(super) type TakeLine = Box<dyn Fn(&str) + Send>;

impl Connections {
    /// None yet; `interrupts` counts the wishes to stop.
    pub(super) fn new(interrupts: Arc<AtomicUsize>) -> Self {
        Self { interrupts, open: Mutex::new(Vec::new()) }
    }

    /// Whether the user wants to stop.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupts.load(Ordering::SeqCst) > 0
    }

    /// Starts the words of a script on a host. It is killed after `limit`.
    pub(super) fn open(
        &self,
        (ssh, host): (&TrustedSsh, &Host),
        words: &[String],
        token: &str,
        limit: Option<Duration>,
        take_line: TakeLine,
    ) -> io::Result<Connection> {
        let arguments = ssh.arguments(host, words);
        let (piped, output, errors) = Piped::start(ssh.program(), &arguments)?;
        let piped = Arc::new(piped);
        let is_late = Arc::new(AtomicBool::new(false));
        let deadline = limit.map(|limit| Instant::now() + limit);
        let open = Open { piped: Arc::downgrade(&piped), deadline, is_late: Arc::clone(&is_late) };
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|open| open.piped.strong_count() > 0);
        all.push(open);
        drop(all);
        Ok(Connection {
            piped,
            answers: Answers::new(BufReader::new(output), token),
            errors: Errors::read(errors, take_line),
            is_late,
        })
    }

    /// Ends what is to be ended, until `is_done`.
    pub(super) fn watch(&self, is_done: &AtomicBool) {
        while !is_done.load(Ordering::SeqCst) {
            let interrupts = self.interrupts.load(Ordering::SeqCst);
            let all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            for open in all.iter() {
                let Some(piped) = open.piped.upgrade() else { continue };
                let is_late = open.deadline.is_some_and(|deadline| deadline < Instant::now());
                open.is_late.fetch_or(is_late, Ordering::SeqCst);
                if interrupts > 1 || is_late {
                    piped.kill();
                } else if interrupts == 1 {
                    piped.close_input();
                }
            }
            drop(all);
            std::thread::sleep(PERIOD);
        }
    }
}

/// A script on a host.
pub(super) struct Connection {
    piped: Arc<Piped>,
    /// What it says on standard output.
    pub(super) answers: Answers<BufReader<ChildStdout>>,
    errors: Errors,
    is_late: Arc<AtomicBool>,
}

/// How a script came to its end.
pub(super) struct Ended {
    pub(super) ending: Ending,
    /// The last lines of standard error.
    pub(super) lines: Vec<String>,
    /// It took too long, and was killed.
    pub(super) is_late: bool,
}

impl Connection {
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.piped.write(bytes)
    }

    pub(super) fn close_input(&self) {
        self.piped.close_input();
    }

    pub(super) fn kill(&self) {
        self.piped.kill();
    }

    /// Waits for its end, which its standard input does not hold up.
    pub(super) fn end(self, has_answered: bool) -> io::Result<Ended> {
        self.piped.close_input();
        let status = self.piped.wait()?;
        let lines = self.errors.lines();
        let ending = Ending::new(status, &lines.join("\n"), has_answered);
        Ok(Ended { ending, lines, is_late: self.is_late.load(Ordering::SeqCst) })
    }
}

/// Standard error of a host, read while it comes.
struct Errors {
    kept: Arc<Mutex<VecDeque<String>>>,
    end: Receiver<()>,
}

impl Errors {
    fn read(errors: ChildStderr, take_line: TakeLine) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (at_end, end) = mpsc::channel();
        let own = Arc::clone(&kept);
        std::thread::spawn(move || {
            let mut input = Bounded::new(BufReader::new(errors), LINE_MAX_BYTES);
            while let Ok(Some(line)) = input.next_line_or_part() {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                take_line(&text);
                let mut kept = own.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == LINES_KEPT {
                    kept.pop_front();
                }
                kept.push_back(text);
            }
            // Nobody waits any more where it came too late.
            let _ = at_end.send(());
        });
        Self { kept, end }
    }

    /// The last lines, when all have come.
    fn lines(&self) -> Vec<String> {
        let _ = self.end.recv_timeout(ERRORS_WAIT);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().cloned().collect()
    }
}
