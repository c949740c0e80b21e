//! A case: everything that its number says about it, before anything is started.

use super::draw::Draw;
use super::kind::{Disturbance, Here, Kind, Shape};
use super::kinds::KINDS;
use super::targets::{TARGETS, Target};
use super::work::Work;
use std::fmt::{Display, Formatter};

/// The start after the disturbed one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NextStart {
    List,
    /// `run --resume`.
    Resume,
    /// Another RUN, in a directory.
    OtherRun,
}

/// What is done, to what, and what comes after.
pub(super) struct Case {
    pub(super) number: u64,
    pub(super) kind: &'static Kind,
    pub(super) target: &'static Target,
    pub(super) work: Work,
    pub(super) disturbance: Box<dyn Disturbance>,
    pub(super) next: NextStart,
    /// Whether an interrupted RUN is resumed, and not only looked at.
    pub(super) is_resumed: bool,
}

impl Case {
    /// The case with this number: the same on every machine.
    pub(super) fn new(number: u64) -> Self {
        let draw = Draw::of_case(number);
        let kind = draw_kind(&draw);
        let suits =
            |target: &&Target| kind.targets.is_empty() || kind.targets.contains(&target.name);
        let targets: Vec<&'static Target> = TARGETS.iter().filter(suits).collect();
        let target = draw.one_of("target", &targets);
        let work = Work::draw(&draw, target);
        let length_ms = work.expected_ms(target);
        let shape = Shape { target, trials: work.trials(), length_ms };
        let all = [NextStart::List, NextStart::Resume, NextStart::OtherRun];
        Self {
            number,
            kind,
            target,
            disturbance: (kind.draw)(&draw, &shape),
            work,
            next: draw.one_of("next start", &all),
            is_resumed: draw.once_in("resumed", 2),
        }
    }

    /// What is missing here for it, and the reason.
    pub(super) fn why_not(&self, here: &Here) -> Option<(String, String)> {
        if here.is_beside && self.target.is_seen_by_all {
            let reason = "tests that run beside look at all of these devices".to_owned();
            return Some((self.target.name.to_owned(), reason));
        }
        let kind = || Some((self.kind.name.to_owned(), self.disturbance.why_not(here)?));
        self.target.why_not(self.work.file_systems()).or_else(kind)
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
        let (kind, target, work) = (self.kind.name, self.target.name, self.work.describe());
        let next = match self.next {
            NextStart::List => "list",
            NextStart::Resume => "--resume",
            NextStart::OtherRun => "another RUN",
        };
        let resumed = if self.is_resumed { ", --resume" } else { "" };
        let what = self.disturbance.describe();
        write!(f, "{kind}: {what}; {target} {work}; then {next}{resumed}")
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
        let cases: Vec<Case> = numbers(1).take(600).map(Case::new).collect();
        let kinds: BTreeSet<&str> = cases.iter().map(|case| case.kind.name).collect();
        assert_eq!(kinds.len(), KINDS.len());
        let targets: BTreeSet<&str> = cases.iter().map(|case| case.target.name).collect();
        assert_eq!(targets.len(), TARGETS.len());
        for next in [NextStart::List, NextStart::Resume, NextStart::OtherRun] {
            assert!(cases.iter().filter(|case| case.next == next).count() > 100);
        }
        assert!(cases.iter().any(|case| case.is_resumed && case.next == NextStart::List));
        let kills = cases.iter().filter(|case| case.kind.name == "kill").count();
        let whole: usize = KINDS.iter().map(|kind| kind.weight).sum();
        let expected = 600 * KINDS[0].weight / whole;
        assert!(kills.abs_diff(expected) < 60, "{kills} of {expected}");
    }

    #[test]
    fn a_kind_comes_on_the_targets_that_it_suits() {
        let cases = numbers(3).take(600).map(Case::new);
        for case in cases.filter(|case| !case.kind.targets.is_empty()) {
            assert!(case.kind.targets.contains(&case.target.name), "{case}");
        }
        let known = |name: &str| TARGETS.iter().any(|target| target.is(name));
        assert!(KINDS.iter().all(|kind| kind.targets.iter().all(|name| known(name))));
    }

    #[test]
    fn what_other_tests_would_see_is_left_out_beside_them() {
        let zram = numbers(1).map(Case::new).find(|case| case.target.is("zram")).unwrap();
        let here = Here { is_beside: true, ..Here::default() };
        let (what, why) = zram.why_not(&here).unwrap();
        assert_eq!(what, "zram");
        assert!(why.contains("tests that run beside"), "{why}");
    }

    /// Experiments of all cases are such as the program takes.
    #[test]
    fn experiments_name_what_is_drawn() {
        for case in numbers(5).take(200).map(Case::new) {
            let text = case.work.text(case.target, std::path::Path::new("/dir"));
            let table: toml::Table = text.parse().unwrap();
            let named = table["factors"].get("fs").and_then(|fs| fs.as_array());
            assert_eq!(named.map_or(0, Vec::len), case.work.file_systems().len(), "{text}");
            let device = table["factors"]["device"].as_str().unwrap();
            assert!(case.target.file_systems.is_empty() == device.starts_with('/'), "{text}");
            let distinct: BTreeSet<_> = case.work.file_systems().iter().collect();
            assert_eq!(distinct.len(), case.work.file_systems().len(), "{text}");
        }
    }
}
