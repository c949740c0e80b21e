//! Rules about sets of files that must be complete: built-in experiments and migrations.

use super::tree::{Finding, Tree};

const MIGRATIONS: &str = "crates/store/migrations/";

/// To be given to the program as files, because they bring commands of their own.
const EXAMPLES: &str = "experiments/examples/";

/// Every experiment and workload parses, says what it is, and is built into the program or an
/// example.
pub fn experiments(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".toml").filter(|(path, _)| path.starts_with("experiments/")) {
        match text.parse::<toml::Table>() {
            Ok(table) => {
                let title = table.get("title").and_then(toml::Value::as_str).unwrap_or_default();
                if title.is_empty() {
                    let text = "has no `title`; say in a line what it is";
                    findings.push(Finding::new(path, 1, text));
                }
            }
            Err(error) => {
                let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
                findings.push(Finding::new(path, line, format!("not TOML: {}", error.message())));
            }
        }
        if path.starts_with(EXAMPLES) {
            continue;
        }
        let plan = tree.ending(".rs").filter(|(source, _)| source.starts_with("crates/plan/src/"));
        if !plan.flat_map(|(_, source)| source.lines()).any(|line| names(line, path)) {
            let text = "is not built into the program; register it in crates/plan/src/embedded.rs";
            findings.push(Finding::new(path, 1, text));
        }
    }
    findings
}

/// Whether a line holds the path, or folder and name as literals of their own.
fn names(line: &str, path: &str) -> bool {
    let stem = path.trim_end_matches(".toml");
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    line.contains(path)
        || [folder, name].iter().all(|literal| line.contains(&format!("\"{literal}\"")))
}

/// Migrations are `NNNN_name.sql`, count up from 0001 without a gap, and are all carried out.
pub fn migrations(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let paths = tree.paths().filter(|path| path.starts_with(MIGRATIONS));
    for (index, path) in paths.enumerate() {
        let name = &path[MIGRATIONS.len()..];
        let number = name
            .strip_suffix(".sql")
            .and_then(|stem| stem.split_once('_'))
            .filter(|(digits, title)| digits.len() == 4 && is_title(title))
            .and_then(|(digits, _)| digits.parse::<usize>().ok());
        match number {
            None => {
                let text = "a migration is named `NNNN_name.sql` in small letters; rename it";
                findings.push(Finding::new(path, 1, text));
            }
            Some(number) if number != index + 1 => {
                let text = format!(
                    "number {number:04} where {:04} is due; migrations count up without gaps or \
                     doubles",
                    index + 1
                );
                findings.push(Finding::new(path, 1, text));
            }
            Some(_) => {}
        }
        let mut sources = tree.ending(".rs").filter(|(file, _)| file.starts_with("crates/store/"));
        if !sources.any(|(_, text)| text.contains(name)) {
            let text = "is never carried out; add it to the list of migrations in crates/store";
            findings.push(Finding::new(path, 1, text));
        }
    }
    findings
}

fn is_title(title: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !title.is_empty() && title.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_complete() {
        let text = "title = \"A first look\"\n";
        let quick = ("experiments/quick.toml", text);
        let file = "crates/plan/src/builtin.rs";
        let list = (file, "include_str!(\"../../../experiments/quick.toml\")\n");
        assert_eq!(experiments(&Tree::fake(&[quick, list])), []);
        assert_eq!(experiments(&Tree::fake(&[quick])).len(), 1);
        let parts = (file, "builtin!(\"experiments\", \"quick\"),\n");
        assert_eq!(experiments(&Tree::fake(&[quick, parts])), []);
        let work = ("experiments/workloads/quick.toml", text);
        assert_eq!(experiments(&Tree::fake(&[work, parts])).len(), 1);
        let example = ("experiments/examples/zfs.toml", text);
        assert_eq!(experiments(&Tree::fake(&[example])), []);
        let silent = ("experiments/quick.toml", "name = \"quick\"\n");
        assert_eq!(experiments(&Tree::fake(&[silent, list])).len(), 1);
        let broken = ("experiments/quick.toml", "title = \"A\"\nname = quick\n");
        let findings = experiments(&Tree::fake(&[broken, list]));
        assert_eq!((findings.len(), findings[0].line), (1, 2));
    }

    #[test]
    fn migrations_count_up() {
        let check = |names: &[&str]| {
            let paths: Vec<String> =
                names.iter().map(|name| format!("{MIGRATIONS}{name}")).collect();
            let list = names.join(" ");
            let mut files = vec![("crates/store/src/open.rs", list.as_str())];
            files.extend(paths.iter().map(|path| (path.as_str(), "")));
            migrations(&Tree::fake(&files)).len()
        };
        assert_eq!(check(&["0001_first.sql", "0002_second_one.sql"]), 0);
        assert_eq!(check(&["0001_first.sql", "0003_third.sql"]), 1);
        assert_eq!(check(&["0001_first.sql", "0001_other.sql"]), 1);
        assert_eq!(check(&["0002_first.sql"]), 1);
        assert_eq!(check(&["1_first.sql"]), 1);
        assert_eq!(check(&["0001_First.sql"]), 1);
        let forgotten = format!("{MIGRATIONS}0001_first.sql");
        assert_eq!(migrations(&Tree::fake(&[(forgotten.as_str(), "")])).len(), 1);
    }
}
