//! Real work that fails, is stopped or is killed in the middle: said clearly, nothing is lost, and
//! nothing of ours lives on.
//!
//! Programs run with an empty environment, so the processes of a test environment do not show them:
//! they are found as descendants.

use crate::loop_bad_input::without_command;
use crate::programs_bad::{Member, tar};
use crate::support::{
    FEW_INODES, Live, PROGRAM, Ran, TestEnv, assert_nothing_left, phase, record_of, sh, tool,
};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunState;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A process that may be asked for again: its number and the moment of its start.
type Process = (i32, String);

/// What stat(5) says of a process: its name, its parent and the moment of its start.
fn stat(pid: i32) -> Option<(String, i32, String)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let name = head.split_once('(')?.1.to_owned();
    // A process that was ended and not yet waited for works no more.
    (fields[0] != "Z").then_some((name, fields[1].parse().ok()?, fields[19].to_owned()))
}

/// All that descends from `top`, with their names.
fn descendants(top: Pid) -> Vec<(Process, String)> {
    let all: Vec<(i32, (String, i32, String))> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect();
    let (mut found, mut parents) = (Vec::new(), vec![top.as_raw_nonzero().get()]);
    while let Some(parent) = parents.pop() {
        for (pid, (name, _, start)) in
            all.iter().filter(|(_, (_, record_of, _))| *record_of == parent)
        {
            parents.push(*pid);
            found.push(((*pid, start.clone()), name.clone()));
        }
    }
    found
}

/// Waits until a program of this name descends from the run, and stops it where it is.
#[track_caller]
fn stop_program(live: &mut Live<'_>, name: &str) -> Pid {
    live.poll(name, |live| {
        let found = descendants(live.pid()).into_iter().find(|(_, known)| known == name)?;
        let pid = Pid::from_raw(found.0.0)?;
        if is_only_asked(pid) {
            return None;
        }
        kill_process(pid, Signal::STOP).ok()?;
        // One that was about to end takes the signal and is gone.
        (0..1000).find_map(|_| match state(pid) {
            Some('T') => Some(Some(pid)),
            None | Some('Z' | 'X') => Some(None),
            Some(_) => {
                std::thread::sleep(Duration::from_millis(1));
                None
            }
        })?
    })
}

/// Whether it was started to say its version, before the work.
fn is_only_asked(pid: Pid) -> bool {
    let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|word| word == b"--version")
}

/// The letter of `/proc/PID/stat`.
fn state(pid: Pid) -> Option<char> {
    let text = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

/// None of these is alive any more.
#[track_caller]
fn assert_ended(processes: &[(Process, String)]) {
    let alive = |((pid, start), _): &&(Process, String)| {
        stat(*pid).is_some_and(|(_, _, now)| now == *start)
    };
    let deadline = Instant::now() + Duration::from_secs(3);
    loop {
        let left: Vec<_> = processes.iter().filter(alive).collect();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "still at work: {left:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An experiment on a device in memory, with warm caches.
fn file(env: &TestEnv, fs: &str, device: &str, workloads: &str) -> String {
    let factors = format!("fs = \"{fs}\"\ndevice = \"{device}\"\ncache = \"warm\"");
    env.experiment(&factors, workloads)
}

/// A workload with one command.
fn command(name: &str, keys: &str) -> String {
    format!(
        "[[workload]]\nname = \"{name}\"\ndataset = \"small-100\"\n\
         phases = [{{ name = \"c\", op = \"command\", {keys} }}]\n"
    )
}

fn work(name: &str, dataset: &str, phases: &str) -> String {
    format!("[[workload]]\nname = \"{name}\"\ndataset = {dataset}\nphases = [{phases}]\n")
}

#[track_caller]
fn failure(record: &TrialRecord) -> (&str, &str, Option<&str>) {
    match &record.outcome {
        Outcome::Failed { step, error, remedy } => (step, error, remedy.as_deref()),
        other => panic!("{}: {other:?}", record.key.workload),
    }
}

/// Each fails its own trial, with its exit and its last words; the others are not touched by it.
#[test]
fn programs_that_fail() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let workloads = [
        command("exits", "run = \"echo first >&2; echo last words >&2; exit 7\""),
        command("killed", "run = \"kill -9 $$\""),
        command("inner-killed", "run = \"sh -c 'kill -9 $$'\""),
        command("prepare", "run = \"touch {mnt}/x\", prepare = \"echo not ready >&2; exit 3\""),
        command("cleanup", "run = \"true\", cleanup = \"false\""),
        command("floods", "run = \"yes out | head -c 100M; yes err | head -c 100M >&2; exit 1\""),
        command("reads", "run = \"cat > {mnt}/x; test -e {mnt}/x && test ! -s {mnt}/x\""),
        command("fills", "run = \"head -c 400M /dev/zero > {mnt}/x\""),
        command("not-there", "run = \"no-such-program-4711\""),
        work("good", "\"small-100\"", "\"copy\""),
    ];
    let file = file(&env, "ext4", "ram:64M", &workloads.concat());
    let ran = env.run(&["run", &file, "--yes"]).code(1);
    ran.says(&[
        "phase c: sh ended with exit code 7: first / last words",
        "phase c: sh was killed by signal 9",
        "[10/10]",
        "good: small-100",
    ]);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Done);
    let records = env.records(1);
    assert_eq!(records.len(), 10);
    let said = |workload: &str, step: &str, words: &[&str]| {
        let (at, error, remedy) = failure(record_of(&records, workload));
        assert_eq!(at, step, "{workload}: {error}");
        words.iter().for_each(|word| assert!(error.contains(word), "{workload}: {error}"));
        assert!(error.len() < 700, "{workload}: {} bytes are told", error.len());
        remedy.map(str::to_owned)
    };
    said("exits", "measure c", &["exit code 7", "last words"]);
    said("killed", "measure c", &["killed by signal 9"]);
    said("inner-killed", "measure c", &["exit code 137", "killed by signal 9"]);
    said("prepare", "hook c", &["exit code 3: not ready", "echo not ready"]);
    said("cleanup", "hook c", &["exit code 1", "in \"false\""]);
    said("floods", "measure c", &["exit code 1", "err / err"]);
    let remedy = said("fills", "measure c", &["No space left on device"]);
    assert!(remedy.is_some_and(|remedy| remedy.contains("--on")));
    said("not-there", "measure c", &["exit code 127", "no-such-program-4711", "not found"]);
    assert_eq!(
        record_of(&records, "prepare").phases.len(),
        0,
        "what was not ready is not measured"
    );
    assert_eq!(phase(record_of(&records, "cleanup"), "c").error, None, "it was measured before");
    for done in ["reads", "good"] {
        assert_eq!(record_of(&records, done).outcome, Outcome::Done, "{done}");
    }
}

/// Whoever is left behind is ended, also where it keeps the file system busy; it is said.
#[test]
fn what_a_command_leaves_behind_is_ended() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let number = std::process::id();
    let sleep = |n: u32| format!("sleep {n}{number}");
    let run = format!(
        "(cd {{data}}; {}) & setsid sh -c 'cd {{mnt}}; exec {} 9> {{mnt}}/open' & \
         (setsid sh -c '(trap : TERM INT; {}) & exit' &) ; sleep 0.3",
        sleep(7001),
        sleep(7002),
        sleep(7003)
    );
    let workloads = [
        command("busy", &format!("run = \"{run}\"")),
        command("hook", &format!("run = \"true\", prepare = \"{run}\"")),
        command("waits", "run = \"sleep 0.1 & wait\""),
    ];
    let file = file(&env, "ext4", "ram:64M", &workloads.concat());
    env.run(&["run", &file, "--yes"]).good().says(&["left processes at work in the background"]);
    assert_nothing_left(&env);
    let alive = sh(&format!("ps -eo args | grep '[s]leep 700.{number}' || true"));
    assert_eq!(alive, "", "left behind");
    let records = env.records(1);
    let told = |workload: &str| {
        let notices = &record_of(&records, workload).notices;
        notices.iter().filter(|notice| notice.code == "ended-in-background").count()
    };
    assert_eq!((told("busy"), told("waits")), (1, 0));
}

/// No room, and no inodes: in each program, in the engine, and where the source is put.
#[test]
fn full() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let fill = "{ name = \"fill\", op = \"command\", run = \"head -c 400M /dev/zero > x; true\", \
                timed = false }";
    let by = |name: &str, phase: &str| work(name, "\"small-2000\"", &format!("{fill}, {phase}"));
    let workloads = [
        by("cp", "\"copy\""),
        by("engine-copy", "{ name = \"copy\", op = \"copy\", by = \"engine\" }"),
        by("tar", "{ name = \"untar\", op = \"untar\" }"),
        by("engine-untar", "{ name = \"untar\", op = \"untar\", by = \"engine\" }"),
        by("archive", "{ name = \"archive\", op = \"archive\", compression = \"none\" }"),
    ];
    let full = file(&env, "ext4", "ram:64M", &workloads.concat());
    env.run(&["run", &full, "--yes"]).code(1).says(&["No space left on device"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), workloads.len());
    for record in &records {
        let (step, error, remedy) = failure(record);
        assert!(step.starts_with("measure "), "{step}: {error}");
        assert!(error.contains("No space left on device"), "{error}");
        assert!(remedy.is_some_and(|remedy| remedy.contains("--on")), "{error}: {remedy:?}");
        assert!(record.phases[0].error.is_some(), "the phase is marked");
    }
    let workloads = [
        work("stage", "\"small-3000\"", "\"copy\""),
        work("cp", "\"small-800\"", "\"copy\""),
        work("tar", "{ small = 1100, size = \"1 KiB\" }", "\"untar\""),
        FEW_INODES.to_owned(),
    ];
    let file = file(&env, "few", "ram:64M", &workloads.concat());
    env.run(&["run", &file, "--yes"]).code(1).says(&["inodes are used up"]);
    assert_nothing_left(&env);
    for (workload, at) in [("stage", "stage"), ("cp", "measure copy"), ("tar", "measure untar")] {
        let records = env.records(2);
        let (step, error, remedy) = failure(record_of(&records, workload));
        assert_eq!(step, at, "{error}");
        assert!(remedy.is_some_and(|remedy| remedy.contains("inode_ratio")), "{remedy:?}");
    }
}

/// Three kinds of programs, each long enough to be caught.
const CAUGHT: [(&str, &str); 3] = [
    ("cp", "\"copy\""),
    ("gzip", "\"archive\""),
    (
        "sleep",
        "{ op = \"command\", run = \"(while echo x > {mnt}/x; do :; done) & sleep 1000 | cat\" }",
    ),
];

fn caught(env: &TestEnv, device: &str, phases: &str) -> String {
    let dataset = "{ small = 5_000, size = \"4 KiB\", dirs = 50 }";
    let workloads = work("before", "\"small-100\"", "\"delete\"") + &work("w", dataset, phases);
    let file = file(env, "ext4", device, &workloads);
    // With this seed the caught one comes second.
    let text = fs::read_to_string(file).unwrap().replace("seed = 1", "seed = 3");
    env.write("caught.toml", &text)
}

/// A program that is killed from outside fails its trial; its companions do not live on.
#[test]
fn programs_killed_in_the_middle() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    for (run, (program, phases)) in CAUGHT.iter().enumerate() {
        let file = caught(&env, "ram:96M", phases);
        let mut live = env.start(&["run", &file, "--yes"]);
        let pid = stop_program(&mut live, program);
        let alive = descendants(live.pid());
        kill_process(pid, Signal::KILL).unwrap();
        // A shell goes on with what follows; what it leaves behind is not waited for.
        let killed = *program == "sleep";
        let ran = live.end().code(i32::from(!killed));
        assert_ended(&alive);
        assert_nothing_left(&env);
        let records = env.records(run + 1);
        assert_eq!(record_of(&records, "before").outcome, Outcome::Done);
        if killed {
            ran.says(&["left processes at work in the background"]);
            continue;
        }
        let (step, error, _) = failure(record_of(&records, "w"));
        assert!(step.starts_with("measure "), "{step}: {error}");
        assert!(error.contains("signal 9") || error.contains("Killed"), "{error}");
    }
}

/// One Ctrl-C, a SIGTERM, and Ctrl-C on a terminal: everything is taken down in seconds.
#[test]
fn stopped_in_the_middle_of_a_program() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let stops: [fn(&Live<'_>); 4] = [
        |live| live.signal(Signal::INT),
        |live| live.signal(Signal::TERM),
        |live| live.signal_group(Signal::INT),
        |live| {
            live.signal(Signal::INT);
            live.signal(Signal::INT);
        },
    ];
    for (run, stop) in stops.iter().enumerate() {
        let (program, phases) = CAUGHT[(run + 2) % CAUGHT.len()];
        let file = caught(&env, "ram:96M", phases);
        let mut live = env.start(&["run", &file, "--yes"]);
        stop_program(&mut live, program);
        let alive = descendants(live.pid());
        let began = Instant::now();
        stop(&live);
        let ran = live.end().code(130).says(&["the trials that were done are stored"]);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert!(!ran.stderr.contains("left behind"), "{}", ran.stderr);
        assert_ended(&alive);
        assert_nothing_left(&env);
        assert_eq!(env.runs()[run].state, RunState::Interrupted);
        assert_eq!(record_of(&env.records(run + 1), "before").outcome, Outcome::Done);
    }
}

/// After `kill -9` no program works on, and the next start takes down the rest.
#[test]
fn killed_in_the_middle_of_a_program() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    for (run, (program, phases)) in CAUGHT.iter().enumerate() {
        let file = caught(&env, "loop:96M", phases);
        let mut live = env.start(&["run", &file, "--yes"]);
        stop_program(&mut live, program);
        let alive = descendants(live.pid());
        live.signal(Signal::KILL);
        assert_eq!(live.end().code, None);
        env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
        assert_ended(&alive);
        assert_nothing_left(&env);
        assert_eq!(env.runs()[run].state, RunState::Interrupted);
        assert_eq!(record_of(&env.records(run + 1), "before").outcome, Outcome::Done);
    }
}

/// Stages in `place` that were not there before.
fn stages(place: &Path, known: &[String]) -> Vec<String> {
    let list = fs::read_dir(place).unwrap().flatten();
    let names = list.map(|entry| entry.path().display().to_string());
    names.filter(|name| name.ends_with("-stage") && !known.contains(name)).collect()
}

/// While the data are being made there is no trial yet, and they go with the run.
#[test]
fn stopped_while_the_stage_is_made() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let memory = Path::new("/dev/shm");
    let known = stages(memory, &[]);
    let big = |place: &str| {
        let work = work("w", "\"avi-3400m\"", "\"copy\"");
        let work = format!("{work}source = \"{place}\"\n");
        file(&env, "ext4", "loop:5000M", &work)
    };
    for (run, (place, signal)) in [
        ("memory", Signal::INT),
        ("memory", Signal::KILL),
        ("other", Signal::TERM),
        ("other", Signal::KILL),
    ]
    .into_iter()
    .enumerate()
    {
        let file = big(place);
        let mut live = env.start(&["run", &file]);
        let images = env.images();
        let dir = if place == "memory" { memory } else { images.as_path() };
        let made = live.poll("a stage", |_| stages(dir, &known).into_iter().next());
        live.poll("a file in it", |_| {
            fs::metadata(Path::new(&made).join("0/data")).ok().map(|_| ())
        });
        let began = Instant::now();
        live.signal(signal);
        let ran = live.end();
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        if signal == Signal::KILL {
            assert!(Path::new(&made).exists(), "there is something to be undone");
            env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
        } else {
            ran.code(130);
        }
        assert!(!Path::new(&made).exists(), "{made} is left");
        assert_nothing_left(&env);
        assert_eq!(env.runs()[run].state, RunState::Interrupted);
        assert_eq!(env.runs()[run].trials_done, 0);
    }
}

/// What does not fit is said before anything is written: the device, the stage, the images.
#[test]
fn too_large() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let small = env.make_dir("small");
    let refused = |ran: Ran, words: &[&str]| {
        ran.says(words);
        assert_eq!(fs::read_dir(&small).unwrap().count(), 0, "something was written");
        assert_nothing_left(&env);
    };
    let copy = file(&env, "ext4", "loop:1500M", &work("w", "\"mixed-830m\"", "\"copy\""));
    let said = ["ext4 on loop:1500M will have", "\"w\" needs", "or --scale below 1"];
    refused(env.run(&["run", &copy]).code(2), &said);
    assert!(!env.db().exists());
    let own = env.make_dir("own");
    sh(&format!("head -c 40M /dev/zero > {own}/f"));
    let mine = file(&env, "ext4", "loop:64M", &work("w", "{ from = \"own\" }", "\"copy\""));
    let ran = env.run(&["run", &mine]).code(2);
    assert!(!ran.stderr.contains("--scale"), "it scales nothing of mine: {}", ran.stderr);
    refused(ran, &["ext4 on loop:64M will have", "\"w\" needs", "a smaller part of your data"]);
    let other = work("w", "\"mixed-830m\"", "\"copy\"") + "source = \"other\"\n";
    let other = file(&env, "ext4", "ram:1500M", &other);
    sh(&format!("mount -t tmpfs -o size=300M none {small}"));
    let on_small = |file: &str| env.run(&["run", file, "--image-dir", &small]);
    let stage = on_small(&other);
    let both = file(
        &env,
        "ext4",
        "loop:220M",
        &(work("w", "{ small = 10_000, size = \"4 KiB\" }", "\"copy\"") + "source = \"other\"\n"),
    );
    let both = on_small(&both);
    let left = fs::read_dir(&small).unwrap().count();
    sh(&format!("umount {small}"));
    assert_eq!(left, 0, "something was written");
    refused(stage.code(1), &["the data of the work need", "300 MiB are free", "--image-dir"]);
    refused(both.code(1), &["the data of the work need", "images 220 MiB and a margin"]);
    let memory = sh("grep -o 'MemAvailable:.*' /proc/meminfo | tr -cd 0-9").parse::<u64>().unwrap();
    let dataset = format!("{{ small = {}, size = \"1 GiB\" }}", (memory >> 20) + 1);
    let memory = work("w", &dataset, "{ op = \"command\", run = \"true\" }");
    let memory = file(&env, "ext4", "loop:64M", &(memory + "source = \"memory\"\n"));
    let ran = env.run(&["run", &memory, "--yes"]).code(1);
    refused(ran, &["nothing to run: ext4: its data need", "of memory", "source = \"other\""]);
}

/// An archive is exchanged when it was looked at: nothing outside of the trial is touched.
#[test]
fn exchanged_archives() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let canary = env.write("canary", "alive");
    let dir = env.dir().display().to_string();
    let path = env.path("a.tar");
    let up = format!("{}canary", "../".repeat(12));
    let below = format!("{}{}/canary", "../".repeat(12), &dir[1..]);
    let evil: [&[Member<'_>]; 4] = [
        &[(&up, b'0', "", "dead"), (&below, b'0', "", "dead")],
        &[(&canary, b'0', "", "dead")],
        &[("l", b'2', &dir, ""), ("l/canary", b'0', "", "dead")],
        &[("h", b'1', &canary, ""), ("h", b'0', "", "dead")],
    ];
    let mut runs = 0;
    for by in ["program", "engine"] {
        for (number, members) in evil.iter().enumerate() {
            tar(&path, &[("d/f", b'0', "", "contents")]);
            let phases = format!("{{ op = \"untar\", by = \"{by}\" }}");
            let work = work("w", "{ from = \"a.tar\" }", &phases);
            let file = file(&env, "ext4", "ram:64M", &work);
            let paused = env.pause(&["run", &file, "--verify"], "stage");
            tar(&path, members);
            let ran = paused.go_on();
            runs += 1;
            assert_eq!(fs::read_to_string(&canary).unwrap(), "alive", "{by}, {members:?}");
            assert!(!Path::new("/canary").exists());
            assert_nothing_left(&env);
            let records = env.records(runs);
            let (step, error, _) = failure(&records[0]);
            // What GNU tar takes without its leading slash is found out when it is compared.
            let at = if by == "program" && number == 1 { "verify" } else { "measure untar" };
            assert_eq!(step, at, "{by}, {number}: {error}");
            ran.code(1).says(&[error]);
        }
    }
    tar(&path, &[("d/f", b'0', "", "contents")]);
    let work = work("w", "{ from = \"a.tar\" }", "\"untar\"");
    let file = file(&env, "ext4", "ram:64M", &work);
    let paused = env.pause(&["run", &file], "stage");
    tar(&path, &[("f", b'0', "", &"another file ".repeat(1000))]);
    paused.go_on().code(1).says(&[
        "a.tar",
        "it was 10240 B and is 20480 B",
        "leave your data as they are",
    ]);
    assert_nothing_left(&env);
}

/// Data that are others now than when the plan was made are not gone on with.
#[test]
fn changed_between_plan_and_resume() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let own = env.make_dir("own");
    fs::write(env.path("own/file"), "mine").unwrap();
    let hang = "{ op = \"command\", run = \"sleep 1000\" }";
    let work = work("w", "{ from = \"own\" }", hang);
    let file = file(&env, "ext4", "ram:64M", &work);
    let mut live = env.start(&["run", &file, "--yes"]);
    stop_program(&mut live, "sleep");
    live.signal(Signal::INT);
    live.end().code(130);
    fs::write(env.path("own/more"), "more of mine").unwrap();
    let ran = env.resume_allowed().code(1);
    ran.says(&["own: were 1 entries", "are 2 entries"]);
    sh(&format!("rm -r {own}"));
    env.resume_allowed().code(1).says(&["own", "No such file"]);
    assert_nothing_left(&env);
    assert_eq!(env.runs().len(), 1);
}

/// Data that only root may read, and work as another user.
#[test]
fn unreadable_for_the_user_of_the_work() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let own = env.make_dir("own");
    sh(&format!("echo secret > {own}/file; chmod 600 {own}/file"));
    let file = file(&env, "ext4", "ram:64M", &work("w", "{ from = \"own\" }", "\"copy\""));
    let ran = env.run(&["run", &file, "--user", "65534:65534"]).code(1);
    ran.says(&["own/file: Permission denied", "65534:65534, read the data"]);
    assert_nothing_left(&env);
    assert_eq!(failure(&env.records(1)[0]).0, "stage");
}

/// A missing program is named with its package, in the table and aloud; the others run.
#[test]
fn missing_programs() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let workloads =
        work("music", "\"wav-5\"", "\"flac\"") + &work("good", "\"small-100\"", "\"copy\"");
    let all = file(&env, "ext4", "ram:256M", &workloads);
    let args = ["run", &all, "--scale", "0.02"];
    let Some(command) = without_command(&env, "flac", &args) else { return };
    let ran = env.finish(command).good();
    let words = ["flac is not installed; install the package flac", "not run"];
    let ran = ran.says(&words);
    assert!(ran.stderr.contains("install"), "it is said aloud: {}", ran.stderr);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 1);
    assert_eq!(record_of(&records, "good").outcome, Outcome::Done);
    let only = file(&env, "ext4", "ram:256M", &work("music", "\"wav-5\"", "\"flac\""));
    let command = without_command(&env, "flac", &["run", &only, "--scale", "0.02"]).unwrap();
    let ran = env.finish(command).code(1);
    ran.says(&["nothing to run", "flac is not installed; install the package flac"]);
    assert_nothing_left(&env);
}

/// Without a process namespace what a command has started outlives `kill -9`; the next start ends
/// it, and then removes the rest.
#[test]
fn killed_as_an_ordinary_user() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let Some(setpriv) = tool("setpriv") else { return };
    let dir = env.dir().display().to_string();
    let target = env.make_dir("target");
    let run = "(setsid sh -c 'sleep 1000; true' & exit); cd / && sleep 1000 | cat";
    let factors = format!("device = \"{target}\"\ncache = \"warm\"");
    let file = env.experiment(&factors, &command("w", &format!("run = \"{run}\"")));
    sh(&format!("chown -R 65534:65534 {dir}"));
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups", PROGRAM];
    let as_user = |args: &[&str]| env.command_of(&setpriv, &[&user[..], args].concat());
    let mut live = env.start_command(as_user(&["run", &file, "--yes"]));
    live.poll("both programs", |live| {
        let sleeps = descendants(live.pid()).into_iter().filter(|(_, name)| name == "sleep");
        (sleeps.count() == 2).then_some(())
    });
    let alive = descendants(live.pid());
    live.signal(Signal::KILL);
    live.end();
    let began = Instant::now();
    let ran = env.finish(as_user(&["list"])).good();
    ran.says(&["cleaned up after a killed run", "interrupted"]);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_ended(&alive);
    assert_nothing_left(&env);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0, "the user's directory is as it was");
}
