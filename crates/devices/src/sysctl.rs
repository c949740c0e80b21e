//! Settings of the kernel below `/proc/sys` that are factors: read, set, read back, and put back.
//!
//! What is changed is known before it is changed ([`plan`]), so that it can be journaled; putting
//! back ([`restore`]) may be repeated at any time, also by a later process, and writes only where
//! the value that was set is still in force. A `_bytes` limit zeroes its `_ratio` and the other way
//! round: what was in force before is what is put back. Nothing outside `/proc/sys/vm` is written.

use crate::TargetError;
use fsarena_model::factor::Setting;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// One setting that is to be changed, with what is needed to put it back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SysctlChange {
    /// The file, such as `/proc/sys/vm/dirty_background_bytes`.
    pub file: PathBuf,
    /// Its value while it is ours.
    pub ours: String,
    /// The file that was in force before: this one, or the one that the kernel zeroes with it.
    pub before: PathBuf,
    pub original: String,
}

/// Settings that are in force until they are put back, at the latest when this is dropped.
#[derive(Debug)]
pub struct AppliedSysctls {
    changes: Vec<SysctlChange>,
}

impl AppliedSysctls {
    /// Puts everything back.
    ///
    /// # Errors
    /// When the kernel refuses; the others are put back all the same.
    pub fn restore(mut self) -> Result<(), TargetError> {
        restore(&std::mem::take(&mut self.changes)).map(|_| ())
    }
}

impl Drop for AppliedSysctls {
    fn drop(&mut self) {
        let _ = restore(&self.changes);
    }
}

/// Where the settings of the running kernel are.
pub const PROC_SYS: &str = "/proc/sys";

/// What has to be changed so that these settings are in force; `root` is [`PROC_SYS`]. Settings of
/// queues are passed over. Reads and changes nothing.
///
/// # Errors
/// When the kernel has no such setting.
pub fn plan(root: &Path, settings: &[Setting]) -> Result<Vec<SysctlChange>, TargetError> {
    let mut changes = Vec::new();
    for setting in settings {
        let Setting::Sysctl(name, ours, zeroes) = setting else { continue };
        let file = root.join(name);
        let now = value(&file)?;
        if now == *ours {
            continue;
        }
        let (before, original) = match zeroes.map(|other| root.join(other)) {
            Some(other) if now == "0" => {
                let original = value(&other)?;
                (other, original)
            }
            _ => (file.clone(), now),
        };
        changes.push(SysctlChange { file, ours: ours.clone(), before, original });
    }
    Ok(changes)
}

/// The values in force of these settings, by their names.
#[must_use]
pub fn current(root: &Path, settings: &[Setting]) -> Vec<(String, String)> {
    let read = |setting: &Setting| match setting {
        Setting::Sysctl(name, ..) => Some((setting.fact_key(), value(&root.join(name)).ok()?)),
        Setting::Queue(..) => None,
    };
    settings.iter().filter_map(read).collect()
}

/// Makes the changes of a plan and reads them back. What was done is undone where one fails.
///
/// # Errors
/// When the kernel refuses a value, or silently keeps another one.
pub fn apply(changes: Vec<SysctlChange>) -> Result<AppliedSysctls, TargetError> {
    changes.iter().try_for_each(|change| inside(&change.file))?;
    let applied = AppliedSysctls { changes };
    for change in &applied.changes {
        write(&change.file, &change.ours)?;
        let now = value(&change.file)?;
        if now != change.ours {
            let problem = format!(
                "{:?} was written without an error, and the kernel has {now:?}",
                change.ours
            );
            return Err(TargetError::state(&change.file, problem, "use another level"));
        }
    }
    Ok(applied)
}

/// Puts back what is still as it was set; gives how many files were written. May be repeated.
///
/// # Errors
/// The first thing that went wrong, after everything was tried.
pub fn restore(changes: &[SysctlChange]) -> Result<usize, TargetError> {
    let mut written = 0;
    let mut first = None;
    for change in changes {
        match put_back(change) {
            Ok(count) => written += count,
            Err(error) => first = first.or(Some(error)),
        }
    }
    first.map_or(Ok(written), Err)
}

fn put_back(change: &SysctlChange) -> Result<usize, TargetError> {
    inside(&change.file)?;
    inside(&change.before)?;
    if value(&change.file)? != change.ours {
        return Ok(0);
    }
    write(&change.before, &change.original)?;
    let now = value(&change.before)?;
    if now == change.original {
        return Ok(1);
    }
    let problem = format!("cannot be put back to {:?}: the kernel has {now:?}", change.original);
    Err(TargetError::state(&change.before, problem, "set it by hand"))
}

/// A file in a directory called `vm`, and no other: the path may be from a journal.
fn inside(file: &Path) -> Result<(), TargetError> {
    let in_vm = file.parent().and_then(Path::file_name).is_some_and(|name| name == "vm");
    if in_vm && file.is_absolute() && file.file_name().is_some() {
        return Ok(());
    }
    Err(TargetError::state(file, "not a setting of the kernel's vm, so it is left alone", ""))
}

fn value(file: &Path) -> Result<String, TargetError> {
    let text = fs::read_to_string(file).map_err(|error| TargetError::io("read", file, error))?;
    Ok(text.trim().to_owned())
}

fn write(file: &Path, text: &str) -> Result<(), TargetError> {
    fs::write(file, text).map_err(|error| TargetError::io("write", file, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree in which writing one limit does not zero the other: the test does that.
    fn fake(bytes: &str, ratio: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("vm")).unwrap();
        fs::write(root.path().join("vm/limit_bytes"), bytes).unwrap();
        fs::write(root.path().join("vm/limit_ratio"), ratio).unwrap();
        root
    }

    fn limit(bytes: &str) -> [Setting; 1] {
        [Setting::Sysctl("vm/limit_bytes", bytes.to_owned(), Some("vm/limit_ratio"))]
    }

    fn read(root: &Path) -> [String; 2] {
        ["vm/limit_bytes", "vm/limit_ratio"].map(|name| value(&root.join(name)).unwrap())
    }

    #[test]
    fn what_was_in_force_before_is_put_back() {
        let root = fake("0\n", "10\n");
        let changes = plan(root.path(), &limit("4096")).unwrap();
        let applied = apply(changes.clone()).unwrap();
        fs::write(root.path().join("vm/limit_ratio"), "0").unwrap();
        assert_eq!(read(root.path()), ["4096", "0"]);
        assert_eq!(current(root.path(), &limit("4096"))[0].1, "4096");
        applied.restore().unwrap();
        assert_eq!(read(root.path())[1], "10", "the ratio, which zeroes the bytes in the kernel");
        let root = fake("8192\n", "0\n");
        let applied = apply(plan(root.path(), &limit("4096")).unwrap()).unwrap();
        drop(applied);
        assert_eq!(read(root.path()), ["8192", "0"]);
    }

    #[test]
    fn what_another_has_set_since_stays() {
        let root = fake("0", "10");
        let changes = plan(root.path(), &limit("4096")).unwrap();
        let applied = apply(changes.clone()).unwrap();
        fs::write(root.path().join("vm/limit_bytes"), "12288").unwrap();
        applied.restore().unwrap();
        assert_eq!(read(root.path()), ["12288", "10"]);
        assert_eq!(restore(&changes).unwrap(), 0);
    }

    #[test]
    fn nothing_but_vm_is_written() {
        let change = |file: &str| SysctlChange {
            file: file.into(),
            ours: String::new(),
            before: file.into(),
            original: String::new(),
        };
        assert!(restore(&[change("/proc/sys/kernel/ostype")]).is_err());
        assert!(apply(vec![change("vm/x")]).is_err());
        assert!(plan(Path::new("/nonexistent"), &limit("1")).is_err());
    }
}
