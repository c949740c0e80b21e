//! An article's tests beside ours: of which two the one was faster then, and whether it is now.
//! Only where both times have the same question, the same clock, and a difference that can be told.

use super::phrases::{Now, Phrases, ThenClaim, ThenTest};
use super::wording;
use crate::article::ThenAndNow;
use crate::context::{Repeats, SectionContext};
use crate::section::{Block, Section};
use crate::sections::then::{chart, view};
use crate::verdict::sentences::between;
use crate::verdict::text::{ratio, ratio_and_interval};
use fsarena_model::contender::Contender;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_reference::{Counterpart, RULE};
use fsarena_verdict::{PairView, QuestionView};

pub(super) fn section(context: &SectionContext<'_>, phrases: &dyn Phrases) -> Section {
    let Some(repeats) = context.run.article else { return Section::none() };
    let mut view = view(context, repeats);
    let year = repeats.article.year;
    let mut blocks = Vec::new();
    let tests: Vec<ThenTest> =
        view.tests.iter().filter_map(|test| compared(context, repeats, test)).collect();
    if tests.iter().all(|test| test.claims.is_empty()) {
        blocks.push(Block::Missing(phrases.no_rows(year)));
    } else {
        blocks.push(Block::Text(phrases.then_not_now(year)));
        let has_claim = |one: &ThenAndNow| {
            tests.iter().any(|test| test.title == one.title && !test.claims.is_empty())
        };
        view.tests.retain(has_claim);
        if let Some(chart) = chart(context, year, &view) {
            let chart = wording::groups(chart, phrases).draw();
            blocks.push(Block::Chart(chart, phrases.then_chart(year)));
        }
    }
    blocks.push(Block::List(None, tests.iter().map(|test| phrases.then(year, test)).collect()));
    let findings = &repeats.article.findings;
    if !findings.is_empty() {
        blocks.push(Block::Heading(phrases.conclusions().to_owned()));
        blocks.push(Block::Note(RULE.to_owned()));
        let said = findings.iter().map(|finding| phrases.conclusion(finding));
        blocks.push(Block::List(None, said.collect()));
    }
    Section::new(blocks)
}

/// Something of an article that is a contender here.
struct Side<'a> {
    /// What it was measured on.
    beside: String,
    /// As printed.
    value: f64,
    contender: usize,
    label: &'a str,
}

/// A test; nothing where no two of its contenders are contenders here.
fn compared(
    context: &SectionContext<'_>,
    repeats: Repeats<'_>,
    test: &ThenAndNow,
) -> Option<ThenTest> {
    let run = context.run;
    let sides = sides(&run.header.plan.contenders, repeats, test);
    let (workload, phase) = test.phase.as_ref()?;
    let table =
        run.study.tables.iter().find(|own| (&own.workload, &own.phase) == (workload, phase))?;
    let is_scaled = (run.study.scale - 1.0).abs() > 1e-12;
    let mut all = ThenTest {
        title: test.title.clone(),
        claims: Vec::new(),
        not_compared: Vec::new(),
        other_work: is_scaled.then(|| table.workload_title.clone()),
    };
    let question = context.run.verdicts.and_then(|verdicts| {
        verdicts.questions.iter().find(|own| {
            let is_it = (&own.workload, &own.phase) == (workload, phase);
            is_it && own.metric == Metric::Time && (own.clock == Clock::Returned || !own.changes)
        })
    });
    let shared = |one: &Side<'_>| sides.iter().any(|other| other.beside != one.beside);
    for (at, one) in sides.iter().enumerate() {
        for other in sides[at + 1..].iter().filter(|other| other.beside == one.beside) {
            let beside = if shared(one) { one.beside.as_str() } else { "" };
            match claim(repeats, test, question, (one, other)) {
                Ok(found) => all.add(found, beside),
                Err(why) if all.not_compared.contains(&why) => {}
                Err(why) => all.not_compared.push(why),
            }
        }
    }
    (!all.claims.is_empty() || !all.not_compared.is_empty()).then_some(all)
}

fn sides<'a>(
    contenders: &'a [Contender],
    repeats: Repeats<'_>,
    test: &ThenAndNow,
) -> Vec<Side<'a>> {
    let is_it = |own: &Contender, then: &Counterpart| {
        let fs = &own.levels.fs;
        fs.name == then.file_system && then.mount.as_ref().is_none_or(|one| fs.mount.contains(one))
    };
    let side = |(head, value): &(String, f64)| {
        let then = repeats.article.counterpart(head)?;
        let mut found = contenders.iter().enumerate().filter(|(_, own)| is_it(own, &then));
        // Of two, neither is meant more than the other.
        let (contender, own) = found.next().filter(|_| found.next().is_none())?;
        Some(Side { beside: then.beside, value: *value, contender, label: &own.label })
    };
    test.then.iter().filter_map(side).collect()
}

/// Who was faster then by how much and how it is now, or why that is not said.
fn claim(
    repeats: Repeats<'_>,
    test: &ThenAndNow,
    question: Option<&QuestionView>,
    (one, other): (&Side<'_>, &Side<'_>),
) -> Result<(ThenClaim, String), String> {
    let pair = format!("{} and {}", one.label, other.label);
    let unit = &test.unit;
    let times = repeats.article.times_as_fast(unit, one.value, other.value).ok_or_else(|| {
        let (a, b) = (one.value, other.value);
        format!("{pair}: no difference can be told of then, {a} {unit} and {b} {unit}")
    })?;
    let (fast, slow, times) = match times >= 1.0 {
        true => (one, other, times),
        false => (other, one, 1.0 / times),
    };
    for side in [one, other] {
        if let Some((label, why)) = test.left_out.iter().find(|(label, _)| label == side.label) {
            return Err(format!("{label}: {why}"));
        }
        if !test.now.iter().any(|(contender, ..)| *contender == side.contender) {
            return Err(format!("{}: it has no figure here", side.label));
        }
    }
    let question =
        question.ok_or_else(|| "the time until the calls returned was not asked".to_owned())?;
    let now = between(question, fast.contender, slow.contender)
        .ok_or_else(|| format!("{pair}: not compared in this RUN"))?;
    let claim = ThenClaim {
        fast: fast.label.to_owned(),
        slow: slow.label.to_owned(),
        then: Vec::new(),
        now: of_now(&now).ok_or_else(|| match now.machine_effect {
            Some(_) => format!("{pair}: now it is the machine by which they differ"),
            None => format!("{pair}: undecided now"),
        })?,
    };
    Ok((claim, ratio(times)))
}

/// What is decided of two now, the faster one of then first.
fn of_now(pair: &PairView) -> Option<Now> {
    let (low, high) = pair.interval().unzip();
    let turned = |value: Option<f64>| value.map(f64::recip);
    match pair.verdict {
        _ if pair.machine_effect.is_some() => None,
        Verdict::Undecided => None,
        Verdict::Same => Some(Now::Same),
        Verdict::Faster => {
            let found = ratio_and_interval(turned(pair.ratio), turned(high), turned(low));
            Some(Now::Likewise(found))
        }
        Verdict::Slower => Some(Now::Reversed(ratio_and_interval(pair.ratio, low, high))),
    }
}

impl ThenTest {
    /// Adds a claim; to one of the same two, only what was found then.
    fn add(&mut self, (claim, times): (ThenClaim, String), beside: &str) {
        let is_it = |known: &&mut ThenClaim| known.fast == claim.fast && known.slow == claim.slow;
        let then = (beside.to_owned(), times);
        match self.claims.iter_mut().find(is_it) {
            Some(known) => known.then.push(then),
            None => self.claims.push(ThenClaim { then: vec![then], ..claim }),
        }
    }
}
