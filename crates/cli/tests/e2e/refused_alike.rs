//! What a RUN refuses its dry run refuses too, in the same words and with the same exit code: a
//! plan that looks good and cannot be run is worth nothing.

use crate::loop_bad_input::without_command;
use crate::support::{TestEnv, assert_nothing_left};

/// Runs `run` with these arguments, and once more as a dry run; both are to be refused alike.
#[track_caller]
fn refused_alike(env: &TestEnv, args: &[&str], words: &[&str]) {
    let run = env.run(&[&["run"], args].concat());
    let dry = env.run(&[&["run"], args, &["--dry-run"]].concat());
    assert_eq!(run.code, dry.code, "{args:?}: run said\n{}\ndry run\n{}", run.stderr, dry.stderr);
    assert_eq!(without_free_space(&run.stderr), without_free_space(&dry.stderr), "{args:?}");
    assert_ne!(run.code, Some(0), "{args:?}: {}", run.stdout);
    assert_eq!((run.stdout.as_str(), dry.stdout.as_str()), ("", ""), "{args:?}");
    run.says(words);
    assert!(!env.db().exists() && !env.state().exists(), "{args:?}: something was made");
}

/// What other programs leave free changes from one moment to the next.
fn without_free_space(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is_free = |at: usize| words.get(at + 2).is_some_and(|word| word.starts_with("free,"));
    let kept = (0..words.len()).filter(|at| !is_free(*at)).map(|at| words[at]);
    kept.collect::<Vec<_>>().join(" ")
}

const WORK: [&str; 4] = ["--workload", "tiny-files", "--scale", "0.01"];

/// Needs no root: these are wrong wherever they are said.
#[test]
fn wrong_everywhere() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let on = [&["--on", target.as_str()], &WORK[..]].concat();
    let file = env.write("not-a-directory", "").to_owned();
    let inside = format!("{file}/x.html");
    for (more, words) in [
        (&["--cpus", "4095"][..], &["--cpus: CPU 4095 is not available"][..]),
        (&["--user", "nobody"], &["--user nobody", "65534:65534"]),
        (&["--report", &inside], &["cannot be written", "name another file"]),
        (&["--report", &target], &["name a file"]),
        (&["--wipe", "/dev/none"], &["--wipe"]),
        (&["--runs", "0"], &["1 to 1000"]),
        (&["--baseline", "xfs"], &["no contender is called \"xfs\""]),
        (&["--budget", "30"], &["--budget"]),
    ] {
        refused_alike(&env, &[&on[..], more].concat(), words);
    }
    let db = format!("{file}/x.db");
    let args = [&["--db", &db], &on[..]].concat();
    refused_alike(&env, &args, &["name another database with --db"]);
    let ufs = [&["--fs", "ufs", "--on", "loop:1G"], &WORK[..]].concat();
    refused_alike(&env, &ufs, &["unknown file system", "fsarena reference"]);
    refused_alike(&env, &["quik"], &["unknown experiment \"quik\""]);
    assert_nothing_left(&env);
}

/// What only a machine with loop devices, and root, gets as far as to refuse.
#[test]
fn loop_wrong_on_this_machine() {
    let Some(env) = TestEnv::privileged(&["ext4", "xfs"]) else { return };
    for (args, words) in [
        (
            &["--fs", "ext4", "--on", "loop:64M", "--image-dir", "/nope"][..],
            &["/nope", "create"][..],
        ),
        (&["--fs", "ext4", "--on", "loop:900T"], &["free", "--image-dir"]),
        (&["--fs", "ext4", "--on", "ram:900T"], &["free"]),
        (&["--fs", "ext4", "--on", "zram:900T"], &["zram"]),
        (&["--fs", "ext4:nobarier,xfs", "--on", "loop:320M"], &["nobarier", "leave it out"]),
        (&["--fs", "ext4:noatime:nosuchword=5", "--on", "loop:64M"], &["nosuchword"]),
        (&["--fs", "ext4", "--on", "loop:64M", "--scheduler", "noop"], &["noop"]),
        (&["--fs", "ext4", "--on", "/dev/loop-none"], &["/dev/loop-none"]),
        (&["--fs", "xfs", "--on", "loop:100M"], &["too small"]),
    ] {
        refused_alike(&env, &[args, &WORK[..]].concat(), words);
    }
    assert_nothing_left(&env);
}

/// A plan of which nothing can be run ends with one sentence that names each reason once.
#[test]
fn loop_nothing_can_be_run() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let missing = "[[filesystem]]\nname = \"one\"\nmount = \"true {dev} {mnt}\"\n\
                    programs = [\"mkfs.none\"]\n[[filesystem]]\nname = \"two\"\n\
                    mount = \"true {dev} {mnt}\"\nprograms = [\"mkfs.none\"]";
    let factors = "fs = [\"one\", \"two\"]\ndevice = \"loop:64M\"";
    let work = format!("[[workload]]\nuse = \"tiny-files\"\n{missing}");
    let file = env.experiment(factors, &work);
    refused_alike(
        &env,
        &[&file, "--yes"],
        &["nothing to run: one, two: mkfs.none is not installed"],
    );
    assert_nothing_left(&env);
}

/// Where tools are missing, another file system stands in, and one line says what to install; who
/// names file systems gets these and no others.
#[test]
fn loop_another_stands_in() {
    let Some(env) = TestEnv::privileged(&["ext4", "xfs", "btrfs"]) else { return };
    let run = |args: &[&str]| {
        let command = without_command(&env, "mkfs.xfs", &[&["run", "--dry-run"], args].concat());
        command.map(|command| env.finish(command))
    };
    let Some(ran) = run(&[]) else { return };
    ran.good().says(&[
        "standing in: ext3 for xfs; missing tools: install with `apt-get install xfsprogs` or pass \
         --install-tools",
        "xfs: mkfs.xfs is not installed; install the package xfsprogs; ext3 stands in",
    ]);
    let named = run(&["--fs", "xfs,btrfs"]).unwrap().good();
    assert!(!named.stderr.contains("standing in"), "{}", named.stderr);
    run(&["--fs", "xfs"]).unwrap().refused(1, &["nothing to run: xfs: mkfs.xfs is not installed"]);
    assert_nothing_left(&env);
}
