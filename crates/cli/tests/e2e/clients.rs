//! Hosts of ranks as clients of a shared file system: an agent on each mounts it, drops what the
//! host has cached, and counts what it does.

use crate::ranks::{assert_none_at_work, assert_ranks, at_work, network, shared_network};
use crate::support::{PROGRAM, TestEnv, assert_nothing_left};
use fsarena_model::record::{CacheState, Outcome};
use fsarena_testkit::hosts::TestHosts;
use fsarena_testkit::processes::runs_as;
use rustix::process::{Signal, kill_process};
use std::time::{Duration, Instant};

const COLD: [&str; 2] = ["--cache", "cold-clients"];
const LIMIT: Duration = Duration::from_secs(20);

/// Programs that serve a mount on any host.
fn mount_daemons(hosts: &TestHosts) -> usize {
    let of = |host| hosts.processes(host).into_iter().filter(|pid| runs_as(*pid, "-H")).count();
    (0..hosts.count()).map(of).sum()
}

/// Waits until there are as many again as there were.
#[track_caller]
fn assert_mount_daemons(hosts: &TestHosts, before: usize) {
    let since = Instant::now();
    while mount_daemons(hosts) != before {
        assert!(since.elapsed() < LIMIT, "a mount is left on a host");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Each host mounts the file system as a client of its own, and again before each phase; what it
/// reads then comes over its network.
#[test]
fn fuse_clients_are_mounted_and_made_cold() {
    let Some((hosts, shared)) = shared_network(2) else { return };
    let env = TestEnv::new();
    let target = shared.mount_point().join("bench");
    std::fs::create_dir(&target).unwrap();
    let (target, ssh, names) = (target.display().to_string(), hosts.ssh(), hosts.names());
    let before = mount_daemons(&hosts);
    let mount = format!("mfsmount -H {} {{mnt}}", hosts.address(0));
    let with = ["--client-mount", &mount, "--verify"];
    let args = [&env.on_hosts(&names, &ssh, &target)[..], &COLD, &with].concat();
    env.run(&args).good();
    let record = env.records(1).remove(0);
    assert_ranks(&record, &["fh1", "fh2"]);
    for phase in &record.phases {
        let cache = &phase.cache;
        assert_eq!(cache.state, CacheState::ColdClients, "{}: {}", phase.name, cache.why);
        let names: Vec<&str> = phase.clients.iter().map(|one| one.hostname.as_str()).collect();
        assert_eq!(names, ["fh1", "fh2"]);
        for client in &phase.clients {
            assert!(client.fstype.starts_with("fuse"), "{client:?}");
            assert!(client.counts.counters.contains_key("net.sent_bytes"), "{client:?}");
            let series = client.counts.series.as_ref().expect("samples");
            let names: Vec<&str> = series.columns.keys().map(String::as_str).collect();
            assert!(["net.received_bytes", "cpu.user_ns"].iter().all(|name| names.contains(name)));
            assert!(!names.contains(&"vm.paged_in_bytes"), "{names:?}");
            let (first, last) = (series.t_ns[0], *series.t_ns.last().unwrap());
            assert!(first <= 0 && last >= phase.clocks.returned_ns as i64, "{series:?}");
            assert!(client.counts.sampler.unwrap().samples >= 2);
        }
    }
    let said = ["cold clients", "clients", "CPU busy", "fh1"];
    env.run(&["show", "latest"]).good().says(&said);
    assert_none_at_work(&hosts, 2);
    assert_mount_daemons(&hosts, before);
    assert_nothing_left(&env);
    // Without a mount of its own a host drops what its kernel has cached.
    let args = [&env.on_hosts(&names, &ssh, &target)[..], &COLD].concat();
    env.run(&args);
    let phases = env.records(2).remove(0).phases;
    assert!(phases.iter().all(|phase| phase.cache.proof.delivered_read_bytes.is_some()));
    assert_mount_daemons(&hosts, before);
}

/// What came over no network was not proved cold.
#[test]
fn clients_that_received_nothing_are_not_cold() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let args = [&env.on_hosts("a,b", &ssh, &target)[..], &COLD].concat();
    env.run(&args).code(5).says(&["could not be proved cold"]);
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Done);
    let read = record.phases.iter().find(|phase| phase.name == "read").unwrap();
    assert_eq!(read.cache.state, CacheState::Warm);
    assert!(read.cache.why.starts_with("the clients received"), "{}", read.cache.why);
    assert_nothing_left(&env);
}

#[test]
fn what_agents_cannot_do_is_refused_before_anything_is_made() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let run = |more: &[&str]| {
        env.run(&[&["run", "--on", &target, "--workload", "small-files"], more].concat())
    };
    run(&COLD).code(2).says(&["cache=cold-clients is for the hosts of --hosts"]);
    let allocation = ["--rendezvous", "0", "--ranks", "2"];
    run(&[&COLD[..], &allocation].concat()).code(2).says(&["no agent that drops caches"]);
    run(&["--client-mount", "true"]).code(2).says(&["--hosts"]);
    let hosts = ["--hosts", "a,b", "--ssh", &ssh, "--remote-program", PROGRAM];
    let with = |mount: &str| run(&[&hosts[..], &["--client-mount", mount]].concat());
    with("true").code(2).says(&["is on the root file system", "--on"]);
    let target = tempfile::tempdir_in("/dev/shm").unwrap();
    let on = ["run", "--on", target.path().to_str().unwrap(), "--workload", "small-files"];
    let with = |mount: &str| env.run(&[&on[..], &hosts, &["--client-mount", mount]].concat());
    with("echo no server >&2; exit 32").code(2).says(&["the agent on a:", "no server"]);
    with("true").code(2).says(&["the agent on a:", "nothing is mounted"]);
    // A client of another file system does not see the directory.
    with("mount -t tmpfs none {mnt}").code(2).says(&["is not there", "one file system"]);
    assert_eq!(target.path().read_dir().unwrap().count(), 0, "nothing was made");
    assert_nothing_left(&env);
}

/// An agent that dies ends the trial with its host's name, and its mounts end with it; so it is
/// where the runner's executor is killed.
#[test]
fn an_agent_that_is_gone_ends_the_trial() {
    for kills_agent in [true, false] {
        let Some(hosts) = network(2) else { return };
        let env = TestEnv::new();
        let (target, ssh, names) = (env.make_dir("target"), hosts.ssh(), hosts.names());
        let experiment = env.long_experiment("", &target, "dirs = 20\n");
        let on = ["--hosts", &names, "--ssh", &ssh, "--remote-program", PROGRAM];
        let mut live = env.start(&[&["run", &experiment][..], &on].concat());
        live.wait_for("[1/2]");
        // Outer and inner agent, the far side of a rank, and its worker.
        live.poll("a rank at work on each host", |_| {
            (0..2).all(|host| at_work(&hosts, host).len() == 4).then_some(())
        });
        if kills_agent {
            let agents = at_work(&hosts, 1).into_iter().filter(|pid| runs_as(*pid, "agent"));
            for agent in agents {
                let _ = kill_process(agent, Signal::KILL);
            }
            let ran = live.end();
            assert_ne!(ran.code, Some(0));
            ran.says(&["the agent on fh2"]);
            assert!(matches!(env.records(1)[0].outcome, Outcome::Failed { .. }));
        } else {
            for executor in live.executors() {
                let _ = kill_process(executor, Signal::KILL);
            }
            drop(live);
            env.run(&["list"]);
        }
        assert_none_at_work(&hosts, 2);
        assert_nothing_left(&env);
    }
}
