//! Databases of schema versions that no release wrote are refused with a remedy, and left alone.

use fsarena_store::{APPLICATION_ID, SCHEMA_VERSION, Store, StoreError};
use rusqlite::Connection;

#[test]
fn versions_before_the_first_release_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for version in 1..SCHEMA_VERSION {
        let path = dir.path().join(format!("{version}.db"));
        let raw = Connection::open(&path).unwrap();
        raw.execute_batch("CREATE TABLE run (id INTEGER PRIMARY KEY)").unwrap();
        raw.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        raw.pragma_update(None, "user_version", version).unwrap();
        drop(raw);
        let before = std::fs::read(&path).unwrap();
        for error in [Store::open(&path).unwrap_err(), Store::open_read_only(&path).unwrap_err()] {
            let StoreError::Unreleased { found, known, .. } = &error else { panic!("{error:?}") };
            assert_eq!((*found, *known), (version, SCHEMA_VERSION));
            let text = error.to_string();
            assert!(text.ends_with("read it with that build, or use another --db"), "{text}");
        }
        assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
    }
}
