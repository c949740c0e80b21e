//! `fsarena study`: the verdicts of a RUN, computed again from its scores alone.

use super::{open, watched};
use crate::args::StudyArgs;
use crate::context::{self, Usage, exit};
use anyhow::Result;
use fsarena_model::run::RunHeader;
use fsarena_model::verdict::{METHOD_VERSION, Verdict};
use fsarena_report::Detail;
use fsarena_store::{RunId, Store};
use fsarena_verdict::Verdicts;
use std::path::Path;
use std::process::ExitCode;

/// Prints the verdicts of one RUN.
pub fn run(args: &StudyArgs, db: Option<&Path>) -> Result<ExitCode> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let header = store.header(run)?;
    if header.plan.is_watched() {
        return Err(watched::refuse_watched(run).into());
    }
    let Some(verdicts) = verdicts(&store, run, &header)? else {
        return Err(Usage(format!(
            "RUN {run} asked no question: it was planned before there were verdicts, and questions \
             must be stored before the first block; `fsarena show {run}` prints its tables"
        ))
        .into());
    };
    if verdicts.method != METHOD_VERSION {
        say!(
            "RUN {run} was planned by version {} of the method; this program computes by version \
             {METHOD_VERSION}",
            verdicts.method
        );
    }
    if args.json {
        context::print_json(&fsarena_report::json::verdicts(&verdicts))?;
    } else {
        let (width, style) = (context::width(), context::style());
        let detail = if args.all_pairs { Detail::AllPairs } else { Detail::Full };
        context::print(&fsarena_report::verdict_tables(&verdicts, detail, width, style))?;
    }
    if verdicts.agrees_with_stored_looks == Some(false) {
        say!("recomputed decisions of RUN {run} do not match the stored ones");
        return Ok(ExitCode::from(exit::FAILED));
    }
    Ok(match args.require_decision && is_undecided(&verdicts) {
        true => ExitCode::from(exit::UNDECIDED),
        false => ExitCode::SUCCESS,
    })
}

/// The verdicts of a RUN; none where its plan asks nothing.
pub fn verdicts(store: &Store, run: RunId, header: &RunHeader) -> Result<Option<Verdicts>> {
    if header.plan.verdict.is_none() {
        return Ok(None);
    }
    let scores = store.scores(run)?;
    let (stop, looks) = (store.stop(run)?, store.looks(run)?);
    Ok(fsarena_verdict::verdicts(header, &scores, stop, &looks))
}

/// Whether a question is undecided.
pub fn is_undecided(verdicts: &Verdicts) -> bool {
    let mut pairs = verdicts.questions.iter().flat_map(|question| &question.pairs);
    pairs.any(|pair| pair.verdict == Verdict::Undecided)
}
