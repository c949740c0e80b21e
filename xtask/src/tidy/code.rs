//! Rules about Rust code: processes, module docs, names, unfinished work. What clippy and rustc
//! refuse by themselves (unwrap, unsafe, `todo!`) is in `[workspace.lints]`.

use super::lines::{self, Line};
use super::modules;
use super::tree::{Finding, Tree};

/// Where processes are started by a name or a path: in the crate that vets it, and in what only
/// builds and tests use. Everybody else has a `TrustedProgram`.
const MAY_SPAWN: &[&str] = &[
    "crates/cli/build.rs",
    "crates/fuzz/src/main.rs",
    "crates/process/",
    "crates/testkit/",
    "xtask/",
];

/// Calls that make something for one user alone, or that others could reach.
const PRIVATE: &[&str] =
    &["UnixListener::bind", "tempdir_in(", "tempdir()", "mode(0o700)", "mode(0o600)"];
/// Where they are made: one place; a lock that nobody is answered at; the database; what only tests
/// and maintenance use.
const MAY_MAKE_PRIVATE: &[&str] = &[
    "crates/cli/src/commands/open.rs",
    "crates/devices/src/device_lock.rs",
    "crates/fuzz/",
    "crates/process/src/private.rs",
    "crates/testkit/",
    "xtask/",
];

/// No function is called so.
const VAGUE_FUNCTIONS: &[&str] = &["of", "look", "said", "told", "heard"];
/// No type is called so.
const VAGUE_TYPES: &[&str] = &["Place", "Said", "Wanted", "Look"];

/// Shorter than this, a module's first line says nothing that its name does not.
const SHORTEST_DOC_CHARS: usize = 20;

/// Processes are started in few places, so that few places have to end them.
pub fn processes(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, lines) in program_files(tree).filter(|(path, _)| !is_below(path, MAY_SPAWN)) {
        for number in spawns(&lines) {
            let text = "starts a process; use a TrustedProgram of fsarena_process (processes are \
                        started there only)";
            findings.push(Finding::new(path, number, text));
        }
    }
    findings
}

/// What is for one user alone is so whatever the umask says, and is made in one place.
pub fn private_places(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, lines) in program_files(tree).filter(|(path, _)| !is_below(path, MAY_MAKE_PRIVATE)) {
        for (number, line) in numbered(&lines).filter(|(_, line)| !line.in_test) {
            if PRIVATE.iter().any(|call| line.code.contains(call)) {
                let text = "makes a private directory, file or socket; use \
                            fsarena_process::private, which no umask opens";
                findings.push(Finding::new(path, number, text));
            }
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

/// Names that so many things had that a search for them found nothing.
pub fn vague_names(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        for (number, line) in numbered(&lines::cut(text)) {
            let code = line.code.trim_start();
            let function = named(code, &["fn"], VAGUE_FUNCTIONS);
            let kind = named(code, &["struct", "enum", "type", "trait"], VAGUE_TYPES);
            let Some(name) = function.or(kind) else { continue };
            let text = format!("`{name}` says nothing; give it a noun or a verb of its own");
            findings.push(Finding::new(path, number, text));
        }
    }
    findings
}

/// The one of `names` that an item of one of `kinds` is given in `code`.
fn named(code: &str, kinds: &[&str], names: &[&'static str]) -> Option<&'static str> {
    let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.by_ref().find(|word| kinds.contains(word))?;
    let name = words.next()?;
    names.iter().copied().find(|vague| *vague == name)
}

/// Nothing is left for later in the code: neither notes to self, nor sleeping tests.
pub fn unfinished(tree: &Tree) -> Vec<Finding> {
    const NOTES: &[&str] = &["FIXME", "TODO", "XXX"];
    const SLEEPING: &str = "a test that never runs; let it print `not run: reason` and return, or \
                            delete it";
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        for (number, line) in numbered(&lines::cut(text)) {
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
pub fn program_files(tree: &Tree) -> impl Iterator<Item = (&str, Vec<Line>)> {
    let reached = modules::reached(tree);
    tree.ending(".rs")
        .filter(move |(path, _)| reached.get(*path) != Some(&true))
        .map(|(path, text)| (path, lines::cut(text)))
}

pub fn numbered(lines: &[Line]) -> impl Iterator<Item = (usize, &Line)> {
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
    fn private_things_are_made_in_one_place() {
        let check = |path, text| lines_of(private_places, path, text);
        let made = "UnixListener::bind(path)?;\nBuilder::new().tempdir_in(base)?;\n\
                    DirBuilder::new().mode(0o700);\nFile::create(path)?;\n";
        assert_eq!(check("crates/runner/src/lib.rs", made), [1, 2, 3]);
        assert_eq!(check("crates/process/src/private.rs", made), NONE);
        assert_eq!(check("crates/plan/tests/run.rs", made), NONE);
        let test = "#[cfg(test)]\nmod tests {\n let dir = tempfile::tempdir().unwrap();\n}\n";
        assert_eq!(check("crates/runner/src/lib.rs", test), NONE);
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
        for path in ["crates/devices/src/mount.rs", "crates/worker/src/program/fio.rs"] {
            assert_eq!(check(path, import), [1]);
        }
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
    fn vague_names_are_refused() {
        let check = |text| lines_of(vague_names, "crates/plan/src/a.rs", text);
        assert_eq!(check("fn of(x: u8) {}\npub(crate) fn said<T>() {}\n"), [1, 2]);
        assert_eq!(check("    pub const fn look(&self) {}\n"), [1]);
        assert_eq!(check("pub struct Place {\n}\nenum Look {}\ntype Said = u8;\n"), [1, 3, 4]);
        assert_eq!(check("fn of_user() {}\nlet of = 1;\nstruct Looks;\n// fn of()\n"), NONE);
    }

    #[test]
    fn nothing_is_left_for_later() {
        let check = |path, text| lines_of(unfinished, path, text);
        assert_eq!(
            check("crates/plan/src/a.rs", "// FIXME: later\n#[ignore = \"slow\"]\n"),
            [1, 2]
        );
        assert_eq!(check("crates/plan/src/a.rs", "let t = \"TODO FIXME\"; // mkXXXX\n"), NONE);
        assert_eq!(check("experiments/a.toml", "# TODO more\n"), [1]);
        assert_eq!(check("experiments/a.toml", "name = \"a\"\n"), NONE);
    }
}
