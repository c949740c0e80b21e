//! The study of stored records: verdicts, comparisons, tables and what explains them.

mod compare;
mod cycles;
mod engine;
mod explained;
mod fairness;
mod looks;
mod programs;
mod study;
mod verdict;
mod views;
