//! Databases of hosts merged into the one here. What a host sends may be anything: it has to be one
//! RUN, with the seed that was asked for, and then passes the checks of every merge.

use fsarena_model::run::RunState;
use fsarena_model::seed::Seed;
use fsarena_process::private;
use fsarena_store::{MergeOutcome, RunId, Store, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

/// The database of a RUN that was fetched.
#[derive(Debug)]
pub struct FetchedRun<'a> {
    pub host: &'a str,
    pub path: PathBuf,
}

/// The RUNs that were merged, and what is to be said of all.
#[derive(Default, Debug)]
pub struct GatheredRuns {
    pub runs: Vec<RunId>,
    /// Of each RUN that was taken: its host, what it is called and how it stands.
    pub taken: Vec<String>,
    /// Of each that was not: its host, and why.
    pub refused: Vec<String>,
    /// Where databases are that could not be merged now.
    pub kept: Vec<String>,
}

/// Merges all into a database.
///
/// # Errors
/// When that cannot be read any more.
pub fn gather(
    store: &mut Store,
    fetched: &[FetchedRun<'_>],
    seed: u64,
) -> Result<GatheredRuns, StoreError> {
    let mut gathered = GatheredRuns::default();
    for one in fetched {
        match take(store, one, seed) {
            Ok(run) => {
                let row = store.run(run)?;
                let state = match row.state {
                    RunState::Done => String::new(),
                    state => format!(", {}", state.name()),
                };
                gathered.runs.push(run);
                gathered.taken.push(format!(
                    "{}: RUN {run}{state}, {} of {} trials",
                    one.host, row.trials_done, row.trials_planned
                ));
            }
            Err(Refusal::Foreign(why)) => gathered.refused.push(format!("{}: {why}", one.host)),
            Err(Refusal::Own(why)) => {
                gathered.refused.push(format!("{}: not merged: {why}", one.host));
                gathered.kept.push(keep(one));
            }
        }
    }
    Ok(gathered)
}

/// Why a database is not merged.
enum Refusal {
    /// It is not what was asked for.
    Foreign(String),
    /// Ours does not take it now.
    Own(String),
}

fn take(store: &mut Store, one: &FetchedRun<'_>, seed: u64) -> Result<RunId, Refusal> {
    let foreign = |error: StoreError| {
        Refusal::Foreign(format!("its database is not taken: {}", error.fact()))
    };
    let other = Store::open_read_only(&one.path).map_err(foreign)?;
    let rows = other.runs().map_err(foreign)?;
    let [row] = &rows[..] else {
        let text =
            format!("its database has {} RUNs in place of one, and is not taken", rows.len());
        return Err(Refusal::Foreign(text));
    };
    let header = other.header(row.id).map_err(foreign)?;
    if header.plan.seed != Seed::from_number(seed) {
        let text = "its RUN has another seed than was asked for, and is not taken";
        return Err(Refusal::Foreign(text.to_owned()));
    }
    drop(other);
    let merged = store.merge(&one.path).map_err(|error| match error.is_unwritable() {
        true => Refusal::Own(error.to_string()),
        false => foreign(error),
    })?;
    match merged.runs.first().map(|run| &run.outcome) {
        Some(MergeOutcome::Taken { run } | MergeOutcome::Same { run }) => Ok(*run),
        Some(MergeOutcome::AtWork) => {
            Err(Refusal::Own("its RUN is still called running there".to_owned()))
        }
        _ => Err(Refusal::Own("another RUN with its id is here".to_owned())),
    }
}

/// Keeps a database that cannot be merged now, in the working directory, and says where it is.
#[must_use]
pub fn keep(one: &FetchedRun<'_>) -> String {
    let kept = (0..100).find_map(|number| {
        let name = match number {
            0 => format!("fsarena-{}.db", one.host),
            number => format!("fsarena-{}-{number}.db", one.host),
        };
        let mut file = private::create_file(Path::new(&name)).ok()?;
        let mut from = fs::File::open(&one.path).ok()?;
        std::io::copy(&mut from, &mut file).ok().map(|_| name)
    });
    match kept {
        Some(name) => format!("kept: {name}; `fsarena merge ./{name}` takes it"),
        None => format!("{}: its database could not be kept either", one.host),
    }
}
