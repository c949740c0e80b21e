//! The same contenders before and after something was changed on one machine: another kernel,
//! another distribution, another setting. The units are boots; nothing is paired, so that slow
//! drift of the machine between the sides is in the answer, unless boots of both take turns.

use super::family;
use super::run;
use super::run::{
    Facts, RunOf, Units, asked, each_once, machines_differ, names_of_workloads, not_alike,
    work_differs,
};
use super::{Ask, CompareError, LEAST_UNITS, QuestionName, Unit, UnitRow};
use crate::points::{Class, Points};
use fsarena_model::run::Clock;
use fsarena_model::verdict::{METHOD_VERSION, Metric, Verdict};
use fsarena_stats::units::{Shift, welch};
use indexmap::IndexSet;
use serde::Serialize;
use std::collections::BTreeMap;

/// Contenders before and after.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Sides {
    /// Version of the method.
    pub method: u32,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// The machine without its kernel, in one line.
    pub machine: String,
    /// Boots before.
    pub before: Vec<UnitRow>,
    /// Boots after.
    pub after: Vec<UnitRow>,
    /// What differs between the sides.
    pub changes: Vec<Change>,
    /// The questions.
    pub questions: Vec<SidesQuestion>,
    /// Notes to show with it.
    pub notes: Vec<String>,
}

/// Something that is not the same on both sides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct Change {
    pub what: String,
    /// Before; empty where it was not there.
    pub before: Vec<String>,
    /// After.
    pub after: Vec<String>,
}

/// A question before and after.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct SidesQuestion {
    pub workload: String,
    pub phase: String,
    pub metric: Metric,
    /// Up to which clock.
    pub clock: Clock,
    /// One row a contender, in the order of the plans.
    pub rows: Vec<SideRow>,
}

/// A contender before and after.
#[derive(Clone, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct SideRow {
    pub label: String,
    /// What is said of it after, against before.
    pub verdict: Verdict,
    /// Value after ÷ value before; absent where a side has none.
    pub ratio: Option<f64>,
    /// Interval for boots like these; absent below [`LEAST_UNITS`] a side.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Its level, 0 to 1, corrected for the other contenders and questions.
    pub level: Option<f64>,
    /// The interval that SAME is said by: the whole of it lies within the margin then.
    pub same_low: Option<f64>,
    pub same_high: Option<f64>,
    /// Its level, 0 to 1, corrected in the same way.
    pub same_level: Option<f64>,
    /// Boots before with a value.
    pub before: Vec<UnitValue>,
    /// Boots after with a value.
    pub after: Vec<UnitValue>,
    /// Why it is undecided, where that is not the spread.
    pub why: Option<String>,
}

/// What one boot gives.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct UnitValue {
    /// Index of the boot on its side.
    pub unit: usize,
    /// Trials behind it.
    pub n: usize,
    /// Geometric mean of its values, in the metric's base unit; of several RUNs in this boot, that
    /// of their means.
    pub value: f64,
}

/// One side.
struct Side<'a> {
    runs: Vec<&'a RunOf<'a>>,
    units: Units,
}

/// Compares contenders before and after a change on one machine.
///
/// # Errors
/// See [`CompareError`].
pub fn sides(before: &[RunOf<'_>], after: &[RunOf<'_>], ask: &Ask) -> Result<Sides, CompareError> {
    if before.is_empty() || after.is_empty() {
        return Err(CompareError::Nothing);
    }
    let all: Vec<&RunOf<'_>> = before.iter().chain(after).collect();
    each_once(&all)?;
    one_machine(&all)?;
    let questions = asked(&all, ask)?;
    one_work(&all, &questions)?;
    let side = |runs: &'_ [RunOf<'_>]| {
        let runs: Vec<&RunOf<'_>> = runs.iter().collect();
        Units::by(&runs, Unit::Boot)
    };
    let both = [
        Side { runs: before.iter().collect(), units: side(before) },
        Side { runs: after.iter().collect(), units: side(after) },
    ];
    let labels = labels(&all, ask)?;
    let mut rows: Vec<Vec<SideRow>> = Vec::new();
    let mut shifts = Vec::new();
    for question in &questions {
        let values = both.each_ref().map(|side| side.values(question));
        let of = |label: &&str| row(&both, &values, question, label);
        let (own, tests): (Vec<_>, Vec<_>) = labels.iter().filter_map(of).unzip();
        rows.push(own);
        shifts.extend(tests);
    }
    let mut comparisons = family::verdicts(&shifts, ask.margin).into_iter();
    for row in rows.iter_mut().flatten() {
        if let Some(comparison) = comparisons.next().flatten() {
            row.verdict = comparison.verdict;
            (row.low, row.high, row.level) = (comparison.low, comparison.high, comparison.level);
            (row.same_low, row.same_high, row.same_level) =
                (comparison.same_low, comparison.same_high, comparison.same_level);
        }
    }
    let (changes, mut notes) = changes(before, after);
    notes.extend(not_alike(&all, &labels, &[]));
    notes.extend(shared_boot(&both));
    let [before, after] = both.map(|side| side.units.rows);
    let with_names = questions.iter().zip(rows).map(|(name, rows)| SidesQuestion {
        workload: name.workload.clone(),
        phase: name.phase.clone(),
        metric: name.metric,
        clock: name.clock,
        rows,
    });
    Ok(Sides {
        method: METHOD_VERSION,
        margin: ask.margin,
        machine: run::hardware_of(&all[0].header.host),
        before,
        after,
        changes,
        questions: with_names.collect(),
        notes,
    })
}

fn one_machine(runs: &[&RunOf<'_>]) -> Result<(), CompareError> {
    if let Some(run) = runs.iter().find(|run| !run::is_known(&run.header.host)) {
        return Err(CompareError::UnknownMachine { run: run.name.clone() });
    }
    for run in &runs[1..] {
        let what = machines_differ(&runs[0].header.host, &run.header.host);
        if !what.is_empty() {
            return Err(CompareError::OtherMachine {
                one: runs[0].name.clone(),
                other: run.name.clone(),
                what: what.join(", "),
            });
        }
    }
    Ok(())
}

fn one_work(runs: &[&RunOf<'_>], questions: &[QuestionName]) -> Result<(), CompareError> {
    for workload in names_of_workloads(questions) {
        let mut have = runs.iter().filter_map(|run| Some((run, run.workload(workload)?)));
        let Some((first, one)) = have.next() else { continue };
        for (run, other) in have {
            if let Some(what) = work_differs(one, other) {
                return Err(CompareError::OtherWork {
                    workload: workload.to_owned(),
                    one: first.name.clone(),
                    other: run.name.clone(),
                    what,
                });
            }
        }
    }
    Ok(())
}

/// Labels of all contenders, or of the pair that is asked for.
fn labels<'a>(runs: &[&'a RunOf<'_>], ask: &Ask) -> Result<Vec<&'a str>, CompareError> {
    let contenders = runs.iter().flat_map(|run| &run.header.plan.contenders);
    let labels: IndexSet<&str> = contenders.map(|contender| contender.label.as_str()).collect();
    let mut labels: Vec<&str> = labels.into_iter().collect();
    if let Some((a, b)) = &ask.pair {
        let known = labels.join(", ");
        labels.retain(|label| label == a || label == b);
        if labels.len() < 2 {
            return Err(CompareError::NoSuchPair { a: a.clone(), b: b.clone(), known });
        }
    }
    Ok(labels)
}

/// A boot that is on both sides cannot tell them apart by itself.
fn shared_boot(sides: &[Side<'_>; 2]) -> Option<String> {
    let [before, after] = sides.each_ref().map(|side| side.units.boots());
    let shared = before.iter().filter(|boot| after.contains(boot)).count();
    (shared > 0).then(|| {
        format!(
            "{shared} {} on both sides: what changed there is not the kernel",
            if shared == 1 { "boot is" } else { "boots are" }
        )
    })
}

/// The values of each RUN by boot; nothing of a RUN without the phase.
type Values = Vec<Vec<(String, Points)>>;

impl Side<'_> {
    fn values(&self, question: &QuestionName) -> Values {
        self.runs.iter().map(|run| run.points(question).unwrap_or_default()).collect()
    }

    /// Kinds of values of a contender, with how many there are.
    fn classes(&self, values: &Values, label: &str) -> BTreeMap<Class, usize> {
        let mut classes = BTreeMap::new();
        for (run, by_boot) in self.runs.iter().zip(values) {
            let Some(contender) = run.contender(label) else { continue };
            for point in by_boot.iter().flat_map(|(_, points)| points.of_contender(contender)) {
                *classes.entry(point.class).or_default() += 1;
            }
        }
        classes
    }

    /// What each boot gives, of values of this kind.
    fn by_unit(&self, values: &Values, label: &str, class: Class) -> Vec<UnitValue> {
        let mut means: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for (number, (run, by_boot)) in self.runs.iter().zip(values).enumerate() {
            let Some(contender) = run.contender(label) else { continue };
            for (boot, points) in by_boot {
                let own = points.of_contender(contender).filter(|point| point.class == class);
                let logs: Vec<f64> = own.map(|point| point.value.ln()).collect();
                let Some(unit) = self.units.at(number, boot) else { continue };
                if !logs.is_empty() {
                    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
                    means.entry(unit).or_default().push((logs.len(), mean));
                }
            }
        }
        let one = |(unit, runs): (usize, Vec<(usize, f64)>)| UnitValue {
            unit,
            n: runs.iter().map(|(n, _)| n).sum(),
            value: (runs.iter().map(|(_, mean)| mean).sum::<f64>() / runs.len() as f64).exp(),
        };
        means.into_iter().map(one).collect()
    }

    /// Why a contender has no value here.
    fn why_without(&self, values: &Values, label: &str) -> String {
        let mut have = self.runs.iter().zip(values);
        let why = have.find_map(|(run, by_boot)| {
            let contender = run.contender(label)?;
            RunOf::why_without(by_boot, contender)
        });
        why.unwrap_or_else(|| "it is in none of the RUNs".to_owned())
    }
}

/// A contender of a question; `None` where neither side has a value.
fn row(
    sides: &[Side<'_>; 2],
    values: &[Values; 2],
    question: &QuestionName,
    label: &str,
) -> Option<(SideRow, Option<Shift>)> {
    let [before, after] = sides;
    let classes = [before.classes(&values[0], label), after.classes(&values[1], label)];
    if classes.iter().all(BTreeMap::is_empty) {
        return None;
    }
    let mut row = SideRow { label: label.to_owned(), ..SideRow::default() };
    for (at, word) in ["before", "after"].into_iter().enumerate() {
        if classes[at].is_empty() {
            row.why = Some(format!("{word}: {}", sides[at].why_without(&values[at], label)));
            return Some((row, None));
        }
    }
    let shared = classes[0].iter().filter(|(class, _)| classes[1].contains_key(*class));
    let Some((&class, _)) = shared.max_by_key(|(_, n)| **n) else {
        row.why = Some("cache or memory were not alike before and after".to_owned());
        return Some((row, None));
    };
    row.before = before.by_unit(&values[0], label, class);
    row.after = after.by_unit(&values[1], label, class);
    let logs = |side: &[UnitValue]| side.iter().map(|one| one.value.ln()).collect::<Vec<f64>>();
    let (one, other) = (logs(&row.before), logs(&row.after));
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    row.ratio = Some((mean(&other) - mean(&one)).exp());
    if one.len().min(other.len()) < LEAST_UNITS {
        row.why = Some(format!(
            "{} before and {} after: it takes {LEAST_UNITS} on each side to tell how much boots \
             differ among themselves",
            boots(one.len()),
            boots(other.len())
        ));
        return Some((row, None));
    }
    let level = mean(&[one.as_slice(), &other].concat());
    let floor_sd = question.metric.step(level.exp()) / (12f64.sqrt() * level.exp());
    let floor = floor_sd * (1.0 / one.len() as f64 + 1.0 / other.len() as f64).sqrt();
    let shift = welch(&other, &one).map(|shift| shift.at_least(floor));
    Some((row, shift))
}

fn boots(n: usize) -> String {
    if n == 1 { "1 boot".to_owned() } else { format!("{n} boots") }
}

/// What differs between two sides, and what is not the same within one of them.
fn changes(before: &[RunOf<'_>], after: &[RunOf<'_>]) -> (Vec<Change>, Vec<String>) {
    let of = |side: &[RunOf<'_>]| {
        let mut all = Facts::new();
        for (what, values) in side.iter().flat_map(|run| &run.facts) {
            all.entry(what.clone()).or_default().extend(values.iter().cloned());
        }
        all
    };
    let (one, other) = (of(before), of(after));
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    // The kernel first: it is what most comparisons of this kind are about.
    names.sort_by_key(|name| (!name.starts_with("kernel "), name.contains(':'), *name));
    names.dedup();
    let values = |side: &Facts, name: &String| {
        side.get(name).map(|values| values.iter().cloned().collect()).unwrap_or_default()
    };
    let mut found = Vec::new();
    for name in names {
        let change =
            Change { what: name.clone(), before: values(&one, name), after: values(&other, name) };
        if change.before != change.after {
            found.push(change);
        }
    }
    let mut notes = Vec::new();
    for (side, word) in [(&one, "before"), (&other, "after")] {
        for name in ["kernel release", "kernel version", "distribution"] {
            if let Some(values) = side.get(name).filter(|values| values.len() > 1) {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                notes.push(format!("the RUNs {word} are not of one {name}: {}", values.join("; ")));
            }
        }
    }
    (found, notes)
}
