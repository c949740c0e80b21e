//! Faults on purpose and short waits, both for tests alone (docs/testing.md).
//!
//! `FSARENA_FAULT=panic:<step>` makes the executor panic, `hang:<step>` wait for ever, and
//! `pause:<step>:<path>` wait until there is something at that path, at the beginning of that
//! step; never inside a timed phase. A step of one phase is `measure read`, any of that kind
//! `measure`. The runner has such places of its own: `store`, between a trial and the storing of
//! its record; where that fails, `spool` before it is kept in a file and `spooled` after; `take-in`
//! before a later start stores it from there, and `taken-in` before that removes the file.
//!
//! `FSARENA_TEST_FAST=1` shortens waits, touches no memory before a phase, and believes that a
//! phase was warm when other tests dropped its caches, and one whose worker was stopped; every
//! record of such a trial says so in a notice.

use fsarena_model::record::{CacheRecord, CacheState, Notice};
use fsarena_model::spec::Drain;
use fsarena_model::units::Nanos;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

/// Idle time that counts as drained with `FSARENA_TEST_FAST`.
const FAST_IDLE_NS: u64 = 20_000_000;

/// Whether `FSARENA_TEST_FAST` asks for short waits: of no use for a measurement.
#[must_use]
pub fn is_fast() -> bool {
    std::env::var_os("FSARENA_TEST_FAST").is_some_and(|value| value == "1")
}

/// How long a device must be idle in the trials of this process.
#[must_use]
pub fn drain() -> Drain {
    let usual = Drain::default();
    if is_fast() { Drain { idle_ns: FAST_IDLE_NS, ..usual } } else { usual }
}

/// The notice of a trial whose device need not be idle for the usual time.
pub(crate) fn fast_notice(drain: Drain) -> Option<Notice> {
    let usual_ns = Drain::default().idle_ns;
    let text = format!(
        "FSARENA_TEST_FAST: a device counts as idle after {} instead of {}; a test, no measurement",
        Nanos(drain.idle_ns),
        Nanos(usual_ns)
    );
    let remedy = Some("unset FSARENA_TEST_FAST and run again".to_owned());
    let notice = Notice { code: "test-fast".to_owned(), text, remedy, measure: None };
    (drain.idle_ns < usual_ns).then_some(notice)
}

/// Tests run side by side, and each cold one drops the caches of all: with `FSARENA_TEST_FAST` what
/// was to be warm is called so, and the notice stays.
pub(crate) fn believe_warm(cache: &mut CacheRecord) {
    if is_fast() && cache.state == CacheState::NotWarm {
        cache.state = CacheState::Warm;
        cache.why = format!("{}; believed in a test", cache.why);
    }
}

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
            write_line(&format!("FSARENA_FAULT asks for a hang in {place}"));
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        Some("pause") => {
            write_line(&format!("FSARENA_FAULT asks for a pause in {place}"));
            while words.clone().next().is_some_and(|path| !Path::new(path).exists()) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        _ => {}
    }
}

fn write_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
