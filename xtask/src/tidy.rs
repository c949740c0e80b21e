//! `cargo xtask tidy`: house rules that neither the compiler nor clippy checks.
//!
//! Each rule is a pure function from the [`Tree`] of the repository's files to [`Finding`]s, so
//! each is tested on small made-up trees. A rule reads; it never changes a file. To add one, write
//! the function and its line in [`RULES`]. `--circles` and `--figures` describe and judge nothing.

mod circles;
mod code;
mod figures;
mod foreign_input;
mod layout;
mod lines;
mod manifests;
mod modules;
mod programs;
mod promises;
mod prose;
mod sequences;
mod tree;
mod unbounded;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::thread;

use tree::{Finding, Tree};

struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Finding>,
}

const RULES: &[Rule] = &[
    Rule { name: "dependency-direction", check: manifests::direction },
    Rule { name: "workspace-dependencies", check: manifests::inherited },
    Rule { name: "lints", check: manifests::lints },
    Rule { name: "processes", check: code::processes },
    Rule { name: "private-places", check: code::private_places },
    Rule { name: "started-programs", check: programs::started },
    Rule { name: "module-docs", check: code::module_docs },
    Rule { name: "vague-names", check: code::vague_names },
    Rule { name: "unfinished", check: code::unfinished },
    Rule { name: "columns", check: layout::columns },
    Rule { name: "file-length", check: layout::file_length },
    Rule { name: "large-files", check: layout::large_files },
    Rule { name: "catch-all-modules", check: layout::catch_all_modules },
    Rule { name: "module-circles", check: circles::circles },
    Rule { name: "dead-files", check: modules::dead_files },
    Rule { name: "changelog", check: prose::changelog },
    Rule { name: "links", check: prose::links },
    Rule { name: "machine-paths", check: prose::machine_paths },
    Rule { name: "plain-sentences", check: prose::plain_sentences },
    Rule { name: "plain-words", check: prose::plain_words },
    Rule { name: "length-of-docs", check: prose::length_of_docs },
    Rule { name: "promises", check: promises::promises },
    Rule { name: "experiments", check: sequences::experiments },
    Rule { name: "migrations", check: sequences::migrations },
    Rule { name: "foreign-input", check: foreign_input::targets },
    Rule { name: "unbounded-reads", check: unbounded::reads },
    Rule { name: "fuzz-corpus", check: foreign_input::corpus },
];

/// What is to be printed instead of findings.
#[derive(clap::Args)]
#[group(multiple = false)]
pub struct Args {
    /// Print the circles of modules, of one crate or of all.
    #[arg(long, value_name = "CRATE", num_args = 0..=1)]
    circles: Option<Option<String>>,
    /// Print the size of the workspace.
    #[arg(long)]
    figures: bool,
}

/// Checks the checkout this program was built from; `Ok(false)` if a rule is broken.
pub fn run(args: &Args) -> anyhow::Result<bool> {
    let tree = Tree::read(&root())?;
    if let Some(krate) = &args.circles {
        print!("{}", circles::describe(&tree, krate.as_deref()));
        return Ok(true);
    }
    if args.figures {
        print!("{}", figures::describe(&tree));
        return Ok(true);
    }
    let (report, faults) = report(&tree);
    print!("{report}");
    println!("tidy: {} files, {} rules, {faults} broken", tree.len(), RULES.len());
    Ok(faults == 0)
}

/// The root of the checkout: the parent of this crate's directory.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("xtask is in the root of the workspace").to_path_buf()
}

/// The findings of every rule as text, and how many of them are faults.
fn report(tree: &Tree) -> (String, usize) {
    let (mut text, mut faults) = (String::new(), 0);
    let found: Vec<Vec<Finding>> = thread::scope(|scope| {
        let checks: Vec<_> = RULES.iter().map(|rule| scope.spawn(|| (rule.check)(tree))).collect();
        let joined = checks.into_iter().map(|check| check.join().expect("a rule does not panic"));
        joined.collect()
    });
    for (rule, mut findings) in RULES.iter().zip(found) {
        findings.sort();
        for finding in findings {
            faults += 1;
            let Finding { file, line, text: what } = finding;
            writeln!(text, "{file}:{line}: broken {}: {what}", rule.name)
                .expect("writing to a String cannot fail");
        }
    }
    (text, faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_names_file_line_rule_and_remedy() {
        let tree =
            Tree::fake(&[("crates/plan/src/util.rs", "//! Things that fit nowhere else.\n")]);
        let (text, faults) = report(&tree);
        let line = text.lines().find(|line| line.contains("catch-all")).expect("one finding");
        assert!(
            line.starts_with("crates/plan/src/util.rs:1: broken catch-all-modules: "),
            "{line}"
        );
        assert!(faults >= 1);
    }

    #[test]
    fn rule_names_are_unique() {
        let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }
}
