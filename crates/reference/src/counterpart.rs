//! What a row or column of a published table is of, where a contender of today can be the same, and
//! what can be told of two of them.

use crate::article::Article;
use crate::figures::{CLOCK_S, Interval};
use crate::judgement::TOLERANCE;

/// What was compared in an article, as far as it can be compared again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterpart {
    /// As the drivers of file systems are called.
    pub file_system: String,
    /// A mount option that was varied.
    pub mount: Option<String>,
    /// Machine, system or device that it was measured on: what has the same was measured alike.
    pub beside: String,
}

impl Article {
    /// What a heading of its table is of; nothing where it is of a machine, a disk or a file system
    /// whose options have no equal.
    #[must_use]
    pub fn counterpart(&self, head: &str) -> Option<Counterpart> {
        let (file_system, mount, beside) = match self.year {
            2003 => {
                let (name, system) = head.strip_suffix(')')?.split_once(" (")?;
                (name.to_owned(), None, system)
            }
            2008 => {
                let (machine, name) = head.rsplit_once(' ')?;
                (name.to_owned(), None, machine)
            }
            2010 => {
                let (mode, device) = head.split_once(", ")?;
                ("ext4".to_owned(), Some(format!("data={}", mode.to_lowercase())), device)
            }
            _ => return None,
        };
        Some(Counterpart { file_system, mount, beside: beside.to_owned() })
    }

    /// How many times as fast the first of two values of a test in this unit is as the second,
    /// where that can be told: from the tolerance on, whatever a clock of whole
    /// seconds has cut off.
    #[must_use]
    pub fn times_as_fast(&self, unit: &str, first: f64, second: f64) -> Option<f64> {
        let off = match self.year {
            2008 | 2010 => CLOCK_S,
            _ => 0.0,
        };
        let of = |value| Interval::about(value, off);
        let ratio =
            if unit == "s" { of(second).over(of(first)) } else { of(first).over(of(second)) };
        let differs = ratio.low >= 1.0 + TOLERANCE || ratio.high <= 1.0 / (1.0 + TOLERANCE);
        (differs && ratio.value.is_finite() && ratio.value > 0.0).then_some(ratio.value)
    }
}

#[cfg(test)]
mod tests {
    use crate::study;

    #[test]
    fn headings_are_of_file_systems_and_what_was_beside_them() {
        let of = |year, head| study(year).unwrap().counterpart(head);
        let found = of(2003, "ext3 (Linux)").unwrap();
        assert_eq!((found.file_system.as_str(), found.beside.as_str()), ("ext3", "Linux"));
        let found = of(2008, "AMD Zenwalk tmpfs").unwrap();
        assert_eq!((found.file_system.as_str(), found.beside.as_str()), ("tmpfs", "AMD Zenwalk"));
        let found = of(2010, "Ordered, HDD").unwrap();
        assert_eq!((found.mount.as_deref(), found.beside.as_str()), (Some("data=ordered"), "HDD"));
        assert_eq!(of(2005, "AMD64 3200+, SATA, UFS2, FreeBSD 6"), None);
    }

    #[test]
    fn a_tie_of_whole_seconds_tells_nothing() {
        let article = study(2010).unwrap();
        assert_eq!(article.times_as_fast("s", 8.0, 8.0), None);
        assert_eq!(article.times_as_fast("s", 2.0, 4.0), None, "1 to 5 times");
        assert!(article.times_as_fast("s", 6.0, 10.0).is_some_and(|ratio| ratio > 1.6));
        let article = study(2003).unwrap();
        assert_eq!(article.times_as_fast("KB/s", 26_529.89, 26_445.70), None);
        assert!(article.times_as_fast("KB/s", 372.02, 127.03).is_some_and(|ratio| ratio > 2.9));
    }
}
