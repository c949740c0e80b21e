//! Which trials of a plan can be done by programs of i386: those whose work such programs do, where
//! this machine has them and can start them.

use crate::available::{leave_unscheduled, programs};
use fsarena_model::factor::has_i386_programs;
use fsarena_model::run::{NotRun, RunPlan};

/// Programs of i386, as a plan has to know them.
pub trait I386Programs {
    /// Why none can be started here; nothing where they can.
    fn missing(&self) -> Option<String>;
    /// Whether there is one of this name.
    fn has(&self, program: &str) -> bool;
}

/// Takes out of `plan` what programs of i386 were to do and cannot, each with its reason.
pub fn drop_without_i386(plan: &mut RunPlan, i386: &dyn I386Programs) {
    let contenders = plan.contenders.iter().enumerate();
    let asked: Vec<usize> = contenders
        .filter(|(_, contender)| has_i386_programs(&contender.levels))
        .map(|(index, _)| index)
        .collect();
    let is_out = |plan: &RunPlan, index: usize| {
        plan.not_run.iter().any(|row| row.contender == index && row.workload.is_none())
    };
    for contender in asked {
        if is_out(plan, contender) {
            continue;
        }
        if let Some(reason) = i386.missing() {
            plan.not_run.push(NotRun { contender, workload: None, reason });
            continue;
        }
        for index in 0..plan.workloads.len() {
            if let Some(reason) = why_not(plan, index, i386) {
                plan.not_run.push(NotRun { contender, workload: Some(index), reason });
            }
        }
    }
    leave_unscheduled(plan);
}

/// Why programs of i386 do not do the work of a workload.
fn why_not(plan: &RunPlan, workload: usize, i386: &dyn I386Programs) -> Option<String> {
    let needed = programs(&plan.workloads[workload]);
    if needed.is_empty() {
        return Some("no program does its work, which has no other width then".to_owned());
    }
    let mut missing: Vec<&str> = needed.iter().map(|(name, _)| *name).collect();
    missing.retain(|name| !i386.has(name));
    missing.dedup();
    (!missing.is_empty()).then(|| format!("there is no {} of i386", missing.join(", no ")))
}

/// Whether a trial that is left is done by programs of i386.
#[must_use]
pub fn has_i386_trials(plan: &RunPlan) -> bool {
    let is_one = |contender: usize| has_i386_programs(&plan.contenders[contender].levels);
    plan.schedule.iter().any(|slot| is_one(slot.contender))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DriverRules;
    use fsarena_plan::{Overrides, expand, parse};

    struct Some3(Option<&'static str>);

    impl I386Programs for Some3 {
        fn missing(&self) -> Option<String> {
            self.0.map(str::to_owned)
        }
        fn has(&self, program: &str) -> bool {
            ["tar", "gzip", "flac"].contains(&program)
        }
    }

    fn plan() -> RunPlan {
        let text = "schema = 1\nname = \"w\"\n[factors]\nfs = \"tmpfs\"\n\
                    device = \"loop:2G\"\nprograms = [\"native\", \"i386\"]\n\
                    [[workload]]\nname = \"music\"\ndataset = \"wav-5\"\nphases = [\"flac\"]\n\
                    [[workload]]\nname = \"ogg\"\ndataset = \"wav-5\"\nphases = [\"ogg\"]\n\
                    [[workload]]\nname = \"small\"\nfiles = 1000\nsize = \"4 KiB\"\n\
                    phases = [\"create\"]\n";
        let experiment = parse(text, "w.toml").unwrap();
        expand(&experiment, &Overrides::default(), &DriverRules::default()).unwrap()
    }

    #[test]
    fn what_such_programs_cannot_do_is_left_out_with_its_reason() {
        let mut plan = plan();
        assert!(has_i386_trials(&plan));
        drop_without_i386(&mut plan, &Some3(None));
        let rows: Vec<(usize, Option<usize>, &str)> = plan
            .not_run
            .iter()
            .map(|row| (row.contender, row.workload, row.reason.as_str()))
            .collect();
        assert_eq!(
            rows,
            [
                (1, Some(1), "there is no oggenc of i386"),
                (1, Some(2), "no program does its work, which has no other width then"),
            ]
        );
        let left = |contender: usize| {
            let own = plan.schedule.iter().filter(|slot| slot.contender == contender);
            own.map(|slot| slot.workload).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!((left(0), left(1)), (3, 1));
    }

    #[test]
    fn without_them_a_contender_is_left_out() {
        let mut plan = plan();
        drop_without_i386(&mut plan, &Some3(Some("fsarena programs add i386")));
        assert_eq!(plan.not_run.len(), 1);
        assert_eq!(plan.not_run[0].reason, "fsarena programs add i386");
        assert!(!has_i386_trials(&plan) && !plan.schedule.is_empty());
    }
}
