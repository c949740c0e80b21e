//! A figure over RUNs, and so over kernels, versions of fsarena, or commits of whatever was tested,
//! with the positions at which the level has certainly changed.
//!
//! The units are boots of the machine where there are several, else its RUNs, never trials: what
//! all trials of a boot have in common says nothing of the next one. A change needs
//! [`LEAST_UNITS`] of them on each side; how it is told from chance is in
//! `fsarena_stats::change_point`, and all cuts of all series that are shown are one family.

use super::run::{RunOf, hardware_of};
use super::series::{Piece, RunFigures, Series, series};
use super::{ALPHA, CompareError, ExcludedRun, LEAST_UNITS, QuestionName, Unit};
use fsarena_model::contender::{DeviceLevel, kernel_release};
use fsarena_model::record::TimeBase;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{METHOD_VERSION, Metric, Verdict};
use fsarena_stats::change_point::{
    ChangePoint, ChangeRule, FamilySize, change_points, least_change,
};
use fsarena_stats::units::{Shift, mean_over_units};
use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use std::collections::BTreeSet;

/// What is one point of a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupBy {
    /// A RUN.
    #[default]
    Run,
    /// A boot.
    Boot,
    /// A release of the kernel: that of the machine, or of the guest in virtual time.
    Kernel,
    /// A version of fsarena.
    Version,
    /// A title of RUNs (`--title`), such as a commit.
    Title,
}

impl GroupBy {
    /// `RUN`, `boot`, `kernel`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "RUN",
            Self::Boot => "boot",
            Self::Kernel => "kernel",
            Self::Version => "version",
            Self::Title => "title",
        }
    }
}

/// What is asked of a history.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryAsk {
    /// A change within 1 ÷ (1 + margin) and 1 + margin is none.
    pub margin: f64,
    /// The figures, one after the other.
    pub questions: Vec<QuestionName>,
    /// Label of the only contender.
    pub contender: Option<String>,
    /// What is one point.
    pub by: GroupBy,
}

impl HistoryAsk {
    /// What a RUN says of these figures.
    #[must_use]
    pub fn figures(&self, run: &RunOf<'_>) -> RunFigures {
        RunFigures::new(run, &self.questions)
    }
}

/// Figures over RUNs.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct History {
    /// Version of the method.
    pub method: u32,
    /// A change within 1 ÷ (1 + margin) and 1 + margin is none.
    pub margin: f64,
    /// What is one point.
    pub by: GroupBy,
    /// Cuts in which a change was looked for, over all series; each has its share of the error.
    pub cuts: usize,
    /// Level of the interval of a change, 0 to 1, corrected for all cuts.
    pub level: f64,
    /// One a figure.
    pub questions: Vec<HistoryQuestion>,
}

/// One figure over RUNs.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct HistoryQuestion {
    pub workload: String,
    pub phase: String,
    pub metric: Metric,
    /// Up to which clock.
    pub clock: Clock,
    /// One a contender; of one whose RUNs are not all comparable, several.
    pub series: Vec<HistorySeries>,
    /// RUNs that are in none.
    pub excluded: Vec<ExcludedRun>,
}

/// The figure of one contender over RUNs that are comparable.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct HistorySeries {
    /// Label of the contender.
    pub contender: String,
    /// The machine without its kernel, in one line.
    pub machine: String,
    /// Why it is none with the first series of this contender; absent for that one.
    pub apart: Option<String>,
    /// What counts as one.
    pub unit: Unit,
    /// Units behind the points.
    pub units: usize,
    /// In order of time.
    pub points: Vec<HistoryPoint>,
    /// In the same order.
    pub changes: Vec<HistoryChange>,
    /// Why no change is marked, where there is none.
    pub why: Option<String>,
    /// How many times a change halfway has to be to be marked, about, where none is; by the spread
    /// that there is.
    pub least: Option<f64>,
}

/// One point: a RUN, or what else is one.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct HistoryPoint {
    /// `RUN 3`, `boot 2`, `6.1.0`.
    pub name: String,
    /// Its RUNs.
    pub runs: Vec<String>,
    /// When its first trial began, ns since 1970.
    pub started_unix_ns: u64,
    /// Releases of the kernel, each once.
    pub kernels: Vec<String>,
    /// Versions of fsarena, each once.
    pub versions: Vec<String>,
    /// Titles of its RUNs, each once.
    pub titles: Vec<String>,
    /// Units in it.
    pub units: usize,
    /// Trials in it.
    pub n: usize,
    /// Geometric mean of its units, in the metric's base unit.
    pub value: f64,
    /// 95 % interval of that, corrected for nothing: of a RUN or boot by its trials and for itself
    /// alone; of what has several boots or RUNs by these. Absent where there are too few.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// A change of the level.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct HistoryChange {
    /// Index of the last point before it.
    pub before: usize,
    /// Index of the first point after it.
    pub after: usize,
    /// SLOWER: more is needed after it; FASTER: less.
    pub verdict: Verdict,
    /// Value after ÷ value before.
    pub ratio: f64,
    /// Interval of that at the level of the history.
    pub low: f64,
    pub high: f64,
    /// Units before it that this is from.
    pub units_before: usize,
    /// Units after it.
    pub units_after: usize,
}

/// A series with its units, before anything is decided.
struct Prepared {
    contender: String,
    apart: Option<String>,
    machine: String,
    kind: Unit,
    /// Mean of the logarithms of each unit, in order.
    logs: Vec<f64>,
    /// Points that each unit is part of.
    groups: Vec<BTreeSet<usize>>,
    /// Units before which a change may lie.
    positions: Vec<usize>,
    points: Vec<HistoryPoint>,
}

impl Prepared {
    fn family(&self) -> FamilySize {
        FamilySize::new(self.logs.len(), &self.positions)
    }
}

/// Figures over RUNs and the changes in them; `runs` in any order, each with what
/// [`HistoryAsk::figures`] of the same ask has found in it; its scores are not read again.
///
/// # Errors
/// Without a RUN, where one is given twice, and where no RUN has the contender.
pub fn history(
    mut runs: Vec<(RunOf<'_>, RunFigures)>,
    ask: &HistoryAsk,
) -> Result<History, CompareError> {
    runs.sort_by_key(|(run, _)| run.header.created_unix_ns);
    let (runs, figures): (Vec<RunOf<'_>>, Vec<RunFigures>) = runs.into_iter().unzip();
    super::run::each_once(&runs.iter().collect::<Vec<_>>())?;
    let labels = labels(&runs, ask)?;
    let mut found: Vec<SeriesOfRuns<'_>> = Vec::new();
    for question in ask.questions.iter().enumerate() {
        let mut of_question = (Vec::new(), Vec::new());
        for label in &labels {
            let (own, excluded) = series(&runs, &figures, question, label);
            of_question.0.extend(own.into_iter().map(|one| (label, one)));
            of_question.1.extend(excluded);
        }
        found.push(of_question);
    }
    let boots = boots(&runs, found.iter().flat_map(|(series, _)| series));
    let by = (ask.by, &boots);
    let prepared = found.into_iter().map(|(series, excluded)| {
        let own = series.into_iter().map(|(label, one)| prepare(&runs, by, label, one));
        (own.collect(), excluded)
    });
    let prepared: Vec<(Vec<Prepared>, Vec<ExcludedRun>)> = prepared.collect();
    let all = prepared.iter().flat_map(|(series, _)| series);
    let family: FamilySize = all.map(Prepared::family).sum();
    let rule = ChangeRule::new(ALPHA, family, ask.margin.ln_1p());
    let with_names = ask.questions.iter().zip(prepared).map(|(name, (series, excluded))| {
        let decide = |one| decided(one, name, ask.by, &rule);
        HistoryQuestion {
            workload: name.workload.clone(),
            phase: name.phase.clone(),
            metric: name.metric,
            clock: name.clock,
            series: series.into_iter().map(decide).collect(),
            excluded,
        }
    });
    Ok(History {
        method: METHOD_VERSION,
        margin: ask.margin,
        by: ask.by,
        cuts: family.cuts,
        level: rule.level(),
        questions: with_names.collect(),
    })
}

/// Labels of all contenders, those of the latest RUN first, or of the one that is asked for.
fn labels(runs: &[RunOf<'_>], ask: &HistoryAsk) -> Result<Vec<String>, CompareError> {
    let contenders = runs.iter().rev().flat_map(|run| &run.header.plan.contenders);
    let labels: IndexSet<&str> = contenders.map(|contender| contender.label.as_str()).collect();
    match &ask.contender {
        None => Ok(labels.into_iter().map(str::to_owned).collect()),
        Some(label) if labels.contains(label.as_str()) => Ok(vec![label.clone()]),
        Some(label) => Err(CompareError::NoSuchContender {
            label: label.clone(),
            known: labels.into_iter().collect::<Vec<_>>().join(", "),
        }),
    }
}

/// The series of a question with their contenders, and the RUNs that are in none.
type SeriesOfRuns<'a> = (Vec<(&'a String, Series)>, Vec<ExcludedRun>);

/// All boots in order of time: one number each, in whichever series it is.
fn boots<'s>(
    runs: &[RunOf<'_>],
    all: impl Iterator<Item = &'s (&'s String, Series)>,
) -> IndexSet<String> {
    let pieces = all.flat_map(|(label, one)| one.pieces.iter().map(move |piece| (label, piece)));
    let mut begun: Vec<(u64, String)> = pieces
        .map(|(label, piece)| (piece.started_unix_ns, group(runs, GroupBy::Boot, label, piece)))
        .collect();
    begun.sort();
    begun.into_iter().map(|(_, boot)| boot).collect()
}

/// Units, points, and where changes may lie.
fn prepare(
    runs: &[RunOf<'_>],
    (by, boots): (GroupBy, &IndexSet<String>),
    label: &str,
    series: Series,
) -> Prepared {
    let pieces = &series.pieces;
    let mut groups: IndexMap<String, Vec<usize>> = IndexMap::new();
    for (at, piece) in pieces.iter().enumerate() {
        groups.entry(group(runs, by, label, piece)).or_default().push(at);
    }
    let mut group_of = vec![0; pieces.len()];
    for (number, own) in groups.values().enumerate() {
        own.iter().for_each(|piece| group_of[*piece] = number);
    }
    let kind = kind(pieces);
    let mut units: IndexMap<(usize, &str), Vec<usize>> = IndexMap::new();
    for (at, piece) in pieces.iter().enumerate() {
        units.entry(unit_key(kind, piece)).or_default().push(at);
    }
    let mut of_units: Vec<(BTreeSet<usize>, &Vec<usize>)> = units
        .values()
        .map(|own| (own.iter().map(|piece| group_of[*piece]).collect(), own))
        .collect();
    of_units.sort_by_key(|(groups, own)| (groups.first().copied(), own[0]));
    let mut last = None;
    let mut positions = Vec::new();
    for (at, (groups, _)) in of_units.iter().enumerate() {
        // A unit with several groups may reach beyond those that follow it.
        if at > 0 && last < groups.first() {
            positions.push(at);
        }
        last = last.max(groups.last());
    }
    let logs = of_units.iter().map(|(_, own)| averaged(pieces, own).point).collect();
    let names = names(runs, (by, boots), &groups, pieces);
    let mut of_points = vec![Vec::new(); groups.len()];
    for unit in units.values() {
        let mut parts: IndexMap<usize, Vec<usize>> = IndexMap::new();
        unit.iter().for_each(|piece| parts.entry(group_of[*piece]).or_default().push(*piece));
        parts.into_iter().for_each(|(group, part)| of_points[group].push(part));
    }
    let points = of_points.iter().zip(names);
    let points = points.map(|(units, name)| point(runs, by, label, pieces, (name, units)));
    Prepared {
        contender: label.to_owned(),
        machine: hardware_of(&runs[pieces[0].run].header.host),
        kind,
        logs,
        positions,
        points: points.collect(),
        groups: of_units.iter().map(|(groups, _)| groups.clone()).collect(),
        apart: series.apart,
    }
}

/// Boots where there are several, else RUNs; in virtual time RUNs.
fn kind(pieces: &[Piece]) -> Unit {
    // A boot of the host is nothing to virtual time.
    if pieces.iter().all(|piece| piece.class.time_base == TimeBase::Virtual) {
        return Unit::Run;
    }
    let boots: BTreeSet<(usize, &str)> =
        pieces.iter().map(|piece| unit_key(Unit::Boot, piece)).collect();
    if boots.len() > 1 { Unit::Boot } else { Unit::Run }
}

/// What tells units apart. A boot that is not known is none of another RUN.
fn unit_key(kind: Unit, piece: &Piece) -> (usize, &str) {
    match kind {
        Unit::Run => (piece.run, ""),
        _ if piece.boot.is_empty() => (piece.run, ""),
        _ => (usize::MAX, piece.boot.as_str()),
    }
}

/// What a piece is grouped by.
fn group(runs: &[RunOf<'_>], by: GroupBy, label: &str, piece: &Piece) -> String {
    let run = &runs[piece.run];
    match by {
        GroupBy::Run => run.name.clone(),
        GroupBy::Boot if piece.boot.is_empty() => format!("\u{0}{}", run.name),
        GroupBy::Boot => piece.boot.clone(),
        GroupBy::Kernel => kernel(run, label),
        GroupBy::Version => run.header.program_version.clone(),
        GroupBy::Title => run.header.title.clone(),
    }
}

/// The kernel that did the work: of a guest its own.
fn kernel(run: &RunOf<'_>, label: &str) -> String {
    match run.levels(label).map(|levels| &levels.device) {
        Some(DeviceLevel::Virtual { kernel, .. }) => kernel_release(kernel).to_owned(),
        _ => run.header.host.kernel_release.clone(),
    }
}

/// What the points are called.
fn names(
    runs: &[RunOf<'_>],
    (by, boots): (GroupBy, &IndexSet<String>),
    groups: &IndexMap<String, Vec<usize>>,
    pieces: &[Piece],
) -> Vec<String> {
    let name = |(key, own): (&String, &Vec<usize>)| match by {
        GroupBy::Run => format!("RUN {}", runs[pieces[own[0]].run].name),
        GroupBy::Boot => format!("boot {}", boots.get_index_of(key).map_or(0, |at| at + 1)),
        GroupBy::Kernel | GroupBy::Version | GroupBy::Title if key.is_empty() => {
            format!("unknown {}", by.name())
        }
        GroupBy::Kernel | GroupBy::Version | GroupBy::Title => key.clone(),
    };
    groups.iter().map(name).collect()
}

/// A point of pieces, unit by unit.
fn point(
    runs: &[RunOf<'_>],
    by: GroupBy,
    label: &str,
    pieces: &[Piece],
    (name, units): (String, &[Vec<usize>]),
) -> HistoryPoint {
    let own: Vec<usize> = units.concat();
    let of_units: Vec<Shift> = units.iter().map(|unit| averaged(pieces, unit)).collect();
    let means: Vec<f64> = of_units.iter().map(|shift| shift.point).collect();
    let interval = match by {
        GroupBy::Run | GroupBy::Boot => {
            Some(averaged(pieces, &own)).filter(|shift| shift.freedom > 0.0)
        }
        _ => mean_over_units(&means).filter(|_| means.len() >= LEAST_UNITS),
    }
    .and_then(|shift| shift.interval(ALPHA));
    let each_once = |text: &dyn Fn(&RunOf<'_>) -> String| -> Vec<String> {
        let all: IndexSet<String> =
            own.iter().map(|piece| text(&runs[pieces[*piece].run])).collect();
        all.into_iter().collect()
    };
    HistoryPoint {
        name,
        runs: each_once(&|run| run.name.clone()),
        started_unix_ns: own.iter().map(|at| pieces[*at].started_unix_ns).min().unwrap_or(0),
        kernels: each_once(&|run| kernel(run, label)),
        versions: each_once(&|run| run.header.program_version.clone()),
        titles: each_once(&|run| run.header.title.clone()),
        units: units.len(),
        n: own.iter().map(|at| pieces[*at].logs.len()).sum(),
        value: (means.iter().sum::<f64>() / means.len().max(1) as f64).exp(),
        low: interval.map(|interval| interval.low.exp()),
        high: interval.map(|interval| interval.high.exp()),
    }
}

/// The mean of some pieces, each counting the same, with the error that their trials have; no
/// degree of freedom where one of them has a single trial.
fn averaged(pieces: &[Piece], some: &[usize]) -> Shift {
    let n = some.len().max(1) as f64;
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    let of_trials: Vec<Option<Shift>> =
        some.iter().map(|at| mean_over_units(&pieces[*at].logs)).collect();
    let known: Option<Vec<Shift>> = of_trials.into_iter().collect();
    let known = known.unwrap_or_default();
    let squares: f64 = known.iter().map(|shift| shift.standard_error.powi(2)).sum();
    Shift {
        point: some.iter().map(|at| mean(&pieces[*at].logs)).sum::<f64>() / n,
        standard_error: squares.sqrt() / n,
        freedom: known.iter().map(|shift| shift.freedom).sum(),
    }
}

/// The series with its changes, or why there are none.
fn decided(
    one: Prepared,
    question: &QuestionName,
    by: GroupBy,
    rule: &ChangeRule,
) -> HistorySeries {
    let level = (one.logs.iter().sum::<f64>() / one.logs.len().max(1) as f64).exp();
    let floor = question.metric.step(level) / (12f64.sqrt() * level);
    let found = change_points(&one.logs, &one.positions, rule, floor);
    let changes: Vec<HistoryChange> =
        found.iter().map(|change| change_between(change, &one.groups)).collect();
    let has_cut = one.family().cuts > 0;
    let least = least_change(&one.logs, rule, floor).filter(|_| changes.is_empty() && has_cut);
    HistorySeries {
        why: changes.is_empty().then(|| why(&one, by, has_cut)),
        least: least.map(f64::exp),
        contender: one.contender,
        machine: one.machine,
        apart: one.apart,
        unit: one.kind,
        units: one.logs.len(),
        points: one.points,
        changes,
    }
}

fn change_between(change: &ChangePoint, groups: &[BTreeSet<usize>]) -> HistoryChange {
    HistoryChange {
        before: groups[change.at - 1].last().copied().unwrap_or(0),
        after: groups[change.at].first().copied().unwrap_or(0),
        verdict: if change.point > 0.0 { Verdict::Slower } else { Verdict::Faster },
        ratio: change.point.exp(),
        low: change.low.exp(),
        high: change.high.exp(),
        units_before: change.before,
        units_after: change.after,
    }
}

/// Why no change is marked.
fn why(one: &Prepared, by: GroupBy, has_cut: bool) -> String {
    let n = one.logs.len();
    let (single, several) = match one.kind {
        Unit::Boot => ("boot", "boots"),
        _ => ("RUN", "RUNs"),
    };
    if n < 2 * LEAST_UNITS {
        let there = match n {
            1 => format!("there is one {single}"),
            n => format!("there are {n} {several} in all"),
        };
        return format!(
            "no change is decided: it takes {LEAST_UNITS} {several} on each side, and {there}"
        );
    }
    if !has_cut {
        return format!(
            "no change is decided: nowhere does a new {} begin with {LEAST_UNITS} {several} on \
             each side",
            by.name()
        );
    }
    format!("no change is decided among {n} {several}")
}
