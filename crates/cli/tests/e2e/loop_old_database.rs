//! A database of an earlier schema that cannot be changed: it is shown, and stays as it is.

use crate::support::devices::Mounted;
use crate::support::{TestEnv, assert_nothing_left, sh};
use rusqlite::Connection;
use std::fs;

/// Makes a database one of schema 15.
fn make_old(path: &str) {
    let old = "DROP INDEX question_by_workload; DROP INDEX decision_by_a; DROP INDEX decision_by_b;
               DROP INDEX run_at_work; DROP INDEX run_listed; DROP TABLE score_figure;
               PRAGMA user_version = 15;";
    Connection::open(path).unwrap().execute_batch(old).unwrap();
}

#[test]
fn on_a_full_or_read_only_file_system() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    env.make_dir("target");
    let work = ["--runs", "1", "--on", "target", "--workload", "tiny-files", "--scale", "0.01"];
    env.run(&[&["run"], &work[..]].concat()).good();
    let dir = env.make_dir("small");
    let mounted = Mounted::at("-t tmpfs -o size=4M,mode=700 tmpfs", &dir);
    let db = format!("{dir}/old.db");
    fs::copy(env.db(), &db).unwrap();
    make_old(&db);
    let before = fs::read(&db).unwrap();
    let left_as_it_was = |words: &[&str]| {
        env.run(&["--db", &db, "list"]).good().says(&["tiny-files"]);
        env.run(&["--db", &db, "delete", "1", "--yes"]).refused(1, words);
        assert!(fs::read(&db).unwrap() == before, "the file was changed");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    };
    sh(&format!("dd if=/dev/zero of={dir}/ballast bs=4k status=none 2>&1 || true"));
    left_as_it_was(&["it has schema 15", "are needed to make it schema", "Nothing was changed"]);
    sh(&format!("truncate -s 0 {dir}/ballast && mount -o remount,ro {dir}"));
    left_as_it_was(&["readonly database", "--db"]);
    sh(&format!("mount -o remount,rw {dir}"));
    env.run(&["--db", &db, "delete", "1", "--yes"]).good();
    drop(mounted);
    assert_nothing_left(&env);
}
