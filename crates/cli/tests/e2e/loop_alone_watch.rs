//! `watch` of a loop device: what is written is seen, a device that goes away ends the watch with a
//! word and its record, and a terminal is given back.

use crate::support::devices::{Disk, Mounted};
use crate::support::{TestEnv, sh, tool};
use fsarena_model::record::{Outcome, Window};
use fsarena_model::run::RunState;
use rustix::process::Signal;
use std::fs;

#[test]
fn loop_what_is_written_is_seen_and_a_device_that_goes_away_ends_the_watch() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let Some(mut disk) = Disk::new("32M") else { return };
    let device = disk.device().to_owned();
    let mut live = env.start(&["watch", &device, "--every", "100ms"]);
    live.poll("its first sample", |_| {
        let all = fs::read_dir(env.state()).into_iter().flatten().flatten();
        let mut own = all.filter(|one| one.path().extension().is_some_and(|end| end == "watch"));
        let text = fs::read_to_string(own.next()?.path()).ok()?;
        (text.lines().count() > 2).then_some(())
    });
    sh(&format!("dd if=/dev/zero of={device} bs=1M count=8 oflag=direct status=none"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    disk.detach();
    let ran = live.end().code(1).says(&["disappeared", "samples: RUN 1"]);
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("fsarena: ")).count(), 1);
    let row = env.runs().remove(0);
    assert_eq!(row.state, RunState::Failed);
    assert!(row.note.unwrap().contains("disappeared"));
    let records = env.records(1);
    assert!(matches!(&records[0].outcome, Outcome::Failed { step, .. } if step == "watch"));
    let phase = &records[0].phases[0];
    assert_eq!(phase.windows[&Window::Durable]["device.written_bytes"], 8 << 20);
    env.run(&["show"]).good().says(&["written 8 MiB", "disappeared"]);
}

#[test]
fn loop_a_watch_whose_samples_cannot_be_kept_on_disk_lives_and_is_not_called_killed() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let Some(disk) = Disk::new("32M") else { return };
    let state = env.make_dir("state");
    let _small = Mounted::at("-t tmpfs -o size=32k,mode=700 tmpfs", &state);
    let mut live = env.start(&["watch", disk.device(), "--every", "100ms"]);
    let file = || {
        let mut all = fs::read_dir(&state).unwrap().flatten().map(|one| one.path());
        all.find(|path| path.extension().is_some_and(|end| end == "watch"))
    };
    live.poll("its first samples", |_| {
        (fs::read_to_string(file()?).ok()?.lines().count() > 2).then_some(())
    });
    // The page that is begun takes some more samples, and then none.
    sh(&format!("dd if=/dev/zero of={state}/full bs=4k status=none 2>&1 || true"));
    live.poll("a cut-off line", |_| {
        fs::metadata(file()?).ok()?.len().is_multiple_of(4_096).then_some(())
    });
    std::thread::sleep(std::time::Duration::from_millis(250));
    let ran = env.run(&["list"]).good().says(&["running"]);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("killed"), "{}", ran.stderr);
    assert!(file().is_some(), "it is its own to remove");
    live.signal(Signal::INT);
    live.end().good().says(&["samples could not be saved to disk meanwhile: No space left"]);
    assert_eq!(file(), None);
    let records = env.records(1);
    assert_eq!((env.runs()[0].state, &records[0].outcome), (RunState::Done, &Outcome::Done));
    let codes: Vec<&str> = records[0].notices.iter().map(|one| one.code.as_str()).collect();
    assert!(codes.contains(&"watched-no-journal"), "{codes:?}");
}

#[test]
fn loop_a_directory_leads_to_its_device_and_a_terminal_is_given_back() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(script) = tool("script") else { return };
    let prepare = |image: &str| drop(sh(&format!("mkfs.ext4 -q {image}")));
    let Some(disk) = Disk::with("32M", prepare) else { return };
    let dir = env.make_dir("mnt");
    let _mounted = Mounted::at(disk.device(), &dir);
    let typescript = env.path("typescript").display().to_string();
    let line = format!(
        "stty rows 24 cols 80; {} watch {dir} --every 100ms --for 500ms",
        crate::support::PROGRAM
    );
    let mut command = env.command_of(&script, &["-qec", &line, &typescript]);
    command.env("TERM", "xterm").env("LANG", "C.UTF-8").env("NO_COLOR", "1");
    env.finish(command).good();
    let text = fs::read_to_string(&typescript).unwrap();
    let enter = text.find("\u{1b}[?1049h").expect("the alternate screen is taken");
    let leave = text.rfind("\u{1b}[?1049l").expect("the alternate screen is given back");
    assert!(enter < leave, "{text:?}");
    for words in [disk.device(), "write", "MB/s", "help"] {
        assert!(text[enter..leave].contains(words), "{words}: {text:?}");
    }
    assert!(text[leave..].contains("watch itself used"), "{text:?}");
    assert!(text[leave..].contains("In all: read"), "what was seen stays: {text:?}");
}
