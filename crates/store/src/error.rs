//! What can go wrong with a database, each with the file, the reason and the remedy.
//!
//! No variant carries a bare message: callers (and exit codes) depend on which one it is.

use fsarena_model::units::Bytes;
use std::path::{Path, PathBuf};

/// Why the database could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The schema is of a later version.
    #[error(
        "{path}: written by a newer fsarena (schema {found}, this program knows {known}); \
         use that program or another --db",
        path = path.display()
    )]
    Newer {
        path: PathBuf,
        /// Its `user_version`.
        found: u32,
        /// [`crate::SCHEMA_VERSION`].
        known: u32,
    },
    /// The schema is of a version that was never released.
    #[error(
        "{path}: written by an unreleased build of fsarena (schema {found}; this program reads \
         {known}); read it with that build, or use another --db",
        path = path.display()
    )]
    Unreleased {
        path: PathBuf,
        /// Its `user_version`.
        found: u32,
        /// [`crate::SCHEMA_VERSION`].
        known: u32,
    },
    /// The file is not a database, or not a whole one.
    #[error(
        "{path}: the database is damaged ({detail}); nothing was changed. Restore a copy, save \
         what can be read with `sqlite3 FILE .recover`, or use another --db",
        path = path.display()
    )]
    Damaged {
        path: PathBuf,
        /// What SQLite or our own check says.
        detail: String,
    },
    /// A database of another program.
    #[error(
        "{path}: this is an SQLite database, but not one of fsarena (application id \
         {application_id}); nothing was changed. Use another --db",
        path = path.display()
    )]
    Foreign {
        path: PathBuf,
        /// What it says it is.
        application_id: i32,
    },
    /// A RUN that no program of ours has written.
    #[error(
        "{path}: RUN {run}: {detail}; no fsarena writes such a RUN, so nothing of it is used. Ask \
         for a sound copy of the database where it came from, or use another --db",
        path = path.display()
    )]
    BadRun {
        path: PathBuf,
        run: crate::RunId,
        /// The field, and what is wrong with it.
        detail: String,
    },
    /// There is no such file, and it was to be read only.
    #[error(
        "{path}: there is no database; run something first, or give another --db",
        path = path.display()
    )]
    Missing { path: PathBuf },
    /// The directory of the file could not be made, or the file not opened.
    #[error(
        "{path}: {detail}; choose a place you may write to with --db",
        path = path.display()
    )]
    Access {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// A statement did not end.
    #[error(
        "{path}: reading it did not end within {seconds} s; no file of fsarena takes that long. Ask \
         for a sound copy where it came from, or use another --db",
        path = path.display()
    )]
    TooSlow {
        path: PathBuf,
        /// The limit.
        seconds: u64,
    },
    /// Another process holds the file for longer than we wait.
    #[error(
        "{path}: another program is writing to it; try again, or use another --db",
        path = path.display()
    )]
    Busy { path: PathBuf },
    /// No space left where the file is.
    #[error(
        "{path}: no space left to write; what was stored before is whole, the rest was not begun. \
         Free some space, or use another --db",
        path = path.display()
    )]
    Full { path: PathBuf },
    /// Too little room to give the file the present schema.
    #[error(
        "{path}: it has schema {found}, and {free} are free where it is; {needed} are needed to \
         make it schema {known}. Nothing was changed; free some space, or use another --db",
        path = path.display()
    )]
    NoRoom {
        path: PathBuf,
        /// Its `user_version`.
        found: u32,
        /// [`crate::SCHEMA_VERSION`].
        known: u32,
        needed: Bytes,
        free: Bytes,
    },
    /// No RUN is meant by the selector.
    #[error(
        "{selector:?}: no such RUN in {path}; `fsarena list` shows those there are",
        path = path.display()
    )]
    NoSuchRun { path: PathBuf, selector: String },
    /// More than one RUN is meant by the selector.
    #[error(
        "{selector:?} fits {count} RUNs in {path}: {fits}; write a number or more digits of the id",
        count = fits.len(),
        fits = fits.join(", "),
        path = path.display()
    )]
    AmbiguousRun {
        path: PathBuf,
        selector: String,
        /// Number and id of those that it fits.
        fits: Vec<String>,
    },
    /// A slot of the plan has its record already; a record never changes, and only what was
    /// interrupted is done again.
    #[error("RUN {run}: trial {sequence} has its record already; a record never changes")]
    AlreadyRecorded { run: crate::RunId, sequence: u32 },
    /// A living process carries the RUN out.
    #[error(
        "RUN {run}: process {pid} is carrying it out; wait for its end, or stop that process first"
    )]
    StillRunning { run: crate::RunId, pid: u32 },
    /// A database was to be merged into itself.
    #[error("{path}: this is the database to merge into; name another one", path = path.display())]
    SameDatabase { path: PathBuf },
    /// The RUN was carried out elsewhere and merged.
    #[error(
        "RUN {run}: it was taken from another database by `fsarena merge`, and can only go on there"
    )]
    Elsewhere { run: crate::RunId },
    /// All trials of the RUN were done.
    #[error("RUN {run}: it is done, nothing is left to resume; start it anew without --resume")]
    Complete { run: crate::RunId },
    /// The record does not belong to this RUN's plan.
    #[error("RUN {run}: trial {sequence} does not fit the plan: {detail}")]
    NotInPlan { run: crate::RunId, sequence: u32, detail: String },
    /// The crash run does not belong to this RUN's plan.
    #[error("RUN {run}: the plan has no such crash run: {detail}")]
    CrashRunNotInPlan { run: crate::RunId, detail: String },
    /// What a look is said to have decided does not fit the plan or an earlier look.
    #[error("RUN {run}: the look after {blocks} blocks cannot be stored: {detail}")]
    BadLook {
        run: crate::RunId,
        /// Blocks that counted by then.
        blocks: u32,
        detail: String,
    },
    /// It is stored why the RUN has no further block; that never changes.
    #[error(
        "RUN {run}: it has ended after block {blocks} ({why}), and is not extended",
        why = why.name()
    )]
    AlreadyStopped {
        run: crate::RunId,
        /// Blocks that were carried out.
        blocks: u32,
        /// Why there was no further one.
        why: fsarena_model::verdict::StopWhy,
    },
    /// The plan itself is inconsistent.
    #[error("the plan cannot be stored: {detail}")]
    BadPlan { detail: String },
    /// A record of a later version inside a database we can read.
    #[error(
        "{path}: RUN {run}, trial {sequence}: record of schema {found}, this program knows \
         {known}; use the newer fsarena",
        path = path.display()
    )]
    NewerRecord {
        path: PathBuf,
        run: crate::RunId,
        sequence: u32,
        found: u32,
        /// [`fsarena_model::RECORD_SCHEMA`].
        known: u32,
    },
    /// Anything else that SQLite says.
    #[error("{path}: {source}", path = path.display())]
    Sqlite {
        path: PathBuf,
        /// What it says.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether the file is at fault, which may be mended, and not what was to be stored in it.
    #[must_use]
    pub fn is_of_file(&self) -> bool {
        match self {
            Self::Newer { .. }
            | Self::Unreleased { .. }
            | Self::Damaged { .. }
            | Self::Foreign { .. }
            | Self::Missing { .. }
            | Self::TooSlow { .. } => true,
            Self::Sqlite { source, .. } => {
                source.sqlite_error_code() != Some(rusqlite::ErrorCode::ConstraintViolation)
            }
            other => other.is_unwritable(),
        }
    }

    /// Whether nothing can be written to the file as things are.
    #[must_use]
    pub fn is_unwritable(&self) -> bool {
        match self {
            Self::Access { .. } | Self::Busy { .. } | Self::Full { .. } | Self::NoRoom { .. } => {
                true
            }
            Self::Sqlite { source, .. } => {
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::SystemIoFailure)
            }
            _ => false,
        }
    }

    /// The fact alone, without file and remedy.
    #[must_use]
    pub fn fact(&self) -> String {
        match self {
            Self::Busy { .. } => "another program has locked it".to_owned(),
            Self::Full { .. } | Self::NoRoom { .. } => "no space left to write".to_owned(),
            Self::Access { detail, .. } => format!("it cannot be written ({detail})"),
            Self::Damaged { detail, .. } => format!("the database is damaged ({detail})"),
            Self::Sqlite { source, .. } => source.to_string(),
            other => other.to_string(),
        }
    }

    /// A RUN that breaks a rule.
    pub(crate) fn bad_run(path: &Path, run: crate::RunId, detail: impl Into<String>) -> Self {
        Self::BadRun { path: path.to_owned(), run, detail: detail.into() }
    }

    /// Sorts an error of SQLite into ours.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let path = path.to_owned();
        let code = source.sqlite_error_code();
        let detail = source.to_string();
        match code {
            Some(Code::NotADatabase | Code::DatabaseCorrupt) => Self::Damaged { path, detail },
            Some(Code::OperationInterrupted) => {
                Self::TooSlow { path, seconds: crate::time_limit::TIME_LIMIT.as_secs() }
            }
            Some(Code::DiskFull) => Self::Full { path },
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy { path },
            Some(Code::CannotOpen | Code::ReadOnly | Code::PermissionDenied) => {
                Self::Access { path, detail }
            }
            Some(Code::SystemIoFailure) if is_failed_write(&source) => {
                let detail = "a write failed: the device did, or files may not grow so large here \
                              (ulimit -f)";
                Self::Access { path, detail: detail.to_owned() }
            }
            // A value that no program of ours has written.
            _ if matches!(
                source,
                rusqlite::Error::IntegralValueOutOfRange(..)
                    | rusqlite::Error::InvalidColumnType(..)
                    | rusqlite::Error::FromSqlConversionFailure(..)
            ) =>
            {
                Self::Damaged { path, detail }
            }
            _ => Self::Sqlite { path, source },
        }
    }
}

fn is_failed_write(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_WRITE)
}
