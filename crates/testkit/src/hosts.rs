//! Hosts that others reach by ssh, on this machine: network namespaces with an sshd each, behind
//! one bridge, with names, homes, temporary directories and `/srv` of their own.
//!
//! Files and processes of all are those of this machine. What is made carries the number of its
//! network: bridge `fsabN`, namespaces `fsahN-1`, …, addresses 10.77.N.1, …. It goes with the
//! value; where the process was killed, the next one that makes some removes it.

use crate::processes::start_ticks;
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SSHD: &str = "/usr/sbin/sshd";
/// How long an sshd may take until it listens.
const LIMIT: Duration = Duration::from_secs(30);

/// A network of hosts. They are numbered from 0 and called `fh1`, `fh2`, ….
#[derive(Debug)]
pub struct TestHosts {
    dir: TempDir,
    network: u8,
    count: usize,
    sshds: Vec<Child>,
}

impl TestHosts {
    /// Makes `count` hosts, up to 9, and waits until they can be reached.
    ///
    /// # Errors
    /// Why there can be none here.
    ///
    /// # Panics
    /// When there could be, and they do not come up.
    pub fn start(count: usize) -> Result<Self, String> {
        assert!((1..=9).contains(&count), "one to nine hosts");
        if !rustix::process::geteuid().is_root() {
            return Err("needs root".to_owned());
        }
        for (path, package) in [(SSHD, "openssh-server"), ("/usr/bin/ssh", "openssh-client")] {
            if !Path::new(path).exists() {
                return Err(format!("{path} is not there (package {package})"));
            }
        }
        if sh("ip -V").is_err() {
            return Err("ip is not there (package iproute2)".to_owned());
        }
        remove_abandoned();
        let network = claim_network()?;
        let dir = tempfile::Builder::new().prefix("fsarena-hosts-").tempdir_in(place());
        let dir = dir.expect("a temporary directory");
        let mut hosts = Self { dir, network, count, sshds: Vec::new() };
        hosts.bring_up();
        Ok(hosts)
    }

    /// Options of ssh with which the names of the hosts lead to them: `ssh -F FILE`.
    #[must_use]
    pub fn ssh(&self) -> String {
        format!("ssh -F {}", self.path("ssh_config").display())
    }

    /// The name of a host: `fh1` is number 0.
    #[must_use]
    pub fn name(&self, host: usize) -> String {
        format!("fh{}", host + 1)
    }

    /// All names, with commas between them.
    #[must_use]
    pub fn names(&self) -> String {
        (0..self.count).map(|host| self.name(host)).collect::<Vec<_>>().join(",")
    }

    /// Home directory of a host's root. Below it `tmp` has the temporary files, and `srv` is the
    /// host's `/srv`.
    #[must_use]
    pub fn home(&self, host: usize) -> PathBuf {
        self.path(&self.name(host))
    }

    /// Ends every connection of a host at once, as if it had been switched off; new ones can be
    /// made. What was started by them goes on, without its streams.
    pub fn end_connections(&self, host: usize) {
        let listener = fs::read_to_string(self.path(&format!("{}.pid", self.name(host))));
        let listener: Option<i32> = listener.ok().and_then(|text| text.trim().parse().ok());
        for pid in self.processes(host) {
            let is_sshd = fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero()))
                .is_ok_and(|path| path == Path::new(SSHD));
            if is_sshd && Some(pid.as_raw_nonzero().get()) != listener {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    /// Takes the cable out: what is sent is lost, and nobody is told.
    pub fn disconnect(&self, host: usize) {
        sh(&format!("ip -n {} link set eth0 down", self.namespace(host))).expect("a link");
    }

    /// Limits what a host sends to `rate`, in words of tc(8): `1mbit`.
    ///
    /// # Errors
    /// Why it cannot be limited here.
    pub fn slow_down(&self, host: usize, rate: &str) -> Result<(), String> {
        let space = self.namespace(host);
        let limit = format!(
            "ip netns exec {space} tc qdisc add dev eth0 root tbf rate {rate} burst 16kb latency 1s"
        );
        sh(&limit).map(drop).map_err(|error| format!("no queue that limits: {error}"))
    }

    /// Processes of a host, sshd among them.
    #[must_use]
    pub fn processes(&self, host: usize) -> Vec<Pid> {
        let text = sh(&format!("ip netns pids {}", self.namespace(host))).unwrap_or_default();
        let numbers = text.lines().filter_map(|line| line.trim().parse().ok());
        numbers.filter_map(Pid::from_raw).collect()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Address of a host in the network of all.
    #[must_use]
    pub fn address(&self, host: usize) -> String {
        format!("10.77.{}.{}", self.network, host + 1)
    }

    /// Address of this machine in that network.
    #[must_use]
    pub fn gateway(&self) -> String {
        format!("10.77.{}.254", self.network)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn namespace(&self, host: usize) -> String {
        namespace(self.network, host)
    }

    fn bring_up(&mut self) {
        let (network, dir) = (self.network, self.dir.path().display().to_string());
        let run = |text: &str| sh(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        fs::create_dir_all("/run/sshd").expect("the directory of sshd");
        run(&format!(
            "ssh-keygen -q -t ed25519 -N '' -f {dir}/id; ssh-keygen -q -t ed25519 -N '' -f \
             {dir}/hostkey; ip addr add 10.77.{network}.254/24 dev fsab{network}; \
             ip link set fsab{network} up"
        ));
        let key = fs::read_to_string(self.path("hostkey.pub")).expect("a key");
        let (mut config, mut known, mut names) = (String::new(), String::new(), String::new());
        for host in 0..self.count {
            let (name, address) = (self.name(host), format!("10.77.{network}.{}", host + 1));
            let _ = writeln!(config, "Host {name}\n HostName {address}");
            let _ = writeln!(known, "{address} {}", key.trim());
            let _ = writeln!(names, "{address} {name}");
        }
        let _ = writeln!(
            config,
            "Host *\n User root\n IdentityFile {dir}/id\n IdentitiesOnly yes\n \
             UserKnownHostsFile {dir}/known\n StrictHostKeyChecking yes\n LogLevel ERROR"
        );
        let own = fs::read_to_string("/etc/hosts").unwrap_or_default();
        let files = [("ssh_config", config), ("known", known), ("hosts", format!("{own}{names}"))];
        for (name, text) in files {
            fs::write(self.path(name), text).expect("a file of the hosts");
        }
        for host in 0..self.count {
            let sshd = self.bring_up_host(host);
            self.sshds.push(sshd);
        }
        for host in 0..self.count {
            self.wait_for(host);
        }
    }

    /// A namespace with its link, and an sshd in it with names and directories of its own.
    fn bring_up_host(&self, host: usize) -> Child {
        let (name, space, network) = (self.name(host), self.namespace(host), self.network);
        let (home, dir) = (self.home(host), self.dir.path().display());
        for own in ["tmp", "srv"] {
            fs::create_dir_all(home.join(own)).expect("a directory of the host");
        }
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).expect("a mode");
        let link = format!("fsav{network}-{}", host + 1);
        let made = sh(&format!(
            "ip netns add {space}; ip link add {link} type veth peer name eth0 netns {space}; \
             ip link set {link} master fsab{network} up; ip -n {space} link set lo up; \
             ip -n {space} addr add 10.77.{network}.{}/24 dev eth0; \
             ip -n {space} link set eth0 up",
            host + 1
        ));
        made.unwrap_or_else(|error| panic!("{name}: {error}"));
        let script = format!(
            "hostname {name}; mount --bind {dir}/hosts /etc/hosts; mount --bind {home} /root
             mount --bind {home}/srv /srv
             exec {SSHD} -f /dev/null -D -e -h {dir}/hostkey -o PidFile={dir}/{name}.pid \
             -o AuthorizedKeysFile={dir}/id.pub -o StrictModes=no -o UsePAM=no \
             -o PermitRootLogin=yes -o PasswordAuthentication=no -o PrintMotd=no \
             -o ListenAddress=10.77.{network}.{} -o MaxStartups=64 \
             -o 'SetEnv=TMPDIR={home}/tmp FSARENA_TEST_FAST=1 FSARENA_STATE_DIR={home}/state'",
            host + 1,
            home = home.display(),
        );
        let log = fs::File::create(self.path(&format!("{name}.log"))).expect("a log");
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &space, "unshare", "--uts", "--mount"]);
        command.args(["--propagation", "slave", "sh", "-c", &script]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        command.spawn().expect("ip(8) starts")
    }

    fn wait_for(&self, host: usize) {
        let begun = Instant::now();
        let text = format!("{} {} true", self.ssh(), self.name(host));
        while let Err(error) = sh(&text) {
            let log = fs::read_to_string(self.path(&format!("{}.log", self.name(host))));
            assert!(begun.elapsed() < LIMIT, "{text}: {error}\n{}", log.unwrap_or_default());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for TestHosts {
    fn drop(&mut self) {
        // Ends all of them.
        remove(self.network, self.count);
        for sshd in &mut self.sshds {
            let _ = sshd.wait();
        }
    }
}

/// Where directories of hosts are: in memory, where programs can be run from there. Work of tests
/// is not to wait for what others write.
fn place() -> &'static str {
    let flags = rustix::fs::statvfs("/dev/shm").map(|found| found.f_flag);
    let is_fit = flags.is_ok_and(|flags| !flags.contains(rustix::fs::StatVfsMountFlags::NOEXEC));
    if is_fit { "/dev/shm" } else { "/var/tmp" }
}

fn namespace(network: u8, host: usize) -> String {
    format!("fsah{network}-{}", host + 1)
}

/// The first network that nobody has; the bridge is the claim.
fn claim_network() -> Result<u8, String> {
    let mut last = String::new();
    for network in 1..=250u8 {
        let owner = format!("{} {}", getpid().as_raw_nonzero(), start_ticks(getpid()).unwrap_or(0));
        let made = format!("ip link add fsab{network} type bridge");
        match sh(&made) {
            Ok(_) => {
                sh(&format!("ip link set fsab{network} alias '{owner}'"))?;
                return Ok(network);
            }
            Err(error) => last = error,
        }
    }
    Err(format!("no network can be made: {last}"))
}

/// Removes the networks of processes that are gone.
fn remove_abandoned() {
    for entry in fs::read_dir("/sys/class/net").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(network) = name.strip_prefix("fsab").and_then(|rest| rest.parse().ok()) else {
            continue;
        };
        let alias = fs::read_to_string(entry.path().join("ifalias")).unwrap_or_default();
        let owner = alias.trim().split_once(' ').and_then(|(pid, ticks)| {
            Some((Pid::from_raw(pid.parse().ok()?)?, ticks.parse::<u64>().ok()?))
        });
        // One without an owner is just being made.
        if owner.is_some_and(|(pid, ticks)| start_ticks(pid) != Some(ticks)) {
            remove(network, 9);
        }
    }
}

/// Ends and removes all of a network.
fn remove(network: u8, count: usize) {
    for host in 0..count {
        let space = namespace(network, host);
        for _ in 0..100 {
            let all = sh(&format!("ip netns pids {space} 2>/dev/null")).unwrap_or_default();
            if all.trim().is_empty() {
                break;
            }
            for pid in all.lines().filter_map(|pid| Pid::from_raw(pid.trim().parse().ok()?)) {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = sh(&format!("ip netns del {space} 2>/dev/null"));
        let _ = sh(&format!("ip link del fsav{network}-{} 2>/dev/null", host + 1));
    }
    let _ = sh(&format!("ip link del fsab{network}"));
}

/// Standard output of a shell command that ended well, else what it said.
pub(crate) fn sh(text: &str) -> Result<String, String> {
    let ran = Command::new("/bin/sh").args(["-ec", text]).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| error.to_string())?;
    match ran.status.success() {
        true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_reached_by_their_names_and_go_with_the_value() {
        let hosts = match TestHosts::start(2) {
            Ok(hosts) => hosts,
            Err(reason) => return println!("not run: {reason}"),
        };
        let on = |host: usize, text: &str| sh(&format!("{} fh{host} '{text}'", hosts.ssh()));
        assert_eq!(hosts.names(), "fh1,fh2");
        for host in [1, 2] {
            let said = on(host, "hostname; touch ~/x; echo $TMPDIR; getent hosts fh1").unwrap();
            let home = hosts.home(host - 1);
            assert!(said.starts_with(&format!("fh{host}\n{}/tmp\n", home.display())), "{said}");
            assert!(said.contains("10.77.") && home.join("x").exists(), "{said}");
        }
        hosts.end_connections(0);
        on(1, "true").unwrap();
        let network = hosts.network;
        let spaces = || sh("ip netns list").unwrap();
        assert!(spaces().contains(&namespace(network, 1)));
        drop(hosts);
        assert!(!spaces().contains(&format!("fsah{network}-")), "{}", spaces());
        assert!(!Path::new(&format!("/sys/class/net/fsab{network}")).exists());
    }
}
