//! `cargo xtask fuzz`: every parser of foreign input with what nobody wrote, guided by the code
//! that an input reaches.
//!
//! The engine is libFuzzer: one program with all targets, built with the instructions that report
//! coverage, which a stable compiler has, into a directory of its own. Each target gets its share
//! of the time, as many at a time as there are processors. What is found is kept as files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fsarena_process::cmd::find;

use crate::test::processes::{End, Ended, Session, call, cargo};

/// What the compiler has to put into the code: counters of edges, and the operands of comparisons.
const COVERAGE: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// One input that takes longer is a finding, seconds.
const INPUT_LIMIT_S: u32 = 60;
/// Memory of one process, MiB.
const MEMORY_LIMIT_MIB: u32 = 3072;
/// Largest input that is put into the repository, and all of one target's, bytes.
const KEPT_INPUT_BYTES: u64 = 2048;
const KEPT_MOST_BYTES: u64 = 16 << 10;
/// What a process may take beyond its share before it is stopped.
const GRACE: Duration = Duration::from_secs(120);

/// What is fuzzed, and for how long.
#[derive(clap::Args)]
pub struct Options {
    /// Time for all targets together.
    #[arg(long, default_value_t = 60)]
    minutes: u32,
    /// Put what was newly reached, made as small as it can be, into the corpus of the repository.
    #[arg(long)]
    keep: bool,
    /// Only these targets; `cargo run -p fsarena-fuzz -- list` names them.
    targets: Vec<String>,
}

/// A target as the program names it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    name: String,
    shares: u32,
    most_bytes: u64,
}

/// What became of a target.
#[derive(Debug, Default)]
struct Outcome {
    runs: u64,
    elapsed: Duration,
    /// Edges of the code that were reached.
    coverage: u64,
    /// Inputs that reach something, those of the corpus among them.
    inputs: u64,
    /// What was found, each with the first words of why.
    findings: Vec<(PathBuf, String)>,
    /// Why it did not run to its end.
    broken: Option<String>,
}

/// Where everything lies.
struct Dirs {
    fuzz: PathBuf,
    seeds: PathBuf,
    repository: PathBuf,
}

/// Fuzzes; `Ok(false)` if something was found, or nothing could be run.
pub fn run(options: &Options) -> anyhow::Result<bool> {
    if find("c++").is_none() {
        println!("not run: fuzz: no C++ compiler (c++); install the package g++");
        return Ok(false);
    }
    let root = crate::tidy::root();
    let time = Duration::from_secs(60 * u64::from(options.minutes));
    let dirs = Dirs {
        fuzz: root.join("target/fuzz"),
        seeds: root.join("target/fuzz/seeds"),
        repository: root.join("crates/fuzz/corpus"),
    };
    let session = Session::start(root, time * 2 + Duration::from_secs(3600), false)?;
    let program = build(&session, &dirs)?;
    let all = targets(&session, &program, &dirs)?;
    let chosen = choose(&all, &options.targets)?;
    let lanes = std::thread::available_parallelism().map_or(1, usize::from);
    println!("fuzz: {} targets, {} min, {lanes} at a time", chosen.len(), options.minutes);
    let outcomes = fuzz(&session, &program, &dirs, &shares(&chosen, time, lanes), lanes)?;
    let found = report(&chosen, &outcomes);
    if options.keep {
        for target in &chosen {
            keep(&session, &program, &dirs, target)?;
        }
    }
    Ok(found == 0 && session.over().is_none())
}

/// Builds the instrumented program.
fn build(session: &Session, dirs: &Dirs) -> anyhow::Result<PathBuf> {
    let Ended { end, text } = session.run("rustc version", call("rustc").arg("-vV"));
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
    let Some(host) = host else { bail!("rustc -vV: {end:?}: {text}") };
    let own = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags = format!("{own} {}", COVERAGE.join(" "));
    let dir = dirs.fuzz.join("build");
    let mut command = cargo();
    // With a target that is named, the flags are those of the program and not of build scripts.
    command
        .args(["build", "--profile", "fuzz", "--package", "fsarena-fuzz", "--features", "guided"])
        .args(["--bin", "fsarena-fuzz-guided", "--target", &host, "--target-dir"])
        .arg(&dir)
        .env("RUSTFLAGS", flags.trim())
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    println!("fuzz: building, into {}", dir.display());
    let Ended { end, text } = session.run("fuzz build", &mut command);
    match end {
        End::Good => Ok(dir.join(host).join("fuzz/fsarena-fuzz-guided")),
        End::Bad(how) | End::Stopped(how) => bail!("the build of the targets: {how}\n{text}"),
    }
}

/// Has the seeds written, and reads which targets there are.
fn targets(session: &Session, program: &Path, dirs: &Dirs) -> anyhow::Result<Vec<Target>> {
    match fs::remove_dir_all(&dirs.seeds) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", dirs.seeds.display()));
        }
        _ => fs::create_dir_all(&dirs.seeds)?,
    }
    let mut command = call(program);
    command.env("FSARENA_FUZZ_SEEDS", &dirs.seeds);
    let Ended { end, text } = session.run("fuzz seeds", &mut command);
    match end {
        End::Good => Ok(text.lines().filter_map(target).collect()),
        End::Bad(how) | End::Stopped(how) => bail!("the seeds of the targets: {how}\n{text}"),
    }
}

/// A line `NAME SHARES BYTES`.
fn target(line: &str) -> Option<Target> {
    let mut words = line.split(' ');
    let name = words.next()?.to_owned();
    let (shares, most_bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(Target { name, shares, most_bytes })
}

fn choose(all: &[Target], names: &[String]) -> anyhow::Result<Vec<Target>> {
    if let Some(name) = names.iter().find(|name| all.iter().all(|known| known.name != **name)) {
        let known: Vec<&str> = all.iter().map(|target| target.name.as_str()).collect();
        bail!("there is no target {name:?}; known: {}", known.join(", "));
    }
    let is_meant = |target: &&Target| names.is_empty() || names.contains(&target.name);
    Ok(all.iter().filter(is_meant).cloned().collect())
}

/// Each target with its time. Where there are fewer targets than processors, one takes several: as
/// many rows of it, which share what they find.
fn shares(targets: &[Target], time: Duration, lanes: usize) -> Vec<(Target, Duration)> {
    let rows = lanes.div_ceil(targets.len().max(1)).max(1);
    let all: u32 = targets.iter().map(|target| target.shares).sum();
    let lane_time = time * u32::try_from(lanes).unwrap_or(1) / u32::try_from(rows).unwrap_or(1);
    let mut found = Vec::new();
    for target in targets {
        let own = (lane_time * target.shares / all.max(1)).min(time);
        found.extend((0..rows).map(|_| (target.clone(), own)));
    }
    // The long ones first, so that no processor waits at the end.
    found.sort_by_key(|(_, own)| std::cmp::Reverse(*own));
    found
}

/// Runs all, `lanes` at a time; outcomes by the name of the target.
fn fuzz(
    session: &Session,
    program: &Path,
    dirs: &Dirs,
    rows: &[(Target, Duration)],
    lanes: usize,
) -> anyhow::Result<Vec<(String, Outcome)>> {
    let next = Mutex::new(rows.iter().enumerate());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let row = next.lock().ok().and_then(|mut next| next.next());
                let Some((number, (target, time))) = row else { return Ok(()) };
                if session.over().is_some() {
                    return Ok(());
                }
                let outcome = fuzz_one(session, program, dirs, (target, *time, number))?;
                if let Ok(mut done) = done.lock() {
                    let (name, many) = (&target.name, done.len() + 1);
                    println!("  [{many}/{}] {name}: {}", rows.len(), outcome.words());
                    done.push((name.clone(), outcome));
                }
            }
        };
        let all: Vec<_> = (0..lanes).map(|_| scope.spawn(work)).collect();
        all.into_iter().try_for_each(|lane| -> anyhow::Result<()> {
            lane.join().map_err(|_| anyhow::anyhow!("a lane has ended"))?
        })
    })?;
    Ok(done.into_inner().unwrap_or_default())
}

/// One process of one target.
fn fuzz_one(
    session: &Session,
    program: &Path,
    dirs: &Dirs,
    (target, time, number): (&Target, Duration, usize),
) -> anyhow::Result<Outcome> {
    let name = &target.name;
    let (own, artifacts) =
        (dirs.fuzz.join("corpus").join(name), dirs.fuzz.join("artifacts").join(name));
    fs::create_dir_all(&own)?;
    fs::create_dir_all(&artifacts)?;
    // In memory, where there is some: databases are synced.
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory } else { &dirs.fuzz };
    let scratch = tempfile::Builder::new().prefix("fsarena-fuzz-").tempdir_in(base)?;
    let mut command = call(program);
    command
        .arg(format!("-max_total_time={}", time.as_secs().max(1)))
        .arg(format!("-timeout={INPUT_LIMIT_S}"))
        // Files of inputs that were only slow would be taken for findings.
        .arg(format!("-report_slow_units={INPUT_LIMIT_S}"))
        .arg(format!("-rss_limit_mb={MEMORY_LIMIT_MIB}"))
        .arg(format!("-max_len={}", target.most_bytes))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-print_final_stats=1", "-use_value_profile=1", "-reload=30"])
        .arg(&own)
        .arg(dirs.repository.join(name))
        .arg(dirs.seeds.join(name))
        .env("FSARENA_FUZZ_TARGET", name)
        .env("TMPDIR", scratch.path());
    fs::create_dir_all(dirs.repository.join(name))?;
    let before = list(&artifacts)?;
    let began = Instant::now();
    let until = began + time + GRACE;
    let log = format!("fuzz {name} {number}");
    let job = session.begin(&log, &mut command).map_err(anyhow::Error::msg)?;
    let Ended { end, text } = session.wait(job, until);
    let mut outcome = read_log(&text);
    outcome.elapsed = began.elapsed();
    let new = list(&artifacts)?.into_iter().filter(|path| !before.contains(path));
    outcome.findings = new.map(|path| (path, reason(&text))).collect();
    if let End::Bad(how) | End::Stopped(how) = end
        && outcome.findings.is_empty()
    {
        outcome.broken = Some(format!("{how}: {}", reason(&text)));
    }
    // A directory that nothing was put into is not left in the repository.
    let _ = fs::remove_dir(dirs.repository.join(name));
    Ok(outcome)
}

fn list(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?;
    Ok(entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?)
}

/// The figures in what libFuzzer printed.
fn read_log(text: &str) -> Outcome {
    let mut outcome = Outcome::default();
    for line in text.lines() {
        if let Some(runs) = line.strip_prefix("stat::number_of_executed_units:") {
            outcome.runs = runs.trim().parse().unwrap_or(0);
        }
        // #4096	pulse  cov: 511 ft: 1200 corp: 40/3000b lim: 43 exec/s: 2048 rss: 60Mb
        let words: Vec<&str> = line.split_whitespace().collect();
        let behind = |word: &str| {
            let at = words.iter().position(|known| *known == word)?;
            words.get(at + 1)?.split('/').next()?.parse().ok()
        };
        if let (true, Some(coverage)) = (line.starts_with('#'), behind("cov:")) {
            outcome.coverage = coverage;
            outcome.inputs = behind("corp:").unwrap_or(outcome.inputs);
        }
    }
    outcome
}

/// Why an input is a finding: the panic, or what libFuzzer says.
fn reason(text: &str) -> String {
    let mut lines = text.lines();
    let panic = lines.by_ref().find(|line| line.contains("panicked at "));
    if let Some(panic) = panic {
        let place = panic.split_once("panicked at ").map_or(panic, |(_, place)| place);
        return format!("{place} {}", lines.next().unwrap_or_default()).trim_end().to_owned();
    }
    let said = text.lines().find(|line| line.contains("ERROR: libFuzzer: "));
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    said.or(last).unwrap_or("no output").to_owned()
}

impl Outcome {
    fn rate(&self) -> f64 {
        self.runs as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    fn words(&self) -> String {
        match (&self.broken, self.findings.len()) {
            (Some(why), _) => format!("did not run to its end: {why}"),
            (None, 0) => format!("{} runs, {:.0}/s", self.runs, self.rate()),
            (None, found) => format!("{} runs, {found} found", self.runs),
        }
    }
}

/// Prints a line a target and what was found; how much was found, or broken.
fn report(targets: &[Target], outcomes: &[(String, Outcome)]) -> usize {
    let head = ["target", "runs", "runs/s", "edges", "inputs", "found"];
    let [target, runs, rate, edges, inputs, found] = head;
    println!("\n{target:<18} {runs:>10} {rate:>8} {edges:>7} {inputs:>7} {found:>5}");
    let (mut all, mut sum) = (0, 0);
    for target in targets {
        let own: Vec<&Outcome> =
            outcomes.iter().filter(|(name, _)| *name == target.name).map(|(_, one)| one).collect();
        let runs: u64 = own.iter().map(|one| one.runs).sum();
        let rate: f64 = own.iter().map(|one| one.rate()).sum();
        let most = |of: fn(&Outcome) -> u64| own.iter().map(|one| of(one)).max().unwrap_or(0);
        let (edges, inputs) = (most(|one| one.coverage), most(|one| one.inputs));
        let found: usize = own.iter().map(|one| one.findings.len()).sum();
        let name = &target.name;
        println!("{name:<18} {runs:>10} {rate:>8.0} {edges:>7} {inputs:>7} {found:>5}");
        all += found + own.iter().filter(|one| one.broken.is_some()).count();
        sum += runs;
    }
    for (name, outcome) in outcomes {
        for (path, why) in &outcome.findings {
            println!("\n{name}: {why}\n  {}", path.display());
            println!("  repeat it: cargo run -p fsarena-fuzz -- replay {name} {}", path.display());
        }
        if let Some(why) = &outcome.broken {
            println!("\n{name}: did not run to its end: {why}");
        }
    }
    println!("\nfuzz: {} targets, {sum} runs, {all} found; logs in target/xtask", targets.len());
    all
}

/// Adds to the corpus of the repository what reaches code that neither it nor the seeds reach, the
/// smallest inputs first and as many as there is room for.
fn keep(session: &Session, program: &Path, dirs: &Dirs, target: &Target) -> anyhow::Result<()> {
    let (to, name) = (dirs.repository.join(&target.name), &target.name);
    fs::create_dir_all(&to)?;
    let scratch = tempfile::Builder::new().prefix("fsarena-fuzz-").tempdir()?;
    let known = scratch.path().join("known");
    fs::create_dir(&known)?;
    for path in list(&to)?.into_iter().chain(list(&dirs.seeds.join(name))?) {
        fs::copy(&path, known.join(path.file_name().unwrap_or_default()))?;
    }
    let before = list(&known)?;
    let mut command: Command = call(program);
    command
        .args(["-merge=1", &format!("-max_len={KEPT_INPUT_BYTES}")])
        .args([&known, &dirs.fuzz.join("corpus").join(name)])
        .env("FSARENA_FUZZ_TARGET", name)
        .env("TMPDIR", scratch.path());
    let Ended { end, text } = session.run(&format!("fuzz keep {name}"), &mut command);
    if let End::Bad(how) | End::Stopped(how) = end {
        bail!("the corpus of {name}: {how}\n{text}");
    }
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |meta| meta.len());
    let mut new: Vec<PathBuf> =
        list(&known)?.into_iter().filter(|path| !before.contains(path)).collect();
    new.sort_by_key(size);
    let mut bytes: u64 = list(&to)?.iter().map(size).sum();
    for path in new {
        bytes += size(&path);
        if bytes > KEPT_MOST_BYTES {
            break;
        }
        fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
    }
    let _ = fs::remove_dir(&to);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[(&str, u32)]) -> Vec<Target> {
        let one = |(name, shares): &(&str, u32)| Target {
            name: (*name).to_owned(),
            shares: *shares,
            most_bytes: 10,
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn the_time_is_shared_by_all_processors() {
        let seconds = |targets: &[Target], minutes: u64, lanes| {
            let rows = shares(targets, Duration::from_secs(60 * minutes), lanes);
            rows.into_iter().map(|(target, own)| (target.name, own.as_secs())).collect::<Vec<_>>()
        };
        let three = named(&[("a", 1), ("b", 4), ("c", 1)]);
        let of = |name: &str, s: u64| (name.to_owned(), s);
        assert_eq!(seconds(&three, 1, 1), [of("b", 40), of("a", 10), of("c", 10)]);
        // No target takes longer than all of it.
        assert_eq!(seconds(&three, 1, 2), [of("b", 60), of("a", 20), of("c", 20)]);
        assert_eq!(seconds(&three[..1], 1, 2), [of("a", 60), of("a", 60)]);
    }

    #[test]
    fn lines_of_the_program_are_targets() {
        let read = target("mountinfo 2 65536").unwrap();
        assert_eq!((read.name.as_str(), read.shares, read.most_bytes), ("mountinfo", 2, 65536));
        assert_eq!(target("INFO: Running with entropic power schedule"), None);
        let all = named(&[("a", 1), ("b", 1)]);
        assert_eq!(choose(&all, &[]).unwrap(), all);
        assert_eq!(choose(&all, &["b".to_owned()]).unwrap(), all[1..]);
        let error = choose(&all, &["c".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no target \"c\"; known: a, b"), "{error}");
    }

    #[test]
    fn figures_and_reasons_are_read_of_a_log() {
        let log = "INFO: seed corpus: files: 3\n\
                   #2\tINITED cov: 300 ft: 301 corp: 2/3b exec/s: 0 rss: 50Mb\n\
                   #4096\tpulse  cov: 511 ft: 1200 corp: 40/3000b lim: 43 exec/s: 2048 rss: 60Mb\n\
                   thread '<unnamed>' panicked at crates/a/src/b.rs:7:3:\nattempt to add with overflow\n\
                   ==1== ERROR: libFuzzer: deadly signal\n\
                   stat::number_of_executed_units: 4711\n";
        let outcome = read_log(log);
        assert_eq!((outcome.runs, outcome.coverage, outcome.inputs), (4711, 511, 40));
        assert_eq!(reason(log), "crates/a/src/b.rs:7:3: attempt to add with overflow");
        let slow = "x\n==2== ERROR: libFuzzer: timeout after 60 seconds\nlast\n";
        assert_eq!(reason(slow), "==2== ERROR: libFuzzer: timeout after 60 seconds");
        assert_eq!(reason("cannot start\n\n"), "cannot start");
    }
}
