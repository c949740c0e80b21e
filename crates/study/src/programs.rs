//! Programs of real work: which ones did it, and what they cost by themselves.
//!
//! Where one workload has a piece of work by a program, and another the same work by the engine
//! with the same history, the quotient of the two times tells what the program adds. Both did it in
//! trials of their own: two phases of one trial differ in what the file system went through before
//! them, and are never divided. Nor are times that differ in the state of cache and memory.

use crate::contenders::Contenders;
use crate::figures::SpreadNs;
use crate::phases::{PhaseRow, PhaseTable, comparable};
use fsarena_model::job::{By, JobKind};
use fsarena_model::record::{CacheState, TrialRecord};
use fsarena_model::run::RunPlan;
use fsarena_model::work::{ProgramReport, Workload};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A program as it was found in trials.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct ProgramUse {
    /// `tar`.
    pub name: String,
    /// Where it is; absent where that is not stored.
    pub path: Option<PathBuf>,
    /// Its version line; empty where it prints none.
    pub version: String,
    /// Trials that used it.
    pub trials: usize,
    /// Labels of their contenders, in the order of the plan.
    pub labels: Vec<String>,
}

/// One piece of work by a program and by the engine, in trials of two workloads.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ToolOverhead {
    /// What is done.
    pub work: JobKind,
    /// The program, such as `cp`.
    pub program: String,
    /// Name of the workload in which the program does it.
    pub program_workload: String,
    pub program_phase: String,
    /// Name of the workload in which the engine does it.
    pub engine_workload: String,
    pub engine_phase: String,
    /// Contenders with both times.
    pub rows: Vec<ToolOverheadRow>,
    /// Labels of contenders whose two times are not alike in cache and memory.
    pub not_comparable: Vec<String>,
}

/// A contender's two times.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ToolOverheadRow {
    pub contender: usize,
    pub label: String,
    /// State of the cache in both.
    pub cache: CacheState,
    /// The compared clock, by the program.
    pub program: SpreadNs,
    /// The compared clock, by the engine.
    pub engine: SpreadNs,
    /// Trials in the plan, of the program's workload and of the engine's.
    pub n_planned: [usize; 2],
    /// Trials left out because their contents were wrong, of the program's and of the engine's.
    pub trials_with_bad_contents: [usize; 2],
    /// The first median ÷ the second: arithmetic, no verdict.
    pub program_to_engine: f64,
}

/// Every program in the records, in the order of first use; versions of one stand together.
pub(crate) fn used(plan: &RunPlan, records: &[TrialRecord]) -> Vec<ProgramUse> {
    let contenders = Contenders::new(plan);
    let mut uses: Vec<ProgramUse> = Vec::new();
    for record in records {
        let mut counted = BTreeSet::new();
        let reports = record.phases.iter().filter_map(|phase| phase.program.as_ref());
        for found in reports.flat_map(of_report) {
            let same = |known: &ProgramUse| {
                (&known.name, &known.path, &known.version)
                    == (&found.name, &found.path, &found.version)
            };
            let at = uses.iter().position(same).unwrap_or_else(|| {
                uses.push(found);
                uses.len() - 1
            });
            if counted.insert(at) {
                uses[at].trials += 1;
                let label = contenders.label(record);
                if !uses[at].labels.contains(&label) {
                    uses[at].labels.push(label);
                }
            }
        }
    }
    let names: Vec<String> = uses.iter().map(|one| one.name.clone()).collect();
    uses.sort_by_key(|one| names.iter().position(|name| *name == one.name));
    for one in &mut uses {
        one.labels.sort_by_key(|label| contenders.place(label));
    }
    uses
}

/// The programs of a report; of one that names no tools, the program itself.
fn of_report(report: &ProgramReport) -> Vec<ProgramUse> {
    let one = |name: &str, path: Option<PathBuf>, version: &str| ProgramUse {
        name: name.to_owned(),
        path,
        version: version.to_owned(),
        trials: 0,
        labels: Vec::new(),
    };
    if report.tools.is_empty() {
        return vec![one(&report.name, None, &report.version)];
    }
    let tools = report.tools.iter();
    tools.map(|tool| one(&tool.name, Some(tool.path.clone()), &tool.version)).collect()
}

/// What programs cost, for every pair of equal work in two workloads.
pub(crate) fn tool_overheads(plan: &RunPlan, tables: &[PhaseTable]) -> Vec<ToolOverhead> {
    let table = |(workload, at): PhaseAt<'_>| {
        let phase = &workload.phases[at].name;
        tables.iter().find(|table| table.workload == workload.name && table.phase == *phase)
    };
    let costs = pairs(&plan.workloads).into_iter().filter_map(|(by_program, by_engine)| {
        let cost = tool_overhead(table(by_program)?, table(by_engine)?)?;
        (!cost.rows.is_empty() || !cost.not_comparable.is_empty()).then_some(cost)
    });
    costs.collect()
}

/// A phase of a workload, by its index.
type PhaseAt<'a> = (&'a Workload, usize);

/// Timed phases of two workloads that do the same work with the same history, by a program and by
/// the engine; each at most once. A history that is the same in who did it too goes before one that
/// is not.
fn pairs(workloads: &[Workload]) -> Vec<(PhaseAt<'_>, PhaseAt<'_>)> {
    let places = workloads.iter().flat_map(|w| (0..w.phases.len()).map(move |at| (w, at)));
    let by = |by: By| {
        let done = move |&(workload, at): &PhaseAt<'_>| {
            let phase = &workload.phases[at];
            phase.timed && phase.job.as_ref().is_some_and(|job| job.by == by)
        };
        places.clone().filter(done).collect::<Vec<_>>()
    };
    let mut engines = by(By::Engine);
    let mut pairs = Vec::new();
    for program in by(By::Program) {
        let twins = engines.iter().enumerate();
        let twins = twins.filter(|(_, engine)| is_same_work(program, **engine));
        let others = |engine: PhaseAt<'_>| {
            let (own, its) = (makers(program), makers(engine));
            own.iter().zip(&its).filter(|(own, its)| own != its).count()
        };
        if let Some((at, _)) = twins.min_by_key(|(_, engine)| others(**engine)) {
            pairs.push((program, engines.remove(at)));
        }
    }
    pairs
}

/// Who did what was done before a phase.
fn makers((workload, at): PhaseAt<'_>) -> Vec<Option<By>> {
    workload.phases[..at].iter().map(|phase| Some(phase.job.as_ref()?.by)).collect()
}

/// Whether two phases of different workloads do the same to the same source, after the same was
/// done in the same order; names of phases and who did it may differ.
fn is_same_work((one, at): PhaseAt<'_>, (other, other_at): PhaseAt<'_>) -> bool {
    let source = |workload: &Workload| {
        workload.source.as_ref().map(|s| (s.origin.clone(), s.place, s.archive))
    };
    let step = |workload: &Workload, at: usize| {
        let phase = &workload.phases[at];
        let job = phase.job.as_ref()?;
        let of = workload.phases[..at].iter().rposition(|earlier| earlier.name == job.of);
        Some((phase.timed, job.kind.clone(), of))
    };
    let same = |at: usize| step(one, at).is_some() && step(one, at) == step(other, at);
    one.name != other.name
        && at == other_at
        && one.source.is_some()
        && source(one) == source(other)
        && (0..=at).all(same)
}

fn tool_overhead(by_program: &PhaseTable, by_engine: &PhaseTable) -> Option<ToolOverhead> {
    let (mut rows, mut not_comparable) = (Vec::new(), Vec::new());
    let spread = |row: &PhaseRow| row.compared.filter(|spread| spread.median_ns > 0);
    for row in &by_program.rows {
        let Some(program) = spread(row) else { continue };
        let own = || by_engine.rows.iter().filter(|other| other.contender == row.contender);
        let twin = own().find(|other| comparable(other) == comparable(row));
        match twin.and_then(|twin| Some((twin, spread(twin)?))) {
            Some((twin, engine)) => rows.push(ToolOverheadRow {
                contender: row.contender,
                label: row.label.clone(),
                cache: row.cache,
                program,
                engine,
                n_planned: [row.n_planned, twin.n_planned],
                trials_with_bad_contents: [row, twin].map(|row| row.trials_with_bad_contents),
                program_to_engine: program.median_ns as f64 / engine.median_ns as f64,
            }),
            None if own().next().is_some() && !not_comparable.contains(&row.label) => {
                not_comparable.push(row.label.clone());
            }
            None => {}
        }
    }
    let job = by_program.job.as_ref()?;
    Some(ToolOverhead {
        work: job.kind.clone(),
        program: job.programs().first().copied().unwrap_or_default().to_owned(),
        program_workload: by_program.workload.clone(),
        program_phase: by_program.phase.clone(),
        engine_workload: by_engine.workload.clone(),
        engine_phase: by_engine.phase.clone(),
        rows,
        not_comparable,
    })
}
