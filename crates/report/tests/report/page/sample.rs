//! RUNs made by hand, with the views that a page takes.

use fsarena_model::contender::Contender;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession, RunState};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::Rule;
use fsarena_model::work::Workload;
use fsarena_reference::Article;
use fsarena_report::{Repeats, Run};
use fsarena_study::Study;
use fsarena_testkit::records::{asked, contender, header, record, session, small_files};
use fsarena_verdict::Verdicts;

/// A RUN with all that a page takes.
pub struct Sample {
    pub header: RunHeader,
    pub state: RunState,
    sessions: Vec<RunSession>,
    records: Vec<TrialRecord>,
    study: Study,
    verdicts: Option<Verdicts>,
    /// The article that it repeats.
    pub article: Option<Article>,
}

impl Sample {
    /// Contenders of these labels with small files.
    pub fn small_files(labels: &[&str], blocks: u32) -> Self {
        let contenders = labels.iter().map(|label| contender(label, label, 1)).collect();
        Self::planned(contenders, vec![small_files()], blocks)
    }

    pub fn planned(contenders: Vec<Contender>, workloads: Vec<Workload>, blocks: u32) -> Self {
        let header = header(contenders, workloads, blocks);
        let sessions = vec![session("b", 0)];
        let study = fsarena_study::study(&header, RunState::Done, &sessions, &[]);
        let (state, records) = (RunState::Done, Vec::new());
        Self { header, state, sessions, records, study, verdicts: None, article: None }
    }

    /// Asks about the time of every timed phase.
    pub fn ask(&mut self, rule: Rule) {
        self.header.plan.verdict = Some(asked(&self.header.plan, rule));
    }

    /// Does every trial, each as `change` leaves it.
    pub fn carry_out(&mut self, mut change: impl FnMut(&mut TrialRecord)) {
        let all = 0..self.header.plan.schedule.len() as u32;
        let mut done = |sequence| {
            let mut record = record(&self.header, sequence);
            change(&mut record);
            record
        };
        self.records = all.map(&mut done).collect();
        self.study_again();
    }

    /// Leaves only these of its records.
    pub fn leave(&mut self, which: impl FnMut(&TrialRecord) -> bool) {
        self.records.retain(which);
        self.study_again();
    }

    /// Computes the views of what there is now.
    pub fn study_again(&mut self) {
        let Self { header, state, sessions, records, .. } = self;
        self.study = fsarena_study::study(header, *state, sessions, records);
        let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
        self.verdicts = fsarena_verdict::verdicts(header, &[], &scores, None, &[]);
    }

    /// As the page takes it.
    pub fn run(&self) -> Run<'_> {
        Run {
            id: 1,
            header: &self.header,
            sessions: &self.sessions,
            records: &self.records,
            study: &self.study,
            verdicts: self.verdicts.as_ref(),
            crash: None,
            article: self.article.as_ref().map(|article| Repeats {
                article,
                phases: &[],
                notes: &[],
            }),
        }
    }
}

/// Makes a trial longer: by the factor of its place in the block, and by some percent that differ
/// from trial to trial.
pub fn slow_down(record: &mut TrialRecord, by: &[f64]) {
    let at = record.key.position as usize % by.len();
    let noise = f64::from((record.key.block * 37 + record.key.position * 53) % 11);
    let factor = by[at] * noise.mul_add(0.003, 1.0);
    for phase in &mut record.phases {
        let clocks = &mut phase.clocks;
        for ns in clocks.durable_ns.iter_mut().chain([&mut clocks.returned_ns]) {
            *ns = (*ns as f64 * factor) as u64;
        }
    }
}
