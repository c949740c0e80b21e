//! Where programs are: the first executable of a name in a fixed list of directories.
//!
//! The list does not come from the user's `PATH`: the same machine must give the same program to
//! everybody. Root runs none that others may change. Programs are started by the path at which they
//! were found, since some (busybox) do what their name says; the record holds the path with links
//! followed. Starts nothing.

use fsarena_model::job::{Job, PROGRAM_PATH, package_of};
use fsarena_model::work::Tool;
use fsarena_process::program::{ProgramError, TrustedProgram};
use fsarena_process::search::{SearchPath, is_executable};
use std::path::{Path, PathBuf};

/// A program that is not installed, or that root does not run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", .untrusted.clone().unwrap_or_else(|| not_installed(.program, *.package, .looked_in)))]
pub struct Missing {
    pub program: String,
    /// The Debian package that brings it, where it is known.
    pub package: Option<&'static str>,
    /// The directories, with colons in between.
    pub looked_in: String,
    /// Why root does not run the one that is there.
    pub untrusted: Option<String>,
}

fn not_installed(program: &str, package: Option<&str>, looked_in: &str) -> String {
    let remedy = remedy(program, package);
    format!("{program} is not installed (looked in {looked_in}); {remedy}")
}

fn remedy(program: &str, package: Option<&str>) -> String {
    match package {
        Some(package) => format!("install the package {package}"),
        None => format!("install the package that brings {program}"),
    }
}

/// A program by the name that it was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Program {
    pub name: String,
    pub trusted: TrustedProgram,
}

impl Program {
    /// By which it is started.
    pub fn path(&self) -> &Path {
        self.trusted.path()
    }

    /// For the record: links followed, `version` as it was told.
    pub fn tool(&self, version: String) -> Tool {
        let path = self.path().canonicalize().unwrap_or_else(|_| self.path().to_owned());
        Tool { name: self.name.clone(), path, version }
    }
}

/// Finds the programs of `job`, in the order of [`Job::programs`]. Their versions are not asked
/// for: nothing is started, and `version` of each is empty.
///
/// # Errors
/// The first that is not there, with the package that brings it.
pub fn find_programs(job: &Job) -> Result<Vec<Tool>, Missing> {
    Ok(find_all(job)?.iter().map(|found| found.tool(String::new())).collect())
}

/// The programs of `job` by the paths at which they are started.
pub(super) fn find_all(job: &Job) -> Result<Vec<Program>, Missing> {
    let dirs = usual_dirs();
    job.programs().into_iter().map(|program| find(program, &dirs, package_of(program))).collect()
}

/// Where programs are looked for.
pub(super) fn usual_dirs() -> Vec<PathBuf> {
    std::env::split_paths(PROGRAM_PATH).collect()
}

/// The first executable `program` in `dirs`. A program given by its absolute path is looked for
/// there alone.
pub(super) fn find(
    program: &str,
    dirs: &[PathBuf],
    package: Option<&'static str>,
) -> Result<Program, Missing> {
    let missing = |looked_in: String, untrusted: Option<String>| {
        Err(Missing { program: program.to_owned(), package, looked_in, untrusted })
    };
    let found = |trusted: TrustedProgram| Ok(Program { name: program.to_owned(), trusted });
    if program.contains('/') {
        let path = Path::new(program);
        let named = "the place that it names, which has to be absolute".to_owned();
        if !path.is_absolute() || !is_executable(path) {
            return missing(named, None);
        }
        return match TrustedProgram::at(path) {
            Ok(trusted) => found(trusted),
            Err(ProgramError::Missing { .. }) => missing(named, None),
            Err(untrusted) => missing(named, Some(untrusted.to_string())),
        };
    }
    let search = SearchPath::new(dirs.to_vec());
    match search.find(program).filter(|_| !program.is_empty()) {
        Some(trusted) => found(trusted),
        None => {
            let looked_in: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
            missing(looked_in.join(":"), search.why_untrusted(program))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::job::{Command, Compression, JobKind};

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let nowhere = [PathBuf::from("/nowhere"), PathBuf::from("/not/here")];
        let printed = find("flac", &nowhere, package_of("flac")).unwrap_err().to_string();
        assert_eq!(
            printed,
            "flac is not installed (looked in /nowhere:/not/here); install the package flac"
        );
        let printed = find("frobnicate", &nowhere, None).unwrap_err().to_string();
        assert!(printed.ends_with("install the package that brings frobnicate"), "{printed}");
        assert!(find("", &[PathBuf::from("/usr/bin")], None).is_err(), "a directory is no program");
        for odd in ["bin/sh", "/etc/passwd", "/nowhere/sh", "/bin"] {
            assert!(find(odd, &[PathBuf::from("/")], None).is_err(), "{odd}");
        }
        assert_eq!(find("/bin/sh", &nowhere, None).unwrap().path(), Path::new("/bin/sh"));
    }

    #[test]
    fn root_runs_no_measured_program_that_others_may_write() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: this is not root");
            return;
        }
        let (theirs, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for dir in [&theirs, &own] {
            fsarena_testkit::write_script(&dir.path().join("flac"), "true");
        }
        std::os::unix::fs::chown(theirs.path(), Some(65_534), None).unwrap();
        let [theirs, own] = [theirs.path().to_owned(), own.path().to_owned()];
        let next = find("flac", &[theirs.clone(), own.clone()], None).unwrap();
        assert_eq!(next.path(), own.join("flac"), "the next one is taken");
        let named = theirs.join("flac");
        for (program, dirs) in [("flac", &[theirs][..]), (named.to_str().unwrap(), &[])] {
            let text = find(program, dirs, None).unwrap_err().to_string();
            assert!(text.contains("is not run as root") && text.contains("65534"), "{text}");
        }
    }

    #[test]
    fn programs_of_a_job_are_found_with_links_followed() {
        let command = |programs: &[&str]| {
            let programs = programs.iter().map(|&name| name.to_owned()).collect();
            let kind = Command { run: String::new(), prepare: None, cleanup: None, programs };
            Job::new(JobKind::Command(kind), "data")
        };
        let tools = find_programs(&command(&["cp", "/bin/sh"])).unwrap();
        assert_eq!(
            tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
            ["sh", "cp", "/bin/sh"]
        );
        for tool in &tools {
            assert_eq!(tool.path, tool.path.canonicalize().unwrap());
            assert_eq!(tool.version, "");
        }
        assert_eq!(tools[0].path, tools[2].path);
        let missing = find_programs(&command(&["cp", "no-such-program"])).unwrap_err();
        assert_eq!((missing.program.as_str(), missing.package), ("no-such-program", None));
        let plain = Job::new(JobKind::Untar { compression: Compression::None }, "data");
        assert_eq!(find_programs(&plain).unwrap().len(), 1, "no compressor");
    }
}
