//! `fsarena advise`: which file system for a purpose. An ordinary experiment of built-in workloads
//! is run as `run` does it, and its verdicts are told in one sentence a purpose; a stored RUN is
//! told again.

use super::loaded::{Identity, LoadedRun};
use super::{advice, open, run as runs};
use crate::args::AdviseArgs;
use anyhow::Result;
use fsarena_plan::purpose::{self, Purpose};
use std::path::Path;
use std::process::ExitCode;

/// Asks purposes, or tells what a stored RUN says of them.
pub fn run(args: &AdviseArgs, db: Option<&Path>) -> Result<ExitCode> {
    let purposes = args.purposes.as_deref().map(purpose::named).transpose()?;
    let Some(selector) = &args.run else {
        // clap asks for --for where --run is not given.
        return runs::run(&args.run_args(purposes.unwrap_or_default()), db);
    };
    let store = open::existing(db)?;
    let id = store.find(selector)?;
    let loaded = LoadedRun::read(&store, id, Identity::Kept)?;
    let purposes = purposes.unwrap_or_else(|| asked_by(&loaded));
    if purposes.is_empty() {
        let known: Vec<String> = purpose::all().into_iter().map(|one| one.name).collect();
        refuse!("RUN {id} asks no purpose; `fsarena advise --for {}` does", known.join(","));
    }
    advice::print(&loaded, &purposes, args.json)?;
    Ok(ExitCode::SUCCESS)
}

/// The purposes of which a RUN has asked everything that decides.
fn asked_by(loaded: &LoadedRun) -> Vec<Purpose> {
    let questions = loaded.verdicts.iter().flat_map(|verdicts| &verdicts.questions);
    let asked: Vec<(&str, &str)> =
        questions.map(|one| (one.workload.as_str(), one.phase.as_str())).collect();
    let is_asked = |purpose: &Purpose| purpose.questions().all(|one| asked.contains(&one));
    purpose::all().into_iter().filter(is_asked).collect()
}
