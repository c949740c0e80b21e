//! Asks the linker for packed relative relocations (DT_RELR): a megabyte less of the program. The C
//! library has to know them, as glibc does since 2.36, so they are asked for where the program is
//! built for the machine that builds it and the library there is new enough.

use std::fs;

const SINCE: (u32, u32) = (2, 36);
/// What the linker's C library says of itself (features.h of glibc).
const FEATURES: &str = "/usr/include/features.h";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|found| found == value);
    let is_gnu = is("CARGO_CFG_TARGET_ENV", "gnu") && is("CARGO_CFG_TARGET_OS", "linux");
    let is_native =
        std::env::var("HOST").is_ok() && std::env::var("HOST") == std::env::var("TARGET");
    if is_gnu && is_native && glibc_version().is_some_and(|version| version >= SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// `(2, 36)` of `#define __GLIBC__ 2` and `#define __GLIBC_MINOR__ 36`.
fn glibc_version() -> Option<(u32, u32)> {
    let text = fs::read_to_string(FEATURES).ok()?;
    let number = |name: &str| {
        text.lines().find_map(|line| {
            let mut words = line.strip_prefix('#')?.split_whitespace();
            let is_it = words.next() == Some("define") && words.next() == Some(name);
            is_it.then(|| words.next()?.parse().ok()).flatten()
        })
    };
    Some((number("__GLIBC__")?, number("__GLIBC_MINOR__")?))
}
