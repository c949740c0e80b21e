//! The life of a trial of real work, what it needs and what it costs.

use crate::programs::work;
use crate::rules::{TestRules, file, labels, plan};
use fsarena_model::contender::{Cache, DeviceLevel, FsLevel, Levels};
use fsarena_model::phase::Workload;
use fsarena_model::spec::Step;
use fsarena_plan::{
    CostBasis, Overrides, builtin, estimate, expand, needed_bytes, notes_of, parse, stage_bytes,
    steps,
};

fn life(body: &str, cache: Cache, verify: bool) -> String {
    let device = DeviceLevel::Loop { size_bytes: 1 << 30 };
    let levels = Levels { cache, ..Levels::plain(FsLevel::plain("ext4"), device) };
    let step = |step: &Step| match step {
        Step::Measure { phase } | Step::Prepare { phase } => {
            format!("{}({})", step.name(), phase.name)
        }
        Step::Hook { phase, command } => format!("hook({phase}: {command})"),
        _ => step.name().to_owned(),
    };
    let steps = steps(&work(body), &levels, verify);
    steps.iter().map(step).collect::<Vec<_>>().join("\n")
}

const SMALL: &str = "dataset = \"small-100\"\nphases = ";

#[test]
fn the_source_is_put_there_and_the_first_phase_finds_cold_caches() {
    let ports = format!("{SMALL}[\"untar\", \"copy\", \"delete\"]");
    insta::assert_snapshot!(life(&ports, Cache::ColdStart, false), @r#"
    reset
    mount
    stage
    chill
    measure(untar)
    settle
    measure(copy)
    settle
    measure(delete)
    teardown
    "#);
    insta::assert_snapshot!(life(&ports, Cache::Cold, false), @r#"
    reset
    mount
    stage
    chill
    measure(untar)
    chill
    measure(copy)
    chill
    measure(delete)
    teardown
    "#);
    insta::assert_snapshot!(life(&ports, Cache::Warm, false), @r#"
    reset
    mount
    stage
    settle
    measure(untar)
    settle
    measure(copy)
    settle
    measure(delete)
    teardown
    "#);
    let memory =
        format!("source = \"memory\"\n{SMALL}[{{ op = \"copy\", timed = false }}, \"delete\"]");
    insta::assert_snapshot!(life(&memory, Cache::ColdStart, false), @r#"
    reset
    mount
    prepare(copy)
    chill
    measure(delete)
    teardown
    "#);
}

#[test]
fn hooks_stand_around_their_phase() {
    let command = format!(
        "{SMALL}[{{ op = \"command\", run = \"r\", prepare = \"p\", cleanup = \"c\" }}, \"copy\"]"
    );
    insta::assert_snapshot!(life(&command, Cache::Cold, true), @r#"
    reset
    mount
    stage
    hook(command: p)
    chill
    measure(command)
    hook(command: c)
    chill
    measure(copy)
    chill
    verify
    teardown
    "#);
}

#[test]
fn copies_are_compared_before_either_is_deleted() {
    for (phases, verified) in [
        ("[\"copy\"]", true),
        ("[\"copy\", \"delete\"]", true),
        ("[\"copy\", { op = \"delete\", of = \"data\" }]", true),
        ("[\"archive\", \"delete\"]", false),
    ] {
        let life = life(&format!("{SMALL}{phases}"), Cache::Warm, true);
        assert_eq!(life.contains("chill\nverify"), verified, "{life}");
        let verify = life.find("verify").unwrap_or(0);
        assert!(life.find("measure(delete)").is_none_or(|delete| verify < delete), "{life}");
    }
    let late = life(
        &format!("{SMALL}[\"archive\", {{ op = \"delete\", of = \"archive\" }}, \"copy\"]"),
        Cache::Warm,
        true,
    );
    assert!(late.ends_with("measure(copy)\nchill\nverify\nteardown"), "{late}");
}

#[test]
fn what_is_there_at_one_time_has_to_fit() {
    let need = |phases: &str| {
        let set = "dataset = { small = 1000, size = \"8 KiB\", dirs = 10 }\n";
        let workload = work(&format!("{set}phases = {phases}"));
        let source = workload.source.as_ref().unwrap();
        let contents = source.contents;
        let tree = contents.block_bytes + contents.files * 512 + (contents.dirs + 1) * 4608;
        (needed_bytes(&workload), tree)
    };
    let (copy, tree) = need("[\"copy\"]");
    assert!(tree > 1000 * 8192 + 1000 * 512, "{tree}");
    assert_eq!(copy, tree * 2 * 112 / 100);
    assert_eq!(need("[\"delete\"]").0, tree * 112 / 100);
    let again = "[\"copy\", \"delete\", { name = \"b\", op = \"copy\" }]";
    assert_eq!(need(again).0, copy, "the first copy is gone");
    let outside = work(
        "dataset = { small = 1000, size = \"8 KiB\", dirs = 10 }\nsource = \"other\"\n\
         phases = [\"copy\"]",
    );
    assert_eq!(needed_bytes(&outside), tree * 112 / 100);
    let (packed, _) = need("[{ op = \"archive\", compression = \"none\" }]");
    assert!(packed > (tree + 1000 * 8192) * 112 / 100, "a plain tar is larger than what is in it");
    let three = need("[\"copy\", \"archive\", { name = \"b\", op = \"copy\" }]").0;
    assert!(three > tree * 3 * 112 / 100);
    let own = work("dataset = { from = \"tree.tar.xz\" }\nphases = [\"untar\"]");
    let unpacked = (2 << 20) + 102 * 512 + 10 * 4608;
    assert_eq!(needed_bytes(&own), (unpacked + (4 << 20) + 512) * 112 / 100);
}

#[test]
fn stages_are_on_disk_or_in_memory() {
    let stage = |body: &str| stage_bytes(&work(body));
    assert_eq!(stage(&format!("{SMALL}[\"copy\"]")), (0, 0));
    let (disk, memory) = stage(&format!("{SMALL}[\"untar\"]"));
    assert!(disk > 0 && memory == 0, "an archive is made once");
    let (disk, memory) = stage(&format!("source = \"memory\"\n{SMALL}[\"copy\"]"));
    assert!(disk == 0 && memory >= 100 * 4096, "{memory}");
    let (disk, memory) = stage(&format!("source = \"other\"\n{SMALL}[\"copy\"]"));
    assert!(disk >= 100 * 4096 && memory == 0, "{disk}");
    let own = "dataset = { from = \"tree\" }\nphases = [\"copy\"]\n";
    assert_eq!(stage(own), (0, 0));
    assert_eq!(stage(&format!("source = \"other\"\n{own}")), (0, 0));
    assert!(stage(&format!("source = \"memory\"\n{own}")).1 > 2 << 20);
    assert_eq!(stage_bytes(&builtin::workload("small-files").unwrap()), (0, 0));
}

#[test]
fn only_copies_are_run_where_copies_vary() {
    let text =
        file("fs = [\"ext4\", \"xfs\"]\ndevice = \"loop:4G\"\nreflink = [\"never\", \"always\"]");
    let text = text.replace(
        "use = \"small-files\"",
        "name = \"copy\"\ndataset = \"small-100\"\nphases = [\"copy\"]\n[[workload]]\n\
         use = \"small-files\"",
    );
    let text = text.replace("name = \"copy\"", "name = \"c\"");
    insta::assert_snapshot!(labels(&plan(&text).unwrap()), @r#"
    ext4 reflink=never
    ext4 reflink=always
        not run: files of ext4 cannot share blocks: use xfs or btrfs, or reflink = "auto"
    xfs reflink=never
    xfs reflink=always
        not run: small-files: nothing is copied in it: reflink = "always" changes nothing
    "#);
    let only = text.replace("[\"ext4\", \"xfs\"]", "\"ext4\"");
    let error = plan(&only).unwrap_err().to_string();
    assert!(error.starts_with("t.toml:6:21: \"reflink=always\" is not possible; "), "{error}");
    let auto = text.replace("always", "auto").replace("4G\"", "4G\"\nmemory = \"none\"");
    assert_eq!(plan(&auto).unwrap().not_run.len(), 2, "small-files, with auto");
    let elsewhere = text.replace("small-100\"", "small-100\"\nsource = \"memory\"");
    let shown = labels(&plan(&elsewhere).unwrap());
    assert!(
        shown.contains("not run: c: phase \"copy\" copies from another file system"),
        "{shown}"
    );
    let tmpfs = text.replace("\"ext4\"", "\"tmpfs\"");
    assert!(labels(&plan(&tmpfs).unwrap()).contains("tmpfs reflink=always\n    not run: files of"));
}

fn cost(text: &str, scale: f64) -> fsarena_plan::Cost {
    let overrides = Overrides { scale: Some(scale), ..Overrides::default() };
    let experiment = parse(text, "t").expect("a legal file");
    let plan = expand(&experiment, &overrides, &TestRules).expect("it fits");
    estimate(&plan, &CostBasis::default())
}

#[test]
fn costs_count_the_source_and_what_is_made() {
    let text = |source: &str, phases: &str| {
        file("fs = \"ext4\"\ndevice = \"loop:4G\"").replace(
            "use = \"small-files\"",
            &format!(
                "name = \"w\"\ndataset = {{ small = 10_000, size = \"4 KiB\" }}\n\
                 source = \"{source}\"\nphases = [{phases}]"
            ),
        )
    };
    let same = cost(&text("same", "\"copy\""), 1.0);
    let memory = cost(&text("memory", "\"copy\""), 1.0);
    let tree = 10_000 * (4096 + 512) + 101 * 4608;
    let written = |cost: &fsarena_plan::Cost| cost.rows[0].trial_written_bytes;
    assert_eq!(written(&same) - written(&memory), tree);
    assert_eq!((memory.stage_memory_bytes, memory.memory_written_bytes), (tree, tree));
    assert_eq!((same.stage_bytes, same.stage_memory_bytes), (0, 0));
    let packed = cost(&text("same", "\"untar\""), 1.0);
    assert!(packed.stage_bytes > 0 && packed.total_ns > 0);
    let small = cost(&text("same", "\"copy\""), 0.1);
    assert!(small.rows[0].trial_ns < same.rows[0].trial_ns);
    let encoded = |phase: &str| {
        let text = text("same", phase).replace("{ small = 10_000, size = \"4 KiB\" }", "\"wav-5\"");
        cost(&text, 1.0).rows[0].trial_ns
    };
    assert!(encoded("\"ogg\"") > 3 * encoded("\"flac\""));
    assert!(encoded("\"flac\"") > encoded("\"copy\""));
}

/// Workloads of the experiments of articles, by the titles of their rows.
#[test]
fn the_articles_are_repeated_as_they_were_printed() {
    let rows = |name: &str| -> Vec<String> {
        let experiment = builtin::experiment(name).unwrap();
        assert!(experiment.rows.iter().all(|row| row.unit == "s"));
        // In 2008 the data had been copied in before the tests.
        let cache = if name.starts_with("2008") { "warm" } else { "cold-start" };
        assert!(
            experiment.factors.levels["cache"].iter().all(|level| level.value == cache),
            "{name}"
        );
        assert!(!experiment.notes.is_empty(), "{name} says what it does otherwise");
        assert_eq!(notes_of(&experiment.text), experiment.notes);
        experiment.rows.into_iter().map(|row| row.title).collect()
    };
    assert_eq!(
        rows("2005-file-operations").join(","),
        "data_copy_s,data_delete_s,ports_untar_s,ports_copy_s,ports_delete_s,big_file_copy_s"
    );
    assert_eq!(rows("2008-all-against-all").join(","), "untar,tar+bzip2,tar+gzip,wav2flac,wav2ogg");
    assert_eq!(
        rows("2010-ssd-ext4-journal").join(","),
        "flac_copy_s,portage_copy_s,avi_copy_s,iso_copy_s,portage_delete_s"
    );
    let overrides = Overrides { fs: Some("ext3,ext4,xfs,tmpfs".into()), ..Overrides::default() };
    let experiment = builtin::experiment("2010-ssd-ext4-journal").unwrap();
    let plan = expand(&experiment, &overrides, &TestRules).unwrap();
    assert_eq!((plan.contenders.len(), plan.not_run.len()), (6, 0), "{}", labels(&plan));
    let needed = |workload: &Workload| needed_bytes(workload);
    let most = plan.workloads.iter().map(needed).max().unwrap();
    assert_eq!(most.div_ceil(1 << 30), 8, "the smallest whole GiB that fits is the default");
}
