//! Real work that cannot be done: said before anything is made, with the place, what is wrong and
//! what to do. None of this needs a privilege.

use crate::support::{Ran, TestEnv, assert_nothing_left, sh};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A member of a tar archive: path, type flag, target of a link, contents.
pub type Member<'a> = (&'a str, u8, &'a str, &'a str);

/// An archive with these members, as they are, at `path`.
pub fn tar(path: &Path, members: &[Member<'_>]) {
    let mut bytes = Vec::new();
    for (name, kind, target, contents) in members {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000755");
        header[108..115].copy_from_slice(b"0000000");
        header[116..123].copy_from_slice(b"0000000");
        header[124..135].copy_from_slice(format!("{:011o}", contents.len()).as_bytes());
        header[136..147].copy_from_slice(b"14000000000");
        header[148..156].fill(b' ');
        header[156] = *kind;
        header[157..157 + target.len()].copy_from_slice(target.as_bytes());
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes.extend(header);
        bytes.extend(contents.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    // Two blocks of zeros at least, and whole records, as tar programs write them.
    bytes.resize((bytes.len() + 1024).next_multiple_of(10_240), 0);
    fs::write(path, bytes).unwrap();
}

/// An experiment of one workload in the directory `target`.
fn file(env: &TestEnv, factors: &str, work: &str) -> String {
    let target = env.make_dir("target");
    let all = format!("device = \"{target}\"\ncache = \"warm\"\n{factors}");
    env.experiment(&all, &format!("[[workload]]\nname = \"w\"\n{work}\n"))
}

/// Refused with these words, and nothing was made.
#[track_caller]
fn refused(env: &TestEnv, work: &str, words: &[&str]) -> Ran {
    refused_with(env, "", work, &["--yes"], words)
}

#[track_caller]
fn refused_with(env: &TestEnv, factors: &str, work: &str, more: &[&str], words: &[&str]) -> Ran {
    let file = file(env, factors, work);
    let ran = env.run(&[&["run", &file], more].concat()).refused(2, words);
    assert_untouched(env);
    ran
}

#[track_caller]
fn assert_untouched(env: &TestEnv) {
    assert!(!env.db().exists(), "a database was made");
    assert!(!env.state().exists(), "a journal was made");
    let target = env.path("target");
    assert!(!target.exists() || fs::read_dir(target).unwrap().count() == 0, "work was done");
    assert_nothing_left(env);
}

#[test]
fn unknown_datasets_and_mistakes_in_descriptions() {
    let env = TestEnv::new();
    let of = |dataset: &str, words: &[&str]| {
        refused(&env, &format!("dataset = {dataset}\nphases = [\"copy\"]"), words);
    };
    of("\"mixd-830m\"", &["test.toml:", "unknown dataset", "did you mean \"mixed-830m\"?"]);
    of("\"small-0\"", &["small-0"]);
    of("{ smal = 3 }", &["unknown key", "did you mean \"small\"?"]);
    of("{ file = \"none.toml\" }", &["test.toml:", "none.toml", "No such file"]);
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/wav-5.toml"))
            .unwrap();
    env.write("mine.toml", &text.replacen("seed", "sead", 1));
    of("{ file = \"mine.toml\" }", &["mine.toml:", ":1: unknown field `sead`", "`seed`"]);
    env.write("mine.toml", "name = ");
    of("{ file = \"mine.toml\" }", &["mine.toml:1:"]);
    fs::write(env.path("mine.toml"), b"name = \"\xff\"").unwrap();
    of("{ file = \"mine.toml\" }", &["mine.toml", "UTF-8"]);
    of("{ description = \"\" }", &["test.toml:"]);
}

#[test]
fn phases_that_have_nothing_to_work_on() {
    let env = TestEnv::new();
    let of = |phases: &str, words: &[&str]| {
        refused(&env, &format!("dataset = \"small-100\"\nphases = [{phases}]"), words);
    };
    of("\"flac\"", &["holds no wav files", "wav-5"]);
    of("\"compile\"", &["Makefile", "c-tree"]);
    of("\"copy\", { op = \"untar\", of = \"copy\" }", &["is a tree", "untar needs an archive"]);
    of("{ op = \"copy\", of = \"coppy\" }", &["unknown earlier phase \"coppy\""]);
    of("\"delete\", { name = \"again\", op = \"delete\", of = \"data\" }", &["not there any more"]);
    of("{ op = \"archive\", by = \"engine\" }", &["the engine has no `archive`"]);
    let keys = "dataset = \"small-100\"\nphases = [\"copy\"]\nthreads = 4";
    refused(&env, keys, &["`threads` is of work that the engine does", "leave it out"]);
    let work = "dataset = \"small-100\"\nphases = [\"delete\"]";
    refused_with(&env, "reflink = \"auto\"", work, &[], &["no workload copies", "\"copy\""]);
}

/// Whatever would be run has to be agreed to; without a terminal only `--yes` says so.
#[test]
fn commands_need_consent() {
    let env = TestEnv::new();
    let command =
        |text: &str| format!("dataset = \"small-100\"\nphases = [{{ op = \"command\", {text} }}]");
    let mark = env.path("mark");
    let touch = format!("run = \"touch {}\", prepare = \"echo before\"", mark.display());
    refused_with(
        &env,
        "",
        &command(&touch),
        &[],
        &["echo before", "touch", "--yes", "commands of the experiment file were not confirmed"],
    );
    assert!(!mark.exists(), "it was run");
    let of = |text: &str, words: &[&str]| {
        refused(&env, &command(text), words);
    };
    of("run = \"ls {nonsense}\"", &["test.toml:", "{nonsense} is not filled in", "{mnt}"]);
    of("run = \"awk '{print}'\"", &["{print} is not filled in", "{{"]);
    of("run = \"ls {\"", &["test.toml:", "{"]);
    of("run = \"ls }\"", &["test.toml:", "}"]);
    of("run = \"ls\", cleanup = \"rm {dev}\"", &["{dev} is not filled in"]);
    let missing = command("run = \"ls\", programs = [\"no-such-program-4711\"]");
    let ran = env.run(&["run", &file(&env, "", &missing), "--yes"]).code(1);
    ran.says(&["nothing to run", "no-such-program-4711 is not installed"]);
    assert_nothing_left(&env);
}

/// A Makefile of the user's own is a command like any other.
#[test]
fn an_own_makefile_needs_consent() {
    let env = TestEnv::new();
    let own = env.make_dir("own");
    let mark = env.path("mark");
    fs::write(env.path("own/Makefile"), format!("all:\n\ttouch {}\n", mark.display())).unwrap();
    sh(&format!("tar -c -f {own}.tar -C {own} ."));
    let archive = format!("{own}.tar");
    let ask = "make -C {data}: the Makefile in";
    for (from, phases) in [(&own, "\"compile\""), (&archive, "\"untar\", \"compile\"")] {
        let work = format!("dataset = {{ from = {from:?} }}\nphases = [{phases}]");
        let words = [&*format!("{ask} {from}"), "--yes", "were not confirmed"];
        refused_with(&env, "", &work, &[], &words);
        assert!(!mark.exists(), "it was run");
    }
}

/// All is shown, once, as it is, and who runs it.
#[test]
fn what_is_shown_for_consent() {
    let env = TestEnv::new();
    let command = |name: &str, run: &str| {
        format!(
            "{{ op = \"command\", name = \"{name}\", run = \"{run}\", prepare = \"echo before\", \
             cleanup = \"echo before\", programs = [\"ls\"] }}"
        )
    };
    let hidden = command("a", r"touch x \u001b[2K\rtrue");
    let lines = command("b", r"touch x\nfalse");
    let work = format!("dataset = \"small-100\"\nphases = [{hidden}, {lines}]");
    let who = "to be run as user 65534 group 65534 in the file system under test:";
    let ran = refused_with(&env, "", &work, &["--user", "65534:65534"], &[who, "--yes"]);
    let told: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("  ")).collect();
    let wanted =
        ["  echo before", r"  touch x \u{1b}[2K\rtrue", "  ls --version", "  touch x", "    false"];
    assert_eq!(told, wanted);
    assert!(!ran.stderr.contains(['\u{1b}', '\r']));
}

/// The same machine gives the same program to everybody.
#[test]
fn programs_in_the_path_of_the_user_alone() {
    let env = TestEnv::new();
    let bin = env.make_dir("bin");
    fs::write(env.path("bin/only-here-4711"), "#!/bin/sh\n").unwrap();
    sh(&format!("chmod 755 {bin}/only-here-4711"));
    let phase = "{ op = \"command\", run = \"ls\", programs = [\"only-here-4711\"] }";
    let file = file(&env, "", &format!("dataset = \"small-100\"\nphases = [{phase}]"));
    let mut command = env.command(&["run", &file, "--yes"]);
    command.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap()));
    let why = "only-here-4711 is not installed (looked in /usr/local/sbin:";
    env.finish(command).code(1).says(&["nothing to run", why]);
    assert_nothing_left(&env);
}

/// All that could lead out of the folder, or is no archive at all.
#[test]
fn archives() {
    let env = TestEnv::new();
    let canary = env.write("canary", "alive");
    let path = env.path("a.tar");
    let of = |words: &[&str]| {
        let work = "dataset = { from = \"a.tar\" }\nphases = [\"untar\"]";
        refused(&env, work, &[&["test.toml:", "a.tar"], words].concat());
        assert_eq!(fs::read_to_string(&canary).unwrap(), "alive");
    };
    let fine: Member<'_> = ("d/f", b'0', "", "contents");
    for (members, words) in [
        (&[fine, ("../canary", b'0', "", "dead")][..], &["../canary"][..]),
        (&[("d/../../canary", b'0', "", "dead")], &["d/../../canary"]),
        (&[(&canary, b'0', "", "dead")], &["canary"]),
        (&[("l", b'2', "..", ""), ("l/canary", b'0', "", "dead")], &["\"l\"", "out"]),
        (&[("l", b'2', &canary, ""), ("l", b'0', "", "dead")], &["\"l\""]),
        (&[("h", b'1', "../canary", ""), ("h", b'0', "", "dead")], &["\"h\""]),
        (&[fine, ("h", b'1', &canary, "")], &["\"h\""]),
        (&[("null", b'3', "", "")], &["\"null\"", "device"]),
        (&[("disk", b'4', "", "")], &["\"disk\"", "device"]),
        (&[("pipe", b'6', "", "")], &["\"pipe\"", "FIFO"]),
    ] {
        tar(&path, members);
        of(words);
    }
    tar(&path, &[fine, ("g", b'0', "", &"x".repeat(5000))]);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..3000]).unwrap();
    of(&["damaged"]);
    let mut broken = whole.clone();
    broken[1024 + 3] ^= 0xff;
    fs::write(&path, &broken).unwrap();
    of(&["damaged"]);
    fs::write(&path, "").unwrap();
    of(&["empty"]);
    fs::write(&path, "a text that somebody took for an archive\n".repeat(100)).unwrap();
    of(&["archive"]);
    for pack in ["gzip -c", "bzip2 -c", "xz -c", "zstd -qc"] {
        fs::write(env.path("whole.tar"), &whole).unwrap();
        let packed = env.path("packed").display().to_string();
        sh(&format!("{pack} {} > {packed}", env.path("whole.tar").display()));
        let bytes = fs::read(&packed).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        of(&["damaged"]);
        let mut broken = bytes.clone();
        let middle = bytes.len() / 2;
        broken[middle] ^= 0x55;
        fs::write(&path, &broken).unwrap();
        of(&["damaged"]);
    }
    fs::write(&path, &whole).unwrap();
    let stated =
        "dataset = { from = \"a.tar\" }\nphases = [{ op = \"untar\", compression = \"xz\" }]";
    refused(&env, stated, &["compression \"xz\"", "\"none\""]);
    assert_eq!(fs::read(&path).unwrap(), whole, "the user's archive is as it was");
}

/// Trees that cannot be taken, and what must not happen to those that can.
#[test]
fn own_trees() {
    let env = TestEnv::new();
    let own = env.make_dir("own");
    fs::write(env.path("own/file"), "mine").unwrap();
    fs::write(env.path("own/Makefile"), "all:\n\tfalse\n").unwrap();
    let of = |from: &str, rest: &str, words: &[&str]| {
        let rest = if rest.is_empty() { "phases = [\"copy\"]" } else { rest };
        refused(&env, &format!("dataset = {{ from = \"{from}\" }}\n{rest}"), words);
    };
    of("nowhere", "", &["test.toml:", "nowhere", "No such file"]);
    of("images", "", &["images", "empty"]);
    of("/dev/null", "", &["/dev/null", "neither a directory nor a file"]);
    let name = std::ffi::OsStr::from_bytes(b"own/p\xff\n");
    sh(&format!("mkdir {own}/deep; mkfifo {own}/deep/pipe"));
    of("own", "", &["\"deep/pipe\" is a FIFO", "take it out"]);
    sh(&format!("rm -r {own}/deep"));
    let listener = std::os::unix::net::UnixListener::bind(env.dir().join(name)).unwrap();
    let said = refused(&env, "dataset = { from = \"own\" }\nphases = [\"copy\"]", &["is a socket"]);
    assert_eq!(said.stderr.lines().count(), 1, "a name does not break the line: {}", said.stderr);
    assert!(said.stderr.contains("p\u{fffd}"), "{}", said.stderr);
    drop(listener);
    fs::remove_file(env.dir().join(name)).unwrap();
    for phases in ["\"delete\"", "\"compile\"", "{ op = \"command\", run = \"rm -r {data}\" }"] {
        let rest = format!("source = \"other\"\nphases = [{phases}]");
        of("own", &rest, &["the data, which is yours", "say source = \"same\""]);
    }
    of("own", "phases = [\"untar\"]", &["\"data\" is a tree", "untar needs an archive"]);
    assert_eq!(fs::read_to_string(env.path("own/file")).unwrap(), "mine");
}

/// Data that hold what this RUN writes to would be copied into themselves.
#[test]
fn data_that_contain_the_target() {
    let env = TestEnv::new();
    fs::write(env.path("images/file"), "mine").unwrap();
    for (from, within) in [(".", "images"), ("target", "target")] {
        env.make_dir("target");
        fs::write(env.path("target/file"), "mine").unwrap();
        let work = format!("dataset = {{ from = \"{from}\" }}\nphases = [\"copy\"]");
        let ran = env.run(&["run", &file(&env, "", &work)]).code(1);
        let within = env.path(within).display().to_string();
        ran.says(&["contain", &within, "where this RUN writes", "name a smaller directory"]);
        let left: Vec<_> = fs::read_dir(env.path("target")).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
    fs::remove_file(env.path("images/file")).unwrap();
    assert_nothing_left(&env);
}

/// Loops and dead ends among symbolic links are nothing to be afraid of; names are bytes.
#[test]
fn loops_of_links_and_names_of_bytes() {
    let env = TestEnv::new();
    let own = env.make_dir("own");
    fs::write(env.path("own/file"), "mine").unwrap();
    sh(&format!("cd {own}; ln -s b a; ln -s a b; ln -s . self; ln -s .. up; ln -s /none dead"));
    fs::write(env.dir().join(std::ffi::OsStr::from_bytes(b"own/\xff\xfe\n")), "bytes").unwrap();
    sh(&format!("ln -s own {}/link", env.dir().display()));
    let look = format!("find {own} -printf '%P %i %m %s %T@ %C@ %l\\n'");
    let before = sh(&look);
    let phases = "phases = [\"copy\", { name = \"engine\", op = \"copy\", of = \"data\", \
                  by = \"engine\" }, \"archive\", { name = \"out\", op = \"untar\", \
                  of = \"archive\" }, { name = \"rm\", op = \"delete\", of = \"copy\" }]";
    let work = format!("dataset = {{ from = \"link\" }}\n{phases}\n[run]");
    let file = file(&env, "", work.trim_end_matches("[run]"));
    env.run(&["run", &file, "--verify"]).good();
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, fsarena_model::record::Outcome::Done);
    let verify = record.verify.expect("it was asked for");
    assert_eq!(verify.bad_files, 0, "{verify:?}");
    assert_eq!(sh(&look), before, "never changed");
}

/// A directory without the room for it is told so before anything is written.
#[test]
fn a_directory_too_small() {
    let env = TestEnv::new();
    let free = sh(&format!("df -B1 --output=avail {} | tail -1", env.dir().display()));
    let free: u64 = free.trim().parse().unwrap();
    let files = free / (1 << 30) + 1;
    if files > 100_000_000 {
        println!("not run: {free} bytes are free");
        return;
    }
    let work = format!("dataset = {{ small = {files}, size = \"1 GiB\" }}\nphases = [\"copy\"]");
    refused(&env, &work, &["free: too little for \"w\", which needs", "--scale below 1"]);
}
