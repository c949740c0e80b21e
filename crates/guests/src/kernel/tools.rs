//! What a build needs of the machine, and Debian's package of each.

use super::source::Source;
use fsarena_process::cmd::SearchPath;
use std::path::Path;

/// What is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// A program, a header, a file.
    pub what: String,
    /// Debian's package of it.
    pub package: String,
}

/// Programs, and the packages that bring them.
const PROGRAMS: &[(&str, &str)] = &[
    ("make", "make"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("perl", "perl"),
    ("patch", "patch"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];

/// Headers, below the directory of headers.
const HEADERS: &[(&str, &str)] =
    &[("stdio.h", "libc6-dev"), ("libelf.h", "libelf-dev"), ("openssl/evp.h", "libssl-dev")];

/// Where to look.
#[derive(Clone, Debug)]
pub struct Machine<'m> {
    pub programs: SearchPath,
    /// `/usr/include`.
    pub headers: &'m Path,
    /// `/usr/src`.
    pub sources: &'m Path,
}

impl Machine<'_> {
    /// Everything that a build of `source` lacks.
    #[must_use]
    pub fn missing(&self, source: &Source) -> Vec<Missing> {
        let mut missing = Vec::new();
        let mut add = |what: String, package: &str| {
            missing.push(Missing { what, package: package.to_owned() });
        };
        let path = source.path(self.sources);
        if let Some(package) = source.package()
            && !path.is_file()
        {
            add(path.display().to_string(), &package);
        }
        for (program, package) in PROGRAMS {
            if self.programs.find(program).is_none() {
                add((*program).to_owned(), package);
            }
        }
        for (header, package) in HEADERS {
            if !self.headers.join(header).is_file() {
                add((*header).to_owned(), package);
            }
        }
        missing
    }
}

/// The packages that would bring it, each once.
#[must_use]
pub fn packages(missing: &[Missing]) -> Vec<String> {
    let mut packages: Vec<String> = missing.iter().map(|it| it.package.clone()).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for (name, _) in PROGRAMS.iter().filter(|(name, _)| *name != "flex") {
            fs::write(bin.join(name), "#!/bin/sh\n").unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(dir.path().join("stdio.h"), "").unwrap();
        fs::write(dir.path().join("libelf.h"), "").unwrap();
        let machine = Machine {
            programs: SearchPath::new(vec![bin]),
            headers: dir.path(),
            sources: dir.path(),
        };
        let missing = machine.missing(&Source::Debian("6.1"));
        let what: Vec<&str> = missing.iter().map(|it| it.what.as_str()).collect();
        assert!(what[0].ends_with("/linux-source-6.1.tar.xz"), "{what:?}");
        assert_eq!(what[1..], ["flex", "openssl/evp.h"]);
        assert_eq!(packages(&missing), ["flex", "libssl-dev", "linux-source-6.1"]);
        let tree = machine.missing(&Source::Tree(dir.path().to_owned()));
        assert_eq!(packages(&tree), ["flex", "libssl-dev"]);
    }
}
