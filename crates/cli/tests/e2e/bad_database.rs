//! A database that cannot be used: never overwritten, and every command says what to do.

use crate::support::{TestEnv, assert_nothing_left};
use std::fs;

/// A test environment whose database holds one RUN.
fn with_a_run() -> (TestEnv, Vec<&'static str>) {
    let env = TestEnv::new();
    env.make_dir("target");
    let work =
        vec!["run", "--runs", "1", "--on", "target", "--workload", "tiny-files", "--scale", "0.01"];
    env.run(&work).good();
    (env, work)
}

/// Every command refuses the database with these words and leaves it as it is, byte for byte.
#[track_caller]
fn refused_everywhere(env: &TestEnv, work: &[&str], words: &[&str]) {
    let before = fs::read(env.db()).unwrap();
    let dry = [work, &["--dry-run"]].concat();
    let shown = [&["list"][..], &["list", "--json"], &["show"], &["show", "1", "--json"]];
    let judged = [&["study"][..], &["study", "1", "--json"], &["compare", "1"]];
    for args in [&[work, &dry][..], &shown, &judged].concat() {
        env.run(args).refused(1, words);
        assert_eq!(fs::read(env.db()).unwrap(), before, "changed by {args:?}");
    }
    assert_eq!(fs::read_dir(env.path("target")).unwrap().count(), 0);
    assert_nothing_left(env);
}

#[test]
fn of_a_newer_schema() {
    let (env, work) = with_a_run();
    let mut bytes = fs::read(env.db()).unwrap();
    // "User version" of the SQLite file format: offset 60, 4 bytes, big-endian.
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(env.db(), bytes).unwrap();
    refused_everywhere(&env, &work, &["newer fsarena (schema 99", "another --db"]);
}

#[test]
fn cut_short() {
    let (env, work) = with_a_run();
    let bytes = fs::read(env.db()).unwrap();
    fs::write(env.db(), &bytes[..bytes.len() / 2]).unwrap();
    refused_everywhere(&env, &work, &["damaged", "nothing was changed", "--db"]);
}

#[test]
fn with_flipped_bytes() {
    let (env, work) = with_a_run();
    let mut bytes = fs::read(env.db()).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    for byte in bytes.iter_mut().skip(page).step_by(97) {
        *byte ^= 0x5a;
    }
    fs::write(env.db(), bytes).unwrap();
    refused_everywhere(&env, &work, &["damaged", "nothing was changed", "--db"]);
}

#[test]
fn that_is_none() {
    let (env, work) = with_a_run();
    fs::write(env.db(), "my notes about file systems\n".repeat(500)).unwrap();
    refused_everywhere(&env, &work, &["damaged", "not a database", "nothing was changed"]);
}

#[test]
fn of_another_program() {
    let (env, work) = with_a_run();
    let mut bytes = fs::read(env.db()).unwrap();
    // "Application ID" of the SQLite file format: offset 68, 4 bytes.
    bytes[68..72].copy_from_slice(&7u32.to_be_bytes());
    fs::write(env.db(), bytes).unwrap();
    refused_everywhere(&env, &work, &["not one of fsarena", "Use another --db"]);
}

#[test]
fn where_none_can_be() {
    let (env, work) = with_a_run();
    fs::write(env.path("file"), "").unwrap();
    let below_a_file = env.path("file/x.db").display().to_string();
    let run = env.run(&[&work[..], &["--db", &below_a_file]].concat());
    run.refused(1, &["--db"]);
    let a_directory = env.path("target").display().to_string();
    for args in [&work[..2], &["list"], &["show"]] {
        let args = [args, &["--db", &a_directory]].concat();
        if args[0] != "run" {
            env.run(&args).refused(1, &["--db"]);
        }
    }
    assert_nothing_left(&env);
}

/// A database that may only be read can still be shown.
#[test]
fn that_may_only_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let (env, work) = with_a_run();
    fs::set_permissions(env.db(), fs::Permissions::from_mode(0o444)).unwrap();
    env.run(&["list"]).good();
    env.run(&["show"]).good();
    if !crate::support::is_root() {
        env.run(&work).refused(1, &["--db"]);
    }
    assert_nothing_left(&env);
}

/// A hot journal of SQLite (a crash in the middle of a write) is rolled back, not shown.
#[test]
fn that_was_copied_while_it_was_empty() {
    let (env, work) = with_a_run();
    fs::write(env.db(), "").unwrap();
    env.run(&work).good();
    assert_eq!(env.runs().len(), 1, "an empty file is a new database");
    assert_nothing_left(&env);
}
