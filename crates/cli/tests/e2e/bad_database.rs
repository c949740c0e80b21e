//! A database that cannot be used: never overwritten, and every command says what to do.

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_model::record::{Notice, Outcome};
use fsarena_model::run::RunState;
use fsarena_store::{Owner, Store};
use fsarena_testkit::records;
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

/// What moves a cursor, sets a title or a colour, or turns the order of letters.
pub const HIDDEN: &str =
    "\u{1b}]0;t\u{7}\u{1b}[35m\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200f}\u{61c}";

/// Asserts that nothing hidden is in an output but, where there are to be some, colours.
#[track_caller]
pub fn assert_visible(text: &str, has_colour: bool) {
    let mut text = text.to_owned();
    if has_colour {
        assert!(!text.contains("\u{1b}[35m"), "a colour of theirs: {text:?}");
        let digits = |c: char| c.is_ascii_digit() || c == ';';
        let mut parts = text.split("\u{1b}[");
        let mut bare = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let rest = part.trim_start_matches(digits).strip_prefix('m');
            bare.push_str(rest.unwrap_or("\u{1b}"));
        }
        text = bare;
    }
    let hidden = |c: &char| fsarena_model::visible::is_hidden(*c) && !"\n\t".contains(*c);
    assert_eq!(text.chars().find(hidden), None, "{text:?}");
}

/// Stores a RUN with hidden characters wherever there is free text.
pub fn store_hidden(env: &TestEnv) {
    let mut header = crate::store_tape(env, &["ext4", "xfs"], 8);
    fs::remove_file(env.db()).unwrap();
    let with = |text: &mut String| text.push_str(HIDDEN);
    with(&mut header.title);
    with(&mut header.experiment);
    with(&mut header.experiment_toml);
    with(&mut header.program_version);
    with(&mut header.host.kernel_release);
    with(&mut header.host.hostname);
    with(&mut header.plan.workloads[0].name);
    with(&mut header.plan.workloads[0].title);
    with(&mut header.plan.workloads[0].phases[0].name);
    header.plan.contenders.iter_mut().for_each(|contender| with(&mut contender.label));
    header.plan.verdict =
        Some(records::asked(&header.plan, fsarena_model::verdict::Rule::Fixed { blocks: 8 }));
    let store = Store::open(&env.db()).unwrap();
    let owner = Owner { pid: 1, start_ticks: 0, boot_id: HIDDEN.to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    for sequence in 0..u32::try_from(header.plan.schedule.len()).unwrap() {
        let mut record = records::record(&header, sequence);
        record.notices.push(Notice {
            code: HIDDEN.to_owned(),
            text: HIDDEN.to_owned(),
            remedy: Some(HIDDEN.to_owned()),
            measure: None,
        });
        with(&mut record.filesystem.mount_asked);
        if sequence == 3 {
            let error = HIDDEN.to_owned();
            record.outcome = Outcome::Failed { step: HIDDEN.to_owned(), error, remedy: None };
        }
        store.put_record(run, &record).unwrap();
    }
    store.set_state(run, RunState::Done, Some(HIDDEN)).unwrap();
}

#[test]
fn with_hidden_characters_in_every_text() {
    let env = TestEnv::new();
    store_hidden(&env);
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["show"],
        &["show", "--raw"],
        &["show", "--json"],
        &["study", "--all-pairs"],
        &["compare", "1"],
        &["export"],
        &["export", "--format", "json"],
        &["export", "--format", "markdown"],
        &["report", "-o", "-"],
        &["run", "--resume", "1"],
        &["show", HIDDEN],
        &["merge", HIDDEN],
    ] {
        let ran = env.run(args);
        assert!(ran.code.is_some_and(|code| code < 100), "{args:?}: {:?}", ran.code);
        assert_visible(&ran.stdout, false);
        assert_visible(&ran.stderr, false);
        let coloured = env.run(&[args, &["--color", "always"]].concat());
        assert_visible(&coloured.stdout, true);
        assert_visible(&coloured.stderr, true);
    }
    let page = env.path(&format!("page{HIDDEN}.html"));
    let ran = env.run(&["report", "-o", page.to_str().unwrap()]).good();
    assert_visible(&ran.stderr, false);
    assert_visible(&fs::read_to_string(page).unwrap(), false);
    let other = env.path("other.db");
    let ran = env.run(&["merge", env.db().to_str().unwrap(), "--db", other.to_str().unwrap()]);
    assert_visible(&ran.good().stdout, false);
}

/// One line says what is passed over, and the command does its work.
#[test]
fn with_something_else_in_the_state_directory() {
    let (env, _) = with_a_run();
    fs::create_dir_all(env.state()).unwrap();
    let path = |name: &str| env.state().join(name);
    for name in ["pipe.journal", "pipe.watch"] {
        let made = std::process::Command::new("mkfifo").arg(path(name)).status().unwrap();
        assert!(made.success());
    }
    fs::create_dir(path("dir.journal")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path("link.journal")).unwrap();
    fs::write(path("words\u{202e}.journal"), b"\xff\xfe\n").unwrap();
    for args in [&["list"][..], &["show"], &["experiments"]] {
        let ran = env.run(args).good();
        assert_visible(&ran.stderr, false);
    }
    let ran = env.run(&["list"]).good();
    for name in ["pipe.journal", "pipe.watch", "dir.journal", "link.journal", "words"] {
        let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(name)).collect();
        assert_eq!(lines.len(), 1, "{name}: {}", ran.stderr);
        assert!(lines[0].contains("passed over"), "{}", lines[0]);
    }
    assert_eq!(fs::read_dir(env.state()).unwrap().count(), 5, "nothing is removed");
}
