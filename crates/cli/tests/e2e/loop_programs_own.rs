//! Real work on the user's own data: copied whole whatever is in them, and never changed; and RUNs
//! with a stage that are interrupted.

use crate::support::real::{by_engine, by_programs, facts, stages_in};
use crate::support::{TestEnv, assert_nothing_left, phase, record_of, sh, tool};
use fsarena_model::run::RunState;
use rustix::process::Signal;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Levels of directories below each other.
const DEEP: usize = 60;
/// Length of the file with a hole.
const SPARSE_BYTES: u64 = 8 << 20;

/// A tree as nobody would generate it; what is in it is older than the test.
fn odd_tree(env: &TestEnv) -> PathBuf {
    let top = PathBuf::from(env.make_dir("own"));
    let latin = top.join(OsStr::from_bytes(b"caf\xe9 \xff\n new line"));
    fs::create_dir(&latin).unwrap();
    fs::write(latin.join(OsStr::from_bytes(b"-rf \xfe*?'\"")), "strange").unwrap();
    fs::write(top.join("--help"), "no option").unwrap();
    fs::write(top.join("empty"), "").unwrap();
    let long = "n".repeat(255);
    fs::write(top.join(&long), vec![7; 70_000]).unwrap();
    // Loops of links, links to nowhere and to the outside.
    symlink(".", top.join("here")).unwrap();
    symlink("there", top.join("back")).unwrap();
    symlink("back", top.join("there")).unwrap();
    symlink("nowhere", top.join("dangling")).unwrap();
    symlink("/etc/passwd", top.join("outside")).unwrap();
    symlink("../..", latin.join("up")).unwrap();
    fs::hard_link(top.join(&long), latin.join("second name")).unwrap();
    let mut sparse = File::create(top.join("sparse")).unwrap();
    sparse.write_all(b"head").unwrap();
    sparse.seek(SeekFrom::Start(SPARSE_BYTES - 4)).unwrap();
    sparse.write_all(b"tail").unwrap();
    let deep = (0..DEEP).fold(top.clone(), |dir, level| dir.join(format!("level-{level:04}")));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("bottom"), "bottom").unwrap();
    fs::set_permissions(top.join("empty"), fs::Permissions::from_mode(0o4751)).unwrap();
    fs::set_permissions(top.join("--help"), fs::Permissions::from_mode(0o400)).unwrap();
    std::os::unix::fs::chown(top.join("empty"), Some(1234), Some(4321)).unwrap();
    fs::set_permissions(top.join("empty"), fs::Permissions::from_mode(0o4751)).unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    sparse.set_modified(old).unwrap();
    File::open(deep.join("bottom")).unwrap().set_modified(old).unwrap();
    File::open(&latin).unwrap().set_modified(old).unwrap();
    top
}

/// An experiment on `from` with these workloads: name, source, phases.
fn on_own(env: &TestEnv, factors: &str, works: &[(&str, &Path, &str, &str)]) -> String {
    let works = works.iter().map(|(name, from, source, phases)| {
        format!(
            "[[workload]]\nname = \"{name}\"\ndataset = {{ from = {:?} }}\n\
             source = \"{source}\"\nphases = [{phases}]\n",
            from.display().to_string()
        )
    });
    env.real_experiment(factors, &works.collect::<String>())
}

#[test]
fn an_odd_tree_is_copied_and_untouched() {
    let Some(env) = TestEnv::privileged(&["ext4", "btrfs"]) else { return };
    let own = odd_tree(&env);
    let before = facts(&own);
    let copies = "\"copy\", { op = \"copy\", name = \"engine\", by = \"engine\" }";
    // The engine does not unpack links out of the folder; tar does.
    let packed = "\"archive\", { op = \"untar\", of = \"archive\" }, \
                  { op = \"copy\", name = \"engine\", of = \"untar\", by = \"engine\" }, \
                  { op = \"delete\", of = \"data\" }";
    let works = [
        ("here", own.as_path(), "same", copies),
        ("elsewhere", &own, "other", copies),
        ("memory", &own, "memory", copies),
        ("packed", &own, "same", packed),
    ];
    let factors = "fs = [\"ext4\", \"btrfs\"]\ndevice = \"loop:128M\"\ncache = \"cold-start\"";
    let file = on_own(&env, factors, &works);
    env.run(&["run", &file]).good().says(&["every byte as written"]);
    assert_nothing_left(&env);
    assert_eq!(facts(&own), before, "the user's own");
    let records = env.done_records(1);
    assert_eq!(records.len(), 8);
    // Four names of three files and one more; directories and the top; links.
    let entries = 7 + (1 + DEEP as u64) + 6;
    for record in &records {
        let name = &record.key.workload;
        let verify = record.verify.as_ref().unwrap_or_else(|| panic!("{name}"));
        assert_eq!(verify.files, 2 * 7, "{name}: {verify:?}");
        for phase in record.phases.iter().filter(|phase| phase.name != "delete") {
            assert_eq!(phase.ops, entries, "{name} / {}", phase.name);
        }
        if phase_names(record).contains(&"copy") {
            by_programs(phase(record, "copy"), &["cp"]);
        }
        by_engine(phase(record, "engine"));
    }
}

fn phase_names(record: &fsarena_model::record::TrialRecord) -> Vec<&str> {
    record.phases.iter().map(|phase| phase.name.as_str()).collect()
}

/// What the copy looks like afterwards, seen by nobody of ours.
#[test]
fn a_kept_copy_is_what_the_user_has() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let own = odd_tree(&env);
    let copies = "\"copy\", { op = \"copy\", name = \"engine\", by = \"engine\" }";
    let factors = "fs = \"ext4\"\ndevice = \"loop:128M\"\ncache = \"warm\"";
    let file = on_own(&env, factors, &[("here", &own, "same", copies)]);
    env.run(&["run", &file, "--keep"]).good();
    let mount = env.make_dir("look");
    let image = crate::support::image_in(&env.images());
    sh(&format!("mount -o loop,ro {} {mount}", image.display()));
    let listed = |dir: &Path| {
        sh(&format!(
            "cd {}; find . -printf '%y %m %U:%G %n %s %T@ %l %p\\0' | sort -z | grep -zv '^d' | \
             sha256sum; find . -type d -printf '%m %T@ %p\\0' | sort -z | sha256sum; \
             find . -type f -print0 | sort -z | xargs -0 sha256sum",
            dir.display()
        ))
    };
    let wanted = listed(&own);
    let found = ["data", "copy", "engine"].map(|name| listed(&Path::new(&mount).join(name)));
    let sparse = ["copy", "engine"].map(|name| sh(&format!("stat -c %b {mount}/{name}/sparse")));
    sh(&format!("umount {mount}"));
    fs::remove_file(image).unwrap();
    for found in found {
        assert_eq!(found, wanted);
    }
    for blocks in sparse {
        assert!(blocks.parse::<u64>().unwrap() * 512 < SPARSE_BYTES / 4, "{blocks} blocks");
    }
    assert_nothing_left(&env);
}

#[test]
fn own_archives_of_each_compression() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let kinds = [("none", ""), ("gzip", "z"), ("bzip2", "j"), ("xz", "J"), ("zstd", "-zstd")];
    if kinds.iter().skip(1).any(|(name, _)| tool(name).is_none()) {
        return;
    }
    let own = odd_tree(&env);
    // What leads out of its folder is refused, and told of in another test.
    for link in ["outside", "here"] {
        fs::remove_file(own.join(link)).unwrap();
    }
    sh(&format!("find {} -name up -delete", own.display()));
    let archives: Vec<PathBuf> = kinds
        .iter()
        .map(|(name, option)| {
            let archive = env.path(&format!("own-{name}"));
            let option = if option.is_empty() { String::new() } else { format!("-{option}") };
            sh(&format!("tar -c {option} -f {} -C {} .", archive.display(), own.display()));
            archive
        })
        .collect();
    let before: Vec<Vec<String>> = archives.iter().map(|archive| facts(archive)).collect();
    let phases = "\"untar\", { op = \"untar\", name = \"engine\", by = \"engine\" }";
    let sources = ["same", "other", "memory", "same", "other"];
    let works: Vec<(&str, &Path, &str, &str)> = kinds
        .iter()
        .zip(&archives)
        .zip(sources)
        .map(|(((name, _), archive), source)| (*name, archive.as_path(), source, phases))
        .collect();
    let factors = "fs = \"ext4\"\ndevice = \"loop:64M\"\ncache = \"warm\"";
    let file = on_own(&env, factors, &works);
    env.run(&["run", &file]).good().says(&["every byte as written"]);
    assert_nothing_left(&env);
    let after: Vec<Vec<String>> = archives.iter().map(|archive| facts(archive)).collect();
    assert_eq!(after, before, "the user's own");
    let records = env.done_records(1);
    for (name, _) in kinds {
        let record = record_of(&records, name);
        let tools: Vec<&str> = ["tar", name].into_iter().filter(|tool| *tool != "none").collect();
        by_programs(phase(record, "untar"), &tools);
        by_engine(phase(record, "engine"));
        assert_eq!(phase(record, "untar").ops, phase(record, "engine").ops, "{name}");
        assert_eq!(record.verify.as_ref().map(|verify| verify.files), Some(14), "{name}");
    }
}

/// An archive with holes is refused before anything is made, with what to do.
#[test]
fn an_archive_with_holes() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let own = PathBuf::from(env.make_dir("own"));
    let mut sparse = File::create(own.join("sparse")).unwrap();
    sparse.seek(SeekFrom::Start(SPARSE_BYTES - 4)).unwrap();
    sparse.write_all(b"tail").unwrap();
    fs::write(own.join("whole"), "whole").unwrap();
    let archive = env.path("own.tar");
    sh(&format!("tar -S --format=gnu -c -f {} -C {} .", archive.display(), own.display()));
    let factors = "fs = \"ext4\"\ndevice = \"loop:64M\"\ncache = \"warm\"";
    let file = on_own(&env, factors, &[("by-tar", archive.as_path(), "same", "\"untar\"")]);
    let refused = env.run(&["run", &file]).code(2);
    refused.says(&["own.tar", "sparse", "pack it again without --sparse"]);
    assert_nothing_left(&env);
}

/// A RUN of two blocks with a staged archive and data of the user's, interrupted in the second.
fn interrupted(env: &TestEnv, own: &Path) {
    let text = format!(
        "schema = 1\nname = \"staged\"\n[run]\nblocks = 2\nseed = 1\nverify = true\n\
         sample_period = \"0 ms\"\n[factors]\nfs = \"ext4\"\ndevice = \"loop:64M\"\n\
         [[workload]]\nname = \"made\"\ndataset = \"small-200\"\nphases = [\"untar\", \"delete\"]\n\
         [[workload]]\nname = \"own\"\ndataset = {{ from = {:?} }}\nsource = \"memory\"\n\
         phases = [\"copy\", \"delete\"]\n",
        own.display().to_string()
    );
    let file = env.write("staged.toml", &text);
    let mut live = env.start(&["run", &file]);
    live.wait_for("[3/4]");
    assert_eq!(stages_in(&env.images()).len(), 1, "the stage is there for every trial");
    live.signal(Signal::INT);
    live.end().code(130);
    assert_nothing_left(env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    assert_eq!(env.records(1).iter().filter(|record| record.phases.len() == 2).count(), 2);
}

#[test]
fn a_stage_is_made_again_by_resume() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let own = PathBuf::from(env.make_dir("own"));
    fs::write(own.join("file"), "mine").unwrap();
    interrupted(&env, &own);
    let ran = env.run(&["run", "--resume"]).good();
    ran.says(&["2 trials are left", "preparing data.tar.gz", "preparing data", "[3/4]", "[4/4]"]);
    assert_nothing_left(&env);
    let row = env.runs().remove(0);
    assert_eq!((row.state, row.trials_done), (RunState::Done, 4));
    let records = env.done_records(1);
    assert!(records.iter().all(|record| record.phases.len() == 2 && record.verify.is_some()));
    let argv = |record: &fsarena_model::record::TrialRecord| {
        record.phases[0].program.as_ref().unwrap().argv.clone()
    };
    assert!(records.iter().all(|record| argv(record).len() > 3));
}

#[test]
fn resume_refuses_other_data() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let own = PathBuf::from(env.make_dir("own"));
    fs::write(own.join("file"), "mine").unwrap();
    interrupted(&env, &own);
    fs::write(own.join("another"), "of mine").unwrap();
    let place = own.display().to_string();
    let words = [&*place, "would not be comparable", "1 entries with 4 B, are 2 entries"];
    env.run(&["run", "--resume"]).refused(1, &words);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    fs::remove_dir_all(&own).unwrap();
    env.run(&["run", "--resume"]).refused(1, &[&place, "No such file"]);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    fs::create_dir(&own).unwrap();
    fs::write(own.join("file"), "mine").unwrap();
    env.run(&["run", "--resume"]).good();
    assert_eq!(env.done_records(1).len(), 4);
    assert_nothing_left(&env);
}
