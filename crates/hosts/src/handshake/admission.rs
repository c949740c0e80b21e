//! The runner's side of a handshake, as a value that is given what comes: it waits for nothing and
//! holds no more than one line.

use super::{
    Arrival, Bytes32, HandshakeError, Identity, LINE_MOST_BYTES, PROTOCOL, RankSays, RunnerSays,
    RunnerSide, check, line, message,
};
use crate::proof::{Role, Terms};

/// How far a handshake has come.
#[derive(Debug, Default)]
pub struct Admission {
    /// What has come of the next line.
    line: Vec<u8>,
    /// What the other side has to prove that it knows the secret with, once it has greeted.
    terms: Option<Terms>,
}

/// What follows from what has come.
#[derive(Debug)]
pub enum Step {
    /// More has to come.
    Wait,
    /// This is to be sent; then more has to come.
    Challenge(Vec<u8>),
    /// The rank knows the secret and is taken, of which it is told by this.
    Take(Box<Arrival>, Vec<u8>),
}

impl Admission {
    /// Whether a rank has spoken; anybody can as far as that.
    #[must_use]
    pub fn has_greeted(&self) -> bool {
        self.terms.is_some()
    }

    /// Takes what has come. `take` says, with the reason where it is not, whether a rank's number
    /// is free; it is asked for ranks that know the secret alone.
    ///
    /// # Errors
    /// When the rank may not work; it is told by [`HandshakeError::answer`].
    pub fn hear(
        &mut self,
        bytes: &[u8],
        wanted: &RunnerSide<'_>,
        take: &dyn Fn(&Arrival) -> Result<(), String>,
    ) -> Result<Step, HandshakeError> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let piece = &bytes[..end.unwrap_or(bytes.len())];
        // A side that waits for an answer says nothing more.
        let is_more = end.is_some_and(|end| end + 1 < bytes.len());
        if is_more || self.line.len() + piece.len() > LINE_MOST_BYTES {
            return Err(HandshakeError::Foreign);
        }
        self.line.extend_from_slice(piece);
        if end.is_none() {
            return Ok(Step::Wait);
        }
        let said = message(&std::mem::take(&mut self.line))?;
        match (said, self.terms.take()) {
            (RankSays::Greeting { protocol, rank, size, process, nonce }, None) => {
                if protocol != PROTOCOL {
                    return Err(HandshakeError::Protocol(protocol));
                }
                let runner_nonce = Bytes32::random()?;
                self.terms = Some(Terms { rank_nonce: nonce, runner_nonce, process, rank, size });
                let challenge = RunnerSays::Challenge { protocol: PROTOCOL, nonce: runner_nonce };
                Ok(Step::Challenge(line(&challenge)))
            }
            (RankSays::Proof { proof, host }, Some(terms)) => {
                if !wanted.secret.is_proved(Role::Rank, &terms, &proof) {
                    return Err(HandshakeError::WrongSecret);
                }
                let Terms { rank, size, process, .. } = terms;
                let arrival = Arrival { identity: Identity { rank, size, process }, host };
                check(&arrival, wanted)
                    .and_then(|()| take(&arrival))
                    .map_err(HandshakeError::Refused)?;
                let proof = wanted.secret.proof(Role::Runner, &terms);
                Ok(Step::Take(Box::new(arrival), line(&RunnerSays::Taken { proof })))
            }
            _ => Err(HandshakeError::Foreign),
        }
    }
}
