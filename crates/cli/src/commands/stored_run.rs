//! A RUN as comparisons of several read it: plan, pieces and scores, not its records.

use crate::context::Usage;
use anyhow::Result;
use fsarena_model::run::{RunHeader, RunSession, RunState};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{InterimAnalysis, METHOD_VERSION, Stop};
use fsarena_store::{RunId, Store};
use fsarena_verdict::compare::{CompareError, Facts, RunOf};

/// A RUN with all that its comparison needs.
pub struct StoredRun {
    name: String,
    /// What was planned.
    pub header: RunHeader,
    sessions: Vec<RunSession>,
    scores: Vec<TrialScore>,
    stop: Option<Stop>,
    looks: Vec<InterimAnalysis>,
    facts: Facts,
}

impl StoredRun {
    /// Reads what is missing, and prints what has to be known of the RUN.
    pub fn read(store: &Store, run: RunId, header: RunHeader, facts: Facts) -> Result<Self> {
        print_notes(store, run, &header)?;
        Ok(Self {
            name: run.to_string(),
            sessions: store.sessions(run)?,
            scores: store.scores(run)?,
            stop: store.stop(run)?,
            looks: store.looks(run)?,
            header,
            facts,
        })
    }

    /// The same where all that is needed of its scores is known: of many RUNs they would take most
    /// of the memory.
    pub fn without_scores(self) -> Self {
        Self { scores: Vec::new(), looks: Vec::new(), ..self }
    }

    /// As comparisons take it.
    pub fn run(&self) -> RunOf<'_> {
        RunOf {
            name: self.name.clone(),
            header: &self.header,
            sessions: &self.sessions,
            scores: &self.scores,
            stop: self.stop,
            looks: &self.looks,
            facts: self.facts.clone(),
        }
    }
}

/// What has to be known of a RUN before its figures are read.
pub fn print_notes(store: &Store, run: RunId, header: &RunHeader) -> Result<()> {
    let state = store.state(run)?;
    if state != RunState::Done {
        say!("RUN {run} is {}: its figures cover the blocks so far", state.name());
    }
    if let Some(ask) = header.plan.verdict.as_ref().filter(|ask| ask.method != METHOD_VERSION) {
        say!(
            "RUN {run} was planned by version {} of the method; its verdicts are computed again by \
             version {METHOD_VERSION}",
            ask.method
        );
    }
    Ok(())
}

/// What cannot be compared was asked for in vain.
pub fn refused(error: CompareError) -> anyhow::Error {
    Usage(error.to_string()).into()
}
