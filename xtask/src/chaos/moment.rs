//! When something is done to a start: at some share of its length, when it says something; to a RUN
//! also at a line of its journal, in a trial, before a step.

use super::draw::Draw;
use super::live::Live;
use super::shape::Shape;
use anyhow::Result;
use fsarena_testkit::fixture::Fixture;
use fsarena_testkit::processes::runs_as;
use std::fmt::{Display, Formatter};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Nothing that comes at all comes later.
const LIMIT: Duration = Duration::from_secs(100);

/// A moment of a start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moment {
    /// After so long.
    After { ms: u64 },
    /// So long after it has said this.
    Words { words: &'static str, after_ms: u64 },
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
    /// One of a start of this shape.
    pub(super) fn draw(draw: &Draw, shape: &Shape) -> Self {
        let (nature, trials) = (shape.nature, shape.trials);
        let after = || Self::After { ms: draw.between("after", 0, shape.length_ms) };
        if !nature.is_run() {
            return match nature.words {
                words @ [_, ..] if draw.once_in("words", 3) => Self::Words {
                    words: draw.one_of("which words", words),
                    after_ms: draw.between("after the words", 0, shape.length_ms / 8),
                },
                _ => after(),
            };
        }
        match draw.between("moment", 1, 8) {
            1..=3 => after(),
            4 => Self::JournalLine { number: draw.index("journal line", 8) + 1 },
            5 => Self::Trial {
                number: draw.index("trial", trials) + 1,
                after_ms: draw.between("after the trial", 0, 400),
            },
            6 => Self::Worker { after_ms: draw.between("after the worker", 0, 100) },
            _ => Self::Step { name: draw.one_of("step", nature.steps) },
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
            Self::Words { words, after_ms } => {
                if !is_said(live, words)? {
                    return Ok(false);
                }
                after_ms
            }
            Self::Trial { number, after_ms } => {
                if !is_said(live, &format!("[{number}/"))? {
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
            Self::Step { .. } => return is_said(live, "asks for a pause"),
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
            Self::Words { words, after_ms } => write!(f, "{after_ms} ms after {words:?}"),
            Self::JournalLine { number } => write!(f, "at line {number} of the journal"),
            Self::Trial { number, after_ms } => write!(f, "{after_ms} ms into trial {number}"),
            Self::Worker { after_ms } => write!(f, "{after_ms} ms after the first worker"),
            Self::Step { name } => write!(f, "before the step {name}"),
        }
    }
}

/// Waits until it has said this; false where it ends before.
fn is_said(live: &mut Live, words: &str) -> Result<bool> {
    let said = |live: &Live| live.stderr().contains(words).then_some(());
    Ok(live.poll(LIMIT, said)?.is_some())
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
    use crate::chaos::shape::Nature;

    const NATURE: Nature = Nature {
        victims: &[],
        steps: &["reset", "mount", "measure"],
        words: &[],
        stored: &[],
        has_database: true,
        has_images: false,
        is_long: false,
        may_fail: false,
        is_seen_by_all: false,
    };

    fn drawn(nature: &'static Nature) -> Vec<Moment> {
        let shape = Shape { nature, trials: 4, length_ms: 2000 };
        (0..500).map(|seed| Moment::draw(&Draw::of_case(seed), &shape)).collect()
    }

    #[test]
    fn what_is_no_run_is_met_at_a_time_or_after_what_it_says() {
        const COMMAND: Nature = Nature { steps: &[], words: &["patching"], ..NATURE };
        let all = drawn(&COMMAND);
        let said = |one: &&Moment| matches!(one, Moment::Words { words: "patching", .. });
        assert!((100..250).contains(&all.iter().filter(said).count()));
        let others = all.iter().filter(|one| !said(one));
        assert!(others.clone().all(|one| matches!(one, Moment::After { ms: 0..=2000 })));
    }

    #[test]
    fn every_kind_of_moment_is_drawn_within_the_run() {
        let all = drawn(&NATURE);
        let count = |is: fn(&Moment) -> bool| all.iter().filter(|moment| is(moment)).count();
        assert!(count(|one| matches!(one, Moment::After { ms: 0..=2000 })) > 100);
        assert!(count(|one| matches!(one, Moment::JournalLine { number: 1..=8 })) > 20);
        assert!(count(|one| matches!(one, Moment::Trial { number: 1..=4, .. })) > 20);
        assert!(count(|one| matches!(one, Moment::Worker { .. })) > 20);
        for step in NATURE.steps {
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
