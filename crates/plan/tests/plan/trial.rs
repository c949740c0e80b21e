//! The life of a trial, step by step: a promise to users.

use crate::rules::{file, plan};
use fsarena_model::contender::Levels;
use fsarena_model::spec::Step;
use fsarena_model::work::Workload;
use fsarena_plan::{builtin, ops_per_trial, steps, warm_reason};

fn levels(factors: &str) -> Levels {
    plan(&file(factors)).expect("a legal file").contenders[0].levels.clone()
}

fn life(workload: &Workload, levels: &Levels, verify: bool) -> String {
    let step = |step: &Step| match step {
        Step::Measure { phase } | Step::Prepare { phase } => {
            format!("{}({})", step.name(), phase.name)
        }
        _ => step.name().to_owned(),
    };
    steps(workload, levels, verify).iter().map(step).collect::<Vec<_>>().join("\n")
}

#[test]
fn cold_phases_are_chilled_each_and_warm_ones_never() {
    let big = builtin::workload("big-file").unwrap();
    let cold = levels("fs = \"ext4\"\ndevice = \"loop:2G\"");
    insta::assert_snapshot!(life(&big, &cold, false), @r#"
    reset
    mount
    settle
    chill
    measure(big-write)
    settle
    chill
    measure(big-read)
    teardown
    "#);
    let warm = levels("fs = \"ext4\"\ndevice = \"loop:2G\"\ncache = \"warm\"");
    insta::assert_snapshot!(life(&big, &warm, false), @r#"
    reset
    mount
    settle
    measure(big-write)
    settle
    measure(big-read)
    teardown
    "#);
    for factors in ["fs = \"tmpfs\"\ndevice = \"loop:2G\"", "device = \"/var/tmp\""] {
        let levels = levels(factors);
        assert_eq!(life(&big, &levels, false), life(&big, &warm, false));
        assert!(warm_reason(&levels).is_some());
        let unresolved = Levels { cache: fsarena_model::contender::Cache::Cold, ..levels };
        assert_eq!(life(&big, &unresolved, false), life(&big, &warm, false));
    }
}

#[test]
fn contents_are_checked_while_they_are_there() {
    let cold = levels("fs = \"ext4\"\ndevice = \"loop:2G\"");
    let mut small = builtin::workload("small-files").unwrap();
    small.phases.retain(|phase| ["create", "delete"].contains(&phase.name.as_str()));
    insta::assert_snapshot!(life(&small, &cold, true), @r#"
    reset
    mount
    make-dirs
    settle
    chill
    measure(create)
    settle
    chill
    verify
    settle
    chill
    measure(delete)
    teardown
    "#);
    small.phases.truncate(1);
    insta::assert_snapshot!(life(&small, &cold, true), @r#"
    reset
    mount
    make-dirs
    settle
    chill
    measure(create)
    settle
    chill
    verify
    teardown
    "#);
}

#[test]
fn what_a_first_phase_needs_is_made_for_it() {
    let cold = levels("fs = \"ext4\"\ndevice = \"loop:2G\"");
    let mut big = builtin::workload("big-file").unwrap();
    assert_eq!(ops_per_trial(&big), 512);
    big.phases.remove(0);
    insta::assert_snapshot!(life(&big, &cold, false), @r#"
    reset
    mount
    prepare(prepare)
    settle
    chill
    measure(big-read)
    teardown
    "#);
    assert_eq!(ops_per_trial(&big), 512, "with the preparation");
    big.phases[0].timed = false;
    assert!(life(&big, &cold, false).contains("prepare(big-read)"));
}
