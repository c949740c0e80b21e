//! A file system that an experiment file defines by its commands.
//!
//! The commands run through `sh -c`; `{dev}`, `{mnt}` and `{size}` (bytes) are filled in as quoted
//! words. Whoever runs an experiment has seen and confirmed them before.

use super::options::Rule;
use super::{Backing, FileSystem, FsError, IllegalLevel, MountPlan, ToolNeed};
use fsarena_model::braces;
use fsarena_model::contender::{Discard, ExternalFs, FsLevel};
use fsarena_model::spec::TargetSpec;
use fsarena_process::cmd::{self, Conditions};
use fsarena_process::program::TrustedProgram;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// The driver made of commands.
pub struct External {
    name: String,
    summary: String,
    commands: ExternalFs,
}

/// What is filled into a command; a placeholder without a value is an error.
#[derive(Clone, Copy, Default)]
pub struct Fill<'a> {
    /// `{dev}`.
    pub dev: Option<&'a Path>,
    /// `{mnt}`.
    pub mnt: Option<&'a Path>,
    /// `{size}`, bytes.
    pub size_bytes: Option<u64>,
    /// The mount point is not known yet: [`fill_mount_point`] will fill it in.
    pub keep_mnt: bool,
}

impl External {
    /// A driver of these commands.
    #[must_use]
    pub fn new(name: &str, commands: ExternalFs) -> Self {
        let summary = format!("defined by commands: {}", commands.mount);
        Self { name: name.to_owned(), summary, commands }
    }

    /// The commands, in the order of a life: create, mount, unmount, destroy.
    fn all(&self) -> impl Iterator<Item = &str> {
        let c = &self.commands;
        [c.create.as_deref(), Some(c.mount.as_str()), c.unmount.as_deref(), c.destroy.as_deref()]
            .into_iter()
            .flatten()
            .chain(c.version.as_deref())
    }
}

/// Fills `{dev}`, `{mnt}` and `{size}` in, quoted for the shell. `{{` and `}}` are braces, and
/// `${` begins a variable of the shell.
///
/// # Errors
/// When another word stands in braces, or one that has no value here.
pub fn fill(command: &str, values: Fill<'_>) -> Result<String, FsError> {
    let path = |path: &Path| cmd::quoted(&path.to_string_lossy());
    let mnt = if values.keep_mnt { Some(MNT_LATER.to_owned()) } else { values.mnt.map(path) };
    let size = values.size_bytes.map(|bytes| bytes.to_string());
    let words = [("{dev}", values.dev.map(path)), ("{mnt}", mnt), ("{size}", size)];
    let known: Vec<(&str, &OsStr)> = words
        .iter()
        .filter_map(|(word, value)| Some((*word, OsStr::new(value.as_deref()?))))
        .collect();
    match braces::fill(command, &known) {
        Ok(text) => Ok(text.to_string_lossy().into_owned()),
        Err(unfilled) => {
            Err(FsError::Placeholder { command: command.to_owned(), placeholder: unfilled.word })
        }
    }
}

/// Stands for the mount point in a command that is filled in but for it; no user can type it.
const MNT_LATER: &str = "\u{1}mnt\u{1}";

/// Fills the mount point into a command in which everything else is filled in.
#[must_use]
pub fn fill_mount_point(command: &str, mnt: &Path) -> String {
    command.replace(MNT_LATER, &cmd::quoted(&mnt.to_string_lossy()))
}

/// A command of a plan as text for people.
#[must_use]
pub fn shown(command: &str) -> String {
    command.replace(MNT_LATER, "{mnt}")
}

impl FileSystem for External {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        &self.summary
    }

    fn backing(&self) -> Backing {
        match (self.commands.device, self.commands.memory) {
            (true, _) => Backing::Block,
            (false, true) => Backing::Memory,
            (false, false) => Backing::Elsewhere,
        }
    }

    fn kernel_type(&self) -> Option<&str> {
        None
    }

    fn tools(&self) -> Vec<ToolNeed> {
        let need = |program: &String| ToolNeed {
            program: program.clone(),
            package: self.commands.package.clone(),
        };
        self.commands.programs.iter().map(need).collect()
    }

    fn check(&self, level: &FsLevel, device_bytes: Option<u64>) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: &self.name };
        if !level.mkfs.is_empty() || !level.mount.is_empty() {
            return Err(rule.broken(
                "it is defined by its commands and takes no mkfs or mount options",
                "write them into its commands",
            ));
        }
        let dev = self.commands.device.then_some(Path::new("/dev/null"));
        let values = Fill {
            dev,
            mnt: Some(Path::new("/mnt")),
            size_bytes: Some(device_bytes.unwrap_or(0)),
            keep_mnt: false,
        };
        let create = self.commands.create.as_deref();
        for command in self.all() {
            // It is made once and mounted many times: the mount point is not known before.
            let mnt = if create == Some(command) { None } else { values.mnt };
            fill(command, Fill { mnt, ..values }).map_err(|error| {
                rule.broken(
                    error.to_string(),
                    "write {{ and }} for braces; {dev} needs device = true, and {mnt} is not \
                     known to create",
                )
            })?;
        }
        if !self.commands.mount.contains("{mnt}") {
            return Err(rule.broken(
                format!("the mount command \"{}\" does not name {{mnt}}", self.commands.mount),
                "add {mnt} where the mount point belongs",
            ));
        }
        Ok(())
    }

    /// The create command as `sh -c`.
    fn mkfs_argv(&self, _: &FsLevel, _: Discard, device: &Path, bytes: u64) -> Vec<String> {
        let Some(create) = &self.commands.create else { return Vec::new() };
        let dev = self.commands.device.then_some(device);
        let values = Fill { dev, mnt: None, size_bytes: Some(bytes), keep_mnt: false };
        let command = fill(create, values).unwrap_or_else(|_| create.clone());
        vec!["/bin/sh".to_owned(), "-c".to_owned(), command]
    }

    fn mount_options(&self, _: &FsLevel, _: Discard, _: Option<u64>) -> Vec<String> {
        Vec::new()
    }

    fn mount_plan(
        &self,
        _level: &FsLevel,
        _discard: Discard,
        target: &TargetSpec,
    ) -> Result<MountPlan, FsError> {
        let (dev, size_bytes) = match target {
            TargetSpec::Block { device, size_bytes, .. } => {
                (Some(device.as_path()), Some(*size_bytes))
            }
            TargetSpec::Memory { size_bytes } => (None, Some(*size_bytes)),
            TargetSpec::Directory { .. } => (None, None),
        };
        let values = Fill { dev, mnt: None, size_bytes, keep_mnt: true };
        let optional = |command: &Option<String>| {
            command.as_deref().map(|command| fill(command, values)).transpose()
        };
        Ok(MountPlan::Commands {
            mount: fill(&self.commands.mount, values)?,
            unmount: optional(&self.commands.unmount)?,
            destroy: optional(&self.commands.destroy)?,
        })
    }

    fn version(&self) -> Option<String> {
        let command = TrustedProgram::confirmed(self.commands.version.as_ref()?);
        let conditions = Conditions::of_writer(Duration::from_secs(20));
        let ran = cmd::run_with(&command, &cmd::NO_ARGS, &conditions).ok()?;
        cmd::first_line(&ran.stdout, &ran.stderr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(create: &str, mount: &str) -> ExternalFs {
        ExternalFs {
            create: Some(create.to_owned()),
            mount: mount.to_owned(),
            unmount: None,
            destroy: None,
            version: None,
            programs: Vec::new(),
            package: None,
            device: true,
            memory: false,
        }
    }

    fn check(create: &str, mount: &str) -> Result<(), String> {
        let driver = External::new("zfs", commands(create, mount));
        driver.check(&FsLevel::plain("zfs"), Some(1 << 30)).map_err(|error| error.to_string())
    }

    #[test]
    fn placeholders_are_filled_in_as_quoted_words() {
        let values = Fill {
            dev: Some(Path::new("/dev/loop0")),
            mnt: Some(Path::new("/a b/$(id)")),
            size_bytes: Some(7),
            keep_mnt: false,
        };
        assert_eq!(
            fill("x {dev} -s {size} {mnt} {{y}} ${HOME}", values).unwrap(),
            "x /dev/loop0 -s 7 '/a b/$(id)' {y} ${HOME}"
        );
        let text = fill("mkfs {disk}", values).unwrap_err().to_string();
        assert!(text.contains("{disk}") && text.contains("{dev}"), "{text}");
        assert!(fill("mkfs {dev", values).is_err());
    }

    #[test]
    fn the_mount_point_may_come_later() {
        let values = Fill { size_bytes: Some(1), keep_mnt: true, ..Fill::default() };
        let command = fill("mount {size} {mnt} {mnt}", values).unwrap();
        assert_eq!(shown(&command), "mount 1 {mnt} {mnt}");
        assert_eq!(fill_mount_point(&command, Path::new("/m n")), "mount 1 '/m n' '/m n'");
    }

    #[test]
    fn commands_are_checked_before_anything_runs() {
        assert_eq!(check("mkfs {dev}", "mount {dev} {mnt}"), Ok(()));
        assert!(check("mkfs {disk}", "mount {mnt}").unwrap_err().contains("{disk}"));
        assert!(check("mkfs {mnt}", "mount {mnt}").unwrap_err().contains("not known to create"));
        assert!(check("mkfs", "mount {dev}").unwrap_err().contains("does not name {mnt}"));
    }
}
