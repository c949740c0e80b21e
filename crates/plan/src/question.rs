//! Questions as text: `small-files:create`, `big-file:*`, `small-files:create:time:returned`.
//!
//! The metric is the time, up to the clock of the RUN, where nothing else is said. Only the time
//! has a choice of clocks: the processor is counted up to `durable`, bytes up to the next unmount,
//! and a latency ends where its call does.

use crate::error::{At, PlanError, Span};
use crate::words::word;
use fsarena_model::clock::Clock;
use fsarena_model::free::FreeQuantity;
use fsarena_model::metric::MetricKind;
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::verdict::{Metric, Question};

const EXAMPLE: &str = "write it as WORKLOAD:PHASE, such as small-files:create; * is every phase, \
                       and :cpu, :task-clock, :written, :p99, :per-op, :per-mib or \
                       :time:returned may follow";
/// Names of questions that an error lists at most.
const LISTED: usize = 12;

/// One question or, with `*`, several at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuestionPattern {
    /// Name of the workload; absent: all of them.
    pub workload: Option<String>,
    /// Name of the phase; absent: all timed ones.
    pub phase: Option<String>,
    /// What is compared.
    pub metric: Metric,
    /// Up to which clock; absent: that of the RUN.
    pub clock: Option<Clock>,
    /// As written.
    pub text: String,
}

/// Reads a question.
pub(crate) fn parse_pattern(text: &str, place: &Span) -> Result<QuestionPattern, PlanError> {
    let text = text.trim();
    let parts: Vec<&str> = text.split(':').collect();
    if !(2..=4).contains(&parts.len()) || parts.iter().any(|part| part.is_empty()) {
        return Err(PlanError::new(place, format!("{text:?} is no question"), EXAMPLE));
    }
    let metric = match parts.get(2) {
        Some(name) => word(name, place)?,
        None => Metric::Time,
    };
    let clock = parts.get(3).map(|name| word(name, place)).transpose()?;
    if clock.is_some() && metric != Metric::Time {
        let what = format!("{text:?}: only the metric `time` takes a clock");
        return Err(PlanError::new(place, what, format!("end it with :{}", metric.name())));
    }
    let name = |part: &str| Some(part.to_owned()).filter(|part| part != "*");
    let (workload, phase) = (name(parts[0]), name(parts[1]));
    Ok(QuestionPattern { workload, phase, metric, clock, text: text.to_owned() })
}

/// Whether phase number `at` has such a figure: of lengths the one that it leaves free, sums over
/// the same work where it has that, and latencies where they are known.
fn has(metric: Metric, work: &Workload, at: usize) -> bool {
    let constraints = work.constraints(at);
    match metric.row().kind {
        MetricKind::Latency => !constraints.lacks_latency,
        MetricKind::Length => constraints.free().metric() == Some(metric),
        MetricKind::Sum => constraints.has_same_work(),
    }
}

/// What is asked of phase number `at` where nothing is said; nothing where it leaves nothing free.
fn usual(work: &Workload, at: usize) -> Option<Metric> {
    work.free(at).metric()
}

/// Why phase number `at` of a workload has no such figure, and what to do.
fn why_not(metric: Metric, work: &Workload, at: usize) -> (&'static str, &'static str) {
    let constraints = work.constraints(at);
    match (metric, constraints.free()) {
        (_, FreeQuantity::Nothing) if metric.is_length() => (
            "it leaves nothing free that can be compared: its time or rate is set, and its work or \
             latency is not known",
            "leave the time and the rate open, or let latencies be kept",
        ),
        (Metric::Time, FreeQuantity::Latency) => {
            ("its ops come at a set rate, and so its time is set", "ask for p99")
        }
        (Metric::Time, FreeQuantity::Bytes) => {
            ("the clock decides how much it moves", "ask for per-mib")
        }
        (Metric::Time, _) => {
            ("the clock decides how many ops it has", "ask for per-op, or for p99")
        }
        (Metric::PerOp | Metric::PerMib, FreeQuantity::Latency) => {
            ("its ops come at a set rate, and so their time is set", "ask for p99")
        }
        (Metric::PerOp, FreeQuantity::Bytes) => ("its ops are not counted", "ask for per-mib"),
        (Metric::PerMib, FreeQuantity::Ops) => ("its work is counted in ops", "ask for per-op"),
        (Metric::PerOp | Metric::PerMib, _) => {
            ("its work is the same in every trial", "ask for the time")
        }
        (metric, _) if metric.row().kind == MetricKind::Sum => {
            ("the clock decides how many ops it has", "ask for per-op, or for p99")
        }
        (_, _) => (
            "a program does the work, and its ops are not timed",
            "ask for the time, or say by = \"engine\"",
        ),
    }
}

/// The questions that `one` means, in the order of workloads and phases.
///
/// # Errors
/// A name that nothing has, or a figure that no phase named has.
pub(crate) fn resolve(
    one: &At<QuestionPattern>,
    workloads: &[&Workload],
    compare: Clock,
) -> Result<Vec<Question>, PlanError> {
    let (asked, place) = (&one.value, &one.place);
    let in_workload = |work: &Workload| asked.workload.as_ref().is_none_or(|n| work.is_called(n));
    let in_phase = |phase: &Phase| asked.phase.as_ref().is_none_or(|name| *name == phase.name);
    if let Some(name) = &asked.workload
        && !workloads.iter().any(|work| in_workload(work))
    {
        let names: Vec<&str> = workloads.iter().map(|work| work.name.as_str()).collect();
        return Err(PlanError::unknown(place, "workload", name, &names));
    }
    let numbered = |work: usize| (0..workloads[work].phases.len()).map(move |at| (work, at));
    let phase = |(work, at): (usize, usize)| &workloads[work].phases[at];
    let timed: Vec<(usize, usize)> = (0..workloads.len())
        .filter(|&work| in_workload(workloads[work]))
        .flat_map(numbered)
        .filter(|&one| phase(one).timed)
        .collect();
    let named: Vec<(usize, usize)> =
        timed.iter().copied().filter(|&one| in_phase(phase(one))).collect();
    if named.is_empty() {
        let mut names: Vec<&str> = timed.iter().map(|&one| phase(one).name.as_str()).collect();
        names.dedup();
        let name = asked.phase.as_deref().unwrap_or("*");
        return Err(PlanError::unknown(place, "timed phase", name, &names));
    }
    let metric = asked.metric;
    let questions: Vec<Question> = named
        .iter()
        .filter(|&&(work, at)| has(metric, workloads[work], at))
        .map(|&one| Question {
            workload: one.0,
            phase: phase(one).name.clone(),
            metric,
            clock: asked.clock.unwrap_or(metric.clock(compare)),
        })
        .collect();
    if questions.is_empty() {
        let (work, at) = named[0];
        let (why, remedy) = why_not(metric, workloads[work], at);
        return Err(PlanError::new(place, format!("{:?}: {why}", asked.text), remedy));
    }
    Ok(questions)
}

/// What is asked of `workloads`: everything of `ask`, as written and each once; where it is empty
/// what every timed phase leaves free ([`fsarena_model::free`]).
///
/// # Errors
/// As [`resolve`].
pub(crate) fn questions(
    ask: &[At<QuestionPattern>],
    workloads: &[&Workload],
    compare: Clock,
) -> Result<Vec<Question>, PlanError> {
    let mut all: Vec<Question> = Vec::new();
    if ask.is_empty() {
        for (workload, work) in workloads.iter().enumerate() {
            let timed = work.phases.iter().enumerate().filter(|(_, phase)| phase.timed);
            all.extend(timed.filter_map(|(at, phase)| {
                let metric = usual(work, at)?;
                let clock = metric.clock(compare);
                Some(Question { workload, phase: phase.name.clone(), metric, clock })
            }));
        }
    }
    for one in ask {
        for question in resolve(one, workloads, compare)? {
            if !all.contains(&question) {
                all.push(question);
            }
        }
    }
    Ok(all)
}

/// What a text asks of one workload that was carried out: the usual question of each timed phase
/// where it is the name of the workload alone, else as in `ask`, such as `small-files:create:cpu`.
///
/// # Errors
/// A text that is no question, a phase that there is not, or a figure that it does not have.
pub fn questions_of_workload(
    text: &str,
    place: &Span,
    workload: &Workload,
    compare: Clock,
) -> Result<Vec<Question>, PlanError> {
    let ask = match text.contains(':') {
        true => vec![At::new(parse_pattern(text, place)?, place)],
        false => Vec::new(),
    };
    questions(&ask, &[workload], compare)
}

/// The one question that is the headline; it has to be among those that are asked.
///
/// # Errors
/// Where it is none, or several, or not asked.
pub(crate) fn headline(
    one: &At<QuestionPattern>,
    asked: &[Question],
    workloads: &[&Workload],
    compare: Clock,
) -> Result<Question, PlanError> {
    let text = &one.value.text;
    if one.value.workload.is_none() || one.value.phase.is_none() {
        let what = format!("the headline {text:?} is more than one question");
        return Err(PlanError::new(&one.place, what, EXAMPLE));
    }
    let found = resolve(one, workloads, compare)?;
    if let [first, _, ..] = found.as_slice() {
        let what = format!("the headline {text:?} is more than one question");
        let name = first.text(&workloads[first.workload].name, compare);
        return Err(PlanError::new(&one.place, what, format!("name one level, such as {name:?}")));
    }
    if let Some(question) = found.into_iter().find(|question| asked.contains(question)) {
        return Ok(question);
    }
    let mut names: Vec<String> =
        asked.iter().take(LISTED).map(|q| q.text(&workloads[q.workload].name, compare)).collect();
    if asked.len() > LISTED {
        names.push("…".to_owned());
    }
    let remedy = format!("add it to `ask`, or choose one of {}", names.join(", "));
    Err(PlanError::new(&one.place, format!("the headline {text:?} is not asked"), remedy))
}
