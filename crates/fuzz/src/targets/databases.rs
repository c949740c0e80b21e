//! Databases from elsewhere: any bytes as a file, and a sound database with rows, texts and sums
//! changed.

use super::runs::SAMPLES;
use crate::edits::{EDIT_BYTES, TEXTS, edited};
use crate::scratch;
use crate::shown::{StoredRun, show};
use crate::target::Target;
use fsarena_model::run::RunState;
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{DecidedPair, InterimAnalysis, Stop, StopWhy, Verdict};
use fsarena_store::{Owner, Store, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

pub(super) const DATABASE_FILE: Target = Target {
    name: "database-file",
    reads: "a file that is to be a database: --db, merge",
    shares: 3,
    most_bytes: 1 << 20,
    seeds: || vec![SOUND.file.clone()],
    run: database_file,
};

pub(super) const DATABASE_ROWS: Target = Target {
    name: "database-rows",
    reads: "a database with rows changed and sums that fit",
    shares: 6,
    most_bytes: 20 * CHANGE_BYTES,
    seeds,
    run: database_rows,
};

/// Bytes of one change: what, table, column, row, and what it becomes.
const CHANGE_BYTES: usize = 4 + EDIT_BYTES;

/// A database that is right.
struct Sound {
    file: Vec<u8>,
    /// Tables and their columns.
    tables: Vec<(String, Vec<String>)>,
}

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let path = scratch::empty_dir("sound").join("records.db");
    let store = Store::open(&path).expect("a new database");
    let sample = &SAMPLES[0];
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&sample.header, &owner).expect("a sample");
    for session in &sample.sessions {
        store.put_session(run, session).expect("a sample");
    }
    for record in &sample.records {
        store.put_record(run, record).expect("a sample");
    }
    for crash in &sample.crashes {
        store.put_crash_run(run, crash).expect("a sample");
    }
    let decided = vec![DecidedPair { question: 0, a: 0, b: 1, verdict: Verdict::Same }];
    let look = InterimAnalysis { blocks: 2, at_unix_ns: 7, decided };
    store.put_look(run, &look).expect("a sample");
    store.set_stop(run, Stop { blocks: 2, why: StopWhy::Cap }).expect("a sample");
    store.set_state(run, RunState::Interrupted, None).expect("a sample");
    drop(store);
    let raw = Connection::open(&path).expect("it was just made");
    let names = list(&raw, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let columns =
        |table: &String| list(&raw, &format!("SELECT name FROM pragma_table_info('{table}')"));
    let tables = names.iter().map(|table| (table.clone(), columns(table))).collect();
    Sound { file: fs::read(&path).expect("it was just made"), tables }
});

fn list(raw: &Connection, sql: &str) -> Vec<String> {
    let mut statement = raw.prepare(sql).expect("a query of ours");
    let rows = statement.query_map([], |row| row.get(0)).expect("a query of ours");
    rows.collect::<rusqlite::Result<_>>().expect("a query of ours")
}

/// A change of each kind to each table, and one to each raw text.
fn seeds() -> Vec<Vec<u8>> {
    let tables = u8::try_from(SOUND.tables.len()).unwrap_or(u8::MAX);
    let one = |what: u8, table: u8| vec![what, table, 1, 0, 9, 0, 0, table % 16, 0, 0];
    let of_rows = (0..tables).flat_map(|table| (2..5).map(move |what| one(what, table)));
    let of_texts =
        (0..48).map(|number| vec![number % 2, number, 0, 0, number * 5, 0, number, number, 3, 0]);
    of_rows.chain(of_texts).collect()
}

fn database_file(input: &[u8]) {
    let path = scratch::empty_dir("database").join("records.db");
    fs::write(&path, input).expect("a directory of our own");
    every_reader(&path);
}

fn database_rows(input: &[u8]) {
    let path = scratch::empty_dir("database").join("records.db");
    fs::write(&path, &SOUND.file).expect("a directory of our own");
    // What SQLite itself refuses is not changed.
    if tamper(&path, input).is_ok() {
        every_reader(&path);
    }
}

/// Changes rows as nothing of ours would, with triggers and foreign keys out of the way.
fn tamper(path: &Path, script: &[u8]) -> rusqlite::Result<()> {
    let raw = Connection::open(path)?;
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    raw.pragma_update(None, "foreign_keys", false)?;
    raw.pragma_update(None, "ignore_check_constraints", true)?;
    raw.pragma_update(None, "synchronous", "OFF")?;
    raw.execute_batch("BEGIN")?;
    for change in script.chunks_exact(CHANGE_BYTES) {
        // One that breaks a constraint is left out.
        let _ = tamper_once(&raw, change);
    }
    raw.execute_batch("COMMIT")
}

fn tamper_once(raw: &Connection, change: &[u8]) -> rusqlite::Result<()> {
    let [what, table, column, row, edit @ ..] = change else { return Ok(()) };
    if what % 6 < 2 {
        let table = ["run", "trial", "crash_run"][usize::from(*table) % 3];
        return edit_text(raw, table, *row, edit);
    }
    let (table, columns) = &SOUND.tables[usize::from(*table) % SOUND.tables.len()];
    let column = &columns[usize::from(*column) % columns.len()];
    let place = format!("rowid = (SELECT rowid FROM \"{table}\" LIMIT 1 OFFSET {})", row % 8);
    match what % 6 {
        2 | 3 => {
            let sql = format!("UPDATE \"{table}\" SET \"{column}\" = ? WHERE {place}");
            raw.execute(&sql, [value(edit)])?;
        }
        4 => {
            raw.execute(&format!("DELETE FROM \"{table}\" WHERE {place}"), [])?;
        }
        _ => {
            let pragma = ["user_version", "application_id"][usize::from(edit[0] % 2)];
            raw.pragma_update(None, pragma, i64::from(edit[1]))?;
        }
    }
    Ok(())
}

/// Changes the raw text of a row, and the sum with it.
fn edit_text(raw: &Connection, table: &str, row: u8, edit: &[u8]) -> rusqlite::Result<()> {
    let sql = format!("SELECT id, raw FROM {table} LIMIT 1 OFFSET {}", row % 8);
    let found: Option<(i64, String)> =
        raw.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((id, text)) = found else { return Ok(()) };
    let Ok(document) = serde_json::from_str(&text) else { return Ok(()) };
    let text = edited(&document, edit).to_string();
    let sql = format!("UPDATE {table} SET raw = ?, raw_sha256 = ? WHERE id = ?");
    raw.execute(&sql, params![text, hex_sha256(&text), id])?;
    Ok(())
}

fn hex_sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn value(edit: &[u8]) -> SqlValue {
    let byte = |at: usize| edit.get(at).copied().unwrap_or(0);
    let numbers = [0, 1, -1, 2, 9, i64::from(u32::MAX), i64::MAX, i64::MIN, 1 << 53, 1 << 40];
    match byte(0) % 6 {
        0 | 1 => SqlValue::Integer(numbers[usize::from(byte(1)) % numbers.len()]),
        2 => SqlValue::Integer(i64::from(byte(1))),
        3 => SqlValue::Text(TEXTS[usize::from(byte(1)) % TEXTS.len()].to_owned()),
        4 => SqlValue::Real(
            [f64::INFINITY, -0.5, 1e308, f64::MIN_POSITIVE][usize::from(byte(1)) % 4],
        ),
        _ if byte(1) % 2 == 0 => SqlValue::Null,
        _ => SqlValue::Blob(vec![0xff; usize::from(byte(2))]),
    }
}

/// Everything that is ever read of a database, and what merging it comes to. A refusal names the
/// file; what is not refused is shown in every form.
fn every_reader(path: &Path) {
    let refused = |error: &StoreError| {
        let text = error.to_string();
        assert!(text.contains("records.db"), "{text}");
    };
    if let Err(error) = Store::open_read_only(path).and_then(|store| read_all(&store)) {
        refused(&error);
    }
    let ours = scratch::empty_dir("ours").join("ours.db");
    let mut store = Store::open(&ours).expect("a new database");
    match store.merge(path) {
        Ok(merged) => {
            // What was taken is as sound as what we wrote ourselves.
            let read = read_all(&store);
            assert!(read.is_ok(), "{:?} of {merged:?}", read.err());
        }
        Err(error) => {
            refused(&error);
            assert!(store.runs().is_ok_and(|runs| runs.is_empty()), "a part of it was taken");
        }
    }
    if let Err(error) = Store::open(path).and_then(|store| store.runs()) {
        refused(&error);
    }
}

fn read_all(store: &Store) -> Result<(), StoreError> {
    store.costs()?;
    store.past_work()?;
    store.running()?;
    store.resumable()?;
    for row in store.runs()? {
        let run = row.id;
        store.attempts(run)?;
        let (header, sessions) = (store.header(run)?, store.sessions(run)?);
        let (stop, looks) = (store.stop(run)?, store.looks(run)?);
        let scores: Vec<TrialScore> = store.scores(run)?;
        let _ = fsarena_verdict::verdicts(&header, &sessions, &scores, stop, &looks);
        let (records, crashes) = (store.records(run)?, store.crash_runs(run)?);
        show(&StoredRun { header, sessions, records, crashes, stop, looks });
    }
    Ok(())
}
