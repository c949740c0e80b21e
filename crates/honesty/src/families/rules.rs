//! The rules of a RUN that are played, as its plan would say them.

use fsarena_model::verdict::Rule;
use serde::Serialize;

/// Blocks at most where nothing else is said.
const CAP: u32 = 32;
/// Numbers of blocks that a budget ends a RUN after.
const BUDGET_ENDS: [u32; 6] = [5, 6, 8, 10, 14, 20];
/// Numbers of blocks with one look.
const FIXED: [u32; 4] = [4, 6, 8, 10];

/// The rule of `quick`: one look after as many blocks as fit into its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct Quick {
    /// Fewest blocks.
    pub least: u32,
    /// Most blocks, at most [`longest_play`].
    pub most: u32,
    pub budget_s: u32,
}

impl Quick {
    /// Its course.
    #[must_use]
    pub fn course(self) -> Course {
        let rule = Rule::Fit { least: self.least, most: self.most.min(CAP) };
        let budget_ns = Some(u64::from(self.budget_s) * 1_000_000_000);
        Course { rule, budget_ns, budget_ends: Vec::new() }
    }
}

/// A way to plan and to end a RUN.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct FamilyRule {
    /// Its name in documents.
    pub key: String,
    pub name: String,
    /// What it does, in one line.
    pub legend: String,
    /// Whether too many false verdicts of it are a failure: it is what fsarena does by default.
    pub is_gate: bool,
}

/// A rule of the plan, with the blocks after which a budget may end the RUN: one play serves all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Course {
    pub(super) rule: Rule,
    /// Of [`Rule::Fit`].
    pub(super) budget_ns: Option<u64>,
    /// Blocks after which a budget ends the RUN, ascending.
    pub(super) budget_ends: Vec<u32>,
}

impl Course {
    /// The rules that it plays: without a budget, then one for each end.
    #[must_use]
    pub fn rules(&self) -> Vec<FamilyRule> {
        let mut rules = vec![without_budget(self.rule, self.budget_ns)];
        rules.extend(self.budget_ends.iter().map(|&blocks| by_budget(blocks)));
        rules
    }
}

fn without_budget(rule: Rule, budget_ns: Option<u64>) -> FamilyRule {
    match rule {
        Rule::Looks { cap } => {
            let looks: Vec<String> = rule.looks().iter().map(ToString::to_string).collect();
            FamilyRule {
                key: "looks".to_owned(),
                name: format!("looks, cap {cap}"),
                legend: format!("looks after {} blocks; who is decided leaves", looks.join(", ")),
                is_gate: cap == CAP,
            }
        }
        Rule::Fixed { blocks } => FamilyRule {
            key: format!("runs-{blocks}"),
            name: format!("--runs {blocks}"),
            legend: format!("one look after {blocks} blocks"),
            is_gate: false,
        },
        Rule::Fit { least, most } => FamilyRule {
            key: "quick".to_owned(),
            name: "quick".to_owned(),
            legend: format!(
                "one look after as many blocks as fit into {} s, {least} to {most}, by the time \
                 that blocks take",
                budget_ns.unwrap_or(0) / 1_000_000_000
            ),
            is_gate: true,
        },
    }
}

fn by_budget(blocks: u32) -> FamilyRule {
    FamilyRule {
        key: format!("budget-{blocks}"),
        name: format!("budget at {blocks}"),
        legend: format!("the same looks; a budget ends the RUN after {blocks} blocks"),
        is_gate: false,
    }
}

/// Everything that is played.
#[must_use]
pub fn courses(quick: Quick) -> Vec<Course> {
    let looks = Course {
        rule: Rule::Looks { cap: CAP },
        budget_ns: None,
        budget_ends: BUDGET_ENDS.to_vec(),
    };
    let mut all = vec![looks, quick.course()];
    all.extend(FIXED.map(one_look));
    all
}

/// One look after `blocks` blocks.
#[must_use]
pub fn one_look(blocks: u32) -> Course {
    Course { rule: Rule::Fixed { blocks }, budget_ns: None, budget_ends: Vec::new() }
}

/// Most blocks that any of them takes.
#[must_use]
pub const fn longest_play() -> usize {
    CAP as usize
}
