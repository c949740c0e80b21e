//! The trials of one process: in the order of the schedule, without those whose questions are
//! decided, block by block, until everything is decided, the blocks of the plan are carried out, or
//! the budget allows no further one.

use crate::request::{Progress, Request, RunError};
use crate::resources::RunResources;
use crate::resume;
use crate::session::Session;
use crate::trial_spec::trial_spec;
use fsarena_model::record::{Notice, Outcome, TrialRecord};
use fsarena_model::run::{RunSession, RunState, Slot};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{InterimAnalysis, Stop, StopWhy};
use fsarena_store::{RunId, Store};
use fsarena_verdict::Judge;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

/// The trials of this process.
pub(crate) struct TrialLoop<'a> {
    request: &'a Request<'a>,
    run: RunId,
    owner: &'a fsarena_store::Owner,
    store: &'a mut Store,
    progress: &'a mut dyn Progress,
    /// Whether there was a trial.
    pub(crate) has_begun: bool,
    /// What is to be said of a workload (index into the plan) with each of its trials. To find it
    /// may resolve a whole dataset.
    notices: BTreeMap<usize, Vec<Notice>>,
    /// Trials done so far, over all sessions.
    done: usize,
    /// Trials that there will be at most.
    most: usize,
}

/// What has been decided so far, where the plan asks anything, and what time it took.
struct DecisionProgress<'a> {
    judge: Option<Judge<'a>>,
    budget_ns: Option<u64>,
    /// Length of the trials of earlier sessions.
    spent_ns: u64,
    begun: Instant,
    /// Block that was found to end within the budget, or had begun before.
    allowed: Option<u32>,
}

impl DecisionProgress<'_> {
    /// Time that the RUN has taken, over all sessions.
    fn spent_ns(&self) -> u64 {
        let own = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.spent_ns.saturating_add(own)
    }

    /// Whether the block under way is expected to end within the budget.
    fn has_time(&self) -> bool {
        let (Some(budget_ns), Some(judge)) = (self.budget_ns, &self.judge) else { return true };
        // Nothing is known of the first block.
        judge.block() == 0 || self.spent_ns().saturating_add(judge.block_ns()) <= budget_ns
    }
}

impl<'a> TrialLoop<'a> {
    /// Nothing done yet.
    pub(crate) fn new(
        request: &'a Request<'a>,
        run: RunId,
        owner: &'a fsarena_store::Owner,
        store: &'a mut Store,
        progress: &'a mut dyn Progress,
    ) -> Self {
        let (has_begun, notices) = (false, BTreeMap::new());
        Self { request, run, owner, store, progress, has_begun, notices, done: 0, most: 0 }
    }

    /// Claims what is needed and does what is left, one trial after the other.
    pub(crate) fn trials(
        &mut self,
        resources: &mut RunResources<'_>,
    ) -> Result<RunState, RunError> {
        // A process that died before its last word has left that alone to the next.
        if self.store.stop(self.run)?.is_some() {
            return Ok(RunState::Done);
        }
        let plan = &self.request.header.plan;
        let records = self.store.records(self.run)?;
        let looks = self.store.looks(self.run)?;
        let (mut done, judge, left) = resume::left(plan, &records, &looks);
        self.done = done.sequences.len();
        self.most = self.done + left.len();
        let mut decisions = DecisionProgress {
            budget_ns: plan.verdict.as_ref().and_then(|ask| ask.budget_ns),
            spent_ns: records.iter().fold(0, |sum, record| record.elapsed_ns.saturating_add(sum)),
            allowed: judge.as_ref().filter(|judge| judge.has_begun_block()).map(Judge::block),
            judge,
            begun: Instant::now(),
        };
        // A process that died between a look and its storing has left it to the next.
        let known = decisions.judge.as_ref().map(Judge::looks).unwrap_or_default();
        for look in known.iter().skip(looks.len()) {
            self.store.put_look(self.run, look)?;
        }
        if !left.is_empty() {
            resources.stage_sources(&left, self.progress)?;
            resources.claim_targets(&left, self.progress)?;
            let changes = resources.changes_since(plan, &records);
            if !changes.is_empty() {
                return Err(RunError::Changed { changes: changes.join("; ") });
            }
        }
        drop(records);
        for sequence in left {
            let slot = &plan.schedule[sequence];
            if self.request.interrupts.load(Ordering::SeqCst) > 0 {
                return Ok(RunState::Interrupted);
            }
            if self.reach(slot, &mut decisions)? {
                break;
            }
            // A pair may have failed too often meanwhile.
            let unwanted = decisions.judge.as_ref().is_some_and(|judge| !judge.wants(slot));
            if unwanted || done.is_given_up(slot) {
                continue;
            }
            let record = self.trial(sequence, resources)?;
            match record.outcome {
                Outcome::Interrupted => return Ok(RunState::Interrupted),
                Outcome::Failed { ref step, .. } => done.failed(slot, step),
                Outcome::Done | Outcome::NotRun { .. } => {}
            }
            if let Some(judge) = &mut decisions.judge {
                judge.add(&TrialScore::from_record(&record));
            }
        }
        self.close(&mut decisions)?;
        Ok(RunState::Done)
    }

    /// Ends the blocks before the one of `slot`; whether the RUN is over.
    fn reach(
        &mut self,
        slot: &Slot,
        decisions: &mut DecisionProgress<'_>,
    ) -> Result<bool, RunError> {
        let Some(judge) = &mut decisions.judge else { return Ok(false) };
        while judge.finished().is_none() && judge.block() < slot.block {
            let end = judge.end_block();
            if let Some(why) = &end.rerun {
                self.progress.message(&format!("block {} is run again: {why}", judge.block()));
            }
            if let Some(look) = &end.look {
                self.looked(look, judge)?;
            }
        }
        let block = judge.block();
        if judge.finished().is_none() && decisions.allowed != Some(block) {
            decisions.allowed = Some(block);
            if !decisions.has_time() {
                self.end_by_budget(decisions)?;
            } else if let Some(judge) = &decisions.judge {
                let most = judge.most_blocks();
                let trials = judge.trials_in_block();
                self.most = self.done + trials * most.saturating_sub(judge.counted()) as usize;
                self.progress.block(block as usize + 1, most as usize, trials);
            }
        }
        Ok(decisions.judge.as_ref().is_some_and(|judge| judge.finished().is_some()))
    }

    fn end_by_budget(&mut self, decisions: &mut DecisionProgress<'_>) -> Result<(), RunError> {
        let Some(judge) = &mut decisions.judge else { return Ok(()) };
        self.progress.message(&format!(
            "the budget is used up: block {} would take about {} s more",
            judge.block() + 1,
            judge.block_ns().div_ceil(1_000_000_000)
        ));
        match judge.end_by_budget() {
            Some(look) => self.looked(&look, judge),
            None => Ok(()),
        }
    }

    /// Ends the last block and stores how the RUN ended.
    fn close(&mut self, decisions: &mut DecisionProgress<'_>) -> Result<(), RunError> {
        let Some(judge) = &mut decisions.judge else { return Ok(()) };
        while judge.finished().is_none() {
            if let Some(look) = judge.end_block().look {
                self.looked(&look, judge)?;
            }
        }
        let why = judge.finished().unwrap_or(StopWhy::Cap);
        self.store.set_stop(self.run, Stop { blocks: judge.block(), why })?;
        Ok(())
    }

    fn looked(&mut self, look: &InterimAnalysis, judge: &Judge<'_>) -> Result<(), RunError> {
        self.store.put_look(self.run, look)?;
        let open = judge.open_pairs();
        self.progress.message(&format!(
            "after {} blocks: {} decided, {open} open",
            look.blocks,
            judge.decided_pairs()
        ));
        Ok(())
    }

    fn trial(
        &mut self,
        sequence: usize,
        resources: &mut RunResources<'_>,
    ) -> Result<TrialRecord, RunError> {
        let plan = &self.request.header.plan;
        let slot = &plan.schedule[sequence];
        let contender = &plan.contenders[slot.contender];
        let workload = &plan.workloads[slot.workload];
        self.done += 1;
        self.progress.trial(self.done, self.most, &contender.label, &workload.name);
        resources.note_destroy(&contender.levels)?;
        let tuned = resources.tune(&contender.levels)?;
        let scale = plan.scale;
        let find = || fsarena_plan::notices(workload, scale);
        let notices = self.notices.entry(slot.workload).or_insert_with(find);
        let spec = trial_spec(self.request, resources, sequence, notices);
        if !std::mem::replace(&mut self.has_begun, true) {
            let session = self.session(spec.key.sequence);
            self.store.put_session(self.run, &session)?;
        }
        let record = Session::start(self.request, resources.journal.path(), &spec)?
            .finish(&mut |step, phase| self.progress.step(step, phase));
        let put_back = tuned.restore();
        fsarena_executor::fault::at("store", None);
        self.store.put_record(self.run, &record)?;
        put_back?;
        self.progress.trial_done(&record);
        Ok(record)
    }

    /// The piece of the RUN that begins with this trial.
    fn session(&self, first_sequence: u32) -> RunSession {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        RunSession {
            started_unix_ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
            boot_id: self.owner.boot_id.clone(),
            first_sequence,
        }
    }
}
