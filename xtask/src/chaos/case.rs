//! A case: everything that its number says about it, before anything is started.

use super::draw::Draw;
use super::kind::{Disturbance, Here, Kind};
use super::kinds::KINDS;
use super::shape::{Nature, Shape};
use super::subject::{Subject, Target};
use super::targets::TARGETS;
use std::fmt::{Display, Formatter};

/// The start after the disturbed one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NextStart {
    List,
    /// What does the rest: `run --resume`, or the same command.
    Again,
    /// Another RUN, in a directory.
    OtherRun,
}

/// What is done, to what, and what comes after.
pub(super) struct Case {
    pub(super) number: u64,
    pub(super) kind: &'static Kind,
    pub(super) target: &'static dyn Target,
    pub(super) subject: Box<dyn Subject>,
    pub(super) disturbance: Box<dyn Disturbance>,
    pub(super) next: NextStart,
    /// Whether it is done to its end, and not only looked at.
    pub(super) is_completed: bool,
}

impl Case {
    /// The case with this number: the same on every machine.
    pub(super) fn new(number: u64) -> Self {
        let draw = Draw::of_case(number);
        let kind = draw_kind(&draw);
        let suits = |target: &&&'static dyn Target| (kind.unfit)(target.nature()).is_none();
        let targets: Vec<&'static dyn Target> = TARGETS.iter().filter(suits).copied().collect();
        let target = draw.one_of("target", &targets);
        let nature = target.nature();
        let subject = target.draw(&draw);
        let (trials, length_ms) = (subject.trials(), subject.expected_ms());
        Self {
            number,
            kind,
            target,
            disturbance: (kind.draw)(&draw, &Shape { nature, trials, length_ms }),
            subject,
            next: draw_next_start(&draw, nature),
            // What is no RUN is short, or not done to its end at all.
            is_completed: draw.once_in("resumed", 2) || !nature.is_run(),
        }
    }

    /// What is missing here for it, and the reason.
    pub(super) fn why_not(&self, here: &Here) -> Option<(String, String)> {
        let nature = self.target.nature();
        let reason = match here.is_beside {
            true if nature.is_seen_by_all => {
                Some("tests that run beside look at all of these devices".to_owned())
            }
            true if nature.is_long => Some("it takes too long beside tests".to_owned()),
            _ => self.target.why_not(),
        };
        if let Some(reason) = reason {
            return Some((self.target.name().to_owned(), reason));
        }
        let kind = || Some((self.kind.name.to_owned(), self.disturbance.why_not(here)?));
        self.subject.why_not().or_else(kind)
    }
}

/// Nobody waits for the end of what takes minutes.
fn draw_next_start(draw: &Draw, nature: &Nature) -> NextStart {
    match nature.is_long {
        true => draw.one_of("next start", &[NextStart::List, NextStart::OtherRun]),
        false => {
            draw.one_of("next start", &[NextStart::List, NextStart::Again, NextStart::OtherRun])
        }
    }
}

/// In a round of all kinds each comes as often as its weight says.
fn draw_kind(draw: &Draw) -> &'static Kind {
    let round: Vec<&'static Kind> =
        KINDS.iter().flat_map(|kind| std::iter::repeat_n(kind, kind.weight)).collect();
    draw.one_of("kind", &round)
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (kind, target, work) = (self.kind.name, self.target.name(), self.subject.describe());
        let next = match self.next {
            NextStart::List => "list",
            NextStart::Again => "again",
            NextStart::OtherRun => "another RUN",
        };
        let completed = if self.is_completed { ", to its end" } else { "" };
        let what = self.disturbance.describe();
        write!(f, "{kind}: {what}; {target} {work}; then {next}{completed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chaos::draw::numbers;
    use std::collections::BTreeSet;

    #[test]
    fn a_number_says_everything() {
        for number in numbers(1).take(50) {
            assert_eq!(Case::new(number).to_string(), Case::new(number).to_string());
        }
        assert_ne!(Case::new(1).to_string(), Case::new(2).to_string());
    }

    #[test]
    fn every_kind_target_and_next_start_comes() {
        let cases: Vec<Case> = numbers(1).take(900).map(Case::new).collect();
        let kinds: BTreeSet<&str> = cases.iter().map(|case| case.kind.name).collect();
        assert_eq!(kinds.len(), KINDS.len());
        let targets: BTreeSet<&str> = cases.iter().map(|case| case.target.name()).collect();
        assert_eq!(targets.len(), TARGETS.len());
        for next in [NextStart::List, NextStart::Again, NextStart::OtherRun] {
            assert!(cases.iter().filter(|case| case.next == next).count() > 100);
        }
        assert!(cases.iter().any(|case| case.is_completed && case.next == NextStart::List));
        let kills = cases.iter().filter(|case| case.kind.name == "kill").count();
        let whole: usize = KINDS.iter().map(|kind| kind.weight).sum();
        let expected = 900 * KINDS[0].weight / whole;
        assert!(kills.abs_diff(expected) < 80, "{kills} of {expected}");
    }

    #[test]
    fn a_kind_comes_on_the_targets_that_it_suits() {
        for case in numbers(3).take(900).map(Case::new) {
            assert_eq!((case.kind.unfit)(case.target.nature()), None, "{case}");
            let is_long = case.target.nature().is_long;
            assert!(!is_long || case.next != NextStart::Again, "nobody waits for it: {case}");
        }
        let fits =
            |kind: &Kind, target: &&'static dyn Target| (kind.unfit)(target.nature()).is_none();
        for target in TARGETS {
            let kinds: Vec<&str> =
                KINDS.iter().filter(|kind| fits(kind, target)).map(|kind| kind.name).collect();
            assert!(kinds.contains(&"kill") && kinds.len() >= 4, "{}: {kinds:?}", target.name());
        }
    }

    #[test]
    fn what_other_tests_would_see_is_left_out_beside_them() {
        let here = Here { is_beside: true, ..Here::default() };
        for (name, words) in [("zram", "tests that run beside"), ("kernel-build", "too long")] {
            let is_it = |case: &Case| case.target.name() == name;
            let case = numbers(1).map(Case::new).find(is_it).unwrap();
            let (what, why) = case.why_not(&here).unwrap();
            assert!(what == name && why.contains(words), "{what}: {why}");
        }
    }
}
