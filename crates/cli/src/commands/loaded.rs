//! A RUN as it stands in the database, with what is computed from it: read once, for every command
//! that shows one.

use anyhow::Result;
use fsarena_crash::record::StoredCrashRun;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::Verdict;
use fsarena_reference::Article;
use fsarena_report::{
    EachRecord, KnownNames, NameRemoval, OwnPhase, OwnRun, Repeats, anonymous_with,
};
use fsarena_store::{RunId, Store};
use fsarena_study::{CrashRunsView, Study};
use fsarena_verdict::Verdicts;

/// Whether serial numbers and names of host, user and home directory stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// For output on this machine.
    Kept,
    /// For output that is passed on.
    Removed,
}

/// What says whose machine a RUN was done on; `each_record` hands over its records.
pub fn name_removal<E>(
    run: (&RunHeader, &[RunSession]),
    each_record: EachRecord<'_, E>,
    crash_runs: &[StoredCrashRun],
) -> Result<NameRemoval, E> {
    with_known_names(|names| NameRemoval::find(run, each_record, crash_runs, names))
}

fn with_known_names<T>(use_them: impl FnOnce(KnownNames<'_>) -> T) -> T {
    let (users, workloads) = (names_of_user(), fsarena_plan::builtin::workload_names());
    use_them(KnownNames { users: &users, workloads: &workloads })
}

/// Names of the user by the environment: most RUNs are read where they were done.
fn names_of_user() -> Vec<String> {
    let all =
        ["SUDO_USER", "USER", "LOGNAME"].into_iter().filter_map(|one| std::env::var(one).ok());
    all.filter(|name| !name.is_empty() && name != "root").collect()
}

/// A RUN and its views.
pub struct LoadedRun {
    /// Number in the database.
    pub id: RunId,
    /// What was planned.
    pub header: RunHeader,
    /// Uninterrupted pieces.
    pub sessions: Vec<RunSession>,
    /// Latest record of each trial.
    pub records: Vec<TrialRecord>,
    /// Views.
    pub study: Study,
    /// Verdicts; none where nothing was asked.
    pub verdicts: Option<Verdicts>,
    /// What its power cuts have shown; none where there are none.
    pub crash: Option<CrashRunsView>,
    /// How its experiment differs from the article, one line each.
    notes: Vec<String>,
    /// The article that its experiment repeats, and the phases of ours.
    article: Option<(Article, Vec<OwnPhase>)>,
}

impl LoadedRun {
    /// Reads a RUN and computes its views.
    pub fn read(store: &Store, id: RunId, names: Identity) -> Result<Self> {
        let (header, sessions, records) =
            (store.header(id)?, store.sessions(id)?, store.records(id)?);
        let read = (header, sessions, records, store.crash_runs(id)?);
        let (header, sessions, records, crash_runs) = match (names, &read) {
            (Identity::Kept, _) => read,
            (Identity::Removed, (header, sessions, records, crash_runs)) => {
                let both = (records.as_slice(), crash_runs.as_slice());
                with_known_names(|names| anonymous_with(header, sessions, both, names))
            }
        };
        let crash = fsarena_study::crash(&header.plan, &crash_runs);
        let state = store.run(id)?.state;
        let study = fsarena_study::study(&header, state, &sessions, &records);
        // Of these records and not of the rows: a contender that was renamed is known by both.
        let verdicts = match &header.plan.verdict {
            None => None,
            Some(_) => {
                let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
                let (stop, looks) = (store.stop(id)?, store.looks(id)?);
                fsarena_verdict::verdicts(&header, &sessions, &scores, stop, &looks)
            }
        };
        let notes = fsarena_plan::notes_of(&header.experiment_toml);
        let article = fsarena_reference::of_experiment(&header.experiment).map(|article| {
            let phases = article_phases(&article);
            (article, phases)
        });
        Ok(Self { id, header, sessions, records, study, verdicts, crash, notes, article })
    }

    /// As sections take it.
    pub fn as_run(&self) -> fsarena_report::Run<'_> {
        fsarena_report::Run {
            id: self.id.0,
            header: &self.header,
            sessions: &self.sessions,
            records: &self.records,
            study: &self.study,
            verdicts: self.verdicts.as_ref(),
            crash: self.crash.as_ref(),
            article: self.article.as_ref().map(|(article, phases)| Repeats {
                article,
                phases,
                notes: &self.notes,
            }),
        }
    }

    /// For the tables of an article.
    pub fn own_run(&self) -> OwnRun<'_> {
        let Self { header, records, study, notes, .. } = self;
        OwnRun { header, records, study, notes }
    }
}

/// The phases that repeat the tests of an article, as its experiment names them.
pub fn article_phases(article: &Article) -> Vec<OwnPhase> {
    let rows = fsarena_plan::builtin::experiment(article.experiment).map(|found| found.rows);
    let own = |row: fsarena_plan::ArticleRow| OwnPhase {
        title: row.title,
        workload: row.workload,
        phase: row.phase,
    };
    rows.into_iter().flatten().map(own).collect()
}

/// The verdicts of a RUN; none where its plan asks nothing.
pub fn verdicts(store: &Store, run: RunId, header: &RunHeader) -> Result<Option<Verdicts>> {
    if header.plan.verdict.is_none() {
        return Ok(None);
    }
    let (sessions, scores) = (store.sessions(run)?, store.scores(run)?);
    let (stop, looks) = (store.stop(run)?, store.looks(run)?);
    Ok(fsarena_verdict::verdicts(header, &sessions, &scores, stop, &looks))
}

/// Whether a question is undecided.
pub fn is_undecided(verdicts: &Verdicts) -> bool {
    let mut pairs = verdicts.questions.iter().flat_map(|question| &question.pairs);
    pairs.any(|pair| pair.verdict == Verdict::Undecided)
}
