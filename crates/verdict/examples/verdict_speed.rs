//! How long the verdicts of many trials take.
//!
//! `cargo run --release -p fsarena-verdict --example verdict_speed -- PATH` reads the latest RUN of
//! a database, such as `many_trials` of `fsarena-store` makes, and prints the times of reading its
//! scores and of finding and describing the verdicts.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use fsarena_store::Store;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("which database?")?;
    let store = Store::open_read_only(Path::new(&path))?;
    let run = store.find("latest")?;
    let begun = Instant::now();
    let header = store.header(run)?;
    let scores = store.scores(run)?;
    let (stop, looks) = (store.stop(run)?, store.looks(run)?);
    let read = begun.elapsed();
    let begun = Instant::now();
    let verdicts = fsarena_verdict::verdicts(&header, &scores, stop, &looks);
    let found = begun.elapsed();
    println!(
        "study of {} trials: scores {:.2} s, verdicts {:.2} s",
        scores.len(),
        read.as_secs_f64(),
        found.as_secs_f64()
    );
    verdicts.map(drop).ok_or_else(|| "nothing was found".into())
}
