//! Merging: RUNs of another database are taken whole or not at all, and neither what is here nor
//! the other file changes.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::crash::CrashSlot;
use fsarena_model::record::{Notice, Outcome};
use fsarena_model::run::{NotRun, RunHeader, RunState};
use fsarena_model::verdict::{DecidedPair, InterimAnalysis, Pairs, Rule, Stop, StopWhy, Verdict};
use fsarena_store::{MergeOutcome, Merged, Owner, RunId, SCHEMA_VERSION, Store, StoreError};
use fsarena_testkit::crash;
use fsarena_testkit::records::{self, contender, small_files};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn owner() -> Owner {
    Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() }
}

/// Two contenders on small files, six trials.
fn header(uid: &str, host: &str) -> RunHeader {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let mut header = records::header(contenders, vec![small_files()], 3);
    header.uid = uid.repeat(16 / uid.len());
    header.host.hostname = host.to_owned();
    header
}

/// A RUN with the records of these trials; the last of them may be an interrupted attempt.
fn put(store: &Store, header: &RunHeader, trials: std::ops::Range<u32>) -> RunId {
    let run = store.create_run(header, &owner()).unwrap();
    store.put_session(run, &records::session("b", 0)).unwrap();
    for sequence in trials {
        store.put_record(run, &records::record(header, sequence)).unwrap();
    }
    store.set_state(run, RunState::Interrupted, Some("Ctrl-C")).unwrap();
    run
}

/// A database called `name` with one RUN, and one more for each further header.
fn database(dir: &TempDir, name: &str, headers: &[&RunHeader]) -> PathBuf {
    let path = dir.path().join(name);
    let store = Store::open(&path).unwrap();
    for header in headers {
        put(&store, header, 0..4);
    }
    path
}

fn fates(merged: &Merged) -> Vec<&MergeOutcome> {
    merged.runs.iter().map(|run| &run.outcome).collect()
}

/// A RUN that has rows in every table.
fn everything(path: &Path) -> RunHeader {
    let mut header = header("eeee0000eeee0000", "elsewhere");
    header.plan.contenders[0].levels.fs.mkfs.insert("block_size".to_owned(), "1024".to_owned());
    header.plan.contenders[0].levels.fs.mount.push("noatime".to_owned());
    header.plan.workloads = vec![small_files(), records::metadata(), records::real_work()];
    for (at, slot) in header.plan.schedule.iter_mut().enumerate() {
        slot.workload = at % 3;
    }
    for workload in [None, Some(2)] {
        let reason = "it is too small".to_owned();
        header.plan.not_run.push(NotRun { contender: 1, workload, reason });
    }
    let mut ask = records::asked(&header.plan, Rule::Looks { cap: 8 });
    ask.pairs = Pairs::Baseline { contender: 1 };
    header.plan.verdict = Some(ask);
    header.plan.not_run.retain(|row| row.workload.is_some());
    header.plan.crash = Some(crash::plan());
    let store = Store::open(path).unwrap();
    let run = store.create_run(&header, &owner()).unwrap();
    store.put_session(run, &records::session("b", 0)).unwrap();
    store.put_session(run, &records::session("c", 2)).unwrap();
    for (blocks, question, verdict) in [(4, 5, Verdict::Same), (6, 2, Verdict::Slower)] {
        let decided = vec![DecidedPair { question, a: 0, b: 1, verdict }];
        store.put_look(run, &InterimAnalysis { blocks, at_unix_ns: 7, decided }).unwrap();
    }
    store.set_stop(run, Stop { blocks: 6, why: StopWhy::Decided }).unwrap();
    for sequence in 0..6 {
        let mut record = records::record(&header, sequence);
        record.notices.push(Notice {
            code: "large".to_owned(),
            text: format!("of trial {sequence}"),
            remedy: None,
            measure: Some(1.5),
        });
        if sequence == 4 {
            let broken = fsarena_model::record::TrialRecord {
                outcome: Outcome::Interrupted,
                ..record.clone()
            };
            store.put_record(run, &broken).unwrap();
        }
        store.put_record(run, &record).unwrap();
    }
    for slot in header.plan.crash_slots() {
        let traits = crash::Traits { loss_s: 30, ..crash::Traits::default() };
        store.put_crash_run(run, &crash::run(&header, slot, traits)).unwrap();
    }
    store.set_state(run, RunState::Done, Some("all of it")).unwrap();
    header
}

/// All rows of every table, without the numbers that differ between databases.
fn contents(path: &Path) -> BTreeMap<String, Vec<String>> {
    let raw = Connection::open(path).unwrap();
    let strings = |sql: &str| -> Vec<String> {
        let mut statement = raw.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let names =
        strings("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'");
    let mut all = BTreeMap::new();
    for table in names {
        let columns = strings(&format!(
            "SELECT '\"' || name || '\"' FROM pragma_table_info('{table}') WHERE name NOT IN ('id', 'phase_id')
             AND name NOT IN (SELECT \"from\" FROM pragma_foreign_key_list('{table}'))
             AND name <> 'merged'"
        ));
        let sql = format!("SELECT {} FROM \"{table}\"", columns.join(", "));
        let mut statement = raw.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| {
            let values: Result<Vec<Value>, _> =
                (0..columns.len()).map(|at| row.get::<_, Value>(at)).collect();
            Ok(format!("{:?}", values?))
        });
        let mut rows: Vec<String> = rows.unwrap().collect::<Result<_, _>>().unwrap();
        rows.sort_unstable();
        all.insert(table, rows);
    }
    all
}

/// Rows of every table that is not a RUN's own, with the names of what they belong to.
fn belongings(path: &Path, run: RunId) -> Vec<String> {
    let raw = Connection::open(path).unwrap();
    let of_phase = "JOIN phase ON phase.id = phase_id JOIN trial ON trial.id = trial_id
                    JOIN slot ON slot.id = slot_id";
    let of_trial = "JOIN trial ON trial.id = trial_id JOIN slot ON slot.id = slot_id";
    let at_phase = "concat_ws(' ', slot.sequence, trial.attempt, phase.name";
    let at_trial = "concat_ws(' ', slot.sequence, trial.attempt";
    let mut all = Vec::new();
    for sql in [
        format!("SELECT {at_phase}, c.window, c.name, c.value) FROM counter AS c {of_phase}"),
        format!("SELECT {at_phase}, c.metric, c.readings) FROM series_column AS c {of_phase}"),
        format!("SELECT {at_phase}, c.t_ns) FROM series AS c {of_phase}"),
        format!("SELECT {at_phase}, c.number, c.ops) FROM thread AS c {of_phase}"),
        format!("SELECT {at_phase}, c.path) FROM tool AS c {of_phase}"),
        format!("SELECT {at_phase}, c.version) FROM program AS c {of_phase}"),
        format!("SELECT {at_trial}, c.step, c.elapsed_ns) FROM step AS c {of_trial}"),
        format!("SELECT {at_trial}, c.text) FROM notice AS c {of_trial}"),
        format!("SELECT {at_trial}, c.about, c.name, c.value) FROM fact AS c {of_trial}"),
        format!("SELECT {at_trial}, c.name, c.written_bytes) FROM score AS c {of_trial}"),
    ] {
        let sql = format!("{sql} WHERE slot.run_id = {run} ORDER BY 1");
        let mut statement = raw.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let rows: Vec<String> = rows.collect::<Result<_, _>>().unwrap();
        assert!(!rows.is_empty(), "{sql}");
        all.extend(rows);
    }
    let plan = format!(
        "SELECT concat_ws(' ', contender.label, coalesce(workload.name, 'all'), reason) FROM not_run
         JOIN contender ON contender.id = contender_id
         LEFT JOIN workload ON workload.id = workload_id WHERE not_run.run_id = {run}
         UNION ALL SELECT concat_ws(' ', label, kind, name, value) FROM contender_option
         JOIN contender ON contender.id = contender_id WHERE run_id = {run}
         UNION ALL SELECT concat_ws(' ', label, factor, value) FROM level
         JOIN contender ON contender.id = contender_id WHERE run_id = {run}
         UNION ALL SELECT concat_ws(' ', sequence, label, workload.name) FROM slot
         JOIN contender ON contender.id = contender_id
         JOIN workload ON workload.id = workload_id WHERE slot.run_id = {run}
         UNION ALL SELECT concat_ws(' ', position, w.name, phase) FROM question
         JOIN (SELECT id, name FROM workload) AS w ON w.id = workload_id WHERE run_id = {run}
         UNION ALL SELECT concat_ws(' ', workload, phase, a, verdict, b, look) FROM decided
         WHERE decided.run = {run} ORDER BY 1"
    );
    let mut statement = raw.prepare(&plan).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    all.extend(rows.map(Result::unwrap));
    all
}

/// A table that a later schema adds is empty here, and fails this test until a sample fills it.
#[test]
fn every_table_comes_along() {
    let dir = TempDir::new().unwrap();
    let theirs = dir.path().join("theirs.db");
    let header = everything(&theirs);
    let before = std::fs::read(&theirs).unwrap();
    // Another RUN is here already, so that all numbers are taken.
    let ours = database(&dir, "ours.db", &[&self::header("aaaa0000aaaa0000", "here")]);
    let mut store = Store::open(&ours).unwrap();
    let merged = store.merge(&theirs).unwrap();
    assert_eq!(fates(&merged), [&MergeOutcome::Taken { run: RunId(2) }]);
    assert_eq!((merged.taken(), merged.refused()), (1, 0));

    let other = Store::open_read_only(&theirs).unwrap();
    let (here, there) = (RunId(2), RunId(1));
    assert_eq!(store.header(here).unwrap(), header);
    assert_eq!(store.attempts(here).unwrap(), other.attempts(there).unwrap());
    assert_eq!(store.attempts(here).unwrap().len(), 7);
    assert_eq!(store.sessions(here).unwrap(), other.sessions(there).unwrap());
    assert_eq!(store.scores(here).unwrap(), other.scores(there).unwrap());
    assert_eq!(store.looks(here).unwrap(), other.looks(there).unwrap());
    assert_eq!(store.looks(here).unwrap().len(), 2);
    assert_eq!(store.stop(here).unwrap(), Some(Stop { blocks: 6, why: StopWhy::Decided }));
    let row = store.run(here).unwrap();
    assert_eq!((row.host.as_str(), row.merged), ("elsewhere", true));
    let as_there = fsarena_store::RunRow { id: there, merged: false, ..row };
    assert_eq!(as_there, other.run(there).unwrap());
    assert_eq!(belongings(&ours, here), belongings(&theirs, there));

    assert_eq!(store.attempts(RunId(1)).unwrap().len(), 4, "ours are as they were");
    drop((store, other));
    let raw = Connection::open(&ours).unwrap();
    raw.pragma_update(None, "foreign_keys", true).unwrap();
    raw.execute("DELETE FROM run WHERE id = 1", []).unwrap();
    let (ours, of_theirs) = (contents(&ours), contents(&theirs));
    assert_eq!(of_theirs.len(), 15);
    for (table, rows) in &of_theirs {
        assert!(!rows.is_empty(), "the sample has nothing in table {table}");
        assert_eq!(&ours[table], rows, "{table}");
    }
    assert!(std::fs::read(&theirs).unwrap() == before, "the other file was changed");
}

#[test]
fn again_it_is_the_same() {
    let dir = TempDir::new().unwrap();
    let (one, two) = (header("aaaa", "a"), header("bbbb", "b"));
    let theirs = database(&dir, "theirs.db", &[&one, &two]);
    let mut store = Store::open(&dir.path().join("ours.db")).unwrap();
    let first = store.merge(&theirs).unwrap();
    assert_eq!(first.taken(), 2);
    let hosts: Vec<&str> = first.runs.iter().map(|run| run.there.host.as_str()).collect();
    assert_eq!(hosts, ["a", "b"]);
    let second = store.merge(&theirs).unwrap();
    assert_eq!(fates(&second), [1, 2].map(|id| MergeOutcome::Same { run: RunId(id) }).each_ref());
    assert_eq!(store.runs().unwrap().len(), 2);
    // From hand to hand.
    let mut third = Store::open(&dir.path().join("third.db")).unwrap();
    assert_eq!(third.merge(&dir.path().join("ours.db")).unwrap().taken(), 2);
    assert_eq!(third.merge(&theirs).unwrap().taken(), 0);
}

#[test]
fn a_run_that_went_on_is_told_from_one_that_differs() {
    let dir = TempDir::new().unwrap();
    let header = header("aaaa", "a");
    let start = database(&dir, "start.db", &[&header]);
    let longer = dir.path().join("longer.db");
    std::fs::copy(&start, &longer).unwrap();
    let store = Store::open(&longer).unwrap();
    let mut broken = records::record(&header, 4);
    broken.outcome = Outcome::Interrupted;
    store.put_record(RunId(1), &broken).unwrap();
    store.put_record(RunId(1), &records::record(&header, 4)).unwrap();
    drop(store);
    let outcome = |ours: &Path, theirs: &Path| {
        let mut store = Store::open(ours).unwrap();
        let before = store.attempts(RunId(1)).unwrap();
        let merged = store.merge(theirs).unwrap();
        assert_eq!(store.attempts(RunId(1)).unwrap(), before, "nothing is overwritten");
        assert_eq!(store.runs().unwrap().len(), 1);
        merged.runs.into_iter().next().unwrap().outcome
    };
    let run = RunId(1);
    assert_eq!(outcome(&start, &longer), MergeOutcome::LongerThere { run, more: 2 });
    assert_eq!(outcome(&longer, &start), MergeOutcome::LongerHere { run, more: 2 });

    let differs = |name: &str, change: &dyn Fn(&Store)| {
        let path = dir.path().join(name);
        std::fs::copy(&start, &path).unwrap();
        change(&Store::open(&path).unwrap());
        match outcome(&path, &longer) {
            MergeOutcome::Differs { run: RunId(1), what } => what,
            other => panic!("{other:?}"),
        }
    };
    let record = |sequence: u32, elapsed_ns: u64| {
        let mut record = records::record(&header, sequence);
        record.elapsed_ns = elapsed_ns;
        record
    };
    let what = differs("record.db", &|store| store.put_record(run, &record(4, 7)).unwrap());
    assert_eq!(what, "attempt 1 at its trial 4 is another");
    let what = differs("both.db", &|store| store.put_record(run, &record(5, 7)).unwrap());
    assert_eq!(what, "both went on with it: 1 records only here, 2 only there");
    let mut sample = records::record(&header, 4);
    sample.outcome = Outcome::Interrupted;
    sample.phases[2].series.as_mut().unwrap().t_ns[1] += 1;
    let what = differs("series.db", &|store| store.put_record(run, &sample).unwrap());
    assert_eq!(what, "attempt 1 at its trial 4 is another", "series are compared too");

    let interim = |blocks: u32| InterimAnalysis { blocks, at_unix_ns: 7, decided: Vec::new() };
    Store::open(&longer).unwrap().put_look(run, &interim(4)).unwrap();
    assert_eq!(
        outcome(&longer, &start),
        MergeOutcome::LongerHere { run, more: 2 },
        "looks go with records"
    );
    let what = differs("look.db", &|store| store.put_look(run, &interim(6)).unwrap());
    assert_eq!(what, "a look decided otherwise");

    let mut other_plan = header.clone();
    other_plan.plan.scale = 0.5;
    let path = database(&dir, "plan.db", &[&other_plan]);
    let mut store = Store::open(&path).unwrap();
    let merged = store.merge(&start).unwrap();
    let what = "its plan is another".to_owned();
    assert_eq!((fates(&merged), merged.refused()), (vec![&MergeOutcome::Differs { run, what }], 1));
}

#[test]
fn a_run_at_work_is_skipped_and_the_others_are_taken() {
    let dir = TempDir::new().unwrap();
    let theirs = database(&dir, "theirs.db", &[&header("aaaa", "a")]);
    let store = Store::open(&theirs).unwrap();
    let at_work = store.create_run(&header("bbbb", "a"), &owner()).unwrap();
    put(&store, &header("cccc", "a"), 0..1);
    let mut ours = Store::open(&dir.path().join("ours.db")).unwrap();
    let merged = ours.merge(&theirs).unwrap();
    let taken = |id| MergeOutcome::Taken { run: RunId(id) };
    assert_eq!(fates(&merged), [&taken(1), &MergeOutcome::AtWork, &taken(2)]);
    store.set_state(at_work, RunState::Done, None).unwrap();
    let merged = ours.merge(&theirs).unwrap();
    assert_eq!(merged.runs[1].outcome, taken(3));
}

/// An interrupted RUN of another machine must not be gone on with here, nor foretell times here.
#[test]
fn what_was_merged_is_not_this_machines_own() {
    let dir = TempDir::new().unwrap();
    let mut newer = header("bbbb", "b");
    newer.created_unix_ns += 1;
    let theirs = database(&dir, "theirs.db", &[&newer, &header("aaaa", "a")]);
    let mut store = Store::open(&dir.path().join("ours.db")).unwrap();
    store.merge(&theirs).unwrap();
    assert_eq!(store.find("latest").unwrap(), RunId(1), "the newest, where all were merged");
    assert_eq!(store.resumable().unwrap(), []);
    let costs = store.costs().unwrap();
    assert!(costs.ops.is_empty() && costs.overheads.is_empty(), "{costs:?}");
    let refused = store.adopt(RunId(1), &owner(), |_| false).unwrap_err();
    assert!(matches!(refused, StoreError::Elsewhere { .. }), "{refused}");
    assert!(refused.to_string().contains("fsarena merge"), "{refused}");

    let mut older = header("cccc", "c");
    older.created_unix_ns -= 1;
    let own = put(&store, &older, 0..2);
    assert_eq!(store.find("latest").unwrap(), own);
    assert_eq!(store.resumable().unwrap().len(), 1);
    assert!(!store.costs().unwrap().ops.is_empty());
}

/// Expects a refusal that leaves both files as they were.
fn refused(ours: &Path, theirs: &Path, kind: fn(&StoreError) -> bool) -> String {
    let bytes = |path: &Path| std::fs::read(path).ok();
    let before = (bytes(ours), bytes(theirs));
    let mut store = Store::open(ours).unwrap();
    let error = store.merge(theirs).unwrap_err();
    assert!(kind(&error), "{error:?}");
    drop(store);
    assert!((bytes(ours), bytes(theirs)) == before, "a file was changed");
    error.to_string()
}

#[test]
fn what_cannot_be_merged_changes_nothing() {
    let dir = TempDir::new().unwrap();
    let ours = database(&dir, "ours.db", &[&header("aaaa", "a")]);
    let theirs = |name: &str| database(&dir, name, &[&header("bbbb", "b"), &header("cccc", "c")]);

    let newer = theirs("newer.db");
    Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", SCHEMA_VERSION + 1)
        .unwrap();
    let said = refused(&ours, &newer, |e| matches!(e, StoreError::Newer { .. }));
    assert!(said.contains("newer.db"), "{said}");

    let foreign = dir.path().join("mail.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE mail (id INTEGER)").unwrap();
    refused(&ours, &foreign, |e| matches!(e, StoreError::Foreign { .. }));

    let letter = dir.path().join("letter.txt");
    std::fs::write(&letter, "a letter to grandmother, and no database\n".repeat(50)).unwrap();
    refused(&ours, &letter, |e| matches!(e, StoreError::Damaged { .. }));
    refused(&ours, &dir.path().join("none.db"), |e| matches!(e, StoreError::Missing { .. }));
    assert!(!dir.path().join("none.db").exists());
    refused(&ours, dir.path(), |e| matches!(e, StoreError::Access { .. }));

    let short = theirs("short.db");
    let whole = std::fs::read(&short).unwrap();
    std::fs::write(&short, &whole[..whole.len() / 2]).unwrap();
    refused(&ours, &short, |e| matches!(e, StoreError::Damaged { .. }));

    let link = dir.path().join("link.db");
    std::os::unix::fs::symlink(&ours, &link).unwrap();
    let hard = dir.path().join("hard.db");
    std::fs::hard_link(&ours, &hard).unwrap();
    for same in [&ours, &link, &hard] {
        let said = refused(&ours, same, |e| matches!(e, StoreError::SameDatabase { .. }));
        assert!(said.contains("name another one"), "{said}");
    }
}

/// The first RUN is whole, the second is not: neither is taken.
#[test]
fn a_damaged_record_is_found_before_anything_is_stored() {
    let dir = TempDir::new().unwrap();
    let ours = database(&dir, "ours.db", &[&header("aaaa", "a")]);
    let theirs = database(&dir, "theirs.db", &[&header("bbbb", "b"), &header("cccc", "c")]);
    let raw = Connection::open(&theirs).unwrap();
    raw.execute_batch(
        "DROP TRIGGER trial_never_changes;
         UPDATE trial SET raw = replace(raw, 'small-files', 'small-filet') WHERE id = 6",
    )
    .unwrap();
    let said = refused(&ours, &theirs, |e| matches!(e, StoreError::Damaged { .. }));
    assert!(said.contains("RUN 2, trial 1") && said.contains("theirs.db"), "{said}");

    // A row that leads from one RUN to another.
    let theirs = database(&dir, "crossed.db", &[&header("bbbb", "b"), &header("cccc", "c")]);
    let raw = Connection::open(&theirs).unwrap();
    raw.execute("UPDATE slot SET contender_id = 1 WHERE run_id = 2 AND sequence = 5", []).unwrap();
    let said = refused(&ours, &theirs, |e| matches!(e, StoreError::BadRun { .. }));
    assert!(said.contains("RUN 2: trial 5 is another in its table slot"), "{said}");
}

/// What one of them went on with, or what differs, is said of crash runs as of trials.
#[test]
fn crash_runs_are_compared_too() {
    let dir = TempDir::new().unwrap();
    let mut header = header("cccc0000cccc0000", "elsewhere");
    header.plan.crash = Some(crash::plan());
    let slots = header.plan.crash_slots();
    let with = |name: &str, slots: &[CrashSlot], loss_s: u64| {
        let path = dir.path().join(name);
        let store = Store::open(&path).unwrap();
        let run = put(&store, &header, 0..6);
        for slot in slots {
            let traits = crash::Traits { loss_s, ..crash::Traits::default() };
            store.put_crash_run(run, &crash::run(&header, *slot, traits)).unwrap();
        }
        path
    };
    let (short, long) = (with("short.db", &slots[..2], 30), with("long.db", &slots[..5], 30));
    let other = with("other.db", &slots[..2], 31);
    let outcome = |ours: &Path, theirs: &Path| {
        let merged = Store::open(ours).unwrap().merge(theirs).unwrap();
        fates(&merged)[0].clone()
    };
    let run = RunId(1);
    assert_eq!(
        outcome(&short, &short.with_file_name("long.db")),
        MergeOutcome::LongerThere { run, more: 3 }
    );
    assert_eq!(outcome(&long, &short), MergeOutcome::LongerHere { run, more: 3 });
    let differs = outcome(&short, &other);
    let MergeOutcome::Differs { what, .. } = &differs else { panic!("{differs:?}") };
    assert!(what.starts_with("crash run 0 of "), "{what}");
    let new = dir.path().join("new.db");
    assert_eq!(outcome(&new, &long), MergeOutcome::Taken { run });
    let taken = Store::open_read_only(&new).unwrap().crash_runs(run).unwrap();
    assert_eq!(taken, Store::open_read_only(&long).unwrap().crash_runs(run).unwrap());
}
