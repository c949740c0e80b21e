//! Questions to the process that serves a modelled disk.

use crate::TargetError;
use fsarena_bounded::Bounded;
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_vdisk::{Logged, Question, Served};
use std::io::{self, BufReader, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::time::Duration;

/// A disk is exchanged when it is idle, which it may not be at once.
const LIMIT: Duration = Duration::from_secs(70);
/// Bytes of an answer, at most: what was late is counted.
const ANSWER_MOST_BYTES: u64 = 16 << 20;

/// The socket of a target that is a modelled disk.
#[must_use]
pub fn socket(target: &TargetSpec) -> Option<&str> {
    match target {
        TargetSpec::Block { under: Under::Modelled { socket, .. }, .. } => Some(socket),
        _ => None,
    }
}

/// What was served since the last such question.
///
/// # Errors
/// When nobody answers, or the process can serve nothing any more, with the reason.
pub fn report(socket: &str) -> Result<Served, TargetError> {
    let answer = ask(socket, &Question::Report)?;
    let served: Served = serde_json::from_str(&answer).map_err(|error| wrong(socket, &error))?;
    match &served.error {
        None => Ok(served),
        Some(error) => Err(TargetError::state(Path::new("vdisk"), error.clone(), "")),
    }
}

/// An empty disk with this seed; nothing may use it.
///
/// # Errors
/// When nobody answers, or it says why not.
pub fn fresh(socket: &str, seed: u64) -> Result<(), TargetError> {
    exchanged(socket, &Question::Fresh { seed })
}

/// The disk is a crash state of its directory; nothing may use it.
///
/// # Errors
/// As [`fresh`].
pub fn state(socket: &str, number: u32, is_logged: bool) -> Result<(), TargetError> {
    exchanged(socket, &Question::State { number, is_logged })
}

/// Has the log of the disk written to a new file, packed.
///
/// # Errors
/// When nobody answers, or it cannot be written.
pub fn log(socket: &str, file: &Path) -> Result<Logged, TargetError> {
    let answer = ask(socket, &Question::Log { file: file.to_owned() })?;
    serde_json::from_str(&answer).map_err(|_| wrong(socket, &answer))
}

fn exchanged(socket: &str, question: &Question) -> Result<(), TargetError> {
    match ask(socket, question)? {
        answer if answer == "ok" => Ok(()),
        answer => Err(wrong(socket, &answer)),
    }
}

fn wrong(socket: &str, what: &dyn std::fmt::Display) -> TargetError {
    let problem = format!("the process that serves it ({socket}) says: {what}");
    TargetError::state(Path::new("vdisk"), problem, "")
}

fn ask(socket: &str, question: &Question) -> Result<String, TargetError> {
    let gone = |error: io::Error| {
        let problem = format!("the process that serves it does not answer: {error}");
        let remedy = "it was killed, or has ended; see the kernel's log, and start again";
        TargetError::state(Path::new("vdisk"), problem, remedy)
    };
    let asked = || {
        let mut stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(socket)?)?;
        stream.set_read_timeout(Some(LIMIT))?;
        let mut line = serde_json::to_string(question)?;
        line.push('\n');
        stream.write_all(line.as_bytes())?;
        let mut input = Bounded::new(BufReader::new(stream), ANSWER_MOST_BYTES);
        match input.next_text_line()?.unwrap_or_default().trim_end() {
            "" => Err(io::ErrorKind::UnexpectedEof.into()),
            answer => Ok(answer.to_owned()),
        }
    };
    asked().map_err(gone)
}
