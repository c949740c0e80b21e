//! Faults on purpose, so that tests can see what they leave behind (docs/testing.md).
//!
//! `FSARENA_FAULT=panic:<step>` makes the executor panic, and `FSARENA_FAULT=hang:<step>` wait for
//! ever, at the beginning of that step; never inside a timed phase. The runner has one such place
//! of its own: `store`, between a trial and the storing of its record.

use std::io::Write as _;

/// Does what `FSARENA_FAULT` asks for at this step.
///
/// # Panics
/// When asked to.
pub fn at(step: &str) {
    let Ok(wish) = std::env::var("FSARENA_FAULT") else { return };
    match wish.split_once(':') {
        Some(("panic", at)) if at == step => panic!("FSARENA_FAULT asks for a panic in {step}"),
        Some(("hang", at)) if at == step => {
            let _ = writeln!(std::io::stderr(), "FSARENA_FAULT asks for a hang in {step}");
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        }
        _ => {}
    }
}
