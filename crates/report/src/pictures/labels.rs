//! What charts share: their ids, keys, units and words of their descriptions.

use crate::context::SectionContext;
use crate::labels::row_label;
use fsarena_chart::Key;
use fsarena_study::{PhaseRow, PhaseTable};

/// Id of a chart of a phase: by the numbers of its workload and, within that, of the phase.
pub(crate) fn phase_id(context: &SectionContext<'_>, table: &PhaseTable, kind: &str) -> String {
    phase_id_of(context, (&table.workload, &table.phase), kind)
}

/// The same by the names of workload and phase.
pub(crate) fn phase_id_of(
    context: &SectionContext<'_>,
    (workload, phase): (&str, &str),
    kind: &str,
) -> String {
    let tables = &context.run.study.tables;
    let mut of_workload = tables.iter().filter(|other| other.workload == workload);
    let phase = of_workload.position(|other| other.phase == phase).map_or(0, |at| at + 1);
    format!("{}-p{phase}-{kind}", workload_id(context, workload))
}

/// What ids of charts of a workload begin with.
pub(crate) fn workload_id(context: &SectionContext<'_>, name: &str) -> String {
    let mut known = context.run.header.plan.workloads.iter();
    let workload = known.position(|workload| workload.name == name).map_or(0, |at| at + 1);
    format!("{}-w{workload}", context.prefix)
}

/// A contender in its colour.
pub(crate) fn key(contender: usize, label: impl Into<String>) -> Key {
    Key { label: label.into(), hue: contender }
}

/// A row of a table in its colour; warm is said where there are cold rows too.
pub(crate) fn row_key(table: &PhaseTable, row: &PhaseRow) -> Key {
    key(row.contender, row_label(table, row))
}

/// A unit that values of one chart or column share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Unit {
    /// Name.
    pub(crate) name: &'static str,
    /// Of how many base units it is.
    pub(super) size: f64,
}

impl Unit {
    /// For lengths, by the longest of them: ns, µs, ms or s.
    pub(crate) fn of_ns(longest_ns: u64) -> Self {
        let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
        Self::largest(&units, longest_ns).unwrap_or(Self { name: "ns", size: 1.0 })
    }

    /// For sizes, by the largest of them: B to GiB.
    pub(crate) fn of_bytes(most_bytes: u64) -> Self {
        let units = [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0)];
        Self::largest(&units, most_bytes).unwrap_or(Self { name: "B", size: 1.0 })
    }

    fn largest(units: &[(&'static str, f64)], most: u64) -> Option<Self> {
        let mut units = units.iter().map(|&(name, size)| Self { name, size });
        units.find(|unit| most as f64 >= unit.size)
    }

    /// A value in this unit.
    pub(crate) fn convert(self, base: f64) -> f64 {
        base / self.size
    }
}

/// The least and the largest of these, in words: `least xfs 1.20 s, most ext4 1.31 s`.
pub(crate) fn ends<'a>(values: impl Iterator<Item = (&'a str, f64, String)>) -> String {
    let mut values: Vec<(&str, f64, String)> =
        values.filter(|(_, value, _)| value.is_finite()).collect();
    values.sort_by(|a, b| a.1.total_cmp(&b.1));
    match values.as_slice() {
        [] => "no value".to_owned(),
        [(label, _, text)] => format!("{label} {text}"),
        [first, .., last] => format!("least {} {}, most {} {}", first.0, first.2, last.0, last.2),
    }
}

/// At most so many characters of a text, with an ellipsis where some are left out.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::three;

    #[test]
    fn units_fit_the_largest_value() {
        assert_eq!(three(Unit::of_ns(1_240_000_000).convert(1.24e9)), "1.24");
        assert_eq!(Unit::of_ns(1_240_000_000).name, "s");
        assert_eq!((Unit::of_ns(999_000_000).name, Unit::of_ns(12_000).name), ("ms", "µs"));
        let seconds = Unit::of_ns(1_240_000_000);
        let text = |value| three(seconds.convert(value));
        assert_eq!([text(2.7e7), text(5.0e8)], ["0.0270", "0.500"]);
        assert_eq!((Unit::of_ns(3).name, Unit::of_bytes(3).name), ("ns", "B"));
        assert_eq!(three(Unit::of_bytes(5 << 20).convert(f64::from(5 << 20))), "5.00");
    }

    #[test]
    fn ends_are_named() {
        let of = |values: &[(&'static str, f64)]| {
            ends(values.iter().map(|&(label, value)| (label, value, format!("{value} s"))))
        };
        assert_eq!(of(&[("a", 2.0), ("b", 1.0), ("c", 3.0)]), "least b 1 s, most c 3 s");
        assert_eq!((of(&[("a", 2.0)]), of(&[])), ("a 2 s".into(), "no value".into()));
    }

    #[test]
    fn long_texts_are_cut_at_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äö…");
    }
}
