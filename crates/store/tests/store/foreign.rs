//! Databases from elsewhere that were made to do harm: what no program of ours has written is
//! refused with the file, the RUN and the field, quickly, and the file stays as it was.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::header_rules;
use fsarena_model::run::{NotRun, RunHeader, RunState};
use fsarena_model::verdict::{DecidedPair, InterimAnalysis, Rule, Verdict};
use fsarena_store::{APPLICATION_ID, Owner, RunId, Store, StoreError};
use fsarena_testkit::crash;
use fsarena_testkit::records::{self, contender, small_files};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A header with something in every list.
fn header() -> RunHeader {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let mut header = records::header(contenders, vec![small_files(), records::metadata()], 2);
    header.plan.not_run.push(NotRun { contender: 1, workload: None, reason: "why".to_owned() });
    header.plan.not_run.push(NotRun { contender: 0, workload: Some(1), reason: "why".to_owned() });
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Looks { cap: 8 }));
    let mut crash = crash::plan();
    let row = fsarena_model::crash::CrashNotRun { contender: 1, reason: "why".to_owned() };
    crash.not_run.push(row);
    header.plan.crash = Some(crash);
    header
}

/// A database with one RUN and two of its records.
fn sample() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("records.db");
    let header = header();
    let store = Store::open(&path).unwrap();
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    for sequence in 0..2 {
        store.put_record(run, &records::record(&header, sequence)).unwrap();
    }
    let slot = header.plan.crash_slots()[0];
    store.put_crash_run(run, &crash::run(&header, slot, crash::Traits::default())).unwrap();
    let decided = vec![DecidedPair { question: 0, a: 0, b: 1, verdict: Verdict::Same }];
    store.put_look(run, &InterimAnalysis { blocks: 4, at_unix_ns: 7, decided }).unwrap();
    store.set_state(run, RunState::Interrupted, None).unwrap();
    (dir, path)
}

/// The file, with triggers out of the way but in their place.
fn tampered(path: &Path) -> Connection {
    let raw = Connection::open(path).unwrap();
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    raw
}

fn sum(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Writes a raw text with the sum that fits it.
fn set_raw(path: &Path, table: &str, text: &str) {
    let sql = format!("UPDATE {table} SET raw = ?, raw_sha256 = ? WHERE id = 1");
    tampered(path).execute(&sql, [text, &sum(text)]).unwrap();
}

fn raw_of(path: &Path, table: &str) -> Value {
    let sql = format!("SELECT raw FROM {table} WHERE id = 1");
    let text: String =
        Connection::open(path).unwrap().query_row(&sql, [], |row| row.get(0)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Opens in both ways and merges, expects a refusal each time, and that nothing was changed.
fn refused(path: &Path) -> Vec<StoreError> {
    let before = std::fs::read(path).unwrap();
    let began = Instant::now();
    let dir = TempDir::new().unwrap();
    let mut ours = Store::open(&dir.path().join("ours.db")).unwrap();
    let read = |store: Store| {
        let run = store.runs()?.first().map_or(RunId(1), |row| row.id);
        store.header(run)?;
        store.records(run)?;
        store.crash_runs(run)?;
        store.looks(run).map(|_| ())
    };
    let errors = vec![
        Store::open_read_only(path).and_then(read).unwrap_err(),
        Store::open(path).and_then(read).unwrap_err(),
        ours.merge(path).unwrap_err(),
    ];
    assert!(ours.runs().unwrap().is_empty(), "nothing of it is taken");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(std::fs::read(path).unwrap() == before, "the file was changed");
    for error in &errors {
        assert!(error.to_string().contains("records.db"), "{error}");
    }
    errors
}

/// As [`refused`], with what every error says.
fn refused_saying(path: &Path, words: &str) {
    for error in refused(path) {
        assert!(error.to_string().contains(words), "{error}");
    }
}

const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

#[test]
fn a_view_over_an_endless_recursion_is_no_table() {
    let (_dir, path) = sample();
    tampered(&path)
        .execute_batch(&format!(
            "ALTER TABLE run RENAME TO hidden;
             CREATE VIEW run AS {ENDLESS} SELECT * FROM hidden, n;"
        ))
        .unwrap();
    refused_saying(&path, "run is a view where it should be a table");
}

#[test]
fn what_is_not_the_layout_of_its_version_is_refused() {
    for (change, words) in [
        ("DROP TABLE session", "it has no table session"),
        ("ALTER TABLE slot RENAME COLUMN block TO b", "column \"b\" of its table slot"),
        ("ALTER TABLE trial ADD COLUMN extra TEXT", "column \"extra\" of its table trial"),
        ("ALTER TABLE look RENAME TO look2", "it has no table look"),
        (
            "CREATE TRIGGER theirs BEFORE UPDATE ON run BEGIN DELETE FROM trial; END",
            "has a trigger \"theirs\" that is none of fsarena's",
        ),
        (
            "DROP TRIGGER look_never_changes;
             CREATE TRIGGER look_never_changes BEFORE DELETE ON run BEGIN SELECT 1; END",
            "has a trigger \"look_never_changes\" that is none",
        ),
        // The program's SQLite has no fts5, but others have.
        (
            "PRAGMA writable_schema = ON;
             INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
             VALUES ('table', 'words', 'words', 0, 'CREATE VIRTUAL TABLE words USING fts5(a)')",
            "is a virtual table",
        ),
    ] {
        let (_dir, path) = sample();
        tampered(&path).execute_batch(change).unwrap();
        refused_saying(&path, words);
    }
    // What is never read may be there.
    let (_dir, path) = sample();
    let own = format!(
        "CREATE VIEW mine AS {ENDLESS} SELECT i FROM n; CREATE TABLE notes (a);
         CREATE INDEX quick ON run (title);"
    );
    tampered(&path).execute_batch(&own).unwrap();
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.header(RunId(1)).unwrap(), header());
}

/// Views of the file are not believed, not even those that have our names.
#[test]
fn costs_do_not_come_from_views_of_the_file() {
    let (_dir, path) = sample();
    let expected = Store::open(&path).unwrap().costs().unwrap();
    assert!(!expected.ops.is_empty());
    let views = format!(
        "DROP VIEW phase; CREATE VIEW phase AS {ENDLESS} SELECT * FROM n;
         DROP VIEW step; CREATE VIEW step AS {ENDLESS} SELECT * FROM n;"
    );
    tampered(&path).execute_batch(&views).unwrap();
    assert_eq!(Store::open(&path).unwrap().costs().unwrap(), expected);
}

#[test]
fn an_empty_file_with_a_version_is_damaged() {
    let (_dir, path) = sample();
    for (application_id, version) in [(0, 1), (0, 9), (APPLICATION_ID, 6), (APPLICATION_ID, 9)] {
        std::fs::remove_file(&path).unwrap();
        let raw = Connection::open(&path).unwrap();
        raw.pragma_update(None, "application_id", application_id).unwrap();
        raw.pragma_update(None, "user_version", version).unwrap();
        drop(raw);
        let ours = application_id == APPLICATION_ID;
        for error in refused(&path) {
            let text = error.to_string();
            match error {
                StoreError::Damaged { .. } if ours => assert!(text.contains("no table"), "{text}"),
                StoreError::Foreign { .. } if !ours => {}
                other => panic!("{application_id} {version}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("records.db");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    for error in [Store::open(&path).unwrap_err(), Store::open_read_only(&path).unwrap_err()] {
        assert!(matches!(error, StoreError::Access { .. }), "{error:?}");
        assert!(error.to_string().contains("records.db"), "{error}");
    }
}

/// The field, a value that breaks a rule of it, and words of the error.
type Broken = (&'static str, Value, &'static str);

/// Every rule of a header.
fn broken_rules() -> Vec<Broken> {
    [broken_heads(), broken_workloads(), broken_questions()].concat()
}

fn broken_heads() -> Vec<Broken> {
    let much = u64::from(u32::MAX);
    vec![
        ("/uid", json!("../../../../x"), "uid is \"../../../../x\", not 16 lower-case hex"),
        ("/uid", json!("0123456789ABCDEF"), "uid"),
        ("/uid", json!(""), "uid"),
        ("/created_unix_ns", json!(u64::MAX), "created_unix_ns"),
        ("/title", json!("x".repeat(70_000)), "title"),
        ("/host/cpus", json!(much), "host.cpus"),
        ("/host/memory_bytes", json!(u64::MAX), "host.memory_bytes"),
        ("/host/swap_bytes", json!(u64::MAX), "host.swap_bytes"),
        ("/plan/blocks", json!(much), "plan.blocks"),
        ("/plan/blocks", json!(1), "plan.schedule[4].block is 1, and the plan has 1 blocks"),
        ("/plan/scale", json!(0.0), "plan.scale"),
        ("/plan/scale", json!(-1.0), "plan.scale"),
        ("/plan/sample_period_ns", json!(u64::MAX), "plan.sample_period_ns"),
        (
            "/plan/schedule/3/contender",
            json!(1_000_000),
            "plan.schedule[3].contender is 1000000, and the plan has 2 contenders",
        ),
        ("/plan/schedule/0/workload", json!(2), "plan.schedule[0].workload"),
        ("/plan/schedule/0/block", json!(much), "plan.schedule[0].block"),
        ("/plan/schedule/0/position", json!(much), "plan.schedule[0].position"),
        ("/plan/not_run/0/contender", json!(2), "plan.not_run[0].contender"),
        ("/plan/not_run/1/workload", json!(2), "plan.not_run[1].workload"),
        ("/plan/contenders/0/label", json!("x".repeat(70_000)), "plan.contenders[0].label"),
        (
            "/plan/contenders/1/levels/device/size_bytes",
            json!(u64::MAX),
            "plan.contenders[1].levels.device.size_bytes",
        ),
        ("/plan/contenders/1/levels/memory_bytes", json!(u64::MAX), "memory_bytes"),
        ("/plan/contenders/1/levels/handicap_ns", json!(u64::MAX), "handicap_ns"),
    ]
}

fn broken_workloads() -> Vec<Broken> {
    let much = u64::from(u32::MAX);
    vec![
        ("/plan/workloads/0/dataset/files", json!(u64::MAX), "plan.workloads[0].dataset.files"),
        ("/plan/workloads/0/dataset/size_bytes", json!(u64::MAX), "dataset.size_bytes"),
        ("/plan/workloads/0/dataset/dirs", json!(u64::MAX), "dataset.dirs"),
        ("/plan/workloads/0/dataset/depth", json!(much), "dataset.depth"),
        ("/plan/workloads/0/dataset/name_bytes", json!(1), "dataset.name_bytes"),
        (
            "/plan/workloads/0/dataset/sizes",
            json!({"kind": "uniform", "min": 2, "max": 1}),
            "dataset.sizes.min is 2, above its max 1",
        ),
        (
            "/plan/workloads/0/dataset/sizes",
            json!({"kind": "lognormal", "median": 1, "sigma": -1.0, "min": 0, "max": 1}),
            "dataset.sizes.sigma",
        ),
        (
            "/plan/workloads/0/dataset/per_dir",
            json!({"kind": "weighted", "values": [[u64::MAX, 1]]}),
            "dataset.per_dir",
        ),
        ("/plan/workloads/0/phases/0/bs_bytes", json!(u64::MAX), "phases[0].bs_bytes"),
        ("/plan/workloads/1/phases/0/io/iodepth", json!(much), "phases[0].io.iodepth"),
        ("/plan/workloads/1/phases/0/io/threads", json!(much), "phases[0].io.threads"),
        ("/plan/workloads/1/phases/0/io/ops", json!(u64::MAX), "phases[0].io.ops"),
        ("/plan/workloads/1/phases/0/io/rwmixread_percent", json!(101), "rwmixread_percent"),
    ]
}

fn broken_questions() -> Vec<Broken> {
    let much = u64::from(u32::MAX);
    vec![
        ("/plan/verdict/questions/0/workload", json!(2), "plan.verdict.questions[0].workload"),
        ("/plan/verdict/headline", json!(99), "plan.verdict.headline"),
        (
            "/plan/verdict/pairs",
            json!({"kind": "baseline", "contender": 2}),
            "plan.verdict.pairs.contender",
        ),
        ("/plan/verdict/margin", json!(0.0), "plan.verdict.margin"),
        ("/plan/verdict/rule", json!({"kind": "fixed", "blocks": much}), "plan.verdict.rule"),
        (
            "/plan/verdict/rule",
            json!({"kind": "fit", "least": 9, "most": 8}),
            "plan.verdict.rule.least",
        ),
        ("/plan/verdict/spare_blocks", json!(much), "plan.verdict.spare_blocks"),
        ("/plan/verdict/budget_ns", json!(u64::MAX), "plan.verdict.budget_ns"),
        ("/plan/verdict/begun_unix_ns", json!(u64::MAX), "plan.verdict.begun_unix_ns"),
        ("/plan/crash/runs", json!(much), "plan.crash.runs"),
        ("/plan/crash/points", json!(much), "plan.crash.points"),
        ("/plan/crash/seconds", json!(u64::MAX), "plan.crash.seconds"),
        ("/plan/crash/not_run/0/contender", json!(2), "plan.crash.not_run[0].contender"),
        ("/place/program_sha256", json!("x"), "place.program_sha256"),
        ("/place/image_dir", json!("/a\u{0}b"), "place.image_dir"),
        (
            "/place/kernel_files",
            json!([{"level": "6", "path": "/k", "sha256": "../x", "hz": 250}]),
            "place.kernel_files[0].sha256",
        ),
        (
            "/place/devices",
            json!([{"path": "/dev/a", "name": "a", "number": [1, 2], "size_bytes": u64::MAX,
                    "diskseq": null, "hardware": {}}]),
            "place.devices[0].size_bytes",
        ),
    ]
}

/// Puts a value where a JSON pointer leads, also where its last name is new.
fn put(document: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(map) => {
            map.insert(name.to_owned(), value);
        }
        Value::Array(list) => list[name.parse::<usize>().unwrap()] = value,
        other => panic!("{pointer}: {other}"),
    }
}

#[test]
fn every_rule_of_a_header_refuses_what_breaks_it() {
    let sound = serde_json::to_value(header()).unwrap();
    header_rules::check(&header()).unwrap();
    for (pointer, value, words) in broken_rules() {
        let mut document = sound.clone();
        if let Some(io) = pointer.strip_suffix("/iodepth").or(pointer.strip_suffix("/threads"))
            && document.pointer(io).is_none()
        {
            put(&mut document, io, serde_json::to_value(fsarena_model::io::Io::default()).unwrap());
        }
        put(&mut document, pointer, value);
        let header: RunHeader = serde_json::from_value(document).unwrap();
        let rule = header_rules::check(&header).unwrap_err();
        assert!(rule.to_string().contains(words), "{pointer}: {rule}");
    }
    let mut many = header();
    many.plan.contenders = vec![many.plan.contenders[0].clone(); 1000];
    let ask = many.plan.verdict.as_mut().unwrap();
    ask.questions = vec![ask.questions[0].clone(); 100];
    let rule = header_rules::check(&many).unwrap_err();
    assert!(rule.to_string().contains("pairs they ask about"), "{rule}");
}

/// In a database each of them is refused with the RUN and the field.
#[test]
fn a_header_that_breaks_a_rule_is_refused_with_the_run() {
    let (_dir, path) = sample();
    let sound = raw_of(&path, "run");
    let some = ["/uid", "/plan/blocks", "/plan/schedule/3/contender", "/plan/crash/runs"];
    for (pointer, value, words) in broken_rules() {
        if !some.contains(&pointer) {
            continue;
        }
        let mut document = sound.clone();
        put(&mut document, pointer, value);
        set_raw(&path, "run", &document.to_string());
        for error in refused(&path) {
            assert!(matches!(error, StoreError::BadRun { .. }), "{error:?}");
            let text = error.to_string();
            assert!(text.contains("RUN 1") && text.contains(words), "{text}");
        }
    }
}

/// The id in the table is the one that files are named after.
#[test]
fn an_id_that_is_none_is_refused_by_every_reader() {
    for uid in ["../../../../tmp/x", "0123", "0123456789ABCDEF", "0123456789abcde\u{1b}"] {
        let (_dir, path) = sample();
        tampered(&path).execute("UPDATE run SET uid = ?", [uid]).unwrap();
        for error in refused(&path) {
            let text = error.to_string();
            assert!(text.contains("RUN 1: uid is"), "{text}");
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
    }
    let (_dir, path) = sample();
    tampered(&path).execute("UPDATE run SET uid = 'aaaaaaaaaaaaaaaa'", []).unwrap();
    refused_saying(&path, "that of another RUN (uid)");
}

#[test]
fn rows_that_are_not_those_of_the_plan_are_refused() {
    for (change, words) in [
        ("UPDATE slot SET sequence = 1000000 WHERE sequence = 1", "table slot"),
        ("UPDATE slot SET sequence = -1 WHERE sequence = 7", "table slot"),
        ("DELETE FROM slot WHERE sequence = 7", "table slot"),
        ("UPDATE contender SET position = 4294967295 WHERE position = 1", "table contender"),
        ("UPDATE workload SET position = 7 WHERE position = 1", "table workload"),
        ("UPDATE question SET position = 1000000 WHERE position = 0", "table question"),
    ] {
        let (_dir, path) = sample();
        tampered(&path).execute_batch(change).unwrap();
        refused_saying(&path, words);
    }
    let (_dir, path) = sample();
    let decides = "UPDATE question SET run_id = 9, position = 77 WHERE position = 0;
        INSERT INTO question (run_id, position, workload_id, phase, metric, clock, headline)
        VALUES (1, 0, 1, 'create', 'time', 'durable', 1)";
    tampered(&path).execute_batch(decides).unwrap();
    refused_saying(&path, "decides about a question or contender that it does not have");
}

#[test]
fn a_record_of_another_trial_is_refused() {
    for (field, value) in [
        ("sequence", json!(1_000_000)),
        ("block", json!(u32::MAX)),
        ("position", json!(u32::MAX)),
        ("run", json!("../x")),
        ("contender", json!("x")),
        ("workload", json!("metadata")),
    ] {
        let (_dir, path) = sample();
        let mut record = raw_of(&path, "trial");
        record["key"][field] = value;
        set_raw(&path, "trial", &record.to_string());
        refused_saying(&path, "RUN 1: trial 0: its record is of another trial");
    }
    for (field, value) in [
        ("number", json!(u32::MAX)),
        ("workload", json!(1_000_000)),
        ("contender", json!(1_000_000)),
    ] {
        let (_dir, path) = sample();
        let mut record = raw_of(&path, "crash_run");
        record["slot"][field] = value;
        set_raw(&path, "crash_run", &record.to_string());
        refused_saying(&path, "RUN 1: crash run 0 of unsynced");
    }
}

/// The file has no constraint that refuses them.
#[test]
fn a_word_that_the_model_does_not_have_is_refused_with_its_column() {
    for (table, column, word) in [
        ("run", "state", "at rest"),
        ("decision", "verdict", "UNDECIDED"),
        ("trial", "outcome", "tape"),
        ("trial", "time_base", "tape"),
        ("score", "drained", "tape"),
        ("score", "cache_state", "cool"),
        ("score", "memory", "tape"),
        ("score", "free", "tape"),
    ] {
        let (_dir, path) = sample();
        let change = format!("UPDATE {table} SET {column} = '{word}'");
        assert!(tampered(&path).execute(&change, []).unwrap() > 0, "{change}");
        let store = Store::open_read_only(&path).unwrap();
        let run = RunId(1);
        let read = (store.runs().map(drop))
            .and_then(|()| store.scores(run).map(drop))
            .and_then(|()| store.looks(run).map(drop));
        let text = read.expect_err(&change).to_string();
        let said = format!("{column} is \"{word}\", which this fsarena does not know");
        assert!(text.contains(&said), "{text}");
    }
}
