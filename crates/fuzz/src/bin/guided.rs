//! libFuzzer over the targets: which of them is in `FSARENA_FUZZ_TARGET`. `cargo xtask fuzz` builds
//! this with the instructions that count what code is reached, and starts it once a target.
//!
//! With `FSARENA_FUZZ_SEEDS` it writes the seeds of all targets into that directory, says their
//! names, shares and longest inputs, and ends.
#![no_main]
#![allow(clippy::print_stdout, clippy::print_stderr)] // Read by the task that started it.

use fsarena_fuzz::{TARGETS, Target, target, write_seeds};
use std::path::Path;
use std::process::exit;
use std::sync::OnceLock;

static CHOSEN: OnceLock<&Target> = OnceLock::new();

fn choose() {
    if let Some(dir) = std::env::var_os("FSARENA_FUZZ_SEEDS") {
        if let Err(error) = write_seeds(Path::new(&dir)) {
            eprintln!("{}: {error}", Path::new(&dir).display());
            exit(2);
        }
        for target in TARGETS {
            println!("{} {} {}", target.name, target.shares, target.most_bytes);
        }
        exit(0);
    }
    let name = std::env::var("FSARENA_FUZZ_TARGET").unwrap_or_default();
    let Some(chosen) = target(&name) else {
        eprintln!("FSARENA_FUZZ_TARGET={name}: there is no such target");
        exit(2);
    };
    CHOSEN.get_or_init(|| chosen);
}

libfuzzer_sys::fuzz_target!(init: choose(), |data: &[u8]| {
    if let Some(chosen) = CHOSEN.get() {
        (chosen.run)(data);
    }
});
