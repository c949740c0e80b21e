//! Who takes the place of a file system that this machine does not have.
//!
//! An experiment that everybody shall be able to run says it once (`[stand_in]`). Whoever cannot be
//! run stays in the plan and is listed with its reason; the other one is a contender like any.

use crate::error::{At, PlanError, nearest};
use crate::experiment::{Experiment, Factors, StandIn};
use crate::fs_entry::{self, FsEntry};
use std::collections::BTreeMap;

/// Reads the table.
///
/// # Errors
/// A name that is not in `fs`, or stands there already.
pub(crate) fn stand_ins(
    written: BTreeMap<String, At<String>>,
    factors: &Factors,
) -> Result<Vec<StandIn>, PlanError> {
    let listed: Vec<&str> = factors.fs.iter().map(|fs| fs.value.level.name.as_str()).collect();
    let read = |(missing, instead): (String, At<String>)| {
        if !listed.contains(&missing.as_str()) {
            let near = nearest(&missing, &listed).map(|near| format!("did you mean {near:?}? "));
            let what = format!("`stand_in.{missing}`, and {missing} is not in `factors.fs`");
            let remedy = format!("{}name one of {}", near.unwrap_or_default(), listed.join(", "));
            return Err(PlanError::new(&instead.place, what, remedy));
        }
        let entry = fs_entry::fs_entry(&instead.value, &instead.place)?;
        if listed.contains(&entry.level.name.as_str()) {
            let what = format!("{:?} stands in and is in `factors.fs` too", instead.value);
            return Err(PlanError::new(&instead.place, what, "name another file system"));
        }
        Ok(StandIn { missing, instead: At::new(entry, &instead.place) })
    };
    written.into_iter().map(read).collect()
}

/// The experiment with a stand-in for each of the file systems `missing` that has one; none where
/// nobody has to stand in.
#[must_use]
pub fn with_stand_ins(experiment: &Experiment, missing: &[String]) -> Option<Experiment> {
    let is_missing = |one: &&StandIn| missing.contains(&one.missing);
    let mut changed = experiment.clone();
    for one in experiment.stand_ins.iter().filter(is_missing) {
        let listed = |fs: &At<FsEntry>| fs.value.level.name == one.instead.value.level.name;
        if !changed.factors.fs.iter().any(listed) {
            changed.factors.fs.push(one.instead.clone());
        }
    }
    (changed.factors.fs.len() > experiment.factors.fs.len()).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn file(stand_in: &str) -> String {
        format!(
            "schema = 1\nname = \"e\"\n[factors]\nfs = [\"ext4\", \"xfs\", \"btrfs\"]\n\
             device = \"loop:1G\"\n[stand_in]\n{stand_in}\n[[workload]]\nuse = \"small-files\"\n"
        )
    }

    fn names(experiment: &Experiment) -> Vec<&str> {
        experiment.factors.fs.iter().map(|fs| fs.value.text.as_str()).collect()
    }

    #[test]
    fn who_is_missing_stays_and_another_is_added() {
        let experiment = parse(&file("xfs = \"ext3\"\nbtrfs = \"ext2\""), "t").unwrap();
        assert_eq!(with_stand_ins(&experiment, &[]), None);
        assert_eq!(with_stand_ins(&experiment, &["ext4".to_owned()]), None);
        let one = with_stand_ins(&experiment, &["btrfs".to_owned()]).unwrap();
        assert_eq!(names(&one), ["ext4", "xfs", "btrfs", "ext2"]);
        let both = with_stand_ins(&experiment, &["btrfs".to_owned(), "xfs".to_owned()]).unwrap();
        assert_eq!(names(&both), ["ext4", "xfs", "btrfs", "ext2", "ext3"]);
        let again = parse(&crate::to_toml(&experiment), "t").unwrap();
        assert_eq!(again.stand_ins.len(), 2);
    }

    #[test]
    fn who_cannot_stand_in_is_said_at_its_place() {
        let refused = |text: &str| parse(&file(text), "t").unwrap_err().to_string();
        let unknown = refused("xsf = \"ext3\"");
        assert!(
            unknown.contains("t:7:7") && unknown.contains("did you mean \"xfs\"?"),
            "{unknown}"
        );
        let listed = refused("xfs = \"ext4\"");
        assert!(listed.contains("name another file system"), "{listed}");
    }
}
