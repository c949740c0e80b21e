//! What was seen in a state goes on before the next state is looked at.

use super::error::CrashError;
use serde::Serialize;
use std::io;
use std::path::Path;

/// Takes what was seen in a state, as JSON, before the next one is looked at.
pub type TakeObservation<'t> = dyn FnMut(&str) -> io::Result<()> + 't;

/// How an error begins where what was seen could not be handed on: it says nothing of the state.
pub const NOT_HANDED_ON: &str = "what was seen";

/// Hands on what was seen.
pub(super) fn hand_on(
    seen: &impl Serialize,
    take: &mut TakeObservation<'_>,
) -> Result<(), CrashError> {
    let line = serde_json::to_string(seen)?;
    take(&line).map_err(CrashError::io(Path::new(NOT_HANDED_ON)))
}
