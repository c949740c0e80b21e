//! Whether a file has the layout that its version says: a database may come from anywhere, and a
//! table may be a view over an endless recursion there, or have a trigger that does what it likes.
//!
//! What our own statements make in memory is compared with what the file has. Each of our tables
//! has to be a table with the columns of ours. Triggers have to be ours, word for word. Further
//! tables, views and indices are nobody's business: they are never read.

use crate::migrations::upgrade;
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::{BTreeMap, BTreeSet};

/// A column: name, type, whether it may be NULL, place in the key, kind (plain or generated).
type Column = (String, String, bool, u32, u32);

/// What a version makes.
struct Layout {
    /// Columns by table.
    tables: BTreeMap<String, BTreeSet<Column>>,
    /// Text of each trigger by its name and table, without differences in space.
    triggers: BTreeMap<(String, String), String>,
}

impl Layout {
    fn read(c: &Connection) -> rusqlite::Result<Self> {
        let names: Vec<String> = c
            .prepare(
                "SELECT name FROM sqlite_schema WHERE type = 'table'
                 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
            )?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut tables = BTreeMap::new();
        for name in names {
            let columns = columns(c, &name)?;
            tables.insert(name, columns);
        }
        Ok(Self { tables, triggers: triggers(c)? })
    }
}

fn columns(c: &Connection, table: &str) -> rusqlite::Result<BTreeSet<Column>> {
    c.prepare("SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?)")?
        .query_map([table], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?)))?
        .collect()
}

fn triggers(c: &Connection) -> rusqlite::Result<BTreeMap<(String, String), String>> {
    c.prepare("SELECT name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE type = 'trigger'")?
        .query_map([], |row| {
            let text: String = row.get(2)?;
            let words: Vec<&str> = text.split_whitespace().collect();
            Ok(((row.get(0)?, row.get(1)?), words.join(" ")))
        })?
        .collect()
}

/// How the layout of a file differs from that of `version`, in words.
pub(crate) fn difference(c: &Connection, version: u32) -> rusqlite::Result<Option<String>> {
    let memory = Connection::open_in_memory()?;
    upgrade(&memory, 0, version)?;
    first_difference(c, &Layout::read(&memory)?)
}

/// How the layout of a file differs from the wanted one, in words.
fn first_difference(c: &Connection, wanted: &Layout) -> rusqlite::Result<Option<String>> {
    let virtual_table: Option<String> = c
        .query_row(
            "SELECT name FROM sqlite_schema WHERE type = 'table'
             AND (rootpage IS NULL OR rootpage = 0)",
            [],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(name) = virtual_table {
        return Ok(Some(format!("{name:?} is a virtual table, and fsarena makes none")));
    }
    for (table, columns_wanted) in &wanted.tables {
        let kind: Option<String> = c
            .query_row(
                "SELECT type FROM sqlite_schema WHERE name = ? AND type IN ('table', 'view')",
                [table],
                |row| row.get(0),
            )
            .optional()?;
        match kind.as_deref() {
            Some("table") => {}
            None => return Ok(Some(format!("it has no table {table}"))),
            Some(_) => return Ok(Some(format!("{table} is a view where it should be a table"))),
        }
        let found = columns(c, table)?;
        let mut differing = columns_wanted.symmetric_difference(&found);
        if let Some((column, ..)) = differing.next() {
            return Ok(Some(format!("column {column:?} of its table {table} is not as it should")));
        }
    }
    let ours = &wanted.triggers;
    let stranger = triggers(c)?.into_iter().find(|(at, text)| ours.get(at) != Some(text));
    Ok(stranger.map(|((name, table), _)| {
        format!("its table {table} has a trigger {name:?} that is none of fsarena's")
    }))
}
