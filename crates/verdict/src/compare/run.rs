//! A RUN as comparisons see it: which machine and boot it is of, what it asked, and its values.

use super::{Ask, CompareError, QuestionName};
use crate::judge::Judge;
use crate::points::Points;
use fsarena_model::contender::Levels;
use fsarena_model::factor;
use fsarena_model::host::Host;
use fsarena_model::job::Origin;
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_model::score::TrialScore;
use fsarena_model::units::Bytes;
use fsarena_model::verdict::{InterimAnalysis, Question, Stop};
use fsarena_model::work::Workload;
use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Kernels keep some of the memory for themselves, and not all the same: up to so large a share is
/// no other machine.
const MEMORY_SHARE: f64 = 0.05;

/// What is known of a RUN, by name; several values where it was not the same all the time.
pub type Facts = BTreeMap<String, BTreeSet<String>>;

/// A RUN to compare.
#[derive(Clone, Debug)]
pub struct RunOf<'a> {
    /// What it is called, such as its number.
    pub name: String,
    /// What was known before its first trial.
    pub header: &'a RunHeader,
    /// Its uninterrupted pieces, in order.
    pub sessions: &'a [RunSession],
    /// The latest attempts at its trials.
    pub scores: &'a [TrialScore],
    /// How its blocks ended.
    pub stop: Option<Stop>,
    /// Its looks, as stored.
    pub looks: &'a [InterimAnalysis],
    /// What else is known of it.
    pub facts: Facts,
}

/// What counts as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Machines.
    Machine,
    /// Boots of one machine.
    Boot,
    /// RUNs in one boot.
    Run,
}

impl Unit {
    /// `machine`, `boot`, `RUN`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Boot => "boot",
            Self::Run => "RUN",
        }
    }
}

/// A unit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct UnitRow {
    /// `machine 1`, `boot 2`, `RUN 3`.
    pub name: String,
    /// The machine, in one line.
    pub machine: String,
    /// Its RUNs.
    pub runs: Vec<String>,
}

/// The values of a question, by boot.
pub(super) type Values = Vec<(String, Points)>;

/// The blocks of a RUN that count: all where it asked nothing.
pub(super) struct CountedBlocks(Option<Vec<bool>>);

impl CountedBlocks {
    fn has(&self, block: u32) -> bool {
        let counts = |all: &Vec<bool>| all.get(block as usize).copied().unwrap_or(false);
        self.0.as_ref().is_none_or(counts)
    }
}

impl RunOf<'_> {
    /// Boot of a trial: that of the piece of the RUN that it was done in.
    fn boot(&self, sequence: u32) -> &str {
        let piece = self.sessions.iter().rev().find(|piece| piece.first_sequence <= sequence);
        piece.map_or(self.header.host.boot_id.as_str(), |piece| piece.boot_id.as_str())
    }

    /// When its first trial in a boot began, ns since 1970; without one when the RUN did.
    pub(super) fn started_unix_ns(&self, boot: &str) -> u64 {
        let own = self.scores.iter().filter(|score| self.boot(score.sequence) == boot);
        let first = own.map(|score| score.started_unix_ns).min();
        first.unwrap_or(self.header.created_unix_ns)
    }

    pub(super) fn contender(&self, label: &str) -> Option<usize> {
        self.header.plan.contenders.iter().position(|contender| contender.label == label)
    }

    pub(super) fn levels(&self, label: &str) -> Option<&Levels> {
        self.contender(label).map(|at| &self.header.plan.contenders[at].levels)
    }

    pub(super) fn workload(&self, name: &str) -> Option<&Workload> {
        self.header.plan.workloads.iter().find(|workload| workload.name == name)
    }

    /// What it asked; of a RUN that was planned without questions, the time of every timed phase.
    /// The first of each pair says whether it stood first.
    fn questions(&self) -> Vec<(bool, QuestionName)> {
        let plan = &self.header.plan;
        let name = |question: &Question| QuestionName {
            workload: plan.workloads[question.workload].name.clone(),
            phase: question.phase.clone(),
            metric: question.metric,
            clock: question.clock,
        };
        match &plan.verdict {
            Some(ask) => {
                let numbered = ask.questions.iter().enumerate();
                numbered.map(|(at, one)| (ask.headline == Some(at), name(one))).collect()
            }
            None => self.timed().into_iter().map(|question| (false, question)).collect(),
        }
    }

    /// What every timed phase leaves free.
    fn timed(&self) -> Vec<QuestionName> {
        let plan = &self.header.plan;
        let of = |workload: &Workload| {
            let phases = workload.phases.iter().enumerate().filter(|(_, phase)| phase.timed);
            let names = phases.filter_map(|(at, phase)| {
                let metric = workload.free(at).metric()?;
                Some(QuestionName {
                    workload: workload.name.clone(),
                    phase: phase.name.clone(),
                    metric,
                    clock: metric.clock(plan.compared_clock),
                })
            });
            names.collect::<Vec<_>>()
        };
        plan.workloads.iter().flat_map(of).collect()
    }

    /// The question in terms of its plan; `None` where it has no such phase.
    fn question(&self, name: &QuestionName) -> Option<Question> {
        let workloads = &self.header.plan.workloads;
        let workload = workloads.iter().position(|one| one.name == name.workload)?;
        let phases = &workloads[workload].phases;
        phases.iter().find(|phase| phase.timed && phase.name == name.phase)?;
        Some(Question {
            workload,
            phase: name.phase.clone(),
            metric: name.metric,
            clock: name.clock,
        })
    }

    /// Whether two contenders are planned to be comparable in a question: both cold or both warm in
    /// its phase, both with a limit of memory or without.
    pub(super) fn may_compare(&self, name: &QuestionName, a: &str, b: &str) -> bool {
        let (Some(question), Some(a), Some(b)) =
            (self.question(name), self.levels(a), self.levels(b))
        else {
            return false;
        };
        self.header.plan.may_compare(&question, a, b)
    }

    /// The values of a question in the blocks that count, by boot, in the order of the trials;
    /// `None` where the RUN has no such phase.
    pub(super) fn points(&self, name: &QuestionName) -> Option<Values> {
        self.question(name)?;
        self.points_in(name, &self.counted_blocks())
    }

    /// The blocks that count.
    pub(super) fn counted_blocks(&self) -> CountedBlocks {
        let judge = Judge::replay(&self.header.plan, self.scores, self.stop, self.looks);
        CountedBlocks(judge.map(Judge::into_counts))
    }

    /// As [`RunOf::points`], where the blocks that count are known.
    pub(super) fn points_in(&self, name: &QuestionName, counted: &CountedBlocks) -> Option<Values> {
        let plan = &self.header.plan;
        let question = self.question(name)?;
        let workload = question.workload;
        let mut scores: Vec<&TrialScore> =
            self.scores.iter().filter(|score| !score.is_interrupted).collect();
        scores.sort_by_key(|score| score.sequence);
        let mut all: IndexMap<&str, Points> = IndexMap::new();
        for score in scores {
            let Some(slot) = plan.schedule.get(score.sequence as usize) else { continue };
            if slot.workload != workload || !counted.has(slot.block) {
                continue;
            }
            let boot = self.boot(score.sequence);
            let points = all.entry(boot).or_default();
            points.take(plan, slot, &question, score, (slot.position, None));
        }
        Some(all.into_iter().map(|(boot, points)| (boot.to_owned(), points)).collect())
    }

    /// Why a contender has no value there.
    pub(super) fn why_without(points: &[(String, Points)], contender: usize) -> Option<String> {
        let any = |of: &dyn Fn(&Points) -> bool| points.iter().any(|(_, points)| of(points));
        if any(&|points| points.of_contender(contender).next().is_some()) {
            return None;
        }
        Some(if any(&|points| points.bad_contents.contains(&contender)) {
            "its contents were wrong".to_owned()
        } else if any(&|points| points.not_cold.contains(&contender)) {
            "it was to be cold, and that was not proved".to_owned()
        } else {
            "it has no such figure".to_owned()
        })
    }
}

/// Refuses RUNs that are given twice.
pub(super) fn each_once(runs: &[&RunOf<'_>]) -> Result<(), CompareError> {
    if runs.is_empty() {
        return Err(CompareError::Nothing);
    }
    let mut uids = BTreeSet::new();
    for run in runs {
        if !uids.insert(&run.header.uid) {
            return Err(CompareError::Twice { run: run.name.clone() });
        }
    }
    Ok(())
}

/// The questions that are asked of these RUNs, in the order in which they have them.
pub(super) fn asked(runs: &[&RunOf<'_>], ask: &Ask) -> Result<Vec<QuestionName>, CompareError> {
    let all: Vec<(bool, QuestionName)> = runs.iter().flat_map(|run| run.questions()).collect();
    let mut names: IndexSet<QuestionName> = IndexSet::new();
    if let Some((workload, phase)) = &ask.question {
        let is_it = |name: &QuestionName| name.workload == *workload && name.phase == *phase;
        let timed = || runs.iter().flat_map(|run| run.timed());
        names.extend(all.into_iter().map(|(_, name)| name).filter(is_it));
        if names.is_empty() {
            names.extend(timed().filter(is_it));
        }
        if names.is_empty() {
            let mut known: Vec<String> =
                timed().map(|name| format!("{}:{}", name.workload, name.phase)).collect();
            known.dedup();
            return Err(CompareError::NoSuchQuestion {
                asked: format!("{workload}:{phase}"),
                known: known.join(", "),
            });
        }
        return Ok(names.into_iter().collect());
    }
    let first_only = !ask.all && all.iter().any(|(is_first, _)| *is_first);
    let wanted = all.into_iter().filter(|(is_first, _)| *is_first || !first_only);
    names.extend(wanted.map(|(_, name)| name));
    Ok(names.into_iter().collect())
}

/// Whether two hosts are certainly one machine, in whatever boot and kernel: one that is not known
/// is none but itself.
fn is_one_machine(one: &Host, other: &Host) -> bool {
    is_known(one) && is_known(other) && machines_differ(one, other).is_empty()
}

/// In what two known hosts are two machines; nothing where they are one.
pub(super) fn machines_differ(one: &Host, other: &Host) -> Vec<String> {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let facts = |host: &Host| {
        [
            ("host name", host.hostname.clone()),
            ("architecture", host.architecture.clone()),
            ("CPU model", known(&host.cpu_model)),
            ("CPUs", host.cpus.to_string()),
            ("hypervisor", known(&host.hypervisor)),
        ]
    };
    let pairs = facts(one).into_iter().zip(facts(other));
    let mut what: Vec<String> = pairs
        .filter(|((_, one), (_, other))| one != other)
        .map(|((name, one), (_, other))| format!("{name} {} and {}", shown(&one), shown(&other)))
        .collect();
    let (least, most) =
        (one.memory_bytes.min(other.memory_bytes), one.memory_bytes.max(other.memory_bytes));
    if (most - least) as f64 > MEMORY_SHARE * most as f64 {
        what.push(format!("memory {} and {} bytes", one.memory_bytes, other.memory_bytes));
    }
    what
}

fn shown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

/// The units that RUNs fall into, with the unit of each piece: machines where there are several,
/// else boots of the one machine, else the RUNs.
pub(super) struct Units {
    pub(super) kind: Unit,
    pub(super) rows: Vec<UnitRow>,
    /// Unit of each RUN and boot.
    of: BTreeMap<(usize, String), usize>,
}

impl Units {
    /// Of whatever kind there is.
    pub(super) fn new(runs: &[&RunOf<'_>]) -> Self {
        let is_other = |run: &&RunOf<'_>| !is_one_machine(&runs[0].header.host, &run.header.host);
        if runs[1..].iter().any(is_other) {
            return Self::by(runs, Unit::Machine);
        }
        let boots = Self::by(runs, Unit::Boot);
        if boots.rows.len() > 1 { boots } else { Self::by(runs, Unit::Run) }
    }

    /// Of this kind.
    pub(super) fn by(runs: &[&RunOf<'_>], kind: Unit) -> Self {
        let mut units = Self { kind, rows: Vec::new(), of: BTreeMap::new() };
        // What tells units apart: the first RUN of each, and its boot.
        let mut firsts: Vec<(usize, String)> = Vec::new();
        for (number, run) in runs.iter().enumerate() {
            for boot in boots(run) {
                let is_same = |(first, its_boot): &(usize, String)| match kind {
                    Unit::Machine => {
                        *first == number
                            || is_one_machine(&runs[*first].header.host, &run.header.host)
                    }
                    // A boot that is not known is none of another RUN.
                    Unit::Boot => *its_boot == boot && (*first == number || !boot.is_empty()),
                    Unit::Run => *first == number,
                };
                let at = firsts.iter().position(is_same).unwrap_or_else(|| {
                    firsts.push((number, boot.clone()));
                    units.rows.push(UnitRow {
                        name: match kind {
                            Unit::Run => format!("RUN {}", run.name),
                            _ => format!("{} {}", kind.name(), firsts.len()),
                        },
                        machine: machine_line(&run.header.host),
                        runs: Vec::new(),
                    });
                    firsts.len() - 1
                });
                let row = &mut units.rows[at];
                if row.runs.last() != Some(&run.name) {
                    row.runs.push(run.name.clone());
                }
                units.of.insert((number, boot), at);
            }
        }
        units
    }

    /// All known boots in them.
    pub(super) fn boots(&self) -> Vec<&str> {
        let boots = self.of.keys().map(|(_, boot)| boot.as_str()).filter(|boot| !boot.is_empty());
        boots.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Unit of this RUN in this boot.
    pub(super) fn at(&self, run: usize, boot: &str) -> Option<usize> {
        self.of.get(&(run, boot.to_owned())).copied()
    }
}

/// The boots that the trials of a RUN lie in, in order.
fn boots(run: &RunOf<'_>) -> Vec<String> {
    let mut scores: Vec<&TrialScore> = run.scores.iter().collect();
    scores.sort_by_key(|score| score.sequence);
    let mut boots: IndexSet<&str> = scores.iter().map(|score| run.boot(score.sequence)).collect();
    if boots.is_empty() {
        boots.insert(run.boot(0));
    }
    boots.into_iter().map(str::to_owned).collect()
}

/// What is to be said of RUNs whose machine is not known, where there are several RUNs.
pub(super) fn not_known(runs: &[&RunOf<'_>]) -> Vec<String> {
    let unknown = runs.iter().filter(|run| !is_known(&run.header.host));
    let of = |run: &&RunOf<'_>| {
        format!(
            "the machine and the boot of RUN {} are not known: it is taken for a machine of its \
             own",
            run.name
        )
    };
    if runs.len() > 1 { unknown.map(of).collect() } else { Vec::new() }
}

/// What is to be said where contenders of one label, or workloads of one name, are not the same in
/// all RUNs.
pub(super) fn not_alike(
    runs: &[&RunOf<'_>],
    labels: &[&str],
    questions: &[QuestionName],
) -> Vec<String> {
    let mut notes = Vec::new();
    for label in labels {
        let mut have = runs.iter().filter_map(|run| Some((run, run.levels(label)?)));
        let Some((first, levels)) = have.next() else { continue };
        for (run, other) in have {
            let what = levels_differ(levels, other);
            if !what.is_empty() {
                notes.push(format!(
                    "{label} is not the same in RUN {} as in RUN {}: {}",
                    run.name,
                    first.name,
                    what.join(", ")
                ));
            }
        }
    }
    for workload in names_of_workloads(questions) {
        let mut have = runs.iter().filter_map(|run| Some((run, run.workload(workload)?)));
        let Some((first, one)) = have.next() else { continue };
        for (run, other) in have {
            if let Some(what) = work_differs(one, other) {
                notes.push(format!(
                    "{workload} of RUN {} is left out, since it is not that of RUN {}: {what}",
                    run.name, first.name
                ));
            }
        }
    }
    notes
}

/// Each name once.
pub(super) fn names_of_workloads(questions: &[QuestionName]) -> Vec<&str> {
    let mut names: Vec<&str> = questions.iter().map(|name| name.workload.as_str()).collect();
    names.dedup();
    names
}

/// What differs between two combinations of levels.
pub(super) fn levels_differ(one: &Levels, other: &Levels) -> Vec<String> {
    if one == other {
        return Vec::new();
    }
    let mut what = Vec::new();
    let mut add = |title: &str, one: String, other: String| {
        if one != other {
            what.push(format!("{title} ({one}; {other})"));
        }
    };
    add("file system", one.fs.to_string(), other.fs.to_string());
    add("device", one.device.to_string(), other.device.to_string());
    for factor in factor::all() {
        let words = |levels: &Levels| factor.words(&factor.get(levels));
        add(factor.title(), words(one), words(other));
    }
    if one.fs.external != other.fs.external {
        what.push("commands of the file system".to_owned());
    }
    what
}

/// What differs between two workloads; their titles do not matter.
pub(super) fn work_differs(one: &Workload, other: &Workload) -> Option<String> {
    let amount = |workload: &Workload| match &workload.source {
        Some(source) => (source.contents.files, source.contents.bytes),
        None => (workload.dataset.files, workload.dataset.bytes()),
    };
    let ((files, bytes), (other_files, other_bytes)) = (amount(one), amount(other));
    if (files, bytes) != (other_files, other_bytes) {
        return Some(format!(
            "{files} files with {bytes} bytes, and {other_files} with {other_bytes}"
        ));
    }
    // Where the user's own lies does not matter, as long as there is as much in it.
    let source = |workload: &Workload| {
        workload.source.as_ref().map(|source| {
            let made = matches!(source.origin, Origin::Made { .. }).then(|| source.origin.clone());
            (made, source.place, source.archive, source.contents)
        })
    };
    let differs = (&one.dataset, &one.phases, &one.fio, source(one))
        != (&other.dataset, &other.phases, &other.fio, source(other));
    differs.then(|| "its files or phases are defined otherwise".to_owned())
}

/// Whether anything says on which machine it was: of imported RUNs nothing does.
pub(super) fn is_known(host: &Host) -> bool {
    !host.os.is_empty() || host.cpus > 0
}

/// The machine: kernel, processors, memory, hypervisor.
#[must_use]
pub fn machine_line(host: &Host) -> String {
    if !is_known(host) {
        return "the machine is not known".to_owned();
    }
    let system = format!("{} {}", host.os, host.kernel_release).trim().to_owned();
    format!("{system}, {}", hardware_of(host))
}

/// The same without the kernel: what stays when it is changed.
pub(super) fn hardware_of(host: &Host) -> String {
    let mut parts = Vec::new();
    let model = host.cpu_model.as_deref().unwrap_or("CPUs");
    parts.push(format!("{} × {model}", host.cpus));
    if host.memory_bytes > 0 {
        parts.push(format!("{} of memory", Bytes(host.memory_bytes)));
    }
    if let Some(hypervisor) = &host.hypervisor {
        parts.push(format!("a virtual machine ({hypervisor})"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let host = Host { os: "Linux".into(), cpus: 2, ..Host::default() };
        assert_eq!(machine_line(&host), "Linux, 2 × CPUs");
        let host = Host {
            kernel_release: "6.1.0".into(),
            cpu_model: Some("Duron".into()),
            memory_bytes: 64 << 20,
            hypervisor: Some("KVM".into()),
            ..host
        };
        let line = "Linux 6.1.0, 2 × Duron, 64 MiB of memory, a virtual machine (KVM)";
        assert_eq!(machine_line(&host), line);
    }
}
