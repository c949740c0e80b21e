//! `locked`: another connection holds the database for a while, as a browser of databases does.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Demand, Disturbance, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::moment::Moment;
use crate::chaos::shape::Shape;
use anyhow::{Context as _, Result};
use rusqlite::{Connection, OpenFlags};
use std::time::Duration;

/// How long the program waits for others, with the short waits of tests (`FSARENA_TEST_FAST`).
const PROGRAM_WAITS_MS: u64 = 2000;
/// It is held by the program for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) const KIND: Kind = Kind {
    name: "locked",
    help: "another connection holds the database",
    weight: 1,
    unfit: |nature| (!nature.has_database).then_some("it has no database"),
    draw,
};

struct LockedDatabase {
    moment: Moment,
    ms: u64,
    may_fail: bool,
}

fn draw(draw: &Draw, shape: &Shape) -> Box<dyn Disturbance> {
    let is_long = draw.once_in("longer than it waits", 8);
    let ms = match is_long {
        true => draw.between("long lock", PROGRAM_WAITS_MS + 1000, PROGRAM_WAITS_MS + 5000),
        false => draw.between("lock", 10, PROGRAM_WAITS_MS / 2),
    };
    Box::new(LockedDatabase {
        moment: Moment::draw(draw, shape),
        ms,
        may_fail: shape.nature.may_fail,
    })
}

impl LockedDatabase {
    /// Holds it, or gives nothing where it could not be had.
    fn hold(live: &mut Live) -> Result<Option<Connection>> {
        let path = live.fixture.database.clone();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let locked = |_: &Live| {
            let connection = Connection::open_with_flags(&path, flags).ok()?;
            connection.execute_batch("BEGIN EXCLUSIVE").ok()?;
            Some(connection)
        };
        live.poll(PATIENCE, locked)
    }
}

impl Disturbance for LockedDatabase {
    fn victim(&self) -> String {
        "database".to_owned()
    }

    fn fault(&self) -> String {
        if self.ms > PROGRAM_WAITS_MS { "locked for long" } else { "locked" }.to_owned()
    }

    fn describe(&self) -> String {
        format!("the database is locked for {} ms {}", self.ms, self.moment)
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        start.variables.extend(self.moment.variable(&setting.fixture));
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        let connection = if self.moment.wait(live)? { Self::hold(live)? } else { None };
        self.moment.release(&live.fixture)?;
        let Some(connection) = connection else { return Ok(Act::Missed) };
        let waited = live.work_for(Duration::from_millis(self.ms));
        connection.execute_batch("ROLLBACK").context("the lock of the case itself")?;
        waited.map(|_| Act::Done)
    }

    fn demand(&self) -> Demand {
        let waits = self.ms < PROGRAM_WAITS_MS && !self.may_fail;
        if waits { Demand::AllDone } else { Demand::Documented }
    }

    fn may_keep_records(&self) -> bool {
        self.ms > PROGRAM_WAITS_MS
    }
}
