//! Numbers of ranks and of hosts, compared within one RUN.

use crate::ranks::network;
use crate::support::{PROGRAM, TestEnv, assert_nothing_left};
use fsarena_model::factor;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_store::Store;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const SMALL: [&str; 4] = ["--workload", "small-files", "--scale", "0.01"];

impl TestEnv {
    /// The hosts of the ranks of every phase, by the label of the contender and the block; a phase
    /// that one worker does here has none.
    #[track_caller]
    fn hosts_of_trials(&self) -> BTreeMap<(String, u32), BTreeSet<Vec<String>>> {
        let header = Store::open_read_only(&self.db()).unwrap().header(self.runs()[0].id).unwrap();
        let label = |record: &TrialRecord| {
            let mut all = header.plan.contenders.iter();
            all.find(|one| one.id() == record.key.contender).unwrap().label.clone()
        };
        let of = |record: TrialRecord| {
            assert_eq!(record.outcome, Outcome::Done, "{:?}", record.notices);
            let hosts = |phase: &fsarena_model::record::PhaseRecord| -> Vec<String> {
                phase.ranks.iter().map(|rank| rank.hostname.clone()).collect()
            };
            ((label(&record), record.key.block), record.phases.iter().map(hosts).collect())
        };
        self.records(1).into_iter().map(of).collect()
    }

    /// `study.scaling` of the latest RUN.
    #[track_caller]
    fn scaling(&self) -> Vec<Value> {
        let document = self.run(&["show", "latest", "--json"]).good().json();
        document["study"]["scaling"].as_array().unwrap().clone()
    }
}

#[track_caller]
fn names(all: &[&str]) -> BTreeSet<Vec<String>> {
    BTreeSet::from([all.iter().map(|name| (*name).to_owned()).collect()])
}

#[test]
fn numbers_of_ranks_are_compared_in_one_run() {
    let env = TestEnv::new();
    let (target, report) = (env.make_dir("target"), env.path("report.html"));
    let report = report.display().to_string();
    let run = ["run", "--on", &target, "--runs", "3", "--seed", "1", "--ranks", "1,2", "--verify"];
    env.run(&[&run[..], &["--report", &report], &SMALL].concat())
        .good()
        .says(&["directory ranks=1", "directory ranks=2"]);
    assert_nothing_left(&env);
    let trials = env.hosts_of_trials();
    assert_eq!(trials.len(), 6, "three blocks of both");
    for ((label, block), hosts) in &trials {
        let ranks: BTreeSet<usize> = hosts.iter().map(Vec::len).collect();
        let wanted = if label == "directory ranks=2" { 2 } else { 0 };
        assert_eq!(ranks, BTreeSet::from([wanted]), "{label} in block {block}");
    }
    let bad = |record: TrialRecord| record.verify.map(|verify| verify.bad_files);
    assert!(env.records(1).into_iter().map(bad).all(|bad| bad == Some(0)));

    let scaling = env.scaling();
    let phases: Vec<&str> = scaling.iter().map(|one| one["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["create", "read", "read-random", "stat", "delete"]);
    for view in &scaling {
        assert_eq!((view["over"].as_str(), view["unit"].as_str()), (Some("ranks"), Some("files")));
        let [one, two] = view["levels"].as_array().unwrap().as_slice() else { panic!("{view}") };
        assert_eq!((one["number"].as_u64(), two["number"].as_u64()), (Some(1), Some(2)));
        assert_eq!((one["n"].as_u64(), two["n"].as_u64()), (Some(3), Some(3)));
        let figure = |name: &str| two[name].as_f64().unwrap();
        assert!(figure("speed_up_low") <= figure("speed_up_high"), "{view}");
        assert!((figure("efficiency") * 2.0 - figure("speed_up")).abs() < 1e-9, "{view}");
    }
    let shown = env.run(&["show", "latest"]).good();
    shown.says(&["small-files: directory over ranks", "speed-up", "efficiency", "Scaling: "]);
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains("ideal: in proportion") && page.contains("r1-scaling-5"));
}

#[test]
fn the_first_hosts_of_a_list_are_compared() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let run = ["run", "--runs", "2", "--seed", "1", "--on", &target, "--ssh", &ssh];
    let run = [&run[..], &["--remote-program", PROGRAM], &SMALL].concat();
    let with = |more: &[&str]| env.run(&[&run[..], more].concat());
    let refused = |more: &[&str], words: &str| drop(with(more).code(2).says(&[words]));
    refused(
        &["--hosts", "a,b", "--host-count", "1,2,4"],
        "--host-count 4: --hosts names 2 hosts; name more, or ask for fewer",
    );
    refused(
        &["--host-count", "1,2"],
        "--host-count: it says how many of --hosts work; add --hosts",
    );
    let few = ["--hosts", "a,b", "--host-count", "2", "--ranks", "1"];
    refused(&few, "fewer ranks (1) than hosts (2): name at least one for each");
    refused(&["--hosts", "a,b,c", "--ranks", "1,2"], "--ranks 2: fewer than the 3 hosts");
    let many =
        "small-files\": 512 threads for 100 leaf directories; name fewer ranks, or use more dir";
    let alone = ["run", "--on", &target, "--ranks", "1,512"];
    env.run(&[&alone[..], &SMALL].concat()).code(2).says(&[many]);
    assert!(!env.db().exists() || env.runs().is_empty(), "no RUN has begun");

    with(&["--hosts", "a,b,c", "--host-count", "1,2"]).good();
    assert_nothing_left(&env);
    let trials = env.hosts_of_trials();
    assert_eq!(trials.len(), 4);
    for ((label, _), hosts) in &trials {
        let wanted: &[&str] = if label == "directory hosts=2" { &["a", "b"] } else { &["a"] };
        assert_eq!(*hosts, names(wanted), "{label}");
    }
    let scaling = env.scaling();
    assert!(scaling.len() == 5 && scaling.iter().all(|one| one["over"] == "hosts"), "{scaling:?}");
    env.run(&["show", "latest"]).good().says(&["small-files: directory over hosts"]);
}

/// Fewer ranks than hosts are on the first of these.
#[test]
fn ranks_go_on_to_more_hosts() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let run = ["run", "--runs", "1", "--seed", "1", "--on", &target, "--hosts", "a,b"];
    let more = ["--ranks", "1..4", "--ssh", &ssh, "--remote-program", PROGRAM];
    let work = ["--workload", "small-files", "--scale", "0.05"];
    env.run(&[&run[..], &more, &work].concat()).good();
    let trials = env.hosts_of_trials();
    let hosts = |label: &str| &trials[&(label.to_owned(), 0)];
    assert_eq!(*hosts("directory ranks=1"), names(&["a"]));
    assert_eq!(*hosts("directory ranks=2"), names(&["a", "b"]));
    assert_eq!(*hosts("directory ranks=4"), names(&["a", "a", "b", "b"]));
}

#[test]
fn a_run_over_hosts_is_resumed() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let hosts = ["--hosts", "a,b", "--ssh", &ssh, "--remote-program", PROGRAM];
    let run = ["run", "--runs", "2", "--seed", "1", "--on", &target, "--host-count", "1,2"];
    let work = ["--workload", "small-files", "--scale", "0.1"];
    let mut live = env.start(&[&run[..], &hosts, &work].concat());
    live.wait_for("[2/4]");
    live.signal(Signal::INT);
    live.end().code(130);
    assert_nothing_left(&env);
    let resume = |hosts: &[&str]| env.run(&[&["run", "--resume"], hosts].concat());
    resume(&[]).code(2).says(&["the RUN has its ranks on other hosts", "--hosts a,b"]);
    resume(&hosts).good();
    let trials = env.hosts_of_trials();
    assert_eq!(trials.len(), 4, "{trials:?}");
    for ((label, _), of_trial) in &trials {
        let wanted: &[&str] = if label == "directory hosts=2" { &["a", "b"] } else { &["a"] };
        assert_eq!(*of_trial, names(wanted), "{label}");
    }
}

#[test]
fn hosts_of_a_network_are_compared() {
    let Some(hosts) = network(3) else { return };
    let env = TestEnv::new();
    let (target, ssh, all) = (env.make_dir("target"), hosts.ssh(), hosts.names());
    let run = ["run", "--runs", "2", "--seed", "1", "--on", &target, "--hosts", &all];
    let more = ["--host-count", "1,3", "--ssh", &ssh, "--remote-program", PROGRAM];
    let work = ["--workload", "small-files", "--scale", "0.05"];
    env.run(&[&run[..], &more, &work].concat()).good();
    assert_nothing_left(&env);
    let trials = env.hosts_of_trials();
    let hosts = |label: &str| &trials[&(label.to_owned(), 1)];
    assert_eq!(*hosts("directory hosts=1"), names(&["fh1"]));
    assert_eq!(*hosts("directory hosts=3"), names(&["fh1", "fh2", "fh3"]));
    let header = Store::open_read_only(&env.db()).unwrap().header(env.runs()[0].id).unwrap();
    let counts: Vec<_> =
        header.plan.contenders.iter().map(|one| factor::host_count(&one.levels)).collect();
    assert_eq!(counts, [Some(1), Some(3)]);
    env.run(&["show", "latest"]).good().says(&["over hosts", "3 hosts"]);
}
