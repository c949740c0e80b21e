//! Blind fuzzing: known inputs changed at random, by a fixed seed, in the ordinary build.
//!
//! Each target gets its share of the time. An input that panics or takes too long is kept as a
//! file; one that ends the process (a stack or a memory that is too small) is in the file of the
//! input under way, which is written before each run.

use crate::inputs::inputs;
use crate::mutate::{Random, changed};
use crate::target::Target;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An input that takes longer has made something hang: far beyond the slowest one on a machine
/// whose processors are all busy.
pub const HANG: Duration = Duration::from_secs(60);
/// How often the input under way is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What is fuzzed, for how long, and where findings go.
#[derive(Clone, Debug)]
pub struct Options {
    /// For all targets together.
    pub time: Duration,
    /// Everything follows from it, but for how far the time reaches.
    pub seed: u64,
    /// Directory of what is found, a directory a target.
    pub artifacts: PathBuf,
}

/// What became of a target.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: &'static str,
    /// Inputs that were run: all known ones, and changed ones as long as there was time.
    pub runs: u64,
    pub elapsed: Duration,
    /// Inputs that it fails on, as files.
    pub findings: Vec<PathBuf>,
}

/// Fuzzes one target after the other.
///
/// # Errors
/// When the corpus cannot be read, or a file cannot be written.
pub fn run(
    targets: &[&'static Target],
    options: &Options,
    mut tell: impl FnMut(&Line),
) -> io::Result<Vec<Line>> {
    let shares: u32 = targets.iter().map(|target| target.shares).sum();
    fs::create_dir_all(&options.artifacts)?;
    let watch = Watch::begin(&options.artifacts)?;
    let mut lines = Vec::new();
    for target in targets {
        let time = options.time * target.shares / shares.max(1);
        let line = fuzz(target, time, options, &watch)?;
        tell(&line);
        lines.push(line);
    }
    watch.end()?;
    Ok(lines)
}

/// Runs a target on one input; `false`: it panicked, and has said why.
#[must_use]
pub fn holds(target: &Target, input: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_ok()
}

fn fuzz(
    target: &'static Target,
    time: Duration,
    options: &Options,
    watch: &Watch,
) -> io::Result<Line> {
    let began = Instant::now();
    let known = inputs(target)?;
    let pool: Vec<&[u8]> = known.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let mut random = Random::new(options.seed);
    let mut line =
        Line { name: target.name, runs: 0, elapsed: Duration::ZERO, findings: Vec::new() };
    let mut unchanged = pool.iter();
    // The known ones come first, however long that takes: they have failed before.
    loop {
        let input = match unchanged.next() {
            Some(input) => input.to_vec(),
            None if began.elapsed() >= time || pool.is_empty() => break,
            None => changed(&pool, target.most_bytes, &mut random),
        };
        watch.input(target.name, &input)?;
        line.runs += 1;
        if !holds(target, &input) {
            line.findings.push(keep(&options.artifacts, target.name, "panic", &input)?);
            // One that is found is found again at once.
            break;
        }
    }
    watch.pause();
    line.elapsed = began.elapsed();
    Ok(line)
}

/// Writes an input that was found to its file.
fn keep(artifacts: &Path, name: &str, what: &str, input: &[u8]) -> io::Result<PathBuf> {
    use sha2::{Digest as _, Sha256};
    let dir = artifacts.join(name);
    fs::create_dir_all(&dir)?;
    let digest = Sha256::digest(input);
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let path = dir.join(format!("{what}-{hex}"));
    fs::write(&path, input)?;
    Ok(path)
}

/// Sees to it that the input under way is known when it hangs or ends the process.
struct Watch {
    under_way: Arc<Mutex<Option<UnderWay>>>,
    file: File,
    path: PathBuf,
}

/// An input, the name of its target, and since when it runs.
type UnderWay = (Instant, &'static str, Vec<u8>);

impl Watch {
    fn begin(artifacts: &Path) -> io::Result<Self> {
        let under_way: Arc<Mutex<Option<UnderWay>>> = Arc::default();
        let (weak, dir) = (Arc::downgrade(&under_way), artifacts.to_owned());
        std::thread::spawn(move || {
            // It ends with the fuzzing.
            while let Some(watched) = weak.upgrade() {
                std::thread::sleep(LOOK_EVERY);
                let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((began, name, input)) = watched.as_ref()
                    && began.elapsed() > HANG
                {
                    report_hang(&dir, name, input);
                    std::process::exit(1);
                }
            }
        });
        let path = artifacts.join("under-way");
        Ok(Self { under_way, file: File::create(&path)?, path })
    }

    fn input(&self, name: &'static str, input: &[u8]) -> io::Result<()> {
        // The name first, so that a reader finds the input behind the first line.
        let bytes = [name.as_bytes(), b"\n", input].concat();
        self.file.set_len(bytes.len() as u64)?;
        self.file.write_all_at(&bytes, 0)?;
        let now = Some((Instant::now(), name, input.to_vec()));
        *self.under_way.lock().unwrap_or_else(PoisonError::into_inner) = now;
        Ok(())
    }

    fn pause(&self) {
        *self.under_way.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn end(self) -> io::Result<()> {
        self.pause();
        fs::remove_file(&self.path)
    }
}

#[allow(clippy::print_stderr)] // The process ends here, and says why.
fn report_hang(artifacts: &Path, name: &str, input: &[u8]) {
    let kept = keep(artifacts, name, "hang", input);
    let path = kept.unwrap_or_default();
    eprintln!("{name}: an input takes longer than {} s: {}", HANG.as_secs(), path.display());
}

/// What an earlier process was at when it was ended, as a file of its own: the target's name, and
/// the file. `None`: it came to its end.
///
/// # Errors
/// When that cannot be read or written.
pub fn take_under_way(artifacts: &Path) -> io::Result<Option<(String, PathBuf)>> {
    let path = artifacts.join("under-way");
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    fs::remove_file(&path)?;
    let Some(at) = bytes.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
    let name = String::from_utf8_lossy(&bytes[..at]).into_owned();
    let file = keep(artifacts, &name, "end", &bytes[at + 1..])?;
    Ok(Some((name, file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails where there is a byte that no seed has.
    static FRAGILE: Target = Target {
        name: "fragile",
        reads: "a test",
        shares: 1,
        most_bytes: 100,
        seeds: || vec![vec![b'a'; 20]],
        run: |input| assert!(input.iter().all(|byte| *byte == b'a')),
    };
    static SOUND: Target = Target { name: "sound", run: |_| {}, ..FRAGILE };

    #[test]
    fn what_fails_is_kept_and_what_ends_the_process_is_known() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let artifacts = dir.path().to_owned();
        let time = Duration::from_millis(200);
        let options = Options { time, seed: 1, artifacts: artifacts.clone() };
        let mut told = Vec::new();
        let lines = run(&[&FRAGILE, &SOUND], &options, |line| told.push(line.name));
        let lines = lines.expect("a directory of our own");
        assert_eq!(told, ["fragile", "sound"]);
        assert!(lines[1].runs > 100 && lines[1].findings.is_empty(), "{lines:?}");
        let [found] = lines[0].findings.as_slice() else { panic!("{lines:?}") };
        assert!(found.starts_with(artifacts.join("fragile")));
        let input = fs::read(found).expect("it was kept");
        assert!(!holds(&FRAGILE, &input) && holds(&SOUND, &input));
        assert_eq!(take_under_way(&artifacts).expect("a directory of our own"), None);
        // As it is where the process was ended.
        let watch = Watch::begin(&artifacts).expect("a directory of our own");
        watch.input("sound", b"the\nlast").expect("a directory of our own");
        drop(watch);
        let (name, file) = take_under_way(&artifacts).expect("readable").expect("an input");
        assert_eq!(
            (name.as_str(), fs::read(file).expect("kept")),
            ("sound", b"the\nlast".to_vec())
        );
    }
}
