//! What is found at a crash point, and figures of many with their intervals.

use super::work::{ApplicationSeen, ApplicationWork};
use crate::figures::{FigureOptions, Share, share_of};
use crate::observation::MountStep;
use crate::state::{Class, CrashState};
use fsarena_stats::SampleError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Of one crash point.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ApplicationFindings {
    pub at_ns: u64,
    pub class: Class,
    pub mounted: Option<MountStep>,
    /// Units that were acknowledged before the power went.
    pub acknowledged: u64,
    /// Whether the check passed; `None`: it could not be run.
    pub is_whole: Option<bool>,
    /// Acknowledged units that are not there; `None`: the check did not pass, and they were not
    /// counted.
    pub lost: Option<u64>,
    /// Age of the oldest lost unit, where the last ones are lost.
    pub lost_age_ns: u64,
    /// Lines in which the kernel reported damage.
    pub kernel_messages: u32,
    /// What is wrong, in words; empty where nothing is.
    pub words: String,
}

impl ApplicationFindings {
    /// Whether the data are not whole, acknowledged work is lost, or nothing could be checked.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.is_whole != Some(true) || self.lost.unwrap_or(0) > 0
    }
}

/// Holds what was seen in a state against the work that led to it.
#[must_use]
pub fn judge_application(
    work: &ApplicationWork,
    state: &CrashState,
    seen: &ApplicationSeen,
) -> ApplicationFindings {
    let acknowledged = work.acknowledged_at(state.at_ns);
    let check = seen.check.as_ref();
    let passed = check.filter(|check| check.passes());
    let found = passed.and_then(|check| check.found);
    let there = found.map(|found| usize::try_from(found).unwrap_or(usize::MAX).min(acknowledged));
    let oldest = there.filter(|there| *there < acknowledged).map(|there| &work.acknowledged[there]);
    let words = match check {
        None => {
            let errno = seen.mounts.last().and_then(|mount| mount.errno).unwrap_or(0);
            let told = seen.kernel_messages.first().map_or("", String::as_str);
            format!("it could not be mounted (error {errno}) {told}").trim_end().to_owned()
        }
        Some(check) if passed.is_none() => {
            let what = if check.found.is_none() && check.ending == super::Ending::Code(0) {
                "the check printed no line `found N`".to_owned()
            } else {
                format!("the check failed ({})", check.ending)
            };
            if check.output.is_empty() { what } else { format!("{what}: {}", check.output) }
        }
        Some(_) => match (there, oldest) {
            (Some(there), Some(_)) => {
                format!("{there} of {acknowledged} acknowledged units are there")
            }
            _ => String::new(),
        },
    };
    ApplicationFindings {
        at_ns: state.at_ns,
        class: state.class,
        mounted: seen.mounted(),
        acknowledged: acknowledged as u64,
        is_whole: check.map(|_| passed.is_some()),
        lost: there.map(|there| (acknowledged - there) as u64),
        // Units of a record that a guest made up may be in no order.
        lost_age_ns: oldest.map_or(0, |unit| state.at_ns.saturating_sub(unit.at_ns)),
        kernel_messages: u32::try_from(seen.kernel_messages.len()).unwrap_or(u32::MAX),
        words,
    }
}

/// The figures of one class of states.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApplicationFigures {
    pub runs: u32,
    pub crash_points: u64,
    /// Crash points at which it could be mounted without a repair.
    pub mounted: Share,
    /// Crash points at which the check did not pass, of those at which it was run.
    pub check_failed: Share,
    /// Crash points at which acknowledged work is lost, of those at which the check passed.
    pub lost_points: Share,
    /// Acknowledged units that are lost, of all, at those crash points together.
    pub lost_units: Share,
    /// Most of them at one crash point.
    pub lost_units_max: u64,
    /// Age of the oldest lost unit, over crash points.
    pub lost_age_max_ns: u64,
}

/// Figures of each class among the findings of runs, in the order of classes. A run without states
/// of a class is none of its runs.
///
/// # Errors
/// Options out of their range.
pub fn application_figures(
    runs: &[Vec<ApplicationFindings>],
    options: &FigureOptions,
) -> Result<Vec<(Class, ApplicationFigures)>, SampleError> {
    let mut classes: BTreeMap<Class, Vec<Vec<&ApplicationFindings>>> = BTreeMap::new();
    for findings in runs {
        let mut of_run: BTreeMap<Class, Vec<&ApplicationFindings>> = BTreeMap::new();
        for found in findings {
            of_run.entry(found.class).or_default().push(found);
        }
        for (class, findings) in of_run {
            classes.entry(class).or_default().push(findings);
        }
    }
    let of_class = |(class, runs): (Class, Vec<Vec<&ApplicationFindings>>)| {
        Ok((class, class_figures(&runs, options)?))
    };
    classes.into_iter().map(of_class).collect()
}

fn class_figures(
    runs: &[Vec<&ApplicationFindings>],
    options: &FigureOptions,
) -> Result<ApplicationFigures, SampleError> {
    // Hits and number at a crash point, summed for each run.
    let share = |count: &dyn Fn(&ApplicationFindings) -> (u64, u64)| {
        let sum = |run: &Vec<&ApplicationFindings>| {
            let counted = run.iter().map(|found| count(found));
            counted.fold((0_u64, 0_u64), |(hits, of), (more, of_more)| {
                (hits.saturating_add(more), of.saturating_add(of_more))
            })
        };
        share_of(&runs.iter().map(sum).collect::<Vec<_>>(), options)
    };
    let all = || runs.iter().flatten();
    Ok(ApplicationFigures {
        runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        crash_points: all().count() as u64,
        mounted: share(&|found| ((found.mounted == Some(MountStep::ReadWrite)).into(), 1))?,
        check_failed: share(&|found| match found.is_whole {
            None => (0, 0),
            Some(is_whole) => ((!is_whole).into(), 1),
        })?,
        lost_points: share(&|found| match found.lost {
            None => (0, 0),
            Some(lost) => ((lost > 0).into(), 1),
        })?,
        lost_units: share(&|found| found.lost.map_or((0, 0), |lost| (lost, found.acknowledged)))?,
        lost_units_max: all().filter_map(|found| found.lost).max().unwrap_or(0),
        lost_age_max_ns: all().map(|found| found.lost_age_ns).max().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::super::work::{Acknowledged, CheckRun, Ending};
    use super::*;
    use crate::observation::MountAttempt;
    use crate::state::Sampling;
    use crate::survivors::Survivors;
    use proptest::prelude::*;

    fn work(units: u64) -> ApplicationWork {
        let unit = |number: u64| Acknowledged { at_ns: number * 10, line: number.to_string() };
        ApplicationWork {
            acknowledged: (1..=units).map(unit).collect(),
            begin_ns: 0,
            end_ns: 1000,
            mount_options: String::new(),
            fault: None,
        }
    }

    fn state(at_ns: u64) -> CrashState {
        CrashState {
            at_ns,
            count: 0,
            class: Class::Dropall,
            sampling: Sampling::Uniform,
            survivors: Survivors::None,
            in_flight: Vec::new(),
            torn: None,
            contents: 0,
        }
    }

    fn seen(errno: Option<i32>, check: Option<(Ending, Option<u64>)>) -> ApplicationSeen {
        let mounts =
            vec![MountAttempt { step: MountStep::ReadWrite, errno, began_ns: 0, duration_ns: 1 }];
        let check = check.map(|(ending, found)| CheckRun {
            ending,
            found,
            output: "row 7 is bad".to_owned(),
        });
        ApplicationSeen { mounts, check, ..ApplicationSeen::default() }
    }

    fn judged(at_ns: u64, seen: &ApplicationSeen) -> ApplicationFindings {
        judge_application(&work(10), &state(at_ns), seen)
    }

    #[test]
    fn whole_lost_broken_and_unmountable_are_told_apart() {
        let passed = |found| seen(None, Some((Ending::Code(0), Some(found))));
        let whole = judged(55, &passed(5));
        assert!(!whole.is_broken() && whole.words.is_empty(), "{whole:?}");
        assert_eq!((whole.acknowledged, whole.lost, whole.lost_age_ns), (5, Some(0), 0));
        assert!(!judged(55, &passed(6)).is_broken(), "a unit that was being acknowledged");
        let lost = judged(55, &passed(2));
        assert_eq!((lost.is_whole, lost.lost, lost.lost_age_ns), (Some(true), Some(3), 25));
        assert_eq!(lost.words, "2 of 5 acknowledged units are there");
        let broken = judged(55, &seen(None, Some((Ending::Code(1), Some(5)))));
        assert_eq!((broken.is_whole, broken.lost), (Some(false), None));
        assert_eq!(broken.words, "the check failed (exit code 1): row 7 is bad");
        let silent = judged(55, &seen(None, Some((Ending::Code(0), None))));
        assert!(silent.is_broken() && silent.words.contains("no line `found N`"), "{silent:?}");
        let none = judged(55, &seen(Some(117), None));
        assert_eq!((none.is_whole, none.mounted, none.is_broken()), (None, None, true));
        assert_eq!(none.words, "it could not be mounted (error 117)");
    }

    #[test]
    fn units_in_no_order_are_judged_all_the_same() {
        let mut work = work(10);
        work.acknowledged[1].at_ns = 1000;
        let seen = seen(None, Some((Ending::Code(0), Some(1))));
        assert_eq!(judge_application(&work, &state(55), &seen).lost_age_ns, 0);
    }

    #[test]
    fn figures_count_units_where_the_check_passed_alone() {
        let run = |found: u64| {
            vec![
                judged(55, &seen(None, Some((Ending::Code(0), Some(found))))),
                judged(80, &seen(None, Some((Ending::Signal(11), None)))),
                judged(90, &seen(Some(5), None)),
            ]
        };
        let runs: Vec<_> = (0..10).map(|number| run(number % 6)).collect();
        let all = application_figures(&runs, &FigureOptions::default()).unwrap();
        let [(Class::Dropall, found)] = all.as_slice() else { panic!("{all:?}") };
        let of = |share: &Share| (share.hits, share.of);
        assert_eq!((found.runs, found.crash_points), (10, 30));
        assert_eq!(of(&found.mounted), (20, 30));
        assert_eq!(of(&found.check_failed), (10, 20));
        // Found 0 to 5 and 0 to 3 of 5 each: 15 and 14 are lost.
        assert_eq!(of(&found.lost_units), (29, 50));
        assert_eq!(of(&found.lost_points), (9, 10));
        assert_eq!((found.lost_units_max, found.lost_age_max_ns), (5, 45));
    }

    proptest! {
        /// What is lost and what is there are together what was acknowledged.
        #[test]
        fn nothing_is_lost_twice(at_ns in 0_u64..200, found in 0_u64..20) {
            let one = judged(at_ns, &seen(None, Some((Ending::Code(0), Some(found)))));
            let lost = one.lost.unwrap();
            prop_assert_eq!(lost, one.acknowledged.saturating_sub(found));
            prop_assert_eq!(lost > 0, one.is_broken());
            prop_assert_eq!(one.words.is_empty(), lost == 0);
            prop_assert!(one.lost_age_ns <= at_ns && (lost > 0 || one.lost_age_ns == 0));
        }
    }
}
