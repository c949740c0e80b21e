//! RUNs played on a tape, by the judge that carries real ones out.

use super::rules::Course;
use super::scenario::{SESSION_BLOCKS, Scenario, Truth};
use super::tape::FamilyTape;
use fsarena_model::record::{CacheState, TimeBase};
use fsarena_model::run::{RunPlan, Slot};
use fsarena_model::score::{Covariates, MemoryKind, PhaseScore, TrialScore};
use fsarena_model::seed::Seed;
use fsarena_model::verdict::{
    InterimAnalysis, Limits, METHOD_VERSION, Metric, Question, VerdictPlan,
};
use fsarena_stats::PairSample;
use fsarena_verdict::Judge;

/// What is drawn for one play.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Draw {
    /// Block of the tape that it begins with.
    pub start: usize,
    /// Which contender of the tape takes each place in the RUN.
    pub places: Vec<usize>,
    /// Where it comes from whose noise goes to whom in each block.
    pub deal: Seed,
}

impl Draw {
    /// One of the `starts` first blocks, and `contenders` of the tape in random order.
    pub fn new(tape: &FamilyTape, starts: usize, contenders: usize, seed: &Seed) -> Self {
        let mut rng = seed.rng();
        let start = rng.below(starts as u64) as usize;
        let mut places: Vec<usize> = (0..tape.contenders.len()).collect();
        rng.shuffle(&mut places);
        places.truncate(contenders);
        Self { start, places, deal: seed.child("deal", 0) }
    }
}

/// What of a tape is the same for all plays.
pub(super) struct Prepared<'t> {
    pub tape: &'t FamilyTape,
    /// Workloads that have phases on it.
    workloads: Vec<usize>,
    /// Logarithms without the median of each contender: by phase, contender and block.
    away: Vec<Vec<Vec<f64>>>,
    /// Of these the mean over all contenders: by phase and block.
    drift: Vec<Vec<f64>>,
    /// Logarithm of the length that all contenders are given, by phase.
    levels: Vec<f64>,
    elapsed_s: Vec<Vec<Vec<f64>>>,
}

impl<'t> Prepared<'t> {
    pub fn new(tape: &'t FamilyTape) -> Self {
        let mut workloads: Vec<usize> = tape.phases.iter().map(|p| p.workload_index).collect();
        workloads.dedup();
        let medians = tape.medians();
        let level = |own: &Vec<f64>| own.iter().sum::<f64>() / own.len().max(1) as f64;
        let levels = medians.iter().map(level).collect();
        let away: Vec<Vec<Vec<f64>>> = tape.logs.iter().zip(&medians).map(without).collect();
        let drift = away.iter().map(|phase| drift(phase)).collect();
        Self { tape, workloads, levels, away, drift, elapsed_s: tape.elapsed_s() }
    }

    /// The plan of a RUN: as the tape's, with other rules and contenders that are all alike.
    pub fn plan(&self, scenario: &Scenario, course: &Course, margin: f64) -> RunPlan {
        let (template, rule) = (&self.tape.plan, course.rule);
        let blocks = rule.blocks();
        let mut schedule = Vec::new();
        for block in 0..blocks {
            let slots = self.workloads.iter().flat_map(|&workload| {
                (0..scenario.contenders).map(move |contender| (contender, workload))
            });
            schedule.extend(slots.zip(0..).map(|((contender, workload), position)| Slot {
                block,
                position,
                contender,
                workload,
            }));
        }
        let questions = self.tape.phases.iter().map(|phase| Question {
            workload: phase.workload_index,
            phase: phase.phase.clone(),
            metric: Metric::Time,
            clock: self.tape.clock,
        });
        let verdict = VerdictPlan {
            method: METHOD_VERSION,
            rule,
            margin,
            questions: questions.collect(),
            headline: None,
            pairs: scenario.pairs.planned(),
            budget_ns: course.budget_ns,
            begun_unix_ns: None,
            spare_blocks: 0,
            limits: Limits::default(),
        };
        let contenders = template.contenders.iter().take(1).cycle().take(scenario.contenders);
        RunPlan {
            blocks,
            contenders: contenders.cloned().collect(),
            schedule,
            verdict: Some(verdict),
            ..template.clone()
        }
    }

    /// What the typical ratio of two contenders is away from 1, by phase, as a logarithm, where
    /// rests are dealt out and those of the first are multiplied: nothing for 1, nor where they are
    /// as often above as below. A verdict is about the typical ratio (the pseudomedian), and so is
    /// its truth.
    fn moved_by(&self, times: f64) -> Vec<f64> {
        if times == 1.0 {
            return vec![0.0; self.away.len()];
        }
        let of = |(phase, drift): (&Vec<Vec<f64>>, &Vec<f64>)| {
            let mut logs = Vec::new();
            for (one, other) in phase.iter().flat_map(|one| phase.iter().map(move |two| (one, two)))
            {
                if !std::ptr::eq(one, other) {
                    let rests = one.iter().zip(other).zip(drift);
                    logs.extend(rests.map(|((a, b), drift)| (a - drift) * times - (b - drift)));
                }
            }
            let sample = PairSample { logs: &logs, floor_sd: 0.0, pooled: None };
            sample.hodges_lehmann().unwrap_or(0.0)
        };
        self.away.iter().zip(&self.drift).map(of).collect()
    }

    /// What the session's medians of each contender are away from those of the tape, by phase and
    /// contender; 0 where the tape's are the truth.
    fn shifts(&self, truth: Truth, draw: &Draw) -> Vec<Vec<f64>> {
        let blocks = self.tape.blocks.len();
        let middle = draw.start + super::rules::longest_play() / 2;
        let low = middle.saturating_sub(SESSION_BLOCKS / 2);
        let low = low.min(blocks.saturating_sub(SESSION_BLOCKS));
        let session = low..blocks.min(low + SESSION_BLOCKS);
        let shift = |own: &Vec<f64>| match truth {
            Truth::Session => fsarena_stats::median(&own[session.clone()]).unwrap_or(0.0),
            Truth::Exchangeable | Truth::Tape | Truth::Reaction => 0.0,
        };
        self.away.iter().map(|phase| phase.iter().map(shift).collect()).collect()
    }
}

fn without((phase, medians): (&Vec<Vec<f64>>, &Vec<f64>)) -> Vec<Vec<f64>> {
    let of = |(own, median): (&Vec<f64>, &f64)| own.iter().map(|log| log - median).collect();
    phase.iter().zip(medians).map(of).collect()
}

fn drift(phase: &[Vec<f64>]) -> Vec<f64> {
    let at = |block: usize| phase.iter().map(|own| own[block]).sum::<f64>() / phase.len() as f64;
    (0..phase[0].len()).map(at).collect()
}

/// The noise of one play.
struct Noise<'p, 't> {
    prepared: &'p Prepared<'t>,
    scenario: &'p Scenario,
    start: usize,
    /// By phase and contender.
    shifts: Vec<Vec<f64>>,
    /// By block: the contender of the tape whose noise each place has.
    dealt: Vec<Vec<usize>>,
}

impl<'p, 't> Noise<'p, 't> {
    fn new(prepared: &'p Prepared<'t>, scenario: &'p Scenario, draw: &Draw) -> Self {
        let mut rng = draw.deal.rng();
        let mut deal = |_| match scenario.truth {
            Truth::Exchangeable => {
                let mut all: Vec<usize> = (0..prepared.tape.contenders.len()).collect();
                rng.shuffle(&mut all);
                all
            }
            Truth::Tape | Truth::Session | Truth::Reaction => draw.places.clone(),
        };
        let dealt = (0..super::rules::longest_play()).map(&mut deal).collect();
        let shifts = prepared.shifts(scenario.truth, draw);
        Self { prepared, scenario, start: draw.start, shifts, dealt }
    }

    /// What a value is away from its level.
    fn at(&self, phase: usize, place: usize, block: usize) -> f64 {
        let (from, contender) = (self.start + block, self.dealt[block][place]);
        let shifts = &self.shifts[phase];
        let away = self.prepared.away[phase][contender][from] - shifts[contender];
        let times = self.scenario.noise_at(place);
        if self.scenario.truth == Truth::Reaction {
            return away * times;
        }
        let mean_shift = shifts.iter().sum::<f64>() / shifts.len() as f64;
        let drift = self.prepared.drift[phase][from] - mean_shift;
        drift + (away - drift) * times
    }
}

/// The trials of one play, in the order of its schedule.
pub(super) struct Window {
    scores: Vec<TrialScore>,
    /// What the odd one's noise moves its typical ratio to the others by, where rests are dealt
    /// out, by phase.
    moved: Vec<f64>,
    elapsed_s: Vec<f64>,
}

impl Window {
    /// Room for the longest play.
    pub fn new(prepared: &Prepared<'_>, scenario: &Scenario) -> Self {
        let blocks = super::rules::longest_play();
        let phase = |name: &String| PhaseScore {
            name: name.clone(),
            free: None,
            is_complete: true,
            returned_ns: 0,
            durable_ns: None,
            drained_ns: None,
            cache: CacheState::Cold,
            memory: MemoryKind::Whole,
            cpu_ns: None,
            machine_ns: None,
            steal_ns: None,
            written_bytes: None,
            p99_ns: None,
            ops: None,
            asked_bytes: None,
            covariates: Covariates::default(),
            figures: Vec::new(),
        };
        let mut scores = Vec::new();
        for _ in 0..blocks {
            for &workload in &prepared.workloads {
                let own = prepared.tape.phases.iter().filter(|p| p.workload_index == workload);
                let phases: Vec<PhaseScore> = own.map(|own| phase(&own.phase)).collect();
                for _ in 0..scenario.contenders {
                    scores.push(TrialScore {
                        sequence: scores.len() as u32,
                        started_unix_ns: 0,
                        elapsed_ns: 0,
                        is_interrupted: false,
                        time_base: TimeBase::Wall,
                        has_bad_contents: false,
                        phases: phases.clone(),
                    });
                }
            }
        }
        let moved = prepared.moved_by(scenario.noise_of_odd());
        Self { elapsed_s: vec![0.0; scores.len()], scores, moved }
    }

    /// Takes the values of a play.
    pub fn fill(&mut self, prepared: &Prepared<'_>, scenario: &Scenario, draw: &Draw) {
        let tape = prepared.tape;
        let noise = Noise::new(prepared, scenario, draw);
        let mut first_phase = 0;
        let per_block = prepared.workloads.len() * scenario.contenders;
        for (number, &workload) in prepared.workloads.iter().enumerate() {
            for (place, &contender) in draw.places.iter().enumerate() {
                let effect = scenario.effect_at(place);
                let elapsed_s = &prepared.elapsed_s[workload][contender];
                let at = number * scenario.contenders + place;
                for (block, score) in self.scores.iter_mut().skip(at).step_by(per_block).enumerate()
                {
                    let from = draw.start + block;
                    // A phase that takes longer keeps the machine busy for longer.
                    let mut longer_s = 0.0;
                    for (phase, own) in (first_phase..).zip(&mut score.phases) {
                        let is_moved =
                            scenario.truth == Truth::Exchangeable && scenario.is_odd(place);
                        let moved = if is_moved { self.moved[phase] } else { 0.0 };
                        let away = noise.at(phase, place, block) - moved;
                        let played = prepared.levels[phase] + away + effect;
                        own.durable_ns = Some(played.exp().round() as u64);
                        own.returned_ns = own.durable_ns.unwrap_or(0);
                        own.drained_ns = own.durable_ns;
                        if effect != 0.0 {
                            let log = tape.logs[phase][contender][from];
                            longer_s += log.exp() * effect.exp_m1() * 1e-9;
                        }
                    }
                    let elapsed_s = elapsed_s[from] + longer_s;
                    score.elapsed_ns = (elapsed_s * 1e9) as u64;
                    self.elapsed_s[at + block * per_block] = elapsed_s;
                }
            }
            first_phase += tape.phases.iter().filter(|p| p.workload_index == workload).count();
        }
    }
}

#[cfg(test)]
impl Window {
    /// The trials in the order of the schedule.
    pub fn scores(&self) -> &[TrialScore] {
        &self.scores
    }

    /// What the odd one is moved by.
    pub fn moved(&self, phase: usize) -> f64 {
        self.moved[phase]
    }

    /// The logarithm of a phase's length.
    pub fn log_ns(&self, trial: usize, phase: usize) -> f64 {
        (self.scores[trial].phases[phase].returned_ns as f64).ln()
    }
}

/// How a play ended.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Played {
    pub looks: Vec<InterimAnalysis>,
    /// Blocks that it took.
    pub blocks: usize,
    /// Time of the machine up to the end of each block, s.
    pub seconds: Vec<f64>,
}

impl Played {
    fn new(judge: &Judge<'_>, seconds: &[f64]) -> Self {
        Self { looks: judge.looks().to_vec(), blocks: seconds.len(), seconds: seconds.to_vec() }
    }
}

/// Plays a course: how it ended without a budget, then with each of its budgets.
pub(super) fn play(course: &Course, plan: &RunPlan, window: &Window) -> Vec<Played> {
    let mut judge = Judge::new(plan).expect("the plan asks, with looks that have levels");
    let mut ended_by_budget = Vec::new();
    let mut ends = course.budget_ends.iter().peekable();
    let mut seconds = Vec::new();
    let mut machine_s = 0.0;
    let mut slots =
        plan.schedule.iter().zip(window.scores.iter().zip(&window.elapsed_s)).peekable();
    while judge.finished().is_none() {
        let block = judge.block();
        while let Some((slot, (score, elapsed_s))) = slots.next_if(|(slot, _)| slot.block == block)
        {
            if judge.wants(slot) {
                judge.add(score);
                machine_s += elapsed_s;
            }
        }
        judge.end_block();
        seconds.push(machine_s);
        if judge.finished().is_none() && ends.next_if(|end| **end == judge.block()).is_some() {
            let mut cut_off = judge.clone();
            cut_off.end_by_budget();
            ended_by_budget.push(Played::new(&cut_off, &seconds));
        }
    }
    let ended = Played::new(&judge, &seconds);
    // Budgets that were never reached changed nothing.
    ended_by_budget.extend(ends.map(|_| ended.clone()));
    [vec![ended], ended_by_budget].concat()
}
