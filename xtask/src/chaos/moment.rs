//! When something is done to a RUN: at some share of its length, at a line of its journal, in a
//! trial, before a step.

use super::draw::Draw;
use super::live::Live;
use anyhow::Result;
use fsarena_testkit::fixture::Fixture;
use fsarena_testkit::processes::runs_as;
use std::fmt::{Display, Formatter};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Nothing that comes at all comes later.
const LIMIT: Duration = Duration::from_secs(100);

/// Steps at which the program can be made to wait (docs/testing.md).
const STEPS: &[&str] =
    &["reset", "mount", "make-dirs", "settle", "chill", "measure", "teardown", "store"];

/// A moment of a RUN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moment {
    /// After so long.
    After { ms: u64 },
    /// When its journal has so many lines.
    JournalLine { number: usize },
    /// In the trial with this number, so long after its beginning.
    Trial { number: usize, after_ms: u64 },
    /// So long after a worker was first there.
    Worker { after_ms: u64 },
    /// While the program waits at the beginning of a step.
    Step { name: &'static str },
}

impl Moment {
    /// One of a RUN that has `trials` and is expected to last for `length_ms`.
    pub(super) fn draw(draw: &Draw, trials: usize, length_ms: u64) -> Self {
        match draw.between("moment", 1, 8) {
            1..=3 => Self::After { ms: draw.between("after", 0, length_ms) },
            4 => Self::JournalLine { number: draw.index("journal line", 8) + 1 },
            5 => Self::Trial {
                number: draw.index("trial", trials) + 1,
                after_ms: draw.between("after the trial", 0, 400),
            },
            6 => Self::Worker { after_ms: draw.between("after the worker", 0, 100) },
            _ => Self::Step { name: draw.one_of("step", STEPS) },
        }
    }

    /// The variable that makes the program wait, where it has to.
    pub(super) fn variable(&self, fixture: &Fixture) -> Option<(&'static str, String)> {
        let Self::Step { name } = self else { return None };
        Some(("FSARENA_FAULT", format!("pause:{name}:{}", go_on(fixture).display())))
    }

    /// Waits for it; false where the program ends before.
    pub(super) fn wait(&self, live: &mut Live) -> Result<bool> {
        let after_ms = match *self {
            Self::After { ms } => ms,
            Self::JournalLine { number } => {
                if live.poll(LIMIT, |live| (journal_lines(live) >= number).then_some(()))?.is_none()
                {
                    return Ok(false);
                }
                0
            }
            Self::Trial { number, after_ms } => {
                let line = format!("[{number}/");
                let begins = |live: &Live| live.stderr().contains(&line).then_some(());
                if live.poll(LIMIT, begins)?.is_none() {
                    return Ok(false);
                }
                after_ms
            }
            Self::Worker { after_ms } => {
                let is_there = |live: &Live| {
                    live.fixture.processes().into_iter().find(|pid| runs_as(*pid, "worker"))
                };
                if live.poll(LIMIT, is_there)?.is_none() {
                    return Ok(false);
                }
                after_ms
            }
            Self::Step { .. } => {
                let waits = |live: &Live| live.stderr().contains("asks for a pause").then_some(());
                return Ok(live.poll(LIMIT, waits)?.is_some());
            }
        };
        live.work_for(Duration::from_millis(after_ms))
    }

    /// Lets a program go on that waits.
    pub(super) fn release(&self, fixture: &Fixture) -> Result<()> {
        if let Self::Step { .. } = self {
            fs::write(go_on(fixture), "")?;
        }
        Ok(())
    }
}

impl Display for Moment {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::After { ms } => write!(f, "after {ms} ms"),
            Self::JournalLine { number } => write!(f, "at line {number} of the journal"),
            Self::Trial { number, after_ms } => write!(f, "{after_ms} ms into trial {number}"),
            Self::Worker { after_ms } => write!(f, "{after_ms} ms after the first worker"),
            Self::Step { name } => write!(f, "before the step {name}"),
        }
    }
}

/// What a program that waits is waiting for.
fn go_on(fixture: &Fixture) -> PathBuf {
    fixture.dir.join("go-on")
}

fn journal_lines(live: &Live) -> usize {
    let files = fs::read_dir(&live.fixture.state).into_iter().flatten().flatten();
    let journals = files.map(|file| file.path());
    let journals =
        journals.filter(|path| path.extension().is_some_and(|ending| ending == "journal"));
    let lines = journals.map(|path| fs::read_to_string(path).unwrap_or_default().lines().count());
    lines.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_moment_is_drawn_within_the_run() {
        let all: Vec<Moment> =
            (0..500).map(|seed| Moment::draw(&Draw::of_case(seed), 4, 2000)).collect();
        let count = |is: fn(&Moment) -> bool| all.iter().filter(|moment| is(moment)).count();
        assert!(count(|one| matches!(one, Moment::After { ms: 0..=2000 })) > 100);
        assert!(count(|one| matches!(one, Moment::JournalLine { number: 1..=8 })) > 20);
        assert!(count(|one| matches!(one, Moment::Trial { number: 1..=4, .. })) > 20);
        assert!(count(|one| matches!(one, Moment::Worker { .. })) > 20);
        for step in STEPS {
            let name = |one: &&Moment| matches!(one, Moment::Step { name } if name == step);
            assert!(all.iter().filter(name).count() > 2, "{step}");
        }
    }

    #[test]
    fn only_a_step_makes_the_program_wait() {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(dir.path());
        assert_eq!(Moment::After { ms: 3 }.variable(&fixture), None);
        let step = Moment::Step { name: "mount" };
        let (name, value) = step.variable(&fixture).unwrap();
        let file = dir.path().join("go-on");
        assert_eq!((name, value), ("FSARENA_FAULT", format!("pause:mount:{}", file.display())));
        Moment::After { ms: 3 }.release(&fixture).unwrap();
        assert!(!file.exists());
        step.release(&fixture).unwrap();
        assert!(file.exists());
    }
}
