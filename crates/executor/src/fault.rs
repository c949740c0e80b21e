//! Faults on purpose, so that tests can see what they leave behind (docs/testing.md).
//!
//! `FSARENA_FAULT=panic:<step>` makes the executor panic, `hang:<step>` wait for ever, and
//! `pause:<step>:<path>` wait until there is something at that path, at the beginning of that
//! step; never inside a timed phase. A step of one phase is `measure read`, any of that kind
//! `measure`. The runner has one such place of its own: `store`, between a trial and the storing of
//! its record.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

/// Does what `FSARENA_FAULT` asks for at this step, and of this phase where it has one.
///
/// # Panics
/// When asked to.
pub fn at(step: &str, phase: Option<&str>) {
    let Ok(wish) = std::env::var("FSARENA_FAULT") else { return };
    let mut words = wish.splitn(3, ':');
    let (what, place) = (words.next(), words.next().unwrap_or_default());
    let here = place == step || phase.is_some_and(|phase| place == format!("{step} {phase}"));
    if !here {
        return;
    }
    match what {
        Some("panic") => panic!("FSARENA_FAULT asks for a panic in {place}"),
        Some("hang") => {
            say(&format!("FSARENA_FAULT asks for a hang in {place}"));
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        Some("pause") => {
            say(&format!("FSARENA_FAULT asks for a pause in {place}"));
            while words.clone().next().is_some_and(|path| !Path::new(path).exists()) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        _ => {}
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
