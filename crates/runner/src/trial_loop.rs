//! The trials of one process: in the order of the schedule, without those whose questions are
//! decided, block by block, until everything is decided, the blocks of the plan are carried out, or
//! the budget allows no further one.

use crate::budget::Budget;
use crate::request::{BlockProgress, Blocks, Progress, Request, RunError, TrialProgress};
use crate::resources::RunResources;
use crate::resume;
use crate::session::Session;
use crate::spool::Spool;
use crate::trial_spec::trial_spec;
use fsarena_model::record::{Notice, Outcome, TrialRecord};
use fsarena_model::run::{RunSession, RunState, Slot};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{InterimAnalysis, Rule, Stop, StopWhy};
use fsarena_store::{RunId, Store};
use fsarena_verdict::Judge;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Attempts at a trial that the machine may end before the RUN is interrupted for it. One more is
/// made by a resume, and then it counts as failed.
const ATTEMPTS_MAX: usize = 3;

/// The trials of this process.
pub(crate) struct TrialLoop<'a> {
    request: &'a Request<'a>,
    run: RunId,
    owner: &'a fsarena_store::Owner,
    store: &'a Store,
    spool: &'a mut Spool,
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
    /// When the RUN began in this process.
    begun: Instant,
    /// Attempts at each trial (index into the schedule) that the machine ended, those of earlier
    /// pieces of the RUN among them.
    machine_ends: BTreeMap<usize, MachineEnds>,
    /// How the RUN was cut off before its plan was carried out, in words.
    pub(crate) cut_off: Option<String>,
    /// Trials of the block under way that were begun beside the present one, by their sequence and
    /// their number among guests, which share nothing but the processors.
    ahead: Vec<(usize, usize, Session<'a>)>,
}

/// Attempts at a trial that the machine ended.
#[derive(Clone, Debug, Default)]
struct MachineEnds {
    attempts: usize,
    /// How the last of them ended.
    how: String,
}

impl MachineEnds {
    fn add(&mut self, end: &Notice) {
        self.attempts += 1;
        how_ended(end).clone_into(&mut self.how);
    }

    /// What is said with the trial that was done in their place.
    fn notice(&self) -> Notice {
        let Self { attempts, how } = self;
        let attempts = match attempts {
            1 => "an attempt".to_owned(),
            some => format!("{some} attempts, the last of them"),
        };
        let text = format!("done again: the machine had ended {attempts}: {how}");
        Notice::new("done-again", text, None)
    }
}

/// How the machine ended a trial, by its notice.
fn how_ended(end: &Notice) -> &str {
    end.text.split_once("its work: ").map_or(&*end.text, |(_, how)| how)
}

/// What has been decided so far, where the plan asks anything, and what time it took.
struct DecisionProgress<'a> {
    judge: Option<Judge<'a>>,
    budget: Budget,
    /// Block that was found to end within the budget, or had begun before.
    allowed: Option<u32>,
    /// What was expected of trials before the RUN.
    expected_ns: &'a BTreeMap<(usize, usize), u64>,
    /// Time of the trials so far, and what was expected of them, ns.
    so_far: (u64, u64),
}

impl DecisionProgress<'_> {
    /// Whether the block under way is expected to end within the budget; nothing is known of the
    /// first.
    fn has_time(&self) -> bool {
        let Some(judge) = &self.judge else { return true };
        judge.block() == 0 || self.budget.has_room_for(judge.block_ns())
    }

    /// Whether a trial of the block under way is; a block may take longer than was expected. The
    /// very first trial is always begun: without it nothing is known.
    fn has_time_for(&self, slot: &Slot) -> bool {
        let Some(judge) = &self.judge else { return true };
        let is_first = judge.block() == 0 && self.so_far.0 == 0;
        is_first || self.budget.has_room_for(self.trial_ns(judge, slot))
    }

    /// Expected length of a trial: by what the same one took in this RUN, else by what was expected
    /// of it, as many times as long as the trials so far took longer than that.
    fn trial_ns(&self, judge: &Judge<'_>, slot: &Slot) -> u64 {
        let seen_ns = judge.trial_ns(slot);
        if seen_ns > 0 {
            return seen_ns;
        }
        let cell = (slot.contender, slot.workload);
        let expected_ns = self.expected_ns.get(&cell).copied().unwrap_or(0);
        let (took_ns, expected_so_far_ns) = self.so_far;
        match expected_so_far_ns {
            0 => expected_ns,
            some => (expected_ns as f64 * took_ns as f64 / some as f64) as u64,
        }
    }

    /// Takes the length of a trial.
    fn took(&mut self, slot: &Slot, elapsed_ns: u64) {
        let expected_ns = self.expected_ns.get(&(slot.contender, slot.workload));
        let expected_ns = expected_ns.copied().unwrap_or(elapsed_ns);
        let (took, expected) = self.so_far;
        self.so_far = (took.saturating_add(elapsed_ns), expected.saturating_add(expected_ns));
    }

    /// Time to the end of the RUN, with the trials `rest` of the block under way to be done.
    fn left_ns<'s>(&self, rest: impl Iterator<Item = &'s Slot>) -> Option<u64> {
        let judge = self.judge.as_ref()?;
        // Of a RUN of which nothing was seen or expected there is nothing to say.
        if judge.block() == 0 && self.expected_ns.is_empty() {
            return None;
        }
        let own = rest.map(|slot| self.trial_ns(judge, slot));
        let own_ns = own.fold(0, u64::saturating_add);
        let more = judge.most_blocks().saturating_sub(judge.counted() + 1);
        let block_ns = match judge.block() {
            0 => self.first_block_ns(judge),
            _ => judge.block_ns(),
        };
        let more_ns = block_ns.saturating_mul(u64::from(more));
        Some(self.budget.until_end_ns(own_ns.saturating_add(more_ns)))
    }

    /// Expected length of a block, before one has ended: each cell is in it once.
    fn first_block_ns(&self, judge: &Judge<'_>) -> u64 {
        let cells = self.expected_ns.keys().map(|&(contender, workload)| Slot {
            block: 0,
            position: 0,
            contender,
            workload,
        });
        cells.map(|slot| self.trial_ns(judge, &slot)).fold(0, u64::saturating_add)
    }

    /// How many blocks there will be, as far as it is known.
    fn blocks(&self, rule: Rule) -> Blocks {
        let Some(judge) = &self.judge else { return Blocks::Unknown };
        let most = judge.most_blocks();
        let fit = self.budget.left_ns().filter(|_| judge.block() > 0).map(|left_ns| {
            let more = left_ns.checked_div(judge.block_ns()).unwrap_or(u64::MAX);
            u64::from(judge.counted()).saturating_add(more)
        });
        let known = usize::try_from(most).unwrap_or(usize::MAX);
        match (rule, fit) {
            (_, Some(fit)) if fit < u64::from(most) && judge.is_number_planned() => {
                Blocks::About(usize::try_from(fit).unwrap_or(known).max(1))
            }
            (Rule::Fit { .. }, _) if !judge.is_number_planned() => Blocks::Unknown,
            (Rule::Fit { most: limit, .. }, Some(_)) if most < limit => Blocks::About(known),
            (Rule::Looks { .. }, _) => Blocks::AtMost(known),
            _ => Blocks::Exactly(known),
        }
    }
}

/// Number of the block under way among those that count, from 1: one that is run again keeps its
/// number, so that the last is never "block 9 of 7".
fn number_of_block(judge: &Judge<'_>) -> usize {
    judge.counted() as usize + 1
}

impl<'a> TrialLoop<'a> {
    /// Nothing done yet.
    pub(crate) fn new(
        request: &'a Request<'a>,
        owner: &'a fsarena_store::Owner,
        store: &'a Store,
        spool: &'a mut Spool,
        progress: &'a mut dyn Progress,
        begun: Instant,
    ) -> Self {
        Self {
            request,
            run: spool.run(),
            owner,
            store,
            spool,
            progress,
            has_begun: false,
            notices: BTreeMap::new(),
            done: 0,
            most: 0,
            begun,
            machine_ends: BTreeMap::new(),
            cut_off: None,
            ahead: Vec::new(),
        }
    }

    /// How far it came, where it did not come to its end.
    pub(crate) fn how_far(&self) -> String {
        let (done, most) = (self.done, self.most);
        format!("{done} of at most {most} trials done, {} left", most.saturating_sub(done))
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
        let limit_ns = plan.verdict.as_ref().and_then(|ask| ask.budget_ns);
        let earlier_ns = records.iter().fold(0, |sum, it| it.elapsed_ns.saturating_add(sum));
        let mut decisions = DecisionProgress {
            budget: Budget::new(limit_ns, earlier_ns, self.begun),
            allowed: judge.as_ref().filter(|judge| judge.has_begun_block()).map(Judge::block),
            judge,
            expected_ns: self.request.expected_ns,
            so_far: (0, 0),
        };
        // A process that died between a look and its storing has left it to the next.
        let known = decisions.judge.as_ref().map(Judge::looks).unwrap_or_default();
        for look in known.iter().skip(looks.len()) {
            self.spool.put_look(self.store, look)?;
        }
        self.machine_ends = self.ended_by_machine()?;
        if !left.is_empty() {
            self.claim(&left, &records, resources)?;
        }
        drop(records);
        for (at, &sequence) in left.iter().enumerate() {
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
            if !decisions.has_time_for(slot) {
                self.end_by_budget(&mut decisions)?;
                break;
            }
            let own = left[at..].iter().map(|&n| &plan.schedule[n]);
            let rest = own.take_while(|other| other.block == slot.block);
            let left_ns = decisions.left_ns(rest);
            let beside = left[at + 1..].iter().copied().take_while(|&n| {
                let other = &plan.schedule[n];
                other.block == slot.block && decisions.has_time_for(other)
            });
            let is_wanted = |&n: &usize| {
                let other = &plan.schedule[n];
                let judge = decisions.judge.as_ref();
                judge.is_none_or(|judge| judge.wants(other)) && !done.is_given_up(other)
            };
            let beside: Vec<usize> = beside.filter(is_wanted).collect();
            let record = self.attempts(sequence, (left_ns, &beside), resources)?;
            if record.outcome == Outcome::Interrupted {
                return Ok(RunState::Interrupted);
            }
            done.take(slot, &record);
            decisions.took(slot, record.elapsed_ns);
            if let Some(judge) = &mut decisions.judge {
                judge.add(&TrialScore::from_record(&record));
            }
        }
        self.close(&mut decisions)?;
        Ok(RunState::Done)
    }

    /// Claims what the trials that are `left` need; what lies there has to be what `records` say.
    fn claim(
        &mut self,
        left: &[usize],
        records: &[TrialRecord],
        resources: &mut RunResources<'_>,
    ) -> Result<(), RunError> {
        resources.stage_sources(left, self.progress)?;
        resources.claim_targets(left, self.progress)?;
        let changes = resources.changes_since(&self.request.header.plan, records);
        match changes.is_empty() {
            true => Ok(()),
            false => Err(RunError::Changed { changes: changes.join("; ") }),
        }
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
                let number = number_of_block(judge);
                self.progress.message(&format!("block {number} is run again: {why}"));
            }
            if let Some(look) = &end.look {
                self.looked(look, judge)?;
            }
        }
        let block = judge.block();
        if judge.finished().is_none() && decisions.allowed != Some(block) {
            decisions.allowed = Some(block);
            if decisions.has_time() {
                self.begin_block(decisions);
            } else {
                self.end_by_budget(decisions)?;
            }
        }
        Ok(decisions.judge.as_ref().is_some_and(|judge| judge.finished().is_some()))
    }

    /// Says that a block begins.
    fn begin_block(&mut self, decisions: &DecisionProgress<'_>) {
        let Some(judge) = &decisions.judge else { return };
        let Some(ask) = &self.request.header.plan.verdict else { return };
        let trials = judge.trials_in_block();
        let more = judge.most_blocks().saturating_sub(judge.counted()) as usize;
        self.most = self.done + trials * more;
        let block = self.request.header.plan.schedule.iter();
        let left_ns = decisions.left_ns(block.filter(|slot| slot.block == judge.block()));
        let looks = matches!(ask.rule, Rule::Looks { .. }) && !judge.looks().is_empty();
        self.progress.block(&BlockProgress {
            number: number_of_block(judge),
            blocks: decisions.blocks(ask.rule),
            trials,
            decided: looks.then(|| (judge.decided_pairs(), judge.pairs())),
            left_ns,
            budget_ns: decisions.budget.limit_ns(),
        });
    }

    fn end_by_budget(&mut self, decisions: &mut DecisionProgress<'_>) -> Result<(), RunError> {
        let Some(judge) = &mut decisions.judge else { return Ok(()) };
        let look = judge.end_by_budget();
        self.cut_off = judge.cut_off().map(|cut_off| cut_off.to_string());
        match look {
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
        self.spool.set_stop(self.store, Stop { blocks: judge.block(), why })
    }

    fn looked(&mut self, look: &InterimAnalysis, judge: &Judge<'_>) -> Result<(), RunError> {
        self.spool.put_look(self.store, look)?;
        let (decided, pairs) = (judge.decided_pairs(), judge.pairs());
        let blocks = if look.blocks == 1 { "block" } else { "blocks" };
        let text = format!("after {} {blocks}: {decided} of {pairs} decided", look.blocks);
        self.progress.message(&text);
        Ok(())
    }

    /// A trial, again where the machine ended it.
    fn attempts(
        &mut self,
        sequence: usize,
        (left_ns, beside): (Option<u64>, &[usize]),
        resources: &mut RunResources<'_>,
    ) -> Result<TrialRecord, RunError> {
        let mut record = self.trial(sequence, (left_ns, beside), resources)?;
        while let Some(end) = record.end_by_machine_notice().cloned() {
            if !self.tries_again(sequence, &end) {
                break;
            }
            record = self.trial(sequence, (left_ns, &[]), resources)?;
        }
        Ok(record)
    }

    /// After an attempt that the machine ended: whether the trial is done again now. Otherwise the
    /// RUN is interrupted, or, after a resume, goes on without the trial.
    fn tries_again(&mut self, sequence: usize, end: &Notice) -> bool {
        let attempts = self.machine_ends.get(&sequence).map_or(0, |ends| ends.attempts);
        let plan = &self.request.header.plan;
        let slot = &plan.schedule[sequence];
        let label = &plan.contenders[slot.contender].label;
        let workload = &plan.workloads[slot.workload].name;
        let is_asked_to_stop = self.request.interrupts.load(Ordering::SeqCst) > 0;
        let what = match attempts {
            _ if is_asked_to_stop => return false,
            0..ATTEMPTS_MAX => "it is done again",
            ATTEMPTS_MAX => "the RUN is interrupted, and --resume tries once more",
            _ => "it counts as failed",
        };
        self.progress.message(&format!(
            "{workload} on {label} was ended by the machine, attempt {attempts}: {what}: {}{}",
            how_ended(end),
            end.remedy.as_ref().map_or_else(String::new, |remedy| format!("; {remedy}")),
        ));
        attempts < ATTEMPTS_MAX
    }

    /// Attempts at each trial that the machine has ended so far.
    fn ended_by_machine(&self) -> Result<BTreeMap<usize, MachineEnds>, RunError> {
        let mut all: BTreeMap<usize, MachineEnds> = BTreeMap::new();
        for (_, record) in self.store.attempts(self.run)? {
            if let Some(end) = record.end_by_machine_notice() {
                all.entry(record.key.sequence as usize).or_default().add(end);
            }
        }
        Ok(all)
    }

    fn trial(
        &mut self,
        sequence: usize,
        (left_ns, beside): (Option<u64>, &[usize]),
        resources: &mut RunResources<'_>,
    ) -> Result<TrialRecord, RunError> {
        let plan = &self.request.header.plan;
        let slot = &plan.schedule[sequence];
        let contender = &plan.contenders[slot.contender];
        let workload = &plan.workloads[slot.workload];
        self.progress.trial(&TrialProgress {
            number: self.done + 1,
            of: self.most,
            contender: &contender.label,
            workload: &workload.name,
            left_ns,
        });
        resources.note_destroy(&contender.levels)?;
        let tuned = resources.tune(&contender.levels)?;
        if !std::mem::replace(&mut self.has_begun, true) {
            let session = self.session(u32::try_from(sequence).unwrap_or(u32::MAX));
            let begun = self.store.put_session(self.run, &session);
            begun.map_err(|error| self.spool.unstored(error))?;
        }
        let (cpu_index, session) = self.begun(sequence, resources)?;
        if contender.levels.device.is_virtual() {
            self.begin_beside(cpu_index, beside, resources)?;
        }
        let mut record = session.finish(&mut |step, phase| self.progress.step(step, phase));
        record.notices.extend(self.machine_ends.get(&sequence).map(MachineEnds::notice));
        if let Some(end) = record.end_by_machine_notice().cloned() {
            let ends = self.machine_ends.entry(sequence).or_default();
            if ends.attempts < ATTEMPTS_MAX {
                // It is not over, as after an interrupt.
                record.outcome = Outcome::Interrupted;
            }
            ends.add(&end);
        }
        let put_back = tuned.restore();
        fsarena_executor::fault::at("store", None);
        let stored = self.spool.put_record(self.store, &record);
        self.done += usize::from(record.outcome != Outcome::Interrupted);
        if let Some(text) = stored? {
            self.progress.message(&text);
        }
        put_back?;
        self.progress.trial_done(&record);
        Ok(record)
    }

    /// The trial and its number among guests; it is begun now, unless it was.
    fn begun(
        &mut self,
        sequence: usize,
        resources: &RunResources<'_>,
    ) -> Result<(usize, Session<'a>), RunError> {
        // One that is not wanted any more is ended here.
        self.ahead.retain(|(at, ..)| *at >= sequence);
        if let Some(at) = self.ahead.iter().position(|(at, ..)| *at == sequence) {
            let (_, cpu_index, session) = self.ahead.swap_remove(at);
            return Ok((cpu_index, session));
        }
        let cpu_index = self.free_cpu_index(None);
        Ok((cpu_index, self.begin(sequence, cpu_index, resources)?))
    }

    /// Begins others, as long as there is a processor for each.
    fn begin_beside(
        &mut self,
        cpu_index: usize,
        others: &[usize],
        resources: &RunResources<'_>,
    ) -> Result<(), RunError> {
        let lanes = std::thread::available_parallelism().map_or(1, usize::from);
        for &sequence in others {
            if self.ahead.len() + 1 >= lanes {
                break;
            }
            if self.ahead.iter().all(|(at, ..)| *at != sequence) {
                let cpu_index = self.free_cpu_index(Some(cpu_index));
                let session = self.begin(sequence, cpu_index, resources)?;
                self.ahead.push((sequence, cpu_index, session));
            }
        }
        Ok(())
    }

    fn free_cpu_index(&self, present: Option<usize>) -> usize {
        let is_free = |cpu_index: &usize| {
            present != Some(*cpu_index) && self.ahead.iter().all(|(_, taken, _)| taken != cpu_index)
        };
        (0..).find(is_free).unwrap_or(0)
    }

    fn begin(
        &mut self,
        sequence: usize,
        cpu_index: usize,
        resources: &RunResources<'_>,
    ) -> Result<Session<'a>, RunError> {
        let plan = &self.request.header.plan;
        let number = plan.schedule[sequence].workload;
        let find = || fsarena_plan::notices(&plan.workloads[number], plan.scale);
        let notices = self.notices.entry(number).or_insert_with(find);
        let spec = trial_spec(self.request, resources, sequence, notices);
        Session::start(self.request, resources.journal.path(), spec, cpu_index)
    }

    /// The piece of the RUN that begins with this trial.
    fn session(&self, first_sequence: u32) -> RunSession {
        RunSession {
            started_unix_ns: self.request.clock.unix_ns(),
            boot_id: self.owner.boot_id.clone(),
            first_sequence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::run::RunHeader;
    use fsarena_model::verdict::{Limits, VerdictPlan};
    use fsarena_testkit::records::{self, SECOND_NS};
    use std::time::Duration;

    const FIT: Rule = Rule::Fit { least: 2, most: 12 };

    /// Two contenders, one workload, four minutes, and two spare blocks.
    fn header() -> RunHeader {
        let contenders =
            vec![records::contender("ext4", "ext4", 1), records::contender("xfs", "xfs", 1)];
        let mut header = records::header(contenders, vec![records::big_file()], 14);
        let asked = records::asked(&header.plan, FIT);
        let budget_ns = Some(240 * SECOND_NS);
        let limits = Limits { steal_share: Some(0.2), ..Limits::default() };
        header.plan.verdict = Some(VerdictPlan { spare_blocks: 2, budget_ns, limits, ..asked });
        header
    }

    /// Two blocks of two trials of 10 s, the second of them beside a hypervisor that took half of
    /// the machine.
    fn after_a_block_to_run_again(header: &RunHeader) -> Judge<'_> {
        let mut judge = Judge::new(&header.plan).expect("the plan asks");
        for sequence in 0..4u32 {
            let mut score = TrialScore::from_record(&records::record(header, sequence));
            score.elapsed_ns = 10 * SECOND_NS;
            for phase in &mut score.phases {
                phase.machine_ns = Some(2 * SECOND_NS);
                phase.steal_ns = Some(u64::from(sequence / 2) * SECOND_NS);
            }
            judge.add(&score);
            if sequence % 2 == 1 {
                let end = judge.end_block();
                assert_eq!(end.rerun.is_some(), sequence == 3);
            }
        }
        judge
    }

    #[test]
    fn a_block_that_is_run_again_keeps_its_number() {
        let header = header();
        let judge = after_a_block_to_run_again(&header);
        assert_eq!((judge.block(), judge.most_blocks()), (2, 11));
        assert_eq!(number_of_block(&judge), 2, "the second is done once more");
    }

    /// What is run again is begun as any other block: only where it is expected to end in time.
    #[test]
    fn blocks_that_are_run_again_stay_within_the_budget() {
        let header = header();
        let expected_ns = BTreeMap::new();
        let after = |used_s: u64| {
            let begun = Instant::now().checked_sub(Duration::from_secs(used_s));
            let limit_ns = Some(240 * SECOND_NS);
            DecisionProgress {
                judge: Some(after_a_block_to_run_again(&header)),
                budget: Budget::new(limit_ns, 0, begun.expect("the machine is up for so long")),
                allowed: None,
                expected_ns: &expected_ns,
                so_far: (0, 0),
            }
        };
        assert!(after(40).has_time());
        assert!(!after(220).has_time(), "17 s are left of a block of 20 s");
        let slot = &header.plan.schedule[4];
        assert!(after(220).has_time_for(slot), "one trial of 10 s");
        assert!(!after(230).has_time_for(slot));
    }

    /// Of the first block too, all but the very first trial are begun only where they are expected
    /// to end in time.
    #[test]
    fn trials_of_the_first_block_stay_within_the_budget() {
        let header = header();
        let expected_ns: BTreeMap<_, _> =
            [((0, 0), 10 * SECOND_NS), ((1, 0), 10 * SECOND_NS)].into();
        let slot = header.plan.schedule[1];
        let at = |used_s: u64, so_far| {
            let begun = Instant::now().checked_sub(Duration::from_secs(used_s));
            let limit_ns = Some(240 * SECOND_NS);
            let progress = DecisionProgress {
                judge: Judge::new(&header.plan),
                budget: Budget::new(limit_ns, 0, begun.expect("the machine is up for so long")),
                allowed: None,
                expected_ns: &expected_ns,
                so_far,
            };
            (progress.has_time_for(&slot), progress.left_ns(std::iter::once(&slot)))
        };
        assert!(at(300, (0, 0)).0, "without the first there is no figure");
        assert!(at(200, (10 * SECOND_NS, 10 * SECOND_NS)).0, "37 s are left of 10");
        assert!(!at(230, (10 * SECOND_NS, 10 * SECOND_NS)).0);
        assert!(!at(200, (50 * SECOND_NS, 10 * SECOND_NS)).0, "it takes five times as long");
        assert!(at(10, (0, 0)).1.is_some_and(|left_ns| left_ns >= 200 * SECOND_NS));
    }
}
