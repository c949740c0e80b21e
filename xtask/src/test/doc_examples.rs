//! Which crates have examples in their documentation, so that rustdoc is run for them alone.

use std::fs;
use std::path::Path;

/// Names of the packages below `root/crates` with at least one example that rustdoc would run.
pub fn crates(root: &Path) -> Vec<String> {
    let dirs = fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let with_examples = dirs.filter(|dir| has_examples(&dir.path().join("src")));
    let mut names: Vec<String> =
        with_examples.map(|dir| format!("fsarena-{}", dir.file_name().to_string_lossy())).collect();
    names.sort();
    names
}

fn has_examples(dir: &Path) -> bool {
    fs::read_dir(dir).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return has_examples(&path);
        }
        path.extension().is_some_and(|end| end == "rs")
            && fs::read_to_string(path).is_ok_and(|text| has_example(&text))
    })
}

/// Whether a block of code is opened in a doc comment that is not marked as text.
fn has_example(text: &str) -> bool {
    let mut open = false;
    text.lines().any(|line| {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(kind) = doc.and_then(|doc| doc.trim_start().strip_prefix("```")) else {
            return false;
        };
        open = !open;
        open && matches!(kind.trim(), "" | "rust" | "no_run" | "should_panic")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_told_from_text() {
        assert!(has_example("/// Adds.\n///\n/// ```\n/// add(1);\n/// ```\nfn a() {}\n"));
        assert!(has_example("//! ```rust\n"));
        assert!(!has_example("//! ```text\n//! a b\n//! ```\n"));
        assert!(!has_example("//! ```json\n//! {}\n//! ```\nfn a() {} // ```\n"));
    }

    #[test]
    fn packages_are_named() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("stats", "/// ```\n/// a();\n/// ```\n"), ("plan", "fn a() {}\n")] {
            fs::create_dir_all(dir.path().join("crates").join(name).join("src/deep")).unwrap();
            fs::write(dir.path().join("crates").join(name).join("src/deep/a.rs"), text).unwrap();
        }
        assert_eq!(crates(dir.path()), ["fsarena-stats"]);
    }
}
