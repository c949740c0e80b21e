//! Nothing that was removed is left anywhere.

use super::{KnownNames, anonymous, anonymous_with};
use fsarena_model::client::ClientRecord;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::host::{Finding, Weight};
use fsarena_model::parameter::{Parameter, ParameterLevel, WorkloadLevels};
use fsarena_model::record::{Notice, Outcome, TrialRecord};
use fsarena_model::run::{RunHeader, RunSession, RunState};
use fsarena_testkit::records::{self, contender, small_files};
use proptest::prelude::*;
use serde_json::Value;

const BOOT: &str = "0a1b2c3d-1111-2222-3333-444455556666";

/// A RUN on two directories of two users and a disk, on a host of this name.
fn run(
    host: &str,
    users: [&str; 2],
    serial: &str,
) -> (RunHeader, Vec<RunSession>, Vec<TrialRecord>) {
    let mut all: Vec<_> = (1..=3).map(|n| contender(&format!("fs{n}"), "ext4", n)).collect();
    for (one, user) in all.iter_mut().zip(users) {
        one.replicate = 1;
        one.levels.device = DeviceLevel::Directory { path: format!("/home/{user}/data").into() };
    }
    let link = format!("/dev/disk/by-id/ata-Disk_{serial}-part1");
    all[2].levels.device = DeviceLevel::Block { path: link.clone().into(), size_bytes: 1 << 30 };
    let mut header = records::header(all, vec![small_files()], 2);
    header.host.hostname = format!("{host}.example.org");
    header.host.boot_id = BOOT.to_owned();
    header.arguments = vec![
        "run".to_owned(),
        "--db".to_owned(),
        format!("/home/{}/f.db", users[0]),
        format!("--on={link}"),
        format!("ssh://{}@{host}:/mnt/backup/home/{}/x", users[1], users[1]),
    ];
    header.experiment_toml = format!("# by {} on {host}\nname = \"x\"\n", users[0]);
    let place = header.place.as_mut().unwrap();
    place.image_dir = concat!("/root", "/images").into();
    place.devices.push(DeviceIdentity {
        path: link.into(),
        name: "sda1".to_owned(),
        number: (8, 1),
        size_bytes: 1 << 30,
        diskseq: Some(1),
        hardware: [("serial", serial), ("model", "Disk"), ("wwid", "naa.5000c500a1b2c3d4")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
    });
    let sessions = vec![records::session(BOOT, 0)];
    let mut trials: Vec<TrialRecord> =
        (0..6).map(|sequence| records::record(&header, sequence)).collect();
    trials[0].device.insert("serial".to_owned(), serial.to_owned());
    trials[0].notices.push(Notice {
        code: "x".to_owned(),
        text: format!("{host}: the disk {serial} of {} is worn", users[0]),
        remedy: Some("see wwn-0x5000c500a1b2c3d4".to_owned()),
        measure: None,
    });
    trials[5].outcome = Outcome::Failed {
        step: "mount".to_owned(),
        error: format!("mount: /home/{}/data: busy", users[1]),
        remedy: None,
    };
    (header, sessions, trials)
}

/// Every text of a document.
fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| texts(one, into)),
        Value::Object(map) => map.values().for_each(|one| texts(one, into)),
        _ => {}
    }
}

fn all_texts(run: &(RunHeader, Vec<RunSession>, Vec<TrialRecord>)) -> Vec<String> {
    let mut found = Vec::new();
    texts(&serde_json::to_value(run).unwrap(), &mut found);
    found
}

/// A host that is called as a part of a word of ours, and a serial number that is one.
#[test]
fn words_of_the_form_stay_whatever_the_host_is_called() {
    for (host, serial) in [("big", "WD-12345678"), ("zephyr", "sequen"), ("not", "ential")] {
        let mut before = run(host, ["alice", "bob"], serial);
        before.0.plan.workloads = vec![records::big_file(), small_files()];
        before.0.plan.contenders[0].label = format!("{host}-{serial}");
        let (header, _, trials) = anonymous(&before.0, &before.1, &before.2, &[]);
        let of = |workload: usize| header.plan.workloads[workload].phases.clone();
        assert_eq!(of(0), before.0.plan.workloads[0].phases, "{host} {serial}");
        assert_eq!(of(1), before.0.plan.workloads[1].phases, "{host} {serial}");
        assert_eq!(trials.len(), 6);
        let label = &header.plan.contenders[0].label;
        assert!(!label.contains(serial) && !label.contains(host), "{label}");
    }
}

/// Two that are one, and count as far as numbers do.
#[test]
fn the_last_number_of_a_replicate_is_followed_by_the_first() {
    let mut header = run("zephyr", ["alice", "bob"], "WD-12345678").0;
    let last = header.plan.contenders[0].clone();
    for one in &mut header.plan.contenders {
        one.clone_from(&last);
        one.replicate = u32::MAX;
    }
    let (header, ..) = anonymous(&header, &[], &[], &[]);
    let numbers: Vec<u32> = header.plan.contenders.iter().map(|one| one.replicate).collect();
    assert_eq!(numbers, [u32::MAX, 0, 1]);
}

#[test]
fn it_stays_the_same_run() {
    let before = run("zephyr", ["alice", "bob"], "WD-12345678");
    let after = anonymous(&before.0, &before.1, &before.2, &[]);
    let (header, sessions, trials) = &after;
    assert_eq!(header.arguments[2], "~/f.db");
    assert_eq!(header.arguments[3], "--on=/dev/disk/by-id/1");
    assert_eq!(header.arguments[4], "ssh://USER2@HOST:/mnt/backup/home/USER2/x");
    assert_eq!(header.place.as_ref().unwrap().image_dir.to_str(), Some("~/images"));
    assert_eq!(sessions[0].boot_id, header.host.boot_id, "one boot stays one boot");
    assert!(sessions[0].boot_id.starts_with("boot-"));
    assert_eq!(trials[0].ranks[0].boot_id, header.host.boot_id);
    assert_eq!(trials[0].ranks[0].hostname, "");
    assert!(!trials[0].device.contains_key("serial"));
    assert_eq!(trials[0].device["logical_sector_bytes"], "512");
    let model = &header.place.as_ref().unwrap().devices[0].hardware;
    assert_eq!(model.keys().collect::<Vec<_>>(), ["model"]);
    // Records still belong to their contenders, and two stay two.
    let ids: Vec<_> = header.plan.contenders.iter().map(|one| one.id()).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    for trial in trials {
        let slot = header.plan.schedule[trial.key.sequence as usize];
        assert_eq!(trial.key.contender, ids[slot.contender]);
    }
    let study = |run: &(RunHeader, Vec<RunSession>, Vec<TrialRecord>)| {
        fsarena_study::study(&run.0, RunState::Done, &run.1, &run.2)
    };
    assert_eq!(study(&before).tables, study(&after).tables);
    let again = anonymous(header, sessions, trials, &[]);
    assert_eq!(again.0.plan, header.plan, "nothing is left to be removed");
}

#[test]
fn hosts_of_ranks_stay_several() {
    let (mut header, sessions, mut trials) = run("zephyr", ["alice", "bob"], "WD-12345678");
    header.arguments.push("--hosts=sirocco.example.org,mistral".to_owned());
    let client = |name: &str| ClientRecord { hostname: name.to_owned(), ..Default::default() };
    trials[0].phases[0].clients = vec![client("mistral"), client("sirocco.example.org")];
    trials[0].notices[0].text = "rank 1 on mistral, not on sirocco".to_owned();
    let after = anonymous(&header, &sessions, &trials, &[]);
    let (plain, _, records) = &after;
    let names = |trial: &TrialRecord| -> Vec<String> {
        trial.phases[0].clients.iter().map(|client| client.hostname.clone()).collect()
    };
    assert_eq!(names(&records[0]), ["HOST1", "HOST2"]);
    assert_eq!(records[0].notices[0].text, "rank 1 on HOST1, not on HOST2");
    assert_eq!(records[0].ranks[0].hostname, "", "the runner's");
    assert_eq!(plain.arguments.last().unwrap(), "--hosts=HOST2,HOST1");
    let again = anonymous(plain, &after.1, records, &[]);
    assert_eq!(names(&again.2[0]), ["HOST1", "HOST2"]);
}

#[test]
fn names_that_the_plan_uses_stay() {
    let before = run("ext4", ["run", "create"], "small-files");
    let (header, _, trials) = anonymous(&before.0, &before.1, &before.2, &[]);
    assert_eq!(header.host.hostname, "");
    assert_eq!(header.plan.contenders[0].levels.fs.name, "ext4");
    assert_eq!(header.arguments[0], "run");
    assert_eq!(header.plan.workloads[0].name, "small-files");
    assert_eq!(trials[0].phases[0].name, "create");
    let path = |at: usize| header.plan.contenders[at].levels.device.to_string();
    assert_eq!((path(0).as_str(), path(1).as_str()), ("~/data", "~2/data"));
}

/// A host may be called `small` or `vm`: that says nothing where a workload of everybody is
/// `small-files`, and a workload of one's own still may.
#[test]
fn parts_of_the_names_of_known_workloads_stay() {
    let before = run("small", ["run", "create"], "small-files");
    let names = |workloads: &[&str]| {
        let names = KnownNames { users: &[], workloads };
        let after = anonymous_with::<()>(&before.0, &before.1, (&before.2, &[]), names);
        after.0.plan.workloads[0].name.clone()
    };
    assert_eq!(names(&["small-files"]), "small-files");
    assert_eq!(names(&["big-file"]), "HOST-files");

    let mut before = before;
    let level = ParameterLevel { parameter: Parameter::Bs, value: 4096 };
    let levels = WorkloadLevels { workload: "small-files".to_owned(), levels: vec![level] };
    before.0.plan.workloads[0].name = levels.name();
    before.0.plan.workloads[0].levels = Some(levels);
    let names = KnownNames { users: &[], workloads: &["small-files"] };
    let after = anonymous_with::<()>(&before.0, &before.1, (&before.2, &[]), names);
    assert_eq!(after.0.plan.workloads[0].name, "small-files bs=4 KiB");
}

#[test]
fn a_run_without_secrets_is_as_it_was_but_for_its_boot() {
    let mut header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
    let mut trials = vec![records::record(&header, 0)];
    let (after, _, records) = anonymous(&header, &[], &trials, &[]);
    header.host.boot_id.clone_from(&after.host.boot_id);
    trials[0].ranks[0].boot_id.clone_from(&after.host.boot_id);
    assert_eq!((after, records), (header, trials));
}

/// A RUN of one contender and one trial, with these arguments.
fn with_arguments(arguments: &[&str]) -> (RunHeader, TrialRecord) {
    let mut header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
    header.arguments = arguments.iter().map(|&one| one.to_owned()).collect();
    let record = records::record(&header, 0);
    (header, record)
}

#[test]
fn a_user_is_known_by_mounts_addresses_and_by_name() {
    let (mut header, mut record) = with_arguments(&[
        "run",
        "--on=/media/alice/DISK/x",
        "/run/media/bob/STICK",
        "/srv/alice",
        "carol@nas:/export",
        "/srv/dave/x",
        "/media/usb/y",
        "btrfs@1.service",
    ]);
    header.findings.push(Finding {
        code: "mount-options".to_owned(),
        place: "/media/alice/DISK".to_owned(),
        weight: Weight::Note,
        reading: "bob mounted it from nas, not dave".to_owned(),
        why: "alice's files are on it".to_owned(),
        remedy: Some("ask alice@nas".to_owned()),
        command: Some("umount /run/media/bob/STICK".to_owned()),
    });
    record.filesystem.mounted_options = Some("rw,data=writeback".to_owned());
    record.notices.push(Notice {
        code: "x".to_owned(),
        text: "dave: no such file".to_owned(),
        remedy: None,
        measure: None,
    });
    let names = ["dave".to_owned(), "data".to_owned()];
    let (after, _, trials) = anonymous(&header, &[], &[record], &names);
    assert_eq!(
        after.arguments[1..],
        [
            "--on=/media/USER/DISK/x",
            "/run/media/USER2/STICK",
            "/srv/USER",
            "USER3@HOST:/export",
            "/srv/USER4/x",
            "/media/usb/y",
            "btrfs@1.service",
        ]
    );
    let found = &after.findings[0];
    assert_eq!((found.code.as_str(), found.place.as_str()), ("mount-options", "/media/USER/DISK"));
    assert_eq!(found.reading, "USER2 mounted it from HOST, not USER4");
    assert_eq!(found.why, "USER's files are on it");
    assert_eq!(found.remedy.as_deref(), Some("ask USER@HOST"));
    assert_eq!(found.command.as_deref(), Some("umount /run/media/USER2/STICK"));
    assert_eq!(trials[0].notices[0].text, "USER4: no such file");
    assert_eq!(trials[0].filesystem.mounted_options.as_deref(), Some("rw,data=writeback"));
}

proptest! {
    #[test]
    fn no_removed_word_is_left(
        host in "zq[a-z0-9]{1,8}",
        one in "qz[a-z0-9]{1,8}",
        other in "yq[a-z0-9]{1,8}",
        serial in "[A-Z]Q[A-Z0-9]{3,12}",
    ) {
        let before = run(&host, [&one, &other], &serial);
        let words = [&host, &one, &other, &serial];
        let is_in = |text: &String| {
            let mut parts = text.split(|c: char| !c.is_alphanumeric());
            parts.any(|part| words.iter().any(|word| *word == part))
        };
        prop_assert!(all_texts(&before).iter().any(is_in));
        let after = all_texts(&anonymous(&before.0, &before.1, &before.2, &[]));
        for text in &after {
            prop_assert!(!is_in(text), "{text}");
            let rest = [concat!("/home", "/q"), "/root", "5000c500a1b2c3d4", BOOT, "example.org"];
            prop_assert!(!rest.iter().any(|part| text.contains(part)), "{text}");
        }
    }
}
