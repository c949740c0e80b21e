//! Axes, legal combinations, labels and identities.

use crate::rules::{TestRules, file, labels, plan};
use fsarena_model::contender::{AskedBy, Cache, Contender, DeviceLevel};
use fsarena_model::device::{QueueLevel, SsdPolicy};
use fsarena_model::factor::LIVES_IN_LIMITED_MEMORY;
use fsarena_plan::{Overrides, apply, builtin, expand, from_options, notes_of, parse, to_toml};
use proptest::prelude::*;
use std::collections::BTreeSet;

pub fn options(fs: &str, on: &[&str]) -> Overrides {
    Overrides {
        fs: Some(fs.to_owned()),
        on: on.iter().map(|text| (*text).to_owned()).collect(),
        workloads: Some("small-files".to_owned()),
        runs: Some("5".to_owned()),
        seed: Some(7),
        ..Overrides::default()
    }
}

#[test]
fn a_list_is_an_axis() {
    let plan = plan(&file(
        "fs = [\"ext4\", \"xfs:noatime\", \"tmpfs\"]\ndevice = [\"loop:2G\", \"ram:2G\"]\n\
         cache = [\"cold\", \"warm\"]\n[factors.ext4]\nmkfs.block_size = [1024, \"default\"]\n\
         mount = [\"defaults\", \"dax\"]",
    ))
    .unwrap();
    insta::assert_snapshot!(labels(&plan), @r#"
    ext4 block_size=1024 on loop:2G cold
    ext4 block_size=1024 on loop:2G warm
    ext4 block_size=1024 on ram:2G cold
    ext4 block_size=1024 on ram:2G warm
    ext4 block_size=1024 dax on loop:2G cold
        not run: dax needs blocks of 4096 B; use mkfs.block_size=4096
    ext4 block_size=1024 dax on loop:2G warm
        not run: dax needs blocks of 4096 B; use mkfs.block_size=4096
    ext4 block_size=1024 dax on ram:2G cold
        not run: dax needs blocks of 4096 B; use mkfs.block_size=4096
    ext4 block_size=1024 dax on ram:2G warm
        not run: dax needs blocks of 4096 B; use mkfs.block_size=4096
    ext4 on loop:2G cold
    ext4 on loop:2G warm
    ext4 on ram:2G cold
    ext4 on ram:2G warm
    ext4 dax on loop:2G cold
    ext4 dax on loop:2G warm
    ext4 dax on ram:2G cold
    ext4 dax on ram:2G warm
    xfs noatime on loop:2G cold
    xfs noatime on loop:2G warm
    xfs noatime on ram:2G cold
    xfs noatime on ram:2G warm
    tmpfs of 2G warm
    "#);
}

#[test]
fn the_command_line_needs_no_file() {
    let overrides = options("ext4,ext4:data=writeback,xfs", &["loop:2G"]);
    let experiment = from_options(&overrides).unwrap();
    insta::assert_snapshot!(experiment.text, @r#"
    schema = 1
    name = "command-line"
    title = "ext4, ext4:data=writeback, xfs: small-files on loop:2G"

    [run]
    blocks = 5
    seed = 7
    compare = "durable"
    sample_period = "100 ms"
    verify = false
    rate = "auto"

    [factors]
    fs = ["ext4", "ext4:data=writeback", "xfs"]
    device = "loop:2G"

    [[workload]]
    use = "small-files"
    "#);
    let plan = expand(&experiment, &overrides, &TestRules).unwrap();
    assert_eq!(labels(&plan), "ext4\next4 data=writeback\nxfs");
    assert_eq!((plan.blocks, plan.schedule.len()), (5, 15));
}

#[test]
fn the_same_file_system_twice_is_an_a_a() {
    let overrides = options("ext4,ext4,xfs", &["loop:2G"]);
    let plan = expand(&from_options(&overrides).unwrap(), &overrides, &TestRules).unwrap();
    assert_eq!(labels(&plan), "ext4#1\next4#2\nxfs");
    assert_ne!(plan.contenders[0].id(), plan.contenders[1].id());
    assert_eq!(plan.contenders[0].levels, plan.contenders[1].levels);
}

#[test]
fn options_in_another_order_are_the_same_contender() {
    let overrides = options("ext4:noatime:data=ordered,ext4:data=ordered:noatime", &["loop:2G"]);
    let plan = expand(&from_options(&overrides).unwrap(), &overrides, &TestRules).unwrap();
    assert_eq!(labels(&plan), "ext4#1\next4#2", "and what all have in common is not shown");
}

#[test]
fn tmpfs_is_not_run_in_limited_memory_and_warm_otherwise() {
    let text =
        file("fs = [\"ext4\", \"tmpfs\"]\ndevice = \"loop:2G\"\nmemory = [\"none\", \"64M\"]");
    let plan = plan(&text).unwrap();
    insta::assert_snapshot!(labels(&plan), @r#"
    ext4 in all memory
    ext4 in 64M
    tmpfs in all memory
    tmpfs in 64M
        not run: it lives in the limited memory
    "#);
    assert_eq!(plan.not_run[0].reason, LIVES_IN_LIMITED_MEMORY);
    let caches: Vec<Cache> = plan.contenders.iter().map(|c| c.levels.cache).collect();
    assert_eq!(caches, [Cache::Cold, Cache::Cold, Cache::Warm, Cache::Warm]);
    assert!(plan.schedule.iter().all(|slot| slot.contender != 3));
}

#[test]
fn a_directory_implies_its_file_system() {
    let overrides = Overrides { on: vec!["/a/b,c".to_owned()], ..Overrides::default() };
    let quick = builtin::experiment("quick").unwrap();
    let plan = expand(&quick, &overrides, &TestRules).unwrap();
    assert_eq!(labels(&plan), "directory");
    let levels = &plan.contenders[0].levels;
    assert_eq!(levels.device, DeviceLevel::Directory { path: "/a/b,c".into() });
    assert_eq!(levels.cache, Cache::Warm);
    let two = Overrides { on: vec!["/a".into(), "/b".into()], ..Overrides::default() };
    let plan = expand(&quick, &two, &TestRules).unwrap();
    assert_eq!(labels(&plan), "directory on /a\ndirectory on /b");
}

/// What was asked of the caches where none can be cold, and by whom.
#[test]
fn what_cannot_be_had_stays_asked() {
    let asked = |overrides: &Overrides, file: Option<&str>| {
        let experiment = match file {
            Some(text) => parse(text, "own.toml").unwrap(),
            None => builtin::experiment("quick").unwrap(),
        };
        let plan = expand(&experiment, overrides, &TestRules).unwrap();
        let of = |contender: &Contender| {
            let cache = contender.asked_cache().map(|(cache, asked)| (cache, asked.by));
            (contender.label.clone(), contender.levels.cache, cache)
        };
        plan.contenders.iter().map(of).collect::<Vec<_>>()
    };
    let directory = options("", &["/var/tmp"]);
    let directory = Overrides { fs: None, ..directory };
    let with = |cache: &str| {
        let mut overrides = directory.clone();
        overrides.levels.insert("cache", cache.to_owned());
        overrides
    };
    let had = |by: Option<AskedBy>| {
        let cache = by.map(|by| (Cache::Cold, by));
        vec![("directory".to_owned(), Cache::Warm, cache)]
    };
    let (user, program) = (Some(AskedBy::User), Some(AskedBy::Program));
    assert_eq!(asked(&directory, None), had(program), "an experiment of the program's own");
    assert_eq!(asked(&with("cold"), None), had(user));
    assert_eq!(asked(&with("warm"), None), had(None), "it has what was asked for");
    assert_eq!(asked(&with("warm,cold"), None), had(user), "one contender, asked in two ways");
    let own = |cache: &str| {
        format!(
            "schema = 1\nname = \"own\"\n[factors]\ndevice = \"/var/tmp\"\n{cache}\n\
             [[workload]]\nuse = \"small-files\"\n"
        )
    };
    let none = Overrides::default();
    assert_eq!(asked(&none, Some(&own("cache = \"cold\""))), had(user));
    assert_eq!(asked(&none, Some(&own(""))), had(program), "a default");
    let both = asked(&options("ext4,tmpfs", &["loop:2G"]), None);
    let memory = ("tmpfs".to_owned(), Cache::Warm, Some((Cache::Cold, AskedBy::Program)));
    assert_eq!(both, [("ext4".to_owned(), Cache::Cold, None), memory]);
}

/// Any factor can be asked for and not be had.
#[test]
fn a_setting_of_a_device_stays_asked_where_there_is_none() {
    let mut overrides = options("ext4,tmpfs", &["loop:2G"]);
    overrides.levels.insert("scheduler", "mq-deadline".to_owned());
    let experiment = builtin::experiment("quick").unwrap();
    let plan = expand(&experiment, &overrides, &TestRules).unwrap();
    assert!(plan.contenders[0].asked.is_empty());
    let asked = &plan.contenders[1].asked["scheduler"];
    assert_eq!((asked.level.as_str(), asked.by), ("mq-deadline", AskedBy::User));
    assert_eq!(asked.why, "it has no device of its own");
}

#[test]
fn a_dataset_that_fits_one_device_only_runs_there() {
    let text = file("fs = \"ext4\"\ndevice = [\"loop:40M\", \"loop:1G\"]");
    let plan = plan(&text).unwrap();
    insta::assert_snapshot!(labels(&plan), @r#"
    ext4 on loop:40M
        not run: small-files: loop:40M is too small for "small-files", which needs 49.7 MiB
    ext4 on loop:1G
    "#);
    assert!(plan.schedule.iter().all(|slot| slot.contender == 1));
}

#[test]
fn direct_calls_run_where_they_are_direct() {
    let factors = "fs = [\"ext4\", \"ext4:data=journal\", \"tmpfs\"]\ndevice = \"loop:2G\"";
    let text = file(factors).replace(
        "use = \"small-files\"",
        "name = \"w\"\nfiles = 1\nsize = \"64M\"\ndirect = true\nphases = [\"big-write\"]",
    );
    let plan = plan(&text).unwrap();
    let left_out: Vec<(usize, Option<usize>)> =
        plan.not_run.iter().map(|not| (not.contender, not.workload)).collect();
    assert_eq!(left_out, [(1, Some(0)), (2, Some(0))]);
    assert_eq!(
        plan.not_run[0].reason,
        "ext4 with data=journal ignores O_DIRECT and goes through the page cache"
    );
    assert!(plan.schedule.iter().all(|slot| slot.contender == 0));
}

#[test]
fn an_option_restricts_a_file_and_keeps_its_axes() {
    let text = file(
        "fs = [\"ext4\", \"xfs\"]\ndevice = \"loop:2G\"\n[factors.ext4]\nmount = [\"a\", \"b\"]",
    );
    let experiment = parse(&text, "t.toml").unwrap();
    let labels_of = |fs: &str| {
        let overrides = Overrides { fs: Some(fs.to_owned()), ..Overrides::default() };
        labels(&expand(&experiment, &overrides, &TestRules).unwrap())
    };
    assert_eq!(labels_of("ext4"), "ext4 a\next4 b");
    assert_eq!(labels_of("ext4:c,xfs"), "ext4 c\nxfs");
}

#[test]
fn scale_touches_numbers_and_single_big_files_only() {
    let at = |scale: f64| {
        let overrides = Overrides { scale: Some(scale), ..options("ext4", &["loop:100G"]) };
        let overrides = Overrides { workloads: Some("small-files,big-file".into()), ..overrides };
        let plan = expand(&from_options(&overrides).unwrap(), &overrides, &TestRules).unwrap();
        let set = |n: usize| {
            let d = &plan.workloads[n].dataset;
            (d.files, d.size_bytes, d.dirs)
        };
        (set(0), set(1))
    };
    assert_eq!(at(1.0), ((10_000, 4096, 100), (1, 256 << 20, 0)));
    assert_eq!(at(0.1), ((1_000, 4096, 100), (1, (256 << 20) / 10 / 1024 * 1024, 0)));
    assert_eq!(at(0.00001), ((1, 4096, 1), (1, 1 << 20, 0)));
    assert_eq!(at(100.0), ((1_000_000, 4096, 100), (1, 25_600 << 20, 0)));
}

/// A file says its own scale, the option replaces it, and whole workloads are meant where options
/// alone describe the work.
#[test]
fn a_file_has_a_scale_of_its_own() {
    let text = |scale: &str| {
        let run = format!("[run]\nscale = {scale}\n[factors]");
        file("fs = \"ext4\"\ndevice = \"loop:2G\"").replace("[factors]", &run)
    };
    let experiment = parse(&text("0.5"), "t.toml").unwrap();
    let at = |scale: Option<f64>| {
        let overrides = Overrides { scale, ..Overrides::default() };
        let plan = expand(&experiment, &overrides, &TestRules).unwrap();
        (plan.scale, plan.workloads[0].dataset.files)
    };
    assert_eq!((at(None), at(Some(1.0))), ((0.5, 5_000), (1.0, 10_000)));
    let again = parse(&to_toml(&experiment), "t.toml").unwrap();
    assert_eq!(again.run.scale, 0.5);
    let error = parse(&text("0"), "t.toml").unwrap_err();
    assert_eq!((&*error.what, error.place.to_string()), ("a scale of 0", "t.toml:4:9".to_owned()));
    let quick = builtin::experiment("quick").unwrap();
    assert_eq!(quick.run.scale, 0.25);
    let options = options("ext4", &["loop:2G"]);
    assert_eq!(from_options(&options).unwrap().run.scale, 1.0);
}

#[test]
fn the_builtin_experiments_expand() {
    for name in builtin::experiment_names() {
        let experiment = builtin::experiment(name).unwrap();
        let plan = expand(&experiment, &Overrides::default(), &TestRules).unwrap();
        let ids: BTreeSet<_> = plan.contenders.iter().map(|c| c.id()).collect();
        assert_eq!(ids.len(), plan.contenders.len(), "{name}");
        let whole = plan.not_run.iter().filter(|row| row.workload.is_some());
        assert_eq!(whole.count(), 0, "{name}: {}", labels(&plan));
        for row in &experiment.rows {
            let workload = plan.workloads.iter().find(|work| work.name == row.workload).unwrap();
            assert!(workload.phases.iter().any(|phase| phase.name == row.phase), "{}", row.title);
        }
    }
    let first = |name: &str| {
        let experiment = builtin::experiment(name).unwrap();
        labels(&expand(&experiment, &Overrides::default(), &TestRules).unwrap())
    };
    assert_eq!(first("quick"), "ext4\nxfs\nbtrfs");
    assert_eq!(first("quick-all"), "ext4\next2\next3\nxfs\nbtrfs\ntmpfs");
    insta::assert_snapshot!(first("2010-ssd-ext4-journal"), @r#"
    ext4 data=ordered
    ext4 data=writeback
    ext4 data=journal
    "#);
    let article = builtin::experiment("2003-linux-vs-freebsd").unwrap();
    let plan = expand(&article, &Overrides::default(), &TestRules).unwrap();
    assert_eq!(plan.workloads[2].dataset.size_bytes, 1_500_000 * 1024);
    assert_eq!(plan.not_run.len(), 1, "tmpfs");
}

fn fs_list() -> impl Strategy<Value = String> {
    let one = prop::sample::select(vec![
        "ext4",
        "ext4:noatime",
        "ext4:data=writeback:noatime",
        "xfs",
        "btrfs:compress=zstd",
        "btrfs:compress=zstd:3",
        "tmpfs",
        "xfs:mkfs.block_size=1024",
        "ext2",
    ]);
    prop::collection::vec(one, 1..6).prop_map(|list| list.join(","))
}

/// The last boundary of a character up to `at`.
fn boundary(text: &str, at: usize) -> usize {
    let is = |at: &usize| text.is_char_boundary(*at);
    (0..=at.min(text.len())).rev().find(is).unwrap_or(0)
}

proptest! {
    /// The text stored with a RUN says everything that the options said.
    #[test]
    fn the_written_text_reads_back_to_the_same_plan(
        fs in fs_list(),
        on in prop::sample::select(vec!["loop:2G", "ram:1G", "loop:2G,loop:3G", "loop:1500000K"]),
        work in prop::sample::select(vec!["small-files", "big-file,tiny-files"]),
        memory in prop::option::of(prop::sample::select(vec!["64M", "none,100000K"])),
        cache in prop::option::of(prop::sample::select(vec!["cold", "cold,warm"])),
        seed in 0u64..1 << 62,
        period in prop::option::of(prop::sample::select(vec!["0 ms", "10500 us", "2 s"])),
    ) {
        let overrides = Overrides {
            fs: Some(fs),
            on: vec![on.to_owned()],
            workloads: Some(work.to_owned()),
            levels: [("memory", memory), ("cache", cache)]
                .into_iter()
                .filter_map(|(key, text)| Some((key, text?.to_owned())))
                .collect(),
            sample_period: period.map(str::to_owned),
            seed: Some(seed),
            verify: seed % 2 == 0,
            ..Overrides::default()
        };
        let experiment = from_options(&overrides).unwrap();
        let plan = expand(&experiment, &overrides, &TestRules).unwrap();
        let again = parse(&experiment.text, "again").unwrap();
        prop_assert_eq!(expand(&again, &Overrides::default(), &TestRules).unwrap(), plan);
        prop_assert_eq!(to_toml(&again), experiment.text);
    }

    /// Whatever a file holds, there is a plan or an error.
    #[test]
    fn no_text_makes_it_panic(at in 0usize..2000, length in 0usize..40, put in ".{0,12}") {
        let text = include_str!("../../../../experiments/2003-linux-vs-freebsd.toml");
        let start = boundary(text, at);
        let end = boundary(text, start + length);
        let changed = format!("{}{put}{}", &text[..start], &text[end..]);
        let _ = crate::rules::plan(&changed);
        let overrides = options(&put, &[&put]);
        let _ = apply(&builtin::experiment("quick").unwrap(), &overrides);
    }
}

#[test]
fn written_experiments_read_back() {
    for name in builtin::experiment_names() {
        let experiment = builtin::experiment(name).unwrap();
        let again = parse(&to_toml(&experiment), name).unwrap();
        let expand = |e| expand(e, &Overrides::default(), &TestRules).unwrap();
        assert_eq!(expand(&again), expand(&experiment), "{name}");
        assert_eq!(again.rows, experiment.rows);
        assert_eq!(again.notes, experiment.notes);
        assert_eq!(notes_of(&to_toml(&experiment)), experiment.notes);
    }
}

#[test]
fn written_file_systems_of_commands_read_back() {
    let commands = "mount = \"mount -t my none {mnt}; awk '{{print}}' ${HOME}\"\nunmount = \"u\"\n\
                    programs = [\"awk\"]\npackage = \"gawk\"\ndevice = false\nmemory = true";
    let factors = "fs = \"my\"\ndevice = \"loop:1G\"";
    let text = format!("{}[[filesystem]]\nname = \"my\"\n{commands}\n", file(factors));
    let experiment = parse(&text, "t.toml").unwrap();
    let again = parse(&to_toml(&experiment), "again.toml").unwrap();
    let commands = |e: &fsarena_plan::Experiment| e.filesystems[0].value.commands.clone();
    assert!(commands(&experiment).memory);
    assert_eq!(commands(&again), commands(&experiment));
    let expand = |e| expand(e, &Overrides::default(), &TestRules).unwrap();
    assert_eq!(expand(&again), expand(&experiment));
}

#[test]
fn a_value_may_have_a_colon_before_a_digit() {
    let fs = "fs = \"btrfs:compress=zstd:3:noatime:mkfs.x=a:1:2\"\ndevice = \"loop:1G\"";
    let plan = plan(&file(fs)).unwrap();
    let level = &plan.contenders[0].levels.fs;
    assert_eq!(level.mount, ["compress=zstd:3", "noatime"]);
    assert_eq!(level.mkfs["x"], "a:1:2");
    for odd in ["btrfs:3", "btrfs::3"] {
        let error = crate::rules::plan(&file(&fs.replace("btrfs:compress=zstd:3", odd)));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("\"3\" continues an option"), "{error}");
    }
}

#[test]
fn a_directory_below_dev_is_not_called_a_block_device() {
    for (path, device) in [
        ("/dev/vda", true),
        ("/dev/mapper/shm", true),
        ("/dev/shm", false),
        ("/dev/shm/x", false),
        ("/dev/x/", false),
    ] {
        let error = plan(&file(&format!("fs = \"ext4\"\ndevice = \"{path}\""))).unwrap_err();
        let error = error.to_string();
        assert_eq!(error.contains("is no block device here"), device, "{error}");
        assert_eq!(error.contains("cannot be made in the directory"), !device, "{error}");
    }
}

#[test]
fn settings_of_a_device_are_axes_where_there_is_one() {
    let text = file(
        "fs = [\"ext4\", \"tmpfs\"]\ndevice = [\"/dev/vdb\", \"zram:1G\"]\n\
         ssd = [\"none\", \"blkdiscard\"]\nscheduler = [\"default\", \"bfq\"]\n\
         read_ahead = \"128 KiB\"\nwrite_cache = [\"default\", \"write-through\"]",
    );
    let plan = plan(&text).unwrap();
    insta::assert_snapshot!(labels(&plan), @r#"
    ext4 on /dev/vdb ssd=none scheduler=default write_cache=default
    ext4 on /dev/vdb ssd=none scheduler=default write_cache=write-through
    ext4 on /dev/vdb ssd=none scheduler=bfq write_cache=default
    ext4 on /dev/vdb ssd=none scheduler=bfq write_cache=write-through
    ext4 on /dev/vdb ssd=blkdiscard scheduler=default write_cache=default
    ext4 on /dev/vdb ssd=blkdiscard scheduler=default write_cache=write-through
    ext4 on /dev/vdb ssd=blkdiscard scheduler=bfq write_cache=default
    ext4 on /dev/vdb ssd=blkdiscard scheduler=bfq write_cache=write-through
    ext4 on zram:1G ssd=none scheduler=default write_cache=default
    ext4 on zram:1G ssd=none scheduler=default write_cache=write-through
    ext4 on zram:1G ssd=none scheduler=bfq write_cache=default
        not run: zram:1G has no queue that bfq could sort; use scheduler = "none", or null_blk
    ext4 on zram:1G ssd=none scheduler=bfq write_cache=write-through
        not run: zram:1G has no queue that bfq could sort; use scheduler = "none", or null_blk
    ext4 on zram:1G ssd=blkdiscard scheduler=default write_cache=default
    ext4 on zram:1G ssd=blkdiscard scheduler=default write_cache=write-through
    ext4 on zram:1G ssd=blkdiscard scheduler=bfq write_cache=default
        not run: zram:1G has no queue that bfq could sort; use scheduler = "none", or null_blk
    ext4 on zram:1G ssd=blkdiscard scheduler=bfq write_cache=write-through
        not run: zram:1G has no queue that bfq could sort; use scheduler = "none", or null_blk
    tmpfs of 8G
    tmpfs of 1G
    "#);
    let block = &plan.contenders[0].levels;
    let path = "/dev/vdb".into();
    assert_eq!(block.device, DeviceLevel::Block { path, size_bytes: 8 << 30 });
    assert_eq!(block.queue.read_ahead_bytes, Some(128 << 10));
    let tmpfs = &plan.contenders.last().unwrap().levels;
    assert_eq!((&tmpfs.queue, tmpfs.ssd), (&QueueLevel::default(), SsdPolicy::None));
}

#[test]
fn a_real_device_keeps_the_file_systems_of_the_experiment() {
    let quick = builtin::experiment("quick").unwrap();
    let overrides = Overrides {
        on: vec!["/dev/vdb".into()],
        levels: [
            ("ssd", "precondition".to_owned()),
            ("scheduler", "none,bfq".to_owned()),
            ("read_ahead", "default,4M".to_owned()),
            ("write_cache", "write-through".to_owned()),
        ]
        .into(),
        ..Overrides::default()
    };
    let plan = expand(&quick, &overrides, &TestRules).unwrap();
    let labels = labels(&plan);
    let first: Vec<&str> = labels.lines().take(2).collect();
    assert_eq!(
        first,
        ["ext4 scheduler=none read_ahead=default", "ext4 scheduler=none read_ahead=4M"]
    );
    assert_eq!(plan.contenders.len(), 3 * 4);
}
