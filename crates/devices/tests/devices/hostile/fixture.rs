//! A fixture: images, loop devices, mounts and processes of one state, undone in reverse order.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Why a state cannot be built here.
pub struct NotRun(pub String);

pub type Build<T> = Result<T, NotRun>;

enum Undo {
    Run(&'static str, Vec<String>),
    /// Only while it still lies over this file: others may have it by now.
    Detach(PathBuf, String),
    Kill(Child),
    Close(#[expect(dead_code, reason = "held open until the fixture ends")] File),
    RemoveZram(u32),
}

pub struct HostileFixture {
    dir: tempfile::TempDir,
    undo: Vec<Undo>,
}

pub const MIB: u64 = 1 << 20;

impl HostileFixture {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("fsarena-test-").tempdir_in(place()).unwrap();
        Self { dir, undo: Vec::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A sparse file of this size.
    pub fn image(&self, name: &str, size_bytes: u64) -> PathBuf {
        let path = self.path(name);
        File::create_new(&path).unwrap().set_len(size_bytes).unwrap();
        path
    }

    pub fn new_dir(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir(&path).unwrap();
        path
    }

    /// Attaches a file or device to a free loop device; others use them too, so it may wait.
    pub fn attach(&mut self, below: &Path, options: &[&str]) -> Build<PathBuf> {
        let mut args: Vec<&OsStr> = ["--find", "--show"].map(OsStr::new).to_vec();
        args.extend(options.iter().map(OsStr::new));
        args.push(below.as_os_str());
        let started = Instant::now();
        loop {
            match output("losetup", &args) {
                Ok(text) => {
                    let device = PathBuf::from(text.trim());
                    let backing = backing(&device).expect("just attached");
                    self.undo.push(Undo::Detach(device.clone(), backing));
                    return Ok(device);
                }
                Err(NotRun(reason)) if started.elapsed() > Duration::from_secs(60) => {
                    return Err(NotRun(reason));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        }
    }

    /// Attaches to this very device.
    pub fn attach_to(&mut self, device: &Path, below: &Path) -> Build<()> {
        run("losetup", &[device.as_os_str(), below.as_os_str()])?;
        let backing = backing(device).expect("just attached");
        self.undo.push(Undo::Detach(device.to_owned(), backing));
        Ok(())
    }

    /// Tells the kernel of a partition: not every kernel can read every table.
    pub fn add_partition(
        &mut self,
        device: &Path,
        number: u32,
        start: u64,
        sectors: u64,
    ) -> Build<PathBuf> {
        let node = PathBuf::from(format!("{}p{number}", device.display()));
        if !node.exists() {
            let text = [number.to_string(), start.to_string(), sectors.to_string()];
            let mut args = vec![device.as_os_str()];
            args.extend(text.iter().map(OsStr::new));
            run("addpart", &args)?;
        }
        let args = vec![device.display().to_string(), number.to_string()];
        self.undo.push(Undo::Run("delpart", args));
        Ok(node)
    }

    pub fn mount(&mut self, what: &Path, at: &Path, options: &[&str]) -> Build<()> {
        let mut args: Vec<&OsStr> = vec![OsStr::new("-n")];
        args.extend(options.iter().map(OsStr::new));
        args.extend([what.as_os_str(), at.as_os_str()]);
        run("mount", &args)?;
        self.unmount_later(at);
        Ok(())
    }

    pub fn unmount_later(&mut self, at: &Path) {
        self.undo.push(Undo::Run("umount", vec![at.to_str().unwrap().to_owned()]));
    }

    /// What was mounted at `at` is unmounted already: nothing is left to undo.
    pub fn unmount_now(&mut self, at: &Path, options: &[&str]) -> Build<()> {
        let mut args: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
        args.push(at.as_os_str());
        run("umount", &args)?;
        let at = at.to_str().unwrap();
        let last = self
            .undo
            .iter()
            .rposition(|undo| matches!(undo, Undo::Run("umount", args) if args[0] == at));
        self.undo.remove(last.unwrap());
        Ok(())
    }

    pub fn swap_on(&mut self, what: &Path) -> Build<()> {
        run("swapon", &[what])?;
        self.undo.push(Undo::Run("swapoff", vec![what.display().to_string()]));
        Ok(())
    }

    /// Starts a shell command, and waits until it has printed a line.
    pub fn background(&mut self, script: &str) -> Build<()> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.undo.push(Undo::Kill(child));
        if line.is_empty() { Err(NotRun(format!("failed: {script}"))) } else { Ok(()) }
    }

    pub fn keep_open(&mut self, file: File) {
        self.undo.push(Undo::Close(file));
    }

    /// A zram device of our own.
    pub fn zram(&mut self, size: &str) -> Build<PathBuf> {
        let control = Path::new("/sys/class/zram-control/hot_add");
        let text = fs::read_to_string(control).map_err(|error| NotRun(format!("zram: {error}")))?;
        let number: u32 = text.trim().parse().unwrap();
        self.undo.push(Undo::RemoveZram(number));
        fs::write(format!("/sys/block/zram{number}/disksize"), size)
            .map_err(|error| NotRun(format!("zram: {error}")))?;
        Ok(PathBuf::from(format!("/dev/zram{number}")))
    }
}

impl Drop for HostileFixture {
    fn drop(&mut self) {
        while let Some(undo) = self.undo.pop() {
            match undo {
                Undo::Run(program, args) => again(|| run(program, &args).is_ok()),
                Undo::Detach(device, file) => {
                    if backing(&device).is_some_and(|now| now.starts_with(&file)) {
                        detach(&device);
                    }
                }
                Undo::Kill(mut child) => {
                    let _ = child.kill();
                    let _ = child.wait();
                }
                Undo::Close(_) => {}
                Undo::RemoveZram(number) => again(|| {
                    let reset = format!("/sys/block/zram{number}/reset");
                    let _ = fs::write(reset, "1");
                    fs::write("/sys/class/zram-control/hot_remove", number.to_string()).is_ok()
                }),
            }
        }
    }
}

/// Where images lie: in memory where there is room, since they are flushed and read all the time.
fn place() -> &'static str {
    let memory = rustix::fs::statvfs("/dev/shm");
    let free = memory.map_or(0, |shm| shm.f_bavail * shm.f_frsize);
    if free >= 2 << 30 { "/dev/shm" } else { "/var/tmp" }
}

/// The file under a loop device, as the kernel names it.
fn backing(device: &Path) -> Option<String> {
    let dir = Path::new("/sys/block").join(device.file_name()?);
    fs::read_to_string(dir.join("loop/backing_file")).ok().map(|text| text.trim_end().to_owned())
}

/// Detaches a loop device of ours and waits until it has let go.
pub fn detach(device: &Path) {
    let Some(was) = backing(device) else { return };
    // What BLKROSET has set stays with the device, for whoever gets it next.
    let _ = run("blockdev", &[OsStr::new("--setrw"), device.as_os_str()]);
    let _ = run("losetup", &[OsStr::new("--detach"), device.as_os_str()]);
    again(|| backing(device).as_deref() != Some(&was));
}

/// Tries for five seconds: a killed process takes its mounts with it in its own time.
fn again(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a program; gives what it printed.
pub fn output<S: AsRef<OsStr>>(program: &str, args: &[S]) -> Build<String> {
    let ran = Command::new(program)
        .args(args)
        .env("LC_ALL", "C")
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .output();
    let ran = ran.map_err(|error| NotRun(format!("{program}: {error}")))?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&ran.stderr).trim().replace('\n', " | ");
    Err(NotRun(format!("{program}: {}: {said}", ran.status)))
}

pub fn run<S: AsRef<OsStr>>(program: &str, args: &[S]) -> Build<()> {
    output(program, args).map(drop)
}

/// A shell command; `$1` is the first word of `args`.
pub fn shell(script: &str, args: &[&Path]) -> Build<()> {
    let mut all: Vec<&OsStr> = ["-e", "-c", script, "sh"].map(OsStr::new).to_vec();
    all.extend(args.iter().map(|path| path.as_os_str()));
    run("sh", &all)
}

/// Writes bytes at a place of a file.
pub fn put(path: &Path, place: u64, bytes: &[u8]) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, place).unwrap();
}

/// SHA-256 of all contents, after what the device has not written yet is written.
pub fn hash(device: &Path, image: &Path) -> String {
    if let Ok(open) = File::open(device) {
        let _ = open.sync_all();
    }
    // The faster of the two, where it is there.
    let image = image.to_str().unwrap();
    let text = output("openssl", &["dgst", "-sha256", "-r", image]);
    let text = text.or_else(|_| output("sha256sum", &[image]));
    text.unwrap_or_else(|NotRun(reason)| panic!("{reason}"))
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned()
}
