//! Where the source of a kernel comes from: a tarball of Debian, another tarball, or a tree.

use fsarena_bounded::Bounded;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where Debian's packages put sources.
pub const DEBIAN_SOURCES: &str = "/usr/src";
/// The releases that Debian has a package of and that are known to work, the default first.
pub const RELEASES: &[&str] = &["6.1", "6.12"];

/// A source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A release of Debian's package `linux-source-RELEASE`.
    Debian(&'static str),
    Tarball(PathBuf),
    Tree(PathBuf),
}

/// What is no source.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SourceError {
    #[error(
        "{0}: neither a release (6.1, 6.12) nor a directory or tarball of a Linux source; name one of \
         them"
    )]
    Unknown(String),
    #[error("{0}: no source of Linux: its Makefile states no VERSION and PATCHLEVEL")]
    NotLinux(PathBuf),
    #[error("{path}: Linux {version} is not supported; take 6.1 to 6.8, or 6.11 and later")]
    Version { path: PathBuf, version: Version },
    #[error("{path}: this source has no {missing}, which User-Mode Linux needs")]
    Incomplete { path: PathBuf, missing: &'static str },
}

impl Source {
    /// Reads a release or a path.
    ///
    /// # Errors
    /// Where it is neither.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        if let Some(release) = RELEASES.iter().find(|release| **release == text) {
            return Ok(Self::Debian(release));
        }
        let path = Path::new(text);
        let whole = || fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if path.is_dir() {
            Ok(Self::Tree(whole()))
        } else if path.is_file() {
            Ok(Self::Tarball(whole()))
        } else {
            Err(SourceError::Unknown(text.to_owned()))
        }
    }

    /// The file or directory, those of Debian below `debian_sources`.
    #[must_use]
    pub fn path(&self, debian_sources: &Path) -> PathBuf {
        match self {
            Self::Debian(release) => debian_sources.join(format!("linux-source-{release}.tar.xz")),
            Self::Tarball(path) | Self::Tree(path) => path.clone(),
        }
    }

    /// Debian's package of it.
    #[must_use]
    pub fn package(&self) -> Option<String> {
        match self {
            Self::Debian(release) => Some(format!("linux-source-{release}")),
            Self::Tarball(_) | Self::Tree(_) => None,
        }
    }

    /// Which series of patches it takes, where that is known without unpacking it.
    ///
    /// # Errors
    /// A tree that is no source, or one that no series is for.
    pub fn series(&self) -> Result<Option<Series>, SourceError> {
        match self {
            Self::Debian("6.12") => Ok(Some(Series::Since6_11)),
            Self::Debian(_) => Ok(Some(Series::Since6_1)),
            Self::Tarball(_) => Ok(None),
            Self::Tree(path) => series_of(path).map(|(_, series)| Some(series)),
        }
    }
}

/// A version of Linux.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    pub version: u32,
    pub patchlevel: u32,
    /// `.192`, `.0-rc3`.
    pub rest: String,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}{}", self.version, self.patchlevel, self.rest)
    }
}

/// Versions that one list of patches is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Series {
    /// 6.1 to 6.8.
    Since6_1,
    /// 6.11 and later.
    Since6_11,
}

/// The version of an unpacked source and its series.
///
/// # Errors
/// Where it is no source, or one that no series is for.
pub fn series_of(tree: &Path) -> Result<(Version, Series), SourceError> {
    let makefile = text_of(&tree.join("Makefile")).unwrap_or_default();
    let not_linux = || SourceError::NotLinux(tree.to_owned());
    let version = version_in(&makefile).ok_or_else(not_linux)?;
    for missing in ["arch/um/Makefile", "arch/x86/um/Makefile"] {
        if !tree.join(missing).is_file() {
            return Err(SourceError::Incomplete { path: tree.to_owned(), missing });
        }
    }
    let series = match (version.version, version.patchlevel) {
        (6, 1..=8) => Series::Since6_1,
        (6, 11..) | (7.., _) => Series::Since6_11,
        _ => return Err(SourceError::Version { path: tree.to_owned(), version }),
    };
    Ok((version, series))
}

/// Bytes of a text of a source, or of what was built from it, at most: ten times the largest.
const TEXT_MOST_BYTES: u64 = 16 << 20;

/// A text of a source, or of what was built from it.
pub(crate) fn text_of(path: &Path) -> io::Result<String> {
    Bounded::open(path, TEXT_MOST_BYTES)?.whole_text()
}

/// What the head of the main Makefile states.
pub(crate) fn version_in(makefile: &str) -> Option<Version> {
    let value = |key: &str| {
        makefile.lines().take(20).find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    };
    let sublevel = value("SUBLEVEL").filter(|level| !level.is_empty());
    Some(Version {
        version: value("VERSION")?.parse().ok()?,
        patchlevel: value("PATCHLEVEL")?.parse().ok()?,
        rest: sublevel.map(|level| format!(".{level}")).unwrap_or_default()
            + &value("EXTRAVERSION").unwrap_or_default(),
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A tree with a Makefile of this version and what makes it a source of User-Mode Linux.
    pub fn fake_tree(dir: &Path, patchlevel: u32) {
        for arch in ["arch/um", "arch/x86/um"] {
            fs::create_dir_all(dir.join(arch)).unwrap();
            fs::write(dir.join(arch).join("Makefile"), "").unwrap();
        }
        fake_makefile(dir, patchlevel);
    }

    fn fake_makefile(dir: &Path, patchlevel: u32) {
        let head =
            format!("VERSION = 6\nPATCHLEVEL = {patchlevel}\nSUBLEVEL = 7\nEXTRAVERSION =\n");
        fs::write(dir.join("Makefile"), head).unwrap();
    }

    #[test]
    fn releases_and_paths_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Source::parse("6.12"), Ok(Source::Debian("6.12")));
        let path = Source::Debian("6.1").path(Path::new("/usr/src"));
        assert_eq!(path, Path::new("/usr/src/linux-source-6.1.tar.xz"));
        let tree = Source::parse(dir.path().to_str().unwrap()).unwrap();
        assert!(matches!(tree, Source::Tree(_)));
        let error = Source::parse("6.6").unwrap_err().to_string();
        assert!(error.starts_with("6.6: neither a release (6.1, 6.12) nor"), "{error}");
    }

    #[test]
    fn the_version_says_which_patches_fit() {
        let dir = tempfile::tempdir().unwrap();
        let series = |patchlevel| {
            fake_tree(dir.path(), patchlevel);
            series_of(dir.path())
        };
        let (version, six_one) = series(1).unwrap();
        assert_eq!((version.to_string().as_str(), six_one), ("6.1.7", Series::Since6_1));
        assert_eq!(series(12).unwrap().1, Series::Since6_11);
        let error = series(9).unwrap_err().to_string();
        assert!(error.contains("Linux 6.9.7 is not supported; take 6.1 to 6.8"), "{error}");
        fs::remove_dir_all(dir.path().join("arch/um")).unwrap();
        fake_makefile(dir.path(), 1);
        let error = series_of(dir.path()).unwrap_err().to_string();
        assert!(error.contains("has no arch/um/Makefile"), "{error}");
        fs::write(dir.path().join("Makefile"), "all:\n").unwrap();
        let error = series_of(dir.path()).unwrap_err().to_string();
        assert!(error.contains("no source of Linux"), "{error}");
    }
}
