//! How text is to look: width, colour, bars, how rates are written, how much is said.

use fsarena_model::run::RateStyle;

/// How text looks, beside its width (which every function takes in columns; less than
/// [`MIN_WIDTH`] is taken as that).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether headings and warnings carry ANSI colour; the caller knows the terminal and
    /// `NO_COLOR`.
    pub colour: bool,
    /// Whether bars of block characters stand beside figures; the caller knows the terminal.
    pub bars: bool,
    /// How rates are written; `None` takes what the RUN's plan says.
    pub rate: Option<RateStyle>,
}

/// Narrowest layout.
pub const MIN_WIDTH: usize = 80;

/// How much is said of verdicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// What stands after a RUN: the headline, rankings, what the watchers found, the rule, and
    /// where the rest is printed.
    Brief,
    /// Pairs in words and what differences are due to as well. With more than six contenders only
    /// pairs that are not decided or stand side by side.
    Full,
    /// As [`Detail::Full`], with every pair.
    AllPairs,
}
