//! What a rank and a runner say to each other before a rank works, and after: lines of JSON.
//!
//! Either side sends a random number and proves by an HMAC over both, its role, the rank and the
//! size that it knows the secret, which is never sent. The rank proves it first, so that a runner
//! says nothing that depends on the secret to whoever dials its port. A rank starts nothing before
//! the runner has proved it too.
//!
//! Whoever is on the other side may be anybody: lines have a limit, and the caller sees to the
//! time.

mod admission;

pub use crate::proof::Bytes32;
use crate::proof::{Role, Terms};
use crate::secret::Secret;
pub use admission::{Admission, Step};
use fsarena_model::visible;
use fsarena_model::work::HostHello;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Version of these messages.
pub const PROTOCOL: u32 = 1;
/// Bytes of a message, at most.
const LINE_MOST_BYTES: usize = 4096;
/// Characters of what the other side gives as a reason, at most.
const REASON_CHARS: usize = 300;
/// As of host names.
const NAME_MOST_BYTES: usize = 64;

/// A message of a rank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RankSays {
    /// The first one.
    Greeting { protocol: u32, rank: u32, size: u32, process: Bytes32, nonce: Bytes32 },
    /// That it knows the secret, and what it runs on.
    Proof { proof: Bytes32, host: HostHello },
}

/// A message of a runner.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RunnerSays {
    /// What the rank has to prove that it knows the secret with.
    Challenge { protocol: u32, nonce: Bytes32 },
    /// The rank is taken, and the runner knows the secret.
    Taken { proof: Bytes32 },
    /// It is not, and why.
    Refused(String),
    /// On a connection of a rank that was taken: what follows are lines for a worker.
    Begin,
    /// The runner has ended; whether as it should.
    End { done: bool },
}

/// Which rank a process is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// From 0.
    pub rank: u32,
    /// How many there are.
    pub size: u32,
    /// Tells this process from another one with the same number.
    pub process: Bytes32,
}

/// A rank that knows the secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Which it is.
    pub identity: Identity,
    /// What it runs on; its name is one that can be printed.
    pub host: HostHello,
}

/// What a runner wants of its ranks.
#[derive(Debug)]
pub struct RunnerSide<'a> {
    /// That of this RUN.
    pub secret: &'a Secret,
    /// How many ranks.
    pub size: u32,
    /// Of this program.
    pub version: &'a str,
    /// Of this machine.
    pub arch: &'a str,
}

/// Why two sides do not work together, about the other one.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The connection has failed.
    #[error("the connection failed: {0}")]
    Connection(#[from] io::Error),
    /// It ended in the middle.
    #[error("the connection was closed")]
    Closed,
    /// It took too long.
    #[error("nothing came for too long")]
    Silent,
    /// It was in the way of others.
    #[error("it was silent, and others came")]
    Displaced,
    /// It said something else.
    #[error("what is there does not speak as fsarena does")]
    Foreign,
    /// The version of these messages is another one.
    #[error(
        "fsarena there speaks version {0} of the rendezvous and {PROTOCOL} here: use one version"
    )]
    Protocol(u32),
    /// It does not know the secret.
    #[error("the secret is another one; give both sides the same --secret-file")]
    WrongSecret,
    /// It has refused this side.
    #[error("{0}")]
    Refused(String),
}

impl HandshakeError {
    /// What the other side is told of why it is refused.
    #[must_use]
    pub fn answer(&self) -> Option<RunnerSays> {
        let why = match self {
            Self::Refused(why) => why.clone(),
            Self::WrongSecret | Self::Protocol(_) => self.to_string(),
            _ => return None,
        };
        Some(RunnerSays::Refused(why))
    }
}

/// Whether a rank is one of those that are wanted.
fn check(Arrival { identity, host }: &Arrival, wanted: &RunnerSide<'_>) -> Result<(), String> {
    let Identity { rank, size, .. } = identity;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let name = host.hostname.as_str();
    if name.is_empty() || name.len() > NAME_MOST_BYTES || !name.bytes().all(is_plain) {
        return Err(format!(
            "rank {rank}: its host is called {name:?}; expected a plain host name"
        ));
    }
    if *size != wanted.size {
        let wanted = wanted.size;
        return Err(format!(
            "rank {rank} on {name} is one of {size} and the runner has --ranks {wanted}: start as \
             many"
        ));
    }
    if rank >= size {
        return Err(format!("rank {rank} on {name} is beyond {size} ranks: they count from 0"));
    }
    if let Some(why) = host.version_difference(wanted.version) {
        return Err(format!("rank {rank} on {name}: {why}"));
    }
    if host.arch != wanted.arch {
        let there = visible::one_line(&host.arch);
        let here = wanted.arch;
        return Err(format!(
            "rank {rank} on {name}: {there} is there and {here} here: use one kind"
        ));
    }
    Ok(())
}

/// The rank's side: says which it is, and learns whether the runner takes it and is the one that
/// knows the secret.
///
/// # Errors
/// When it does not, or is not.
pub fn introduce<S: Read + Write>(
    stream: &mut S,
    secret: &Secret,
    identity: &Identity,
    host: &HostHello,
) -> Result<(), HandshakeError> {
    let Identity { rank, size, process } = *identity;
    let nonce = Bytes32::random()?;
    say(stream, &RankSays::Greeting { protocol: PROTOCOL, rank, size, process, nonce })?;
    let runner_nonce = match hear(stream)? {
        RunnerSays::Challenge { protocol: PROTOCOL, nonce } => nonce,
        RunnerSays::Challenge { protocol, .. } => return Err(HandshakeError::Protocol(protocol)),
        RunnerSays::Refused(why) => return Err(refused(&why)),
        _ => return Err(HandshakeError::Foreign),
    };
    let terms = Terms { rank_nonce: nonce, runner_nonce, process, rank, size };
    let proof = secret.proof(Role::Rank, &terms);
    say(stream, &RankSays::Proof { proof, host: host.clone() })?;
    match hear(stream)? {
        RunnerSays::Taken { proof } if secret.is_proved(Role::Runner, &terms, &proof) => Ok(()),
        RunnerSays::Taken { .. } => Err(HandshakeError::WrongSecret),
        RunnerSays::Refused(why) => Err(refused(&why)),
        _ => Err(HandshakeError::Foreign),
    }
}

/// A reason of the other side's, as it is shown.
fn refused(why: &str) -> HandshakeError {
    let why: String = why.chars().take(REASON_CHARS).collect();
    HandshakeError::Refused(visible::one_line(&why).into_owned())
}

/// Writes one message.
///
/// # Errors
/// When it cannot be written.
pub fn say(output: &mut impl Write, says: &impl Serialize) -> Result<(), HandshakeError> {
    output.write_all(&line(says)).map_err(of_connection)?;
    output.flush().map_err(of_connection)
}

/// A message as it is sent.
pub(crate) fn line(says: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(says).expect("a message is plain data");
    text.push(b'\n');
    text
}

/// What a line says.
pub(crate) fn message<T: DeserializeOwned>(line: &[u8]) -> Result<T, HandshakeError> {
    serde_json::from_slice(line).map_err(|_| HandshakeError::Foreign)
}

/// Reads one message, and nothing of what follows it: that is for a worker.
///
/// # Errors
/// When the connection ends or fails, or it is none.
pub fn hear<T: DeserializeOwned>(input: &mut impl Read) -> Result<T, HandshakeError> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match input.read(&mut byte) {
            Ok(0) => return Err(HandshakeError::Closed),
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) if line.len() >= LINE_MOST_BYTES => return Err(HandshakeError::Foreign),
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(of_connection(error)),
        }
    }
    message(&line)
}

/// Time that is over is told of as one of two kinds.
pub(crate) fn of_connection(error: io::Error) -> HandshakeError {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, TimedOut, WouldBlock};
    match error.kind() {
        WouldBlock | TimedOut => HandshakeError::Silent,
        ConnectionReset | BrokenPipe => HandshakeError::Closed,
        _ => HandshakeError::Connection(error),
    }
}

#[cfg(test)]
mod tests;
