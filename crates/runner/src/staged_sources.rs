//! Staged sources of a RUN: sources of real work that are outside the file systems under test.
//!
//! Archives are made once a RUN, because to compress takes long; trees on another file system or
//! in memory, because they are to be the same ones for all. One directory of ours for each of the
//! two places, journaled before it is made, and open to the user of the work alone: what is in it
//! may be a copy of the user's own data. These are read and never changed.

use crate::own_paths::resolved;
use crate::request::{MEMORY_DIR, RunError};
use fsarena_corpus::{CorpusError, Description, own};
use fsarena_devices::vet::IMAGE_MARGIN_BYTES;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::job::{Contents, Origin, Source, SourcePlace};
use fsarena_model::run::RunPlan;
use fsarena_model::units::Bytes;
use fsarena_model::work::UserIds;
use fsarena_process::cmd::{self, CmdError};
use fsarena_process::private;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest copy of the user's data into memory.
const COPY_LIMIT: Duration = Duration::from_secs(24 * 3600);
/// Most threads that write a tree.
const THREADS_MAX: usize = 4;
/// What a full file system answers, whoever asks it.
const NO_ROOM: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

/// Whether the user has asked to stop.
type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Where stages lie, and what else of ours must not be within the user's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StagingDirs<'a> {
    /// Directory of images: the stage on a disk.
    pub(crate) disk: &'a Path,
    /// The stage in memory.
    pub(crate) memory: &'a Path,
    /// Journals and mount points.
    pub(crate) state: &'a Path,
}

impl<'a> StagingDirs<'a> {
    /// Where a source is staged.
    pub(crate) fn dir_for(&self, source: &Source) -> &'a Path {
        if source.place == SourcePlace::Memory { self.memory } else { self.disk }
    }
}

/// Sources that were staged, with their places.
#[derive(Debug, Default)]
pub(crate) struct StagedSources(Vec<(Source, PathBuf)>);

impl StagedSources {
    /// Where `source` lies outside the file system under test; `None` where it is generated there.
    pub(crate) fn path_of(&self, source: &Source) -> Option<PathBuf> {
        if let (Origin::Own { path }, false) = (&source.origin, source.is_staged()) {
            return Some(path.clone());
        }
        if !source.is_staged() {
            return None;
        }
        let staged = self.0.iter().find(|(known, _)| is_same(known, source));
        staged.map(|(_, path)| path.clone())
    }

    /// Makes `source` below `dir`, a directory of ours that is there, and gives its path.
    pub(crate) fn add(
        &mut self,
        source: &Source,
        dir: &Path,
        stop: Stop<'_>,
    ) -> Result<PathBuf, RunError> {
        let path = dir.join(self.0.len().to_string()).join(source.file_name());
        put(source, &path, stop).map_err(|error| with_remedy(error, dir, source.place))?;
        self.0.push((source.clone(), path.clone()));
        Ok(path)
    }
}

/// Makes `source` at `path`, and the directory that it lies in.
fn put(source: &Source, path: &Path, stop: Stop<'_>) -> Result<(), RunError> {
    let below = path.parent().expect("a directory was joined");
    open_dir(below).map_err(|error| failed(below, &error))?;
    match &source.origin {
        Origin::Made { description } => {
            let made = Description::parse(description, &source.name).map_err(of_corpus)?;
            make(&made, source, path, stop)
        }
        Origin::Own { path: own } => copy(own, path, stop),
    }
}

/// Makes a directory that everybody may read who gets there, whatever the umask says.
fn open_dir(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Makes the directory of a stage, for sources at `place`. Nobody else gets into it.
pub(crate) fn make_dir(dir: &Path, place: SourcePlace) -> Result<(), RunError> {
    private::create_dir(dir).map_err(|error| RunError::Target {
        error: format!("{}: {error}", dir.display()),
        remedy: Some(match place {
            SourcePlace::Memory => "use source = \"other\"".to_owned(),
            _ => "choose another directory with --image-dir".to_owned(),
        }),
    })
}

/// Gives the directory of a stage to the user who does the work.
pub(crate) fn give_to(dir: &Path, user: UserIds) -> Result<(), RunError> {
    chown(dir, Some(user.uid), Some(user.gid)).map_err(|error| {
        RunError::target(
            format!("{}: cannot be given to user {}: {error}", dir.display(), user.uid),
            Some("leave --user out, or use a file system with owners"),
        )
    })
}

/// Whether two workloads work with the same thing at the same place outside the file system under
/// test, or both with one that is put or made there.
pub(crate) fn is_same(a: &Source, b: &Source) -> bool {
    // Two archives lie on the disk, wherever they are put later.
    let place = |source: &Source| (source.is_staged(), source.place == SourcePlace::Memory);
    (&a.origin, a.archive, place(a)) == (&b.origin, b.archive, place(b))
}

/// Whether two workloads work with the same contents from the same origin, wherever they lie.
pub(crate) fn is_of_same(a: &Source, b: &Source) -> bool {
    (&a.origin, a.archive, a.contents) == (&b.origin, b.archive, b.contents)
}

/// Writes a generated tree or archive, and waits until it is on the disk: what is written back in
/// the middle of a trial would be part of it.
fn make(made: &Description, source: &Source, path: &Path, stop: Stop<'_>) -> Result<(), RunError> {
    let tree = made.tree();
    let io = |error: io::Error| failed(path, &error);
    if let Some(compression) = source.archive {
        let file = File::create_new(path).map_err(io)?;
        file.set_permissions(Permissions::from_mode(0o644)).map_err(io)?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let archived = tree.archive(compression, &mut out, &|| stop());
        unless_stopped(archived, stop)?;
        out.flush().map_err(io)?;
        out.get_ref().sync_all().map_err(io)
    } else {
        open_dir(path).map_err(io)?;
        let dir = File::open(path).map_err(io)?;
        // One processor is for the calls.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = processors.saturating_sub(1).max(1);
        unless_stopped(tree.write(dir.as_fd(), threads.min(THREADS_MAX), stop), stop)?;
        rustix::fs::syncfs(&dir).map_err(|errno| io(errno.into()))
    }
}

fn copy(own: &Path, to: &Path, stop: &dyn Fn() -> bool) -> Result<(), RunError> {
    let tool = cmd::find("cp").ok_or_else(|| {
        RunError::target("cp is not installed".to_owned(), Some("install the package coreutils"))
    })?;
    let arguments = ["-a".as_ref(), "--".as_ref(), own.as_os_str(), to.as_os_str()];
    match cmd::run_until(&tool, &arguments, COPY_LIMIT, stop) {
        Ok(_) => Ok(()),
        Err(CmdError::Stopped { .. }) => Err(RunError::Stopped),
        Err(error) => Err(RunError::target(
            format!("{} cannot be copied to {}: {error}", own.display(), to.display()),
            None,
        )),
    }
}

/// Where there was no room after all (an archive can be larger than the guess, inodes run out), it
/// is told where, and what to do.
fn with_remedy(error: RunError, dir: &Path, place: SourcePlace) -> RunError {
    match error {
        RunError::Target { error, remedy: None }
            if NO_ROOM.iter().any(|words| error.contains(words)) =>
        {
            let remedy = Some(more_room(place == SourcePlace::Memory));
            RunError::Target { error: format!("{}: {error}", dir.display()), remedy }
        }
        other => other,
    }
}

fn more_room(in_memory: bool) -> String {
    let elsewhere = if in_memory { "source = \"other\"" } else { "--image-dir with more room" };
    format!("use --scale below 1, or {elsewhere}")
}

/// A stop is no failure.
fn unless_stopped<T>(done: Result<T, CorpusError>, stop: Stop<'_>) -> Result<T, RunError> {
    done.map_err(|error| if stop() { RunError::Stopped } else { of_corpus(error) })
}

fn of_corpus(error: CorpusError) -> RunError {
    RunError::target(error.to_string(), None)
}

fn failed(path: &Path, error: &io::Error) -> RunError {
    RunError::target(format!("{}: {error}", path.display()), None)
}

/// Refuses data of the user's that have changed in number or size since the plan was made or lie
/// elsewhere by now, and data within which something of ours would be written: a copy of them would
/// have no end.
pub(crate) fn check_own(
    plan: &RunPlan,
    source: &Source,
    places: StagingDirs<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let Origin::Own { path } = &source.origin else { return Ok(()) };
    // The plan has the path that links led to.
    if let Ok(led_to) = path.canonicalize()
        && led_to != *path
    {
        let changes =
            format!("the data {} are reached by a link, to {}", path.display(), led_to.display());
        return Err(RunError::Changed { changes });
    }
    let real = resolved(path);
    let directories = plan.contenders.iter().filter_map(|c| match &c.levels.device {
        DeviceLevel::Directory { path } => Some(path.as_path()),
        _ => None,
    });
    let ours = [places.disk, places.memory, places.state].into_iter().chain(directories);
    if let Some(within) = ours.into_iter().find(|dir| resolved(dir).starts_with(&real)) {
        return Err(RunError::target(
            format!(
                "the data {} contain {}, where this RUN writes",
                path.display(),
                within.display()
            ),
            Some("name a smaller directory, or move the other (--image-dir, --on)"),
        ));
    }
    let surveyed = own::survey(path, stop);
    let now =
        surveyed.map_err(|error| if stop() { RunError::Stopped } else { of_corpus(error) })?;
    let (archive, contents) = match now {
        own::Own::Tree(contents) => (None, contents),
        own::Own::Archive(compression, contents) => (Some(compression), contents),
    };
    if (archive, contents) == (source.archive, source.contents) {
        return Ok(());
    }
    Err(RunError::Changed {
        changes: format!(
            "the data {}: were {}, are {}",
            path.display(),
            words(&source.contents),
            words(&contents)
        ),
    })
}

fn words(contents: &Contents) -> String {
    format!("{} entries with {}", contents.entries(), Bytes(contents.bytes))
}

/// Refuses a stage that does not fit next to the images, before anything is written.
pub(crate) fn check_room(dir: &Path, stage_bytes: u64, image_bytes: u64) -> Result<(), RunError> {
    if stage_bytes == 0 {
        return Ok(());
    }
    let stat = rustix::fs::statvfs(dir).map_err(|errno| failed(dir, &errno.into()))?;
    let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
    let margin_bytes = if image_bytes > 0 { IMAGE_MARGIN_BYTES } else { 0 };
    let needed_bytes = [stage_bytes, image_bytes, margin_bytes].into_iter();
    if free_bytes >= needed_bytes.fold(0, u64::saturating_add) {
        return Ok(());
    }
    let images = match image_bytes {
        0 => String::new(),
        bytes => format!(", images {} and a margin", Bytes(bytes)),
    };
    Err(RunError::target(
        format!(
            "{}: the data of the work need {} there{images}; {} are free",
            dir.display(),
            Bytes(stage_bytes),
            Bytes(free_bytes)
        ),
        Some(&more_room(dir == Path::new(MEMORY_DIR))),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::job::Compression;
    use fsarena_testkit::records;
    use std::os::unix::fs::MetadataExt as _;

    fn source(origin: Origin, place: SourcePlace, archive: Option<Compression>) -> Source {
        let contents = Contents::default();
        Source { name: "test".to_owned(), origin, place, archive, contents }
    }

    #[test]
    fn what_is_staged_once_serves_all() {
        let dir = tempfile::tempdir().unwrap();
        let made = Origin::Made { description: fsarena_corpus::small(20, 300, 2).to_toml() };
        let packed = source(made.clone(), SourcePlace::Same, Some(Compression::Gzip));
        let other = source(made.clone(), SourcePlace::Other, Some(Compression::Gzip));
        let tree = source(made, SourcePlace::Other, None);
        let mut stage = StagedSources::default();
        stage.add(&packed, dir.path(), &|| false).unwrap();
        stage.add(&tree, dir.path(), &|| false).unwrap();
        let archive = stage.path_of(&packed).unwrap();
        assert_eq!(stage.path_of(&other), Some(archive.clone()));
        let own::Own::Archive(Compression::Gzip, contents) =
            own::survey(&archive, &|| false).unwrap()
        else {
            panic!("a gzip archive was asked for");
        };
        let own::Own::Tree(written) =
            own::survey(&stage.path_of(&tree).unwrap(), &|| false).unwrap()
        else {
            panic!("a tree was asked for");
        };
        assert_eq!((written.files, written.bytes), (20, 6000));
        assert_eq!((contents.files, contents.dirs), (written.files, written.dirs));
        let stopped = stage.add(&packed, dir.path(), &|| true);
        assert!(matches!(stopped, Err(RunError::Stopped)), "{stopped:?}");
    }

    #[test]
    fn own_data_stay_where_they_are_unless_they_go_to_memory() {
        let stage = StagedSources::default();
        let own = Origin::Own { path: "/data".into() };
        let at = |place| stage.path_of(&source(own.clone(), place, None));
        assert_eq!(at(SourcePlace::Same), Some(PathBuf::from("/data")));
        assert_eq!(at(SourcePlace::Other), Some(PathBuf::from("/data")));
        assert_eq!(at(SourcePlace::Memory), None);
    }

    #[test]
    fn a_tree_that_is_made_on_the_file_system_under_test_is_no_staged_one() {
        let dir = tempfile::tempdir().unwrap();
        let made = Origin::Made { description: fsarena_corpus::small(3, 10, 0).to_toml() };
        let [same, other] =
            [SourcePlace::Same, SourcePlace::Other].map(|place| source(made.clone(), place, None));
        assert!(!is_same(&same, &other) && is_of_same(&same, &other));
        let mut stage = StagedSources::default();
        stage.add(&other, dir.path(), &|| false).unwrap();
        assert_eq!(stage.path_of(&same), None);
        assert!(stage.path_of(&other).is_some());
    }

    #[test]
    fn a_stage_is_for_the_user_of_the_work_alone() {
        let dir = tempfile::tempdir().unwrap();
        let ours = dir.path().join("stage");
        make_dir(&ours, SourcePlace::Other).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&ours), 0o700);
        let told = make_dir(&ours, SourcePlace::Memory).unwrap_err().to_string();
        assert!(told.contains("source = \"other\"") && !told.contains("--image-dir"), "{told}");
        // He may read it whatever the umask of who makes it.
        let made = Origin::Made { description: fsarena_corpus::small(3, 10, 0).to_toml() };
        let mut stage = StagedSources::default();
        let tree = source(made.clone(), SourcePlace::Other, None);
        let archive = source(made, SourcePlace::Same, Some(Compression::None));
        for (source, wanted) in [(tree, 0o755), (archive, 0o644)] {
            stage.add(&source, &ours, &|| false).unwrap();
            let path = stage.path_of(&source).unwrap();
            assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o755, wanted));
        }
        let user = |uid| UserIds { uid, gid: uid };
        if rustix::process::geteuid().is_root() {
            give_to(&ours, user(65534)).unwrap();
            let meta = fs::metadata(&ours).unwrap();
            assert_eq!((meta.uid(), meta.gid(), mode(&ours)), (65534, 65534, 0o700));
        } else {
            let told = give_to(&ours, user(0)).unwrap_err().to_string();
            assert!(told.contains("leave --user out"), "{told}");
        }
    }

    #[test]
    fn a_copy_into_memory_can_be_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own");
        fs::write(&own, "mine").unwrap();
        let own = source(Origin::Own { path: own }, SourcePlace::Memory, None);
        let mut stage = StagedSources::default();
        let to = dir.path().join("copy");
        let Origin::Own { path } = &own.origin else { unreachable!() };
        let stopped = copy(path, &to, &|| true);
        assert!(matches!(stopped, Err(RunError::Stopped)), "{stopped:?}");
        stage.add(&own, dir.path(), &|| false).unwrap();
        assert_eq!(fs::read(stage.path_of(&own).unwrap()).unwrap(), b"mine");
    }

    #[test]
    fn want_of_room_is_told_with_the_place() {
        let dir = Path::new("/dev/shm/fsarena-x-stage");
        let of = |error: &str, place| with_remedy(failed_with(error), dir, place).to_string();
        let told = of("mkdirat d: No space left on device (os error 28)", SourcePlace::Memory);
        let wanted = "/dev/shm/fsarena-x-stage: mkdirat d: No space left on device (os error 28); \
                      use --scale below 1, or source = \"other\"";
        assert_eq!(told, wanted);
        let told = of("cp: Disk quota exceeded", SourcePlace::Other);
        assert!(told.ends_with("or --image-dir with more room"), "{told}");
        assert_eq!(of("cp: bad", SourcePlace::Other), "cp: bad");
    }

    fn failed_with(error: &str) -> RunError {
        RunError::target(error.to_owned(), None)
    }

    #[test]
    fn own_data_that_a_link_leads_to_by_now_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        let (own, moved) = (real.join("own"), real.join("moved"));
        fs::create_dir(&own).unwrap();
        fs::write(own.join("file"), "mine").unwrap();
        let own::Own::Tree(contents) = own::survey(&own, &|| false).unwrap() else { panic!() };
        let origin = Origin::Own { path: own.clone() };
        let source = Source { contents, ..source(origin, SourcePlace::Same, None) };
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let plan = records::header(contenders, vec![records::big_file()], 1).plan;
        let elsewhere = Path::new("/nonexistent");
        let places = StagingDirs { disk: elsewhere, memory: elsewhere, state: elsewhere };
        check_own(&plan, &source, places, &|| false).unwrap();
        fs::rename(&own, &moved).unwrap();
        std::os::unix::fs::symlink(&moved, &own).unwrap();
        let told = check_own(&plan, &source, places, &|| false).unwrap_err();
        assert!(matches!(told, RunError::Changed { .. }), "{told}");
        assert!(told.to_string().contains(&moved.display().to_string()), "{told}");
    }

    #[test]
    fn a_stage_has_to_fit() {
        let dir = tempfile::tempdir().unwrap();
        assert!(check_room(dir.path(), 1, 1).is_ok());
        assert!(check_room(dir.path(), 0, u64::MAX).is_ok(), "the claim of the image tells");
        for (stage, images) in [(u64::MAX, 0), (1, u64::MAX)] {
            let error = check_room(dir.path(), stage, images).unwrap_err().to_string();
            assert!(error.contains("are free") && error.contains("--scale"), "{error}");
            assert_eq!(error.contains("images"), images > 0, "{error}");
        }
    }
}
