//! The honesty harness: what a rule says of a difference that is not there, and of one whose size
//! is known.
//!
//! A [`Tape`] holds consecutive whole trials of one unchanged configuration. A [`Rule`] takes slots
//! of it in order, calls each A or B as its schedule has it, stops when its own rule says so and
//! gives a verdict. Where nothing was done to B, every FASTER and SLOWER is false; where the values
//! of B were multiplied, the truth is that factor. All rules play on the same tape from the same
//! starting slots, and everything follows from one seed.
//!
//! Pure: nothing here reads a file, a clock or the machine.

mod facts;
mod figures;
mod replay;
mod rules;
mod slots;
mod tape;

pub use facts::TapeFacts;
pub use figures::{EffectFigures, FALSE_PER_THOUSAND, Rate, RuleFigures, binomial_bounds};
pub use replay::{Config, EFFECTS, Replayed, longest_window, replay, trials_needed};
pub use rules::{Rule, RuleRun, all as all_rules, ours};
pub use slots::{Label, Slots};
pub use tape::{LeftOut, Tape, TapeError, tapes};
