//! The life of a trial, step by step: a promise to users.

use crate::rules::{file, ops_per_trial, plan};
use fsarena_model::contender::Levels;
use fsarena_model::cycle::{Cycle, Disturb, Load, Overrun, Shares};
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::spec::Step;
use fsarena_plan::{builtin, steps};

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
    chill
    measure(big-write)
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
        assert!(levels.warm_reason().is_some());
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
    chill
    measure(create)
    chill
    verify
    chill
    measure(delete)
    teardown
    "#);
    small.phases.truncate(1);
    insta::assert_snapshot!(life(&small, &cold, true), @r#"
    reset
    mount
    make-dirs
    chill
    measure(create)
    chill
    verify
    teardown
    "#);
}

#[test]
fn contents_are_never_checked_in_the_page_cache() {
    let small = builtin::workload("small-files").unwrap();
    let big = builtin::workload("big-file").unwrap();
    let warm = levels("fs = \"ext4\"\ndevice = \"loop:2G\"\ncache = \"warm\"");
    for work in [&small, &big] {
        let life = life(work, &warm, true);
        assert!(life.contains("chill\nverify"), "{life}");
        assert_eq!(life.matches("chill").count(), 1, "{life}");
    }
    let memory = levels("fs = \"tmpfs\"\ndevice = \"loop:2G\"");
    assert!(life(&big, &memory, true).contains("settle\nverify"));
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
    chill
    measure(big-read)
    teardown
    "#);
    assert_eq!(ops_per_trial(&big), 512, "with the preparation");
    big.phases[0].timed = false;
    assert!(life(&big, &cold, false).contains("prepare(big-read)"));
}

fn work(text: &str) -> Workload {
    let text = file("fs = \"ext4\"\ndevice = \"loop:2G\"").replace("use = \"small-files\"", text);
    match plan(&text) {
        Ok(plan) => plan.workloads[0].clone(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn directories_are_made_once() {
    let cold = levels("fs = \"ext4\"\ndevice = \"loop:2G\"");
    let set = "name = \"w\"\nfiles = 10\nsize = 1\ndirs = 2\n";
    let made = work(&format!("{set}phases = [\"mkdir\", \"create\", \"delete\", \"rmdir\"]"));
    insta::assert_snapshot!(life(&made, &cold, true), @r#"
    reset
    mount
    chill
    measure(mkdir)
    chill
    measure(create)
    chill
    verify
    chill
    measure(delete)
    chill
    measure(rmdir)
    teardown
    "#);
    let listed = work(&format!("{set}phases = [\"list\", \"rename\", \"append\"]"));
    insta::assert_snapshot!(life(&listed, &cold, true), @r#"
    reset
    mount
    make-dirs
    prepare(prepare)
    chill
    measure(list)
    chill
    measure(rename)
    chill
    measure(append)
    chill
    verify
    teardown
    "#);
    let empty = work("name = \"w\"\ndirs = 2\nphases = [\"list\", \"rmdir\"]");
    insta::assert_snapshot!(life(&empty, &cold, true), @r#"
    reset
    mount
    make-dirs
    chill
    measure(list)
    chill
    measure(rmdir)
    teardown
    "#);
}

#[test]
fn the_null_backend_finds_and_leaves_nothing() {
    let cold = levels("fs = \"ext4\"\ndevice = \"loop:2G\"");
    let set = "name = \"w\"\nfiles = 10\nsize = 1\ndirs = 2\nbackend = \"null\"";
    let null = work(&format!("{set}\nphases = [\"read\", \"delete\"]"));
    insta::assert_snapshot!(life(&null, &cold, true), @r#"
    reset
    mount
    chill
    measure(read)
    chill
    measure(delete)
    teardown
    "#);
}

#[test]
fn fio_lays_out_what_a_phase_needs_just_before_it() {
    let jobs = "[a]\nrw=write\nsize=1m\nfilename=x\n[b]\nstonewall\nrw=read\nsize=1m\n";
    let fio = work(&format!("name = \"w\"\nfio = \"\"\"\n{jobs}\"\"\""));
    assert_eq!(fio.dataset.bytes(), 2 << 20);
    let cold = levels("fs = \"ext4\"\ndevice = \"loop:2G\"");
    insta::assert_snapshot!(life(&fio, &cold, true), @r#"
    reset
    mount
    chill
    measure(a)
    prepare(b)
    chill
    measure(b)
    teardown
    "#);
}

#[test]
fn files_for_random_calls_are_written_in_large_ones() {
    let cold = levels("fs = \"ext4\"\ndevice = \"loop:2G\"");
    let work = builtin::workload("fsync-latency").unwrap();
    let prepare = steps(&work, &cold, false).into_iter().find_map(|step| match step {
        Step::Prepare { phase } => Some(phase),
        _ => None,
    });
    let prepare = prepare.expect("a first phase that needs the file");
    assert_eq!((prepare.op.name(), prepare.bs_bytes, prepare.timed), ("big-write", 1 << 20, false));
    assert!(prepare.io.is_default());
}

#[test]
fn what_a_second_load_needs_is_made_before_the_caches_are_dropped() {
    let load = Load::Read { size_bytes: 1 << 20, bs_bytes: 4096, rate_bytes: 0 };
    let mut cycle = Cycle {
        cycles: 3,
        period_ns: 1_000_000_000,
        overrun: Overrun::Skip,
        updates: 10,
        shares: Shares { in_place: 1, truncate: 0, replace: 0, recreate: 0, temporary: 0 },
        disturb: Some(Disturb { load, cycles: vec![2] }),
    };
    let cold = levels("fs = \"ext4\"\ndevice = \"loop:2G\"");
    let mut small = builtin::workload("small-files").unwrap();
    small.phases = vec![Phase::of_cycles("cycle", cycle.clone(), 4096)];
    insta::assert_snapshot!(life(&small, &cold, false), @r#"
    reset
    mount
    make-dirs
    prepare(prepare)
    prepare(cycle)
    chill
    measure(cycle)
    teardown
    "#);
    let steps = steps(&small, &cold, false);
    let Some(Step::Prepare { phase }) = steps.get(4) else { panic!("{steps:?}") };
    assert_eq!(phase.cycle.as_ref().map(|cycle| cycle.cycles), Some(0), "it only makes its files");
    cycle.disturb = None;
    small.phases = vec![Phase::of_cycles("cycle", cycle, 4096)];
    assert!(!life(&small, &cold, false).contains("prepare(cycle)"));
}
