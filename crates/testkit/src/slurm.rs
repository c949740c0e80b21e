//! A batch system over hosts of [`TestHosts`]: Slurm with its controller on this machine and a
//! daemon on each host, and munge, by which they trust each other. All of it is in the directory of
//! the hosts, and of its own: a Slurm that this machine may belong to is not touched.

use crate::hosts::{TestHosts, sh};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is needed, each with its Debian package.
const TOOLS: [(&str, &str); 4] = [
    ("munged", "munge"),
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("srun", "slurm-client"),
];
/// How long it may take until all nodes are idle.
const LIMIT: Duration = Duration::from_secs(60);

/// Its daemons end with the value; those on hosts with the hosts.
#[derive(Debug)]
pub struct Slurm {
    dir: PathBuf,
    daemons: Vec<Child>,
}

impl Slurm {
    /// Starts it, with each host as a node of two processors, and waits until all are idle.
    ///
    /// # Errors
    /// Why there can be none here.
    ///
    /// # Panics
    /// When there could be, and it does not come up.
    pub fn start(hosts: &TestHosts) -> Result<Self, String> {
        for (tool, package) in TOOLS {
            if sh(&format!("PATH=$PATH:/usr/sbin; command -v {tool}")).is_err() {
                return Err(format!("no {tool} (package {package})"));
            }
        }
        let dir = hosts.path("slurm");
        fs::create_dir_all(dir.join("state")).expect("a directory");
        fs::create_dir_all(dir.join("munge")).expect("a directory");
        let mut slurm = Self { dir, daemons: Vec::new() };
        slurm.start_munge();
        write(&slurm.configuration(), &slurm.settings(hosts));
        // No cgroup is made, and hosts show none: which kind it would be is not looked for.
        write(&slurm.dir.join("cgroup.conf"), "CgroupPlugin=cgroup/v1\n");
        let configuration = slurm.configuration().display().to_string();
        slurm.start_daemon("slurmctld", &["-D", "-f", &configuration]);
        for host in 0..hosts.count() {
            let name = hosts.name(host);
            fs::create_dir_all(slurm.dir.join("spool").join(&name)).expect("a directory");
            let text =
                format!("{} {name} /usr/sbin/slurmd -N {name} -f {configuration}", hosts.ssh());
            sh(&text).unwrap_or_else(|error| panic!("{text}: {error}\n{}", slurm.logs()));
        }
        slurm.wait_until_idle(hosts.count());
        Ok(slurm)
    }

    /// The file of its settings, which its commands take from `SLURM_CONF`.
    #[must_use]
    pub fn configuration(&self) -> PathBuf {
        self.dir.join("slurm.conf")
    }

    fn start_munge(&mut self) {
        let place = self.dir.join("munge").display().to_string();
        let key = format!("{place}/key");
        sh(&format!("dd if=/dev/urandom of={key} bs=1024 count=1 status=none; chmod 600 {key}"))
            .expect("a key");
        let options = [
            format!("--key-file={key}"),
            format!("--socket={place}/socket"),
            format!("--pid-file={place}/pid"),
            format!("--log-file={place}/log"),
            format!("--seed-file={place}/seed"),
        ];
        let mut words = vec!["--foreground", "--force"];
        words.extend(options.iter().map(String::as_str));
        self.start_daemon("munged", &words);
    }

    fn settings(&self, hosts: &TestHosts) -> String {
        let (place, here) = (self.dir.display(), sh("hostname -s").expect("a name"));
        let mut text = format!(
            "ClusterName=test\nSlurmctldHost={}({})\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket={place}/munge/socket\n\
             StateSaveLocation={place}/state\nSlurmdSpoolDir={place}/spool/%n\n\
             SlurmctldPidFile={place}/slurmctld.pid\nSlurmdPidFile={place}/slurmd-%n.pid\n\
             SlurmctldLogFile={place}/slurmctld.log\nSlurmdLogFile={place}/slurmd-%n.log\n\
             SlurmctldPort=16817\nSlurmdPort=16818\n\
             ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nMpiDefault=none\n\
             JobAcctGatherType=jobacct_gather/none\nReturnToService=2\nSwitchType=switch/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
            here.trim(),
            hosts.gateway(),
        );
        let mut names = Vec::new();
        for host in 0..hosts.count() {
            let (name, address) = (hosts.name(host), hosts.address(host));
            let _ = writeln!(text, "NodeName={name} NodeAddr={address} CPUs=2 State=UNKNOWN");
            names.push(name);
        }
        let _ = writeln!(text, "PartitionName=p Nodes={} Default=YES State=UP", names.join(","));
        text
    }

    fn start_daemon(&mut self, name: &str, words: &[&str]) {
        let log = fs::File::create(self.dir.join(format!("{name}.out"))).expect("a log");
        let mut command = Command::new(format!("/usr/sbin/{name}"));
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.daemons.push(command.spawn().expect("a daemon starts"));
    }

    fn wait_until_idle(&self, count: usize) {
        let text =
            format!("SLURM_CONF={} sinfo -h -N -t idle -o %N", self.configuration().display());
        let begun = Instant::now();
        loop {
            let said = sh(&text);
            if said.as_ref().is_ok_and(|said| said.lines().count() == count) {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "{text}: {said:?}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn logs(&self) -> String {
        sh(&format!("tail -n 20 {}/*.out {0}/*.log", self.dir.display())).unwrap_or_default()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
