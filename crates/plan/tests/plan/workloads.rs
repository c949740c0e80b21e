//! Workloads: job files, keys that are defaults, scale, and the examples.

use crate::levels::options;
use crate::rules::{TestRules, file, plan};
use fsarena_model::io::{Backend, Fsync};
use fsarena_plan::{
    Experiment, Outside, Overrides, PlanError, ReadFile, Surveyed, expand, from_options, notices,
    parse, parse_from, to_toml,
};
use std::path::Path;

const JOBS: &str = "[seq Read]\nrw=read\nsize=8m\n\n[b]\nstonewall\nrw=write\nsize=4m\n";

/// Reads an experiment that names files, and no data of the user's.
fn parse_with(text: &str, file: &str, read: ReadFile<'_>) -> Result<Experiment, PlanError> {
    let survey = |path: &Path| -> Result<Surveyed, _> { panic!("{} is surveyed", path.display()) };
    parse_from(text, file, &Outside { read, survey: &survey })
}

#[test]
fn a_job_file_lies_beside_the_experiment() {
    let read = |path: &Path| match path.to_str() {
        Some("my/jobs.fio") => Ok(JOBS.to_owned()),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    let text = file("fs = \"ext4\"\ndevice = \"loop:1G\"");
    let fio = "name = \"w\"\ntitle = \"jobs\"\nfio_file = \"jobs.fio\"";
    let text = text.replace("use = \"small-files\"", fio);
    let experiment = parse_with(&text, "my/x.toml", &read).unwrap();
    let work = &experiment.workloads[0].value;
    assert_eq!(work.fio.as_deref(), Some(JOBS));
    let names: Vec<&str> = work.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["seq Read", "b"], "as fio knows them");
    assert_eq!((work.title.as_str(), work.dataset.bytes()), ("jobs", 12 << 20));
    let again = parse(&to_toml(&experiment), "again").unwrap();
    assert_eq!(again.workloads[0].value, *work);
    let error = parse_with(&text, "x.toml", &read).unwrap_err().to_string();
    assert!(error.starts_with("x.toml:9:12: jobs.fio cannot be read"), "{error}");
    let bad = |_: &Path| Ok("[a]\nrw=read\n".to_owned());
    let error = parse_with(&text, "my/x.toml", &bad).unwrap_err().to_string();
    assert!(error.starts_with("my/jobs.fio:1:1: [a] does not say"), "{error}");
}

#[test]
fn a_job_file_is_a_workload_of_the_command_line() {
    let overrides = Overrides {
        workloads: Some("small-files,dir/My Jobs.fio".into()),
        fio_files: vec![("dir/My Jobs.fio".into(), JOBS.into())],
        ..options("ext4", &["loop:1G"])
    };
    let overrides = Overrides {
        workloads: Some("small-files,dir/My Jobs.fio".into()),
        scale: Some(0.5),
        ..overrides
    };
    assert_eq!(overrides.fio_paths(), ["dir/My Jobs.fio"]);
    let experiment = from_options(&overrides).unwrap();
    let plan = expand(&experiment, &overrides, &TestRules).unwrap();
    let work = &plan.workloads[1];
    assert_eq!((work.name.as_str(), work.dataset.bytes()), ("my-jobs", 6 << 20));
    assert!(work.fio.as_deref().is_some_and(|text| text.contains("size=4194304")));
    let again = parse(&experiment.text, "again").unwrap();
    assert_eq!(again.workloads[1].value, experiment.workloads[1].value);
}

#[test]
fn what_is_to_be_said_of_workloads() {
    let text = file("fs = \"ext4\"\ndevice = \"loop:1G\"");
    let null = text.replace("\"small-files\"", "\"small-files\"\nname = \"n\"\nbackend = \"null\"");
    let codes = |text: &str| -> Vec<String> {
        notices(&plan(text).unwrap().workloads[0], 1.0)
            .into_iter()
            .map(|notice| notice.code)
            .collect()
    };
    assert_eq!(codes(&null), ["null-backend"]);
    let timed = format!("name = \"w\"\nfio = \"\"\"\n{JOBS}runtime=5\n\"\"\"");
    assert_eq!(codes(&text.replace("use = \"small-files\"", &timed)), ["fio-runtime"]);
    assert!(codes(&text).is_empty());
}

#[test]
fn keys_of_a_workload_go_to_the_phases_that_can_take_them() {
    let text = file("fs = \"ext4\"\ndevice = \"loop:2G\"").replace(
        "use = \"small-files\"",
        "name = \"w\"\nfiles = 16\nsize = \"1M\"\ndirs = 4\nbackend = \"io_uring\"\niodepth = 8\n\
         direct = true\nfsync = \"file\"\nthreads = 2\nsharing = \"shared\"\nops = 100\n\
         rwmixread = 70\nphases = [\"create\", \"list\", \"randread\", \"randrw\", \"delete\"]",
    );
    let plan = plan(&text).unwrap();
    let lines: Vec<String> =
        plan.workloads[0].phases.iter().map(|p| format!("{:?}", p.io)).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Io { backend: IoUring, direct: true, iodepth: 8, fsync: File, threads: 2, ranks: 1, sharing: Shared, shift: 0, rate: None, stonewall_ns: None, latency_period_ns: None, ops: None, runtime_ns: None, rwmixread_percent: 50 }
    Io { backend: Sync, direct: false, iodepth: 1, fsync: None, threads: 2, ranks: 1, sharing: Own, shift: 0, rate: None, stonewall_ns: None, latency_period_ns: None, ops: None, runtime_ns: None, rwmixread_percent: 50 }
    Io { backend: IoUring, direct: true, iodepth: 8, fsync: None, threads: 2, ranks: 1, sharing: Shared, shift: 0, rate: None, stonewall_ns: None, latency_period_ns: None, ops: Some(100), runtime_ns: None, rwmixread_percent: 50 }
    Io { backend: IoUring, direct: true, iodepth: 8, fsync: File, threads: 2, ranks: 1, sharing: Shared, shift: 0, rate: None, stonewall_ns: None, latency_period_ns: None, ops: Some(100), runtime_ns: None, rwmixread_percent: 70 }
    Io { backend: IoUring, direct: false, iodepth: 8, fsync: None, threads: 2, ranks: 1, sharing: Shared, shift: 0, rate: None, stonewall_ns: None, latency_period_ns: None, ops: None, runtime_ns: None, rwmixread_percent: 50 }
    ");
}

#[test]
fn scale_leaves_each_thread_something_to_do() {
    let set = |text: &str, scale: f64| {
        let text = file("fs = \"ext4\"\ndevice = \"loop:100G\"")
            .replace("use = \"small-files\"", &format!("name = \"w\"\n{text}"));
        let overrides = Overrides { scale: Some(scale), ..Overrides::default() };
        let plan = expand(&parse(&text, "t").unwrap(), &overrides, &TestRules).unwrap();
        let work = plan.workloads[0].clone();
        let set = work.dataset;
        (set.files, set.size_bytes, set.dirs, work.phases[0].io.ops)
    };
    let small = "files = 100\nsize = 1\ndirs = 50\nthreads = 4\nphases = [\"create\"]";
    assert_eq!(set(small, 0.0001), (4, 1, 4, None));
    let big = "files = 1\nsize = \"64M\"\nthreads = 4\nphases = [{ op = \"randread\", ops = 100 }]";
    assert_eq!(set(big, 0.0001), (1, 16384, 0, Some(4)));
    let drawn = "dirs = 10\nper_dir = { uniform = { min = 0, max = 9 } }\nsize = 1\n\
                 phases = [\"create\"]";
    let (files, _, dirs, _) = set(drawn, 0.3);
    assert!(dirs == 3 && files > 0, "{files} in {dirs}");
    let whole = set(drawn, 1.0).0;
    assert!(set(drawn, 3.0).0 > 2 * whole);
    // Two files in each of the first directories leave the last thread without any.
    let uneven = "files = 32\nsize = 1\ndirs = 16\nthreads = 16\nphases = [\"create\"]";
    assert_eq!(set(uneven, 0.75), (31, 1, 16, None));
    let deep = "files = 1000\nsize = 1\nbackend = \"io_uring\"\niodepth = 64\n\
                phases = [\"create\"]";
    assert!((64..80).contains(&set(deep, 0.001).0));
    let empty = "dirs = 10\nphases = [\"mkdir\"]";
    assert_eq!(set(empty, 0.3).2, 3);
}

#[test]
fn the_examples_expand() {
    for text in [
        include_str!("../../../../experiments/examples/bcachefs.toml"),
        include_str!("../../../../experiments/examples/distributions.toml"),
        include_str!("../../../../experiments/examples/ext4-journal.toml"),
        include_str!("../../../../experiments/examples/fio.toml"),
        include_str!("../../../../experiments/examples/fuse2fs.toml"),
        include_str!("../../../../experiments/examples/second-load.toml"),
        include_str!("../../../../experiments/examples/ssd.toml"),
        include_str!("../../../../experiments/examples/zfs.toml"),
    ] {
        if let Err(error) = plan(text) {
            panic!("{error}");
        }
    }
}

#[test]
fn keys_beside_use_change_every_phase_that_can_take_them() {
    let text = file("fs = \"ext4\"\ndevice = \"loop:2G\"").replace(
        "use = \"small-files\"",
        "use = \"random-io\"\nname = \"w\"\nbackend = \"sync\"\niodepth = 1\nthreads = 4\nops = 50\n\
         [[workload]]\nuse = \"small-files\"\nname = \"v\"\nfsync = \"end\"\nfiles = 500",
    );
    let plan = plan(&text).unwrap();
    for phase in &plan.workloads[0].phases {
        assert!(phase.io.direct && phase.io.backend == Backend::Sync, "{phase:?}");
        assert_eq!((phase.io.iodepth, phase.io.threads, phase.io.ops), (1, 4, Some(50)));
    }
    let small = &plan.workloads[1];
    let synced: Vec<&str> = small
        .phases
        .iter()
        .filter(|phase| phase.io.fsync == Fsync::End)
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!((synced, small.dataset.dirs), (vec!["create", "delete"], 100));
    let error = crate::rules::plan(&text.replace("iodepth = 1\n", "")).unwrap_err().to_string();
    assert!(error.starts_with("t.toml:6:1: iodepth 32 with backend \"sync\""), "{error}");
}
