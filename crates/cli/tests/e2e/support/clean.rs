//! The proof that a test left nothing.

use super::devices::{queue_of, traces_of, zrams};
use super::{TestEnv, processes_of};
use fsarena_model::run::RunState;
use fsarena_store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The kernel lets go of a loop device and of a dead process a moment later.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a machine has that no test environment is the owner of.
pub struct Machine {
    zrams: BTreeSet<String>,
    queues: BTreeMap<String, BTreeMap<&'static str, String>>,
}

impl Machine {
    pub fn now() -> Self {
        let names = children(Path::new("/sys/block")).into_iter().map(|path| name(&path));
        let looped = names.filter(|name| name.starts_with("loop"));
        Self {
            zrams: zrams(),
            queues: looped.map(|name| (name.clone(), settings(&name))).collect(),
        }
    }

    /// What is there more, and what is set otherwise.
    fn differences(&self) -> Vec<String> {
        let now = Self::now();
        let made = now.zrams.difference(&self.zrams).map(|zram| format!("device {zram}"));
        let gone = self.zrams.difference(&now.zrams).map(|zram| format!("{zram} is gone"));
        let queues = self.queues.iter().filter(|(name, was)| now.queues.get(*name) != Some(was));
        let set = queues.map(|(name, was)| format!("{name}: was {was:?}, is {:?}", settings(name)));
        made.chain(gone).chain(set).collect()
    }
}

/// The write cache of a loop device is that of its image, and not to be compared.
fn settings(name: &str) -> BTreeMap<&'static str, String> {
    queue_of(name).into_iter().filter(|(setting, _)| *setting == "scheduler").collect()
}

/// No process, mount, loop device, cgroup, instance of tracing, directory, image or journal of this
/// test environment, and a database without a RUN at work or half a record.
#[track_caller]
pub fn assert_nothing_left(env: &TestEnv) {
    let uids = uids_after_check(env);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = left(env, &uids);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind:\n  {}", left.join("\n  "));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn left(env: &TestEnv, uids: &[String]) -> Vec<String> {
    let mut left: Vec<String> =
        processes_of(env).iter().map(|pid| format!("process {pid:?}")).collect();
    let mine = |text: &str| {
        text.contains(&env.dir().display().to_string())
            || uids.iter().any(|uid| text.contains(&format!("fsarena-{uid}")))
    };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    left.extend(mounts.lines().filter(|line| mine(line)).map(|line| format!("mount {line}")));
    for device in children(Path::new("/sys/block")) {
        let image = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
        if mine(&image) {
            left.push(format!("loop device {} of {}", device.display(), image.trim()));
        }
    }
    let cgroups = Path::new("/sys/fs/cgroup");
    let below = children(cgroups).into_iter().flat_map(|dir| children(&dir));
    for dir in children(cgroups).into_iter().chain(below).chain(children(Path::new("/dev/shm"))) {
        if uids.iter().any(|uid| name(&dir).contains(uid.as_str())) {
            left.push(dir.display().to_string());
        }
    }
    left.extend(traces_of(uids).iter().map(|name| format!("instance of tracing {name}")));
    left.extend(children(&env.images()).iter().map(|path| path.display().to_string()));
    left.extend(below_named(env.dir()));
    left.extend(env.before.iter().flat_map(Machine::differences));
    left
}

/// Everything of a run in the test environment's own directories: journals, mount points, work
/// directories.
fn below_named(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for path in children(dir) {
        if is_report(&path) {
            continue;
        }
        if name(&path).starts_with("fsarena-") {
            found.push(path.display().to_string());
        } else if path.is_dir() && !path.is_symlink() {
            found.extend(below_named(&path));
        }
    }
    found
}

/// A page next to a database is a result, as the database is.
fn is_report(path: &Path) -> bool {
    let databases = children(path.parent().unwrap_or(Path::new("/")));
    path.extension().is_some_and(|ending| ending == "html")
        && path.is_file()
        && databases.iter().any(|file| file.extension().is_some_and(|ending| ending == "db"))
}

/// Ids of the RUNs in the test environment's database, which must be whole. A database that the
/// test has broken on purpose has none.
#[track_caller]
fn uids_after_check(env: &TestEnv) -> Vec<String> {
    if !env.db().exists() {
        return Vec::new();
    }
    let Ok(store) = Store::open_read_only(&env.db()) else { return Vec::new() };
    let runs = store.runs().unwrap();
    for run in &runs {
        assert_ne!(run.state, RunState::Running, "RUN {} is said to be at work", run.id);
        let records = store.records(run.id).unwrap();
        assert_eq!(records.len(), run.trials_done as usize, "half a record in RUN {}", run.id);
        let cut_off = run.note.as_deref().is_some_and(|note| note.starts_with("cut off"));
        assert!(run.state != RunState::Done || run.note.is_none() || cut_off, "{:?}", run.note);
    }
    let journal = env.db().with_extension("db-journal");
    assert!(!journal.exists(), "{} was not rolled back", journal.display());
    runs.into_iter().map(|run| run.uid).collect()
}

fn children(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
