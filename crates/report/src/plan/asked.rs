//! What a plan asks, and when it is answered.

use super::cost::{PlanCost, label, nanos};
use crate::format::{count, ns};
use crate::text::Style;
use crate::text::{bold, wrap};
use fsarena_model::run::RunPlan;
use fsarena_model::verdict::{Pairs, Question, Rule, VerdictPlan};

/// Questions that are listed at most.
const LISTED: usize = 16;

/// The section about verdicts; nothing where a plan has none.
pub(super) fn asked(plan: &RunPlan, cost: &PlanCost, width: usize, style: Style) -> String {
    let Some(verdict) = &plan.verdict else { return String::new() };
    let pairs: usize = verdict.questions.iter().map(|one| plan.asked_pairs(one).len()).sum();
    let mut lines = vec![rule(verdict, pairs)];
    if pairs > 0 {
        lines.push(questions(plan, verdict, pairs));
        let headline = verdict.headline.and_then(|at| verdict.questions.get(at));
        lines.extend(headline.map(|one| format!("headline: {}", name(plan, one))));
        let margin = verdict.margin;
        lines.push(format!(
            "margin {}: SAME means a ratio within {:.3} and {:.3}",
            percent(margin),
            1.0 / (1.0 + margin),
            1.0 + margin
        ));
    }
    if let Some(budget_ns) = verdict.budget_ns {
        let late = nanos(cost.least_s).filter(|least_ns| pairs > 0 && *least_ns > budget_ns);
        let late = late.map(|least_ns| {
            format!("; the first look is expected later, after {}", ns(Some(least_ns)))
        });
        lines.push(format!(
            "budget {}: no block is begun that is not expected to end within it{}",
            ns(Some(budget_ns)),
            late.unwrap_or_default()
        ));
    }
    if let (Rule::Looks { .. }, Some(share)) = (verdict.rule, verdict.limits.steal_share) {
        lines.push(format!(
            "a block is run again where a hypervisor took over {} of the machine during a timed \
             phase; {} for that",
            percent(share),
            count(verdict.spare_blocks as usize, "spare block")
        ));
    }
    let mut out = format!("\n{}\n", bold("Verdicts", style.colour));
    for line in lines {
        out.push_str(&wrap("  - ", &line, width));
    }
    out
}

/// When the figures are looked at.
fn rule(verdict: &VerdictPlan, pairs: usize) -> String {
    let blocks = count(verdict.rule.blocks() as usize, "block");
    match verdict.rule {
        _ if pairs == 0 => format!("{blocks}; nothing here can be compared with another"),
        Rule::Fixed { .. } => format!("{blocks}, one look after the last"),
        Rule::Looks { .. } => {
            let looks: Vec<String> = verdict.rule.looks().iter().map(u32::to_string).collect();
            let looks = looks.join(", ");
            format!("at most {blocks}, looks after {looks}; contenders stop early once decided")
        }
    }
}

fn questions(plan: &RunPlan, verdict: &VerdictPlan, pairs: usize) -> String {
    let names = verdict.questions.iter().take(LISTED).map(|one| name(plan, one));
    let mut names: Vec<String> = names.collect();
    if verdict.questions.len() > LISTED {
        names.push(format!("and {} more", verdict.questions.len() - LISTED));
    }
    let with = match verdict.pairs {
        Pairs::All => String::new(),
        Pairs::Baseline { contender } => {
            format!(" with the baseline {}", label(plan, contender))
        }
    };
    format!(
        "{}, {}{with} in all: {}",
        count(verdict.questions.len(), "question"),
        count(pairs, "pair"),
        names.join(", ")
    )
}

fn name(plan: &RunPlan, question: &Question) -> String {
    let workload = plan.workloads.get(question.workload).map_or("", |work| work.name.as_str());
    question.text(workload, plan.compared_clock)
}

/// A share as `5 %` or `12.5 %`.
fn percent(share: f64) -> String {
    // To a ten-thousandth of a percent: what is behind is of the binary number.
    format!("{} %", (share * 1e6).round() / 1e4)
}
