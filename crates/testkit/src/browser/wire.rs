//! The DevTools protocol over two pipes: JSON documents with a NUL behind each.
//!
//! Answers are matched by their id; events are kept until somebody asks for them.
//! <https://chromedevtools.github.io/devtools-protocol/>

use serde_json::{Value, json};
use std::io;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// No single answer takes this long, not even on a slow machine with other work.
const PATIENCE: Duration = Duration::from_secs(180);
/// So much of stderr is shown, bytes.
const LAST_WORDS: usize = 2000;

/// Both pipes, and what has come in.
#[derive(Debug)]
pub(crate) struct Wire {
    /// None once it was closed.
    out: Option<ChildStdin>,
    incoming: Receiver<Value>,
    /// Came in while an answer was waited for.
    events: Vec<Value>,
    last_id: u64,
    stderr: PathBuf,
}

impl Wire {
    pub(crate) fn new(out: ChildStdin, from: ChildStdout, stderr: &Path) -> Self {
        let (sender, incoming) = channel();
        // Ends with the pipe, which the browser closes when it ends.
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            let mut text = Vec::new();
            while from.read_until(0, &mut text).is_ok_and(|read| read > 0) {
                if text.last() == Some(&0) {
                    text.pop();
                }
                let Ok(message) = serde_json::from_slice(&text) else { break };
                if sender.send(message).is_err() {
                    break;
                }
                text.clear();
            }
        });
        let stderr = stderr.to_owned();
        Self { out: Some(out), incoming, events: Vec::new(), last_id: 0, stderr }
    }

    /// Calls a method, of a page where a session is given, and waits for its result.
    pub(crate) fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, Error> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let written = self.out.as_mut().map(|out| out.write_all(&bytes).and_then(|()| out.flush()));
        if !matches!(written, Some(Ok(()))) {
            return Err(self.ended(method));
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let mut answer = self.next(method, until)?;
            if answer["id"] != json!(self.last_id) {
                self.events.push(answer);
            } else if let Some(why) = answer["error"]["message"].as_str() {
                return Err(Error::Refused { asked: method.to_owned(), why: why.to_owned() });
            } else {
                return Ok(answer["result"].take());
            }
        }
    }

    /// Waits until an event of this name has come in for the page; it is left among the others.
    pub(crate) fn wait(&mut self, session: &str, event: &str) -> Result<(), Error> {
        let until = Instant::now() + PATIENCE;
        let meant = |found: &Value| found["method"] == event && found["sessionId"] == session;
        while !self.events.iter().any(meant) {
            let came = self.next(event, until)?;
            self.events.push(came);
        }
        Ok(())
    }

    /// The events of one page so far; they are not given a second time.
    pub(crate) fn take(&mut self, session: &str) -> Vec<Value> {
        self.events.extend(self.incoming.try_iter());
        let all = std::mem::take(&mut self.events);
        let (taken, left) = all.into_iter().partition(|event| event["sessionId"] == session);
        self.events = left;
        taken
    }

    /// Closes the pipe, which ends the browser.
    pub(crate) fn close(&mut self) {
        self.out = None;
    }

    fn next(&self, asked: &str, until: Instant) -> Result<Value, Error> {
        let left = until.saturating_duration_since(Instant::now());
        self.incoming.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                Error::Silent { asked: asked.to_owned(), seconds: PATIENCE.as_secs() }
            }
            RecvTimeoutError::Disconnected => self.ended(asked),
        })
    }

    fn ended(&self, asked: &str) -> Error {
        let messages = std::fs::read(&self.stderr).unwrap_or_default();
        let messages = &messages[messages.len().saturating_sub(LAST_WORDS)..];
        let last_words = String::from_utf8_lossy(messages).trim().to_owned();
        Error::Ended { asked: asked.to_owned(), last_words }
    }
}

/// Why the browser did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("chromium is not installed; install it (`apt-get install chromium` on Debian)")]
    NotInstalled,
    /// It could not be started.
    #[error("chromium cannot be started: {0}")]
    Start(#[source] io::Error),
    /// It has ended, or has closed its side of the pipe.
    #[error("chromium has ended before `{asked}` was answered; its last words:\n{last_words}")]
    Ended {
        /// The method that was called.
        asked: String,
        /// The end of what it wrote on stderr.
        last_words: String,
    },
    /// It did not answer in time.
    #[error("chromium did not answer `{asked}` within {seconds} s")]
    Silent {
        /// The method that was called, or the event that was waited for.
        asked: String,
        /// How long was waited, s.
        seconds: u64,
    },
    #[error("chromium refused `{asked}`: {why}")]
    Refused {
        /// The method that was called.
        asked: String,
        /// Its own words.
        why: String,
    },
    /// A script of the test threw.
    #[error("the script of the test failed in the page: {0}")]
    Script(String),
    /// An answer is not as the protocol has it.
    #[error("the answer to `{asked}` has no `{lacks}`")]
    Answer {
        /// The method that was called.
        asked: String,
        /// What is not there.
        lacks: String,
    },
}
