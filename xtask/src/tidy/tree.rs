//! The repository as the rules see it (paths and texts, read once), and what they find in it.
//!
//! The list comes from `git ls-files` (tracked files and new ones that are not ignored, so that a
//! fault shows before the commit); without git the directory is walked.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// Directories that never belong to the repository; used only where git cannot be asked.
const NOT_OURS: &[&str] = &[".git", "target"];

/// Copies of other people's files, kept as they were published: they are there, and their text is
/// no concern of the rules.
const VENDORED: &str = "/vendor/";

/// Every file of the repository by its path from the root, with `/` between the parts.
#[derive(Debug, Default)]
pub struct Tree {
    /// `None` for a file that is not UTF-8 text, or not ours.
    files: BTreeMap<String, Option<String>>,
    /// Bytes of the files that are read.
    sizes: BTreeMap<String, u64>,
}

impl Tree {
    /// Reads the checkout at `root`.
    pub fn read(root: &Path) -> anyhow::Result<Tree> {
        let paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walked(root).with_context(|| format!("cannot list {}", root.display()))?,
        };
        let (mut files, mut sizes) = (BTreeMap::new(), BTreeMap::new());
        for path in paths {
            let full = root.join(&path);
            // A file that is deleted but still in the index is no longer part of the tree.
            if full.is_file() && path.contains(VENDORED) {
                files.insert(path, None);
            } else if full.is_file() {
                let bytes = std::fs::read(&full)
                    .with_context(|| format!("cannot read {}", full.display()))?;
                sizes.insert(path.clone(), bytes.len() as u64);
                files.insert(path, String::from_utf8(bytes).ok());
            }
        }
        Ok(Tree { files, sizes })
    }

    /// A made-up tree for tests.
    #[cfg(test)]
    pub fn fake(files: &[(&str, &str)]) -> Tree {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), Some((*text).to_owned()));
        let size = |(path, text): &(&str, &str)| ((*path).to_owned(), text.len() as u64);
        Tree { files: files.iter().map(own).collect(), sizes: files.iter().map(size).collect() }
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// All paths, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Path and text of every text file, in order.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Path and text of every file whose name ends in `suffix`.
    pub fn ending<'a>(&'a self, suffix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts().filter(move |(path, _)| path.ends_with(suffix))
    }

    /// Paths and bytes of all files that are ours.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.sizes.iter().map(|(path, size)| (path.as_str(), *size))
    }

    /// Paths and bytes of the files below a directory.
    pub fn sizes_below<'a>(&'a self, dir: &'a str) -> impl Iterator<Item = (&'a str, u64)> {
        let below =
            move |path: &&String| path.strip_prefix(dir).is_some_and(|r| r.starts_with('/'));
        self.sizes
            .iter()
            .filter(move |(path, _)| below(path))
            .map(|(path, size)| (path.as_str(), *size))
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether `path` is a file, or a directory with at least one file in it.
    pub fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty()
            || self.files.contains_key(path)
            || self.paths().any(|file| file.strip_prefix(path).is_some_and(|r| r.starts_with('/')))
    }
}

/// Something that breaks a house rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub file: String,
    /// First line of a file is 1.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub text: String,
}

impl Finding {
    /// Names the place and says what is wrong.
    pub fn new(file: &str, line: usize, text: impl Into<String>) -> Self {
        Finding { file: file.to_owned(), line, text: text.into() }
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walked(root: &Path) -> std::io::Result<Vec<String>> {
    let (mut found, mut todo) = (Vec::new(), vec![String::new()]);
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(root.join(&dir))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
            match entry.file_type()? {
                kind if kind.is_dir() && !NOT_OURS.contains(&name.as_str()) => todo.push(path),
                kind if kind.is_file() => found.push(path),
                _ => {}
            }
        }
    }
    Ok(found)
}

/// The directory part of a path, empty for a file at the root.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// Joins and resolves `.` and `..`; `None` if the result would lie above the root.
pub fn join(dir: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in dir.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_where_git_cannot_be_asked() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("crates/a/src")).unwrap();
        std::fs::create_dir_all(dir.path().join("target")).unwrap();
        std::fs::write(dir.path().join("crates/a/src/lib.rs"), "//! A.\n").unwrap();
        std::fs::write(dir.path().join("target/x.rs"), "").unwrap();
        assert_eq!(walked(dir.path()).unwrap(), ["crates/a/src/lib.rs"]);
    }

    #[test]
    fn reads_this_checkout() {
        let tree = Tree::read(&crate::tidy::root()).unwrap();
        assert!(tree.text("xtask/src/tidy/tree.rs").is_some());
        assert!(tree.has("xtask/src") && tree.has("xtask/src/"));
        assert!(!tree.has("xtask/sr") && !tree.has("target"));
        let vendored = "crates/testkit/vendor/axe-core/axe.min.js";
        assert!(tree.has(vendored) && tree.text(vendored).is_none());
    }

    #[test]
    fn joins_paths() {
        assert_eq!(join("docs", "../README.md").as_deref(), Some("README.md"));
        assert_eq!(join("docs/a", "./b.md").as_deref(), Some("docs/a/b.md"));
        assert_eq!(join("", "../elsewhere"), None);
        assert_eq!(parent("docs/a.md"), "docs");
        assert_eq!(parent("a.md"), "");
    }
}
