//! `kernel-build`: a guest kernel that is built beside one that is there. What is not done is gone,
//! and the other one works as before.

use crate::chaos::checks::{Allowed, end};
use crate::chaos::draw::Draw;
use crate::chaos::kind::{Demand, Setting};
use crate::chaos::live::{Ended, Live};
use crate::chaos::shape::{Nature, Stored};
use crate::chaos::subject::{Subject, Target, words};
use crate::chaos::testbed::{Testbed, named};
use crate::chaos::victim::Victim;
use anyhow::{Context as _, Result};
use fsarena_guests::kernel::{Cache, DEBIAN_SOURCES, Source};
use fsarena_process::cmd::{find, why_missing};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Another one than that of the kernel that is there.
const TICKS: &str = "333";
const UNPACKING: &str = "unpacking the source";
/// A build is begun within this time.
const BEGIN_LIMIT: Duration = Duration::from_secs(60);
/// Compilers are ended a moment later.
const PATIENCE: Duration = Duration::from_secs(5);
/// Files beside the kernels.
const BESIDE: [&str; 2] = ["source-hashes.json", "build-failed.log"];

const NATURE: Nature = Nature {
    victims: &[Victim::Tool],
    steps: &[],
    words: &[UNPACKING, "patching", "configuring", "compiling"],
    stored: &[Stored::Output],
    has_database: false,
    has_images: false,
    is_long: true,
    // A compiler that is killed fails the build.
    may_fail: true,
    is_seen_by_all: false,
};

pub(super) struct KernelBuilds;

impl Target for KernelBuilds {
    fn name(&self) -> &'static str {
        "kernel-build"
    }

    fn nature(&'static self) -> &'static Nature {
        &NATURE
    }

    fn why_not(&self) -> Option<String> {
        let programs = ["make", "gcc", "flex", "bison", "bc", "tar", "xz"];
        let missing = programs.into_iter().find(|name| find(name).is_none());
        let path = Source::Debian("6.12").path(Path::new(DEBIAN_SOURCES));
        let source = (!path.exists()).then(|| format!("no {}", path.display()));
        missing.map(why_missing).or(source)
    }

    fn draw(&'static self, _draw: &Draw) -> Box<dyn Subject> {
        Box::new(KernelBuild { is_real: false, there: Vec::new() })
    }
}

struct KernelBuild {
    /// Whether the kernel that is there can be booted.
    is_real: bool,
    /// Names of the kernels that were there before.
    there: Vec<String>,
}

fn kernels(setting: &Setting) -> PathBuf {
    setting.output.join("kernels")
}

/// Processes of a build: they have an environment without any mark, and are in its directory. Waits
/// for what ends a moment later.
fn processes_in(dir: &Path) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_in =
            |proc: &Path| fs::read_link(proc.join("cwd")).is_ok_and(|it| it.starts_with(dir));
        let found: Vec<String> = all
            .map(|entry| entry.path())
            .filter(|proc| is_in(proc))
            .map(|proc| format!("left behind: process {}", proc.display()))
            .collect();
        if found.is_empty() || Instant::now() >= until {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What `kernel list` needs of one.
fn put_listed(dir: &Path) -> Result<()> {
    let hash = "0".repeat(64);
    let identity = serde_json::json!({
        "format": 1, "key": "aa11", "release": "6.1.7", "sha256": hash, "source": "linux.tar",
        "source_sha256": hash, "patches_sha256": hash, "config": "full", "config_sha256": hash,
        "hz": 250, "compiler": "gcc",
    });
    fs::create_dir(dir)?;
    fs::write(dir.join("linux"), [0; 4096])?;
    Ok(fs::write(dir.join("kernel.json"), identity.to_string())?)
}

impl KernelBuild {
    /// The kernels that were there are there, as they were.
    fn there(&self, testbed: &Testbed) -> Result<Vec<String>> {
        let listed = testbed.start("kernels", &["kernel", "list"])?;
        let missing = self.there.iter().filter(|key| !listed.stdout.contains(*key));
        let mut found: Vec<String> = missing.map(|key| format!("kernel {key} is gone")).collect();
        if self.is_real {
            let checked = testbed.start("kernel", &["kernel", "check"])?;
            found.extend(named("the kernel that was there", end(&checked, &Allowed::codes(&[0]))));
        }
        Ok(found)
    }

    /// A build that is begun is stopped as soon as it unpacks, and leaves nothing by itself.
    fn begun_and_stopped(&self, testbed: &Testbed) -> Result<Vec<String>> {
        let setting = &testbed.setting;
        let start = setting.start(&self.arguments(setting)?);
        let mut live = start.begin(&setting.fixture, "again", &setting.stop)?;
        let unpacks = |live: &Live| live.stderr().contains(UNPACKING).then_some(());
        let begun = live.poll(BEGIN_LIMIT, unpacks)?.is_some();
        live.interrupt_after(Duration::ZERO)?;
        let ended = live.end()?;
        let mut allowed = Allowed::codes(&[130]);
        allowed.of_interrupt = "stopped";
        let mut found = end(&ended, &allowed);
        if !begun {
            found.push(format!("a build does not begin: {}", ended.stderr.trim()));
        }
        Ok(found)
    }
}

impl Subject for KernelBuild {
    fn describe(&self) -> String {
        "of Linux 6.12".to_owned()
    }

    /// Not of all of it: until it compiles.
    fn expected_ms(&self) -> u64 {
        50_000
    }

    fn prepare(&mut self, testbed: &mut Testbed) -> Result<()> {
        let setting = &mut testbed.setting;
        let dir = kernels(setting);
        fs::create_dir(&dir)?;
        let own = Cache::of_user().context("the guest kernels of this user")?;
        if let Some(kernel) = own.preferred() {
            let key = kernel.identity.key.clone();
            fs::create_dir(dir.join(&key))?;
            let from = kernel.binary.parent().context("a kernel is in a directory")?;
            for file in fs::read_dir(from)? {
                let file = file?;
                fs::copy(file.path(), dir.join(&key).join(file.file_name()))?;
            }
            (self.is_real, self.there) = (true, vec![key]);
        } else {
            put_listed(&dir.join("aa11"))?;
            self.there = vec!["aa11".to_owned()];
        }
        // To hash the source takes longer than to begin to unpack it.
        let hashes = own.dir().join(BESIDE[0]);
        if hashes.exists() {
            fs::copy(hashes, dir.join(BESIDE[0]))?;
        }
        setting.more_variables.push(("FSARENA_KERNEL_DIR", dir.display().to_string()));
        Ok(())
    }

    fn arguments(&self, _setting: &Setting) -> Result<Vec<String>> {
        let words = words(&["kernel", "build", "--trimmed", "--jobs", "2", "--hz", TICKS]);
        Ok([words, vec!["--source".to_owned(), "6.12".to_owned()]].concat())
    }

    fn allow(&self, allowed: &mut Allowed) {
        allowed.of_interrupt = "stopped";
    }

    fn standing(&self, setting: &Setting) -> Result<Vec<String>> {
        let cache = Cache::new(kernels(setting));
        let mut known: Vec<String> = self.there.clone();
        known.extend(BESIDE.map(str::to_owned));
        known.extend(cache.list().into_iter().map(|kernel| kernel.identity.key));
        let mut found = processes_in(cache.dir());
        for entry in fs::read_dir(cache.dir())? {
            let entry = entry?;
            if !known.iter().any(|name| entry.file_name() == name.as_str()) {
                found.push(format!("left behind: {}", entry.path().display()));
            }
        }
        Ok(found)
    }

    fn demanded(&self, _setting: &Setting, _demand: Demand, _ended: &Ended) -> Result<Vec<String>> {
        // Nobody waits for its end.
        Ok(Vec::new())
    }

    fn complete(&mut self, testbed: &mut Testbed) -> Result<Vec<String>> {
        let mut found = self.there(testbed)?;
        found.extend(named("another build", self.begun_and_stopped(testbed)?));
        found.extend(self.standing(&testbed.setting)?);
        found.extend(testbed.standing()?);
        Ok(found)
    }
}
