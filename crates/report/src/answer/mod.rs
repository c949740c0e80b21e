//! The answer of a RUN, on one screen: plain data (`model`), what it is made from (`build`), its
//! sentences (`sentences`, `crossings`, `cautions`), and how a terminal shows it (`text`, `grid`).
//!
//! One model for the terminal, the page and JSON: who says "faster" says it by the same figures
//! everywhere. Nothing is decided here, and nothing here is computed that the verdicts have.

mod build;
mod cautions;
mod course;
pub(crate) mod crash;
mod crossings;
mod grid;
mod model;
pub(crate) mod sentences;
mod shares;
mod text;
mod then;

pub use build::{answer, baselines};
pub use model::{
    Answer, AnswerCell, AnswerColumn, AnswerHead, AnswerRow, Caution, Mark, NotRunGroup,
    RunProgress, Undecided,
};
pub use text::answer_text;
