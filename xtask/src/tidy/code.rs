//! Rules about Rust code: unsafe, processes, module docs, unwraps, unfinished work.

use super::lines::{self, Line};
use super::modules;
use super::tree::{Finding, Tree, parent};

/// Crates that need raw kernel interfaces; there clippy asks for a SAFETY comment on each block.
const MAY_BE_UNSAFE: &[&str] =
    &["crates/engine/", "crates/devices/", "crates/process/", "crates/metrics/"];

/// Where processes are started: external tools; workload programs (fio); the worker; the executor;
/// chores; and what only tests use.
const MAY_SPAWN: &[&str] = &[
    "crates/process/",
    "crates/executor/",
    "crates/runner/",
    "crates/testkit/",
    "crates/worker/src/program/",
    "xtask/",
];

/// Shorter than this, a module's first line says nothing that its name does not.
const SHORTEST_DOC_CHARS: usize = 20;

/// `#![forbid(unsafe_code)]` at the root of every crate but three, and no `unsafe` outside them.
pub fn unsafe_code(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs").filter(|(path, _)| !is_below(path, MAY_BE_UNSAFE)) {
        let root = ["src/lib.rs", "src/main.rs"].iter().any(|end| path.ends_with(end))
            || parent(path).ends_with("src/bin");
        let lines = lines::cut(text);
        if root && !lines.iter().any(|line| line.code.trim() == "#![forbid(unsafe_code)]") {
            let text = "the crate root lacks `#![forbid(unsafe_code)]`; unsafe code belongs into \
                        engine, devices, process or metrics";
            findings.push(Finding::new(path, 1, text));
        }
        for (number, line) in numbered(&lines) {
            if has_word(&line.code, "unsafe") {
                let text = "`unsafe` is allowed in engine, devices, process and metrics only; move \
                            it there";
                findings.push(Finding::new(path, number, text));
            }
        }
    }
    findings
}

/// Processes are started in few places, so that few places have to end them.
pub fn processes(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, lines) in program_files(tree).filter(|(path, _)| !is_below(path, MAY_SPAWN)) {
        for number in spawns(&lines) {
            let text = "starts a process; use fsarena_process::cmd (processes are started in \
                        process, worker/src/program, executor and runner only)";
            findings.push(Finding::new(path, number, text));
        }
    }
    findings
}

/// The numbers of lines that name `std::process::Command` or fork, tests left out.
fn spawns(lines: &[Line]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut in_import = false;
    for (number, line) in numbered(lines).filter(|(_, line)| !line.in_test) {
        let code = line.code.as_str();
        let import = code.find("process::{").map(|at| &code[at..]);
        in_import |= import.is_some();
        let imported = in_import && has_word(import.unwrap_or(code), "Command");
        let called = ["process::Command", "libc::fork", "libc::vfork", "libc::posix_spawn"]
            .iter()
            .any(|name| code.contains(name));
        if imported || called {
            found.push(number);
        }
        in_import &= !code.contains('}') && !code.contains(';');
    }
    found
}

/// Every module opens with what it is, why, and what it must not do.
pub fn module_docs(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
        let words = first.and_then(|line| line.strip_prefix("//!")).map(str::trim);
        let text = match words {
            None => {
                "does not open with `//!`; say what the module is, why, and what it must not do"
            }
            Some(words) if words.chars().count() < SHORTEST_DOC_CHARS => {
                "the first `//!` line says too little; say what the module is and why"
            }
            Some(_) => continue,
        };
        findings.push(Finding::new(path, 1, text));
    }
    findings
}

/// `unwrap` is for tests; elsewhere the reason why it cannot fail is written down.
pub fn unwraps(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, lines) in program_files(tree) {
        for (number, line) in numbered(&lines).filter(|(_, line)| !line.in_test) {
            if line.code.contains(".unwrap()") || line.code.contains("::unwrap(") {
                let text = "`unwrap` outside tests; return the error, or `expect` with the reason";
                findings.push(Finding::new(path, number, text));
            }
        }
    }
    findings
}

/// Nothing is left for later in the code: neither stubs, nor notes to self, nor sleeping tests.
pub fn unfinished(tree: &Tree) -> Vec<Finding> {
    const NOTES: &[&str] = &["FIXME", "TODO", "XXX"];
    const SLEEPING: &str = "a test that never runs; let it print `not run: reason` and return, or \
                            delete it";
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        for (number, line) in numbered(&lines::cut(text)) {
            for stub in ["todo!", "unimplemented!"].iter().filter(|stub| line.code.contains(**stub))
            {
                let text = format!("`{stub}` in committed code; write it or leave the item out");
                findings.push(Finding::new(path, number, text));
            }
            for note in NOTES.iter().filter(|note| has_word(&line.comment, note)) {
                let text = format!("`{note}` in a comment; do it now or open an issue");
                findings.push(Finding::new(path, number, text));
            }
            if line.code.contains("#[ignore") {
                findings.push(Finding::new(path, number, SLEEPING));
            }
        }
    }
    for end in [".toml", ".sql", ".sh", ".yml"] {
        for (path, text) in tree.ending(end) {
            for (index, line) in text.lines().enumerate() {
                for note in NOTES.iter().filter(|note| has_word(line, note)) {
                    let text = format!("`{note}` left behind; do it now or open an issue");
                    findings.push(Finding::new(path, index + 1, text));
                }
            }
        }
    }
    findings
}

/// Path and lines of every file that is compiled into the program, or that nothing reaches.
fn program_files(tree: &Tree) -> impl Iterator<Item = (&str, Vec<Line>)> {
    let reached = modules::reached(tree);
    tree.ending(".rs")
        .filter(move |(path, _)| reached.get(*path) != Some(&true))
        .map(|(path, text)| (path, lines::cut(text)))
}

fn numbered(lines: &[Line]) -> impl Iterator<Item = (usize, &Line)> {
    lines.iter().enumerate().map(|(index, line)| (index + 1, line))
}

fn is_below(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

/// Whether `word` stands in `text` as a whole word.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No line was found.
    const NONE: [usize; 0] = [];

    const PLAN: (&str, &str) = ("crates/plan/Cargo.toml", "[package]\nname = \"fsarena-plan\"\n");

    fn lines_of(rule: fn(&Tree) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        rule(&Tree::fake(&[PLAN, (path, text)])).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn unsafe_is_kept_in_three_crates() {
        let check = |path, text| lines_of(unsafe_code, path, text);
        assert_eq!(check("crates/plan/src/lib.rs", "#![forbid(unsafe_code)]\n"), NONE);
        assert_eq!(check("crates/plan/src/lib.rs", "//! Doc of a crate.\n"), [1]);
        assert_eq!(check("crates/plan/src/lib.rs", "// #![forbid(unsafe_code)]\n"), [1]);
        assert_eq!(check("crates/plan/src/bin/x.rs", "fn main() {}\n"), [1]);
        assert_eq!(check("crates/plan/src/a.rs", "// unsafe\nlet s = \"unsafe\";\n"), NONE);
        assert_eq!(check("crates/plan/tests/a.rs", "fn a() {\n unsafe { b() }\n}\n"), [2]);
        assert_eq!(check("crates/engine/src/lib.rs", "unsafe fn a() {}\n"), NONE);
    }

    #[test]
    fn processes_start_in_few_places() {
        let check = |path, text| lines_of(processes, path, text);
        let import = "use std::process::Command;\n";
        assert_eq!(check("crates/plan/src/lib.rs", import), [1]);
        assert_eq!(
            check("crates/plan/src/lib.rs", "use std::process::{\n Command,\n Stdio,\n};\n"),
            [2]
        );
        assert_eq!(check("crates/plan/src/lib.rs", "use std::{fs, process::{Command}};\n"), [1]);
        assert_eq!(check("crates/plan/src/lib.rs", "let pid = libc::fork();\n"), [1]);
        assert_eq!(
            check("crates/plan/src/lib.rs", "use std::process::{Stdio};\nuse clap::Command;\n"),
            NONE
        );
        assert_eq!(check("crates/plan/src/lib.rs", "use std::process;\nprocess::exit(1);\n"), NONE);
        assert_eq!(
            check(
                "crates/plan/src/lib.rs",
                "#[cfg(test)]\nmod tests {\n use std::process::Command;\n}\n"
            ),
            NONE
        );
        assert_eq!(check("crates/plan/tests/run.rs", import), NONE);
        assert_eq!(check("crates/process/src/cmd.rs", import), NONE);
        assert_eq!(check("crates/devices/src/mount.rs", import), [1]);
    }

    #[test]
    fn modules_say_what_they_are() {
        let check = |text| lines_of(module_docs, "crates/plan/src/a.rs", text);
        assert_eq!(check("//! Reads experiment files; opens nothing.\n"), NONE);
        assert_eq!(check("#![forbid(unsafe_code)]\n//! Reads experiment files.\n"), NONE);
        assert_eq!(check("//! x\n"), [1]);
        assert_eq!(check("// Reads experiment files.\n"), [1]);
        assert_eq!(check(""), [1]);
    }

    #[test]
    fn unwrap_is_for_tests() {
        let check = |path, text| lines_of(unwraps, path, text);
        assert_eq!(check("crates/plan/src/a.rs", "let x = y.unwrap();\n"), [1]);
        assert_eq!(check("crates/plan/src/a.rs", "let x = Option::unwrap(y);\n"), [1]);
        assert_eq!(check("crates/plan/src/a.rs", "let x = y.unwrap_or(1); // .unwrap()\n"), NONE);
        assert_eq!(
            check("crates/plan/src/a.rs", "#[cfg(test)]\nmod t {\n  a.unwrap();\n}\nb.unwrap();\n"),
            [5]
        );
        assert_eq!(check("crates/plan/tests/a.rs", "let x = y.unwrap();\n"), NONE);
    }

    #[test]
    fn nothing_is_left_for_later() {
        let check = |path, text| lines_of(unfinished, path, text);
        assert_eq!(check("crates/plan/src/a.rs", "fn a() { todo!() }\n"), [1]);
        assert_eq!(
            check("crates/plan/src/a.rs", "// FIXME: later\n#[ignore = \"slow\"]\n"),
            [1, 2]
        );
        assert_eq!(check("crates/plan/src/a.rs", "let t = \"TODO FIXME\"; // mkXXXX\n"), NONE);
        assert_eq!(check("experiments/a.toml", "# TODO more\n"), [1]);
        assert_eq!(check("experiments/a.toml", "name = \"a\"\n"), NONE);
    }
}
