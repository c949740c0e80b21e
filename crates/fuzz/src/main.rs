//! `fsarena-fuzz`: targets listed, one run on files, all fuzzed blindly. For tests and for whoever
//! mends what was found.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // A command talks to whoever runs it.

use clap::Parser;
use fsarena_fuzz::{TARGETS, Target, blind, target};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Memory of the process: one that wants more is ended, and the input is a finding.
const MEMORY_MOST_BYTES: u64 = 4 << 30;

/// Parsers of foreign input, with inputs that nobody wrote. Exit codes: 0 nothing found, 1
/// something found, 2 wrong usage.
#[derive(Parser)]
#[command(name = "fsarena-fuzz")]
enum Task {
    /// Lists the targets.
    List,
    /// Runs a target on files, such as those that were found.
    Replay { target: String, files: Vec<PathBuf> },
    /// Runs all targets on their corpus and on changed inputs, as long as there is time.
    Blind {
        /// For all targets together.
        #[arg(long, default_value_t = 30)]
        seconds: u64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Directory of what is found.
        #[arg(long, default_value = "target/fuzz/artifacts")]
        artifacts: PathBuf,
        /// Only these.
        targets: Vec<String>,
        #[arg(long, hide = true)]
        inside: bool,
    },
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::List => {
            for target in TARGETS {
                println!("{:<18} {}", target.name, target.reads);
            }
            Ok(true)
        }
        Task::Replay { target, files } => replay(&target, &files),
        Task::Blind { seconds, seed, artifacts, targets, inside } => {
            if let Some(name) = targets.iter().find(|name| target(name).is_none()) {
                return unknown(name);
            }
            let time = Duration::from_secs(seconds);
            let options = blind::Options { time, seed, artifacts };
            if inside { fuzz(&targets, &options) } else { supervise(&targets, &options) }
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fsarena-fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

fn unknown(name: &str) -> ExitCode {
    eprintln!("fsarena-fuzz: there is no target {name:?}; `fsarena-fuzz list` names them");
    ExitCode::from(2)
}

fn replay(name: &str, files: &[PathBuf]) -> io::Result<bool> {
    let Some(target) = target(name) else {
        eprintln!("fsarena-fuzz: there is no target {name:?}; `fsarena-fuzz list` names them");
        return Ok(false);
    };
    let mut all_hold = true;
    for path in files {
        let holds = blind::holds(target, &std::fs::read(path)?);
        println!("{}: {}", path.display(), if holds { "ok" } else { "fails" });
        all_hold &= holds;
    }
    Ok(all_hold)
}

/// Fuzzes in a process of its own, with limits: what ends it is a finding like others.
fn supervise(targets: &[String], options: &blind::Options) -> io::Result<bool> {
    let dir = &options.artifacts;
    blind::take_under_way(dir)?;
    let status = Command::new(std::env::current_exe()?)
        .args(["blind", "--inside"])
        .args(["--seconds", &options.time.as_secs().to_string()])
        .args(["--seed", &options.seed.to_string(), "--artifacts"])
        .arg(dir)
        .args(targets)
        .status()?;
    if status.code().is_some_and(|code| code < 2) {
        return Ok(status.success());
    }
    if let Some((name, file)) = blind::take_under_way(dir)? {
        println!("{name}: an input has ended the process ({status})");
        print_how_to_repeat(&name, &file);
    }
    Ok(false)
}

fn fuzz(names: &[String], options: &blind::Options) -> io::Result<bool> {
    let limit = Some(MEMORY_MOST_BYTES);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit })?;
    println!("{:<18} {:>9} {:>9}", "target", "runs", "runs/s");
    let is_meant =
        |target: &&Target| names.is_empty() || names.iter().any(|name| name == target.name);
    let targets: Vec<&'static Target> = TARGETS.iter().filter(is_meant).collect();
    let lines = blind::run(&targets, options, |line| {
        let rate = line.runs as f64 / line.elapsed.as_secs_f64().max(1e-9);
        println!("{:<18} {:>9} {rate:>9.0}", line.name, line.runs);
        for file in &line.findings {
            print_how_to_repeat(line.name, file);
        }
    })?;
    let runs: u64 = lines.iter().map(|line| line.runs).sum();
    let findings: usize = lines.iter().map(|line| line.findings.len()).sum();
    println!("{} targets, {runs} runs, {findings} findings", lines.len());
    Ok(findings == 0)
}

fn print_how_to_repeat(name: &str, file: &std::path::Path) {
    println!("  found; repeat it: cargo run -p fsarena-fuzz -- replay {name} {}", file.display());
}
