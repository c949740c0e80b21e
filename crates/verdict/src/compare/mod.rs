//! Several RUNs side by side, where machines, boots or RUNs are the units and not the blocks
//! inside them.
//!
//! What a RUN says of two contenders holds for that machine in that boot. Whether it holds for
//! further machines or boots can only be told from several of them: each gives one number from its
//! own blocks, and these numbers are the sample. Two never speak for a third, so that fewer than
//! [`LEAST_UNITS`] are UNDECIDED. Absolute figures are compared within one machine only.
//!
//! * [`forest`]: the same pairs of contenders in several RUNs.
//! * [`sides`]: the same contenders before and after something was changed on one machine.
//! * [`only`]: what one RUN says, of what is asked here.

mod family;
mod forest;
mod one;
mod question;
mod run;
mod sides;

pub use forest::{Forest, ForestPair, ForestQuestion, ForestRow, Without, forest};
pub use one::only;
pub use question::{ALPHA, Ask, CompareError, LEAST_UNITS, QuestionName};
pub use run::machine_line;
pub use run::{Facts, RunOf, Unit, UnitRow};
pub use sides::{Change, SideRow, Sides, SidesQuestion, UnitValue, sides};
