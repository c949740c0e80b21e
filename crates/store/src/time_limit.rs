//! A limit on the time of statements: in a file from elsewhere a query may never end.
//!
//! SQLite asks after some thousand steps of its machine whether to go on. The limit is on one piece
//! of work, which is one call of [`crate::Store`] or a part of it; time in which a lock is waited
//! for takes no steps, and has a limit of its own.

use rusqlite::Connection;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Longest time of one piece of work.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 60 });

/// Steps of SQLite's machine between two looks at the clock: a fraction of a millisecond.
const STEPS: i32 = 10_000;

/// Where times are counted from.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The moment at which the work of a connection is stopped.
#[derive(Clone, Debug)]
pub(crate) struct TimeLimit(Arc<AtomicU64>);

impl TimeLimit {
    /// Puts a limit on a connection.
    pub(crate) fn on(connection: &mut Connection) -> rusqlite::Result<Self> {
        let limit = Self(Arc::new(AtomicU64::new(u64::MAX)));
        let ends_ms = Arc::clone(&limit.0);
        let is_over = move || now_ms() > ends_ms.load(Ordering::Relaxed);
        connection.progress_handler(STEPS, Some(is_over))?;
        Ok(limit)
    }

    /// Begins a piece of work that may take the usual time and `more`.
    pub(crate) fn begin(&self, more: Duration) {
        let length = TIME_LIMIT.saturating_add(more);
        let length_ms = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        self.0.store(now_ms().saturating_add(length_ms), Ordering::Relaxed);
    }
}

fn now_ms() -> u64 {
    u64::try_from(BEGAN.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, StoreError};

    #[test]
    fn a_query_without_an_end_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("records.db")).unwrap();
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                       SELECT count(*) FROM n";
        let began = Instant::now();
        let error = store.sql(|c| c.query_row(endless, [], |_| Ok(()))).unwrap_err();
        assert!(matches!(error, StoreError::TooSlow { .. }), "{error:?}");
        assert!(began.elapsed() < 10 * TIME_LIMIT, "{:?}", began.elapsed());
        assert!(error.to_string().contains("did not end within"), "{error}");
        assert_eq!(store.runs().unwrap(), [], "the next piece of work has its own time");
    }
}
