//! What a RUN asks and by which rule, from what its experiment says.

use crate::error::{At, PlanError, Span};
use crate::experiment::RunSettings;
use crate::{fs_entry, question};
use fsarena_model::contender::Contender;
use fsarena_model::phase::Workload;
use fsarena_model::run::RunPlan;
use fsarena_model::verdict::{Limits, METHOD_VERSION, Pairs, Question, Rule, VerdictPlan};

/// Most blocks where nothing is said.
pub(crate) const DEFAULT_CAP: u32 = 32;
/// Blocks where there is nothing to decide.
const BLOCKS_TO_SHOW: u32 = 3;
/// Caps up to this one have `FEW_SPARE` blocks to run again, larger ones `MORE_SPARE`.
const SMALL_CAP: u32 = 12;
const FEW_SPARE: u32 = 2;
const MORE_SPARE: u32 = 4;

/// Puts the verdicts of `run` into a plan that has everything else but its schedule, and the number
/// of its blocks. `texts` are the file systems of the contenders as written.
///
/// # Errors
/// A question, headline or baseline that there is not, with its place.
pub(crate) fn add_verdict_plan(
    plan: &mut RunPlan,
    run: &RunSettings,
    texts: &[&str],
) -> Result<(), PlanError> {
    let settings = &run.verdicts;
    let workloads: Vec<&Workload> = plan.workloads.iter().collect();
    let mut questions = question::questions(&settings.ask, &workloads, run.compare)?;
    let first = match &settings.headline {
        Some(one) => Some(question::headline(one, &questions, &workloads, run.compare)?),
        None => None,
    };
    let pairs = match &settings.baseline {
        Some(written) => Pairs::Baseline { contender: baseline(written, plan, texts)? },
        None => Pairs::All,
    };
    let as_written = questions.clone();
    questions.sort_by_key(|question| order_of(question, &workloads));
    let rule = run.rule.unwrap_or(Rule::Looks { cap: DEFAULT_CAP });
    plan.verdict = Some(VerdictPlan {
        method: METHOD_VERSION,
        rule,
        margin: settings.margin,
        questions,
        headline: None,
        pairs,
        budget_ns: settings.budget_ns,
        begun_unix_ns: None,
        spare_blocks: spare(rule),
        limits: Limits {
            steal_share: settings.steal_share,
            foreign_share: settings.foreign_share,
            short_phases: true,
        },
    });
    // A phase that only one contender runs would be an empty headline.
    let has_pairs = |question: &&Question| !plan.asked_pairs(question).is_empty();
    let first = first
        .or_else(|| as_written.iter().find(has_pairs).cloned())
        .or_else(|| as_written.first().cloned());
    if let Some(verdict) = &mut plan.verdict {
        verdict.headline = verdict.questions.iter().position(|one| Some(one) == first.as_ref());
        plan.blocks = verdict.rule.blocks() + verdict.spare_blocks;
    }
    settle_rule(plan);
    Ok(())
}

/// Blocks beyond the most, for those that have to be run again. A fixed number is what it is.
fn spare(rule: Rule) -> u32 {
    match rule {
        Rule::Looks { cap: most } | Rule::Fit { most, .. } if most <= SMALL_CAP => FEW_SPARE,
        Rule::Looks { .. } | Rule::Fit { .. } => MORE_SPARE,
        Rule::Fixed { .. } => 0,
    }
}

/// Span of a question in the order of workloads and phases.
fn order_of(question: &Question, workloads: &[&Workload]) -> (usize, Option<usize>) {
    let phases = workloads.get(question.workload).map(|work| &work.phases);
    let phase = phases.and_then(|all| all.iter().position(|phase| phase.name == question.phase));
    (question.workload, phase)
}

/// Takes the rule out of a plan in which there is nothing to decide: no question asks about two
/// contenders that can be compared. Such a RUN has three blocks (fewer where its cap is lower), and
/// its schedule is cut off after them; a number that was asked for stays. To be called again where
/// contenders were left out.
pub fn settle_rule(plan: &mut RunPlan) {
    let Some(verdict) = &plan.verdict else { return };
    let (Rule::Looks { cap: most } | Rule::Fit { most, .. }) = verdict.rule else { return };
    if verdict.questions.iter().any(|question| !plan.asked_pairs(question).is_empty()) {
        return;
    }
    let blocks = BLOCKS_TO_SHOW.min(most);
    if let Some(verdict) = &mut plan.verdict {
        (verdict.rule, verdict.spare_blocks) = (Rule::Fixed { blocks }, 0);
    }
    plan.blocks = blocks;
    plan.schedule.retain(|slot| slot.block < blocks);
}

/// The contender that is meant by a label, or by a file system as it was written.
fn baseline(written: &At<String>, plan: &RunPlan, texts: &[&str]) -> Result<usize, PlanError> {
    let (name, place) = (written.value.as_str(), &written.place);
    let contenders = &plan.contenders;
    let found = meant(name, contenders, texts);
    if let [one] = found.as_slice() {
        let not_run =
            plan.not_run.iter().find(|row| row.contender == *one && row.workload.is_none());
        return match not_run {
            None => Ok(*one),
            Some(row) => {
                let what = format!("the baseline {name:?} is not run: {}", row.reason);
                Err(PlanError::new(place, what, "compare with another, or leave it out"))
            }
        };
    }
    let labels = |numbers: &mut dyn Iterator<Item = usize>| {
        let labels: Vec<String> =
            numbers.map(|number| format!("{:?}", contenders[number].label)).collect();
        labels.join(", ")
    };
    if found.is_empty() {
        let known = labels(&mut (0..contenders.len()));
        let what = format!("no contender is called {name:?}");
        return Err(PlanError::new(place, what, format!("it has to be one of {known}")));
    }
    let count = found.len();
    let known = labels(&mut found.into_iter());
    let what = format!("{name:?} is the name of {count} contenders");
    Err(PlanError::new(place, what, format!("write one label: {known}")))
}

/// The contenders of this label, or else of this file system.
fn meant(name: &str, contenders: &[Contender], texts: &[&str]) -> Vec<usize> {
    let all = || 0..contenders.len();
    let labelled: Vec<usize> = all().filter(|n| contenders[*n].label == name).collect();
    if !labelled.is_empty() {
        return labelled;
    }
    // Its options may be in another order, or come from an axis.
    let level = fs_entry::fs_entry(name, &Span::Default).ok().map(|entry| entry.level.to_string());
    let is_meant = |number: &usize| {
        let fs = contenders[*number].levels.fs.to_string();
        texts.get(*number) == Some(&name) || level.as_ref() == Some(&fs)
    };
    all().filter(is_meant).collect()
}
