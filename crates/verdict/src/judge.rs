//! Decides, look by look.
//!
//! A judge is fed with the scores of trials in the order of the schedule. At the end of each block
//! it knows whether the block counts, looks where a look is due, and knows who is still needed.
//! Nothing else goes in: no clock, no chance, no file. So the process that carries a RUN out and
//! anyone who opens the database years later come to the same words.

use crate::cut_off::CutOff;
use crate::data::{Data, PairAtLook, Pool};
use crate::disturbed::Disturbances;
use crate::durations::Durations;
use crate::parallel;
use crate::points::Points;
use fsarena_model::run::{RunPlan, Slot};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{
    DecidedPair, InterimAnalysis, Pairs, Question, Rule, Stop, StopWhy, Verdict, VerdictPlan,
};
use fsarena_stats::family::{Family, LookInput};
use fsarena_stats::sequential::{FIRST_LOOK, Level, Looks};

/// Share of misses of a rule that looks once.
pub(super) const FIXED_ALPHA: f64 = 0.05;
/// From here on a contender that never gave a figure is not waited for.
const PATIENCE_BLOCKS: u32 = 4;

/// Decides, look by look.
#[derive(Clone, Debug)]
pub struct Judge<'p> {
    plan: &'p RunPlan,
    ask: &'p VerdictPlan,
    sequence: Option<Looks>,
    asked: Vec<QuestionState<'p>>,
    /// Block under way, from 0.
    block: u32,
    /// Of each block that has ended, whether it counts.
    counts: Vec<bool>,
    rerun: Vec<(u32, String)>,
    not_rerun: Vec<(u32, String)>,
    looks: Vec<InterimAnalysis>,
    finished: Option<StopWhy>,
    /// Slots that were wanted when their block was under way, of the blocks so far.
    wanted: Vec<usize>,
    /// Trial before in this block: its place and contender.
    before: Option<(u32, usize)>,
    disturbances: Disturbances,
    durations: Durations,
    /// Blocks that count in all, once it is known how many fit into the budget.
    fitting: Option<u32>,
    latest_unix_ns: u64,
}

/// A question with what is known by now.
#[derive(Clone, Debug)]
pub(super) struct QuestionState<'p> {
    pub(super) question: &'p Question,
    pub(super) points: Points,
    pub(super) pairs: Vec<Pair>,
    family: Family,
}

/// Two contenders in a question.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pair {
    pub(super) a: usize,
    pub(super) b: usize,
    /// Whether it waits for further looks.
    pub(super) is_open: bool,
    /// What the latest look at it found.
    pub(super) at_look: Option<PairAtLook>,
}

/// What the end of a block brought.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockEnd {
    /// Whether it counts; else why not.
    pub rerun: Option<String>,
    /// What was decided, where it was looked.
    pub look: Option<InterimAnalysis>,
    /// Whether there is no further block, and why.
    pub finished: Option<StopWhy>,
}

impl<'p> Judge<'p> {
    /// A judge before block 1; `None` where the plan asks nothing.
    #[must_use]
    pub fn new(plan: &'p RunPlan) -> Option<Self> {
        let ask = plan.verdict.as_ref()?;
        let sequence = match ask.rule {
            Rule::Looks { cap } => Some(Looks::with_cap(cap)?),
            Rule::Fixed { .. } | Rule::Fit { .. } => None,
        };
        let asked = ask.questions.iter().map(|question| QuestionState::new(plan, ask, question));
        let mut judge = Self {
            plan,
            ask,
            sequence,
            asked: asked.collect(),
            block: 0,
            counts: Vec::new(),
            rerun: Vec::new(),
            not_rerun: Vec::new(),
            looks: Vec::new(),
            finished: None,
            wanted: Vec::new(),
            before: None,
            disturbances: Disturbances::default(),
            durations: Durations::since(ask.begun_unix_ns),
            fitting: None,
            latest_unix_ns: 0,
        };
        judge.note_wanted();
        Some(judge)
    }

    /// The judge of a RUN after these scores: the latest attempt of each trial, in any order; those
    /// that were interrupted are left out. Where the RUN has not ended, the looks that are stored
    /// say that a block had ended although not every contender gave something (one that fails again
    /// and again is given up). `None` where the plan asks nothing.
    #[must_use]
    pub fn replay(
        plan: &'p RunPlan,
        scores: &[TrialScore],
        stop: Option<Stop>,
        looks: &[InterimAnalysis],
    ) -> Option<Self> {
        let mut judge = Self::new(plan)?;
        let mut scores: Vec<&TrialScore> =
            scores.iter().filter(|score| !score.is_interrupted).collect();
        scores.sort_by_key(|score| score.sequence);
        for score in &scores {
            let Some(slot) = plan.schedule.get(score.sequence as usize) else { continue };
            judge.end_blocks_before(slot.block);
            judge.add(score);
        }
        match stop {
            Some(stop) => {
                judge.end_blocks_before(stop.blocks);
                if stop.why == StopWhy::Budget {
                    judge.end_by_budget();
                }
            }
            None => {
                let done = |at: &usize| scores.binary_search_by_key(at, |s| s.sequence as usize);
                let last: Vec<usize> = judge.wanted_now().collect();
                if !last.is_empty() && last.iter().all(|at| done(at).is_ok()) {
                    judge.end_block();
                }
                judge.reach_looks(looks);
            }
        }
        Some(judge)
    }

    /// Ends what had ended by the stored looks.
    fn reach_looks(&mut self, looks: &[InterimAnalysis]) {
        while self.finished.is_none()
            && let Some(stored) = looks.get(self.looks.len())
        {
            if self.counted() < stored.blocks && self.has_begun_block() {
                self.end_block();
            } else if self.counted() == stored.blocks {
                self.end_by_budget();
            } else {
                break;
            }
        }
    }

    /// Ends all blocks before `block`.
    fn end_blocks_before(&mut self, block: u32) {
        while self.block < block && self.finished.is_none() {
            self.end_block();
        }
    }

    /// Number of the block under way, from 0.
    #[must_use]
    pub fn block(&self) -> u32 {
        self.block
    }

    /// Why there is no further block; `None` while there is one.
    #[must_use]
    pub fn finished(&self) -> Option<StopWhy> {
        self.finished
    }

    /// The looks that were taken.
    #[must_use]
    pub fn looks(&self) -> &[InterimAnalysis] {
        &self.looks
    }

    /// Whether the trial of this slot is still needed.
    #[must_use]
    pub fn wants(&self, slot: &Slot) -> bool {
        if self.finished.is_some() {
            return false;
        }
        if self.sequence.is_none() {
            return true;
        }
        let mut own = self.asked.iter().filter(|a| a.question.workload == slot.workload).peekable();
        if own.peek().is_none() {
            // Nothing is asked about it: as often as it takes for the first look.
            return self.counted() < PATIENCE_BLOCKS;
        }
        own.any(|asked| {
            let of = |pair: &&Pair| pair.a == slot.contender || pair.b == slot.contender;
            let mut pairs = asked.pairs.iter().filter(of).peekable();
            match pairs.peek() {
                Some(_) => pairs.any(|pair| pair.is_open),
                None => self.counted() < PATIENCE_BLOCKS,
            }
        })
    }

    /// Takes the score of a trial of the block under way.
    pub fn add(&mut self, score: &TrialScore) {
        let plan = self.plan;
        let Some(slot) = plan.schedule.get(score.sequence as usize) else { return };
        if score.is_interrupted {
            return;
        }
        let (position, previous) = match self.before {
            Some((position, contender)) => (position + 1, Some(contender)),
            None => (0, None),
        };
        self.before = Some((position, slot.contender));
        self.latest_unix_ns =
            self.latest_unix_ns.max(score.started_unix_ns.saturating_add(score.elapsed_ns));
        self.durations.add(self.block, (slot.contender, slot.workload), score);
        self.disturbances.add(plan, &self.ask.limits, slot, score);
        for asked in self.asked.iter_mut().filter(|a| a.question.workload == slot.workload) {
            asked.points.take(plan, slot, asked.question, score, (position, previous));
        }
    }

    /// Ends the block under way: all its trials that were wanted are done or given up.
    pub fn end_block(&mut self) -> BlockEnd {
        let is_spare_left = (self.rerun.len() as u32) < self.ask.spare_blocks;
        let rerun = match self.disturbances.end_block(self.plan, &self.ask.limits) {
            Some(why) if is_spare_left => Some(why),
            Some(why) => {
                self.not_rerun.push((self.block, why));
                None
            }
            None => None,
        };
        if let Some(why) = &rerun {
            self.rerun.push((self.block, why.clone()));
        }
        // Without a single trial (all were given up) there is nothing that could count.
        let counts = rerun.is_none() && self.has_begun_block();
        self.counts.push(counts);
        self.block += 1;
        self.before = None;
        let block_ns = self.durations.end_block();
        if counts {
            self.durations.count_block(block_ns);
            self.fitting = self.fitting_blocks();
        }
        let (counted, most) = (self.counted(), self.most_blocks());
        let due = counts
            && match self.sequence {
                Some(sequence) => sequence.is_look(counted),
                None => counted == most,
            };
        let look = due.then(|| self.analyse(self.level(counted)));
        self.finished = if self.sequence.is_some() && due && self.open_pairs() == 0 {
            Some(StopWhy::Decided)
        } else if counted >= most || self.block >= self.plan.blocks {
            Some(StopWhy::Cap)
        } else {
            None
        };
        if self.finished.is_none() {
            self.note_wanted();
        }
        BlockEnd { rerun, look, finished: self.finished }
    }

    /// Most blocks that count: how many fit into the budget, where that is what is asked, is
    /// planned from the end of the first of them on, and rises where those that follow are shorter.
    #[must_use]
    pub fn most_blocks(&self) -> u32 {
        self.fitting.unwrap_or_else(|| self.ask.rule.blocks())
    }

    /// Whether that number is planned by now.
    #[must_use]
    pub fn is_number_planned(&self) -> bool {
        !matches!(self.ask.rule, Rule::Fit { .. }) || self.fitting.is_some()
    }

    /// Blocks that fit into the budget, by the lengths of those so far. No figure of a contender
    /// has a part in it, and a length is of all contenders of a block together: where they are
    /// equal, whichever of them was the faster could as well have been any other.
    fn fitting_blocks(&self) -> Option<u32> {
        let Rule::Fit { least, most } = self.ask.rule else { return None };
        let Some(budget_ns) = self.ask.budget_ns else { return Some(most) };
        let more = self.durations.more_blocks_within(budget_ns);
        let fitting = self.counted().saturating_add(more).clamp(least, most.max(least));
        Some(self.fitting.unwrap_or(0).max(fitting))
    }

    /// Ends the RUN because the next block would not end within the budget: once more it is looked,
    /// with what the looks before have left of the error, also where one was just taken; gives the
    /// look that is to be stored. The length of a trial says next to nothing about which contender
    /// is better, so that such an end is none that the figures chose.
    pub fn end_by_budget(&mut self) -> Option<InterimAnalysis> {
        self.finished = Some(StopWhy::Budget);
        let counted = self.counted();
        let level = match self.sequence {
            Some(sequence) => sequence.level_at_end(counted),
            None => Level::Once(FIXED_ALPHA),
        };
        // Nothing is stored twice: a second look at the same blocks follows from such an end.
        let is_new = self.looks.last().is_none_or(|look| look.blocks < counted);
        let look = (counted > 1).then(|| self.analyse(level));
        look.filter(|_| is_new)
    }

    /// Whether a trial of the block under way was done.
    #[must_use]
    pub fn has_begun_block(&self) -> bool {
        self.before.is_some()
    }

    /// Time that the block under way is expected to take: as long as the longest so far took for
    /// the same trials.
    #[must_use]
    pub fn block_ns(&self) -> u64 {
        let slots = self.wanted_now().map(|at| &self.plan.schedule[at]);
        let cells: Vec<(usize, usize)> =
            slots.map(|slot| (slot.contender, slot.workload)).collect();
        self.durations.expected_ns(&cells)
    }

    /// Time that one of its trials is expected to take, as the block.
    #[must_use]
    pub fn trial_ns(&self, slot: &Slot) -> u64 {
        self.durations.expected_ns(&[(slot.contender, slot.workload)])
    }

    /// How the RUN was cut off, where its budget ended it.
    #[must_use]
    pub fn cut_off(&self) -> Option<CutOff> {
        let Self { ask, .. } = self;
        let blocks = (self.most_blocks(), self.counted());
        CutOff::new(self.finished?, ask.rule, ask.budget_ns, blocks)
    }

    /// Numbers of the slots of the block under way that were wanted when it began.
    fn wanted_now(&self) -> impl Iterator<Item = usize> {
        let block = self.block;
        self.wanted.iter().copied().filter(move |&at| self.plan.schedule[at].block == block)
    }

    /// Trials of the block under way.
    #[must_use]
    pub fn trials_in_block(&self) -> usize {
        self.wanted_now().count()
    }

    fn note_wanted(&mut self) {
        let slots = self.plan.schedule.iter().enumerate();
        let first = slots.clone().position(|(_, slot)| slot.block >= self.block);
        let Some(first) = first else { return };
        let own = slots.skip(first).take_while(|(_, slot)| slot.block == self.block);
        let wanted: Vec<usize> =
            own.filter(|(_, slot)| self.wants(slot)).map(|(at, _)| at).collect();
        self.wanted.extend(wanted);
    }

    /// The plan as it came about: of the schedule, the slots of the blocks so far that were wanted.
    #[must_use]
    pub fn carried_out(&self) -> RunPlan {
        let mut schedule = self.plan.schedule.clone();
        match (self.sequence, self.finished, self.fitting) {
            (None, None, None) if self.is_number_planned() => {}
            // Nobody leaves, and so many blocks are to come.
            (None, None, Some(blocks)) => {
                let last = blocks.saturating_add(self.rerun.len() as u32);
                schedule.retain(|slot| slot.block < last);
            }
            _ => schedule = self.wanted.iter().map(|&at| self.plan.schedule[at]).collect(),
        }
        RunPlan { schedule, ..self.plan.clone() }
    }

    /// Blocks that have ended and count.
    #[must_use]
    pub fn counted(&self) -> u32 {
        self.counts.iter().filter(|&&counts| counts).count() as u32
    }

    /// Pairs that were asked, over all questions.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.asked.iter().map(|asked| asked.pairs.len()).sum()
    }

    /// Of these, those of which something is shown.
    #[must_use]
    pub fn decided_pairs(&self) -> usize {
        self.looks.iter().map(|look| look.decided.len()).sum()
    }

    /// Of all pairs, those that wait for further looks.
    #[must_use]
    pub fn open_pairs(&self) -> usize {
        let open =
            |asked: &QuestionState<'_>| asked.pairs.iter().filter(|pair| pair.is_open).count();
        self.asked.iter().map(open).sum()
    }

    /// Whether the trial of this slot is needed, or may be needed later.
    #[must_use]
    pub fn may_want(&self, slot: &Slot) -> bool {
        let last = self.fitting.map(|blocks| blocks.saturating_add(self.ask.spare_blocks));
        slot.block >= self.block && last.is_none_or(|last| slot.block < last) && self.wants(slot)
    }

    /// The level of a look that is due after so many blocks.
    fn level(&self, blocks: u32) -> Level {
        self.sequence.map_or(Level::Once(FIXED_ALPHA), |sequence| sequence.level_at(blocks))
    }

    /// Looks at every pair that is open.
    fn analyse(&mut self, level: Level) -> InterimAnalysis {
        let blocks = self.counted();
        let margin_log = self.ask.margin.ln_1p();
        // The level of a look was set for at least as many values as the first has.
        let least = if self.sequence.is_some() { FIRST_LOOK as usize } else { 2 };
        let ended = self.block;
        let counts = self.counts.clone();
        let counts = |block: u32| counts.get(block as usize).copied().unwrap_or(false);
        let looked =
            parallel::map(self.asked.iter_mut().collect(), |asked: &mut QuestionState<'_>| {
                asked.analyse(blocks, level, margin_log, (least, ended), &counts)
            });
        let mut decided = Vec::new();
        for (number, pairs) in looked.into_iter().enumerate() {
            for pair in pairs {
                let Pair { a, b, at_look, .. } = pair;
                let verdict = at_look.as_ref().map_or(Verdict::Undecided, |look| look.verdict);
                if verdict != Verdict::Undecided {
                    decided.push(DecidedPair { question: number, a: *a, b: *b, verdict });
                }
            }
        }
        let look = InterimAnalysis { blocks, at_unix_ns: self.latest_unix_ns, decided };
        self.looks.push(look.clone());
        look
    }

    pub(super) fn asked(&self) -> &[QuestionState<'p>] {
        &self.asked
    }

    pub(super) fn ask(&self) -> &'p VerdictPlan {
        self.ask
    }

    pub(super) fn rerun(&self) -> &[(u32, String)] {
        &self.rerun
    }

    pub(super) fn not_rerun(&self) -> &[(u32, String)] {
        &self.not_rerun
    }

    /// Whether a block has ended and counts.
    pub(crate) fn is_counted(&self, block: u32) -> bool {
        self.counts.get(block as usize).copied().unwrap_or(false)
    }

    /// Of each block that has ended, whether it counts.
    pub(crate) fn into_counts(self) -> Vec<bool> {
        self.counts
    }

    /// The first look after at least so many blocks, where one is planned.
    pub(super) fn look_from(&self, blocks: u64) -> Option<u64> {
        let before = u32::try_from(blocks.checked_sub(1)?).ok()?;
        self.sequence?.next_after(before).map(u64::from)
    }

    /// The level of the last look of all.
    pub(super) fn last_level(&self) -> Level {
        self.level(self.most_blocks())
    }
}

impl<'p> QuestionState<'p> {
    fn new(plan: &RunPlan, ask: &VerdictPlan, question: &'p Question) -> Self {
        let orient = |(a, b): (usize, usize)| match ask.pairs {
            Pairs::Baseline { contender } if contender == a => (b, a),
            Pairs::All | Pairs::Baseline { .. } => (a, b),
        };
        let pairs: Vec<Pair> = plan
            .asked_pairs(question)
            .into_iter()
            .map(orient)
            .map(|(a, b)| Pair { a, b, is_open: true, at_look: None })
            .collect();
        let family = Family { asked: pairs.len(), differences: 0, sames: 0 };
        Self { question, points: Points::default(), pairs, family }
    }

    /// Looks at every open pair that has at least `least` values, after `ended` blocks; gives all
    /// open ones.
    fn analyse(
        &mut self,
        blocks: u32,
        level: Level,
        margin_log: f64,
        (least, ended): (usize, u32),
        counts: &dyn Fn(u32) -> bool,
    ) -> Vec<&Pair> {
        let open: Vec<usize> = (0..self.pairs.len()).filter(|&at| self.pairs[at].is_open).collect();
        let pool = Pool::new(&self.points, counts);
        let step = |value: f64| self.question.metric.step(value);
        let pair = |at: usize| (self.pairs[at].a, self.pairs[at].b);
        let data: Vec<Data> = open
            .iter()
            .map(|&at| Data::new(step, &self.points, pair(at), &pool, counts))
            .map(|data| data.with_least(least))
            .collect();
        let looks: Vec<LookInput<'_>> = data.iter().map(Data::look_input).collect();
        let found = self.family.analyse(&looks, level, margin_log);
        for ((&at, data), found) in open.iter().zip(&data).zip(found) {
            let pair = &mut self.pairs[at];
            let look = data.at_look(blocks, ended, found);
            // One of them has given nothing for so long that it will give nothing more.
            let latest = self.points.by_block(pair.a, pair.b, counts).last().map(|(at, _)| at + 1);
            let since = (latest.unwrap_or(0)..ended).filter(|&block| counts(block)).count() as u32;
            let is_silent = since >= PATIENCE_BLOCKS;
            pair.is_open = look.verdict == Verdict::Undecided && !is_silent;
            pair.at_look = Some(look);
        }
        open.iter().map(|&at| &self.pairs[at]).collect()
    }
}
