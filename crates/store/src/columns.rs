//! Values of the model as SQLite keeps them, and back.

use fsarena_model::record::{CacheState, Drained};
use rusqlite::Row;
use rusqlite::types::Type;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Of a word that is not known, shown in an error.
const WORD_SHOWN_CHARS: usize = 40;

/// An unsigned value as SQLite's signed one; what does not fit is cut (the raw text is exact).
pub(crate) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// As [`int`], for a value that may be absent.
pub(crate) fn int_if(value: Option<u64>) -> Option<i64> {
    value.map(int)
}

/// What [`int`] made, in column `at`.
pub(crate) fn unsigned(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    unsigned_if(row, at)?.ok_or_else(|| {
        let name = row.as_ref().column_name(at).unwrap_or_default().to_owned();
        rusqlite::Error::InvalidColumnType(at, name, Type::Null)
    })
}

/// As [`unsigned`], for a value that may be absent.
pub(crate) fn unsigned_if(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    let value: Option<i64> = row.get(at)?;
    let unsigned = |value: i64| {
        u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, value))
    };
    value.map(unsigned).transpose()
}

/// The value of the model whose name column `at` holds.
///
/// # Errors
/// A word that the model does not have: another program wrote it, or a later version.
pub(crate) fn word<T>(
    row: &Row<'_>,
    at: usize,
    named: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text = row.get_ref(at)?.as_str()?;
    named(text).ok_or_else(|| {
        let column = row.as_ref().column_name(at).unwrap_or_default();
        let shown: String = text.chars().take(WORD_SHOWN_CHARS).collect();
        let what = format!("{column} is {shown:?}, which this fsarena does not know");
        rusqlite::Error::FromSqlConversionFailure(at, Type::Text, what.into())
    })
}

/// A value of the model as JSON text.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("values of the model are representable as JSON")
}

/// SHA-256 of a raw text, 64 hex digits.
pub(crate) fn sha256(text: &str) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Name in the schema.
pub(crate) fn drained_name(drained: &Drained) -> &'static str {
    match drained {
        Drained::Frozen { .. } => "frozen",
        Drained::Idle { .. } => "idle",
        Drained::NoDevice => "no-device",
        Drained::NotDrained { .. } | Drained::NotWaitedFor { .. } => "not-drained",
    }
}

/// Name in the schema.
pub(crate) fn cache_state_name(state: CacheState) -> &'static str {
    match state {
        CacheState::Cold => "cold",
        CacheState::ColdClients => "cold-clients",
        // Which of the two it was has a column of its own.
        CacheState::Warm | CacheState::NotWarm => "warm",
        CacheState::WarmByNature => "warm-by-nature",
        CacheState::Unknown => "unknown",
    }
}
