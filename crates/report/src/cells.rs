//! The words of the cells of our tables, for documents that lay their tables out themselves.

pub use crate::phases::{absence, phase_title, row_label, row_notes, trials};
pub use crate::verdict::words::{level, metric, ratio, ratio_and_interval};
pub use crate::words::{Scale, bytes, count, cpu, digits, grouped, ns, seconds, utc};
