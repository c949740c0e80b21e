//! What makes the program smaller: texts are compressed, and the linker is asked for what it can.

use flate2::{Compression, write::DeflateEncoder};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Texts that the program carries: files, and directories with all files directly in them.
const TEXTS: [&str; 8] = [
    "CHANGELOG.md",
    "README.md",
    "applications/README.md",
    "crates/plan/FORMAT.md",
    "crates/store/schema.md",
    "devices/README.md",
    "docs",
    "docs/examples/README.md",
];
/// Their schemas, in `docs`.
const SCHEMAS: &str = "docs/schemas";

/// Options of the linker, each used where an empty program that was linked with it runs on this
/// machine. Packed relative relocations (DT_RELR) need a C library that knows them, as glibc does
/// since 2.36; lld alone makes one of functions with the same code.
const LINK_OPTIONS: [&str; 2] = ["-Wl,-z,pack-relative-relocs", "-Wl,--icf=all"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env("OUT_DIR"));
    compress_texts(&out.join("texts"));
    let is_linux = env("CARGO_CFG_TARGET_OS") == "linux" && env("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_linux && env("HOST") == env("TARGET") {
        for option in LINK_OPTIONS.into_iter().filter(|option| is_understood(option, &out)) {
            println!("cargo::rustc-link-arg-bins={option}");
        }
    }
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Writes each text, compressed, below `to`, by its path in the repository.
fn compress_texts(to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in TEXTS.into_iter().chain([SCHEMAS]) {
        let path = root.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_file() {
            compress(&path, &to.join(name));
            continue;
        }
        let entries = fs::read_dir(&path).expect("a directory of texts");
        for entry in entries.map(|entry| entry.expect("an entry of it")) {
            if entry.path().is_file() {
                compress(&entry.path(), &to.join(name).join(entry.file_name()));
            }
        }
    }
}

fn compress(from: &Path, to: &Path) {
    let text = fs::read(from).expect("a text");
    let mut encoder = DeflateEncoder::new(vec![], Compression::best());
    encoder.write_all(&text).expect("memory takes everything");
    let compressed = encoder.finish().expect("memory takes everything");
    fs::create_dir_all(to.parent().expect("a path below OUT_DIR")).expect("a directory in OUT_DIR");
    fs::write(to, compressed).expect("a file in OUT_DIR");
}

/// Whether an empty program can be linked with `option` as the program will be, and runs here.
fn is_understood(option: &str, out: &Path) -> bool {
    let (source, program) = (out.join("empty.rs"), out.join("empty"));
    fs::write(&source, "fn main() {}\n").expect("a file in OUT_DIR");
    let mut rustc = Command::new(env("RUSTC"));
    rustc.arg(&source).arg("-o").arg(&program).arg(format!("-Clink-arg={option}"));
    let flags = env("CARGO_ENCODED_RUSTFLAGS");
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = std::env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let is_linked = rustc.output().is_ok_and(|output| output.status.success());
    is_linked && Command::new(&program).status().is_ok_and(|status| status.success())
}
