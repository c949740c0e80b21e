//! Real work without rights: in a directory, and plans that touch nothing.

use crate::plain_directory::as_nobody;
use crate::support::real::{by_engine, by_programs, facts, stages_in};
use crate::support::{TestEnv, assert_nothing_left, phase, record_of, tool};
use fsarena_model::record::CacheState;
use std::fs;
use std::path::Path;

const NOBODY: u32 = 65534;
const WORK: &str = "[[workload]]\nname = \"trees\"\n\
    dataset = { small = 60, size = \"3 KiB\", dirs = 3 }\n\
    phases = [{ op = \"untar\", compression = \"gzip\" }, \"copy\", \"archive\",\n\
    { op = \"untar\", name = \"engine-untar\", by = \"engine\" },\n\
    { op = \"copy\", name = \"engine-copy\", by = \"engine\", of = \"untar\" },\n\
    { op = \"delete\", of = \"copy\" },\n\
    { op = \"delete\", name = \"engine-delete\", of = \"engine-copy\", by = \"engine\" }]\n\
    [[workload]]\nname = \"count\"\ndataset = \"small-20\"\nsource = \"other\"\n\
    [[workload.phases]]\nname = \"count\"\nop = \"command\"\n\
    run = \"test $(find {data} -type f | wc -l) = 20 && id -u > who\"\n\
    cleanup = \"test -s {mnt}/who\"\n\
    [[workload]]\nname = \"memory\"\ndataset = \"small-20\"\nsource = \"memory\"\n\
    phases = [\"copy\"]\n";

/// Files and directories of the tree.
const ENTRIES: u64 = 60 + 3;

#[track_caller]
fn directory_is_whole(env: &TestEnv) {
    let records = env.done_records(1);
    let trees = record_of(&records, "trees");
    assert_eq!(trees.verify.as_ref().map(|verify| verify.files), Some(4 * 60));
    by_programs(phase(trees, "untar"), &["tar", "gzip"]);
    by_programs(phase(trees, "copy"), &["cp"]);
    by_programs(phase(trees, "archive"), &["tar", "gzip"]);
    by_programs(phase(trees, "delete"), &["rm"]);
    for name in ["engine-untar", "engine-copy", "engine-delete"] {
        by_engine(phase(trees, name));
    }
    for phase in &trees.phases {
        assert_eq!(phase.ops, ENTRIES, "{}", phase.name);
        assert_eq!(phase.cache.state, CacheState::Warm, "a directory cannot be made cold");
    }
    by_programs(phase(record_of(&records, "count"), "count"), &["sh"]);
    let copy = phase(record_of(&records, "memory"), "copy");
    assert_eq!(copy.ops, 21);
    assert_eq!(stages_in(&env.images()), [] as [std::path::PathBuf; 0]);
    let memory = &copy.program.as_ref().unwrap().argv;
    assert!(memory.iter().any(|word| word.starts_with("/dev/shm/")), "{memory:?}");
    assert!(!memory.iter().any(|word| word.contains("-stage/") && Path::new(word).exists()));
}

#[test]
fn in_a_directory() {
    if tool("gzip").is_none() {
        return;
    }
    let env = TestEnv::new();
    let target = env.make_dir("target");
    fs::write(env.path("target/mine"), "mine").unwrap();
    let file = env.real_experiment(&format!("device = \"{target}\"\ncache = \"warm\""), WORK);
    env.run(&["run", &file, "--yes"]).good().says(&["every byte as written"]);
    assert_nothing_left(&env);
    let names: Vec<_> = fs::read_dir(&target).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["mine"]);
    directory_is_whole(&env);
}

#[test]
fn without_root() {
    if tool("gzip").is_none() {
        return;
    }
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let file = env.real_experiment(&format!("device = \"{target}\"\ncache = \"warm\""), WORK);
    let Some(command) = as_nobody(&env, &["run", &file, "--yes"]) else { return };
    std::os::unix::fs::chown(&target, Some(NOBODY), Some(NOBODY)).unwrap();
    env.finish(command).good();
    assert_nothing_left(&env);
    // Root does nothing by what is in the state directory of another user, or below theirs.
    for dir in [env.dir().to_owned(), env.state()] {
        std::os::unix::fs::chown(dir, Some(0), Some(0)).unwrap();
    }
    directory_is_whole(&env);
}

/// The data of the user lie next to the directory to work in, and stay as they are.
#[test]
fn own_data_in_a_directory() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let own = env.make_dir("own/below");
    fs::write(Path::new(&own).join("file"), "mine").unwrap();
    std::os::unix::fs::symlink(".", Path::new(&own).join("loop")).unwrap();
    let before = facts(&env.path("own"));
    let work = |name: &str, source: &str, phases: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\ndataset = {{ from = \"own\" }}\n\
             source = \"{source}\"\nphases = [{phases}]\n"
        )
    };
    let works = work("same", "same", "\"copy\", { op = \"delete\", of = \"data\" }")
        + &work("other", "other", "\"copy\"");
    let factors = format!("device = \"{target}\"\ncache = \"warm\"");
    let file = env.real_experiment(&factors, &works);
    env.run(&["run", &file]).good();
    assert_nothing_left(&env);
    assert_eq!(facts(&env.path("own")), before);
    let records = env.done_records(1);
    assert_eq!(phase(record_of(&records, "same"), "copy").ops, 3);
    assert_eq!(phase(record_of(&records, "other"), "copy").ops, 3);
    // What would change it where it lies is refused.
    let worse = work("other", "other", "{ op = \"delete\", of = \"data\" }");
    let file = env.real_experiment(&factors, &worse);
    env.run(&["run", &file]).refused(2, &["real.toml"]);
    // So is work in the middle of it.
    let inside = env.make_dir("own/target");
    let before = facts(&env.path("own"));
    let factors = format!("device = \"{inside}\"\ncache = \"warm\"");
    let file = env.real_experiment(&factors, &work("other", "other", "\"copy\""));
    env.run(&["run", &file]).code(1).says(&["where this RUN writes"]);
    assert_eq!(facts(&env.path("own")), before);
    assert_eq!(env.runs().len(), 1, "nothing was begun");
    assert_nothing_left(&env);
}

#[test]
fn a_dry_run_of_each_experiment_touches_nothing() {
    let env = TestEnv::new();
    for (experiment, words) in [
        ("2005-file-operations", ["ports: ports-2004", "copy (cp)"]),
        ("2008-all-against-all", ["portage: portage-2008", "wav2ogg: wav to ogg (oggenc)"]),
        ("2010-ssd-ext4-journal", ["avi: avi-3400m", "copy (cp)"]),
    ] {
        for scale in ["1", "0.01"] {
            let ran = env.run(&["run", experiment, "--dry-run", "--scale", scale]).good();
            let ran = ran.says(&["Real work", "; needs ", "Nothing has been touched"]);
            ran.says(&words);
        }
        let plan = env.run(&["run", experiment, "--dry-run", "--json"]).good().json();
        assert_eq!(plan["kind"], "plan", "{experiment}");
    }
    assert!(!env.db().exists() && !env.state().exists());
    assert_eq!(fs::read_dir(env.images()).unwrap().count(), 0);
    assert_nothing_left(&env);
}
