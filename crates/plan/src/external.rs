//! `[[filesystem]]`: file systems that are defined by their commands.

use crate::JsonSchema;
use crate::error::{At, PlanError};
use crate::experiment::DefinedFs;
use crate::values::{FsName, List, Read};
use fsarena_model::braces;
use fsarena_model::contender::ExternalFs;
use serde::Deserialize;

/// A file system defined by its commands; {dev}, {mnt} and {size} are filled in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    /// The name for `fs`.
    #[schemars(example = &"fuse2fs")]
    name: Read<FsName>,
    /// Makes it.
    create: Option<At<String>>,
    /// Mounts it at {mnt}.
    #[schemars(example = &"fuse2fs -o rw {dev} {mnt}")]
    mount: At<String>,
    /// Unmounts it; where absent: umount {mnt}.
    unmount: Option<At<String>>,
    /// Undoes `create`.
    destroy: Option<At<String>>,
    /// Prints the version on its first line.
    version: Option<At<String>>,
    /// Names of programs that have to be there.
    #[schemars(example = &"fuse2fs")]
    programs: Option<List<String>>,
    /// Debian package that brings them.
    #[schemars(example = &"fuse2fs")]
    package: Option<At<String>>,
    /// Whether it needs a device ({dev}).
    device: Option<bool>,
    /// Without a device: whether it is in memory alone.
    memory: Option<At<bool>>,
}

/// The file systems of these tables.
///
/// # Errors
/// The first command or name that cannot be, with its place.
pub(crate) fn filesystems(tables: Vec<At<Keys>>) -> Result<Vec<At<DefinedFs>>, PlanError> {
    let mut defined: Vec<At<DefinedFs>> = Vec::new();
    for table in tables {
        let fs = external(table.value)?;
        if defined.iter().any(|earlier| earlier.value.name == fs.name) {
            let what = format!("two file systems are named {:?}", fs.name);
            return Err(PlanError::new(&table.place, what, "rename one of them"));
        }
        defined.push(At::new(fs, &table.place));
    }
    Ok(defined)
}

fn external(keys: Keys) -> Result<DefinedFs, PlanError> {
    let device = keys.device.unwrap_or(true);
    let memory = keys.memory.as_ref().filter(|memory| memory.value);
    if let Some(memory) = memory.filter(|_| device) {
        let what = "memory = true with a device";
        return Err(PlanError::new(&memory.place, what, "say device = false as well"));
    }
    let optional = [&keys.create, &keys.unmount, &keys.destroy, &keys.version];
    for command in optional.into_iter().flatten().chain([&keys.mount]) {
        placeholders(command, device)?;
    }
    let uses = |command: &At<String>, word: &str| braces::words(&command.value).any(|w| w == word);
    if !uses(&keys.mount, "{mnt}") {
        let what = "`mount` does not say where: {mnt} is not in it";
        let remedy = "put {mnt} where the mount point belongs";
        return Err(PlanError::new(&keys.mount.place, what, remedy));
    }
    let uses_device = keys.create.iter().chain([&keys.mount]).any(|one| uses(one, "{dev}"));
    if device && !uses_device {
        let what = "neither `create` nor `mount` uses {dev}";
        return Err(PlanError::new(&keys.mount.place, what, "use it, or say device = false"));
    }
    let text = |command: Option<At<String>>| command.map(|command| command.value);
    let commands = ExternalFs {
        memory: memory.is_some(),
        create: text(keys.create),
        mount: keys.mount.value,
        unmount: text(keys.unmount),
        destroy: text(keys.destroy),
        version: text(keys.version),
        programs: keys.programs.map(|programs| programs.0).unwrap_or_default(),
        package: keys.package.map(package_name).transpose()?,
        device,
    };
    Ok(DefinedFs { name: keys.name.0, commands })
}

/// A name that Debian allows for a package (Policy 5.6.1), and that no program takes for an option.
fn package_name(At { value: text, place }: At<String>) -> Result<String, PlanError> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let good = text.len() > 1
        && text.starts_with(allowed)
        && text.chars().all(|c| allowed(c) || "+-.".contains(c));
    if good {
        return Ok(text);
    }
    let what = format!("{text:?} is no name of a package");
    Err(PlanError::new(&place, what, "use a-z, 0-9, +, - and ."))
}

/// Refuses a command with braces that would not be filled in.
fn placeholders(At { value: command, place }: &At<String>, device: bool) -> Result<(), PlanError> {
    if command.trim().is_empty() {
        return Err(PlanError::new(place, "an empty command", "leave the key out"));
    }
    for word in braces::words(command) {
        if !["{dev}", "{mnt}", "{size}"].contains(&word) {
            let remedy = "use {dev}, {mnt} or {size}; ${NAME} is a variable of the shell, {{ and \
                          }} are braces";
            return Err(PlanError::new(place, format!("{word} is not filled in"), remedy));
        }
        if word == "{dev}" && !device {
            return Err(PlanError::new(
                place,
                "{dev} with device = false",
                "leave one of them out",
            ));
        }
    }
    Ok(())
}
