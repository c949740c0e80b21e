//! apt of this machine, asked in a private directory: its sources and keys are the system's, its
//! lists, its preferences, what it believes to be installed and what it fetches are here.
//!
//! apt verifies the signature of each list and the hash of each package; a source that is not
//! signed is refused. What it chooses is of the version that this machine has installed, where a
//! source still has it: preferences pin each package to that.

use super::packages;
use fsarena_process::cmd::{self, CmdError, Conditions};
use fsarena_process::limits::Limits;
use fsarena_process::program::TrustedProgram;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Mirrors are slow at times.
const LIMIT: Duration = Duration::from_secs(1800);
/// A package that is installed, in what dpkg-query prints.
const LINE: &str = "${db:Status-Abbrev}\\t${Package}\\t${Version}\\t${Architecture}\\n";

/// Why apt gives no packages.
#[derive(Debug, thiserror::Error)]
pub enum AptError {
    #[error("there is no {0} here: the packages come through Debian's apt")]
    Missing(&'static str),
    #[error(transparent)]
    Command(#[from] CmdError),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("{what}; see whether the sources of apt have i386 (apt-cache policy)")]
    Answer { what: String },
}

/// Packages that this machine has installed, with their versions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NativePackages(BTreeMap<String, String>);

impl NativePackages {
    /// As dpkg says.
    ///
    /// # Errors
    /// When there is no dpkg, or it fails.
    pub fn installed() -> Result<Self, AptError> {
        let query = found("dpkg-query")?;
        let format = format!("--showformat={LINE}");
        let printed = cmd::run(&query, &["--show", &format], LIMIT)?;
        Ok(Self::from_list(&printed.stdout))
    }

    /// From lines of state, package, version and architecture, with tabs in between. Those of i386
    /// are none of this machine's own.
    #[must_use]
    pub(super) fn from_list(text: &str) -> Self {
        let row = |line: &str| {
            let mut fields = line.split('\t');
            let (state, name, version) = (fields.next()?, fields.next()?, fields.next()?);
            let is_own = fields.next() != Some("i386");
            let row = (name.to_owned(), version.to_owned());
            (state.starts_with("ii") && is_own).then_some(row)
        };
        Self(text.lines().filter_map(row).collect())
    }

    /// The installed version of a package.
    #[must_use]
    pub fn version(&self, package: &str) -> Option<&str> {
        self.0.get(package).map(String::as_str)
    }

    /// Preferences (apt_preferences(5)) that pin each to its version.
    fn preferences(&self) -> String {
        let mut text = String::new();
        for (name, version) in &self.0 {
            let pin = format!("Package: {name}\nPin: version {version}\nPin-Priority: 1001\n\n");
            text.push_str(&pin);
        }
        text
    }
}

fn found(program: &'static str) -> Result<TrustedProgram, AptError> {
    cmd::find(program).ok_or(AptError::Missing(program))
}

/// A package that apt would fetch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    pub name: String,
    pub version: String,
    pub architecture: String,
    /// Of the signed list, 64 hex digits.
    pub sha256: String,
    pub package_bytes: u64,
    pub installed_bytes: u64,
}

/// apt in a directory of its own.
pub(super) struct Apt<'a> {
    get: TrustedProgram,
    cache: TrustedProgram,
    options: Vec<String>,
    archives: PathBuf,
    stop: &'a dyn Fn() -> bool,
}

impl std::fmt::Debug for Apt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Apt").field("archives", &self.archives).finish_non_exhaustive()
    }
}

impl<'a> Apt<'a> {
    /// Makes what apt needs in `dir`, which is empty and goes afterwards.
    pub fn prepare(
        dir: &Path,
        native: &NativePackages,
        stop: &'a dyn Fn() -> bool,
    ) -> Result<Self, AptError> {
        let failed = |error| AptError::File { path: dir.to_owned(), error };
        // apt fetches as a user of its own, who has to come here.
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).map_err(failed)?;
        for below in ["state/lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(dir.join(below)).map_err(failed)?;
        }
        fs::write(dir.join("status"), "").map_err(failed)?;
        fs::write(dir.join("preferences"), native.preferences()).map_err(failed)?;
        let at = |name: &str| dir.join(name).display().to_string();
        let settings = [
            ("APT::Architecture", "i386".to_owned()),
            ("APT::Architectures", "i386".to_owned()),
            ("APT::Install-Recommends", "false".to_owned()),
            ("APT::Get::AllowUnauthenticated", "false".to_owned()),
            ("Acquire::AllowInsecureRepositories", "false".to_owned()),
            ("Acquire::AllowWeakRepositories", "false".to_owned()),
            ("Acquire::Languages", "none".to_owned()),
            // Descriptions of software centres.
            ("Acquire::IndexTargets::deb::DEP-11::DefaultEnabled", "false".to_owned()),
            ("Dir::State", at("state")),
            ("Dir::State::status", at("status")),
            ("Dir::Cache", at("cache")),
            ("Dir::Etc::preferences", at("preferences")),
            ("Dir::Etc::preferencesparts", "/dev/null".to_owned()),
        ];
        let options = settings.iter().map(|(key, value)| format!("-o{key}={value}")).collect();
        let (get, cache) = (found("apt-get")?, found("apt-cache")?);
        Ok(Self { get, cache, options, archives: dir.join("cache/archives"), stop })
    }

    fn run(&self, tool: &TrustedProgram, words: &[&str]) -> Result<cmd::Ran, AptError> {
        let mut args: Vec<&str> = self.options.iter().map(String::as_str).collect();
        args.extend_from_slice(words);
        let conditions = Conditions {
            limits: Limits::of_writer(),
            stop: Some(self.stop),
            ..Conditions::within(LIMIT)
        };
        Ok(cmd::run_with(tool, &args, &conditions)?)
    }

    /// Fetches the lists of packages. What apt complains of where it has some lists and not all:
    /// it goes on without those it could not verify.
    pub fn update(&self) -> Result<Option<String>, AptError> {
        match self.run(&self.get, &["update", "-q"]) {
            Ok(_) => Ok(None),
            Err(AptError::Command(CmdError::Failed { last_lines, .. })) => {
                Ok(Some(complaint_in(&last_lines).to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    /// The packages and their dependencies.
    pub fn candidates(&self) -> Result<Vec<Candidate>, AptError> {
        let mut words = vec!["install", "-y", "-q", "--print-uris", "--"];
        words.extend(packages());
        let printed = self.run(&self.get, &words)?;
        let names = names_in(&printed.stdout);
        if names.is_empty() {
            return Err(AptError::Answer { what: "apt names no package".to_owned() });
        }
        let mut words = vec!["show", "--"];
        words.extend(names.iter().map(String::as_str));
        let shown = self.run(&self.cache, &words)?;
        let found = candidates_in(&shown.stdout);
        if found.len() != names.len() {
            let what = format!("apt describes {} of {} packages", found.len(), names.len());
            return Err(AptError::Answer { what });
        }
        Ok(found)
    }

    /// Fetches them; the file of each.
    pub fn fetch(&self, candidates: &[Candidate]) -> Result<Vec<PathBuf>, AptError> {
        let exact: Vec<String> =
            candidates.iter().map(|it| format!("{}={}", it.name, it.version)).collect();
        let mut words = vec!["install", "-y", "-q", "--download-only", "--"];
        words.extend(exact.iter().map(String::as_str));
        self.run(&self.get, &words)?;
        let file = |it: &Candidate| {
            let version = it.version.replace(':', "%3a");
            let path = self.archives.join(format!("{}_{version}_{}.deb", it.name, it.architecture));
            let what = || format!("apt did not fetch {} {}", it.name, it.version);
            if path.is_file() { Ok(path) } else { Err(AptError::Answer { what: what() }) }
        };
        candidates.iter().map(file).collect()
    }
}

/// The last error of apt among the last lines that it printed.
fn complaint_in(lines: &str) -> &str {
    lines.rsplit_once("E: ").map_or(lines, |(_, error)| error).trim()
}

/// `NAME=VERSION` of each package that `apt-get --print-uris` lists: lines of an address in quotes,
/// the name of the file (`libattr1_1%3a2.5.1-4_i386.deb`), its size and a hash.
fn names_in(printed: &str) -> Vec<String> {
    let name = |line: &str| {
        let file = line.strip_prefix('\'')?.split_whitespace().nth(1)?.strip_suffix(".deb")?;
        let mut parts = file.split('_');
        let (name, version) = (parts.next()?, parts.next()?);
        Some(format!("{name}={}", version.replace("%3a", ":")))
    };
    printed.lines().filter_map(name).collect()
}

/// The stanzas of `apt-cache show`, of each package the first.
fn candidates_in(shown: &str) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for stanza in shown.split("\n\n") {
        let field = |key: &str| {
            let value = |line: &str| Some(line.strip_prefix(key)?.strip_prefix(": ")?.to_owned());
            stanza.lines().find_map(value)
        };
        let number = |key: &str| field(key)?.trim().parse::<u64>().ok();
        let candidate = || {
            let sha256 = field("SHA256").filter(|hash| hash.len() == 64)?;
            Some(Candidate {
                name: field("Package").filter(|name| is_plain(name))?,
                version: field("Version")?,
                architecture: field("Architecture").filter(|name| is_plain(name))?,
                sha256,
                package_bytes: number("Size")?,
                installed_bytes: number("Installed-Size").unwrap_or(0).saturating_mul(1024),
            })
        };
        if let Some(candidate) = candidate()
            && !found.iter().any(|known| known.name == candidate.name)
        {
            found.push(candidate);
        }
    }
    found
}

/// Whether a name is one of Debian's, and no path.
fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain)
}

impl std::fmt::Display for Candidate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_apt_have_names_and_versions() {
        let printed = "Reading package lists...\n\
                       'http://deb.debian.org/debian/pool/main/a/attr/libattr1_2.5.1-4_i386.deb' \
                       libattr1_1%3a2.5.1-4_i386.deb 22348 MD5Sum:26d8\n\
                       'http://x/tar.deb' tar_1.34+dfsg-1_i386.deb 860692 MD5Sum:2ed3\n";
        assert_eq!(names_in(printed), ["libattr1=1:2.5.1-4", "tar=1.34+dfsg-1"]);
        assert!(names_in("0 upgraded, 0 newly installed\n").is_empty());
    }

    #[test]
    fn packages_are_described_by_signed_lists() {
        let hash = "a".repeat(64);
        let stanza = |name: &str, version: &str| {
            format!(
                "Package: {name}\nVersion: {version}\nInstalled-Size: 12\nArchitecture: i386\n\
                 Size: 99\nSHA256: {hash}\nDescription: x\n .\n Size: 7\n"
            )
        };
        let shown = [stanza("tar", "1:2"), stanza("tar", "1"), stanza("../x", "1")].join("\n");
        let found = candidates_in(&shown);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].to_string(), "tar 1:2");
        assert_eq!((found[0].package_bytes, found[0].installed_bytes), (99, 12 << 10));
        assert!(candidates_in("Package: tar\nVersion: 1\nSize: 1\n").is_empty(), "no hash");
    }

    #[test]
    fn what_is_installed_here_is_what_apt_shall_choose() {
        let native = NativePackages::from_list("ii \ttar\t1:2\tamd64\nii \tlibc6\t3\ti386\n");
        assert_eq!(native.preferences(), "Package: tar\nPin: version 1:2\nPin-Priority: 1001\n\n");
    }
}
