//! Titles of workloads with the numbers of the plan in them: a title that says 5,000 files where
//! `--scale` made 500 misleads.
//!
//! In a title `{files}`, `{dirs}`, `{size}`, `{bytes}` and `{ops}` stand for numbers of the
//! workload as it is run; `{ops}` for a time, where the clock ends them. A title without any of
//! them is taken as it is, and says the scale where there is one.

use fsarena_model::phase::{Phase, Workload};
use fsarena_model::units::{Bytes, Nanos, grouped};

/// The title of a workload as it is run at `scale`.
#[must_use]
pub fn shown_title(workload: &Workload, scale: f64) -> String {
    let mut title = workload.title.clone();
    for (mark, text) in marks(workload) {
        if title.contains(mark) {
            title = title.replace(mark, &text);
        }
    }
    match title == workload.title && scale != 1.0 {
        true => at_scale(&title, scale),
        false => title,
    }
}

/// A title that holds no numbers of the plan, with the scale where there is one.
#[must_use]
pub fn at_scale(title: &str, scale: f64) -> String {
    if scale == 1.0 { title.to_owned() } else { format!("{title}, at scale {scale}") }
}

/// Each mark with what stands for it.
fn marks(workload: &Workload) -> [(&'static str, String); 5] {
    let set = &workload.dataset;
    let (files, bytes) = match &workload.source {
        Some(source) => (source.contents.files, source.contents.bytes),
        None => (set.files, set.bytes()),
    };
    let of_time = |phase: &Phase| Some(format!("{} of", Nanos(phase.io.runtime_ns?)));
    let of_number = |phase: &Phase| phase.io.ops.map(grouped);
    let ops = workload.phases.iter().find_map(|phase| of_number(phase).or_else(|| of_time(phase)));
    [
        ("{files}", counted(files, "file", "files")),
        ("{dirs}", counted(set.dirs, "directory", "directories")),
        ("{size}", Bytes(set.size_bytes).to_string()),
        ("{bytes}", Bytes(bytes).to_string()),
        ("{ops}", ops.unwrap_or_else(|| grouped(files))),
    ]
}

fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::builtin;
    use fsarena_model::dataset::Dataset;

    #[test]
    fn numbers_of_a_title_are_those_of_the_plan() {
        let mut work = builtin("small-files").unwrap();
        assert_eq!(shown_title(&work, 1.0), "10,000 files of 4 KiB in 100 directories");
        work.dataset = Dataset::uniform(1, 4096, 1);
        assert_eq!(shown_title(&work, 0.0001), "1 file of 4 KiB in 1 directory");
    }

    #[test]
    fn ops_of_a_runtime_are_told_by_the_time() {
        let mut work = builtin("fsync-latency").unwrap();
        let by_number = shown_title(&work, 1.0);
        for phase in &mut work.phases {
            (phase.io.ops, phase.io.runtime_ns) = (None, Some(90_000_000_000));
        }
        let rest = by_number.split_once(' ').unwrap().1;
        let time = Nanos(90_000_000_000);
        assert_eq!(shown_title(&work, 1.0), format!("{time} of {rest}"));
    }

    #[test]
    fn a_title_without_numbers_says_the_scale() {
        let mut work = builtin("small-files").unwrap();
        work.title = "mine".to_owned();
        assert_eq!(shown_title(&work, 1.0), "mine");
        assert_eq!(shown_title(&work, 0.1), "mine, at scale 0.1");
    }

    #[test]
    fn every_mark_of_a_title_of_ours_is_known() {
        for name in crate::embedded::workload_names() {
            let title = shown_title(&builtin(name).unwrap(), 0.1);
            assert!(!title.contains('{'), "{title}");
        }
    }
}
