//! The study of stored records: verdicts, comparisons, tables and what explains them.

mod compare;
mod cycles;
mod engine;
mod fairness;
mod programs;
mod study;
mod views;
