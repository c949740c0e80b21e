//! The program that is init in guests: copied once, then linked into the directory of each guest.
//!
//! A static program is one file. Of this program itself, where it is not static, the libraries that
//! it has mapped are taken along; the root of a guest has nothing else.

use crate::owned_dir::{OwnedDir, PROGRAM_PREFIX};
use fsarena_bounded::Bounded;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Name of init in the directory of a guest.
pub const INIT: &str = "init";
const PT_INTERP: u32 = 3;

/// Why a program cannot be init.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("{path}: not a static program: it names {interpreter}, which a guest does not have")]
    Dynamic { path: PathBuf, interpreter: String },
    #[error("{path}: not a program for 64-bit processors")]
    NotElf { path: PathBuf },
}

/// A copy of a program beside which guests live.
#[derive(Debug)]
pub struct Program {
    dir: OwnedDir,
    base: PathBuf,
    /// Paths in the root of a guest.
    files: Vec<PathBuf>,
}

impl Program {
    /// This very program, static or not. Copies are made in `base`, where the guests will be too.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn this(base: &Path) -> Result<Self, ProgramError> {
        let path = Path::new("/proc/self/exe");
        let Some(interpreter) = interpreter_of(path)? else { return Self::staged(base, path, &[]) };
        let maps = fs::read_to_string("/proc/self/maps").map_err(file_error(path))?;
        let mut libraries = libraries_in(&maps, &fs::read_link(path).unwrap_or_default());
        libraries.push(PathBuf::from(interpreter));
        Self::staged(base, path, &libraries)
    }

    /// A static program.
    ///
    /// # Errors
    /// When it is not static, or cannot be copied.
    pub fn static_at(base: &Path, path: &Path) -> Result<Self, ProgramError> {
        match interpreter_of(path)? {
            None => Self::staged(base, path, &[]),
            Some(interpreter) => Err(ProgramError::Dynamic { path: path.to_owned(), interpreter }),
        }
    }

    fn staged(base: &Path, program: &Path, libraries: &[PathBuf]) -> Result<Self, ProgramError> {
        let dir = OwnedDir::make(base, PROGRAM_PREFIX).map_err(file_error(base))?;
        let mut files = vec![PathBuf::from(INIT)];
        fs::copy(program, dir.path().join(INIT)).map_err(file_error(program))?;
        for library in libraries {
            let inside = library.strip_prefix("/").unwrap_or(library).to_owned();
            let copy = dir.path().join(&inside);
            let made = fs::create_dir_all(copy.parent().unwrap_or(dir.path()));
            made.and_then(|()| fs::copy(library, &copy)).map_err(file_error(library))?;
            files.push(inside);
        }
        Ok(Self { dir, base: base.to_owned(), files })
    }

    /// Where guests with this program live: beside it, so that it need not be copied again.
    #[must_use]
    pub(super) fn base(&self) -> &Path {
        &self.base
    }

    /// Puts it into the root of a guest.
    pub(super) fn put_into(&self, root: &Path) -> io::Result<()> {
        for file in &self.files {
            let to = root.join(file);
            fs::create_dir_all(to.parent().unwrap_or(root))?;
            fs::hard_link(self.dir.path().join(file), to)?;
        }
        Ok(())
    }
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> ProgramError {
    let path = path.to_owned();
    move |error| ProgramError::File { path, error }
}

/// Files that are mapped as code, the program itself left out.
pub(crate) fn libraries_in(maps: &str, program: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let is_code = words.nth(1).is_some_and(|rights| rights.contains('x'));
        let path = words.nth(3).filter(|path| path.starts_with('/')).map(PathBuf::from);
        if let Some(path) = path.filter(|path| is_code && path != program)
            && !found.contains(&path)
        {
            found.push(path);
        }
    }
    found
}

/// The dynamic loader that an ELF file names.
pub(crate) fn interpreter_of(path: &Path) -> Result<Option<String>, ProgramError> {
    let mut file = File::open(path).map_err(file_error(path))?;
    let mut head = [0; 64];
    let not_elf = || ProgramError::NotElf { path: path.to_owned() };
    file.read_exact(&mut head).map_err(|_| not_elf())?;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return Err(not_elf());
    }
    let long = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
    };
    let half = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let (table, size, count) = (long(&head, 32), half(&head, 54), half(&head, 56));
    for index in 0..u64::from(count) {
        let mut entry = [0; 56];
        file.seek(SeekFrom::Start(table + index * u64::from(size))).map_err(file_error(path))?;
        file.read_exact(&mut entry).map_err(|_| not_elf())?;
        if entry[..4] != PT_INTERP.to_le_bytes() {
            continue;
        }
        file.seek(SeekFrom::Start(long(&entry, 8))).map_err(file_error(path))?;
        let most_bytes = long(&entry, 32).min(4096);
        let name = Bounded::new(file, most_bytes).beginning().map_err(file_error(path))?;
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        return Ok(Some(name));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_what_is_mapped_as_code() {
        let maps = "1-2 r-xp 0 fd:01 1 /opt/fsarena\n1-2 r-xp 0 fd:01 2     /lib/libc.so.6\n\
                    3-4 r--p 0 fd:01 3 /etc/ld.so.cache\n5-6 r-xp 0 00:00 0 [vdso]\n\
                    7-8 r-xp 0 fd:01 2 /lib/libc.so.6\n";
        assert_eq!(libraries_in(maps, Path::new("/opt/fsarena")), [Path::new("/lib/libc.so.6")]);
    }

    #[test]
    fn a_dynamic_program_names_its_loader_and_is_refused() {
        let error = Program::static_at(&std::env::temp_dir(), Path::new("/bin/ls")).unwrap_err();
        assert!(
            error.to_string().contains("/bin/ls: not a static program: it names /lib"),
            "{error}"
        );
        let error =
            Program::static_at(&std::env::temp_dir(), Path::new("/etc/passwd")).unwrap_err();
        assert!(error.to_string().contains("not a program for"), "{error}");
    }

    #[test]
    fn this_program_is_linked_into_every_guest() {
        let base = tempfile::tempdir().unwrap();
        let program = Program::this(base.path()).unwrap();
        let root = base.path().join("guest");
        program.put_into(&root).unwrap();
        let size = |path: &Path| fs::metadata(path).unwrap().len();
        let own = std::env::current_exe().unwrap();
        assert_eq!(size(&root.join(INIT)), size(&own));
        if let Some(loader) = interpreter_of(&own).unwrap() {
            assert!(root.join(loader.trim_start_matches('/')).is_file());
            assert!(program.files.len() > 2, "{:?}", program.files);
        }
    }
}
