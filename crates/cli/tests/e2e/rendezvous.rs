//! Ranks that come by themselves, as those that srun and mpirun start in an allocation. Plain
//! processes with the variables of a launcher stand for them: what dials the runner is the same.

use crate::ranks::{self, assert_ranks, network};
use crate::support::{
    Live, PROGRAM, Ran, TestEnv, assert_nothing_left, kill_dash_nine, takes_all, tool,
};
use fsarena_model::record::Outcome;
use fsarena_store::Store;
use fsarena_testkit::flood::{Flood, Sources};
use fsarena_testkit::hosts::TestHosts;
use fsarena_testkit::processes::{runs_as, state_of};
use fsarena_testkit::slurm::Slurm;
use rustix::process::{Pid, Signal};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const SMALL: [&str; 4] = ["--workload", "small-files", "--scale", "0.01"];
/// A rank or worker that has no runner any more is gone after this.
const SOON: Duration = Duration::from_secs(5);
/// A network that was cut is noticed within this.
const CUT_LIMIT: Duration = Duration::from_secs(120);

/// A runner that waits, or has its ranks.
struct Runner<'a> {
    env: &'a TestEnv,
    live: Live<'a>,
    /// Options for its ranks, as it prints them.
    options: Vec<String>,
}

impl TestEnv {
    /// `run` in a directory with so many ranks that come, and what else is asked for.
    fn runner(&self, ranks: &str, more: &[&str]) -> Runner<'_> {
        let target = self.make_dir("target");
        let run = ["run", "--runs", "1", "--seed", "1", "--on", &target, "--ranks", ranks];
        self.waiting(&[&run[..], &SMALL, more].concat())
    }

    /// The same with two ranks on hosts of a network, in a phase that lasts or not.
    fn runner_of(&self, hosts: &TestHosts, args: &[&str]) -> Runner<'_> {
        self.waiting_at(&format!("{}:0", hosts.gateway()), args)
    }

    /// The same in the middle of a phase that lasts.
    fn long_runner(&self) -> (Runner<'_>, [Live<'_>; 2], Vec<Pid>) {
        let target = self.make_dir("target");
        let experiment = self.long_experiment("", &target, "dirs = 20\n");
        let mut runner = self.waiting(&["run", &experiment, "--ranks", "2"]);
        let ranks = [runner.slurm(0, 2), runner.slurm(1, 2)];
        runner.live.wait_for("[1/2]");
        let workers = runner.workers(2);
        (runner, ranks, workers)
    }

    fn waiting(&self, args: &[&str]) -> Runner<'_> {
        self.waiting_at("127.0.0.1:0", args)
    }

    fn waiting_at(&self, address: &str, args: &[&str]) -> Runner<'_> {
        self.waiting_by(self.command(&[args, &["--rendezvous", address]].concat()))
    }

    fn waiting_by(&self, command: Command) -> Runner<'_> {
        let mut live = self.start_command(command);
        let options = live.poll("how to start ranks", |live| {
            let said = live.stderr();
            let (_, rest) = said.split_once("srun -n ")?;
            let (line, _) = rest.split_once('\n')?;
            Some(shlex::split(line).unwrap().split_off(3))
        });
        Runner { env: self, live, options }
    }
}

impl<'a> Runner<'a> {
    /// A rank with the variables of a launcher.
    fn rank(&self, variables: &[(&str, u32)]) -> Live<'a> {
        self.env.start_command(self.rank_command(variables))
    }

    fn rank_command(&self, variables: &[(&str, u32)]) -> Command {
        let options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        let mut command = self.env.command(&[&["rank"], &options[..]].concat());
        command.envs(variables.iter().map(|(name, value)| (name, value.to_string())));
        command
    }

    fn slurm(&self, rank: u32, size: u32) -> Live<'a> {
        self.rank(&[("SLURM_PROCID", rank), ("SLURM_NTASKS", size)])
    }

    /// A rank that is refused.
    #[track_caller]
    fn refused(&self, rank: u32, size: u32, words: &[&str]) -> Ran {
        let ran =
            self.env.finish(self.rank_command(&[("SLURM_PROCID", rank), ("SLURM_NTASKS", size)]));
        ran.refused(1, words)
    }

    /// Its ranks' workers, once so many are at work.
    fn workers(&mut self, number: usize) -> Vec<Pid> {
        self.live.poll("ranks at work", |live| {
            let workers = live.workers();
            (workers.len() == number).then_some(workers)
        })
    }
}

fn is_there(pid: Pid) -> bool {
    state_of(pid).is_some_and(|state| state != 'Z')
}

/// The processes that are ranks, and all workers.
fn at_work(env: &TestEnv) -> Vec<Pid> {
    let is_one = |pid: &Pid| runs_as(*pid, "rank") || runs_as(*pid, "worker");
    env.fixture.processes().into_iter().filter(is_one).collect()
}

#[test]
fn ranks_of_each_launcher_share_a_phase() {
    let env = TestEnv::new();
    let runner = env.runner("3", &["--verify"]);
    let secret = runner.options[3].clone();
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o7777, 0o600);
    let ranks = [
        runner.slurm(2, 3),
        runner.rank(&[("OMPI_COMM_WORLD_RANK", 0), ("OMPI_COMM_WORLD_SIZE", 3)]),
        runner.rank(&[("PMI_RANK", 1), ("PMI_SIZE", 3)]),
    ];
    runner.live.end().good();
    for rank in ranks {
        let ran = rank.end().good();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "a rank is silent");
    }
    assert!(!fs::exists(&secret).unwrap(), "the secret is that of one RUN");
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let here = record.ranks[0].hostname.clone();
    assert_ranks(&record, &[&here, &here, &here]);
    for rank in record.phases.iter().flat_map(|phase| &phase.ranks) {
        assert!(rank.clock.error_ns > 0, "{:?}", rank.clock);
        assert!(rank.clock.offset_ns.unsigned_abs() <= rank.clock.error_ns, "{:?}", rank.clock);
    }
    let store = Store::open_read_only(&env.db()).unwrap();
    let place = store.header(env.runs()[0].id).unwrap().place.unwrap();
    assert_eq!(place.hosts, [&*here, &*here, &*here]);
}

/// As many ranks come as the largest number says; the first of them work where it is fewer.
#[test]
fn numbers_of_ranks_are_compared_in_an_allocation() {
    let env = TestEnv::new();
    let runner = env.runner("1,2", &[]);
    let ranks = [runner.slurm(0, 2), runner.slurm(1, 2)];
    runner.live.end().good();
    ranks.into_iter().for_each(|rank| drop(rank.end().good()));
    assert_nothing_left(&env);
    let count = |record: fsarena_model::record::TrialRecord| record.phases[0].ranks.len();
    let mut counts: Vec<usize> = env.records(1).into_iter().map(count).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 2]);
}

#[test]
fn a_runner_waits_on_when_it_refuses_a_rank() {
    let env = TestEnv::new();
    let mut runner = env.runner("2", &[]);
    let right = std::mem::replace(&mut runner.options[3], env.write("other", &"x".repeat(40)));
    fs::set_permissions(env.path("other"), fs::Permissions::from_mode(0o600)).unwrap();
    runner.refused(0, 2, &["rank 0 of 2: 127.0.0.1:", "the secret is another one"]);
    runner.live.wait_for("the secret is another one");
    assert!(runner.live.stderr().contains("refused 127.0.0.1:"), "{}", runner.live.stderr());
    runner.options[3] = right;
    runner.refused(0, 4, &["rank 0 on", "is one of 4 and the runner has --ranks 2"]);
    let first = runner.slurm(0, 2);
    runner.live.wait_for("rank 0 is on");
    runner.refused(0, 2, &["rank 0 on", "is this rank already; start each once"]);
    let second = runner.slurm(1, 2);
    runner.live.end().good();
    first.end().good();
    second.end().good();
    assert_nothing_left(&env);
}

#[test]
fn ranks_that_do_not_come_are_named() {
    let env = TestEnv::new();
    let mut runner = env.runner("3", &["--rendezvous-limit", "2s"]);
    let came = runner.slurm(1, 3);
    runner.live.wait_for("rank 1 is on");
    let words = ["--rendezvous 127.0.0.1:0: of 3 ranks ranks 0 and 2 did not come within 2s"];
    runner.live.end().code(2).says(&words);
    came.end().refused(1, &["rank 1 of 3", "the runner ended before its RUN was done"]);
    assert!(!env.db().exists() || env.runs().is_empty(), "no RUN has begun");
    assert_nothing_left(&env);
}

#[test]
fn a_runner_that_waits_is_stopped_and_has_its_port_alone() {
    let env = TestEnv::new();
    let mut runner = env.runner("2", &[]);
    let came = runner.slurm(0, 2);
    runner.live.wait_for("rank 0 is on");
    let at = runner.options[1].clone();
    let target = env.make_dir("target");
    let second = ["run", "--on", &target, "--ranks", "2", "--rendezvous", &at];
    env.run(&[&second[..], &SMALL].concat()).refused(2, &[&at, "another process listens there"]);
    runner.live.signal(Signal::INT);
    runner.live.end().code(130).says(&["stopped; nothing was run"]);
    came.end().refused(1, &["the runner ended before its RUN was done"]);
    let left = fs::read_dir(env.state()).into_iter().flatten().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_nothing_left(&env);
}

/// Everything below a directory that its group or others may read, write or enter.
fn open_below(dir: &Path) -> Vec<String> {
    let mut open = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        if meta.permissions().mode() & 0o077 != 0 {
            open.push(format!("{} {:04o}", path.display(), meta.permissions().mode() & 0o7777));
        }
        if meta.is_dir() {
            open.extend(open_below(&path));
        }
    }
    open
}

/// Whoever reaches the socket in the state directory is given the connection of a rank, which does
/// what it is sent.
#[test]
fn nobody_else_reaches_the_ranks_whatever_the_umask() {
    let env = TestEnv::new();
    fs::create_dir(env.state()).unwrap();
    fs::set_permissions(env.state(), fs::Permissions::from_mode(0o777)).unwrap();
    let target = env.make_dir("target");
    let experiment = env.long_experiment("", &target, "dirs = 20\n");
    let script = "umask 000; exec \"$0\" \"$@\"";
    let run = ["run", &experiment, "--ranks", "2", "--rendezvous", "127.0.0.1:0"];
    let words = [&["-c", script, PROGRAM][..], &run].concat();
    let mut runner = env.waiting_by(env.command_of("sh", &words));
    let open = |dir: &Path| fs::metadata(dir).unwrap().permissions().mode() & 0o077;
    assert_eq!(open(&env.state()), 0, "it is closed");
    assert_eq!(open_below(&env.state()), [""; 0]);
    let ranks = [runner.slurm(0, 2), runner.slurm(1, 2)];
    runner.live.wait_for("[1/2]");
    runner.workers(2);
    assert_eq!(open_below(&env.state()), [""; 0], "in the middle of a RUN");
    runner.live.signal(Signal::INT);
    runner.live.end().code(130);
    ranks.into_iter().for_each(|rank| drop(rank.end()));
    assert_nothing_left(&env);
}

#[test]
fn a_state_directory_that_others_may_write_is_not_used() {
    let env = TestEnv::new();
    fs::create_dir(env.state()).unwrap();
    let mode = |mode| fs::set_permissions(env.state(), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o1777);
    let target = env.make_dir("target");
    let run = || env.run_once(&[&["--on", &*target], &SMALL[..]].concat());
    let words = ["others may write there (mode 1777)", "set FSARENA_STATE_DIR to a directory"];
    run().refused(2, &words);
    mode(0o777);
    run().good();
    assert_eq!(fs::metadata(env.state()).unwrap().permissions().mode() & 0o7777, 0o700);
    assert_nothing_left(&env);
}

/// Strangers at the port keep no rank from its runner, and cost it no thread each.
#[test]
fn no_trial_is_lost_whoever_dials() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let run = ["run", "--runs", "4", "--seed", "1", "--on", &*target, "--ranks", "2"];
    let runner = env.waiting(&[&run[..], &SMALL].concat());
    let port = runner.options[1].rsplit_once(':').unwrap().1.parse().unwrap();
    let floods = [Sources::One, Sources::Many].map(|sources| Flood::start(port, 1000, sources));
    let ranks = [runner.slurm(0, 2), runner.slurm(1, 2)];
    let pid = runner.live.pid();
    let most = std::thread::spawn(move || {
        let mut most = 0;
        while is_there(pid) {
            most = most.max(threads(pid));
            std::thread::sleep(Duration::from_millis(5));
        }
        most
    });
    runner.live.end().good();
    let dialled: u64 = floods.iter().map(Flood::dialled).sum();
    drop(floods);
    ranks.into_iter().for_each(|rank| drop(rank.end().good()));
    assert!(dialled > 1000, "{dialled} strangers");
    let most = most.join().unwrap();
    assert!((1..=64).contains(&most), "{most} threads");
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 4);
    for record in records {
        assert_eq!(record.outcome, Outcome::Done);
        assert!(record.notices.iter().all(|notice| notice.code != "done-again"));
    }
}

fn threads(pid: Pid) -> usize {
    fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).map_or(0, Iterator::count)
}

/// There is no RUN yet, and no database: the next start has its journal to go by.
#[test]
fn a_runner_that_is_killed_while_it_waits_leaves_nothing_after_the_next_start() {
    let env = TestEnv::new();
    let mut runner = env.runner("2", &[]);
    let came = runner.slurm(0, 2);
    runner.live.wait_for("rank 0 is on");
    let secret = runner.options[3].clone();
    kill_dash_nine(runner.live.pid());
    came.end().refused(1, &["the runner is gone"]);
    drop(runner);
    assert!(fs::exists(&secret).unwrap());
    env.run(&["list"]).says(&["cleaned up after a killed run"]);
    assert!(!fs::exists(&secret).unwrap());
    let left: Vec<_> = fs::read_dir(env.state()).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_nothing_left(&env);
}

#[test]
fn ranks_end_with_their_runner() {
    let env = TestEnv::new();
    let (runner, ranks, _) = env.long_runner();
    let all = at_work(&env);
    assert!(all.len() >= 4, "{all:?}");
    kill_dash_nine(runner.live.pid());
    let since = Instant::now();
    while all.iter().any(|pid| is_there(*pid)) && since.elapsed() < SOON {
        std::thread::sleep(Duration::from_millis(10));
    }
    let left: Vec<_> = all.into_iter().filter(|pid| is_there(*pid)).collect();
    assert!(left.is_empty(), "{left:?} go on");
    for rank in ranks {
        rank.end().refused(1, &["of 2", "127.0.0.1:", "the runner is gone"]);
    }
    drop(runner);
    env.run(&["list"]);
    assert_nothing_left(&env);
}

#[test]
fn a_rank_that_dies_ends_the_trial_with_its_name() {
    let env = TestEnv::new();
    let (runner, [first, second], _) = env.long_runner();
    kill_dash_nine(second.pid());
    let ran = runner.live.end();
    assert_ne!(ran.code, Some(0));
    ran.says(&["rank 1 on", "the worker ended without a result"]);
    first.end().refused(1, &["the runner ended before its RUN was done"]);
    drop(second);
    assert_nothing_left(&env);
    let records = env.records(1);
    let why = |at: usize| match &records[at].outcome {
        Outcome::Failed { error, .. } => format!("{error:?}"),
        other => panic!("{other:?}"),
    };
    assert!(why(0).contains("rank 1 on"), "{}", why(0));
}

#[test]
fn a_run_is_resumed_with_its_ranks() {
    let env = TestEnv::new();
    let (runner, ranks, _) = env.long_runner();
    runner.live.signal(Signal::INT);
    runner.live.end().code(130);
    for rank in ranks {
        rank.end().refused(1, &["the runner ended before its RUN was done"]);
    }
    assert_nothing_left(&env);
    let alone = env.run(&["run", "--resume"]).code(2);
    alone.says(&["the RUN has its ranks on other hosts", "--rendezvous PORT"]);
    let runner = env.waiting(&["run", "--resume"]);
    let ranks = [runner.slurm(0, 2), runner.slurm(1, 2)];
    runner.live.end().good();
    ranks.into_iter().for_each(|rank| drop(rank.end().good()));
    assert_nothing_left(&env);
    let phases: Vec<_> = env.records(1).into_iter().flat_map(|record| record.phases).collect();
    assert_eq!(phases.iter().map(|phase| phase.ranks.len()).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_waited_for() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let secret = env.write("secret", &"x".repeat(40));
    let mode = |mode| fs::set_permissions(&secret, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    let run = |more: &[&str]| {
        env.run(
            &[&["run", "--on", &target, "--rendezvous", "127.0.0.1:0"], &SMALL[..], more].concat(),
        )
    };
    run(&[]).refused(2, &["--rendezvous: it waits for as many ranks as --ranks N says"]);
    run(&["--ranks", "2", "--secret-file", &secret])
        .refused(2, &["--secret-file", "others may read or change it (mode 0644)"]);
    run(&["--ranks", "2", "--rendezvous-limit", "long"]).refused(2, &["--rendezvous-limit long"]);
    run(&["--ranks", "2", "--dry-run"]).good();
    let elsewhere = ["run", "--on", &target, "--ranks", "2", "--rendezvous"];
    let at = |at: &str| env.run(&[&elsewhere[..], &[at], &SMALL].concat());
    at("node").refused(2, &["--rendezvous: \"node\" is no [ADDRESS:]PORT"]);
    at("192.0.2.1:7727").refused(2, &["name a free port, and an address of this machine"]);
    let rank = |more: &[&str]| env.run(&[&["rank"], more].concat());
    rank(&[]).refused(2, &["neither srun nor mpirun has started this process"]);
    let position = ["--rank", "0", "--of", "2"];
    rank(&position).refused(2, &["FSARENA_RENDEZVOUS: no runner is named"]);
    // A port that nobody listens at.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let free = listener.local_addr().unwrap().to_string();
    drop(listener);
    let to = [&position[..], &["--rendezvous", &free, "--limit", "1s"]].concat();
    rank(&to).refused(2, &["no secret: name --secret-file FILE"]);
    let to = [&to[..], &["--secret-file", &secret]].concat();
    rank(&to).refused(2, &["--secret-file", "others may read or change it"]);
    mode(0o600);
    rank(&to).refused(1, &["rank 0 of 2", "no runner answers within 1 s", "Connection refused"]);
    rank(&["--rank", "2", "--of", "2"]).refused(2, &["rank 2 of 2"]);
    assert_nothing_left(&env);
}

/// The secret may be in the environment of both sides; what is measured does not see it.
#[test]
fn a_secret_of_the_environment() {
    let env = TestEnv::new();
    let experiment = env.long_experiment("", &env.make_dir("target"), "dirs = 20\n");
    let secret = "0123456789abcdef0123";
    let run = ["run", &experiment, "--ranks", "1", "--rendezvous", "127.0.0.1:0"];
    let mut command = env.command(&run);
    command.env("FSARENA_SECRET", secret);
    let mut live = env.start_command(command);
    let at = live.poll("address", |live| {
        let said = live.stderr();
        let (_, rest) = said.split_once("--rendezvous ")?;
        Some(rest.split_once('\n')?.0.to_owned())
    });
    assert!(!live.stderr().contains("--secret-file") && !live.stderr().contains(secret));
    let mut rank = env.command(&["rank", "--rank", "0", "--of", "1"]);
    rank.env("FSARENA_SECRET", secret).env("FSARENA_RENDEZVOUS", at);
    let rank = env.start_command(rank);
    live.wait_for("[1/2]");
    live.poll("a worker", |live| live.worker());
    let knows = |pid: &Pid| {
        let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
        String::from_utf8_lossy(&environment.unwrap_or_default()).contains(secret)
    };
    let know: Vec<_> = env.fixture.processes().into_iter().filter(knows).collect();
    let both = [live.pid(), rank.pid()];
    assert!(know.len() == 2 && both.iter().all(|pid| know.contains(pid)), "{know:?} {both:?}");
    live.signal(Signal::INT);
    live.end().code(130);
    rank.end().refused(1, &["the runner ended before its RUN was done"]);
    assert_nothing_left(&env);
}

/// The real launcher, where it is installed.
#[test]
fn ranks_of_mpirun() {
    let Some(mpirun) = tool("mpirun") else { return };
    let env = TestEnv::new();
    let runner = env.runner("3", &["--verify"]);
    let mut words = vec!["--oversubscribe", "-np", "3", PROGRAM, "rank"];
    words.extend(runner.options.iter().map(String::as_str));
    let mut command = env.command_of(&mpirun, &words);
    let as_root = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
    command.envs(as_root.map(|name| (name, "1"))).env("TMPDIR", env.make_dir("mpi"));
    let ranks = env.start_command(command);
    runner.live.end().good();
    ranks.end().good();
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let here = record.ranks[0].hostname.clone();
    assert_ranks(&record, &[&here, &here, &here]);
}

/// A batch system with a daemon on each of two hosts: `srun` starts a rank on each, which knows its
/// number by itself.
#[test]
fn ranks_of_srun() {
    let Some(hosts) = network(2) else { return };
    let slurm = match Slurm::start(&hosts) {
        Ok(slurm) => slurm,
        Err(reason) => return println!("not run: {reason}"),
    };
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let run = ["run", "--runs", "1", "--seed", "1", "--on", &target, "--ranks", "2", "--verify"];
    let runner = env.runner_of(&hosts, &[&run[..], &SMALL].concat());
    let mut words = vec!["-N", "2", "-n", "2", PROGRAM, "rank"];
    words.extend(runner.options.iter().map(String::as_str));
    let mut command = env.command_of("srun", &words);
    command.env("SLURM_CONF", slurm.configuration());
    let ranks = env.start_command(command);
    runner.live.end().good();
    ranks.end().good();
    let record = env.records(1).remove(0);
    assert_ranks(&record, &["fh1", "fh2"]);
    drop(slurm);
    drop(hosts);
    assert_nothing_left(&env);
}

/// Where the network is cut without a word, both sides notice by themselves.
#[test]
fn a_rank_whose_network_is_cut_ends_the_trial() {
    if !takes_all() {
        return;
    }
    let Some(hosts) = network(2) else { return };
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let experiment = env.long_experiment("", &target, "dirs = 20\n");
    let mut runner = env.runner_of(&hosts, &["run", &experiment, "--ranks", "2"]);
    let rank = |host: usize| {
        let words: Vec<String> = runner.options.iter().map(|word| shell_word(word)).collect();
        let text = format!("SLURM_PROCID={host} SLURM_NTASKS=2 {PROGRAM} rank {}", words.join(" "));
        let ssh = hosts.ssh();
        let name = hosts.name(host);
        let words: Vec<&str> = ssh.split(' ').skip(1).chain([&*name, &*text]).collect();
        env.start_command(env.command_of("ssh", &words))
    };
    let started = [rank(0), rank(1)];
    runner.live.wait_for("[1/2]");
    let is_at_work = |host| ranks::at_work(&hosts, host).len() == 1;
    runner.live.poll("a worker on each host", |_| (0..2).all(is_at_work).then_some(()));
    hosts.disconnect(1);
    let begun = Instant::now();
    let ran = runner.live.end();
    assert_ne!(ran.code, Some(0));
    ran.says(&["rank 1 on fh2"]);
    assert!(begun.elapsed() < CUT_LIMIT, "{:?}", begun.elapsed());
    assert!(matches!(env.records(1)[0].outcome, Outcome::Failed { .. }));
    while !(0..2).all(|host| ranks::at_work(&hosts, host).is_empty()) {
        assert!(begun.elapsed() < 2 * CUT_LIMIT, "a rank works on");
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(hosts);
    drop(started);
    assert_nothing_left(&env);
}

fn shell_word(word: &str) -> String {
    shlex::try_quote(word).unwrap().into_owned()
}
