//! `--resume`: the rest of an interrupted RUN as it would have come, and refusals with what has
//! changed.

use crate::support::devices::{Disk, hash};
use crate::support::{Live, PROGRAM, Ran, TestEnv, assert_nothing_left, sh, store_by_hand, tool};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use rustix::process::{Signal, kill_process};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Short enough for a test, and long enough to be caught.
const SHORT: [&str; 4] = ["--scale", "0.4", "--cache", "warm"];
const FILES: u64 = 8000;

/// RUN 1 has two trials; it is ended by `end` in the second.
fn interrupted(env: &TestEnv, args: &[&str], end: fn(&Live<'_>)) {
    let mut live = env.start(&[&["run"], args, &SHORT].concat());
    live.stop_in_phase(2);
    end(&live);
    assert_ne!(live.end().code, Some(0));
}

fn by_ctrl_c(live: &Live<'_>) {
    live.signal_group(Signal::INT);
}

/// RUN 1 is done as if nothing had happened.
#[track_caller]
fn done(env: &TestEnv, attempts_at_second: usize) {
    let store = Store::open_read_only(&env.db()).unwrap();
    let run = store.run(RunId(1)).unwrap();
    assert_eq!((run.state, run.trials_done), (RunState::Done, 2));
    assert_eq!(run.note, None);
    let attempts = store.attempts(RunId(1)).unwrap();
    let mut outcomes: Vec<(u32, &Outcome)> =
        attempts.iter().map(|(_, record)| (record.key.sequence, &record.outcome)).collect();
    assert_eq!(outcomes.len(), 1 + attempts_at_second, "{outcomes:?}");
    outcomes.retain(|(_, outcome)| **outcome == Outcome::Done);
    assert_eq!(outcomes, [(0, &Outcome::Done), (1, &Outcome::Done)]);
    let (last, before) = attempts.split_last().unwrap();
    assert_eq!(last.1.outcome, Outcome::Done, "the latest attempt is the one that counts");
    assert_eq!(last.1.phases[0].ops, FILES);
    assert!(before.iter().all(|(_, record)| record.started_unix_ns < last.1.started_unix_ns));
    let sessions = store.sessions(RunId(1)).unwrap();
    let first: Vec<u32> = sessions.iter().map(|session| session.first_sequence).collect();
    assert_eq!(first, [0, 1]);
}

fn resumed_after(end: fn(&Live<'_>), attempts_at_second: usize) {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    interrupted(&env, &[&experiment], end);
    let plan = plan_of(&env, 1);
    let ran = env.run(&["run", "--resume"]).good();
    ran.says(&["resuming RUN 1 (long): 1 trials are left", "[2/2]", "many / create"]);
    assert_eq!(plan_of(&env, 1), plan);
    done(&env, attempts_at_second);
    assert_eq!(env.runs().len(), 1);
    let shown = env.run(&["show", "1"]).good();
    assert!(shown.stdout.contains("done"), "{}", shown.stdout);
    env.run(&["run", "--resume"]).refused(2, &["no RUN was interrupted", "fsarena list"]);
    env.run(&["run", "--resume=1"]).refused(2, &["RUN 1 is done"]);
    assert_nothing_left(&env);
}

/// The plan of a RUN, but for the moment it began.
fn plan_of(env: &TestEnv, run: u32) -> serde_json::Value {
    let shown = env.run(&["show", &run.to_string(), "--json"]).good().json();
    let mut plan = shown["run"]["plan"].clone();
    let ask = plan["verdict"].as_object_mut().expect("two blocks ask for verdicts");
    assert!(ask.remove("begun_unix_ns").is_some(), "{ask:?}");
    assert!(plan["schedule"].is_array());
    plan
}

#[test]
fn resumed_after_ctrl_c() {
    resumed_after(by_ctrl_c, 2);
}

#[test]
fn resumed_after_a_kill() {
    resumed_after(|live| live.signal(Signal::KILL), 1);
}

#[test]
fn resumed_after_a_kill_of_everything() {
    resumed_after(|live| live.kill_tree(), 1);
}

/// Interrupted twice, and the second time within the resumed piece.
#[test]
fn resumed_twice() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    interrupted(&env, &[&experiment], by_ctrl_c);
    let mut live = env.start(&["run", "--resume=1"]);
    live.stop_in_phase(2);
    live.signal(Signal::INT);
    live.end().code(130).says(&["interrupted; the trials that were done are stored"]);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    let uid = env.runs()[0].uid.clone();
    env.run(&["run", &format!("--resume={uid}")]).good();
    assert_nothing_left(&env);
    let store = Store::open_read_only(&env.db()).unwrap();
    let numbers: Vec<(u32, u32)> = store
        .attempts(RunId(1))
        .unwrap()
        .iter()
        .map(|(attempt, record)| (record.key.sequence, *attempt))
        .collect();
    assert_eq!(numbers, [(0, 1), (1, 1), (1, 2), (1, 3)]);
    assert_eq!(store.sessions(RunId(1)).unwrap().len(), 3);
    assert_eq!(store.run(RunId(1)).unwrap().state, RunState::Done);
}

/// Before the first trial, and after the last one.
#[test]
fn resumed_with_all_or_nothing_left() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(sqlite) = tool("sqlite3") else { return };
    let experiment = env.long_experiment("ext4", "loop:256M", "");
    let mut live = env.start(&[&["run", &experiment], &SHORT[..]].concat());
    live.image_begun();
    live.kill_tree();
    live.end();
    let ran = env.run(&["run", "--resume"]).good();
    ran.says(&["resuming RUN 1 (long): 2 trials are left", "[1/2]", "[2/2]"]);
    let before = env.records(1);
    // As if it had been killed between its last record and its last word.
    sh(&format!("{sqlite} {} \"UPDATE run SET state = 'interrupted'\"", env.db().display()));
    let ran = env.run(&["run", "--resume"]).good().says(&["0 trials are left"]);
    assert!(!ran.stderr.contains("[2/2]") && !ran.stderr.contains("writing"), "{}", ran.stderr);
    assert_eq!(env.records(1), before);
    let store = Store::open_read_only(&env.db()).unwrap();
    assert_eq!(store.run(RunId(1)).unwrap().state, RunState::Done);
    let sessions = store.sessions(RunId(1)).unwrap();
    assert!(sessions.iter().all(|session| session.first_sequence == 0), "{sessions:?}");
    assert_nothing_left(&env);
}

/// Order and contents are those of a RUN that nobody interrupted.
#[test]
fn the_rest_is_what_would_have_come() {
    let Some(env) = TestEnv::with_devices(&[]) else { return };
    let target = env.make_dir("target");
    let text = format!(
        "schema = 1\nname = \"two\"\n[run]\nblocks = 2\n[factors]\ndevice = \"{target}\"\n\
         cache = \"warm\"\n\
         [[workload]]\nname = \"a\"\nfiles = 4000\nsize = \"256 B\"\nphases = [\"create\"]\n\
         [[workload]]\nname = \"b\"\nfiles = 4000\nsize = \"512 B\"\nphases = [\"create\"]\n"
    );
    let file = env.write("two.toml", &text);
    let args = ["run", &file, "--keep", "--seed"];
    let kept = |ran: &Ran| {
        let line = ran.stderr.lines().find_map(|line| line.strip_prefix("kept: ")).unwrap();
        let contents = sh(&format!("cd {line} && find . -type f | sort | xargs sha256sum"));
        fs::remove_dir_all(line).unwrap();
        assert!(contents.lines().count() >= 4000);
        hash(&env.write("contents", &contents))
    };
    let whole = kept(&env.run(&[&args[..], &["7"]].concat()).good());
    let mut live = env.start(&[&args[..], &["7"]].concat());
    live.wait_for("[2/4]");
    live.signal(Signal::INT);
    live.end().code(130);
    fs::remove_dir_all(&target).unwrap();
    fs::create_dir(&target).unwrap();
    let ran = env.run(&["run", "--resume", "--keep"]).good();
    assert!(!ran.stderr.contains("[1/4]") && ran.stderr.contains("[4/4]"), "{}", ran.stderr);
    assert_eq!(kept(&ran), whole);
    assert_eq!(plan_of(&env, 1), plan_of(&env, 2));
    let (one, two) = (env.records(1), env.records(2));
    let key = |record: &fsarena_model::record::TrialRecord| {
        let key = &record.key;
        (key.sequence, key.block, key.position, key.contender.clone(), key.workload.clone())
    };
    assert_eq!(one.iter().map(key).collect::<Vec<_>>(), two.iter().map(key).collect::<Vec<_>>());
    assert!(two.is_sorted_by_key(|record| record.started_unix_ns));
    let other = kept(&env.run(&[&args[..], &["8"]].concat()).good());
    assert_ne!(other, whole, "another seed writes something else");
    assert_nothing_left(&env);
}

/// A RUN that could not go on, and can now.
#[test]
fn resumed_after_a_failure() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    interrupted(&env, &[&experiment], by_ctrl_c);
    let store = Store::open(&env.db()).unwrap();
    // What fails is refused before a RUN begins, or fails by chance: so it is said by hand here.
    store.set_state(RunId(1), RunState::Failed, Some("no room")).unwrap();
    drop(store);
    env.run(&["run", "--resume"]).refused(2, &["no RUN was interrupted", "--resume=1"]);
    env.run(&["run", "--resume=1"]).good();
    let runs = env.runs();
    assert_eq!((runs[0].state, runs[0].trials_done, &runs[0].note), (RunState::Done, 2, &None));
    assert_nothing_left(&env);
}

/// Sees a file of the kernel with another text in it.
fn with_file(env: &TestEnv, path: &str, text: &str, args: &[&str]) -> Option<Ran> {
    let unshare = tool("unshare")?;
    let fake = env.write("fake", text);
    let script = format!("mount --bind {fake} {path}; exec \"$@\"");
    let all = [&["-m", "sh", "-ec", &script, "sh", PROGRAM], args].concat();
    Some(env.finish(env.command_of(&unshare, &all)))
}

/// What has changed is named, and nothing is begun.
#[test]
fn a_changed_machine_or_program_is_refused() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    interrupted(&env, &[&experiment], by_ctrl_c);
    let swappiness = "/proc/sys/vm/swappiness";
    let now = fs::read_to_string(swappiness).unwrap();
    let words = [&*format!("swappiness: was {}, is 17", now.trim()), "start a new RUN instead"];
    if let Some(ran) = with_file(&env, swappiness, "17\n", &["run", "--resume"]) {
        ran.refused(2, &words);
    }
    let other = env.path("other-program");
    fs::copy(PROGRAM, &other).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&other).unwrap();
    file.write_all(b"x").unwrap();
    drop(file);
    let command = env.command_of(&other.display().to_string(), &["run", "--resume=1"]);
    env.finish(command)
        .refused(2, &["RUN 1 cannot be resumed", "the program: its SHA-256 began with"]);
    fs::remove_file(&other).unwrap();
    let tools = env.make_dir("tools");
    for name in ["mke2fs", "mkfs.ext4"] {
        let path = Path::new(&tools).join(name);
        fs::write(&path, "#!/bin/sh\necho 'mke2fs 9.9 (1-Jan-2030)' >&2\n").unwrap();
        sh(&format!("chmod 755 {}", path.display()));
    }
    let mut command = env.command(&["run", "--resume"]);
    command.env("PATH", format!("{tools}:{}", std::env::var("PATH").unwrap_or_default()));
    env.finish(command).refused(2, &["the program that makes ext4: was", "9.9"]);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    assert_nothing_left(&env);
    env.run(&["run", "--resume"]).good();
    done(&env, 2);
    assert_nothing_left(&env);
}

/// A serial number for a loop device, as udev would note it down; taken away with the test.
struct Serial {
    file: PathBuf,
    /// Directories that were made for it, the innermost first.
    made: Vec<PathBuf>,
}

impl Serial {
    fn for_disk(disk: &Disk) -> Self {
        let number = sh(&format!("cat /sys/block/{}/dev", disk.name()));
        let dir = Path::new("/run/udev/data");
        let made = dir.ancestors().filter(|dir| !dir.exists()).map(Path::to_owned).collect();
        fs::create_dir_all(dir).unwrap();
        let file = dir.join(format!("b{number}"));
        fs::write(&file, "E:ID_SERIAL_SHORT=fsarena-test\n").unwrap();
        Self { file, made }
    }
}

impl Drop for Serial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
        for dir in &self.made {
            let _ = fs::remove_dir(dir);
        }
    }
}

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const OTHER_BOOT: &str = "01234567-89ab-cdef-0123-456789abcdef\n";

/// A reboot alone is no other machine: numbers of that boot are new, what the device is has stayed.
#[test]
fn resumed_after_a_reboot() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(mut disk) = Disk::new("64M") else { return };
    let serial = Serial::for_disk(&disk);
    let experiment = env.long_experiment("ext4", disk.device(), "");
    let args = [&*experiment, "--wipe", disk.device()];
    interrupted(&env, &args, by_ctrl_c);
    let image = disk.image();
    disk.replace(&image);
    let wipe = disk.wipe(&disk.signature());
    let resume = ["run", "--resume", "--wipe", &wipe];
    env.run(&resume).refused(2, &["diskseq", "start a new RUN instead"]);
    let Some(ran) = with_file(&env, BOOT_ID, OTHER_BOOT, &resume) else { return };
    ran.good();
    done(&env, 2);
    let store = Store::open_read_only(&env.db()).unwrap();
    let sessions = store.sessions(RunId(1)).unwrap();
    assert_eq!(sessions[1].boot_id, OTHER_BOOT.trim());
    assert_ne!(sessions[0].boot_id, sessions[1].boot_id);
    drop((serial, disk));
    assert_nothing_left(&env);
}

/// Without a name of its own it cannot be told from any other of its size.
#[test]
fn a_device_without_a_serial_number_after_a_reboot() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("64M") else { return };
    let experiment = env.long_experiment("ext4", disk.device(), "");
    interrupted(&env, &[&experiment, "--wipe", disk.device()], by_ctrl_c);
    let before = disk.hash();
    let wipe = disk.wipe(&disk.signature());
    let resume = ["run", "--resume", "--wipe", &wipe];
    let Some(ran) = with_file(&env, BOOT_ID, OTHER_BOOT, &resume) else { return };
    ran.refused(2, &[disk.device(), "neither a serial number", "start a new RUN instead"]);
    assert_eq!(disk.hash(), before);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    drop(disk);
    assert_nothing_left(&env);
}

/// What a session has kept is not in the way of the next.
#[test]
fn resumed_beside_what_was_kept() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    interrupted(&env, &[&experiment, "--keep"], by_ctrl_c);
    let images = || fs::read_dir(env.images()).unwrap().flatten().map(|entry| entry.path());
    let first: Vec<PathBuf> = images().collect();
    assert_eq!(first.len(), 1);
    env.run(&["run", "--resume", "--keep"]).good();
    assert_eq!(images().count(), 2);
    assert!(first[0].exists());
    done(&env, 2);
    images().for_each(|image| fs::remove_file(image).unwrap());
    assert_nothing_left(&env);
}

/// Another file system under the image is another disk; the RUN stands as it did, and goes on when
/// the old one is back.
#[test]
fn what_lies_under_the_image_of_a_resumed_run() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let dir = env.make_dir("under");
    let mount = || sh(&format!("mount -t tmpfs -o size=200M none {dir}"));
    let unmount = || sh(&format!("umount {dir}"));
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    mount();
    interrupted(&env, &[&experiment, "--image-dir", &dir], by_ctrl_c);
    unmount();
    let changed = env.run(&["run", "--resume"]);
    fs::remove_dir(&dir).unwrap();
    let gone = env.run(&["run", "--resume"]);
    let state = env.runs()[0].state;
    env.make_dir("under");
    mount();
    let back = env.run(&["run", "--resume"]);
    unmount();
    changed.refused(1, &["would not be comparable", "backing_fs: was tmpfs"]);
    gone.refused(2, &[&dir, "the image directory of this RUN, does not exist"]);
    assert_eq!(state, RunState::Interrupted);
    back.good();
    done(&env, 2);
    assert_nothing_left(&env);
}

/// Consent is asked for again, for what is on the device now; another device is refused.
#[test]
fn the_device_of_a_resumed_run() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let (Some(mut disk), Some(other)) = (Disk::new("64M"), Disk::new("64M")) else { return };
    let link = env.path("link");
    std::os::unix::fs::symlink(disk.device(), &link).unwrap();
    let path = link.display().to_string();
    let experiment = env.long_experiment("ext4", &path, "");
    interrupted(&env, &[&experiment, "--wipe", &path], by_ctrl_c);
    let before = (disk.hash(), other.hash());
    let signature = disk.signature();
    let wipe = WipeText::new(&path, &signature);
    let exact = format!("say: --wipe {}", wipe.0);
    env.run(&["run", "--resume"]).refused(2, &["were not given up", &exact]);
    env.run(&["run", "--resume", "--wipe", &format!("{path}=xfs")]).refused(2, &[&exact]);
    let too_many = ["run", "--resume", "--wipe", &wipe.0, "--wipe", other.device()];
    env.run(&too_many).refused(2, &[other.device(), "not under test"]);
    // The link leads to another device by now, of the same size.
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(other.device(), &link).unwrap();
    let to_other = env.run(&["run", "--resume", "--wipe", &path]);
    to_other.refused(2, &["RUN 1 cannot be resumed", disk.device(), "device number"]);
    fs::remove_file(&link).unwrap();
    env.run(&["run", "--resume", "--wipe", &wipe.0]).refused(2, &["it is not there"]);
    std::os::unix::fs::symlink(disk.device(), &link).unwrap();
    assert_eq!((disk.hash(), other.hash()), before);
    // Another image in the same place, of another size, and then nothing at all.
    let medium = format!("{}.other", disk.image());
    sh(&format!("truncate -s 80M {medium}"));
    let unchanged = hash(&medium);
    disk.replace(&medium);
    let words = ["its size in bytes was 67108864 and is 83886080", "diskseq"];
    env.run(&["run", "--resume", "--wipe", &path]).refused(2, &words);
    assert_eq!(hash(&medium), unchanged);
    let name = disk.device().to_owned();
    disk.detach();
    let ran = env.run(&["run", "--resume", "--wipe", &path]);
    ran.refused(2, &["RUN 1 cannot be resumed", &name]);
    assert_eq!(disk.hash(), before.0);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    drop((disk, other));
    assert_nothing_left(&env);
}

/// What is given up, in the words of `--wipe`.
struct WipeText(String);

impl WipeText {
    fn new(path: &str, signature: &str) -> Self {
        Self(if signature.is_empty() { path.to_owned() } else { format!("{path}={signature}") })
    }
}

#[test]
fn a_device_of_the_user_is_resumed_with_consent() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("64M") else { return };
    let experiment = env.long_experiment("ext4", disk.device(), "");
    interrupted(&env, &[&experiment, "--wipe", disk.device()], |live| live.kill_tree());
    let wipe = disk.wipe(&disk.signature());
    env.run(&["run", "--resume", "--wipe", &wipe]).good();
    done(&env, 1);
    disk.assert_free();
    drop(disk);
    assert_nothing_left(&env);
}

/// Words that make no sense together, and RUNs that cannot be gone on with.
#[test]
fn resume_refused() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    env.run(&["run", "--resume"]).refused(2, &["there is no database yet"]);
    assert!(!env.db().exists());
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    let mut live = env.start(&[&["run", &experiment], &SHORT[..]].concat());
    let worker = live.stop_in_phase(1);
    env.run(&["run", "--resume=1"]).refused(2, &["RUN 1 is running in another process"]);
    env.run(&["run", "--resume"]).refused(2, &["no RUN was interrupted"]);
    env.run(&["run", "--resume=7"]).refused(1, &["no such RUN"]);
    kill_process(worker, Signal::CONT).unwrap();
    live.end().good();
    for other in [
        &["--fs", "ext4"][..],
        &["--on", "loop:64M"],
        &["--runs", "3"],
        &["--seed", "1"],
        &["--scheduler", "none"],
        &["--ssd", "none"],
        &["--dry-run"],
        &["quick"],
    ] {
        let ran = env.run(&[&["run", "--resume=1"], other].concat()).code(2);
        assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    }
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Done);
    assert_eq!(env.runs().len(), 1);
}

/// What has to be compared was not stored.
#[test]
fn a_run_without_its_place_is_refused() {
    let Some(env) = TestEnv::with_devices(&[]) else { return };
    store_by_hand(&env.db(), |header| header.place = None);
    let words = ["RUN 1 cannot be resumed", "by a version that did not store what a resume needs"];
    env.run(&["run", "--resume"]).refused(2, &words);
    env.run(&["run", "--resume=1"]).refused(2, &words);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    env.run(&["show", "1"]).good();
    assert!(!env.state().exists() || fs::read_dir(env.state()).unwrap().count() == 0);
}

/// Commands of a stored RUN are shown and confirmed anew, whoever confirmed them before.
#[test]
fn commands_are_confirmed_again() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let commands = "[[filesystem]]\nname = \"mine\"\n\
        create = \"mkfs.ext4 -q -F -E nodiscard {dev}\"\nmount = \"mount -t ext4 {dev} {mnt}\"\n";
    let mark = env.path("mark");
    let version = format!("version = \"echo 1.0; touch {}\"\n", mark.display());
    let experiment = env.long_experiment("mine", "loop:64M", &format!("{commands}{version}"));
    interrupted(&env, &[&experiment, "--yes"], by_ctrl_c);
    fs::remove_file(&mark).unwrap();
    let words = ["mkfs.ext4 -q -F", "as the database has them", "were not confirmed"];
    for yes in [&[][..], &["--yes"]] {
        env.run(&[&["run", "--resume"], yes].concat()).refused(2, &words);
    }
    assert!(!mark.exists(), "not even for its version");
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    env.resume_allowed().good();
    done(&env, 2);
    assert_nothing_left(&env);
}

/// Of several that go on with one RUN at once, one does, and is not disturbed by the others.
#[test]
fn several_resume_at_once() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    let args = [&*experiment, "--memory", "64M"];
    interrupted(&env, &args, |live| live.kill_tree());
    let all: Vec<Live<'_>> = (0..5).map(|_| env.start(&["run", "--resume=1"])).collect();
    let ended: Vec<Ran> = all.into_iter().map(Live::end).collect();
    let good = ended.iter().filter(|ran| ran.code == Some(0)).count();
    assert_eq!(good, 1, "{ended:#?}");
    for ran in ended.iter().filter(|ran| ran.code != Some(0)) {
        let words = ["in another process", "is carrying it out", "is done"];
        assert!(words.iter().any(|word| ran.stderr.contains(word)), "{}", ran.stderr);
    }
    done(&env, 1);
    assert_nothing_left(&env);
}

/// A copy of the database has a RUN of the same id: its journal and mount point are one.
#[test]
fn a_copy_of_the_database_is_resumed_at_the_same_time() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:64M", "");
    interrupted(&env, &[&experiment], by_ctrl_c);
    let copy = env.path("copy.db");
    fs::copy(env.db(), &copy).unwrap();
    let mut live = env.start(&["run", "--resume"]);
    let worker = live.stop_in_phase(2);
    let mut command: Command = env.command(&["run", "--resume=1"]);
    command.env("FSARENA_DB", &copy);
    env.finish(command).refused(1, &["at work in another process", "FSARENA_STATE_DIR"]);
    kill_process(worker, Signal::CONT).unwrap();
    live.end().good();
    done(&env, 2);
    let store = Store::open_read_only(&copy).unwrap();
    assert_eq!(store.run(RunId(1)).unwrap().state, RunState::Interrupted);
    assert_nothing_left(&env);
}
