//! What a RUN asks in rows, and what its looks decided. Both are fixed once written: a question
//! before block 1, a look when it was taken, the stop when there was no further block.
//!
//! Verdicts themselves come from the scores; nothing here computes one.

use crate::columns::{int, unsigned, word};
use crate::{RunId, Store, StoreError};
use fsarena_model::verdict::{DecidedPair, InterimAnalysis, Stop, StopWhy, Verdict, VerdictPlan};
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use std::collections::BTreeSet;

/// Questions in the order of the plan; `workloads` are the numbers of its workloads.
pub(crate) fn insert_questions(
    t: &Transaction<'_>,
    run: i64,
    ask: &VerdictPlan,
    workloads: &[i64],
) -> rusqlite::Result<()> {
    let mut insert = t.prepare(
        "INSERT INTO question (run_id, position, workload_id, phase, metric, clock, headline)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (position, question) in ask.questions.iter().enumerate() {
        insert.execute(params![
            run,
            int(position as u64),
            workloads[question.workload],
            question.phase,
            question.metric.name(),
            question.clock.name(),
            ask.headline == Some(position),
        ])?;
    }
    Ok(())
}

impl Store {
    /// Stores what a look decided: all of it or nothing, on stable storage when this returns.
    ///
    /// # Errors
    /// When there is no such RUN, it has ended, the look does not follow the one before (more
    /// blocks, pairs that were not decided yet), it names what the plan does not contain, or the
    /// write fails.
    pub fn put_look(&self, run: RunId, look: &InterimAnalysis) -> Result<(), StoreError> {
        self.exists(run)?;
        if let Some(Stop { blocks, why }) = self.stop(run)? {
            return Err(StoreError::AlreadyStopped { run, blocks, why });
        }
        let refused = self.transaction(|t| {
            let known = KnownIds::read(t, run.0)?;
            match known.ids(look) {
                Ok(pairs) => insert_look(t, run.0, look, &pairs).map(|()| None),
                Err(detail) => Ok(Some(detail)),
            }
        })?;
        match refused {
            Some(detail) => Err(StoreError::BadLook { run, blocks: look.blocks, detail }),
            None => Ok(()),
        }
    }

    /// The looks of a RUN, in order.
    ///
    /// # Errors
    /// When there is no such RUN or the database cannot be read.
    pub fn looks(&self, run: RunId) -> Result<Vec<InterimAnalysis>, StoreError> {
        let _snapshot = self.read_transaction()?;
        self.exists(run)?;
        let mut looks: Vec<(i64, InterimAnalysis)> = self.sql(|c| {
            let sql = "SELECT id, blocks, at_unix_ns FROM look WHERE run_id = ? ORDER BY number";
            c.prepare_cached(sql)?
                .query_map([run.0], |row| {
                    let at_unix_ns = unsigned(row, 2)?;
                    let look =
                        InterimAnalysis { blocks: row.get(1)?, at_unix_ns, decided: Vec::new() };
                    Ok((row.get(0)?, look))
                })?
                .collect()
        })?;
        self.sql(|c| {
            let mut select = c.prepare_cached(
                "SELECT question.position, a.position, b.position, decision.verdict FROM decision
                 JOIN question ON question.id = decision.question_id
                 JOIN contender AS a ON a.id = decision.a_id
                 JOIN contender AS b ON b.id = decision.b_id
                 WHERE decision.look_id = ? ORDER BY decision.position",
            )?;
            for (id, look) in &mut looks {
                let index = |row: &Row<'_>, at| row.get::<_, u32>(at).map(|n| n as usize);
                let decided = select.query_map([*id], |row| {
                    Ok(DecidedPair {
                        question: index(row, 0)?,
                        a: index(row, 1)?,
                        b: index(row, 2)?,
                        verdict: word(row, 3, decided)?,
                    })
                })?;
                look.decided = decided.collect::<rusqlite::Result<_>>()?;
            }
            Ok(())
        })?;
        let looks: Vec<InterimAnalysis> = looks.into_iter().map(|(_, look)| look).collect();
        self.decisions_fit(run, &looks)?;
        Ok(looks)
    }

    /// Stores why a RUN has no further block. Its state is another matter ([`Store::set_state`]).
    ///
    /// # Errors
    /// When there is no such RUN, this has been stored before, or the write fails.
    pub fn set_stop(&self, run: RunId, stop: Stop) -> Result<(), StoreError> {
        let changed = self.transaction(|t| {
            t.execute(
                "UPDATE run SET stop_blocks = ?, stop_why = ? WHERE id = ? AND stop_why IS NULL",
                params![stop.blocks, stop.why.name(), run.0],
            )
        })?;
        match (changed, self.stop(run)?) {
            (0, Some(Stop { blocks, why })) => Err(StoreError::AlreadyStopped { run, blocks, why }),
            _ => Ok(()),
        }
    }

    /// Why a RUN has no further block; absent while it runs or was interrupted, and for RUNs that
    /// ask nothing.
    ///
    /// # Errors
    /// When there is no such RUN or the database cannot be read.
    pub fn stop(&self, run: RunId) -> Result<Option<Stop>, StoreError> {
        self.exists(run)?;
        self.sql(|c| {
            let mut select = c.prepare_cached(
                "SELECT stop_blocks, stop_why FROM run WHERE id = ? AND stop_why IS NOT NULL",
            )?;
            let stop = |row: &Row<'_>| {
                let why = word(row, 1, StopWhy::named)?;
                Ok(Stop { blocks: row.get(0)?, why })
            };
            select.query_row([run.0], stop).optional()
        })
    }

    /// Without counting its trials, as [`Store::run`] does.
    pub(crate) fn exists(&self, run: RunId) -> Result<(), StoreError> {
        let found = self.sql(|c| {
            let mut select = c.prepare_cached("SELECT 1 FROM run WHERE id = ?")?;
            select.exists([run.0])
        })?;
        if found { Ok(()) } else { Err(self.no_such_run(run)) }
    }
}

/// What a look may name.
struct KnownIds {
    /// Numbers of the questions, in order.
    questions: Vec<i64>,
    /// Numbers of the contenders, in order.
    contenders: Vec<i64>,
    /// Blocks of the latest look.
    latest_blocks: u32,
    /// Pairs that were decided: question and two contenders, the smaller number first.
    decided: BTreeSet<(i64, i64, i64)>,
}

/// A decision with the numbers of what it names.
type Ids = (i64, i64, i64, Verdict);

impl KnownIds {
    fn read(t: &Transaction<'_>, run: i64) -> rusqlite::Result<Self> {
        let ids = |sql: &str| -> rusqlite::Result<Vec<i64>> {
            t.prepare(sql)?.query_map([run], |row| row.get(0))?.collect()
        };
        let latest = "SELECT coalesce(max(blocks), 0) FROM look WHERE run_id = ?";
        let decided = t
            .prepare(
                "SELECT question_id, min(a_id, b_id), max(a_id, b_id) FROM decision
                 JOIN look ON look.id = decision.look_id WHERE look.run_id = ?",
            )?
            .query_map([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Self {
            questions: ids("SELECT id FROM question WHERE run_id = ? ORDER BY position")?,
            contenders: ids("SELECT id FROM contender WHERE run_id = ? ORDER BY position")?,
            latest_blocks: t.query_row(latest, [run], |row| row.get(0))?,
            decided,
        })
    }

    /// The numbers of what a look names, or why it is none.
    fn ids(mut self, look: &InterimAnalysis) -> Result<Vec<Ids>, String> {
        if look.blocks <= self.latest_blocks {
            return Err(format!("there was one after {} blocks", self.latest_blocks));
        }
        let mut ids = Vec::with_capacity(look.decided.len());
        for pair in &look.decided {
            let contender = |index: usize| self.contenders.get(index).copied();
            let (Some(question), Some(a), Some(b)) =
                (self.questions.get(pair.question), contender(pair.a), contender(pair.b))
            else {
                return Err("it names a question or contender that is not there".to_owned());
            };
            if pair.verdict == Verdict::Undecided || a == b {
                return Err(format!("question {}: this decides nothing", pair.question));
            }
            if !self.decided.insert((*question, a.min(b), a.max(b))) {
                return Err(format!("question {}: the pair was decided before", pair.question));
            }
            ids.push((*question, a, b, pair.verdict));
        }
        Ok(ids)
    }
}

fn insert_look(
    t: &Transaction<'_>,
    run: i64,
    look: &InterimAnalysis,
    pairs: &[Ids],
) -> rusqlite::Result<()> {
    t.execute(
        "INSERT INTO look (run_id, number, blocks, at_unix_ns)
         SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3 FROM look WHERE run_id = ?1",
        params![run, look.blocks, int(look.at_unix_ns)],
    )?;
    let id = t.last_insert_rowid();
    let mut insert = t.prepare(
        "INSERT INTO decision (look_id, position, question_id, a_id, b_id, verdict)
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for (position, (question, a, b, verdict)) in pairs.iter().enumerate() {
        insert.execute(params![id, int(position as u64), question, a, b, verdict.word()])?;
    }
    Ok(())
}

/// What was decided: a pair that was not has no row.
fn decided(word: &str) -> Option<Verdict> {
    Verdict::named(word).filter(|verdict| *verdict != Verdict::Undecided)
}
