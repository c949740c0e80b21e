//! The statements that make a schema, and what makes one version of it the next.

use crate::{APPLICATION_ID, SCHEMA_VERSION};
use rusqlite::Connection;

/// Makes an empty file a database of the first released schema.
const SCHEMA: &str = include_str!("../migrations/0001_schema.sql");

/// What makes a database of one version one of the next, from [`FIRST_RELEASED`] on.
const MIGRATIONS: [&str; 12] = [
    include_str!("../migrations/0002_covariates.sql"),
    include_str!("../migrations/0003_modelled.sql"),
    include_str!("../migrations/0004_crash_run.sql"),
    include_str!("../migrations/0005_cold_clients.sql"),
    include_str!("../migrations/0006_per_op.sql"),
    include_str!("../migrations/0007_several.sql"),
    include_str!("../migrations/0008_free_quantity.sql"),
    include_str!("../migrations/0009_unknown_cache.sql"),
    include_str!("../migrations/0010_task_clock.sql"),
    include_str!("../migrations/0011_indices.sql"),
    include_str!("../migrations/0012_words.sql"),
    include_str!("../migrations/0013_figures.sql"),
];
const _: () = assert!(FIRST_RELEASED as usize + MIGRATIONS.len() == SCHEMA_VERSION as usize);

/// Schemas before this one were those of builds that were never released.
pub(crate) const FIRST_RELEASED: u32 = 6;

/// Makes the schema of one version another, later one; version 0 is an empty file.
pub(crate) fn upgrade(c: &Connection, from: u32, to: u32) -> rusqlite::Result<()> {
    let mut version = from;
    if version == 0 {
        c.execute_batch(SCHEMA)?;
        c.pragma_update(None, "application_id", APPLICATION_ID)?;
        version = FIRST_RELEASED;
    }
    let number = |version: u32| version.saturating_sub(FIRST_RELEASED) as usize;
    for migration in MIGRATIONS.iter().take(number(to)).skip(number(version)) {
        c.execute_batch(migration)?;
    }
    c.pragma_update(None, "user_version", to)
}

/// What a later schema adds to a file of version `from` at most, bytes: of the migrations, the one
/// that makes indices alone writes as much as there are rows.
pub(crate) fn room_bytes(c: &Connection, from: u32) -> rusqlite::Result<u64> {
    // Pages of the schema, and the journal of what they were.
    const OF_SCHEMA: u64 = 1 << 20;
    const WITHOUT_INDICES: u32 = 15;
    if from > WITHOUT_INDICES {
        return Ok(OF_SCHEMA);
    }
    let rows = "SELECT 1024 * (SELECT count(*) FROM run) + 64 * (SELECT count(*) FROM question)
                + 128 * (SELECT count(*) FROM decision)";
    let of_rows: i64 = c.query_row(rows, [], |row| row.get(0))?;
    Ok(OF_SCHEMA.saturating_add(of_rows.unsigned_abs()))
}

/// The query of a view of ours. Views of the file are not read: they may say anything there.
pub(crate) fn view(name: &str) -> &'static str {
    let head = format!("CREATE VIEW {name} AS");
    let query = SCHEMA.split_once(&head).and_then(|(_, rest)| rest.split_once(";\n"));
    query.map_or("", |(query, _)| query)
}
