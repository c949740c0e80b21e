//! A file system that several hosts share: MooseFS, whose master and chunk servers are on hosts of
//! [`TestHosts`], mounted by FUSE on each of them and on this machine in one place.

use crate::hosts::{TestHosts, sh};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is needed, each with its Debian package.
const TOOLS: [(&str, &str); 3] = [
    ("mfsmaster", "moosefs-master"),
    ("mfschunkserver", "moosefs-chunkserver"),
    ("mfsmount", "moosefs-client"),
];
/// How long it may take until it can be written.
const LIMIT: Duration = Duration::from_secs(60);

/// It is unmounted with the value; its servers go with the hosts.
#[derive(Debug)]
pub struct MooseFs {
    mount_point: PathBuf,
}

impl MooseFs {
    /// Starts a master on the first host and a chunk server on each, and mounts it everywhere.
    ///
    /// # Errors
    /// Why there can be none here.
    ///
    /// # Panics
    /// When there could be, and it cannot be written in time.
    pub fn start(hosts: &TestHosts) -> Result<Self, String> {
        for (tool, package) in TOOLS {
            if sh(&format!("command -v {tool}")).is_err() {
                return Err(format!("no {tool} (package {package})"));
            }
        }
        if !Path::new("/dev/fuse").exists() {
            return Err("this kernel has no FUSE".to_owned());
        }
        let dir = hosts.path("moosefs");
        let mount_point = dir.join("mounted");
        fs::create_dir_all(&mount_point).expect("a directory");
        start_master(hosts, &dir.join("master"));
        for host in 0..hosts.count() {
            start_chunk_server(hosts, host, &dir.join(format!("chunks-{host}")));
        }
        let mounted = Self { mount_point };
        mounted.mount(hosts);
        Ok(mounted)
    }

    /// Where it is mounted, on this machine and on each host.
    #[must_use]
    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// Here first: hosts get that mount too, and each mounts it once more as a client of its own.
    fn mount(&self, hosts: &TestHosts) {
        let place = self.mount_point.display().to_string();
        let text = format!("mfsmount -H {} {place}", hosts.address(0));
        let begun = Instant::now();
        while let Err(error) =
            sh(&format!("{text} && echo x >{place}/written && rm {place}/written"))
        {
            assert!(begun.elapsed() < LIMIT, "{text}: {error}");
            let _ = sh(&format!("umount {place}"));
            std::thread::sleep(Duration::from_millis(200));
        }
        // The master knows of the space of a chunk server some time after that has come to it.
        while rustix::fs::statvfs(&self.mount_point).is_ok_and(|found| found.f_bavail == 0) {
            assert!(begun.elapsed() < LIMIT, "{place} has no free space");
            std::thread::sleep(Duration::from_millis(200));
        }
        for host in 0..hosts.count() {
            let text = format!("{} {} {text}", hosts.ssh(), hosts.name(host));
            sh(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}

impl Drop for MooseFs {
    fn drop(&mut self) {
        let _ = sh(&format!("umount -l {}", self.mount_point.display()));
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn start_master(hosts: &TestHosts, dir: &Path) {
    fs::create_dir_all(dir).expect("a directory");
    let place = dir.display();
    write(&dir.join("exports"), "* / rw,alldirs,admin,maproot=0:0\n");
    write(&dir.join("topology"), "");
    // What a new master begins with.
    write(&dir.join("metadata.mfs"), "MFSM NEW");
    let settings = format!(
        "WORKING_USER = root\nWORKING_GROUP = root\nDATA_PATH = {place}\nLOCK_MEMORY = 0\n\
         EXPORTS_FILENAME = {place}/exports\nTOPOLOGY_FILENAME = {place}/topology\n"
    );
    write(&dir.join("settings"), &settings);
    run(hosts, 0, &format!("mfsmaster -c {place}/settings start"));
}

fn start_chunk_server(hosts: &TestHosts, host: usize, dir: &Path) {
    fs::create_dir_all(dir.join("chunks")).expect("a directory");
    let (place, master) = (dir.display(), hosts.address(0));
    write(&dir.join("disks"), &format!("{place}/chunks 600MiB\n"));
    let settings = format!(
        "WORKING_USER = root\nWORKING_GROUP = root\nDATA_PATH = {place}\nMASTER_HOST = {master}\n\
         HDD_CONF_FILENAME = {place}/disks\nLOCK_MEMORY = 0\n"
    );
    write(&dir.join("settings"), &settings);
    run(hosts, host, &format!("mfschunkserver -c {place}/settings start"));
}

/// A daemon on a host: it goes with the host.
fn run(hosts: &TestHosts, host: usize, text: &str) {
    let ran = sh(&format!("ip netns exec {} {text} 2>&1", hosts.namespace(host)));
    ran.unwrap_or_else(|error| panic!("{text}: {error}"));
}
