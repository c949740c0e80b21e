//! Opening: checks first, changes afterwards, and never over a file that is not ours.

use crate::layout;
use crate::migrations::{FIRST_RELEASED, room_bytes, upgrade};
use crate::time_limit::TimeLimit;
use crate::{APPLICATION_ID, SCHEMA_VERSION, Store, StoreError};
use fsarena_model::units::Bytes;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file of version 6 that is only read looks like a later one: a table of the connection's
/// own goes before that of the file.
const READ_6: &str =
    "CREATE TEMP VIEW score AS SELECT *, NULL AS foreign_ns, NULL AS canary_before_ns,
    NULL AS canary_after_ns, NULL AS frequency_khz, NULL AS worker_cpu_ns,
    NULL AS kernel_cpu_ns, 0 AS not_warm, NULL AS ops, NULL AS free, NULL AS asked_bytes
    FROM main.score;";

/// The same of files of version 7 to 10, whose scores have no ops.
const READ_7_TO_10: &str = "CREATE TEMP VIEW score AS SELECT *, NULL AS ops, NULL AS free,
    NULL AS asked_bytes FROM main.score;";

/// The same of files of version 11 and 12, whose scores do not say what was left free.
const READ_11_AND_12: &str =
    "CREATE TEMP VIEW score AS SELECT *, NULL AS free, NULL AS asked_bytes FROM main.score;";

/// The same of files of version 8 or before, which have no crash runs.
const READ_AS_9: &str =
    "CREATE TEMP VIEW crash_run AS SELECT NULL AS id, NULL AS contender_id, NULL AS workload,
    NULL AS number, NULL AS outcome, NULL AS started_unix_ns, NULL AS elapsed_ns, NULL AS raw,
    NULL AS raw_sha256 WHERE 0;";

/// The same of files of version 17 or before, whose scores have no figures by name.
const READ_AS_18: &str =
    "CREATE TEMP VIEW score_figure AS SELECT NULL AS phase_id, NULL AS metric, NULL AS value
    WHERE 0;";

/// How long to wait for another process; a trial's record is written in milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 20_000 });

/// Prepared statements that are kept: more than any piece of work over many RUNs has.
const STATEMENTS: usize = 64;

/// Files up to this size are checked as a whole when opened (about 0.1 s for each 64 MiB).
const QUICK_CHECK_MAX_BYTES: u64 = 64 << 20;

/// Longest text of a value: what a record with all its samples does not come near.
const MAX_VALUE_BYTES: i32 = 512 << 20;

/// What a journal of SQLite ends with that names another file (sqlite.org/tempfiles.html, 2.4).
const NAMES_A_FILE: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// What reading a whole file comes to on a slow disk.
const BYTES_IN_A_SECOND: u64 = 8 << 20;

/// The database as it was when this was made, until it is dropped.
#[derive(Debug)]
pub struct Snapshot<'s> {
    _transaction: Option<Transaction<'s>>,
}

impl Store {
    /// Opens the database for writing; makes it, and its directories, where there is none.
    ///
    /// # Errors
    /// When the file is damaged, foreign, of a newer schema, or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).map_err(|error| StoreError::Access {
                path: parent.to_owned(),
                detail: error.to_string(),
            })?;
        }
        let store = Self::connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        let version = store.checked_version()?;
        store.sql(|c| c.pragma_update(None, "journal_mode", "DELETE"))?;
        if version < SCHEMA_VERSION {
            store.has_room(version, free_bytes(path))?;
            store.migrate()?;
        }
        Ok(store)
    }

    /// Opens an existing database for reading.
    ///
    /// The file is opened for writing where that is allowed, because a journal that a crash left
    /// must be rolled back before it can be read; statements that write are refused.
    ///
    /// # Errors
    /// As [`Store::open`], and when there is no such file.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let store = Self::connect(path, OpenFlags::empty())?;
        store.sql(|c| c.pragma_update(None, "query_only", true))?;
        match store.checked_version()? {
            0 => return Err(StoreError::Missing { path: path.to_owned() }),
            version if version < SCHEMA_VERSION => store.sql(|c| {
                c.pragma_update(None, "query_only", false)?;
                // Before the first view: whatever is temporary goes with a change of it.
                c.pragma_update(None, "temp_store", "MEMORY")?;
                if version < 9 {
                    c.execute_batch(READ_AS_9)?;
                }
                c.execute_batch(match version {
                    ..7 => READ_6,
                    7..11 => READ_7_TO_10,
                    11..13 => READ_11_AND_12,
                    13.. => "",
                })?;
                c.execute_batch(READ_AS_18)?;
                c.pragma_update(None, "query_only", true)
            })?,
            _ => {}
        }
        Ok(store)
    }

    fn connect(path: &Path, create: OpenFlags) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
        if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
            let detail = "it is no file that could be a database".to_owned();
            return Err(StoreError::Access { path: path.to_owned(), detail });
        }
        // A link that is put there from now on is not followed; SQLite takes none on the whole way.
        let real = real_path(path);
        refuse_journal_of_several(path, &real)?;
        let flags = flags | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let sorted = |error| StoreError::from_sqlite(path, error);
        let mut connection = Connection::open_with_flags(&real, flags).map_err(sorted)?;
        let time_limit = TimeLimit::on(&mut connection).map_err(sorted)?;
        let store = Self { connection, time_limit, path: path.to_owned() };
        store.connection.set_prepared_statement_cache_capacity(STATEMENTS);
        store.sql(|c| {
            c.busy_timeout(BUSY_TIMEOUT)?;
            // What the file says of itself is not believed, and nothing of it is carried out.
            c.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            c.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            c.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
            c.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
            c.pragma_update(None, "cell_size_check", true)?;
            c.pragma_update(None, "foreign_keys", true)?;
            c.pragma_update(None, "synchronous", "EXTRA")
        })?;
        Ok(store)
    }

    /// Waits no longer than `limit` for another process that has locked the file.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn wait_for_lock(&self, limit: Duration) -> Result<(), StoreError> {
        self.sql(|c| c.busy_timeout(limit))
    }

    /// Runs statements and sorts their error.
    pub(crate) fn sql<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.time_limit.begin(Duration::ZERO);
        work(&self.connection).map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    /// As [`Store::sql`], for statements that read or write the whole file.
    pub(crate) fn sql_on_all<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.time_limit.begin(self.time_of_all());
        work(&self.connection).map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    /// Time that reading the whole file may take besides the usual.
    pub(crate) fn time_of_all(&self) -> Duration {
        let bytes = std::fs::metadata(&self.path).map_or(0, |meta| meta.len());
        Duration::from_secs(bytes / BYTES_IN_A_SECOND)
    }

    /// Runs statements as one transaction: all of them, or none.
    pub(crate) fn transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.sql(|c| {
            let transaction = Transaction::new_unchecked(c, TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })
    }

    /// Begins a transaction of several pieces of work; [`Store::commit`] ends it.
    pub(crate) fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    /// Makes what a transaction wrote permanent.
    pub(crate) fn commit(&self, transaction: Transaction<'_>) -> Result<(), StoreError> {
        transaction.commit().map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    /// The database as it is now, whoever writes to it meanwhile.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, StoreError> {
        self.read_transaction().map(|transaction| Snapshot { _transaction: transaction })
    }

    /// One look at the database until what this returns is dropped, whoever writes to it meanwhile;
    /// nothing where one has been begun. Besides, statements need no locks of their own then, which
    /// take longer than small ones run.
    pub(crate) fn read_transaction(&self) -> Result<Option<Transaction<'_>>, StoreError> {
        let begin = || Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred);
        let look = self.connection.is_autocommit().then(begin).transpose();
        look.map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    /// Reads only: whether this is a whole database of ours, and its version (0: an empty file).
    fn checked_version(&self) -> Result<u32, StoreError> {
        let application_id = self.sql(|c| read_i32(c, "application_id"))?;
        let version = self.sql(|c| read_i32(c, "user_version"))?;
        let tables: i64 =
            self.sql(|c| c.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)))?;
        let path = self.path.clone();
        if application_id != APPLICATION_ID {
            if application_id == 0 && version == 0 && tables == 0 {
                return Ok(0);
            }
            return Err(StoreError::Foreign { path, application_id });
        }
        let found = u32::try_from(version).unwrap_or(0);
        if found == 0 {
            let detail = format!("its schema version is {version}");
            return Err(StoreError::Damaged { path, detail });
        }
        if found > SCHEMA_VERSION {
            return Err(StoreError::Newer { path, found, known: SCHEMA_VERSION });
        }
        if found < FIRST_RELEASED {
            return Err(StoreError::Unreleased { path, found, known: SCHEMA_VERSION });
        }
        if let Some(detail) = self.sql(|c| layout::difference(c, found))? {
            return Err(StoreError::Damaged { path, detail });
        }
        if !self.is_large() {
            self.check()?;
        }
        Ok(found)
    }

    /// Checks the whole file where opening it did not, because that takes long.
    pub(crate) fn check_whole(&self) -> Result<(), StoreError> {
        if self.is_large() { self.check() } else { Ok(()) }
    }

    fn is_large(&self) -> bool {
        std::fs::metadata(&self.path).map_or(0, |m| m.len()) > QUICK_CHECK_MAX_BYTES
    }

    fn check(&self) -> Result<(), StoreError> {
        let said: String =
            self.sql_on_all(|c| c.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)))?;
        if said == "ok" {
            return Ok(());
        }
        let detail = said.split_whitespace().collect::<Vec<_>>().join(" ");
        Err(StoreError::Damaged { path: self.path.clone(), detail })
    }

    /// Refuses to change the schema of a file where less than that takes is free.
    fn has_room(&self, found: u32, free_bytes: Option<u64>) -> Result<(), StoreError> {
        // A new file is small, and SQLite says when there is no room for it.
        let (Some(free), 1..) = (free_bytes, found) else { return Ok(()) };
        let needed = self.sql(|c| room_bytes(c, found))?;
        if free >= needed {
            return Ok(());
        }
        let (path, known) = (self.path.clone(), SCHEMA_VERSION);
        let (needed, free) = (Bytes(needed), Bytes(free));
        Err(StoreError::NoRoom { path, found, known, needed, free })
    }

    /// Makes the schema the present one, from nothing or from that of an older release: all of it,
    /// or nothing.
    fn migrate(&self) -> Result<(), StoreError> {
        // A migration replaces the text of a constraint, which the defence forbids.
        let defended =
            |yes| self.sql(|c| c.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, yes));
        defended(false)?;
        let migrated = self.sql_on_all(|c| {
            let transaction = Transaction::new_unchecked(c, TransactionBehavior::Immediate)?;
            // Read again under the lock: another process may have been faster.
            let version = read_i32(&transaction, "user_version")?.unsigned_abs();
            upgrade(&transaction, version, SCHEMA_VERSION)?;
            transaction.commit()
        });
        defended(true)?;
        migrated
    }
}

/// The path without links, also of a file that is not there yet.
fn real_path(path: &Path) -> PathBuf {
    let named = |parent: PathBuf| Some(parent.join(path.file_name()?));
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let of_parent = || named(parent.unwrap_or(Path::new(".")).canonicalize().ok()?);
    path.canonicalize().ok().or_else(of_parent).unwrap_or_else(|| path.to_owned())
}

/// Refuses a journal beside a database that names another file: SQLite would play it back and then
/// delete that file, which may be any of the user's. fsarena writes to one database at a time and
/// leaves no such journal.
fn refuse_journal_of_several(path: &Path, real: &Path) -> Result<(), StoreError> {
    let mut name = real.as_os_str().to_owned();
    name.push("-journal");
    let journal = Path::new(&name);
    let refused = |why: &str| {
        let detail = format!("its journal {} {why}; remove that journal", journal.display());
        Err(StoreError::Damaged { path: path.to_owned(), detail })
    };
    match std::fs::symlink_metadata(journal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(meta) if !meta.is_file() => return refused("is no regular file"),
        _ => {}
    }
    let mut end = [0; NAMES_A_FILE.len()];
    let read = File::open(journal).and_then(|mut file| {
        file.seek(SeekFrom::End(-(NAMES_A_FILE.len() as i64)))?;
        file.read_exact(&mut end)
    });
    // One that cannot be read, or is too short for a name, SQLite judges itself.
    match read.is_ok() && end == NAMES_A_FILE {
        true => refused("names another file, which would be deleted"),
        false => Ok(()),
    }
}

/// Bytes that may still be written where a file is, as far as its file system says.
fn free_bytes(path: &Path) -> Option<u64> {
    let place = rustix::fs::statvfs(path).ok()?;
    Some(place.f_bavail.saturating_mul(place.f_frsize))
}

fn read_i32(connection: &Connection, pragma: &str) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Owner;
    use fsarena_testkit::records::{self, contender, small_files};

    /// A file of version 15, with a RUN.
    fn of_version_15(path: &Path) -> Store {
        let store = Store::open(path).unwrap();
        let contenders = vec![contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![small_files()], 50);
        let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
        store.create_run(&header, &owner).unwrap();
        let names = "SELECT name FROM sqlite_schema WHERE type = 'index' AND name IN
            ('question_by_workload', 'decision_by_a', 'decision_by_b', 'run_at_work', 'run_listed')";
        let names: Vec<String> =
            store.sql(|c| c.prepare(names)?.query_map([], |row| row.get(0))?.collect()).unwrap();
        for name in names {
            store.sql(|c| c.execute_batch(&format!("DROP INDEX {name}"))).unwrap();
        }
        store
            .sql(|c| {
                c.execute_batch(
                    "DROP TABLE IF EXISTS score_figure; PRAGMA user_version = 15; VACUUM",
                )
            })
            .unwrap();
        store
    }

    #[test]
    fn the_schema_of_a_file_stays_where_too_little_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let store = of_version_15(&dir.path().join("records.db"));
        let needed = store.sql(|c| room_bytes(c, 15)).unwrap();
        let error = store.has_room(15, Some(needed - 1)).unwrap_err();
        assert!(matches!(error, StoreError::NoRoom { found: 15, .. }), "{error:?}");
        assert!(error.is_unwritable());
        let text = error.to_string();
        for words in ["it has schema 15", "are needed to make it", "Nothing was changed", "--db"] {
            assert!(text.contains(words), "{text}");
        }
        store.has_room(15, Some(needed)).unwrap();
        store.has_room(15, None).unwrap();
        store.has_room(0, Some(0)).unwrap();
    }

    /// What the estimate did not foresee: a disk that is full meanwhile.
    #[test]
    fn half_a_migration_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.db");
        let store = of_version_15(&path);
        let before = std::fs::read(&path).unwrap();
        let pages: i64 = store.sql(|c| c.query_row("PRAGMA page_count", [], |r| r.get(0))).unwrap();
        let limit = |pages: i64| {
            let pragma = format!("PRAGMA max_page_count = {pages}");
            store.sql(|c| c.query_row(&pragma, [], |_| Ok(()))).unwrap();
        };
        for more in 0..4 {
            limit(pages + more);
            let error = store.migrate().unwrap_err();
            assert!(matches!(error, StoreError::Full { .. }), "{more}: {error:?}");
            assert!(std::fs::read(&path).unwrap() == before, "{more}: the file was changed");
        }
        limit(1 << 30);
        store.migrate().unwrap();
        assert_eq!(store.checked_version().unwrap(), SCHEMA_VERSION);
        assert_eq!(store.runs().unwrap().len(), 1);
    }

    /// SQLite deletes the file that a journal names when it has played the journal back.
    #[test]
    fn a_journal_that_names_another_file_is_not_played_back() {
        let dir = tempfile::tempdir().unwrap();
        let [path, precious] = ["x.db", "precious"].map(|name| dir.path().join(name));
        drop(Store::open(&path).unwrap());
        std::fs::write(&precious, "precious").unwrap();
        let name = precious.to_str().unwrap().as_bytes();
        let length = u32::try_from(name.len()).unwrap();
        let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
        let end = [&length.to_be_bytes()[..], &sum.to_be_bytes(), &NAMES_A_FILE].concat();
        let journal = [&[1; 512], name, &end].concat();
        let beside = dir.path().join("x.db-journal");
        std::fs::write(&beside, &journal).unwrap();
        for opened in [Store::open(&path), Store::open_read_only(&path)] {
            let text = opened.unwrap_err().to_string();
            assert!(text.contains("names another file, which would be deleted"), "{text}");
        }
        assert!(precious.exists() && beside.exists());
        std::fs::remove_file(&beside).unwrap();
        std::os::unix::fs::symlink(&precious, &beside).unwrap();
        assert!(Store::open(&path).unwrap_err().to_string().contains("no regular file"));
        std::fs::remove_file(&beside).unwrap();
        let link = dir.path().join("link.db");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Store::open_read_only(&link).is_ok(), "a link of the user's own");
    }

    /// A disk that is full while the schema is made, simulated by a limit on pages.
    #[test]
    fn half_a_schema_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.db");
        let store = Store::connect(&path, OpenFlags::SQLITE_OPEN_CREATE).unwrap();
        let limit = |pages: i64| {
            let pragma = format!("PRAGMA max_page_count = {pages}");
            store.sql(|c| c.query_row(&pragma, [], |_| Ok(()))).unwrap();
        };
        for pages in [1, 2, 5, 10] {
            limit(pages);
            let error = store.migrate().unwrap_err();
            assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
            assert_eq!(store.checked_version().unwrap(), 0);
        }
        limit(1 << 30);
        store.migrate().unwrap();
        assert_eq!(store.checked_version().unwrap(), SCHEMA_VERSION);
    }
}
