//! The figures of one contender over RUNs as series: what is not comparable is never in one of
//! them. The rules are those of [`super::sides`]: one machine, the same work, the same levels; and
//! besides that one device, one time base, one state of the cache and of memory.

use super::QuestionName;
use super::run::{RunOf, Values, is_known, levels_differ, machines_differ, work_differs};
use crate::points::Class;
use fsarena_model::contender::{DeviceLevel, Levels};
use fsarena_model::record::TimeBase;
use fsarena_model::score::MemoryKind;
use std::collections::BTreeMap;

/// What one RUN says in one boot.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Piece {
    /// Index of the RUN.
    pub(super) run: usize,
    pub(super) boot: String,
    pub(super) class: Class,
    /// Logarithms of its values, one a trial.
    pub(super) logs: Vec<f64>,
    /// When its first trial began, ns since 1970.
    pub(super) started_unix_ns: u64,
}

/// What a RUN says of the figures of a history, contender by contender: all that is needed of its
/// scores, which may be dropped once these are known.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFigures {
    /// By figure, and by contender of the plan; its pieces have no index of a RUN yet.
    of_questions: Vec<Vec<Result<Vec<Piece>, String>>>,
}

impl RunFigures {
    pub(super) fn new(run: &RunOf<'_>, questions: &[QuestionName]) -> Self {
        let counted = run.counted_blocks();
        let contenders = 0..run.header.plan.contenders.len();
        let of_question = |question| {
            let values = run.points_in(question, &counted);
            let own = |contender| pieces(run, question, values.as_ref(), contender);
            contenders.clone().map(own).collect()
        };
        Self { of_questions: questions.iter().map(of_question).collect() }
    }
}

/// Pieces that may be compared, in order of time.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Series {
    pub(super) pieces: Vec<Piece>,
    /// Why it is none with the largest series of this contender; absent for that one.
    pub(super) apart: Option<String>,
}

/// A RUN that is in no series of a contender.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, crate::JsonSchema)]
pub struct ExcludedRun {
    /// Label of the contender.
    pub contender: String,
    pub run: String,
    /// Why.
    pub why: String,
}

/// The series of a contender, that of most RUNs first, and the RUNs that are in none: without a
/// figure, of a machine that is not known, or comparable with no other. `figures` are those of each
/// RUN, `number` is that of the question.
pub(super) fn series(
    runs: &[RunOf<'_>],
    figures: &[RunFigures],
    (number, question): (usize, &QuestionName),
    label: &str,
) -> (Vec<Series>, Vec<ExcludedRun>) {
    let mut excluded = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, (run, figures)) in runs.iter().zip(figures).enumerate() {
        let Some(contender) = run.contender(label) else { continue };
        match &figures.of_questions[number][contender] {
            Ok(own) => pieces.extend(own.iter().map(|piece| Piece { run: at, ..piece.clone() })),
            Err(why) => excluded.push((at, excluded_run(run, label, why.clone()))),
        }
    }
    pieces.sort_by_key(|piece| piece.started_unix_ns);
    let mut all: Vec<Series> = Vec::new();
    for piece in pieces {
        let fits = |known: &&mut Series| {
            differs(runs, question, label, [&known.pieces[0], &piece]).is_none()
        };
        match all.iter_mut().find(fits) {
            Some(known) => known.pieces.push(piece),
            None => all.push(Series { pieces: vec![piece], apart: None }),
        }
    }
    // Of as many RUNs the later one first.
    all.reverse();
    all.sort_by_key(|one| std::cmp::Reverse(one.runs().len()));
    let main = all.first().map(|first| first.pieces[0].clone());
    for other in all.iter_mut().skip(1) {
        let main = main.as_ref().unwrap_or(&other.pieces[0]);
        other.apart = differs(runs, question, label, [main, &other.pieces[0]]);
    }
    let mut kept = Vec::new();
    for one in all {
        match &one.apart {
            Some(why) if one.runs().len() == 1 => {
                let number = one.pieces[0].run;
                excluded.push((number, excluded_run(&runs[number], label, why.clone())));
            }
            _ => kept.push(one),
        }
    }
    excluded.sort_by_key(|(number, _)| *number);
    (kept, excluded.into_iter().map(|(_, one)| one).collect())
}

fn excluded_run(run: &RunOf<'_>, label: &str, why: String) -> ExcludedRun {
    ExcludedRun { contender: label.to_owned(), run: run.name.clone(), why }
}

impl Series {
    /// Indices of its RUNs, each once.
    pub(super) fn runs(&self) -> Vec<usize> {
        let mut runs: Vec<usize> = self.pieces.iter().map(|piece| piece.run).collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }
}

/// The pieces of a contender in a RUN, or why it has none.
fn pieces(
    run: &RunOf<'_>,
    question: &QuestionName,
    values: Option<&Values>,
    contender: usize,
) -> Result<Vec<Piece>, String> {
    if !is_known(&run.header.host) {
        return Err("its machine is not known, as that of any imported RUN".to_owned());
    }
    let none = || format!("it has no {}:{}", question.workload, question.phase);
    let by_boot = values.ok_or_else(none)?;
    if let Some(why) = RunOf::why_without(by_boot, contender) {
        return Err(why);
    }
    let mut pieces = Vec::new();
    for (boot, points) in by_boot {
        let mut by_class: BTreeMap<Class, Vec<f64>> = BTreeMap::new();
        for point in points.of_contender(contender) {
            by_class.entry(point.class).or_default().push(point.value.ln());
        }
        let started_unix_ns = run.started_unix_ns(boot);
        let piece =
            |(class, logs)| Piece { run: 0, boot: boot.clone(), class, logs, started_unix_ns };
        pieces.extend(by_class.into_iter().map(piece));
    }
    Ok(pieces)
}

/// Why two pieces may not be in one series; `None` where they may.
fn differs(
    runs: &[RunOf<'_>],
    question: &QuestionName,
    label: &str,
    [one, other]: [&Piece; 2],
) -> Option<String> {
    let (first, second) = (&runs[one.run], &runs[other.run]);
    let than = &first.name;
    let machines = machines_differ(&first.header.host, &second.header.host);
    if !machines.is_empty() {
        // Names of hosts are for those who know them; this goes into wikis.
        let shown = machines.iter().map(|what| match what.strip_prefix("host name ") {
            Some(_) => "another host name",
            None => what.as_str(),
        });
        let shown: Vec<&str> = shown.collect();
        return Some(format!("another machine than RUN {than}: {}", shown.join(", ")));
    }
    let work = first.workload(&question.workload).zip(second.workload(&question.workload));
    if let Some(what) = work.and_then(|(a, b)| work_differs(a, b)) {
        return Some(format!("another {} than in RUN {than}: {what}", question.workload));
    }
    if let Some((a, b)) = first.levels(label).zip(second.levels(label)) {
        let levels = levels_differ(&without_kernel(a), &without_kernel(b));
        if !levels.is_empty() {
            let levels = levels.join(", ");
            return Some(format!("{label} is not the same as in RUN {than}: {levels}"));
        }
        if let Some(what) = devices_differ(first, second, a, b) {
            return Some(format!("another device than in RUN {than}: {what}"));
        }
    }
    classes_differ(one.class, other.class).map(|what| format!("{what} RUN {than}"))
}

/// The kernel of a guest may change from RUN to RUN, as that of the machine may.
fn without_kernel(levels: &Levels) -> Levels {
    let mut levels = levels.clone();
    if let DeviceLevel::Virtual { kernel, .. } = &mut levels.device {
        kernel.clear();
    }
    levels
}

/// What tells the devices of two contenders apart whose levels are the same.
fn devices_differ(first: &RunOf<'_>, second: &RunOf<'_>, a: &Levels, b: &Levels) -> Option<String> {
    let mut both = a.device.parts().iter().zip(b.device.parts());
    both.find_map(|(a, b)| parts_differ(first, second, a, b))
}

/// The same of one device of each.
fn parts_differ(
    first: &RunOf<'_>,
    second: &RunOf<'_>,
    a: &DeviceLevel,
    b: &DeviceLevel,
) -> Option<String> {
    if let (DeviceLevel::Block { path, .. }, DeviceLevel::Block { path: other, .. }) = (a, b) {
        let (was, is) = (first.header.device_at(path)?, second.header.device_at(other)?);
        let found = was.differences(is, false);
        // Which fact it is, without serial numbers.
        let fact = |text: &String| text.split(" was ").next().unwrap_or(text).to_owned();
        let facts: Vec<String> = found.iter().map(fact).collect();
        return (!facts.is_empty()).then(|| format!("not the same: {}", facts.join(", ")));
    }
    let (one, other) = (first.header.place.as_ref()?, second.header.place.as_ref()?);
    let on_image = matches!(a, DeviceLevel::Loop { .. });
    (on_image && one.image_dir != other.image_dir)
        .then(|| "its images are in another directory".to_owned())
}

/// In what two kinds of values are not comparable, to be followed by a RUN.
fn classes_differ(one: Class, other: Class) -> Option<String> {
    let what = if one.time_base != other.time_base {
        match other.time_base {
            TimeBase::Virtual => "in virtual time, unlike",
            _ => "in wall time, unlike",
        }
    } else if one.cold != other.cold {
        if other.cold { "cold, unlike" } else { "warm, unlike" }
    } else if one.memory != other.memory {
        match other.memory {
            MemoryKind::Whole => "in the whole memory, unlike",
            MemoryKind::Limited => "in limited memory, unlike",
            MemoryKind::NotLimited => "without the limit of memory that was asked for, unlike",
        }
    } else {
        return None;
    };
    Some(what.to_owned())
}
