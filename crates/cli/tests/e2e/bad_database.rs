//! A database that cannot be used: never overwritten, and every command says what to do.

use crate::support::{Scene, assert_nothing_left};
use std::fs;

/// A scene whose database holds one RUN.
fn with_a_run() -> (Scene, Vec<&'static str>) {
    let scene = Scene::new();
    scene.make_dir("target");
    let work =
        vec!["run", "--runs", "1", "--on", "target", "--workload", "tiny-files", "--scale", "0.01"];
    scene.run(&work).good();
    (scene, work)
}

/// Every command refuses the database with these words and leaves it as it is, byte for byte.
#[track_caller]
fn refused_everywhere(scene: &Scene, work: &[&str], words: &[&str]) {
    let before = fs::read(scene.db()).unwrap();
    let dry = [work, &["--dry-run"]].concat();
    let shown = [&["list"][..], &["list", "--json"], &["show"], &["show", "1", "--json"]];
    let judged = [&["study"][..], &["study", "1", "--json"], &["compare", "1"]];
    for args in [&[work, &dry][..], &shown, &judged].concat() {
        scene.run(args).refused(1, words);
        assert_eq!(fs::read(scene.db()).unwrap(), before, "changed by {args:?}");
    }
    assert_eq!(fs::read_dir(scene.path("target")).unwrap().count(), 0);
    assert_nothing_left(scene);
}

#[test]
fn of_a_newer_schema() {
    let (scene, work) = with_a_run();
    let mut bytes = fs::read(scene.db()).unwrap();
    // "User version" of the SQLite file format: offset 60, 4 bytes, big-endian.
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(scene.db(), bytes).unwrap();
    refused_everywhere(&scene, &work, &["newer fsarena (schema 99", "another --db"]);
}

#[test]
fn cut_short() {
    let (scene, work) = with_a_run();
    let bytes = fs::read(scene.db()).unwrap();
    fs::write(scene.db(), &bytes[..bytes.len() / 2]).unwrap();
    refused_everywhere(&scene, &work, &["damaged", "nothing was changed", "--db"]);
}

#[test]
fn with_flipped_bytes() {
    let (scene, work) = with_a_run();
    let mut bytes = fs::read(scene.db()).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    for byte in bytes.iter_mut().skip(page).step_by(97) {
        *byte ^= 0x5a;
    }
    fs::write(scene.db(), bytes).unwrap();
    refused_everywhere(&scene, &work, &["damaged", "nothing was changed", "--db"]);
}

#[test]
fn that_is_none() {
    let (scene, work) = with_a_run();
    fs::write(scene.db(), "my notes about file systems\n".repeat(500)).unwrap();
    refused_everywhere(&scene, &work, &["damaged", "not a database", "nothing was changed"]);
}

#[test]
fn of_another_program() {
    let (scene, work) = with_a_run();
    let mut bytes = fs::read(scene.db()).unwrap();
    // "Application ID" of the SQLite file format: offset 68, 4 bytes.
    bytes[68..72].copy_from_slice(&7u32.to_be_bytes());
    fs::write(scene.db(), bytes).unwrap();
    refused_everywhere(&scene, &work, &["not one of fsarena", "Use another --db"]);
}

#[test]
fn where_none_can_be() {
    let (scene, work) = with_a_run();
    fs::write(scene.path("file"), "").unwrap();
    let below_a_file = scene.path("file/x.db").display().to_string();
    let run = scene.run(&[&work[..], &["--db", &below_a_file]].concat());
    run.refused(1, &["--db"]);
    let a_directory = scene.path("target").display().to_string();
    for args in [&work[..2], &["list"], &["show"]] {
        let args = [args, &["--db", &a_directory]].concat();
        if args[0] != "run" {
            scene.run(&args).refused(1, &["--db"]);
        }
    }
    assert_nothing_left(&scene);
}

/// A database that may only be read can still be shown.
#[test]
fn that_may_only_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let (scene, work) = with_a_run();
    fs::set_permissions(scene.db(), fs::Permissions::from_mode(0o444)).unwrap();
    scene.run(&["list"]).good();
    scene.run(&["show"]).good();
    if !crate::support::is_root() {
        scene.run(&work).refused(1, &["--db"]);
    }
    assert_nothing_left(&scene);
}

/// A hot journal of SQLite (a crash in the middle of a write) is rolled back, not shown.
#[test]
fn that_was_copied_while_it_was_empty() {
    let (scene, work) = with_a_run();
    fs::write(scene.db(), "").unwrap();
    scene.run(&work).good();
    assert_eq!(scene.runs().len(), 1, "an empty file is a new database");
    assert_nothing_left(&scene);
}
