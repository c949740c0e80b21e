//! A build from source to a kernel in the cache.
//!
//! It is done in a directory of its own beside the kernels; a part of that becomes one by a rename:
//! there is no half kernel. What is named in the binary (when, by whom, on what) is the same
//! everywhere.

use super::cache::{BINARY, CONFIG, Cache, FORMAT, IDENTITY, Identity, Kernel};
use super::config::Configuration;
use super::digest;
use super::patches::{self, PatchError};
use super::source::{Series, Source, SourceError, series_of, text_of};
use super::tools::{Machine, Missing, packages};
use fsarena_bounded::Bounded;
use fsarena_disk_server::DISK_PROTOCOL;
use fsarena_process::cmd::{self, CmdError, End, SearchPath, TOO_MUCH_OUTPUT, ended_text};
use fsarena_process::guarded::Guarded;
use fsarena_process::program::TrustedProgram;
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A slow machine with one CPU takes an hour.
const LIMIT: Duration = Duration::from_secs(4 * 3600);
/// What the banner of the kernel says, which its random numbers are made of too.
const PINNED: &[(&str, &str)] = &[
    ("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970"),
    ("KBUILD_BUILD_USER", "fsarena"),
    ("KBUILD_BUILD_HOST", "fsarena"),
    ("KBUILD_BUILD_VERSION", "1"),
    ("LOCALVERSION", ""),
    ("LC_ALL", "C"),
];
/// Large parts of the source that no configuration of ours reads.
const NOT_UNPACKED: &[&str] =
    &["*/drivers/gpu/drm/amd/include/*", "*/tools/testing/*", "*/Documentation/devicetree/*"];

/// What to build.
#[derive(Clone, Debug)]
pub struct BuildRequest {
    pub source: Source,
    pub configuration: Configuration,
    /// Compilers at one time.
    pub jobs: usize,
    /// `/usr/src`; Debian's tarballs are there.
    pub debian_sources: PathBuf,
}

/// How far a build is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    Unpacking,
    Patching,
    Configuring,
    /// So many files were compiled or linked so far.
    Compiling {
        files: u64,
    },
    Checking,
}

/// Why there is no kernel.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("missing for the build of a kernel: {}; install {}", names(.0), packages(.0).join(" "))]
    Missing(Vec<Missing>),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Patch(#[from] PatchError),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("{step}: {how}; the log is in {log}")]
    Failed { step: &'static str, how: String, log: PathBuf },
    #[error("this source does not take the configuration: {}", .0.join(", "))]
    Options(Vec<String>),
    #[error(transparent)]
    Command(#[from] CmdError),
    #[error("{0}")]
    Check(String),
    #[error("stopped")]
    Stopped,
}

fn names(missing: &[Missing]) -> String {
    let names: Vec<&str> = missing.iter().map(|it| it.what.as_str()).collect();
    names.join(", ")
}

/// The surroundings of a build: whom to tell, whom to ask, and who has the last word on the kernel.
pub struct Surroundings<'s> {
    pub progress: &'s dyn Fn(Progress),
    pub stop: &'s dyn Fn() -> bool,
    /// Boots the finished kernel; what is wrong with it, else. It is kept only where nothing is.
    pub verify: &'s dyn Fn(&Path) -> Result<(), String>,
    /// Makes the directory to build in, on the file system of the cache. It goes when the build has
    /// ended, however that ends.
    pub work_dir: &'s dyn Fn() -> io::Result<PathBuf>,
}

/// The kernel of a request: from the cache, else built; and whether it was built.
///
/// # Errors
/// Where something is missing, does not fit, fails, or is stopped. Nothing is left of it then but
/// the log of the failure.
pub fn build(
    request: &BuildRequest,
    cache: &Cache,
    around: &Surroundings<'_>,
) -> Result<(Kernel, bool), BuildError> {
    let sources = request.debian_sources.as_path();
    let programs = SearchPath::from_env();
    let machine = Machine { programs, headers: Path::new("/usr/include"), sources };
    let missing = machine.missing(&request.source);
    if !missing.is_empty() {
        return Err(BuildError::Missing(missing));
    }
    let series = request.source.series()?;
    let made_of = Ingredients::gather(request, series, cache)?;
    if let Some(kernel) = cache.find(&made_of.key) {
        return Ok((kernel, false));
    }
    let dir = (around.work_dir)().map_err(file_error(cache.dir()))?;
    if let (Source::Tree(tree), Some(series)) = (&request.source, series) {
        patches::try_on(tree, series, &dir.join("tried"))?;
    }
    let work = Work { dir: &dir, request, cache, around };
    work.build(made_of).map(|kernel| (kernel, true))
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> BuildError {
    let path = path.to_owned();
    move |error| BuildError::File { path, error }
}

/// All that a kernel depends on.
struct Ingredients {
    key: String,
    source_sha256: String,
    patches_sha256: String,
    config_sha256: String,
    compiler: String,
}

impl Ingredients {
    fn gather(
        request: &BuildRequest,
        series: Option<Series>,
        cache: &Cache,
    ) -> Result<Self, BuildError> {
        let path = request.source.path(&request.debian_sources);
        let source_sha256 = digest::of_source(&path, &cache.hashes()).map_err(file_error(&path))?;
        let patches_sha256 = patches::digest_of(series);
        let config = request.configuration.fragment();
        let config_sha256 = digest::of_parts([config.as_bytes()]);
        let compiler = format!("{}; {}", version_of("gcc")?, version_of("ld")?);
        let key = key_of(&[&source_sha256, &patches_sha256, &config_sha256, &compiler]);
        Ok(Self { key, source_sha256, patches_sha256, config_sha256, compiler })
    }
}

/// What names a kernel: a hash of these, and of what the build itself adds.
fn key_of(parts: &[&str]) -> String {
    let pinned = PINNED.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    let format = FORMAT.to_le_bytes();
    let all = parts.iter().map(|part| part.as_bytes()).chain(pinned).chain([&format[..]]);
    digest::of_parts(all)[..32].to_owned()
}

/// A program that was there when the build began.
fn found(program: &str) -> Result<TrustedProgram, BuildError> {
    let (what, package) = (program.to_owned(), program.to_owned());
    cmd::find(program).ok_or_else(|| BuildError::Missing(vec![Missing { what, package }]))
}

/// The first line of `PROGRAM --version`.
fn version_of(program: &str) -> Result<String, BuildError> {
    let tool = found(program)?;
    let ran = cmd::run(&tool, &["--version"], Duration::from_secs(60))?;
    Ok(cmd::first_line(&ran.stdout, "").unwrap_or_default())
}

/// A build in its directory.
struct Work<'w> {
    dir: &'w Path,
    request: &'w BuildRequest,
    cache: &'w Cache,
    around: &'w Surroundings<'w>,
}

impl Work<'_> {
    fn build(&self, made_of: Ingredients) -> Result<Kernel, BuildError> {
        let tree = self.dir.join("source");
        fs::create_dir(&tree).map_err(file_error(&tree))?;
        (self.around.progress)(Progress::Unpacking);
        self.bring(&tree)?;
        (self.around.progress)(Progress::Patching);
        let (_, series) = series_of(&tree)?;
        patches::apply(&tree, &self.request.source.path(&self.request.debian_sources), series)?;
        (self.around.progress)(Progress::Configuring);
        self.configure(&tree)?;
        (self.around.progress)(Progress::Compiling { files: 0 });
        self.make(&tree, "the build", &["linux"])?;
        let finished = self.finish(&tree, made_of)?;
        let key = finished.identity.key.clone();
        let dir = finished.binary.parent().expect("the binary is in a directory");
        self.cache.publish(dir, &key).map_err(file_error(self.cache.dir()))?;
        self.cache.find(&key).ok_or_else(|| {
            let error = io::Error::from(io::ErrorKind::NotFound);
            BuildError::File { path: self.cache.dir().join(&key), error }
        })
    }

    /// The source, unpacked or copied.
    fn bring(&self, tree: &Path) -> Result<(), BuildError> {
        let from = self.request.source.path(&self.request.debian_sources);
        if let Source::Tree(_) = self.request.source {
            copy_tree(&from, tree, self.around.stop)?;
            // What an earlier build has left in it, but for its results.
            return self.make(tree, "cleaning the copy", &["mrproper"]);
        }
        let mut args: Vec<OsString> = vec!["--strip-components=1".into()];
        args.extend(NOT_UNPACKED.iter().map(|part| format!("--exclude={part}").into()));
        args.extend(["-xf".into(), from.into_os_string()]);
        self.run("unpacking", "tar", args, tree)
    }

    fn configure(&self, tree: &Path) -> Result<(), BuildError> {
        self.make(tree, "the default configuration", &["defconfig"])?;
        let path = tree.join(".config");
        let defaults = text_of(&path).map_err(file_error(&path))?;
        let asked = self.request.configuration;
        let text = format!("{defaults}{}", asked.fragment());
        fs::write(&path, text).map_err(file_error(&path))?;
        self.make(tree, "the configuration", &["olddefconfig"])?;
        let config = text_of(&path).map_err(file_error(&path))?;
        let lost = asked.lost(&config);
        if lost.is_empty() { Ok(()) } else { Err(BuildError::Options(lost)) }
    }

    fn make(&self, tree: &Path, step: &'static str, goals: &[&str]) -> Result<(), BuildError> {
        let mut args: Vec<OsString> = vec!["ARCH=um".into()];
        args.push(format!("-j{}", self.request.jobs).into());
        args.extend(goals.iter().map(OsString::from));
        self.run(step, "make", args, tree)
    }

    /// Runs a program with the fixed environment; what it prints goes to the log.
    fn run(
        &self,
        step: &'static str,
        program: &str,
        args: Vec<OsString>,
        dir: &Path,
    ) -> Result<(), BuildError> {
        let path = self.dir.join("build.log");
        let open = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let log = open.map_err(file_error(&path))?;
        let tool = found(program)?;
        let mut env: Vec<(&str, OsString)> =
            PINNED.iter().map(|(name, value)| (*name, value.into())).collect();
        env.push(("PATH", SearchPath::from_env().joined()));
        let call = Guarded {
            tool: &tool,
            args: &args,
            env: &env,
            dir,
            log: Some(&log),
            fixed_addresses: false,
        };
        let counted = RefCell::new(LogCount::new(&path));
        let stop = || {
            if let Some(files) = counted.borrow_mut().more() {
                (self.around.progress)(Progress::Compiling { files });
            }
            (self.around.stop)()
        };
        let ran = call.run(Some(LIMIT), Some(&stop)).map_err(file_error(tool.path()))?;
        let how = match ran.end {
            End::Ended(status) if status.success() => return Ok(()),
            End::Stopped => return Err(BuildError::Stopped),
            End::TimedOut => format!("not finished after {} h", LIMIT.as_secs() / 3600),
            End::TooMuchOutput => TOO_MUCH_OUTPUT.to_owned(),
            End::Ended(status) => ended_text(status),
        };
        let said = why_it_failed(&log_of(&path).unwrap_or_default());
        let how = if said.is_empty() { how } else { format!("{how}: {said}") };
        let kept = self.cache.dir().join("build-failed.log");
        let _ = fs::copy(&path, &kept);
        Err(BuildError::Failed { step, how, log: kept })
    }

    /// The binary without symbols and what it is, checked, in a directory that can become an entry.
    fn finish(&self, tree: &Path, made_of: Ingredients) -> Result<Kernel, BuildError> {
        let entry = self.dir.join("finished");
        fs::create_dir(&entry).map_err(file_error(&entry))?;
        let binary = entry.join(BINARY);
        let args = ["-o".into(), binary.clone().into(), tree.join("linux").into()];
        self.run("strip", "strip", args.to_vec(), tree)?;
        let release_file = tree.join("include/config/kernel.release");
        let release = text_of(&release_file).map_err(file_error(&release_file))?;
        let identity = Identity {
            format: FORMAT,
            key: made_of.key,
            release: release.trim().to_owned(),
            sha256: digest::of_file(&binary).map_err(file_error(&binary))?,
            source: self.request.source.path(&self.request.debian_sources).display().to_string(),
            source_sha256: made_of.source_sha256,
            patches_sha256: made_of.patches_sha256,
            config: self.request.configuration.name().to_owned(),
            config_sha256: made_of.config_sha256,
            hz: self.request.configuration.hz,
            compiler: made_of.compiler,
            disk_protocol: DISK_PROTOCOL,
        };
        (self.around.progress)(Progress::Checking);
        (self.around.verify)(&binary).map_err(BuildError::Check)?;
        fs::copy(tree.join(".config"), entry.join(CONFIG)).map_err(file_error(&entry))?;
        let text = serde_json::to_vec_pretty(&identity).map_err(io::Error::from);
        let path = entry.join(IDENTITY);
        text.and_then(|text| fs::write(&path, text)).map_err(file_error(&path))?;
        Ok(Kernel { binary, identity })
    }
}

/// Copies the source in `from` into `to`; nothing else of it is touched.
fn copy_tree(from: &Path, to: &Path, stop: &dyn Fn() -> bool) -> Result<(), BuildError> {
    for file in digest::files_of(from).map_err(file_error(from))? {
        if stop() {
            return Err(BuildError::Stopped);
        }
        let (source, copy) = (from.join(&file), to.join(&file));
        let done = || -> io::Result<()> {
            fs::create_dir_all(copy.parent().unwrap_or(to))?;
            if source.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&source)?, &copy)
            } else {
                fs::copy(&source, &copy).map(|_| ())
            }
        };
        done().map_err(file_error(&source))?;
    }
    Ok(())
}

/// The first error in a log, or its last line.
pub(crate) fn why_it_failed(log: &str) -> String {
    let of_make =
        |line: &str| line.contains("*** ") && (line.contains(" Error ") || line.contains("Stop."));
    let error = |line: &&str| line.contains("error:") || of_make(line);
    let first = log.lines().find(error);
    let last = || log.lines().rev().find(|line| !line.trim().is_empty());
    first.or_else(last).unwrap_or_default().trim().to_owned()
}

/// What the programs of a build have printed; the end is left out where it is very long.
fn log_of(path: &Path) -> io::Result<String> {
    let log = Bounded::open(path, LOG_PIECE_MOST_BYTES)?.beginning()?;
    Ok(String::from_utf8_lossy(&log).into_owned())
}

/// Bytes of a log that are looked at at a time.
const LOG_PIECE_MOST_BYTES: u64 = 16 << 20;

/// Counts the files that a log of make names, as it grows.
struct LogCount {
    file: Option<File>,
    files: u64,
}

impl LogCount {
    fn new(path: &Path) -> Self {
        let mut count = Self { file: File::open(path).ok(), files: 0 };
        // What was there before is of another step.
        let _ = count.more();
        count.files = 0;
        count
    }

    /// The new count, where it has grown.
    fn more(&mut self) -> Option<u64> {
        let text = Bounded::new(self.file.as_mut()?, LOG_PIECE_MOST_BYTES).beginning().ok()?;
        let text = String::from_utf8_lossy(&text);
        let kinds = ["  CC ", "  AS ", "  AR ", "  LD ", "  HOSTCC "];
        let of = |line: &&str| kinds.iter().any(|kind| line.starts_with(kind));
        let more = text.lines().filter(of).count() as u64;
        self.files += more;
        (more > 0).then_some(self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::source::tests::fake_tree;

    fn request(source: Source, sources: &Path) -> BuildRequest {
        let configuration = Configuration::default();
        BuildRequest { source, configuration, jobs: 1, debian_sources: sources.to_owned() }
    }

    fn build_here(request: &BuildRequest, cache: &Cache) -> Result<(Kernel, bool), BuildError> {
        let made = std::cell::OnceCell::new();
        let work_dir = || {
            let work = cache.dir().join("work");
            fs::create_dir_all(&work)?;
            Ok(made.get_or_init(|| work).clone())
        };
        let around = Surroundings {
            progress: &|_| (),
            stop: &|| false,
            verify: &|_| Ok(()),
            work_dir: &work_dir,
        };
        let done = build(request, cache, &around);
        made.get().map(fs::remove_dir_all).transpose().unwrap();
        done
    }

    #[test]
    fn a_missing_tarball_is_named_with_its_package() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path().join("cache"));
        let request = request(Source::Debian("6.1"), dir.path());
        let error = build_here(&request, &cache).unwrap_err();
        let BuildError::Missing(missing) = &error else { panic!("{error}") };
        assert!(packages(missing).contains(&"linux-source-6.1".to_owned()));
        assert!(error.to_string().contains("linux-source-6.1.tar.xz"), "{error}");
        assert!(!cache.dir().exists());
    }

    #[test]
    fn a_tree_that_is_none_and_one_of_another_version_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let request = request(Source::Tree(tree.clone()), dir.path());
        let cache = Cache::new(dir.path().join("cache"));
        let refused = || build_here(&request, &cache).unwrap_err().to_string();
        if refused().starts_with("missing for the build") {
            println!("not run: this machine cannot build kernels: {}", refused());
            return;
        }
        assert!(refused().contains("no source of Linux"), "{}", refused());
        fake_tree(&tree, 9);
        assert!(refused().contains("6.9.7 is not supported"), "{}", refused());
        fake_tree(&tree, 1);
        assert!(refused().contains("0001-um-size-of-the-saved"), "{}", refused());
        let entries = fs::read_dir(cache.dir())
            .map_or(0, |all| all.flatten().filter(|entry| entry.path().is_dir()).count());
        assert_eq!(entries, 0, "nothing is left");
    }

    #[test]
    fn a_key_depends_on_every_part() {
        let parts = ["source", "patches", "config", "gcc 12"];
        let key = key_of(&parts);
        assert_eq!((key.len(), key_of(&parts)), (32, key.clone()));
        for at in 0..parts.len() {
            let mut other = parts;
            other[at] = "other";
            assert_ne!(key_of(&other), key, "{at}");
        }
    }

    #[test]
    fn failures_name_the_first_error() {
        let log = "  CC a.o\na.c:3:1: error: no x\nmake: *** [a.o] Error 1\n";
        assert_eq!(why_it_failed(log), "a.c:3:1: error: no x");
        let log = "*** Default configuration is based on 'x86_64_defconfig'\n\
                   b.c:1:1: fatal error: error writing to b.s: No space left on device\n\
                   make[1]: *** [b.o] Error 1\n";
        assert!(why_it_failed(log).ends_with("No space left on device"), "{log}");
        assert_eq!(why_it_failed("make: *** No rule.  Stop.\n"), "make: *** No rule.  Stop.");
        assert_eq!(why_it_failed("tar: broken\n\n"), "tar: broken");
        assert_eq!(why_it_failed(""), "");
    }

    #[test]
    fn a_log_is_counted_as_it_grows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "  CC      before.o\n").unwrap();
        let mut count = LogCount::new(&path);
        assert_eq!(count.more(), None);
        let mut log = OpenOptions::new().append(true).open(&path).unwrap();
        io::Write::write_all(&mut log, b"  CC      a.o\n  AR      b.a\nwarning\n").unwrap();
        assert_eq!((count.more(), count.more()), (Some(2), None));
    }

    #[test]
    fn a_copy_has_the_source_and_not_what_was_built() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("a"), dir.path().join("b"));
        fake_tree(&from, 1);
        fs::write(from.join("main.o"), "x").unwrap();
        std::os::unix::fs::symlink("Makefile", from.join("link")).unwrap();
        copy_tree(&from, &to, &|| false).unwrap();
        assert!(to.join("arch/um/Makefile").is_file() && !to.join("main.o").exists());
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("Makefile"));
        assert!(matches!(copy_tree(&from, &to, &|| true), Err(BuildError::Stopped)));
    }
}
