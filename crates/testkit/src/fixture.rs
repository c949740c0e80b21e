//! The fixture of one test or case: database, state and images of a started program in a directory
//! of its own, the processes that belong to it, and what of it is left on the machine.
//!
//! End-to-end tests and `cargo xtask chaos` share it, so that "nothing left" means the same in
//! both. It looks, and neither starts nor removes anything.

use crate::machine::Machine;
use rustix::process::Pid;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables of the caller that would change what the program does.
const NOT_INHERITED: [&str; 6] = [
    "COLUMNS",
    "FSARENA_FAULT",
    "FSARENA_KERNEL_DIR",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// Where the program has what it writes.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// All of it, and what else the test needs.
    pub dir: PathBuf,
    /// Journals and mount points.
    pub state: PathBuf,
    /// The file of the database.
    pub database: PathBuf,
    /// Images of devices.
    pub images: PathBuf,
}

impl Fixture {
    /// Everything below `dir`; makes nothing.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            state: dir.join("state"),
            database: dir.join("results.db"),
            images: dir.join("images"),
        }
    }

    /// Has a command work here: the program, or one that starts it.
    pub fn set_environment(&self, command: &mut Command) {
        command.current_dir(&self.dir);
        command.env("FSARENA_STATE_DIR", &self.state).env("FSARENA_DB", &self.database);
        command.env("FSARENA_IMAGE_DIR", &self.images).env("HOME", &self.dir);
        command.env("FSARENA_TEST_FAST", "1");
        for name in NOT_INHERITED {
            command.env_remove(name);
        }
    }

    /// All processes that were started here, oldest first; they inherit its state directory.
    #[must_use]
    pub fn processes(&self) -> Vec<Pid> {
        let mark = format!("FSARENA_STATE_DIR={}", self.state.display());
        processes_where(|variable| variable == mark.as_bytes())
    }

    /// Kernels that run as guests of the program: their home is below a directory of its own.
    #[must_use]
    pub fn guests(&self) -> Vec<Pid> {
        let marks = [&self.state, &self.dir].map(|dir| format!("HOME={}/", dir.display()));
        processes_where(|variable| marks.iter().any(|it| variable.starts_with(it.as_bytes())))
    }

    /// Ids of the RUNs that have a journal.
    #[must_use]
    pub fn uids_of_journals(&self) -> Vec<String> {
        let named = |path: PathBuf| {
            let name = name(&path);
            Some(name.strip_prefix("fsarena-")?.split_once('.')?.0.to_owned())
        };
        children(&self.state).into_iter().filter_map(named).collect()
    }

    /// Processes, mounts, loop devices, cgroups, images, directories and journals of this fixture
    /// and of the RUNs with these ids, one line each; and what is otherwise on the machine than
    /// `before`, where that is known. Empty where nothing is left.
    #[must_use]
    pub fn left(&self, uids: &[String], before: Option<&Machine>) -> Vec<String> {
        let mut left: Vec<String> =
            self.processes().iter().map(|pid| format!("process {pid:?}")).collect();
        left.extend(self.guests().iter().map(|pid| format!("guest {pid:?}")));
        let dir = self.dir.display().to_string();
        let own = |text: &str| {
            text.contains(&dir) || uids.iter().any(|uid| text.contains(&format!("fsarena-{uid}")))
        };
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        left.extend(mounts.lines().filter(|line| own(line)).map(|line| format!("mount {line}")));
        for device in children(Path::new("/sys/block")) {
            let image = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
            if own(&image) {
                left.push(format!("loop device {} of {}", device.display(), image.trim()));
            }
        }
        let cgroups = Path::new("/sys/fs/cgroup");
        let below = children(cgroups).into_iter().flat_map(|dir| children(&dir));
        let in_memory = children(Path::new("/dev/shm"));
        for path in children(cgroups).into_iter().chain(below).chain(in_memory) {
            if uids.iter().any(|uid| name(&path).contains(uid.as_str())) {
                left.push(path.display().to_string());
            }
        }
        left.extend(children(&self.images).iter().map(|path| path.display().to_string()));
        for dir in [&self.dir, &self.state, &self.images] {
            left.extend(named_below(dir).iter().map(|path| path.display().to_string()));
        }
        left.extend(before.iter().flat_map(|before| before.differences()));
        left.sort_unstable();
        left.dedup();
        left
    }
}

fn processes_where(is_wanted: impl Fn(&[u8]) -> bool) -> Vec<Pid> {
    let numbers = children(Path::new("/proc")).into_iter();
    let numbers = numbers.filter_map(|path| name(&path).parse::<i32>().ok());
    let mut found: Vec<i32> = numbers
        .filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(&is_wanted)
        })
        .collect();
    found.sort_unstable();
    found.into_iter().filter_map(Pid::from_raw).collect()
}

/// Everything of a RUN in the fixture's own directories: journals, mount points, work directories.
fn named_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in children(dir) {
        if is_report(&path) {
            continue;
        }
        if name(&path).starts_with("fsarena-") {
            found.push(path);
        } else if path.is_dir() && !path.is_symlink() {
            found.extend(named_below(&path));
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

fn children(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> (tempfile::TempDir, Fixture) {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(dir.path());
        fs::create_dir(&fixture.state).unwrap();
        fs::create_dir(&fixture.images).unwrap();
        (dir, fixture)
    }

    #[test]
    fn results_are_not_left_behind() {
        let (_dir, fixture) = fixture();
        assert_eq!(fixture.left(&[], None), [""; 0]);
        fs::write(&fixture.database, "").unwrap();
        fs::write(fixture.dir.join("fsarena-run-1.html"), "").unwrap();
        fs::write(fixture.state.join("device.lock"), "").unwrap();
        assert_eq!(fixture.left(&["00000000000000aa".to_owned()], None), [""; 0]);
    }

    /// One of each is planted; each is found, and each alone.
    #[test]
    fn whatever_is_left_is_found() {
        let (_dir, fixture) = fixture();
        let uid = "00000000c0ffee00".to_owned();
        for path in [
            fixture.images.join("image"),
            fixture.state.join("fsarena-00000000c0ffee00.journal"),
            fixture.state.join("fsarena-00000000c0ffee00/mnt"),
            fixture.dir.join("target/fsarena-00000000c0ffee00-1"),
        ] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            let left = fixture.left(std::slice::from_ref(&uid), None);
            assert_eq!(left.len(), 1, "{left:?}");
            assert!(path.starts_with(&left[0]), "{left:?}");
            let found = Path::new(&left[0]);
            if found.is_dir() {
                fs::remove_dir_all(found).unwrap();
            } else {
                fs::remove_file(found).unwrap();
            }
        }
        assert_eq!(fixture.left(&[uid], None), [""; 0]);
    }

    #[test]
    fn a_process_that_is_left_is_found_until_it_ends() {
        let (_dir, fixture) = fixture();
        let mut command = Command::new("sleep");
        fixture.set_environment(command.arg("600"));
        let mut child = command.spawn().unwrap();
        let pid = Pid::from_child(&child);
        // Its environment is there when it is itself, and no copy of this process any more.
        while fixture.processes().is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(fixture.processes(), [pid]);
        assert_eq!(fixture.left(&[], None), [format!("process {pid:?}")]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(fixture.left(&[], None), [""; 0]);
    }

    #[test]
    fn journals_say_their_runs() {
        let (_dir, fixture) = fixture();
        fs::write(fixture.state.join("fsarena-00000000000000aa.journal"), "").unwrap();
        fs::write(fixture.state.join("device.lock"), "").unwrap();
        assert_eq!(fixture.uids_of_journals(), ["00000000000000aa"]);
    }
}
