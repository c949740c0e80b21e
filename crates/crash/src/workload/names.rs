//! Files of plans by number, and their paths.

/// Directories of the plans of all kinds.
pub(crate) const PREFILL_DIRECTORY: &str = "prefill";
pub(super) const DIRECTORIES: [&str; 6] =
    ["created", "replaced", "appended", "spool", "journal", PREFILL_DIRECTORY];
/// Behind a name: the file that is renamed to it.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// Bits of a file's number behind those that name its directory.
pub(super) const WITHIN: u32 = 24;
pub(super) const PREFILL: u32 = 5 << WITHIN;

/// Marks files of phases: their numbers have a directory in its 12 bits below, then a bit for a
/// temporary file beside the others, and 17 bits for the file in its directory.
const PHASES: u32 = 1 << 31;
/// Of a file of phases, whether its second name is meant.
const SECOND_NAME: u32 = 1 << 30;
const DIRECTORY: u32 = 18;
const BESIDE: u32 = 1 << 17;
/// The directory of all files of phases.
const PHASES_DIRECTORY: &str = "phases";
/// Directories that phases can have, and files in each.
pub(crate) const PHASE_DIRECTORIES_MOST: u32 = (1 << 12) - 1;
pub(crate) const PHASE_FILES_MOST: u32 = BESIDE;

/// The number of a file of phases: `directory` counted from 1, 0 for none.
pub(crate) fn phase_file(directory: u32, file: u32) -> u32 {
    PHASES | directory << DIRECTORY | file
}

/// The directory of a file of phases.
pub(crate) fn directory_of(file: u32) -> u32 {
    file >> DIRECTORY & PHASE_DIRECTORIES_MOST
}

/// The number of a temporary file beside a file of phases.
pub(crate) fn beside(file: u32) -> u32 {
    identity(file) | BESIDE
}

/// The number of a file of phases under its other name.
#[must_use]
pub fn other_name(file: u32) -> u32 {
    file ^ SECOND_NAME
}

/// Whether the number is that of a file under its second name.
#[must_use]
pub fn has_second_name(file: u32) -> bool {
    file & PHASES != 0 && file & SECOND_NAME != 0
}

/// The number of the file under its first name, which is that in its stamps.
#[must_use]
pub fn identity(file: u32) -> u32 {
    if has_second_name(file) { other_name(file) } else { file }
}

/// A directory of phases: one below [`PHASES_DIRECTORY`], or that itself.
pub(crate) fn phase_directory(directory: u32) -> String {
    match directory {
        0 => PHASES_DIRECTORY.to_owned(),
        number => format!("{PHASES_DIRECTORY}/d{number:04}"),
    }
}

/// The path of a file, from the root of the file system under test. `None`: no plan has it.
#[must_use]
pub fn path(file: u32) -> Option<String> {
    if file & PHASES != 0 {
        let directory = phase_directory(directory_of(file));
        let letter = match (file & BESIDE != 0, file & SECOND_NAME != 0) {
            (false, false) => 'f',
            (false, true) => 'r',
            (true, false) => 't',
            (true, true) => return None,
        };
        return Some(format!("{directory}/{letter}{:06}", file & (BESIDE - 1)));
    }
    let directory = DIRECTORIES.get((file >> WITHIN) as usize)?;
    Some(format!("{directory}/{:06}", file & ((1 << WITHIN) - 1)))
}

/// The file of a path, and whether it is the temporary one that is renamed to it.
#[must_use]
pub fn file_of(path: &str) -> Option<NamedFile> {
    let stem = path.strip_suffix(TEMPORARY_SUFFIX);
    let (directory, name) = stem.unwrap_or(path).split_once('/')?;
    let file = if directory == PHASES_DIRECTORY {
        phase_file_of(name)?
    } else {
        let class = DIRECTORIES.iter().position(|known| *known == directory)?;
        let within = name.parse().ok().filter(|number: &u32| *number < 1 << WITHIN)?;
        u32::try_from(class).ok()? << WITHIN | within
    };
    (self::path(file).as_deref() == Some(stem.unwrap_or(path)))
        .then_some(NamedFile { file, is_temporary: stem.is_some() })
}

/// The number of what is below the directory of phases; it may be of another path.
fn phase_file_of(below: &str) -> Option<u32> {
    let (directory, name) = match below.split_once('/') {
        Some((directory, name)) => (directory.strip_prefix('d')?.parse().ok()?, name),
        None => (0, below),
    };
    let letter = name.chars().next()?;
    let number = name.get(1..)?.parse().ok().filter(|number: &u32| *number < BESIDE)?;
    let file = phase_file(u32::min(directory, PHASE_DIRECTORIES_MOST), number);
    match letter {
        'f' => Some(file),
        'r' => Some(other_name(file)),
        't' => Some(beside(file)),
        _ => None,
    }
}

/// What a path stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedFile {
    pub file: u32,
    pub is_temporary: bool,
}

/// Whether the file is one of those that were deleted before the ops began.
#[must_use]
pub fn is_prefill(file: u32) -> bool {
    file >> WITHIN == PREFILL >> WITHIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_files_belong_together() {
        for file in [12, 1 << WITHIN, (3 << WITHIN) + 7, PREFILL + 2] {
            let name = path(file).unwrap();
            assert_eq!(file_of(&name), Some(NamedFile { file, is_temporary: false }));
            let temporary = file_of(&(name + TEMPORARY_SUFFIX));
            assert_eq!(temporary, Some(NamedFile { file, is_temporary: true }));
        }
        let file = phase_file(12, 17);
        let names = [file, other_name(file), beside(file), phase_file(0, 3)].map(|it| {
            let name = path(it).unwrap();
            assert_eq!(file_of(&name).map(|named| named.file), Some(it));
            name
        });
        let seen = ["phases/d0012/f000017", "phases/d0012/r000017", "phases/d0012/t000017"];
        assert_eq!((&names[..3], &*names[3]), (&seen.map(str::to_owned)[..], "phases/f000003"));
        assert_eq!([file, other_name(file)].map(identity), [file, file]);
        for other in
            ["phases/d0012/x000017", "phases/d12/f000017", "phases/", "phases/d9999/f000001"]
        {
            assert_eq!(file_of(other), None, "{other}");
        }
        assert_eq!(path((1 << WITHIN) + 3).as_deref(), Some("replaced/000003"));
        assert_eq!(path(9 << WITHIN), None);
        for other in ["lost+found/x", "created", "created/12", "created/+00012", "created/x.tmp"] {
            assert_eq!(file_of(other), None, "{other}");
        }
    }
}
