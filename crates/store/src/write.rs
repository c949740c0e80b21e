//! Writing: plans and states, each in one transaction. Records have a module of their own.

use crate::columns::{int, int_if, json, sha256};
use crate::verdict::insert_questions;
use crate::{Owner, RunId, Store, StoreError};
use fsarena_model::contender::DeviceLevel;
use fsarena_model::factor;
use fsarena_model::header_rules;
use fsarena_model::job::{Compression, Origin, Source};
use fsarena_model::run::{RunHeader, RunPlan, RunState};
use rusqlite::{OptionalExtension as _, Transaction, params};
use std::collections::BTreeSet;

/// A file of which this part is free is made smaller.
const SHRINK_FROM: i64 = 4;

impl Store {
    /// Stores a plan as a RUN in state `running`, owned by this process.
    ///
    /// # Errors
    /// When the plan refers to what it does not contain, or the database cannot be written.
    pub fn create_run(&self, header: &RunHeader, owner: &Owner) -> Result<RunId, StoreError> {
        consistent(header)?;
        let raw =
            header.to_json().map_err(|error| StoreError::BadPlan { detail: error.to_string() })?;
        self.transaction(|t| {
            let run = insert_run(t, header, owner, &raw)?;
            let contenders = insert_contenders(t, run, &header.plan)?;
            let workloads = insert_workloads(t, run, &header.plan)?;
            if let Some(ask) = &header.plan.verdict {
                insert_questions(t, run, ask, &workloads)?;
            }
            let mut slot = t.prepare(
                "INSERT INTO slot (run_id, sequence, block, position, contender_id, workload_id)
                 VALUES (?, ?, ?, ?, ?, ?)",
            )?;
            for (sequence, planned) in header.plan.schedule.iter().enumerate() {
                slot.execute(params![
                    run,
                    int(sequence as u64),
                    planned.block,
                    planned.position,
                    contenders[planned.contender],
                    workloads[planned.workload],
                ])?;
            }
            Ok(RunId(run))
        })
    }

    /// Sets the state of a RUN, with a word of explanation for people.
    ///
    /// # Errors
    /// When there is no such RUN or the write fails.
    pub fn set_state(
        &self,
        run: RunId,
        state: RunState,
        note: Option<&str>,
    ) -> Result<(), StoreError> {
        let changed = self.transaction(|t| {
            t.execute(
                "UPDATE run SET state = ?, note = ? WHERE id = ?",
                params![state.name(), note, run.0],
            )
        })?;
        if changed == 0 { Err(self.no_such_run(run)) } else { Ok(()) }
    }

    /// Deletes RUNs with all that belongs to them, all of them or none. Their numbers are not given
    /// again.
    ///
    /// # Errors
    /// When there is no such RUN, one of them is being carried out, or the write fails.
    pub fn delete_runs(&self, runs: &[RunId]) -> Result<(), StoreError> {
        let running = |t: &Transaction<'_>, run: RunId| -> rusqlite::Result<Option<(bool, u32)>> {
            let sql = "SELECT state = 'running', owner_pid FROM run WHERE id = ?";
            t.query_row(sql, [run.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        };
        // What was deleted stays in no free page of the file.
        self.sql(|c| c.pragma_update(None, "secure_delete", true))?;
        let refused = self.transaction(|t| {
            for &run in runs {
                match running(t, run)? {
                    None => return Ok(Some(self.no_such_run(run))),
                    Some((true, pid)) => return Ok(Some(StoreError::StillRunning { run, pid })),
                    Some((false, _)) => {}
                }
            }
            for run in runs {
                t.execute("DELETE FROM run WHERE id = ?", [run.0])?;
            }
            Ok(None)
        })?;
        refused.map_or(Ok(()), Err)
    }

    /// Gives what was deleted back to the file system where that is a quarter of the file: the file
    /// is written anew. Less is used again by the next records.
    ///
    /// # Errors
    /// When the write fails, or there is no room for a second copy of the database.
    pub fn shrink(&self) -> Result<(), StoreError> {
        let pages = |pragma| self.sql(|c| c.pragma_query_value(None, pragma, |row| row.get(0)));
        let (free, all): (i64, i64) = (pages("freelist_count")?, pages("page_count")?);
        if free < all / SHRINK_FROM {
            return Ok(());
        }
        self.sql_on_all(|c| c.execute_batch("VACUUM"))
    }

    /// Sets a RUN to interrupted if it is still called running by `owner`: since that one was
    /// looked at, the RUN may have ended, or another process may have taken it up.
    ///
    /// # Errors
    /// When the write fails.
    pub fn interrupt_if_running(
        &self,
        run: RunId,
        owner: &Owner,
        note: &str,
    ) -> Result<(), StoreError> {
        self.transaction(|t| {
            t.execute(
                "UPDATE run SET state = 'interrupted', note = ? WHERE id = ? AND state = 'running'
                 AND owner_pid = ? AND owner_start_ticks = ? AND owner_boot_id = ?",
                params![note, run.0, owner.pid, int(owner.start_ticks), owner.boot_id],
            )
        })?;
        Ok(())
    }
}

/// Refuses a plan whose parts refer to what is not there, or that has one contender twice.
fn consistent(header: &RunHeader) -> Result<(), StoreError> {
    header_rules::check(header).map_err(|rule| StoreError::BadPlan { detail: rule.to_string() })?;
    let plan = &header.plan;
    let bad = |detail: String| Err(StoreError::BadPlan { detail });
    let mut seen = BTreeSet::new();
    for contender in &plan.contenders {
        if !seen.insert(contender.id()) {
            return bad(format!(
                "two contenders are the same ({}); write them as replicates (`--fs {},{}`)",
                contender.label, contender.levels.fs, contender.levels.fs
            ));
        }
    }
    let names: BTreeSet<&str> = plan.workloads.iter().map(|w| w.name.as_str()).collect();
    if names.len() != plan.workloads.len() {
        return bad("two workloads have the same name; rename one".to_owned());
    }
    Ok(())
}

fn insert_run(
    t: &Transaction<'_>,
    header: &RunHeader,
    owner: &Owner,
    raw: &str,
) -> rusqlite::Result<i64> {
    t.execute(
        "INSERT INTO run (uid, experiment, title, created_unix_ns, hostname, state, owner_pid,
         owner_start_ticks, owner_boot_id, raw, raw_sha256)
         VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?)",
        params![
            header.uid,
            header.experiment,
            header.title,
            int(header.created_unix_ns),
            header.host.hostname,
            owner.pid,
            int(owner.start_ticks),
            owner.boot_id,
            raw,
            sha256(raw),
        ],
    )?;
    Ok(t.last_insert_rowid())
}

fn insert_contenders(t: &Transaction<'_>, run: i64, plan: &RunPlan) -> rusqlite::Result<Vec<i64>> {
    let mut insert = t.prepare(
        "INSERT INTO contender (run_id, position, identity, label, replicate, fs, device,
         device_size_bytes, device_path) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let mut level =
        t.prepare("INSERT INTO level (contender_id, factor, value) VALUES (?, ?, ?)")?;
    let mut ids = Vec::with_capacity(plan.contenders.len());
    for (position, contender) in plan.contenders.iter().enumerate() {
        let levels = &contender.levels;
        let path = match &levels.device {
            DeviceLevel::Block { path, .. } | DeviceLevel::Directory { path } => {
                Some(path.to_string_lossy())
            }
            // Of several the text, where one of them has a path.
            DeviceLevel::Several { members } => members
                .iter()
                .any(|member| matches!(member, DeviceLevel::Block { .. }))
                .then(|| levels.device.written().into()),
            _ => None,
        };
        insert.execute(params![
            run,
            int(position as u64),
            contender.id().0,
            contender.label,
            contender.replicate,
            levels.fs.name,
            levels.device.kind(),
            int_if(levels.device.size_bytes()),
            path,
        ])?;
        let id = t.last_insert_rowid();
        for (factor, value) in factor::levels_of(levels) {
            level.execute(params![id, factor, value])?;
        }
        ids.push(id);
    }
    Ok(ids)
}

fn insert_workloads(t: &Transaction<'_>, run: i64, plan: &RunPlan) -> rusqlite::Result<Vec<i64>> {
    let mut insert = t.prepare(
        "INSERT INTO workload (run_id, position, name, title, files, size_bytes, dirs, depth,
         name_bytes, sizes, per_dir, fio, source, source_origin, source_path, source_place,
         source_archive, source_contents)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let mut ids = Vec::with_capacity(plan.workloads.len());
    for (position, workload) in plan.workloads.iter().enumerate() {
        let (set, source) = (&workload.dataset, workload.source.as_ref());
        let (origin, path) = source.map_or((None, None), origin_columns);
        insert.execute(params![
            run,
            int(position as u64),
            workload.name,
            workload.title,
            int(set.files),
            int(set.size_bytes),
            int(set.dirs),
            set.levels(),
            set.file_name_bytes(),
            set.sizes.as_ref().map(json),
            set.per_dir.as_ref().map(json),
            workload.fio.is_some(),
            source.map(|s| &s.name),
            origin,
            path,
            source.map(|s| s.place.name()),
            source.and_then(|s| s.archive).map(Compression::name),
            source.map(|s| json(&s.contents)),
        ])?;
        ids.push(t.last_insert_rowid());
    }
    Ok(ids)
}

/// Where a source comes from, and the path of the user's own.
fn origin_columns(source: &Source) -> (Option<&'static str>, Option<String>) {
    match &source.origin {
        Origin::Made { .. } => (Some("made"), None),
        Origin::Own { path } => (Some("own"), Some(path.to_string_lossy().into_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records::{self, contender, small_files};

    /// A full file system, simulated by a limit on pages: SQLite takes the same way out.
    #[test]
    fn a_full_disk_stores_nothing_half() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.db");
        let store = Store::open(&path).unwrap();
        let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 9);
        let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
        let run = store.create_run(&header, &owner).unwrap();
        let first = records::record(&header, 0);
        store.put_record(run, &first).unwrap();

        let pages: i64 = store.sql(|c| c.query_row("PRAGMA page_count", [], |r| r.get(0))).unwrap();
        store.sql(|c| c.query_row(&limit(pages + 1), [], |_| Ok(()))).unwrap();
        let mut large = records::record(&header, 1);
        large.notices.push(fsarena_model::record::Notice {
            code: "large".to_owned(),
            text: "x".repeat(1 << 20),
            remedy: None,
            measure: None,
        });
        let error = store.put_record(run, &large).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        assert!(error.to_string().contains("Free some space"), "{error}");

        store.sql(|c| c.query_row(&limit(1 << 30), [], |_| Ok(()))).unwrap();
        assert_eq!(store.records(run).unwrap(), std::slice::from_ref(&first));
        store.put_record(run, &large).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.records(run).unwrap(), [first, large]);
    }

    fn limit(pages: i64) -> String {
        format!("PRAGMA max_page_count = {pages}")
    }
}
