//! The tables of a RUN as the schema itself says: which there are, and which row belongs to which
//! through foreign keys. So a RUN is copied whole, also after a later schema has added a table.
//!
//! Nothing here knows what a table means, or reads a file of another schema than the present one.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, Statement, Transaction};
use std::collections::HashMap;

/// The table that every other one belongs to.
const ROOT: &str = "run";

/// A table whose rows belong to RUNs.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// The column that SQLite numbers and others refer to; another number in each database.
    key: Option<String>,
    /// All others, in order.
    pub(crate) columns: Vec<Column>,
    /// What picks the rows of RUN number `?1`.
    of_run: String,
}

/// A column that is copied.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    required: bool,
    /// The column of another table that it refers to.
    refers_to: Option<(String, String)>,
    /// The table whose key it holds.
    pub(crate) key_of: Option<String>,
}

/// Why a RUN could not be copied.
#[derive(Debug)]
pub(crate) enum CopyError {
    /// The database that is read.
    From(rusqlite::Error),
    /// The database that is written.
    To(rusqlite::Error),
    /// A row of this table, in the database that is read, belongs to no row of the RUN.
    Stray(String),
}

/// The tables of a RUN, each after those that its rows refer to.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<Table>> {
    let names: Vec<String> = connection
        .prepare(
            "SELECT name FROM sqlite_schema
             WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut waiting =
        names.iter().map(|name| read(connection, name)).collect::<rusqlite::Result<Vec<_>>>()?;
    let mut placed: Vec<Table> = Vec::new();
    while let Some(at) = waiting.iter_mut().position(|table| place(table, &placed)) {
        placed.push(waiting.remove(at));
    }
    Ok(placed)
}

fn read(connection: &Connection, name: &str) -> rusqlite::Result<Table> {
    let links: HashMap<String, (String, String)> = connection
        .prepare("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?)")?
        .query_map([name], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
        .collect::<rusqlite::Result<_>>()?;
    let all: Vec<(String, bool, bool)> = connection
        .prepare("SELECT name, \"notnull\", pk > 0 FROM pragma_table_info(?) ORDER BY cid")?
        .query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let keys: Vec<&String> =
        all.iter().filter(|(_, _, is_key)| *is_key).map(|(column, ..)| column).collect();
    let key = match keys.as_slice() {
        [key] if !links.contains_key(*key) => Some((*key).clone()),
        _ => None,
    };
    let columns = all
        .iter()
        .filter(|(column, ..)| key.as_ref() != Some(column))
        .map(|(column, not_null, is_key)| Column {
            name: column.clone(),
            required: *not_null || *is_key,
            refers_to: links.get(column).cloned(),
            key_of: None,
        })
        .collect();
    Ok(Table { name: name.to_owned(), key, columns, of_run: String::new() })
}

/// Fills in what depends on the tables that are referred to; whether all of them are placed.
fn place(table: &mut Table, placed: &[Table]) -> bool {
    if table.name == ROOT {
        let Some(key) = &table.key else { return false };
        table.of_run = format!("\"{key}\" = ?1");
        return true;
    }
    let mut ways: Vec<String> = Vec::new();
    for column in &mut table.columns {
        let Some((parent, to)) = &column.refers_to else { continue };
        let Some(parent) = placed.iter().find(|known| known.name == *parent) else { return false };
        column.key_of = match parent.columns.iter().find(|known| known.name == *to) {
            Some(known) => known.key_of.clone(),
            None => (parent.key.as_ref() == Some(to)).then(|| parent.name.clone()),
        };
        if column.key_of.is_none() {
            return false;
        }
        if column.required {
            ways.push(format!(
                "\"{}\" IN (SELECT \"{to}\" FROM \"{}\" WHERE {})",
                column.name, parent.name, parent.of_run
            ));
        }
    }
    // The shortest way leads to the RUN through the fewest tables.
    let Some(shortest) = ways.into_iter().min_by_key(String::len) else { return false };
    table.of_run = shortest;
    true
}

impl Table {
    /// The rows of RUN `?1`: the key where there is one, then the columns in order.
    fn select(&self) -> String {
        let all = self.key.iter().chain(self.columns.iter().map(|column| &column.name));
        let quoted: Vec<String> = all.map(|name| format!("\"{name}\"")).collect();
        let order =
            self.key.as_ref().map_or_else(String::new, |key| format!(" ORDER BY \"{key}\""));
        format!("SELECT {} FROM \"{}\" WHERE {}{order}", quoted.join(", "), self.name, self.of_run)
    }

    fn insert(&self) -> String {
        let quoted: Vec<String> =
            self.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        let places = vec!["?"; quoted.len()].join(", ");
        format!("INSERT INTO \"{}\" ({}) VALUES ({places})", self.name, quoted.join(", "))
    }
}

/// New numbers of the rows of each table, by the old ones.
type Numbers<'a> = HashMap<&'a str, HashMap<i64, i64>>;

/// Copies RUN number `run` with all that belongs to it; its number in the database written to.
pub(crate) fn copy_run(
    tables: &[Table],
    from: &Connection,
    to: &Transaction<'_>,
    run: i64,
) -> Result<i64, CopyError> {
    let mut numbers = Numbers::new();
    for table in tables {
        let new = copy_rows(table, &numbers, from, to, run)?;
        numbers.insert(&table.name, new);
    }
    let new = numbers.get(ROOT).and_then(|new| new.get(&run)).copied();
    new.ok_or_else(|| CopyError::Stray(ROOT.to_owned()))
}

fn copy_rows(
    table: &Table,
    numbers: &Numbers<'_>,
    from: &Connection,
    to: &Transaction<'_>,
    run: i64,
) -> Result<HashMap<i64, i64>, CopyError> {
    let mut select = from.prepare_cached(&table.select()).map_err(CopyError::From)?;
    let mut insert = to.prepare_cached(&table.insert()).map_err(CopyError::To)?;
    let mut new = HashMap::new();
    let mut rows = select.query([run]).map_err(CopyError::From)?;
    while let Some(row) = rows.next().map_err(CopyError::From)? {
        bind(table, numbers, row, &mut insert)?;
        insert.raw_execute().map_err(CopyError::To)?;
        if table.key.is_some() {
            let old = row.get(0).map_err(CopyError::From)?;
            new.insert(old, to.last_insert_rowid());
        }
    }
    Ok(new)
}

/// Values as they are, but the numbers of other rows: those are the new ones.
fn bind(
    table: &Table,
    numbers: &Numbers<'_>,
    row: &Row<'_>,
    insert: &mut Statement<'_>,
) -> Result<(), CopyError> {
    let first = usize::from(table.key.is_some());
    for (at, column) in table.columns.iter().enumerate() {
        let read = row.get_ref(first + at).map_err(CopyError::From)?;
        let value = match (&column.key_of, read) {
            (Some(parent), ValueRef::Integer(old)) => {
                let new = numbers.get(parent.as_str()).and_then(|of| of.get(&old));
                let new = new.ok_or_else(|| CopyError::Stray(table.name.clone()))?;
                ToSqlOutput::Owned(Value::Integer(*new))
            }
            (_, read) => ToSqlOutput::Borrowed(read),
        };
        insert.raw_bind_parameter(at + 1, value).map_err(CopyError::To)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    /// What no foreign key leads to could not be copied, and would be left behind in silence.
    #[test]
    fn every_table_belongs_to_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("records.db")).unwrap();
        let placed = store.sql(tables).unwrap();
        let all: i64 = store
            .sql(|c| {
                let sql = "SELECT count(*) FROM sqlite_schema
                           WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
                c.query_row(sql, [], |row| row.get(0))
            })
            .unwrap();
        assert_eq!(placed.len(), usize::try_from(all).unwrap());
        let column = |table: &str, column: &str| {
            let table = placed.iter().find(|known| known.name == table).unwrap();
            table.columns.iter().find(|known| known.name == column).unwrap().key_of.clone()
        };
        assert_eq!(column("series_column", "phase_id").as_deref(), Some("score"));
        assert_eq!(column("question", "workload_id").as_deref(), Some("workload"));
        assert_eq!(column("trial", "attempt"), None);
    }
}
