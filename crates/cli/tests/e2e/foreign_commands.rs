//! Commands, kernels and programs that come from somewhere else: a database that anybody may have
//! made, an experiment file that names a kernel, a path that somebody else may write.

use crate::support::{Ran, TestEnv, assert_nothing_left, digest_in, is_root, store_by_hand};
use fsarena_model::contender::{DeviceLevel, ExternalFs};
use fsarena_model::run::{KernelFile, RunHeader};
use fsarena_testkit::records;
use fsarena_testkit::write_script;
use std::fs;
use std::os::unix::fs::chown;
use std::path::PathBuf;

/// Nobody of this machine.
const STRANGER: u32 = 65_533;

/// What a foreign database says: a file system whose version is asked for by `version`.
fn external(version: &str) -> ExternalFs {
    ExternalFs {
        create: Some("true {dev}".to_owned()),
        version: Some(version.to_owned()),
        ..records::external_fs("true {dev} {mnt}")
    }
}

fn store(env: &TestEnv, change: impl FnOnce(&mut RunHeader)) {
    let _ = fs::remove_file(env.db());
    store_by_hand(&env.db(), change);
}

fn store_external(env: &TestEnv, version: &str) {
    store(env, |header| {
        // Of the one that has a trial left.
        header.plan.contenders[1].levels.fs.external = Some(external(version));
    });
}

#[test]
fn a_database_does_not_say_what_is_run() {
    let env = TestEnv::new();
    let mark = env.path("mark");
    let touch = format!("touch {}", mark.display());
    let resume = |more: &[&str]| env.run(&[&["run", "--resume=1"], more].concat());

    store_external(&env, &format!("{touch} #\u{1b}[8m\u{202e}"));
    for reader in [&["show", "1"][..], &["study", "1"], &["report", "1"], &["list"]] {
        env.run(reader);
    }
    let hidden = r"#\u{1b}[8m\u{202e}";
    let words =
        [&*touch, hidden, "Commands of RUN 1, as the database has them", "were not confirmed"];
    let digest = digest_in(&resume(&[]).refused(2, &words));
    let words = ["--yes is for an experiment file that you name", "--allow-commands"];
    resume(&["--yes"]).refused(2, &words);
    let words = ["the commands of RUN 1 are others than those that this allows", &digest];
    resume(&["--allow-commands", "0123456789abcdef0123456789abcdef"]).refused(2, &words);
    assert!(!mark.exists(), "nothing was run without consent");

    // Somebody changes it between the look and the consent.
    store_external(&env, &format!("{touch} #"));
    resume(&["--allow-commands", &digest]).refused(2, &["are others than those"]);
    assert!(!mark.exists(), "other commands were run");
    let digest = digest_in(&resume(&[]).code(2));
    // It goes on to what this machine is, and asks for the version first.
    resume(&["--allow-commands", &digest]).refused(2, &["RUN 1 cannot be resumed"]);
    assert!(mark.exists());
    env.run(&["run", "--on", "x", "--allow-commands", &digest]).code(2).says(&["--resume"]);

    store(&env, |_| ());
    resume(&["--allow-commands", &digest]).refused(2, &["RUN 1 has no commands"]);
    resume(&["--yes"]).refused(2, &["RUN 1 cannot be resumed"]);
}

/// Options of a database are no words of mkfs and mount before a plan could have them.
#[test]
fn a_database_does_not_say_how_mkfs_is_called() {
    let env = TestEnv::new();
    let options = |key: &str, value: &str| {
        let (key, value) = (key.to_owned(), value.to_owned());
        store(&env, |header| {
            header.plan.contenders.iter_mut().for_each(|contender| {
                contender.levels.fs.mkfs.insert(key.clone(), value.clone());
            });
        });
        env.run(&["run", "--resume=1"])
    };
    options("block_size", "/etc/passwd").refused(2, &["--resume: xfs: ", "start a new RUN"]);
    options("no-such-option", "x").refused(2, &["--resume: xfs: ", "start a new RUN"]);
    options("block_size", "4096").refused(2, &["RUN 1 cannot be resumed"]);
}

/// A kernel is a program that is run before anything else is.
#[test]
fn kernels_of_a_database_and_of_a_file_are_confirmed() {
    let env = TestEnv::new();
    let (kernel, mark) = (env.path("linux"), env.path("mark"));
    write_script(&kernel, &format!("touch {}", mark.display()));
    let shown = kernel.display().to_string();

    let level = "6.1.1-0123456789ab".to_owned();
    store(&env, |header| {
        for contender in &mut header.plan.contenders {
            contender.levels.device = DeviceLevel::Virtual {
                size_bytes: 1 << 30,
                model: "hdd-2007".to_owned(),
                kernel: level.clone(),
                syscall_ns: 0,
            };
        }
        let file = KernelFile { level, path: kernel.clone(), sha256: "0".repeat(64), hz: 250 };
        header.place.as_mut().unwrap().kernel_files.push(file);
    });
    let words = ["Guest kernels of RUN 1, as the database names them", &shown, "not confirmed"];
    let digest = digest_in(&env.run(&["run", "--resume=1"]).refused(2, &words));
    env.run(&["run", "--resume=1", "--yes"]).refused(2, &words);
    let ran = env.run(&["run", "--resume=1", "--allow-commands", &digest]);
    ran.refused(2, &["RUN 1 cannot be resumed", "its SHA-256 began with 000000000000"]);
    assert!(!mark.exists());

    let factors = format!("fs = \"ext4\"\ndevice = \"virtual:1G:model=hdd-2007:kernel={shown}\"");
    let file = env.experiment(&factors, "[[workload]]\nuse = \"small-files\"\n");
    let words = ["Guest kernels of the experiment file", &shown, "--yes", "were not confirmed"];
    for more in [&[][..], &["--dry-run"]] {
        env.run(&[&["run", &*file], more].concat()).refused(2, &words);
        assert!(!mark.exists(), "it was booted to see what it is");
    }
    // Who names it on the command line has said so.
    let device = format!("virtual:1G:model=hdd-2007:kernel={shown}");
    env.run(&["run", &file, "--on", &device]).refused(2, &["the guest kernel"]);
    assert!(mark.exists());
    fs::remove_file(&mark).unwrap();
    env.run(&["run", &file, "--yes"]).refused(2, &["the guest kernel"]);
    assert!(mark.exists());
    assert_nothing_left(&env);
}

/// A program `bin/NAME` that leaves `mark`, and belongs to a stranger.
fn strange_program(env: &TestEnv, name: &str) -> (PathBuf, PathBuf) {
    env.make_dir("bin");
    let (program, mark) = (env.path("bin").join(name), env.path("mark"));
    write_script(&program, &format!("touch {}", mark.display()));
    chown(&program, Some(STRANGER), None).unwrap();
    (program, mark)
}

#[track_caller]
fn refused_by_owner(ran: Ran, program: &str) {
    ran.refused(
        2,
        &[
            &format!("{program} would be run as root, and {program} belongs to user {STRANGER}"),
            &format!("or pass --trust {program}={STRANGER}"),
        ],
    );
}

#[test]
fn root_runs_no_written_out_program_that_others_may_write() {
    let env = TestEnv::new();
    if !is_root() {
        println!("not run: what belongs to others matters to root alone");
        return;
    }
    let (program, mark) = strange_program(&env, "mkfs.own");
    let program = program.display().to_string();
    let trust = format!("{program}={STRANGER}");
    let target = env.make_dir("target");
    let factors = format!("device = \"{target}\"\ncache = \"warm\"");
    let file = |text: &str| {
        let phase = format!("{{ op = \"command\", {text} }}");
        let work =
            format!("[[workload]]\nname = \"w\"\ndataset = \"small-20\"\nphases = [{phase}]");
        env.experiment(&factors, &work)
    };
    for text in [
        format!("run = \"true && {program} -x\""),
        format!("run = \"true\", prepare = \"sh -c '{program}'\""),
    ] {
        let file = file(&text);
        for more in [&["--yes"][..], &["--yes", "--dry-run"], &[]] {
            refused_by_owner(env.run(&[&["run", &*file], more].concat()), &program);
        }
        let wrong = format!("{program}=everybody");
        refused_by_owner(env.run(&["run", &file, "--yes", "--trust", &wrong]), &program);
        assert!(!mark.exists(), "{text}");
        env.run(&["run", &file, "--yes", "--dry-run", "--trust", &trust]).good();
        // Not root's business.
        env.run(&["run", &file, "--yes", "--dry-run", "--user", "65534:65534"]).good();
    }
    env.run(&["run", &file("run = \"true\""), "--yes", "--trust", &trust])
        .refused(2, &["no program of that path is run here"]);
    let file = file(&format!("run = \"{program}\""));
    env.run(&["run", &file, "--yes", "--trust", &trust]).good();
    assert!(mark.exists());
    env.run(&["run", &file, "--trust", "x"]).refused(2, &["write it as PATH=USER"]);
    assert_nothing_left(&env);
}

#[test]
fn commands_of_filesystems_and_kernels_that_others_may_write() {
    let env = TestEnv::new();
    if !is_root() {
        println!("not run: what belongs to others matters to root alone");
        return;
    }
    let (program, mark) = strange_program(&env, "linux");
    let program = program.display().to_string();
    let trust = format!("{program}={STRANGER}");
    let commands = format!(
        "[[workload]]\nuse = \"tiny-files\"\n[[filesystem]]\nname = \"mine\"\n\
         mount = \"X=1 {program} {{dev}} {{mnt}}\"\n"
    );
    let file = env.experiment("fs = \"mine\"\ndevice = \"ram:64M\"", &commands);
    refused_by_owner(env.run(&["run", &file, "--yes", "--dry-run"]), &program);
    env.run(&["run", &file, "--yes", "--dry-run", "--trust", &trust]).good();

    let device = format!("virtual:1G:model=hdd-2007:kernel={program}");
    let virtual_run = ["run", "--fs", "ext4", "--workload", "small-files", "--on", &device];
    refused_by_owner(env.run(&virtual_run), &program);
    assert!(!mark.exists(), "it was booted");
    let ran = env.run(&[&virtual_run[..], &["--trust", &trust]].concat());
    ran.refused(2, &["the guest kernel"]);
    assert!(mark.exists());
    fs::remove_file(&mark).unwrap();
    let words = ["would be run as root", "belongs to user 65533", "run this without root"];
    refused_by_owner(env.run(&["crash", "--on", &device]), &program);
    env.run(&["kernel", "check", &program]).refused(2, &words);
    assert!(!mark.exists());
    assert_nothing_left(&env);
}

/// An ssh is a program as others are, found once and started by where it was found.
#[test]
fn root_runs_no_ssh_that_others_may_write() {
    let env = TestEnv::new();
    if !is_root() {
        println!("not run: what belongs to others matters to root alone");
        return;
    }
    let (ssh, mark) = strange_program(&env, "ssh");
    let ssh = ssh.display().to_string();
    let target = env.make_dir("target");
    let run = ["run", "--dry-run", "--on", &target, "--hosts", "host.invalid"];
    let fleet = ["fleet", "run", "--dry-run", "--hosts", "host.invalid"];
    for (words, code) in [(&run[..], 2), (&fleet[..], 1)] {
        let mut command = env.command(words);
        command.env("PATH", format!("{}:/usr/bin:/bin", env.path("bin").display()));
        let ran = env.finish(command);
        assert!(!mark.exists(), "the first in PATH was run: {words:?}");
        // The next one, which is root's, where there is one.
        if fsarena_process::cmd::find("ssh").is_some() {
            ran.code(code).says(&["host.invalid"]);
        } else {
            ran.code(2).says(&["ssh is not run as root", "belongs to user 65533"]);
        }
    }
    let ran = env.run(&[&fleet[..], &["--ssh", &ssh]].concat());
    ran.refused(2, &[&format!("--ssh: {ssh} is not run as root"), "belongs to user 65533"]);
    let by_name = [&run[..], &["--ssh", &ssh]].concat();
    refused_by_owner(env.run(&by_name), &ssh);
    assert!(!mark.exists());
    let trust = format!("{ssh}={STRANGER}");
    env.run(&[&by_name[..], &["--trust", &trust]].concat()).code(2).says(&["host.invalid"]);
    assert!(mark.exists(), "the user said that it is trusted");
    assert_nothing_left(&env);
}
