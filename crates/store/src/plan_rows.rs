//! Whether the rows of a RUN say what its plan says: in a database from elsewhere they may not, and
//! their positions are indices for whoever reads them.

use crate::{RunId, Store, StoreError};
use fsarena_model::run::{RunHeader, Slot};
use fsarena_model::verdict::InterimAnalysis;
use rusqlite::OptionalExtension as _;

/// How many rows of a table belong to a RUN, their least and greatest place, and how many places.
type Places = (usize, i64, i64, usize);

impl Store {
    /// Refuses a RUN whose rows are not as many as its plan has, each at a place of its own.
    pub(crate) fn rows_fit(&self, run: RunId, header: &RunHeader) -> Result<(), StoreError> {
        let uid: Option<String> = self.sql(|c| {
            let mut select = c.prepare_cached("SELECT uid FROM run WHERE id = ?")?;
            select.query_row([run.0], |row| row.get(0)).optional()
        })?;
        if uid.as_ref() != Some(&header.uid) {
            return Err(StoreError::bad_run(
                &self.path,
                run,
                "its plan is that of another RUN (uid)",
            ));
        }
        let plan = &header.plan;
        let questions = plan.verdict.as_ref().map_or(0, |ask| ask.questions.len());
        for (table, place, planned) in [
            ("contender", "position", plan.contenders.len()),
            ("workload", "position", plan.workloads.len()),
            ("question", "position", questions),
            ("slot", "sequence", plan.schedule.len()),
        ] {
            let (rows, least, greatest, places) = self.places(run, table, place)?;
            let last = planned as i64 - 1;
            let are_all = rows == planned && places == planned;
            if !are_all || (planned > 0 && (least, greatest) != (0, last)) {
                let detail =
                    format!("the rows of its table {table} are not those of its plan ({place})");
                return Err(StoreError::bad_run(&self.path, run, detail));
            }
        }
        Ok(())
    }

    fn places(&self, run: RunId, table: &str, place: &str) -> Result<Places, StoreError> {
        let sql = format!(
            "SELECT count(*), coalesce(min({place}), 0), coalesce(max({place}), -1),
             count(DISTINCT {place}) FROM {table} WHERE run_id = ?"
        );
        self.sql(|c| {
            c.prepare_cached(&sql)?.query_row([run.0], |row| {
                let count = |at| row.get::<_, u32>(at).map(|count| count as usize);
                Ok((count(0)?, row.get(1)?, row.get(2)?, count(3)?))
            })
        })
    }

    /// Refuses a RUN of which a row of the schedule says another trial than the plan does. Reads
    /// all of them: for a RUN that is taken over.
    pub(crate) fn slots_fit(&self, run: RunId, header: &RunHeader) -> Result<(), StoreError> {
        let slots: Vec<Slot> = self.sql(|c| {
            c.prepare_cached(
                "SELECT slot.block, slot.position, contender.position, workload.position FROM slot
                 JOIN contender ON contender.id = slot.contender_id
                      AND contender.run_id = slot.run_id
                 JOIN workload ON workload.id = slot.workload_id AND workload.run_id = slot.run_id
                 WHERE slot.run_id = ? ORDER BY slot.sequence",
            )?
            .query_map([run.0], |row| {
                Ok(Slot {
                    block: row.get(0)?,
                    position: row.get(1)?,
                    contender: row.get::<_, u32>(2)? as usize,
                    workload: row.get::<_, u32>(3)? as usize,
                })
            })?
            .collect()
        })?;
        let planned = &header.plan.schedule;
        let differs = (0..planned.len()).find(|&at| slots.get(at) != planned.get(at));
        match differs {
            None => Ok(()),
            Some(at) => {
                let detail = format!("trial {at} is another in its table slot than in its plan");
                Err(StoreError::bad_run(&self.path, run, detail))
            }
        }
    }

    /// Refuses looks that decide about what the RUN does not have.
    pub(crate) fn decisions_fit(
        &self,
        run: RunId,
        looks: &[InterimAnalysis],
    ) -> Result<(), StoreError> {
        if looks.iter().all(|look| look.decided.is_empty()) {
            return Ok(());
        }
        let questions = self.places(run, "question", "position")?.0;
        let contenders = self.places(run, "contender", "position")?.0;
        for (number, look) in (1..).zip(looks) {
            let mut pairs = look.decided.iter();
            if pairs.any(|pair| pair.question >= questions || pair.a.max(pair.b) >= contenders) {
                let detail = format!(
                    "look {number} decides about a question or contender that it does not have"
                );
                return Err(StoreError::bad_run(&self.path, run, detail));
            }
        }
        Ok(())
    }
}
