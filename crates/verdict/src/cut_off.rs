//! A RUN that its budget ended before it had done what was planned: what was planned, what was
//! done, and what is left. It must not look like one that came to its end.

use fsarena_model::units::Nanos;
use fsarena_model::verdict::{Rule, StopWhy};
use std::fmt;

/// How far a RUN came that its budget ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutOff {
    /// Blocks that were planned: their number, or the most there could be.
    pub planned: u32,
    /// Whether fewer might have been enough.
    pub is_most: bool,
    /// Blocks that were done and count.
    pub done: u32,
    /// The budget.
    pub budget_ns: Option<u64>,
}

impl CutOff {
    /// Of a RUN that ended for this reason, was to have at most `planned` blocks that count, and
    /// has `done`.
    pub(crate) fn new(
        why: StopWhy,
        rule: Rule,
        budget_ns: Option<u64>,
        (planned, done): (u32, u32),
    ) -> Option<Self> {
        let is_most = matches!(rule, Rule::Looks { .. });
        let cut_off = Self { planned, is_most, done, budget_ns };
        (why == StopWhy::Budget && done < planned).then_some(cut_off)
    }
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { planned, done, .. } = *self;
        f.write_str("cut off by its budget")?;
        if let Some(budget_ns) = self.budget_ns {
            write!(f, " of {}", Nanos(budget_ns))?;
        }
        let most = if self.is_most { "at most " } else { "" };
        write!(f, ": {done} of {most}{planned} blocks done, {} left", planned.saturating_sub(done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_done_and_left() {
        let cut_off =
            CutOff { planned: 9, is_most: false, done: 7, budget_ns: Some(240_000_000_000) };
        let said = "cut off by its budget of 4m00s: 7 of 9 blocks done, 2 left";
        assert_eq!(cut_off.to_string(), said);
        let open = CutOff { planned: 32, is_most: true, budget_ns: None, ..cut_off };
        let said = "cut off by its budget: 7 of at most 32 blocks done, 25 left";
        assert_eq!(open.to_string(), said);
    }
}
