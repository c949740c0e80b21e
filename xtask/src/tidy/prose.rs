//! Rules about text: the changelog's form, links that lead nowhere, paths of one machine, plain
//! words, and how many of them there are.

use super::code;
use super::tree::{Finding, Tree, join, parent};

const CHANGELOG: &str = "CHANGELOG.md";
const GROUPS: &[&str] = &["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/// `CHANGELOG.md` keeps to <https://keepachangelog.com/en/1.1.0/>.
pub fn changelog(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(CHANGELOG) else {
        return vec![Finding::new(CHANGELOG, 1, "there is no changelog; keep one")];
    };
    let mut findings = Vec::new();
    let mut fault = |index: usize, text: &str| {
        findings.push(Finding::new(CHANGELOG, index + 1, text));
    };
    if text.lines().next() != Some("# Changelog") {
        fault(0, "the first line is not `# Changelog`");
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut releases = 0;
    let mut in_group = false;
    for (index, line) in lines.iter().enumerate() {
        if let Some(release) = line.strip_prefix("## ") {
            releases += 1;
            in_group = false;
            if releases == 1 && release != "[Unreleased]" {
                fault(index, "the first release is not `## [Unreleased]`; put it there");
            } else if releases > 1 && !is_release(release) {
                fault(index, "a release is written `## [1.2.3] - 2026-01-31`");
            }
        } else if let Some(group) = line.strip_prefix("### ") {
            in_group = true;
            let next = lines[index + 1..].iter().find(|line| !line.is_empty());
            if !GROUPS.contains(&group) {
                fault(index, &format!("unknown group; use one of {}", GROUPS.join(", ")));
            } else if !next.is_some_and(|line| line.starts_with("- ") || line.starts_with("#### "))
            {
                fault(index, "the group is empty; write its entries as `- ` lines or leave it out");
            }
        } else if line.starts_with("- ") && !in_group {
            fault(index, "the entry stands in no group; put it below `### Added`, `### Fixed`, …");
        }
    }
    if releases == 0 {
        fault(0, "there is no `## [Unreleased]`; add it");
    }
    findings
}

/// `[1.2.3] - 2026-01-31`
fn is_release(text: &str) -> bool {
    let Some((version, date)) = text.split_once(" - ") else { return false };
    let version = version.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let numbers = |text: &str, between: char, lengths: &[usize]| {
        let parts: Vec<&str> = text.split(between).collect();
        parts.len() == lengths.len()
            && parts.iter().zip(lengths).all(|(part, &length)| {
                let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
                digits && (length == 0 || part.len() == length)
            })
    };
    version.is_some_and(|version| numbers(version, '.', &[0, 0, 0]))
        && numbers(date, '-', &[4, 2, 2])
}

/// Every link of a Markdown file to another file leads to one.
pub fn links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".md") {
        for (line, target) in link_targets(text) {
            let file = target.split(['#', '?']).next().unwrap_or_default();
            let elsewhere = target.contains("://") || target.starts_with("mailto:");
            if elsewhere || file.is_empty() {
                continue;
            }
            if !join(parent(path), file).is_some_and(|file| tree.has(&file)) {
                let text = format!("the link to `{target}` leads nowhere; correct or remove it");
                findings.push(Finding::new(path, line, text));
            }
        }
    }
    findings
}

/// Line number and target of `[text](target)` and `[name]: target`, code left out.
fn link_targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, prose) in prose_of(text) {
        for (at, _) in prose.match_indices("](") {
            let rest = &prose[at + 2..];
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            found.push((number, target.trim_matches(['<', '>']).to_owned()));
        }
        if let Some((_, target)) = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            found.push((number, target.trim().to_owned()));
        }
    }
    found
}

/// The lines of Markdown with their numbers, code left out.
fn prose_of(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        // Every second piece between backticks is code.
        let prose = || line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        (!in_code).then(|| (index + 1, prose()))
    })
}

/// Words of this project's past that no engineer writes, and what to write.
const NOT_PLAIN: &[(&str, &str)] = &[
    ("is told", "say who tells whom, or `reports`"),
    ("are told", "say who tells whom, or `report`"),
    ("was told", "say who told whom, or `reported`"),
    ("were told", "say who told whom, or `reported`"),
    ("nobody", "name who does it, or write `no one` or `no process`"),
    ("beside", "write `next to`, `besides` or `with`"),
    ("manieth", "write `every Nth`"),
    ("what it comes to", "name the sum or the figure"),
];

/// What is read by users alone: their comments are the text of `--help`.
const HELP: &str = "crates/cli/src/args";
/// What is for developers alone.
const FOR_DEVELOPERS: &[&str] = &["crates/fuzz/", "crates/testkit/", "xtask/"];

/// What the program says is in plain English: its sentences, and its help.
pub fn plain_sentences(tree: &Tree) -> Vec<Finding> {
    let is_ours = |path: &str| !FOR_DEVELOPERS.iter().any(|place| path.starts_with(place));
    let mut findings = Vec::new();
    for (path, lines) in code::program_files(tree).filter(|(path, _)| is_ours(path)) {
        for (number, line) in code::numbered(&lines).filter(|(_, line)| !line.in_test) {
            let comment = if path.starts_with(HELP) { line.comment.as_str() } else { "" };
            let said = format!("{} {comment}", line.text).to_lowercase();
            // A name is no sentence.
            let is_sentence = said.split_whitespace().nth(1).is_some();
            let found = NOT_PLAIN.iter().find(|(words, _)| is_sentence && has_words(&said, words));
            if let Some((words, remedy)) = found {
                let text = format!("`{words}` is no plain English here; {remedy}");
                findings.push(Finding::new(path, number, text));
            }
        }
    }
    findings
}

/// The documentation is in plain English.
pub fn plain_words(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".md").filter(|(path, _)| is_documentation(path)) {
        for (number, prose) in prose_of(text) {
            let prose = prose.to_lowercase();
            for (words, remedy) in NOT_PLAIN.iter().filter(|(words, _)| has_words(&prose, words)) {
                let text = format!("`{words}` is no plain English here; {remedy}");
                findings.push(Finding::new(path, number, text));
            }
        }
    }
    findings
}

/// Whether these words stand in a text as words of their own.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let (_, behind) = text.split_at(at + words.len());
        let after = behind.chars().next();
        let is_distinguished = words.ends_with(" told")
            && [" apart", " from"].iter().any(|end| behind.starts_with(end));
        // Of a quotation, which speaks of the word.
        !is_distinguished
            && !before.is_some_and(|c| c.is_alphanumeric() || "\"-{".contains(c))
            && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Most words of the documentation, as `wc -w` counts them.
const WORDS_MOST: usize = 60_000;

/// What is read to use or to change fsarena: no examples of output, no changelog.
fn is_documentation(path: &str) -> bool {
    !path.starts_with("docs/examples/") && path != CHANGELOG
}

/// The documentation keeps to its length: who adds says less elsewhere.
pub fn length_of_docs(tree: &Tree) -> Vec<Finding> {
    let docs = tree.ending(".md").filter(|(path, _)| is_documentation(path));
    let words: usize = docs.map(|(_, text)| text.split_whitespace().count()).sum();
    let text = format!("the Markdown has {words} words of {WORDS_MOST}; cut what is said twice");
    if words > WORDS_MOST { vec![Finding::new("README.md", 1, text)] } else { Vec::new() }
}

/// Users of no machine: tests of what takes home directories out need some.
const MADE_UP_USERS: &[&str] = &["zaphod", "NAME"];

/// No path that exists on one machine only.
pub fn machine_paths(tree: &Tree) -> Vec<Finding> {
    // Written in halves, so that this file does not break its own rule.
    let places = ["/work", "/home", "/root", "/Users"].map(|place| format!("{place}/"));
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            if let Some(place) = places.iter().find(|place| starts_a_path(line, place)) {
                let text = format!(
                    "`{place}…` exists on one machine only; use a relative path, or one below /srv \
                     in an example"
                );
                findings.push(Finding::new(path, index + 1, text));
            }
        }
    }
    findings
}

/// Whether an absolute path in `line` starts with `place` and goes on.
fn starts_a_path(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + place.len()..].chars().next();
        let inside = |c: char| c.is_alphanumeric() || "._-~}*>)".contains(c);
        if MADE_UP_USERS.iter().any(|user| line[at + place.len()..].starts_with(user)) {
            return false;
        }
        !before.is_some_and(inside) && after.is_some_and(|c| c.is_alphanumeric() || c == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No line was found.
    const NONE: [usize; 0] = [];

    fn check(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<usize> {
        rule(&Tree::fake(files)).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn changelog_form() {
        let check = |text: &str| check(changelog, &[(CHANGELOG, text)]);
        let good = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One.\n\n## [0.1.0] - \
                    2026-01-31\n\n### Fixed\n- Two.\n";
        assert_eq!(check(good), NONE);
        assert_eq!(check("# Changes\n\n## [Unreleased]\n"), [1]);
        assert_eq!(check("# Changelog\n"), [1]);
        assert_eq!(check("# Changelog\n## [0.1.0] - 2026-01-31\n"), [2]);
        assert_eq!(check("# Changelog\n## [Unreleased]\n## 0.1.0\n"), [3]);
        assert_eq!(check("# Changelog\n## [Unreleased]\n### New\n- One.\n"), [3]);
        assert_eq!(check("# Changelog\n## [Unreleased]\n### Added\n\n"), [3]);
        assert_eq!(check("# Changelog\n## [Unreleased]\n- One.\n"), [3]);
        assert_eq!(changelog(&Tree::fake(&[])).len(), 1);
    }

    #[test]
    fn plain_words_in_prose_alone() {
        let text = "It is told so.\nA file beside it.\nThe \"nobody\" of old; besides, `nobody`.\n```\n\
                    nobody\n```\nNobody.\n";
        assert_eq!(check(plain_words, &[("docs/a.md", text)]), [1, 2, 7]);
        for path in ["docs/examples/a.md", CHANGELOG] {
            assert_eq!(check(plain_words, &[(path, text)]), NONE);
        }
    }

    #[test]
    fn plain_sentences_of_messages_and_help() {
        let text = "//! Nobody reads this.\nconst A: &str = \"it is told so\";\n\
                    const B: &str = \"beside\";\nlet nobody = format!(\"{beside} of {}\");\n\
                    const C: &str = \"x is told from y; \\\n  nobody else has it\";\n\
                    #[cfg(test)]\nmod tests {\n const D: &str = \"a beside b\";\n}\n";
        let of_help = "//! Help.\n/// What lies beside it.\nstruct Args;\n";
        assert_eq!(check(plain_sentences, &[("crates/a/src/lib.rs", text)]), [2, 6]);
        assert_eq!(check(plain_sentences, &[("crates/fuzz/src/lib.rs", text)]), NONE);
        assert_eq!(check(plain_sentences, &[("crates/cli/src/args/a.rs", of_help)]), [2]);
        assert_eq!(check(plain_sentences, &[("crates/cli/src/a.rs", of_help)]), NONE);
    }

    #[test]
    fn length_of_all_documents() {
        let half = "word ".repeat(WORDS_MOST / 2);
        let two = [("docs/a.md", half.as_str()), ("docs/b.md", half.as_str())];
        assert_eq!(check(length_of_docs, &two), NONE);
        assert_eq!(check(length_of_docs, &[two[0], two[1], ("c.md", "more")]), [1]);
        assert_eq!(check(length_of_docs, &[two[0], two[1], ("docs/examples/c.md", "more")]), NONE);
    }

    #[test]
    fn release_headings() {
        assert!(is_release("[1.20.3] - 2026-01-31"));
        assert!(!is_release("[1.20] - 2026-01-31"));
        assert!(!is_release("1.20.3 - 2026-01-31"));
        assert!(!is_release("[1.20.3] - 31-01-2026"));
        assert!(!is_release("[1.20.3]"));
    }

    #[test]
    fn links_lead_somewhere() {
        let readme = "[a](docs/a.md) [b](docs/) [c](https://example.org/x) [d](#here)\n\
                      `[e](gone.md)`\n```\n[f](gone.md)\n```\n[g](docs/a.md#part \"title\")\n";
        let docs = ("docs/a.md", "[up](../README.md)\n[x]: ../README.md\n");
        assert_eq!(check(links, &[("README.md", readme), docs]), NONE);
        assert_eq!(check(links, &[("README.md", "a\n[a](gone.md)\n")]), [2]);
        assert_eq!(check(links, &[("docs/a.md", "[a](../../out.md)\n")]), [1]);
        assert_eq!(check(links, &[("docs/a.md", "[name]: gone.md\n")]), [1]);
    }

    #[test]
    fn paths_of_one_machine() {
        let text = |place: &str| format!("see {place}\n");
        let found = |place: &str| check(machine_paths, &[("docs/a.md", &text(place))]);
        assert_eq!(found(&format!("{}/main", "/work")), [1]);
        assert_eq!(found(&format!("`{}/anna/x`", "/home")), [1]);
        assert_eq!(found(&format!("{}/.cargo", "/root")), [1]);
        assert_eq!(found(&["crates", "work", "main"].join("/")), NONE);
        assert_eq!(found("the /home/ directory, /workload, /srv/images"), NONE);
    }
}
