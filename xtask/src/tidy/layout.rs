//! Rules about the shape of files: columns, length, names.

use super::lines;
use super::tree::{Finding, Tree};

/// Widest line; rustfmt keeps code to it and leaves comments and strings alone.
const COLUMNS: usize = 100;
/// A file longer than this must be cut into modules.
const LINES_MAX: usize = 800;
/// A file larger than this is no source; copies of other people's files (`vendor/`) do not count.
const BYTES_MAX: u64 = 256 << 10;
/// Files of ours that may be larger, with the reason.
const LARGE: &[(&str, &str)] = &[];
/// Names that say nothing about the contents, so that everything ends up inside.
const CATCH_ALL: &[&str] = &["util", "utils", "misc", "common", "helper", "helpers", "stuff"];

/// Lines of at most 100 characters.
///
/// Left out: text that spans lines and raw strings (golden blocks), comments with a URL, and
/// manifests, where a dependency is one line.
pub fn columns(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        let wide = |line: &str| line.chars().count() > COLUMNS;
        let checked = [".rs", ".toml", ".sql", ".sh", ".c"].iter().any(|end| path.ends_with(end));
        if !checked || path.ends_with("Cargo.toml") || !text.lines().any(wide) {
            continue;
        }
        let rust = path.ends_with(".rs").then(|| lines::cut(text));
        for (index, line) in text.lines().enumerate().filter(|(_, line)| wide(line)) {
            let excused = match rust.as_ref().map(|lines| &lines[index]) {
                Some(cut) => cut.in_text || cut.comment.contains("://"),
                None => line.contains("://"),
            };
            if !excused {
                let count = line.chars().count();
                let text = format!("{count} columns of {COLUMNS}; break the line");
                findings.push(Finding::new(path, index + 1, text));
            }
        }
    }
    findings
}

/// Files that can be read in one sitting.
pub fn file_length(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        let count = text.lines().count();
        if count > LINES_MAX {
            let text = format!("{count} lines of {LINES_MAX}; split it into modules");
            findings.push(Finding::new(path, count, text));
        }
    }
    findings
}

/// Nothing large that is made by a program, or belongs elsewhere.
pub fn large_files(tree: &Tree) -> Vec<Finding> {
    let is_large = |(path, bytes): &(&str, u64)| {
        *bytes > BYTES_MAX && LARGE.iter().all(|(large, _)| large != path)
    };
    let finding = |(path, bytes)| {
        let text = format!(
            "{bytes} bytes of {BYTES_MAX}; make it when it is needed, or put it on the list in \
             xtask/src/tidy/layout.rs with the reason"
        );
        Finding::new(path, 1, text)
    };
    tree.sizes().filter(is_large).map(finding).collect()
}

/// No module or directory named after nothing.
pub fn catch_all_modules(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in tree.paths().filter(|path| path.ends_with(".rs")) {
        let mut names = path.split('/').map(|part| part.trim_end_matches(".rs"));
        let catch_all = names.find(|name| CATCH_ALL.contains(name));
        if let Some(name) = catch_all {
            let text = format!("`{name}` catches all; name the module after what is in it");
            findings.push(Finding::new(path, 1, text));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No line was found.
    const NONE: [usize; 0] = [];

    fn check(rule: fn(&Tree) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        rule(&Tree::fake(&[(path, text)])).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn large_files_are_made_when_they_are_needed() {
        let most = "x".repeat(BYTES_MAX as usize);
        assert_eq!(check(large_files, "docs/schemas/run.schema.json", &most), NONE);
        assert_eq!(check(large_files, "docs/schemas/run.schema.json", &(most + "x")), [1]);
    }

    #[test]
    fn wide_lines() {
        let wide = "x".repeat(101);
        let path = "crates/plan/src/a.rs";
        assert_eq!(check(columns, path, &format!("// a\n// {wide}\n")), [2]);
        assert_eq!(check(columns, path, &format!("let a = \"{wide}\";\n")), [1]);
        assert_eq!(check(columns, path, &format!("// https://example.org/{wide}\n")), NONE);
        assert_eq!(check(columns, path, &format!("let a = r\"{wide}\";\n")), NONE);
        assert_eq!(check(columns, path, &format!("f(\"\n{wide}\n\");\n")), NONE);
        assert_eq!(check(columns, path, &format!("{}\n", "é".repeat(100))), NONE);
        assert_eq!(check(columns, "experiments/a.toml", &format!("# {wide}\n")), [1]);
        assert_eq!(check(columns, "Cargo.toml", &format!("# {wide}\n")), NONE);
        assert_eq!(check(columns, "reference/a.csv", &format!("{wide}\n")), NONE);
    }

    #[test]
    fn long_files() {
        let of = |count: usize| "//\n".repeat(count);
        let found = |count| file_length(&Tree::fake(&[("crates/plan/src/a.rs", &of(count))])).pop();
        assert_eq!(found(800), None);
        assert_eq!(found(801).map(|found| found.line), Some(801));
    }

    #[test]
    fn catch_all_modules_are_found_by_their_name() {
        assert_eq!(check(catch_all_modules, "crates/plan/src/util.rs", ""), [1]);
        assert_eq!(check(catch_all_modules, "crates/common/src/lib.rs", ""), [1]);
        assert_eq!(check(catch_all_modules, "crates/plan/tests/helpers/mod.rs", ""), [1]);
        assert_eq!(check(catch_all_modules, "crates/plan/src/utilisation.rs", ""), NONE);
        assert_eq!(check(catch_all_modules, "docs/common.md", ""), NONE);
    }
}
