//! Parameters of a workload with several levels: what becomes a workload, what it is called, and
//! what is refused.

use crate::rules::{TestRules, file, plan};
use fsarena_model::level_line::level_lines;
use fsarena_model::phase::Workload;
use fsarena_model::run::RunPlan;
use fsarena_plan::{Overrides, builtin, expand, from_options, parse, to_toml};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn options(workloads: &str) -> Overrides {
    Overrides {
        fs: Some("ext4,xfs".to_owned()),
        on: vec!["loop:1G".to_owned()],
        workloads: Some(workloads.to_owned()),
        ..Overrides::default()
    }
}

fn planned(overrides: &Overrides) -> Result<RunPlan, String> {
    let experiment = from_options(overrides).map_err(|error| error.to_string())?;
    expand(&experiment, overrides, &TestRules).map_err(|error| error.to_string())
}

fn named(workloads: &str) -> Result<RunPlan, String> {
    planned(&options(workloads))
}

/// The plan of a file with this workload.
fn written(workload: &str) -> Result<RunPlan, String> {
    let text = file("fs = [\"ext4\", \"xfs\"]\ndevice = \"loop:1G\"");
    plan(&text.replace("use = \"small-files\"", workload)).map_err(|error| error.to_string())
}

/// Each workload with the block size, depth and number of ops of its phases.
fn shown(plan: &RunPlan) -> String {
    let phase = |work: &Workload| {
        let of = |phase: &fsarena_model::phase::Phase| {
            let (io, bs) = (&phase.io, phase.bs_bytes);
            format!("{} bs={bs} iodepth={} ops={:?}", phase.name, io.iodepth, io.ops)
        };
        work.phases.iter().map(of).collect::<Vec<_>>().join("; ")
    };
    let line = |work: &Workload| format!("{}: {}\n", work.name, phase(work));
    plan.workloads.iter().map(line).collect()
}

#[test]
fn every_combination_of_levels_is_a_workload() {
    let plan = named("random-io:bs=4K,64K,1M:iodepth=1,16").unwrap();
    insta::assert_snapshot!(shown(&plan));
    assert_eq!(plan.workloads[2].title, "random-io with bs=64 KiB, iodepth=1");
    let lines = level_lines(&plan.workloads);
    assert_eq!(lines.len(), 2, "along bs, for each iodepth");
    assert_eq!(lines[0].levels, [(0, 4096), (2, 65536), (4, 1 << 20)]);
    assert_eq!(plan.schedule.iter().filter(|slot| slot.block == 0).count(), 6 * 2);
    let asked = &plan.verdict.as_ref().unwrap().questions;
    assert_eq!(asked.len(), 6 * 3, "each phase of each level is a question");
}

/// Names end in a number that another parameter has: nothing is to be renamed.
#[test]
fn only_the_parameter_that_names_count_is_taken_from_names() {
    let names = |workloads: &str| -> Vec<String> {
        let work = named(workloads).unwrap().workloads.remove(1);
        work.phases.into_iter().map(|phase| phase.name).collect()
    };
    let all = ["randread-1", "randread-32", "randwrite-1", "randwrite-32", "randrw-32"];
    assert_eq!(names("random-io:threads=1,2"), all);
    assert_eq!(names("random-io:bs=4K,8K"), all);
    assert_eq!(names("random-io:threads=1,2:iodepth=4"), ["randread", "randwrite", "randrw"]);
}

#[test]
fn a_range_goes_in_powers_of_two_and_a_name_may_be_that_of_fio() {
    let names = |workloads: &str| -> Vec<String> {
        named(workloads).unwrap().workloads.into_iter().map(|work| work.name).collect()
    };
    assert_eq!(
        names("random-io:blocksize=16K..64K,small-files"),
        ["random-io bs=16 KiB", "random-io bs=32 KiB", "random-io bs=64 KiB", "small-files"]
    );
    assert_eq!(
        names("small-files:numjobs=1..4:dirs=10..30 step 10").len(),
        9,
        "threads × directories"
    );
    assert_eq!(names("database:rwmixread=50..100 step 25")[2], "database rwmixread=100");
    assert_eq!(names("random-io:bs=16K"), ["random-io bs=16 KiB"], "one level too");
    assert_eq!(names("big-file:size=64M,128M")[1], "big-file size=128 MiB");
}

#[test]
fn a_file_has_the_same_levels() {
    let of_option = named("random-io:bs=4K,64K:iodepth=1..4").unwrap();
    let of_file =
        written("use = \"random-io\"\nbs = [\"4 KiB\", 65536]\niodepth = \"1..4\"").unwrap();
    assert_eq!(of_option.workloads, of_file.workloads);
    let own = written(
        "name = \"own\"\ntitle = \"mine\"\nfiles = 100\nsize = [\"1 KiB\", \"4 KiB\"]\ndirs = 10\n\
         threads = [1, 2]\nphases = [\"create\", { op = \"read\", threads = 1 }]",
    )
    .unwrap();
    let names: Vec<&str> = own.workloads.iter().map(|work| work.name.as_str()).collect();
    assert_eq!(names[3], "own size=4 KiB threads=2");
    assert_eq!(own.workloads[3].title, "mine, size=4 KiB, threads=2");
    let threads: Vec<u32> = own.workloads[3].phases.iter().map(|phase| phase.io.threads).collect();
    assert_eq!(threads, [2, 1], "what a phase says itself stays");
}

#[test]
fn what_options_say_is_written_as_a_file() {
    let overrides = options("random-io:bs=4K..16K:iodepth=1,8,small-files:dirs=10,100,database");
    let experiment = from_options(&overrides).unwrap();
    let lists = "use = \"random-io\"\nbs = [\"4K\", \"8K\", \"16K\"]\niodepth = [1, 8]\n";
    assert!(experiment.text.contains(lists), "{}", experiment.text);
    assert!(experiment.title.contains("random-io, small-files, database"), "{}", experiment.title);
    let again = parse(&to_toml(&experiment), "again.toml").unwrap();
    let values = |all: &[fsarena_plan::At<Workload>]| -> Vec<Workload> {
        all.iter().map(|one| one.value.clone()).collect()
    };
    assert_eq!(values(&again.workloads), values(&experiment.workloads));
}

#[test]
fn a_question_is_about_one_level_or_all() {
    let asked = |ask: &str, headline: &str| {
        let overrides = Overrides {
            ask: Some(ask.to_owned()),
            headline: Some(headline.to_owned()),
            ..options("random-io:bs=4K,64K")
        };
        let plan = planned(&overrides)?;
        let verdict = plan.verdict.unwrap();
        Ok::<_, String>((verdict.questions.len(), verdict.headline))
    };
    assert_eq!(asked("random-io:*", "random-io bs=64 KiB:randread-1"), Ok((10, Some(5))));
    assert_eq!(asked("random-io bs=4 KiB:randrw-32", "random-io bs=4 KiB:randrw-32").unwrap().0, 1);
    let several = asked("random-io:*", "random-io:randrw-32").unwrap_err();
    assert_eq!(
        several,
        "--headline: the headline \"random-io:randrw-32\" is more than one question; name one \
         level, such as \"random-io bs=4 KiB:randrw-32\""
    );
}

#[test]
fn levels_are_scaled_together_and_what_varies_is_not() {
    let scaled = |workloads: &str, scale: f64| {
        let overrides = Overrides { scale: Some(scale), ..options(workloads) };
        planned(&overrides).unwrap().workloads
    };
    let sizes =
        |all: &[Workload]| -> Vec<u64> { all.iter().map(|work| work.dataset.size_bytes).collect() };
    let all = scaled("random-io:bs=4K,1M:iodepth=1,64", 0.05);
    let size = all[0].dataset.size_bytes;
    assert_eq!(sizes(&all), [size; 4], "64 calls of 1 MiB are in flight in all of them");
    assert!(size >= 64 << 20 && size.is_multiple_of(1 << 20), "{size}");
    assert_eq!(sizes(&scaled("big-file:size=32M,64M", 0.1)), [32 << 20, 64 << 20]);
    let files = scaled("small-files:files=500,1000", 0.1);
    assert_eq!(files.iter().map(|work| work.dataset.files).collect::<Vec<_>>(), [500, 1000]);
    let overrides = Overrides { scale: Some(0.001), ..options("small-files:dirs=5,100") };
    let clipped = planned(&overrides).unwrap_err();
    assert!(clipped.contains("at this scale there are 10 files for dirs=100"), "{clipped}");
}

#[test]
fn what_has_no_such_level_is_refused() {
    let error = |workloads: &str| named(workloads).unwrap_err();
    let all = [
        error("random-io:width=4"),
        error("small-files:iodepth=1..8"),
        error("copy:bs=4K"),
        error("random-io:bs"),
        error("random-io:bs=4K:blocksize=8K"),
        error("random-io:bs=4K,4096"),
        error("random-io:bs=1M..4K"),
        error("random-io:bs=3K..1M"),
        error("random-io:bs=4Q"),
        error("random-io:iodepth=4K"),
        error("random-io:iodepth=5000"),
        error("random-io:bs=1G"),
        error("random-io:bs=1..1M:iodepth=1..64"),
        error("random-oi:bs=4K"),
        error("random-io:bs=4K,random-io:iodepth=1,2"),
        written("use = \"small-files\"\niodepth = [1, 2]").unwrap_err(),
        written("use = \"random-io\"\niodepth = [1, 2, 1]").unwrap_err(),
        written("use = \"metadata-calls\"\nrwmixread = [1, 2]").unwrap_err(),
        written("use = \"random-io\"\nbs = []").unwrap_err(),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// A plan without levels is what it was: nothing of it is written, and no trial knows its levels.
#[test]
fn a_workload_without_levels_is_written_as_before() {
    for name in builtin::workload_names() {
        let json = serde_json::to_string(&builtin::workload(name).unwrap()).unwrap();
        assert!(!json.contains("levels"), "{json}");
    }
    let plan = named("random-io:bs=4K,64K").unwrap();
    let trial = fsarena_plan::at_levels(&plan.workloads[0], &plan.contenders[0].levels);
    assert!(trial.levels.is_none() && plan.workloads[0].levels.is_some());
    assert_eq!(trial.name, "random-io bs=4 KiB");
}

proptest! {
    /// As many workloads as combinations, each under its own name.
    #[test]
    fn there_are_as_many_workloads_as_combinations(
        bs in proptest::sample::subsequence(vec![4u32, 8, 16, 64, 256], 1..=5),
        depths in proptest::sample::subsequence(vec![1u32, 2, 4, 16], 1..=4),
    ) {
        let list = |all: &[u32], unit: &str| {
            all.iter().map(|one| format!("{one}{unit}")).collect::<Vec<_>>().join(",")
        };
        let text = format!("random-io:bs={}:iodepth={}", list(&bs, "K"), list(&depths, ""));
        let plan = named(&text).unwrap();
        prop_assert_eq!(plan.workloads.len(), bs.len() * depths.len());
        let names: BTreeSet<&str> = plan.workloads.iter().map(|work| work.name.as_str()).collect();
        prop_assert_eq!(names.len(), plan.workloads.len());
    }
}
