//! Which Rust files the compiler reaches, and which of them are tests.
//!
//! Follows `mod name;` from each crate root. Modules declared inside an inline `mod { … }` are not
//! followed: the house has none.

use std::collections::BTreeMap;

use super::lines::{self, Line};
use super::tree::{Finding, Tree, join, parent};

/// Every Rust file that is compiled; the value says whether it is compiled for tests only.
pub fn reached(tree: &Tree) -> BTreeMap<String, bool> {
    let mut todo = roots(tree);
    let mut found: BTreeMap<String, bool> = BTreeMap::new();
    while let Some(Visit { file, root, test }) = todo.pop() {
        // A file that tests and the program share is the program's.
        if found.get(&file).is_some_and(|&before| test || !before) {
            continue;
        }
        let Some(text) = tree.text(&file) else { continue };
        for module in declared(&file, root, text) {
            let known = module.candidates.into_iter().find(|path| tree.text(path).is_some());
            if let Some(file) = known {
                todo.push(Visit { file, root: false, test: test || module.test });
            }
        }
        found.insert(file, test);
    }
    found
}

/// Rust files that no module declares.
pub fn dead_files(tree: &Tree) -> Vec<Finding> {
    let reached = reached(tree);
    tree.ending(".rs")
        .filter(|(path, _)| !reached.contains_key(*path))
        .map(|(path, _)| {
            let text =
                "no module declares this file, so nothing compiles it; add `mod` or delete it";
            Finding::new(path, 1, text)
        })
        .collect()
}

/// A file to be read.
pub struct Visit {
    pub file: String,
    root: bool,
    test: bool,
}

/// A `mod name;`.
pub struct Declared {
    pub name: String,
    /// The files it may stand for.
    pub candidates: Vec<String>,
    /// It is for tests only.
    pub test: bool,
}

/// The roots cargo finds by itself, and those a manifest names with `path`.
pub fn roots(tree: &Tree) -> Vec<Visit> {
    let mut roots = Vec::new();
    for (manifest, text) in tree.ending("Cargo.toml") {
        let dir = parent(manifest);
        let for_tests = ["testkit", "fuzz"].iter().any(|name| dir.ends_with(name));
        for (path, _) in tree.ending(".rs") {
            let inside = if dir.is_empty() { Some(path) } else { path.strip_prefix(dir) };
            let Some(inside) = inside.map(|rest| rest.trim_start_matches('/')) else { continue };
            if let Some(test) = root_kind(inside) {
                roots.push(Visit { file: path.to_owned(), root: true, test: test || for_tests });
            }
        }
        let Ok(table) = text.parse::<toml::Table>() else { continue };
        for (kind, test) in [("lib", false), ("bin", false), ("test", true), ("bench", true)] {
            let entries = match table.get(kind) {
                Some(toml::Value::Array(entries)) => entries.iter().collect(),
                Some(entry) => vec![entry],
                None => Vec::new(),
            };
            for path in entries.into_iter().filter_map(|entry| entry.get("path")?.as_str()) {
                let file = join(dir, path).unwrap_or_default();
                roots.push(Visit { file, root: true, test });
            }
        }
    }
    roots
}

/// `Some(for tests only)` if a path inside a package is a crate root.
fn root_kind(inside: &str) -> Option<bool> {
    let parts: Vec<&str> = inside.split('/').collect();
    match parts.as_slice() {
        ["src", "lib.rs" | "main.rs"] | ["build.rs"] | ["src", "bin", _] => Some(false),
        ["src", "bin", _, "main.rs"] | ["examples", _] => Some(false),
        ["tests" | "benches", _] | ["tests" | "benches", _, "main.rs"] => Some(true),
        _ => None,
    }
}

/// Each `mod name;` of a file; `root` says that the file is the root of a crate.
pub fn declared(file: &str, root: bool, text: &str) -> Vec<Declared> {
    let (raw, lines): (Vec<&str>, Vec<Line>) = (text.lines().collect(), lines::cut(text));
    let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".rs");
    let dir = if root || stem == "mod" {
        parent(file).to_owned()
    } else {
        format!("{}/{stem}", parent(file))
    };
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = module_name(&line.code) else { continue };
        let candidates = match path_attribute(&raw[..=index]) {
            Some(path) => join(parent(file), &path).into_iter().collect(),
            None => vec![format!("{dir}/{name}.rs"), format!("{dir}/{name}/mod.rs")],
        };
        found.push(Declared { name: name.to_owned(), candidates, test: line.in_test });
    }
    found
}

/// `name` of `mod name;` with any visibility and attributes before it on the line.
fn module_name(code: &str) -> Option<&str> {
    let code = code.trim().strip_suffix(';')?;
    let (before, name) = code.rsplit_once("mod ")?;
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let whole = before.is_empty() || before.ends_with([' ', ')', ']']);
    (plain && whole).then_some(name)
}

/// The path of `#[path = "…"]` on the last line or on the attribute lines just above it.
fn path_attribute(raw: &[&str]) -> Option<String> {
    let (last, above) = raw.split_last()?;
    let attributes = above.iter().rev().take_while(|line| line.trim_start().starts_with("#["));
    std::iter::once(last).chain(attributes).find_map(|line| {
        let (_, rest) = line.split_once("#[path = \"")?;
        Some(rest.split_once('"')?.0.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: (&str, &str) =
        ("crates/plan/Cargo.toml", "[package]\nname = \"fsarena-plan\"\n");

    #[test]
    fn files_reached_through_modules_are_alive() {
        let tree = Tree::fake(&[
            MANIFEST,
            ("crates/plan/src/lib.rs", "mod a;\npub(crate) mod b;\n#[cfg(test)]\nmod tests;\n"),
            ("crates/plan/src/a.rs", "mod inner;\n"),
            ("crates/plan/src/a/inner.rs", ""),
            ("crates/plan/src/b/mod.rs", "#[path = \"../odd.rs\"]\nmod c;\n"),
            ("crates/plan/src/odd.rs", ""),
            ("crates/plan/src/tests.rs", "mod deep;\n"),
            ("crates/plan/src/tests/deep.rs", ""),
            ("crates/plan/tests/order.rs", "mod shared;\n"),
            ("crates/plan/tests/shared/mod.rs", ""),
        ]);
        assert_eq!(dead_files(&tree), []);
        let reached = reached(&tree);
        let tests: Vec<&str> =
            reached.iter().filter(|(_, test)| **test).map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            tests,
            [
                "crates/plan/src/tests.rs",
                "crates/plan/src/tests/deep.rs",
                "crates/plan/tests/order.rs",
                "crates/plan/tests/shared/mod.rs",
            ]
        );
    }

    #[test]
    fn undeclared_files_are_dead() {
        let tree = Tree::fake(&[
            MANIFEST,
            ("crates/plan/src/lib.rs", "// mod a;\nconst T: &str = \"mod a;\";\n"),
            ("crates/plan/src/a.rs", ""),
        ]);
        let findings = dead_files(&tree);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].file, "crates/plan/src/a.rs");
    }

    #[test]
    fn a_path_in_the_manifest_is_a_root() {
        let manifest = "[package]\nname = \"x\"\n[[bin]]\nname = \"x\"\npath = \"odd/x.rs\"\n";
        let tree = Tree::fake(&[("crates/x/Cargo.toml", manifest), ("crates/x/odd/x.rs", "")]);
        assert_eq!(dead_files(&tree), []);
    }

    #[test]
    fn module_names() {
        assert_eq!(module_name("    pub(crate) mod a_b;"), Some("a_b"));
        assert_eq!(module_name("#[cfg(test)] mod tests;"), Some("tests"));
        assert_eq!(module_name("mod tests {"), None);
        assert_eq!(module_name("let x = method mod;"), None);
    }
}
