//! The list of all metrics: name, unit, kind and meaning.
//!
//! A source is added by its own file and one line in `SOURCES`. Names are stored in databases: they
//! are never reused for another meaning. The order is no promise; an index is valid only within
//! one running program.

use crate::source::{Metric, Registration};
use crate::{block, cgroup, load, meminfo, stat, vmstat, worker};
use std::sync::LazyLock;

/// All sources.
pub(crate) const SOURCES: &[Registration] = &[
    stat::SOURCE,
    block::SOURCE,
    worker::SOURCE,
    vmstat::SOURCE,
    meminfo::SOURCE,
    load::SOURCE,
    cgroup::SOURCE,
];

/// All metrics; [`crate::Snapshot::values`] is in this order.
#[must_use]
pub fn catalog() -> &'static [Metric] {
    static ALL: LazyLock<Vec<Metric>> =
        LazyLock::new(|| SOURCES.iter().flat_map(|source| source.metrics).copied().collect());
    &ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_end_in_their_unit() {
        let names: BTreeSet<_> = catalog().iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), catalog().len());
        for metric in catalog() {
            for unit in ["ns", "bytes"] {
                let by_name = metric.name.ends_with(&format!("_{unit}"));
                assert_eq!(by_name, metric.unit == unit, "{}: unit {}", metric.name, metric.unit);
            }
            assert!(
                metric.doc.contains("/proc")
                    || metric.doc.contains("/sys")
                    || metric.doc.contains("memory."),
                "{}: doc names no source",
                metric.name
            );
        }
    }
}
