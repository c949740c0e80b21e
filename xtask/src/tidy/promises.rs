//! What the documents on safety promise is held by tests, named in [`TABLE`].
//!
//! Each paragraph, item and row of a table has at least one row there: words of it, and the test
//! that fails where they are not true any more, or `- ` and why there is none.

use super::tree::{Finding, Tree};
use std::collections::BTreeSet;

/// Document, words of it, and a test (`FILE::FUNCTION`), with tabs between them.
const TABLE: &str = "docs/promises.tsv";
const DOCUMENTS: &[&str] = &["SECURITY.md", "docs/device-safety.md"];

/// Every promise has a test that is there, and every row of the table a promise.
pub fn promises(tree: &Tree) -> Vec<Finding> {
    let (mut findings, mut held) = (Vec::new(), BTreeSet::new());
    for (index, line) in tree.text(TABLE).unwrap_or_default().lines().enumerate().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [document, words, test] = fields[..] else {
            let text = "a row has a document, words and a test, with tabs between them";
            findings.push(Finding::new(TABLE, index + 1, text));
            continue;
        };
        let blocks = tree.text(document).map(blocks).unwrap_or_default();
        let Some((line, _)) = blocks.iter().find(|(_, text)| text.contains(words)) else {
            let text =
                format!("`{words}` is not in {document}: correct this row, and see its test");
            findings.push(Finding::new(TABLE, index + 1, text));
            continue;
        };
        held.insert((document, *line));
        if !test.starts_with("- ") && !is_test(tree, test) {
            let text = format!("there is no test {test}: name what holds `{words}`");
            findings.push(Finding::new(TABLE, index + 1, text));
        }
    }
    for document in DOCUMENTS {
        let blocks = tree.text(document).map(blocks).unwrap_or_default();
        let open = blocks.iter().filter(|(line, _)| !held.contains(&(*document, *line)));
        findings.extend(open.map(|(line, _)| {
            Finding::new(document, *line, format!("name in {TABLE} the test that holds this"))
        }));
    }
    findings
}

/// Whether `FILE::FUNCTION` is there.
fn is_test(tree: &Tree, test: &str) -> bool {
    let Some((file, function)) = test.split_once("::") else { return false };
    tree.text(file).is_some_and(|text| text.contains(&format!("fn {function}(")))
}

/// Paragraphs, items and rows of tables, with the line on which each begins; without headings,
/// heads of tables and code. Blanks are as wide as one.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if line.starts_with("|--") {
            // What stands above it is the head.
            all.pop();
        }
        if is_fence || is_code || line.trim().is_empty() || line.starts_with(['#']) {
            is_open = false;
        } else if line.starts_with("|--") {
            is_open = true;
        } else {
            let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
            match all.last_mut() {
                Some((_, last)) if is_open && !line.starts_with("* ") && !line.starts_with('|') => {
                    last.push(' ');
                    last.push_str(&words);
                }
                _ => all.push((index + 1, words)),
            }
            is_open = true;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: (&str, &str) = ("crates/a/src/a.rs", "#[test]\nfn it_holds() {}\n");
    const TEXT: &str = "# Devices\n\nNothing is\ntouched.\n\n* One item\n  on two lines.\n* Another.\n\n\
                        | what | who |\n|---|---|\n| a row | ours |\n\n```\ncode\n```\n";

    fn broken(table: &str) -> Vec<(String, usize)> {
        let files = [TESTS, ("docs/device-safety.md", TEXT), ("docs/promises.tsv", table)];
        let findings = promises(&Tree::fake(&files));
        findings.into_iter().map(|one| (one.file, one.line)).collect()
    }

    #[test]
    fn every_paragraph_item_and_row_has_a_test() {
        let own =
            |words: &str| format!("docs/device-safety.md\t{words}\tcrates/a/src/a.rs::it_holds\n");
        let all = ["Nothing is touched", "One item on two", "Another", "a row | ours"].map(own);
        assert_eq!(broken(&format!("head\n{}", all.concat())), []);
        let some =
            format!("head\n{}docs/device-safety.md\tAnother\t- describes\n", own("Nothing is"));
        let of = |line| ("docs/device-safety.md".to_owned(), line);
        assert_eq!(broken(&some), [of(6), of(12)]);
    }

    #[test]
    fn a_row_names_words_and_a_test_that_are_there() {
        let rest = "docs/device-safety.md\tNothing is\t- a\ndocs/device-safety.md\tOne item\t- a\n\
                    docs/device-safety.md\tAnother\t- a\ndocs/device-safety.md\ta row\t- a\n";
        for row in [
            "docs/device-safety.md\tSomething is\t- a",
            "docs/device-safety.md\tNothing is\tcrates/a/src/a.rs::it_fell",
            "docs/device-safety.md\tNothing is",
        ] {
            let found = broken(&format!("head\n{rest}{row}\n"));
            assert_eq!(found, [("docs/promises.tsv".to_owned(), 6)], "{row}");
        }
    }
}
