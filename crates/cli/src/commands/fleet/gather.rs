//! Databases of hosts merged into the one here. What a host sends may be anything: it has to be one
//! RUN, with the seed that was asked for, and then passes the checks of every merge.

use crate::commands::open;
use anyhow::Result;
use fsarena_model::run::RunState;
use fsarena_model::seed::Seed;
use fsarena_process::private;
use fsarena_store::{MergeOutcome, RunId, Store};
use std::fs;
use std::path::{Path, PathBuf};

/// A database that was fetched.
pub(super) struct Fetched<'a> {
    pub(super) host: &'a str,
    pub(super) path: PathBuf,
}

/// The RUNs that were merged, and what is to be said of the others.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) runs: Vec<RunId>,
    /// Hosts whose RUN was taken, with what it is called and how it stands.
    pub(super) taken: Vec<String>,
    pub(super) refused: Vec<String>,
}

/// Merges all into the database `db`.
///
/// # Errors
/// When that cannot be written; what was fetched is kept then, and named.
pub(super) fn gather(fetched: &[Fetched<'_>], seed: u64, db: Option<&Path>) -> Result<Gathered> {
    let mut store = match open::for_writing(db) {
        Ok(store) => store,
        Err(error) => {
            fetched.iter().for_each(keep);
            return Err(error);
        }
    };
    let mut gathered = Gathered::default();
    for one in fetched {
        match take(&mut store, one, seed) {
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
                keep(one);
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

fn take(store: &mut Store, one: &Fetched<'_>, seed: u64) -> Result<RunId, Refusal> {
    let foreign = |error: fsarena_store::StoreError| {
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

/// Keeps a database that cannot be merged now, in the working directory.
fn keep(one: &Fetched<'_>) {
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
        Some(name) => say!("kept: {name}; `fsarena merge ./{name}` takes it"),
        None => say!("{}: its database could not be kept either", one.host),
    }
}
