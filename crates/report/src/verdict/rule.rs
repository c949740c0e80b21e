//! By which rule it was decided: looks, cap, margin, budget, blocks, how it ended.

use super::question::list;
use crate::section::Block;
use crate::verdict::text::{blocks, listed, margin};
use fsarena_model::units::Nanos;
use fsarena_model::verdict::{Rule, StopWhy, Verdict};
use fsarena_verdict::{RerunBlock, Verdicts};

/// The rule, and what became of the blocks.
pub(super) fn section_blocks(verdicts: &Verdicts) -> Vec<Block> {
    let mut blocks = vec![Block::Text(format!("Rule: {}. {}", rule(verdicts), course(verdicts)))];
    if verdicts.agrees_with_stored_looks == Some(false) {
        let warning = "what the looks decided when they were taken is not what the stored trials \
                       say now.";
        blocks.push(Block::Warning(warning.to_owned()));
    }
    let again = |one: &RerunBlock| format!("block {}: {}", one.block, one.why);
    let counts = |one: &RerunBlock| format!("{}; counted, no spare block left", again(one));
    let rerun = verdicts.rerun.iter().map(again).collect();
    let not_rerun = verdicts.not_rerun.iter().map(counts).collect();
    blocks.push(list("Blocks that were run again", rerun));
    blocks.push(list("Blocks that should have been run again", not_rerun));
    blocks
}

/// What was fixed before block 1.
pub(super) fn rule(verdicts: &Verdicts) -> String {
    let looks = match verdicts.rule {
        Rule::Looks { .. } => {
            let looks: Vec<String> = verdicts.rule.looks().iter().map(u32::to_string).collect();
            format!("looks after {} blocks; contenders stop early once decided", listed(&looks))
        }
        Rule::Fixed { blocks: n } => format!("one look, after {}", blocks(u64::from(n))),
    };
    let budget = match verdicts.budget_ns {
        Some(budget_ns) => format!("budget {}", Nanos(budget_ns)),
        None => "no budget".to_owned(),
    };
    format!("{looks}; margin {}; {budget}; method {}", margin(verdicts.margin), verdicts.method)
}

/// What became of it.
pub(super) fn course(verdicts: &Verdicts) -> String {
    let rerun = match verdicts.rerun.len() {
        0 => String::new(),
        n => format!(", {n} run again for a reason that no score is seen in"),
    };
    let (done, counted) = (verdicts.blocks_done, verdicts.blocks_counted);
    let ended = match verdicts.stop.map(|stop| stop.why) {
        None => "not at its end: not all blocks were carried out".to_owned(),
        Some(StopWhy::Decided) if is_open(verdicts) => {
            "ended because no contender was left that could still be decided".to_owned()
        }
        Some(StopWhy::Decided) => "ended because all that was asked is decided".to_owned(),
        Some(StopWhy::Cap) => "ended with the last block of the plan".to_owned(),
        Some(StopWhy::Budget) => {
            "ended because the next block would not have ended within the budget".to_owned()
        }
    };
    let last = last_look(verdicts);
    let last = last.map(|n| format!(", last analysis after {}", blocks(u64::from(n))));
    let last = last.unwrap_or_default();
    let stored = match verdicts.agrees_with_stored_looks {
        Some(true) => " Recomputed decisions match the stored ones.",
        Some(false) | None => "",
    };
    format!("{} done, {counted} counted{rerun}; {ended}{last}.{stored}", blocks(u64::from(done)))
}

/// Whether something that was asked is not decided: of contenders that gave no figures.
fn is_open(verdicts: &Verdicts) -> bool {
    let mut pairs = verdicts.questions.iter().flat_map(|question| &question.pairs);
    pairs.any(|pair| pair.verdict == Verdict::Undecided)
}

/// The last look where the rule does not name it: it was taken as the budget ended. All questions
/// are looked at together.
fn last_look(verdicts: &Verdicts) -> Option<u32> {
    let looks = &verdicts.questions.first()?.looks;
    let due = verdicts.rule.looks().into_iter().filter(|&look| look <= verdicts.blocks_counted);
    let last = looks.last().copied();
    last.filter(|_| !due.eq(looks.iter().copied()))
}
