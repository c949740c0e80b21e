//! Gates: how often the shipped rule is wrong, on simulated RUNs of which the truth is known.
//!
//! Every gate is seeded, so its figures are the same each time; `-- --nocapture` prints them. The
//! noises are those of the method's own tables. A gate that fails says that a change to the rule
//! made it dishonest: change the rule, not the gate.

#![allow(clippy::unwrap_used, reason = "a gate may fail by it")]

mod coverage;
mod families;
mod noise;
mod rate;
mod rule;
mod sequential;
mod shapes;
