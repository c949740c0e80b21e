//! `fsarena fleet run`: one experiment on hosts that are reached by ssh. They are network
//! namespaces of this machine, each with an sshd and a name of its own.

use crate::support::{LIMIT, PROGRAM, Ran, TestEnv, assert_nothing_left, kill_dash_nine, tool};
use fsarena_model::run::RunState;
use fsarena_testkit::hosts::TestHosts;
use fsarena_testkit::processes::runs_as;
use fsarena_testkit::write_script;
use rustix::process::Signal;
use std::fs;
use std::time::{Duration, Instant};

/// Two contenders on directories of the hosts' own, a block of a moment.
const EXPERIMENT: &str = "schema = 1\nname = \"pair\"\n[run]\nblocks = 2\n[factors]\n\
    device = [\"DIR/one\", \"DIR/two\"]\ncache = \"warm\"\n\
    [[workload]]\nname = \"tiny\"\nfiles = 50\nsize = \"256 B\"\nphases = [\"create\"]\n";

/// Tests of the article of 2008, in directories.
const OF_2008: &str = "schema = 1\nname = \"2008-all-against-all\"\n[run]\nblocks = 2\n\
    [factors]\ndevice = [\"DIR/one\", \"DIR/two\"]\ncache = \"warm\"\n\
    [[workload]]\nname = \"portage\"\ndataset = \"portage-2008\"\n\
    phases = [{ op = \"untar\", compression = \"gzip\" }]\n";

/// The same with a phase that lasts.
const LONG: &str = "files = 100000";

/// A program of a host that another one does not have.
const PATH: &str = "/srv/fsarena";

struct Fleet {
    env: TestEnv,
    hosts: TestHosts,
}

impl Fleet {
    /// `None`, with the reason printed, where there can be no hosts.
    fn start(count: usize) -> Option<Self> {
        match TestHosts::start(count) {
            Ok(hosts) => Some(Self { env: TestEnv::new(), hosts }),
            Err(reason) => {
                println!("not run: {reason}");
                None
            }
        }
    }

    /// Writes an experiment under a name that is full of quotes; its directories are each host's:
    /// `/srv` is another one in each.
    fn experiment(&self, text: &str) -> String {
        for host in 0..9 {
            let home = self.hosts.home(host);
            if home.exists() {
                fs::create_dir_all(home.join("srv/one")).unwrap();
                fs::create_dir_all(home.join("srv/two")).unwrap();
            }
        }
        let text = text.replace("DIR", "/srv");
        self.env.write("it's \"one\" $(touch x) `y`; !.toml", &text)
    }

    fn words<'a>(&self, ssh: &'a str, names: &'a str, more: &[&'a str]) -> Vec<String> {
        let fixed = ["fleet", "run", "--ssh", ssh, "--hosts", names, "--remote-program", PROGRAM];
        let all = fixed.iter().filter(|word| !more.contains(&"--install") || !is_program(word));
        all.chain(more).map(|&word| word.to_owned()).collect()
    }

    fn run(&self, names: &str, more: &[&str]) -> Ran {
        let words = self.words(&self.hosts.ssh(), names, more);
        self.env.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Temporary directories and processes of ours that are left on the hosts.
    fn left(&self, count: usize) -> Vec<String> {
        let mut left = Vec::new();
        for host in 0..count {
            let tmp = fs::read_dir(self.hosts.home(host).join("tmp")).unwrap().flatten();
            left.extend(tmp.map(|entry| entry.path().display().to_string()));
            let at_work = self.hosts.processes(host).into_iter();
            let at_work = at_work
                .filter(|pid| ["run", "worker", "executor"].iter().any(|sub| runs_as(*pid, sub)));
            left.extend(at_work.map(|pid| format!("process {pid:?} of {host}")));
        }
        left
    }

    #[track_caller]
    fn nothing_is_left_soon(&self, count: usize) {
        let begun = Instant::now();
        while !self.left(count).is_empty() {
            assert!(begun.elapsed() < LIMIT, "left: {:?}", self.left(count));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until a host is at work.
    #[track_caller]
    fn wait_for_worker(&self, host: usize) {
        let begun = Instant::now();
        while !self.hosts.processes(host).iter().any(|pid| runs_as(*pid, "worker")) {
            assert!(begun.elapsed() < LIMIT, "{host} does not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn is_program(word: &str) -> bool {
    word == "--remote-program" || word == PROGRAM
}

#[test]
fn machines_are_compared() {
    let Some(fleet) = Fleet::start(3) else { return };
    let experiment = fleet.experiment(EXPERIMENT);
    let ran = fleet.run("fh1,fh2,fh3", &[&experiment, "--seed", "7"]).good();
    let ran = ran.says(&["seed 7 on all hosts", "fh1: [1/4]", "fh3: RUN 3, 4 of 4 trials"]);
    ran.says(&["machine 3", "fsarena compare 1 2 3 --all"]);
    let runs = fleet.env.runs();
    let hosts: Vec<&str> = runs.iter().map(|run| run.host.as_str()).collect();
    assert_eq!(hosts, ["fh1", "fh2", "fh3"], "in the order of the list");
    assert!(runs.iter().all(|run| run.merged && run.state == RunState::Done));
    fleet.nothing_is_left_soon(3);
    // Again, one after the other, with a file of hosts and options of run.
    let list = fleet.env.write("hosts.txt", "# ours\nfh2\n\nroot@fh1 # the first\n");
    let more = [&experiment, "--one-at-a-time", "--json", "--", "--runs", "1", "--title", "it's"];
    let ran = fleet.run(&list, &more).good();
    assert_eq!(ran.json()["kind"], "compare-runs");
    assert_eq!(fleet.env.runs()[4].title, "it's");
    assert!(!fleet.env.path("x").exists(), "something of a name was run");
    fleet.nothing_is_left_soon(3);
    assert_nothing_left(&fleet.env);
}

/// A host of 64 bits over one that says it has 32, on the same processor.
#[test]
fn machines_are_set_side_by_side_as_in_2008() {
    if ["unshare", "tar", "gzip"].iter().any(|name| tool(name).is_none()) {
        println!("not run: no unshare, tar or gzip");
        return;
    }
    let Some(fleet) = Fleet::start(2) else { return };
    let experiment = fleet.experiment(OF_2008);
    for (host, arch) in [(0, "x86_64"), (1, "i686")] {
        let srv = fleet.hosts.home(host).join("srv");
        fs::write(srv.join("arch"), format!("{arch}\n")).unwrap();
        let script = format!("mount --bind /srv/arch /proc/sys/kernel/arch; exec {PROGRAM} \"$@\"");
        let line = format!("exec unshare --mount sh -c '{script}' sh \"$@\"");
        write_script(&srv.join("fsarena"), &line);
    }
    let ssh = fleet.hosts.ssh();
    let all = ["fleet", "run", &experiment, "--ssh", &ssh, "--hosts", "fh1,fh2"];
    let more = ["--remote-program", PATH, "--", "--scale", "0.001", "--sample-period", "0s"];
    let ran = fleet.env.run(&[&all[..], &more].concat()).good();
    let ran = ran
        .says(&["64-bit / 32-bit, as table 3: ratios of medians", "(1) / (2)", "As in 2008"])
        .says(&["`fsarena reference 2008` sets the article next to them"]);
    assert!(!ran.stdout.contains("Intel / AMD"), "one processor: {}", ran.stdout);
    let ran = fleet.env.run(&["reference", "2008"]).good();
    ran.says(&["Table 3: 64-bit / 32-bit on tmpfs", "64-bit / 32-bit, as table 3"]);
    fleet.nothing_is_left_soon(2);
    assert_nothing_left(&fleet.env);
}

#[test]
fn hosts_that_are_not_ready() {
    let Some(fleet) = Fleet::start(2) else { return };
    let experiment = fleet.experiment(EXPERIMENT);
    let old = fleet.hosts.home(1).join("srv/fsarena");
    write_script(&old, "echo fsarena 0.0.9");
    let ran = fleet.run("fh1,fh2", &[&experiment, "--dry-run"]).good();
    ran.says(&["fh1: ", "is fsarena ", "Linux "]);
    let with = |names: &str, program: &str, words: &[&str]| {
        let ssh = fleet.hosts.ssh();
        let all = ["fleet", "run", &experiment, "--ssh", &ssh, "--hosts", names];
        let ran = fleet.env.run(&[&all[..], &["--remote-program", program]].concat()).code(1);
        ran.says(words).says(&["nothing was begun"])
    };
    let missing = "fh1: there is no /srv/fsarena; --remote-program names it";
    with(
        "fh1,fh2",
        PATH,
        &[missing, "fh2: /srv/fsarena is fsarena 0.0.9, and this one is fsarena"],
    );
    write_script(&old, "echo wrong >&2; exit 3");
    with("fh2", PATH, &["fh2: /srv/fsarena ended with exit code 3: wrong"]);
    fs::write(&old, [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 200]].concat()).unwrap();
    with("fh2", PATH, &["fh2: /srv/fsarena "]);
    with("fh1,nowhere.invalid", PROGRAM, &["nowhere.invalid: cannot be reached"]);
    // A key that is none of the host's, and nobody asks for a password.
    let config = fs::read_to_string(fleet.hosts.ssh().trim_start_matches("ssh -F ")).unwrap();
    let key = fleet.env.path("key").display().to_string();
    crate::support::sh(&format!("ssh-keygen -q -t ed25519 -N '' -f {key}"));
    let lines = config.lines().map(|line| match line.contains("IdentityFile") {
        true => format!(" IdentityFile {key}\n"),
        false => format!("{line}\n"),
    });
    let other = fleet.env.write("other key", &lines.collect::<String>());
    let ssh = format!("ssh -F '{other}'");
    let all = ["fleet", "run", "--ssh", &ssh, "--hosts", "fh1", "--remote-program", PROGRAM];
    let ran = fleet.env.run(&all).code(1);
    ran.says(&["fh1: no one is let in without a password", "Permission denied (publickey"]);
    let all = ["fleet", "run", "--ssh", "/nonexistent/ssh", "--hosts", "fh1"];
    fleet.env.run(&all).refused(2, &["--ssh: /nonexistent/ssh: No such file", "name an ssh"]);
    assert!(!fleet.env.db().exists(), "something was recorded");
    fleet.nothing_is_left_soon(2);
    assert_nothing_left(&fleet.env);
}

#[test]
fn a_run_that_is_refused_or_fails_is_named_and_the_others_stay() {
    let Some(fleet) = Fleet::start(2) else { return };
    let experiment = fleet.experiment(EXPERIMENT);
    fs::remove_dir(fleet.hosts.home(1).join("srv/two")).unwrap();
    let ran = fleet.run("fh1,fh2", &[&experiment]).code(1);
    let ran = ran.says(&["fh1: RUN 1, 4 of 4 trials", "fh2: its RUN was refused", "/srv/two"]);
    ran.says(&["one RUN is compared with nothing"]);
    assert_eq!(fleet.env.runs().len(), 1);
    // Nothing of a host is believed: another seed, several RUNs, no database.
    let liar = fleet.hosts.home(1).join("srv/fsarena");
    let version = format!("fsarena {}", env!("CARGO_PKG_VERSION"));
    let lie = |text: &str| {
        write_script(&liar, &format!("[ \"$1\" != --version ] || exec echo {version}\n{text}"));
        let ssh = fleet.hosts.ssh();
        let words = ["fleet", "run", &experiment, "--ssh", &ssh, "--hosts", "fh2"];
        fleet.env.run(&[&words[..], &["--remote-program", PATH]].concat()).code(1)
    };
    let other_seed = format!("shift 4; exec {PROGRAM} run /srv/copy.toml --seed 3 \"$@\"");
    fs::create_dir(fleet.hosts.home(1).join("srv/two")).unwrap();
    fs::copy(&experiment, fleet.hosts.home(1).join("srv/copy.toml")).unwrap();
    lie(&other_seed).says(&["fh2: its RUN has another seed than was asked for, and is not taken"]);
    lie("printf '\\033[2Jbad\\n' >&2; exit 1").says(&["fh2: its RUN failed: \\u{1b}[2Jbad"]);
    lie("for x; do f=$x; done; echo nonsense >\"$f\"").says(&["fh2: its database is not taken"]);
    lie("exit 0").says(&["fh2: it gave no database"]);
    assert_eq!(fleet.env.runs().len(), 1);
    fleet.nothing_is_left_soon(2);
    assert_nothing_left(&fleet.env);
}

#[test]
fn a_host_that_is_lost_in_the_middle() {
    let Some(fleet) = Fleet::start(2) else { return };
    let experiment = fleet.experiment(&EXPERIMENT.replace("files = 50", LONG));
    let ssh = format!("{} -o ServerAliveInterval=1 -o ServerAliveCountMax=2", fleet.hosts.ssh());
    let words = fleet.words(&ssh, "fh1,fh2", &[&experiment, "--", "--runs", "1"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let live = fleet.env.start(&words);
    fleet.wait_for_worker(0);
    fleet.wait_for_worker(1);
    fleet.hosts.end_connections(1);
    let ran = live.end().code(1);
    let ran = ran.says(&["fh1: RUN 1, 2 of 2 trials", "fh2: the connection was lost"]);
    ran.says(&["fsarena-fleet-", "one RUN is compared with nothing"]);
    fleet.nothing_is_left_soon(2);
    // A cable that is out is noticed by silence.
    let live = fleet.env.start(&words);
    fleet.wait_for_worker(0);
    fleet.wait_for_worker(1);
    fleet.hosts.disconnect(1);
    live.end().code(1).says(&["fh1: RUN 2, 2 of 2 trials", "fh2: the connection was lost"]);
    fleet.nothing_is_left_soon(1);
    assert_nothing_left(&fleet.env);
}

#[test]
fn a_stop_and_a_kill_end_the_runs_on_all_hosts() {
    let Some(fleet) = Fleet::start(2) else { return };
    let experiment = fleet.experiment(&EXPERIMENT.replace("files = 50", LONG));
    let words = fleet.words("", "fh1,fh2", &[&experiment]);
    let ssh = fleet.hosts.ssh();
    let words: Vec<&str> =
        words.iter().map(|word| if word.is_empty() { ssh.as_str() } else { word }).collect();
    let live = fleet.env.start(&words);
    fleet.wait_for_worker(0);
    fleet.wait_for_worker(1);
    live.signal(Signal::INT);
    let ran = live.end().code(130);
    let ran = ran.says(&["stopping", "fh1: RUN 1, interrupted, ", "fh2: RUN 2, interrupted, "]);
    ran.says(&["fh1: its RUN was interrupted"]);
    fleet.nothing_is_left_soon(2);

    let live = fleet.env.start(&words);
    fleet.wait_for_worker(0);
    fleet.wait_for_worker(1);
    kill_dash_nine(live.pid());
    live.end();
    fleet.nothing_is_left_soon(2);
    fleet.env.run(&["list"]).good();
    assert_nothing_left(&fleet.env);
}

#[test]
fn the_program_is_copied() {
    let Some(fleet) = Fleet::start(2) else { return };
    let experiment = fleet.experiment(EXPERIMENT);
    for _ in 0..2 {
        fleet.run("fh1,fh2", &[&experiment, "--install", "--", "--runs", "1"]).good();
        let bin = fleet.hosts.home(1).join(".local/share/fsarena/bin");
        let found: Vec<_> = fs::read_dir(&bin).unwrap().flatten().collect();
        assert_eq!(found.len(), 1, "{found:?}");
        let mode = |path: &std::path::Path| {
            std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777
        };
        assert_eq!((mode(&bin), mode(&found[0].path())), (0o700, 0o755));
        assert!(fs::read(found[0].path()).unwrap() == fs::read(PROGRAM).unwrap());
    }
    assert_eq!(fleet.env.runs().len(), 4);
    fleet.nothing_is_left_soon(2);
    assert_nothing_left(&fleet.env);
}
