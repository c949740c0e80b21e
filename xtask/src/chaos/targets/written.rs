//! Files that a command writes because somebody asked for them: whatever ends it, each is whole,
//! the old one or the new one.

use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What an old file has in it.
const OLD: &str = "what was there before";
/// Names of files that are written and have no name of their own yet.
const UNDER_WAY: &str = ".fsarena-";

/// The files that an undisturbed command has written, by their paths in its directory.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Written {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Written {
    /// Those in `dir` and below it; none where it is not there.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        let mut ahead = vec![dir.to_owned()];
        while let Some(next) = ahead.pop() {
            for entry in fs::read_dir(&next).into_iter().flatten() {
                let path = entry?.path();
                if path.is_dir() && !path.is_symlink() {
                    ahead.push(path);
                } else {
                    let contents = fs::read(&path).with_context(|| path.display().to_string())?;
                    files.insert(path.strip_prefix(dir).unwrap_or(&path).to_owned(), contents);
                }
            }
        }
        Ok(Self { files })
    }

    /// Puts a file of the same name with other contents for each into `dir`.
    pub(super) fn put_old(&self, dir: &Path) -> Result<()> {
        for name in self.files.keys() {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap_or(dir))?;
            fs::write(&path, OLD)?;
        }
        Ok(())
    }

    /// Files in `dir` that are neither the old nor the new one, but for those without their name.
    pub(super) fn halves(&self, dir: &Path) -> Result<Vec<String>> {
        let is_half = |name: &Path, contents: &[u8]| {
            let is_new = self.files.get(name).is_some_and(|new| new == contents);
            !is_new && contents != OLD.as_bytes() && !is_under_way(name)
        };
        let there = Self::read(dir)?;
        let halves = there.files.iter().filter(|(name, contents)| is_half(name, contents));
        Ok(halves.map(|(name, _)| format!("half a file: {}", dir.join(name).display())).collect())
    }

    /// The same, and what lies beside them.
    pub(super) fn standing(&self, dir: &Path) -> Result<Vec<String>> {
        let mut found = self.halves(dir)?;
        let there = Self::read(dir)?;
        let beside = there.files.keys().filter(|name| !self.files.contains_key(*name));
        found.extend(beside.map(|name| format!("left behind: {}", dir.join(name).display())));
        Ok(found)
    }

    /// What in `dir` is not as the undisturbed command has written it.
    pub(super) fn differences(&self, dir: &Path) -> Result<Vec<String>> {
        let there = Self::read(dir)?;
        let differs = |name: &&PathBuf| self.files.get(*name) != there.files.get(*name);
        let mut names: Vec<&PathBuf> = self.files.keys().chain(there.files.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let all = names.into_iter().filter(differs);
        Ok(all.map(|name| format!("not as undisturbed: {}", dir.join(name).display())).collect())
    }
}

fn is_under_way(name: &Path) -> bool {
    name.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNDER_WAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_leftovers_and_differences_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let (new, place) = (dir.path().join("new"), dir.path().join("place"));
        for name in ["page.html", "charts/one.svg"] {
            fs::create_dir_all(new.join(name).parent().unwrap()).unwrap();
            fs::write(new.join(name), format!("new {name}")).unwrap();
        }
        let written = Written::read(&new).unwrap();
        assert_eq!(Written::read(&place).unwrap(), Written::default());
        let count = || {
            let found = [written.halves(&place), written.standing(&place)];
            (found.map(|found| found.unwrap().len()), written.differences(&place).unwrap().len())
        };
        assert_eq!(count(), ([0, 0], 2), "nothing is there yet");
        written.put_old(&place).unwrap();
        assert_eq!(count(), ([0, 0], 2), "all is as before");
        fs::write(place.join("page.html"), "new page.html").unwrap();
        assert_eq!(count(), ([0, 0], 1));
        fs::write(place.join("charts/one.svg"), "new char").unwrap();
        assert_eq!(count(), ([1, 1], 1), "half a chart");
        fs::write(place.join("charts/one.svg"), "new charts/one.svg").unwrap();
        assert_eq!(count(), ([0, 0], 0));
        fs::write(place.join("charts/.fsarena-x"), "new").unwrap();
        assert_eq!(count(), ([0, 1], 1), "beside it");
    }
}
