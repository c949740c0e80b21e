//! The size of the workspace in figures: `cargo xtask tidy --figures`.
//!
//! A line of code is one that is neither blank nor comment; a string that spans lines is code. It
//! belongs to the tests if it is under `#[cfg(test)]` or `#[test]`, in a file that only tests
//! compile, or in a crate that only tests use. Files are counted with all their lines.

use std::fmt::Write;

use super::lines::{self, Line};
use super::tree::Tree;
use super::{circles, modules};

/// A file with fewer lines is hard to find anything in but its name.
const SMALL_LINES: usize = 60;

/// The figures, one a line.
pub fn describe(tree: &Tree) -> String {
    let reached = modules::reached(tree);
    let (mut code, mut tests, mut files, mut small) = (0, 0, 0, 0);
    let mut longest = (0, "");
    for (path, text) in tree.ending(".rs") {
        let whole = reached.get(path) == Some(&true);
        for line in lines::cut(text).iter().filter(|line| is_code(line)) {
            if whole || line.in_test { tests += 1 } else { code += 1 }
        }
        let length = text.lines().count();
        files += 1;
        small += usize::from(length < SMALL_LINES);
        longest = longest.max((length, path));
    }
    let crates = tree.ending("/Cargo.toml").filter(|(path, _)| path.starts_with("crates/")).count();
    let mut text = String::new();
    let mut figure = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<32}{value}");
    };
    figure("code lines without tests", code.to_string());
    figure("code lines of tests", tests.to_string());
    figure("files", files.to_string());
    figure(&format!("files under {SMALL_LINES} lines"), small.to_string());
    figure("longest file", format!("{} {}", longest.0, longest.1));
    figure("module circles", circles::count(tree).to_string());
    figure("crates", format!("{crates} and xtask"));
    text
}

/// Neither blank nor comment.
fn is_code(line: &Line) -> bool {
    line.in_text || !line.code.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let source = "//! A crate.\n\nfn a() {\n    // why\n    b(\"x\n\n  y\");\n}\n\n\
                      #[cfg(test)]\nmod tests {\n}\n";
        let tree = Tree::fake(&[
            ("crates/plan/Cargo.toml", "[package]\nname = \"fsarena-plan\"\n"),
            ("crates/plan/src/lib.rs", source),
            ("crates/plan/tests/it.rs", "//! Tests.\n\n#[test]\nfn a() {}\n"),
        ]);
        let text = describe(&tree);
        let value = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).expect("a figure");
            line[name.len()..].trim().to_owned()
        };
        assert_eq!(value("code lines without tests"), "5");
        assert_eq!(value("code lines of tests"), "5");
        assert_eq!((value("files  "), value("files under 60 lines")), ("2".into(), "2".into()));
        assert_eq!(value("longest file"), "12 crates/plan/src/lib.rs");
        assert_eq!((value("module circles"), value("crates")), ("0".into(), "1 and xtask".into()));
    }
}
