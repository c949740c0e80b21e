//! What has to hold after a case. Each check gives its findings as sentences; none is good.
//!
//! They read the database by the same code as the program does, and ask SQLite itself whether the
//! file is whole.

use super::kind::{Demand, Setting};
use super::live::Ended;
use anyhow::{Context as _, Result};
use fsarena_devices::mountinfo;
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use fsarena_testkit::machine::Machine;
use fsarena_trace::Tracefs;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// The kernel lets go of a loop device and of a dead process a moment later.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 5000 });

/// Exit codes that `fsarena --help` names for every command, but for wrong usage: nothing here is.
const DOCUMENTED: [i32; 3] = [0, 1, INTERRUPTED];
const INTERRUPTED: i32 = 130;

/// What no output may have: a panic, and what comes with it.
const OF_PANICS: [&str; 4] = ["panicked at", "RUST_BACKTRACE", "memory allocation of", "SIGABRT"];

/// How a start may end.
pub(super) struct Allowed {
    pub(super) codes: Vec<i32>,
    pub(super) signals: Vec<i32>,
    /// Whether its words can be read.
    pub(super) has_words: bool,
    /// What it says where it was interrupted.
    pub(super) of_interrupt: &'static str,
}

impl Allowed {
    /// The ends of a start that was disturbed.
    pub(super) fn disturbed(signals: Vec<i32>) -> Self {
        Self { signals, ..Self::codes(&DOCUMENTED) }
    }

    /// Of a start that nothing disturbs.
    pub(super) fn codes(codes: &[i32]) -> Self {
        let (codes, signals) = (codes.to_vec(), Vec::new());
        Self { codes, signals, has_words: true, of_interrupt: "interrupted" }
    }
}

/// How it ended, and what it said.
pub(super) fn end(ended: &Ended, allowed: &Allowed) -> Vec<String> {
    let mut found = panics(ended);
    let by_code = ended.code().is_some_and(|code| allowed.codes.contains(&code));
    let by_signal = ended.signal().is_some_and(|signal| allowed.signals.contains(&signal));
    if !by_code && !by_signal {
        found.push(format!("{}: {}", ended.describe(), last_line(ended)));
    }
    if !allowed.has_words {
        return found;
    }
    if ended.code() == Some(INTERRUPTED) && !ended.stderr.contains(allowed.of_interrupt) {
        found.push("exit code 130 without the word that it was interrupted".to_owned());
    }
    let says_why = ["fsarena: ", "Failed", "failed", "left behind", "not run"];
    if ended.code() == Some(1) && !says_why.iter().any(|word| ended.text().contains(word)) {
        found.push("exit code 1 without a word of what has failed".to_owned());
    }
    found
}

/// Text of a panic, in the output of whatever process.
pub(super) fn panics(ended: &Ended) -> Vec<String> {
    let text = ended.text();
    let lines = text.lines().filter(|line| OF_PANICS.iter().any(|word| line.contains(word)));
    lines.map(|line| format!("a panic: {}", line.trim())).collect()
}

fn last_line(ended: &Ended) -> String {
    let line = ended.stderr.lines().rev().find(|line| !line.trim().is_empty());
    line.unwrap_or("it said nothing").trim().to_owned()
}

/// What is left of these RUNs on the machine; waits for what ends a moment later.
pub(super) fn leftovers(setting: &Setting, uids: &[String], before: &Machine) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let mut left = setting.fixture.left(uids, Some(before));
        // It may lie elsewhere.
        let temporary = std::fs::read_dir(&setting.temporary).into_iter().flatten().flatten();
        left.extend(temporary.map(|entry| entry.path().display().to_string()));
        left.sort_unstable();
        left.dedup();
        left.extend(traces(uids).iter().map(|name| format!("instance of tracing {name}")));
        if left.is_empty() || Instant::now() >= until {
            return left.iter().map(|what| format!("left behind: {what}")).collect();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// None where this user may not see, and so not make, any.
fn traces(uids: &[String]) -> Vec<String> {
    let tracefs = mountinfo::text().ok().and_then(|mounts| Tracefs::open(&mounts).ok());
    tracefs.map(|tracefs| tracefs.instances_of(uids)).unwrap_or_default()
}

/// Whether the file is whole, and every record in it; ids of its RUNs go to `uids`. One that was
/// never begun is whole.
pub(super) fn database(path: &Path, uids: &mut Vec<String>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let journal = path.with_extension("db-journal");
    // An empty one is none to SQLite, and goes with the next write.
    if journal.metadata().is_ok_and(|meta| meta.len() > 0) {
        found.push(format!("{} was not rolled back", journal.display()));
    }
    // What was killed before its first transaction is an empty file.
    if std::fs::metadata(path).map_or(0, |meta| meta.len()) == 0 {
        return Ok(found);
    }
    found.extend(integrity(path)?);
    if !found.is_empty() {
        return Ok(found);
    }
    let store = match Store::open_read_only(path) {
        Ok(store) => store,
        Err(error) => return Ok(vec![format!("the database cannot be opened: {error}")]),
    };
    for run in store.runs()? {
        uids.push(run.uid.clone());
        if run.state == RunState::Running {
            found.push(format!("RUN {} is said to be at work", run.id));
        }
        match store.attempts(run.id) {
            Err(error) => found.push(format!("RUN {}: a record is not whole: {error}", run.id)),
            Ok(attempts) => {
                let trials: BTreeSet<u32> =
                    attempts.iter().map(|(_, record)| record.key.sequence).collect();
                if trials.len() != run.trials_done as usize {
                    let (have, said) = (trials.len(), run.trials_done);
                    found.push(format!("RUN {}: {have} trials have records of {said}", run.id));
                }
            }
        }
    }
    Ok(found)
}

/// What SQLite says against the file.
fn integrity(path: &Path) -> Result<Vec<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let place = || path.display().to_string();
    let connection = Connection::open_with_flags(path, flags).with_context(place)?;
    let mut found = Vec::new();
    for (pragma, column) in [("integrity_check", 0), ("foreign_key_check", 0)] {
        let rows = connection.prepare(&format!("PRAGMA {pragma}")).and_then(|mut statement| {
            let row = |row: &rusqlite::Row<'_>| row.get::<_, String>(column);
            statement.query_map([], row)?.collect::<rusqlite::Result<Vec<_>>>()
        });
        match rows {
            Ok(rows) => {
                let bad = rows.into_iter().filter(|row| row != "ok");
                found.extend(bad.map(|row| format!("{pragma}: {row}")));
            }
            Err(error) => found.push(format!("{pragma}: {error}")),
        }
    }
    Ok(found)
}

/// How many trials a start says are stored: `[3/4]` is said when two are.
pub(super) fn trials_told(stderr: &str) -> usize {
    let number = |line: &str| {
        let (number, rest) = line.strip_prefix('[')?.split_once('/')?;
        rest.split_once("] ")?.0.parse::<usize>().ok()?;
        number.parse::<usize>().ok()
    };
    let highest = stderr.lines().filter_map(number).max().unwrap_or(0);
    highest.saturating_sub(1)
}

/// A RUN as it is stored.
pub(super) struct Stored {
    pub(super) state: RunState,
    pub(super) trials: usize,
    pub(super) failed: Vec<String>,
}

/// RUN 1, where it was begun.
pub(super) fn stored(path: &Path) -> Result<Option<Stored>> {
    if std::fs::metadata(path).map_or(0, |meta| meta.len()) == 0 {
        return Ok(None);
    }
    let store = Store::open_read_only(path)?;
    let Some(run) = store.runs()?.into_iter().find(|run| run.id == RunId(1)) else {
        return Ok(None);
    };
    let records = store.records(run.id)?;
    let ended = records.iter().filter(|record| record.outcome != Outcome::Interrupted);
    let failed = records.iter().filter_map(|record| match &record.outcome {
        Outcome::Failed { step, error, .. } => Some(format!("{step}: {error}")),
        _ => None,
    });
    Ok(Some(Stored { state: run.state, trials: ended.count(), failed: failed.collect() }))
}

/// Whether all records are there that the program said it has stored: no disturbance takes one.
pub(super) fn nothing_lost(stored: Option<&Stored>, told: usize) -> Vec<String> {
    let have = stored.map_or(0, |stored| stored.trials);
    if have >= told {
        return Vec::new();
    }
    vec![format!("{told} trials were said to be stored, {have} are")]
}

/// Whether a RUN whose start ended with exit code 0, or was to end so, is whole.
pub(super) fn all_done(stored: Option<&Stored>, trials: usize) -> Vec<String> {
    let Some(stored) = stored else { return vec!["RUN 1 is not in the database".to_owned()] };
    let mut found: Vec<String> =
        stored.failed.iter().map(|error| format!("a trial failed: {error}")).collect();
    if stored.state != RunState::Done {
        found.push(format!("RUN 1 is {} and should be done", stored.state.name()));
    }
    if stored.trials != trials {
        found.push(format!("{} of {trials} trials have records", stored.trials));
    }
    found
}

/// What the demand of a disturbance finds wrong.
pub(super) fn demanded(
    demand: Demand,
    ended: &Ended,
    stored: Option<&Stored>,
    trials: usize,
) -> Vec<String> {
    let mut found = Vec::new();
    if demand == Demand::AllDone && ended.code() != Some(0) {
        found.push(format!("{}, and all trials should be done", ended.describe()));
    }
    if ended.code() == Some(0) {
        found.extend(all_done(stored, trials));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::run::RunHeader;
    use fsarena_store::Owner;
    use fsarena_testkit::fixture::Fixture;
    use fsarena_testkit::records;
    use std::fs;
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::PathBuf;
    use std::process::ExitStatus;
    use std::sync::Arc;

    fn ended(code: i32, stderr: &str) -> Ended {
        let status = Some(ExitStatus::from_raw(code << 8));
        Ended { stdout: String::new(), stderr: stderr.to_owned(), status }
    }

    fn by_signal(signal: i32) -> Ended {
        let status = Some(ExitStatus::from_raw(signal));
        Ended { stdout: String::new(), stderr: String::new(), status }
    }

    #[test]
    fn documented_ends_pass_and_others_do_not() {
        let allowed = Allowed::disturbed(vec![9]);
        let passes = |ended: &Ended| end(ended, &allowed).is_empty();
        assert!(passes(&ended(0, "")));
        assert!(passes(&ended(1, "fsarena: the disk is full")));
        assert!(passes(&ended(130, "interrupted; the trials that were done are stored")));
        assert!(passes(&by_signal(9)));
        assert!(!passes(&by_signal(11)));
        assert!(!passes(&ended(101, "")));
        assert!(!passes(&ended(2, "fsarena: wrong")));
        assert!(!passes(&ended(5, "could not be proved cold")));
        assert!(!passes(&ended(1, "")), "what failed is to be said");
        assert!(!passes(&ended(130, "")), "it is to be said that it was interrupted");
        let silent = Allowed { has_words: false, ..Allowed::codes(&[130]) };
        assert!(end(&ended(130, ""), &silent).is_empty());
        assert!(!end(&ended(1, ""), &silent).is_empty());
        let never = Ended { status: None, ..ended(0, "") };
        assert!(end(&never, &allowed)[0].starts_with("did not end"), "{:?}", end(&never, &allowed));
    }

    #[test]
    fn a_panic_is_found_in_whatever_was_said() {
        let allowed = Allowed::disturbed(vec![]);
        let text = "thread 'main' panicked at a.rs:1:\nfsarena: the executor ended";
        assert_eq!(end(&ended(1, text), &allowed).len(), 1);
        let stdout = Ended { stdout: text.to_owned(), ..ended(0, "") };
        assert_eq!(panics(&stdout), ["a panic: thread 'main' panicked at a.rs:1:"]);
    }

    struct Db {
        dir: tempfile::TempDir,
        header: RunHeader,
    }

    impl Db {
        /// RUN 1 with records of the first `done` of its four trials.
        fn new(done: u32, state: RunState) -> Self {
            let contenders = ["ext4", "xfs"].map(|fs| records::contender(fs, fs, 1)).to_vec();
            let header = records::header(contenders, vec![records::small_files()], 2);
            let db = Self { dir: tempfile::tempdir().unwrap(), header };
            let store = Store::open(&db.path()).unwrap();
            let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
            let run = store.create_run(&db.header, &owner).unwrap();
            for sequence in 0..done {
                store.put_record(run, &records::record(&db.header, sequence)).unwrap();
            }
            store.set_state(run, state, None).unwrap();
            db
        }

        fn path(&self) -> PathBuf {
            self.dir.path().join("results.db")
        }

        fn check(&self) -> Vec<String> {
            database(&self.path(), &mut Vec::new()).unwrap()
        }

        fn sql(&self, text: &str) {
            Connection::open(self.path()).unwrap().execute_batch(text).unwrap();
        }
    }

    #[test]
    fn a_whole_database_passes_and_names_its_runs() {
        let db = Db::new(2, RunState::Interrupted);
        let mut uids = Vec::new();
        assert_eq!(database(&db.path(), &mut uids).unwrap(), [""; 0]);
        assert_eq!(uids, std::slice::from_ref(&db.header.uid));
        let none = db.dir.path().join("none.db");
        assert_eq!(database(&none, &mut uids).unwrap(), [""; 0]);
        fs::write(&none, "").unwrap();
        assert_eq!(database(&none, &mut uids).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_wrong_with_a_database_is_found() {
        let running = Db::new(1, RunState::Running);
        assert_eq!(running.check(), ["RUN 1 is said to be at work"]);
        let open = Db::new(1, RunState::Done);
        fs::write(open.path().with_extension("db-journal"), "x").unwrap();
        assert!(open.check()[0].ends_with("was not rolled back"));
        let damaged = Db::new(4, RunState::Done);
        let mut bytes = fs::read(damaged.path()).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0x5a);
        fs::write(damaged.path(), bytes).unwrap();
        assert!(!damaged.check().is_empty());
        let half = Db::new(2, RunState::Done);
        let triggers = |column: &str| {
            let sql = format!(
                "SELECT group_concat({column}, '; ') FROM sqlite_schema WHERE type = 'trigger'"
            );
            let connection = Connection::open(half.path()).unwrap();
            connection.query_row(&sql, [], |row| row.get::<_, String>(0)).unwrap()
        };
        let again = triggers("sql");
        half.sql(&triggers("'DROP TRIGGER ' || name"));
        half.sql("UPDATE trial SET raw = replace(raw, '1', '2') WHERE id = 1");
        half.sql(&again);
        assert!(half.check()[0].contains("a record is not whole"), "{:?}", half.check());
    }

    #[test]
    fn trials_that_were_said_are_counted() {
        let text = "writing x (64 MiB)\n[1/4] small on ext4\nblock 1 of 2: 2 trials\n\
                    [3/4] small on xfs\nafter 2 blocks: 1 of 1 decided\n[x/4] no\n[9] no\n";
        assert_eq!(trials_told(text), 2);
        assert_eq!(trials_told("nothing begun"), 0);
        assert_eq!(trials_told("[1/4] small on ext4\n"), 0);
    }

    #[test]
    fn a_record_that_is_missing_is_found() {
        let db = Db::new(1, RunState::Interrupted);
        let stored = stored(&db.path()).unwrap();
        assert_eq!(nothing_lost(stored.as_ref(), 1), [""; 0]);
        let missing = "2 trials were said to be stored, 1 are";
        assert_eq!(nothing_lost(stored.as_ref(), 2), [missing]);
        assert_eq!(nothing_lost(None, 1).len(), 1);
        assert_eq!(nothing_lost(None, 0), [""; 0]);
    }

    #[test]
    fn an_interrupted_trial_is_no_record_of_it() {
        let db = Db::new(1, RunState::Interrupted);
        let store = Store::open(&db.path()).unwrap();
        let mut record = records::record(&db.header, 1);
        record.outcome = Outcome::Interrupted;
        store.put_record(RunId(1), &record).unwrap();
        drop(store);
        assert_eq!(db.check(), [""; 0]);
        assert_eq!(stored(&db.path()).unwrap().unwrap().trials, 1);
    }

    #[test]
    fn a_run_that_should_be_done_is_whole() {
        let db = Db::new(4, RunState::Done);
        let whole = stored(&db.path()).unwrap();
        assert_eq!(all_done(whole.as_ref(), 4), [""; 0]);
        assert_eq!(all_done(whole.as_ref(), 5), ["4 of 5 trials have records"]);
        assert_eq!(all_done(None, 4).len(), 1);
        let cut = stored(&Db::new(3, RunState::Interrupted).path()).unwrap();
        assert_eq!(all_done(cut.as_ref(), 4).len(), 2);
        let failed = Stored { failed: vec!["mount: no".to_owned()], ..whole.unwrap() };
        assert_eq!(all_done(Some(&failed), 4), ["a trial failed: mount: no"]);
        let demand = |demand, ended: &Ended| demanded(demand, ended, cut.as_ref(), 4).len();
        assert_eq!(demand(Demand::Documented, &ended(130, "")), 0);
        assert_eq!(demand(Demand::AllDone, &ended(130, "")), 1);
        assert_eq!(demand(Demand::Documented, &ended(0, "")), 2, "exit code 0 says it is done");
    }

    #[test]
    fn what_is_left_of_a_scene_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let setting = Setting {
            fixture: Fixture::new(dir.path()),
            program: PathBuf::new(),
            temporary: dir.path().join("tmp"),
            output: dir.path().join("output"),
            more_variables: Vec::new(),
            again: Vec::new(),
            stop: Arc::default(),
            number: 1,
        };
        let before = Machine::now();
        for place in ["target/fsarena-00000000000000aa-1", "tmp/any"] {
            let plant = dir.path().join(place);
            fs::create_dir_all(&plant).unwrap();
            let found = leftovers(&setting, &[], &before);
            assert_eq!(found, [format!("left behind: {}", plant.display())]);
            fs::remove_dir(&plant).unwrap();
            assert_eq!(leftovers(&setting, &[], &before), [""; 0]);
        }
    }
}
