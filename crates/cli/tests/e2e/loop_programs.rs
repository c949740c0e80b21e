//! Real work on mounted file systems: every job by its programs, the engine's own, sources in other
//! places, shared blocks, and caches that are cold once.

use crate::support::real::{by_engine, by_programs, is_cold, read_bytes, stages_in, written_bytes};
use crate::support::{TestEnv, assert_nothing_left, phase, record_of, tool};
use fsarena_model::contender::{Cache, Levels};
use fsarena_model::job::Reflink;
use fsarena_model::record::{CacheState, Drained, Outcome, PhaseRecord, TrialRecord};
use fsarena_model::run::RunHeader;
use fsarena_model::work::Op;
use std::path::{Path, PathBuf};

const FILES: u64 = 100;
const ENTRIES: u64 = FILES + 4;
const BYTES: u64 = FILES * 20_480;
const TREE: &str = "dataset = { small = 100, size = \"20 KiB\", dirs = 4 }";
const COMPRESSIONS: [&str; 5] = ["none", "gzip", "bzip2", "xz", "zstd"];

fn have(programs: &[&str]) -> bool {
    programs.iter().all(|program| tool(program).is_some())
}

/// The levels of a record of RUN 1.
fn levels(env: &TestEnv, record: &TrialRecord) -> Levels {
    let shown = env.run(&["show", "1", "--json"]).good().json();
    let header: RunHeader = serde_json::from_value(shown["run"].clone()).unwrap();
    let mut contenders = header.plan.contenders.into_iter();
    let found = contenders.find(|contender| contender.id() == record.key.contender);
    found.expect("of the plan").levels
}

/// The tools of a job that packs or unpacks.
fn tar_and(compression: &str) -> Vec<&str> {
    ["tar", compression].into_iter().filter(|name| *name != "none").collect()
}

#[test]
fn trees_by_programs() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if !have(&["gzip", "bzip2", "xz", "zstd"]) {
        return;
    }
    let packed = COMPRESSIONS.map(|kind| {
        format!(
            "{{ op = \"archive\", name = \"pack-{kind}\", compression = \"{kind}\" }},\n\
             {{ op = \"untar\", name = \"unpack-{kind}\", of = \"pack-{kind}\" }},\n"
        )
    });
    let work = format!(
        "[[workload]]\nname = \"trees\"\n{TREE}\nphases = [\"copy\",\n{}\
         {{ op = \"delete\", of = \"copy\" }},\n\
         {{ op = \"delete\", name = \"delete-archive\", of = \"pack-xz\" }}]\n",
        packed.concat()
    );
    let file = env.real_experiment("fs = \"ext4\"\ndevice = \"loop:128M\"", &work);
    let ran = env.run(&["run", &file]).good();
    ran.says(&["trees / pack-bzip2", "every byte as written", "tar (GNU tar)"]);
    assert_nothing_left(&env);
    let record = env.done_records(1).remove(0);
    assert_eq!(record.verify.as_ref().map(|verify| verify.files), Some(6 * FILES));
    record.phases.iter().for_each(is_cold);

    let copy = phase(&record, "copy");
    by_programs(copy, &["cp"]);
    assert_eq!((copy.ops, copy.asked_written_bytes), (ENTRIES, Some(BYTES)));
    assert!(read_bytes(copy) as f64 >= 0.9 * BYTES as f64, "read {}", read_bytes(copy));
    assert!(written_bytes(copy) >= BYTES, "written {}", written_bytes(copy));
    for kind in COMPRESSIONS {
        let pack = phase(&record, &format!("pack-{kind}"));
        by_programs(pack, &tar_and(kind));
        assert_eq!(pack.ops, ENTRIES, "{kind}");
        assert!(read_bytes(pack) as f64 >= 0.9 * BYTES as f64, "{kind}: {}", read_bytes(pack));
        assert!(pack.worker.user_ns + pack.worker.system_ns > 0, "{kind}: of all that it starts");
        let archive_bytes = pack.asked_written_bytes.expect("the size of the archive");
        assert!(written_bytes(pack) >= archive_bytes, "{kind}: {archive_bytes}");
        assert_eq!(archive_bytes > BYTES, kind == "none", "{kind}: {archive_bytes}");
        let unpack = phase(&record, &format!("unpack-{kind}"));
        by_programs(unpack, &tar_and(kind));
        assert_eq!((unpack.ops, unpack.asked_written_bytes), (ENTRIES, Some(BYTES)), "{kind}");
        assert_eq!(unpack.cache.proof.needed_read_bytes, Some(archive_bytes), "{kind}");
        assert!(written_bytes(unpack) >= BYTES, "{kind}: {}", written_bytes(unpack));
    }
    let deleted = [phase(&record, "delete"), phase(&record, "delete-archive")];
    deleted.iter().for_each(|phase| by_programs(phase, &["rm"]));
    assert_eq!(deleted.map(|phase| phase.ops), [ENTRIES, 1]);
    // The source, four archives and five unpacked trees are left.
    let left = |kind: &str| phase(&record, &format!("pack-{kind}")).asked_written_bytes;
    let archives: u64 = ["none", "gzip", "bzip2", "zstd"].into_iter().filter_map(left).sum();
    assert_eq!(record.space.map(|space| space.stored_bytes), Some(6 * BYTES + archives));
}

#[test]
fn music_and_commands_by_programs() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if !have(&["flac", "oggenc"]) {
        return;
    }
    let work = format!(
        "[[workload]]\nname = \"music\"\nphases = [\"flac\", \"ogg\"]\n[workload.dataset]\n\
         description = '''\nschema = 1\nname = \"short\"\ntitle = \"short\"\nnotes = []\nseed = 7\n\
         [[class]]\nname = \"wav\"\ncount = 2\nnames = \"track-{{n:2}}.wav\"\n\
         size_bytes = [400_044, 300_044]\ncontents = \"wav\"\n'''\n\
         [[workload]]\nname = \"search\"\n{TREE}\n[[workload.phases]]\nname = \"count\"\n\
         op = \"command\"\nprepare = \"mkdir {{mnt}}/lists\"\n\
         run = \"find {{data}} -type f | grep -c f > {{mnt}}/lists/count\"\n\
         cleanup = \"test $(cat lists/count) = {FILES}; mv lists done\"\n\
         programs = [\"find\", \"grep\"]\n\
         [[workload.phases]]\nname = \"after\"\nop = \"command\"\n\
         run = \"test -f done/count && test ! -e lists\"\n"
    );
    let file = env.real_experiment("fs = \"ext4\"\ndevice = \"loop:128M\"", &work);
    let refused = env.run(&["run", &file]);
    refused.refused(2, &["find {data} -type f", "mkdir {mnt}/lists", "--yes"]);
    env.run(&["run", &file, "--yes"]).good();
    assert_nothing_left(&env);
    let records = env.done_records(1);
    let music = record_of(&records, "music");
    for (name, program) in [("flac", "flac"), ("ogg", "oggenc")] {
        let phase = phase(music, name);
        by_programs(phase, &[program]);
        is_cold(phase);
        assert_eq!(phase.ops, 2, "{name}");
        assert!(read_bytes(phase) >= 700_088 * 9 / 10, "{name}: {}", read_bytes(phase));
        let made_bytes = phase.asked_written_bytes.expect("of the files made");
        assert!((10_000..700_088).contains(&made_bytes), "{name}: {made_bytes}");
        assert!(written_bytes(phase) >= made_bytes, "{name}");
        assert!(phase.worker.user_ns > 0, "{name}: of the encoder");
    }
    let search = record_of(&records, "search");
    let count = phase(search, "count");
    by_programs(count, &["sh", "find", "grep"]);
    by_programs(phase(search, "after"), &["sh"]);
    assert!(read_bytes(count) > 0, "the directories of a cold tree");
    let hooks = search.steps.iter().filter(|step| step.step == "hook");
    assert_eq!(hooks.filter(|step| step.phase.as_deref() == Some("count")).count(), 2);
}

#[test]
fn compile_by_programs() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if !have(&["make", "cc"]) {
        return;
    }
    let work = ["--workload", "compile", "--scale", "0.01", "--sample-period", "0s"];
    env.run_once(&[&["--fs", "ext4", "--on", "loop:128M"], &work[..]].concat()).good();
    assert_nothing_left(&env);
    let record = env.done_records(1).remove(0);
    let compile = phase(&record, "compile");
    by_programs(compile, &["make", "cc"]);
    is_cold(compile);
    assert_eq!(compile.op, Op::Job);
    let made_bytes = compile.asked_written_bytes.expect("of the files made");
    assert!(made_bytes > 10_000 && written_bytes(compile) >= made_bytes, "{made_bytes}");
    assert!(compile.worker.user_ns > 0, "of the compilers");
}

/// A program that fails, and one that is killed, end the trial with what they said.
#[test]
fn programs_that_fail() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let command = |name: &str, run: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\ndataset = \"small-10\"\n[[workload.phases]]\n\
             name = \"run\"\nop = \"command\"\nrun = \"{run}\"\n"
        )
    };
    let work = command("fails", "echo some reason >&2; exit 3")
        + &command("killed", "kill -9 $$")
        + &command("full", "dd if=/dev/zero of=fill bs=64k")
        + &command("goes-on", "true");
    let factors = "fs = \"ext4\"\ndevice = \"loop:32M\"\ncache = \"warm\"";
    let file = env.real_experiment(factors, &work);
    let ran = env.run(&["run", &file, "--yes"]).code(1);
    ran.says(&["exit code 3: some reason", "signal 9", "No space left on device"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    for name in ["fails", "killed", "full"] {
        let outcome = &record_of(&records, name).outcome;
        let Outcome::Failed { step, .. } = outcome else { panic!("{name}: {outcome:?}") };
        assert_eq!(step, "measure run", "{name}");
    }
    assert_eq!(record_of(&records, "goes-on").outcome, Outcome::Done);
}

fn engine_on(fs: &str) {
    let Some(env) = TestEnv::privileged(&[fs]) else { return };
    let device = if fs == "xfs" { "loop:300M" } else { "loop:128M" };
    let work = format!(
        "[[workload]]\nname = \"trees\"\n{TREE}\nphases = [{{ op = \"untar\", by = \"engine\" }},\n\
         {{ op = \"copy\", by = \"engine\" }}, {{ op = \"copy\", name = \"cp\", of = \"untar\" }},\n\
         {{ op = \"delete\", of = \"copy\", by = \"engine\" }}]\n"
    );
    let file = env.real_experiment(&format!("fs = \"{fs}\"\ndevice = \"{device}\""), &work);
    let ran = env.run(&["run", &file]).good();
    assert!(
        !ran.stdout.contains("Tool overhead (program ÷ engine)"),
        "two phases of one trial: {}",
        ran.stdout
    );
    let staged = ran.stderr.lines().filter(|line| line.starts_with("preparing ")).count();
    assert_eq!(staged, 1, "{}", ran.stderr);
    assert_nothing_left(&env);
    let record = env.done_records(1).remove(0);
    assert_eq!(record.verify.as_ref().map(|verify| verify.files), Some(3 * FILES));
    for name in ["untar", "copy", "delete"] {
        let phase = phase(&record, name);
        by_engine(phase);
        assert_eq!(phase.ops, ENTRIES, "{name}");
    }
    let (copy, cp) = (phase(&record, "copy"), phase(&record, "cp"));
    by_programs(cp, &["cp"]);
    assert_eq!((copy.ops, copy.asked_bytes), (cp.ops, cp.asked_bytes));
    assert_eq!(copy.asked_written_bytes, cp.asked_written_bytes);
    for phase in &record.phases {
        if fs == "tmpfs" {
            assert_eq!(phase.cache.state, CacheState::WarmByNature, "{}", phase.name);
            assert_eq!(phase.clocks.drained, Drained::NoDevice, "{}", phase.name);
        } else {
            is_cold(phase);
        }
    }
    if fs != "tmpfs" {
        assert!([copy, cp].iter().all(|phase| written_bytes(phase) >= BYTES));
        assert!([copy, cp].iter().all(|phase| read_bytes(phase) as f64 >= 0.9 * BYTES as f64));
    }
}

#[test]
fn engine_on_ext4() {
    engine_on("ext4");
}

#[test]
fn engine_on_xfs() {
    engine_on("xfs");
}

#[test]
fn engine_on_btrfs() {
    engine_on("btrfs");
}

#[test]
fn engine_on_tmpfs() {
    engine_on("tmpfs");
}

/// One byte, with the size and the time of the file as they were.
#[test]
fn a_wrong_copy_is_found() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = |name: &str, op: &str, damage: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\n{TREE}\n[[workload.phases]]\nop = \"{op}\"\n\
             [[workload.phases]]\nname = \"damage\"\nop = \"command\"\ntimed = false\n\
             run = '''f=$(find {{mnt}}/{op} -type f | sort | head -n 1); {damage}'''\n"
        )
    };
    let byte = "touch -r $f time; printf '\\001\\002' | dd of=$f bs=1 seek=5000 conv=notrunc; \
                touch -r time $f";
    let works = work("changed", "copy", byte)
        + &work("unpacked", "untar", byte)
        + &work("missing", "copy", "rm $f")
        + &work("surplus", "copy", "cp -p $f $f.more");
    let factors = "fs = \"ext4\"\ndevice = \"loop:128M\"\ncache = \"warm\"";
    let file = env.real_experiment(factors, &works);
    env.run(&["run", &file, "--yes"]).code(1).says(&["WRONG CONTENTS"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    for (name, word) in [
        ("changed", "byte 500"),
        ("unpacked", "byte 500"),
        ("missing", "is missing"),
        ("surplus", "is not in the original"),
    ] {
        let record = record_of(&records, name);
        let verify = record.verify.as_ref().unwrap_or_else(|| panic!("{:?}", record.outcome));
        assert_eq!(verify.bad_files, 1, "{name}: {verify:?}");
        assert!(verify.examples[0].contains(word), "{name}: {verify:?}");
        assert!(matches!(&record.outcome, Outcome::Failed { step, .. } if step == "verify"));
    }
}

/// Where the program found what it copied or unpacked.
fn inputs<'a>(phase: &'a PhaseRecord, wanted: impl Fn(&Path) -> bool + 'a) -> Vec<PathBuf> {
    let argv = &phase.program.as_ref().expect("by a program").argv;
    argv.iter().map(PathBuf::from).filter(|word| wanted(word)).collect()
}

#[test]
fn sources_in_other_places() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = |name: &str, source: &str, phases: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\n{TREE}\nsource = \"{source}\"\nphases = [{phases}]\n"
        )
    };
    let works = work("same", "same", "\"copy\"")
        + &work("other", "other", "\"copy\"")
        + &work("memory", "memory", "\"copy\", \"delete\"")
        + &work("unpack", "other", "\"untar\"")
        + &work("unpack-again", "other", "{ op = \"untar\", by = \"engine\" }, \"delete\"")
        + &work("unpack-here", "same", "\"untar\"");
    let file = env.real_experiment("fs = \"ext4\"\ndevice = \"loop:64M\"", &works);
    let ran = env.run(&["run", &file]).good();
    // Three workloads unpack one archive.
    let count = |line: &str| ran.stderr.lines().filter(|l| l.starts_with(line)).count();
    assert_eq!((count("preparing data.tar.gz"), count("preparing data,")), (1, 2), "{ran:?}");
    assert_nothing_left(&env);
    let records = env.done_records(1);
    let absolute = |workload: &str| {
        let record = record_of(&records, workload);
        assert_eq!(record.verify.as_ref().map(|verify| verify.files), Some(FILES), "{workload}");
        inputs(&record.phases[0], |word| word.is_absolute() && !word.starts_with("/usr"))
    };
    assert_eq!(absolute("same"), [] as [PathBuf; 0]);
    assert_eq!(absolute("unpack-here"), [] as [PathBuf; 0]);
    for (workload, place) in
        [("other", env.images()), ("memory", PathBuf::from("/dev/shm")), ("unpack", env.images())]
    {
        let found = absolute(workload);
        assert_eq!(found.len(), 1, "{workload}: {found:?}");
        assert!(found[0].starts_with(&place), "{workload}: {found:?}");
        assert!(!found[0].exists(), "{workload}: the stage goes with the RUN");
        assert!(!found[0].ancestors().nth(2).unwrap().exists(), "{workload}: {found:?}");
    }
    assert_eq!(stages_in(&env.images()), [] as [PathBuf; 0]);
    // Nothing of the source comes from the device under test, or is on it.
    for workload in ["other", "memory"] {
        let copy = phase(record_of(&records, workload), "copy");
        assert!(read_bytes(copy) < BYTES / 2, "{workload}: {}", read_bytes(copy));
        assert_eq!(copy.cache.proof.needed_read_bytes, Some(0), "{workload}");
    }
    let stored = |workload: &str| record_of(&records, workload).space.unwrap().stored_bytes;
    assert_eq!([stored("same"), stored("other"), stored("memory")], [2 * BYTES, BYTES, 0]);
}

#[test]
fn blocks_shared_by_copies() {
    let Some(env) = TestEnv::privileged(&["ext4", "xfs", "btrfs"]) else { return };
    let work = "[[workload]]\nname = \"copies\"\n\
                dataset = { small = 4, size = \"4 MiB\", dirs = 1 }\n\
                phases = [\"copy\", { op = \"copy\", name = \"engine\", by = \"engine\" }]\n\
                [[workload]]\nname = \"none\"\ndataset = \"small-10\"\nphases = [\"delete\"]\n";
    let factors = "fs = [\"ext4\", \"xfs\", \"btrfs\"]\ndevice = \"loop:300M\"\n\
                   reflink = [\"never\", \"always\"]\ncache = \"warm\"";
    let file = env.real_experiment(factors, work);
    env.run(&["run", &file]).good();
    assert_nothing_left(&env);
    let mut records = env.done_records(1);
    let shown = env.run(&["show", "1", "--json"]).good().json();
    let not_run = shown["run"]["plan"]["not_run"].as_array().unwrap().clone();
    let reasons: Vec<&str> = not_run.iter().filter_map(|it| it["reason"].as_str()).collect();
    assert!(reasons.iter().any(|why| why.contains("ext4 cannot share blocks")), "{reasons:?}");
    let nothing = reasons.iter().filter(|why| why.contains("nothing is copied in it"));
    assert_eq!(nothing.count(), 2, "{reasons:?}");
    records.retain(|record| record.key.workload == "copies");
    assert_eq!(records.len(), 5);
    let one = |fs: &str, reflink| {
        let is =
            |it: &&TrialRecord| it.filesystem.name == fs && levels(&env, it).reflink == reflink;
        records.iter().find(is).unwrap_or_else(|| panic!("{fs} {reflink:?}"))
    };
    let size = 4 * (4 << 20);
    for fs in ["xfs", "btrfs"] {
        let both = [one(fs, Reflink::Never), one(fs, Reflink::Always)];
        for name in ["copy", "engine"] {
            let [apart, shared] = both.map(|record| written_bytes(phase(record, name)));
            assert!(apart >= size, "{fs} {name}: {apart}");
            assert!(shared * 4 < size, "{fs} {name}: {shared} against {apart}");
        }
    }
    by_programs(phase(one("ext4", Reflink::Never), "copy"), &["cp"]);
}

/// Cold at the start alone is as good as it was asked for; and cold for every phase.
#[test]
fn cold_once_and_always() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = format!(
        "[[workload]]\nname = \"trees\"\n{TREE}\nphases = [\"copy\", \"archive\", \
         {{ op = \"delete\", of = \"copy\" }}]\n"
    );
    let factors = "fs = \"ext4\"\ndevice = \"loop:64M\"\ncache = [\"cold-start\", \"cold\"]";
    let file = env.real_experiment(factors, &work);
    let ran = env.run(&["run", &file]).good();
    assert!(!ran.stdout.contains("not cold"), "{}", ran.stdout);
    assert_nothing_left(&env);
    let records = env.done_records(1);
    assert_eq!(records.len(), 2);
    let (cold, warm) = (CacheState::Cold, CacheState::Warm);
    for record in &records {
        let states: Vec<CacheState> = record.phases.iter().map(|it| it.cache.state).collect();
        match levels(&env, record).cache {
            Cache::ColdStart => assert_eq!(states, [cold, warm, warm]),
            _ => assert_eq!(states, [cold, cold, cold]),
        }
        is_cold(&record.phases[0]);
    }
    assert_ne!(levels(&env, &records[0]), levels(&env, &records[1]));
}
