//! RUNs with looks that are interrupted and go on: the blocks and looks of the plan, as if nothing
//! had happened, and no trial twice.

use crate::support::{Course, Live, NEVER_SAME, TestEnv, assert_nothing_left, sh, tool};
use fsarena_model::run::RunState;
use fsarena_model::verdict::{Stop, StopWhy};
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::path::Path;

/// Nothing is decided between two equal contenders: noise can feign a difference in one phase,
/// hardly in all three before the last look.
fn equal(env: &TestEnv) -> String {
    let run = format!("cap = 8\n{NEVER_SAME}");
    env.known(&run, "fs = [\"ext4\", \"ext4\"]", &["create", "read", "stat"])
}

/// Ends the RUN in trial number `trial`, of two in each block.
#[track_caller]
fn end_in(live: &mut Live<'_>, trial: u32, end: fn(&Live<'_>)) {
    live.wait_for(&format!("[{trial}/"));
    end(live);
}

/// Every block of the cap was done once with both contenders, and looked at where it was due.
#[track_caller]
fn whole(env: &TestEnv) -> Course {
    let course = env.course();
    assert_eq!(course.stop, Some(Stop { blocks: 8, why: StopWhy::Cap }));
    assert_eq!(course.looks, [4, 6, 8]);
    let all: Vec<u32> = (0..8).collect();
    assert_eq!(course.done(), [("ext4#1", all.clone()), ("ext4#2", all)].into());
    assert_eq!(env.runs()[0].state, RunState::Done);
    let document = env.studied(1);
    assert_eq!(document["agrees_with_stored_looks"], json!(true));
    assert_eq!(document["stop"], json!({ "blocks": 8, "why": "cap" }));
    for question in document["questions"].as_array().unwrap() {
        assert_eq!(question["looks"], json!([4, 6, 8]));
        assert!(question["rows"].as_array().unwrap().iter().all(|row| row["n"] == json!(8)));
    }
    let words =
        ["Recomputed decisions match the stored ones", "ended with the last block of the plan"];
    env.run(&["study"]).good().says(&words);
    env.run(&["run", "--resume=1"]).refused(2, &["RUN 1 is done"]);
    course
}

/// Killed before the first look, and again after it, in block 5.
#[test]
fn killed_before_and_after_a_look() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let file = equal(&env);
    let mut live = env.start(&["run", &file]);
    end_in(&mut live, 5, |live| live.kill_tree());
    assert_eq!(live.end().code, None);
    env.run(&["list"]).good().says(&["interrupted"]);
    assert_nothing_left(&env);
    let before = env.course();
    assert_eq!((before.attempts.len(), before.looks.len(), before.stop), (4, 0, None));
    assert_eq!(env.studied(1)["agrees_with_stored_looks"], json!(null));
    let mut live = env.start(&["run", "--resume"]);
    end_in(&mut live, 9, |live| live.signal(Signal::KILL));
    let ran = live.end();
    assert_eq!(ran.code, None);
    assert!(ran.stderr.contains("[5/") && !ran.stderr.contains("[4/"), "{}", ran.stderr);
    let studied = env.studied(1);
    assert_eq!(studied["agrees_with_stored_looks"], json!(true), "after the look at four blocks");
    assert_eq!(studied["stop"], json!(null));
    assert_eq!(studied["questions"][0]["looks"], json!([4]));
    assert_nothing_left(&env);
    env.run(&["run", "--resume=1"]).good();
    let course = whole(&env);
    assert_eq!(course.attempts.len(), 16, "what was killed has no record");
    assert_nothing_left(&env);
}

/// Stopped by Ctrl-C before the first look: nothing is said until it went on.
#[test]
fn ctrl_c_before_a_look() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let file = equal(&env);
    let mut live = env.start(&["run", &file, "--require-decision"]);
    end_in(&mut live, 5, |live| live.signal_group(Signal::INT));
    live.end().code(130).says(&["interrupted; the trials that were done are stored"]);
    assert_nothing_left(&env);
    for look in [&["show"][..], &["study"], &["show", "--raw"], &["study", "--all-pairs"]] {
        env.run(look).good().says(&["UNDECIDED", "not looked at yet", "few / stat"]);
    }
    env.run(&["study", "--require-decision"]).code(4);
    let studied = env.studied(1);
    assert_eq!(studied["stop"], json!(null));
    let pair = &studied["questions"][0]["pairs"][0];
    assert_eq!(
        (&pair["verdict"], &pair["why"]),
        (&json!("UNDECIDED"), &json!("not looked at yet"))
    );
    assert_eq!((&pair["low"], &pair["at_blocks"]), (&json!(null), &json!(0)));
    let before = env.course();
    assert_eq!((before.looks.len(), before.stop), (0, None));
    env.run(&["run", "--resume"]).good().says(&["resuming RUN 1 (known)", "after 8 blocks"]);
    let course = whole(&env);
    let again = course.attempts.len() - 16;
    assert!(again <= 1, "the one trial that was interrupted");
    assert_nothing_left(&env);
}

/// Stopped by Ctrl-C in block 5. The look before it was lost, as where a process dies between a
/// look and its storing: it is stored by the next, and one that says something else is noticed.
#[test]
fn ctrl_c_after_a_look() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(sqlite) = tool("sqlite3") else { return };
    let file = equal(&env);
    let mut live = env.start(&["run", &file]);
    end_in(&mut live, 10, |live| live.signal_group(Signal::INT));
    live.end().code(130).says(&["after 4 blocks:"]);
    let before = env.course();
    assert_eq!((before.looks.as_slice(), before.stop), (&[4][..], None));
    assert_eq!(env.studied(1)["agrees_with_stored_looks"], json!(true));
    let sql = |db: &Path, text: &str| sh(&format!("{sqlite} {} \"{text}\"", db.display()));
    let other = env.path("other.db");
    fs::copy(env.db(), &other).unwrap();
    let same = "SELECT look.id, 99, question.id, 1, 2, 'SAME' FROM look, question LIMIT 1";
    sql(&other, &format!("DELETE FROM decision; INSERT INTO decision {same}"));
    let path = other.display().to_string();
    let study = ["study", "--db", &path];
    env.run(&study).code(1).says(&["recomputed decisions of RUN 1 do not match the stored ones"]);
    let document = env.run(&[&study[..], &["--json"]].concat()).code(1).json();
    assert_eq!(document["agrees_with_stored_looks"], json!(false));
    sql(&env.db(), "DELETE FROM decision; DELETE FROM look");
    assert_eq!(env.studied(1)["agrees_with_stored_looks"], json!(null));
    let ran = env.run(&["run", "--resume"]).good().says(&["after 6 blocks:"]);
    assert!(!ran.stderr.contains("after 4 blocks"), "{}", ran.stderr);
    whole(&env);
    assert_nothing_left(&env);
}

/// Killed between the end of its blocks and its last word, with blocks in the plan that its budget
/// did not allow: these are not begun.
#[test]
fn a_run_that_has_ended_is_not_extended() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(sqlite) = tool("sqlite3") else { return };
    let factors = "fs = \"ext4\"\nhandicap = [\"600 ms\", \"700 ms\"]";
    let file = env.known("budget = \"1 s\"", factors, &["create"]);
    env.run(&["run", &file]).good();
    let before = (env.records(1), env.studied(1));
    sh(&format!("{sqlite} {} \"UPDATE run SET state = 'interrupted'\"", env.db().display()));
    let ran = env.run(&["run", "--resume"]).good();
    assert!(!ran.stderr.contains("few on ext4"), "{}", ran.stderr);
    assert_eq!(env.runs()[0].state, RunState::Done);
    let course = env.course();
    assert_eq!((course.attempts.len(), course.looks.len()), (1, 0));
    assert_eq!(course.stop, Some(Stop { blocks: 0, why: StopWhy::Budget }));
    assert_eq!((env.records(1), env.studied(1)), before);
    assert_nothing_left(&env);
}
