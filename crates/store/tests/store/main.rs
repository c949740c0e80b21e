//! The database: what is written is read back, also after a crash, a merge or a bad file.
//!
//! Here: the SQL of docs/queries.md runs on a database of today's layout, so that what a reader
//! copies works.
#![allow(clippy::unwrap_used)] // helpers of tests

mod bad_files;
mod crash;
mod crash_runs;
mod foreign;
mod merge;
mod roundtrip;
mod scores;
mod upgrade;
mod verdicts;

use fsarena_model::verdict::{DecidedPair, InterimAnalysis, Rule, Verdict};
use fsarena_store::{Owner, Store};
use fsarena_testkit::records::{self, contender, small_files};
use rusqlite::Connection;
use std::path::Path;
use tempfile::TempDir;

/// The blocks of SQL of the text, each one statement.
fn statements() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let text = std::fs::read_to_string(root.join("docs/queries.md")).unwrap();
    let blocks = text.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// A RUN of ext4, xfs and btrfs with two blocks of records and a decision.
fn database() -> (TempDir, Store) {
    let dir = TempDir::new().unwrap();
    let store = Store::open(&dir.path().join("fsarena.db")).unwrap();
    let contenders = ["ext4", "xfs", "btrfs"].map(|fs| contender(fs, fs, 1)).to_vec();
    let mut header = records::header(contenders, vec![small_files()], 4);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 4 }));
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    for sequence in 0..u32::try_from(header.plan.schedule.len()).unwrap() {
        let mut record = records::record(&header, sequence);
        let notice = r#"{"code": "foreign-load", "text": "other programs ran", "remedy": null}"#;
        record.notices.push(serde_json::from_str(notice).unwrap());
        store.put_record(run, &record).unwrap();
    }
    let decided = vec![DecidedPair { question: 0, a: 0, b: 2, verdict: Verdict::Faster }];
    store.put_look(run, &InterimAnalysis { blocks: 4, at_unix_ns: 1, decided }).unwrap();
    (dir, store)
}

#[test]
fn every_query_of_the_documentation_answers() {
    let (_dir, store) = database();
    let raw = Connection::open(store.path()).unwrap();
    let statements = statements();
    assert!(statements.len() >= 8, "{}", statements.len());
    for sql in &statements {
        let mut statement = raw.prepare(sql).unwrap_or_else(|error| panic!("{error}\n{sql}"));
        assert!(statement.readonly(), "{sql}");
        let rows = statement.query([]).unwrap().mapped(|_| Ok(())).count();
        assert!(rows > 0, "no row\n{sql}");
    }
}

/// Other databases read the text of the views as their own SQL; `any` is a word of theirs.
#[test]
fn views_use_no_word_of_other_dialects_as_a_name() {
    let (_dir, store) = database();
    let raw = Connection::open(store.path()).unwrap();
    let mut views = raw.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view'").unwrap();
    let views = views.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let views: Vec<String> = views.collect::<Result<_, _>>().unwrap();
    assert!(views.len() >= 2);
    for sql in views {
        // Here it is the keyword.
        let sql = sql.replace("UNION ALL", "UNION");
        let words = sql.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words {
            assert!(!["any", "all", "some"].contains(&word.to_lowercase().as_str()), "{sql}");
        }
    }
}

/// Every table and view has its row in schema.md, with the columns that it has.
#[test]
fn the_description_shows_every_column() {
    let (_dir, store) = database();
    let raw = Connection::open(store.path()).unwrap();
    let strings = |sql: &str| -> Vec<String> {
        let mut statement = raw.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema.md");
    let text = std::fs::read_to_string(text).unwrap();
    let names = strings(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
         AND name NOT LIKE 'sqlite%'",
    );
    assert_eq!(names.len(), text.matches(" LIMIT 1;\n").count());
    for name in names {
        let query = format!("SELECT * FROM {name} LIMIT 1;\n");
        let row = text.split_once(&query).unwrap_or_else(|| panic!("no row of {name}")).1;
        let row = row.split("\n\n").next().unwrap().split("```").next().unwrap();
        let shown: Vec<&str> =
            row.lines().filter_map(|line| Some(line.split_once(" = ")?.0.trim())).collect();
        let columns = strings(&format!("SELECT name FROM pragma_table_xinfo('{name}')"));
        assert_eq!(shown, columns, "{name}");
    }
}
