//! The program as its users meet it: started, stopped, killed and fed with nonsense.
//!
//! Each test has a directory of its own with database, state and images, and ends with the proof
//! that nothing else was left on the machine. Tests of modules named `loop_…` and `fuse_…` need
//! root and are serial; the others work in directories or are refused before anything is made.
//! Here: `fsarena selftest honesty` on stored tapes, and what it refuses.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod advise;
mod article;
mod bad_database;
mod bad_input;
mod bad_mixtures;
mod bad_verdicts;
mod bundle;
mod clients;
mod compare_missing;
mod dataset;
mod device_models;
mod everyday;
mod faulty_hosts;
mod fleet;
mod foreign;
mod foreign_commands;
mod fuse_external;
mod history;
mod kernel;
mod loop_account;
mod loop_age;
mod loop_alone_memory_devices;
mod loop_alone_queue;
mod loop_alone_watch;
mod loop_answer;
mod loop_bad_input;
mod loop_crash;
mod loop_cycle;
mod loop_device_safety;
mod loop_devices;
mod loop_disturbances;
mod loop_engine;
mod loop_external;
mod loop_fio;
mod loop_frozen;
mod loop_io_errors;
mod loop_levels;
mod loop_measuring;
mod loop_old_database;
mod loop_parameters;
mod loop_programs;
mod loop_programs_articles;
mod loop_programs_bad;
mod loop_programs_i386;
mod loop_programs_own;
mod loop_programs_stage;
mod loop_raw;
mod loop_resume;
mod loop_run;
mod loop_several_devices;
mod loop_spool;
mod loop_vdisk;
mod loop_verdict;
mod loop_verdict_resume;
mod machine_faults;
mod merge;
mod over_time;
mod plain_directory;
mod programs;
mod programs_bad;
mod ranks;
mod refused_alike;
mod rendezvous;
mod scaling;
mod sudo_outputs;
mod support;
mod virtual_crash;
mod virtual_crash_application;
mod virtual_crash_medium_errors;
mod virtual_crash_run;
mod virtual_crash_sequences;
mod virtual_golden;
mod virtual_trials;
mod watch;
mod written_files;

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_model::run::RunHeader;
use fsarena_store::{Owner, Store};
use fsarena_testkit::records;

/// Stores a RUN of `blocks` trials a contender. Phases take a second, give or take a few percent
/// that follow no pattern.
fn store_tape(env: &TestEnv, contenders: &[&str], blocks: u32) -> RunHeader {
    let contenders = contenders.iter().map(|label| records::contender(label, label, 1)).collect();
    let mut header = records::header(contenders, vec![records::small_files()], blocks);
    header.uid = format!("{:016x}", blocks + 7);
    let store = Store::open(&env.db()).unwrap();
    let owner = Owner { pid: 1, start_ticks: 0, boot_id: "another boot".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    for sequence in 0..u32::try_from(header.plan.schedule.len()).unwrap() {
        let mut record = records::record(&header, sequence);
        for (place, phase) in record.phases.iter_mut().enumerate() {
            let seed =
                header.plan.seed.child("value", u64::from(sequence)).child("phase", place as u64);
            phase.clocks.durable_ns = Some(1_000_000_000 + seed.rng().below(60_000_000));
        }
        store.put_record(run, &record).unwrap();
    }
    store.set_state(run, fsarena_model::run::RunState::Done, None).unwrap();
    header
}

#[test]
fn a_stored_tape_is_replayed() {
    let env = TestEnv::new();
    store_tape(&env, &["ext4"], 130);
    let args = ["selftest", "honesty", "--tape", "1", "--replays", "20"];
    let ran = env.run(&args).good();
    let ran = ran.says(&["RUN 1: small-files, create", "RUN 1: small-files, delete", "130 trials"]);
    ran.says(&["fsarena", "mean of 3, > 2 %", "benchstat-like", "false verdicts in 20"]);
    let json = |more: &[&str]| env.run(&[&args[..], &["--json"], more].concat()).good().json();
    let once = json(&[]);
    assert_eq!(once["kind"], "honesty");
    assert_eq!(once["tapes"].as_array().unwrap().len(), 3);
    let tape = &once["tapes"][0];
    assert_eq!((tape["tape"]["trials"].as_u64(), tape["starts"].as_u64()), (Some(130), Some(67)));
    assert_eq!(tape["rules"][0]["key"], "fsarena");
    assert_eq!(tape["rules"][0]["effects"][0]["factor"], 1.0);
    assert_eq!(once, json(&[]), "the same seed gives the same figures");
    assert_ne!(once, json(&["--seed", "2"]));
    assert_eq!(json(&["--margin", "5%"])["tapes"][0]["margin"], 0.05);
    assert_nothing_left(&env);
}

#[test]
fn what_is_no_tape_is_refused() {
    let env = TestEnv::new();
    let tape = ["selftest", "honesty", "--replays", "20", "--tape", "latest"];
    env.run(&tape).code(2).says(&["no database yet"]);
    store_tape(&env, &["ext4"], 100);
    env.run(&tape).code(2).says(&["RUN 1, small-files, create: 100 trials, and 128 are needed"]);
    store_tape(&env, &["ext4", "xfs"], 60);
    env.run(&tape).code(2).says(&["RUN 2: 60 complete blocks, and 64 are needed"]);
    env.run(&[&tape[..], &["--tape", "1"]].concat()).code(2).says(&["in two calls"]);
    let power = ["selftest", "honesty", "--power", "--tape", "1"];
    env.run(&power).code(2).says(&["--power", "one contender"]);
    assert_nothing_left(&env);
}

#[test]
fn a_stored_tape_of_several_contenders_is_played_by_whole_runs() {
    let env = TestEnv::new();
    store_tape(&env, &["ext4", "xfs", "btrfs"], 70);
    let args = ["selftest", "honesty", "--tape", "1", "--replays", "3"];
    let ran = env.run(&args).good();
    let ran = ran.says(&["RUN 1: ext4, xfs, btrfs (durable)", "70 complete blocks"]);
    let ran =
        ran.says(&["each against a baseline", "all pairs", "own noise, equal over the session"]);
    ran.says(&["looks, cap 32", "budget at 5", "quick", "--runs 4", "pairs found", "exchangeable"]);
    let json = |more: &[&str]| env.run(&[&args[..], &["--json"], more].concat()).good().json();
    let once = json(&[]);
    assert_eq!(once["kind"], "honesty-families");
    let tape = &once["tapes"][0];
    assert_eq!((tape["starts"].as_u64(), tape["margin"].as_f64()), (Some(39), Some(0.05)));
    assert_eq!(tape["scenarios"][0]["pairs"], "baseline");
    assert_eq!(tape["scenarios"][0]["rules"][0]["rule"], "looks");
    assert_eq!(once, json(&[]), "the same seed gives the same figures");
    assert_nothing_left(&env);
}

#[test]
fn what_quick_finds_on_a_stored_tape() {
    let env = TestEnv::new();
    store_tape(&env, &["ext4", "xfs", "btrfs"], 70);
    let args =
        ["selftest", "honesty", "--tape", "1", "--replays", "20", "--power", "--fit", "4..12"];
    let ran = env.run(&args).good();
    let ran = ran.says(&["The rule of quick: 3 contenders", "one look after 12 blocks"]);
    ran.says(&[
        "+10 % is found in 100 % of pairs",
        "What the noise is made of",
        "seconds to verdict",
    ]);
    let four = env.run(&[&args[..], &["--blocks", "4", "--json"]].concat()).good().json();
    assert_eq!(four["kind"], "honesty-power");
    assert_eq!(
        (&four["tapes"][0]["blocks"], &four["tapes"][0]["rule"]),
        (&4.into(), &"runs-4".into())
    );
    assert_nothing_left(&env);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_recorded() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let with = |more: &[&str]| env.run(&[&["selftest", "honesty"], more].concat()).code(2);
    with(&["--on", &target, "--runs", "127"]).says(&["--runs 127", "needs 128 trials"]);
    with(&["--on", &target, "--margin", "0%"]).says(&["--margin 0%"]);
    with(&["--on", &target, "--margin", "much"]).says(&["--margin much"]);
    with(&["--on", &target, "--replays", "0"]).says(&["--replays"]);
    with(&["--tape", "1", "--runs", "200"]).says(&["cannot be used with"]);
    with(&["--fs", "ext4,xfs", "--runs", "63"]).says(&["--runs 63", "needs 64 blocks"]);
    with(&["--on", &target, "--power"]).says(&["--power", "several file systems"]);
    with(&["--blocks", "8"]).says(&["--power"]);
    with(&["--power", "--blocks", "33"]).says(&["--blocks"]);
    with(&["--tape", "1", "--fit", "12..4"]).says(&["--fit", "the smaller one first"]);
    assert!(!env.db().exists(), "something was recorded");
    assert_nothing_left(&env);
}
