//! What a proof of the secret is about, and the 32 bytes that nonces and proofs are.

use fsarena_model::seed::hex;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use std::io;

/// 32 bytes, as 64 digits: a nonce, a proof, or what tells processes apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes32(pub [u8; 32]);

/// Who proves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Rank,
    Runner,
}

/// What a proof is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Terms {
    pub(crate) rank_nonce: Bytes32,
    pub(crate) runner_nonce: Bytes32,
    /// Of the process that is the rank.
    pub(crate) process: Bytes32,
    pub(crate) rank: u32,
    pub(crate) size: u32,
}

impl Bytes32 {
    /// Random ones.
    ///
    /// # Errors
    /// When the kernel has none.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        let got = rustix::io::retry_on_intr(|| getrandom(&mut bytes, GetRandomFlags::empty()))?;
        match got == bytes.len() {
            true => Ok(Self(bytes)),
            false => Err(io::Error::other("the kernel gives too few random numbers")),
        }
    }
}

impl From<Bytes32> for String {
    fn from(bytes: Bytes32) -> Self {
        hex(&bytes.0)
    }
}

impl TryFrom<String> for Bytes32 {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const EXPECTED: &str = "expected 64 digits of 0-9 and a-f";
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        {
            return Err(EXPECTED);
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = str::from_utf8(digits).map_err(|_| EXPECTED)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| EXPECTED)?;
        }
        Ok(Self(bytes))
    }
}
