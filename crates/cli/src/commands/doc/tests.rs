//! The list of topics against the repository, and every command in the texts against the parser.

use super::*;
use crate::args::tests::{commands_in, parses};
use std::path::Path;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate lies in crates/cli")
}

#[test]
fn every_text_of_docs_is_a_topic() {
    let files = std::fs::read_dir(repository().join("docs")).unwrap().flatten();
    let names = files.map(|entry| entry.file_name().into_string().unwrap());
    let texts: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    assert!(texts.len() >= 10, "{texts:?}");
    for name in texts {
        let path = format!("docs/{name}");
        let topic = TOPICS.iter().find(|topic| topic.source.path == path);
        let topic = topic.unwrap_or_else(|| panic!("{path} is no topic of `fsarena doc`"));
        assert_eq!(format!("{}.md", topic.name), name);
    }
}

#[test]
fn the_list_has_one_line_for_each_topic() {
    for width in [80, 100, 160] {
        let text = list(width);
        for topic in TOPICS {
            let start = format!("  {} ", topic.name);
            let line = text.lines().find(|line| line.starts_with(&start)).unwrap();
            assert!(line.chars().count() <= width, "{line}");
            assert!(line.len() > start.len() + 10, "{line}");
        }
    }
}

#[test]
fn topics_are_found_by_name_or_file() {
    for name in ["verdict", "Verdict", "verdict.md", "docs/verdict.md"] {
        assert_eq!(find(name).map(|topic| topic.name).ok(), Some("verdict"), "{name}");
    }
    assert_eq!(find("format").map(|topic| topic.source.path).ok(), Some("crates/plan/FORMAT.md"));
    let error = find("verdct").err().unwrap().to_string();
    assert!(
        error.starts_with("no documentation on \"verdct\"; did you mean \"verdict\"? There is: ")
    );
    let error = find("xyz").err().unwrap().to_string();
    assert!(error.contains("no documentation on \"xyz\"; There is: readme, guide"), "{error}");
}

#[test]
fn every_topic_fits_a_terminal() {
    for topic in TOPICS {
        let text = for_terminal(topic, 80, false);
        assert!(!text.contains('\u{1b}'), "{}: escapes without colour", topic.name);
        assert!(!text.contains("]("), "{}: a link is left", topic.name);
        // Targets of links are left out.
        let whole = topic.source.text();
        let targets = whole.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let left_out: usize = targets.map(|(target, _)| letters(target)).sum();
        let source = letters(&whole) - left_out;
        assert!(letters(&text) * 100 >= source * 97, "{}: text is lost", topic.name);
    }
    let text = for_terminal(find("readme").unwrap(), 100, false);
    assert!(text.contains("fsarena doc device-safety"), "{text}");
}

#[test]
fn colour_is_only_in_a_coloured_skin() {
    let topic = find("guide").unwrap();
    assert!(for_terminal(topic, 80, true).contains('\u{1b}'));
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic()).count()
}

/// What a reader copies from the documentation is at least well formed.
#[test]
fn every_command_in_the_texts_parses() {
    let mut found = 0;
    for topic in TOPICS {
        // Blocks of commands begin with one; others show output.
        let text = topic.source.text();
        let blocks = text.split("```\n").skip(1).step_by(2);
        let blocks = blocks.filter(|block| block.starts_with("fsarena "));
        let lines = blocks.flat_map(str::lines).filter(|line| line.is_ascii());
        let commands = lines.filter(|line| line.starts_with("fsarena "));
        for line in commands {
            for command in commands_in(line) {
                parses(&command)
                    .unwrap_or_else(|error| panic!("{}: {line}\n{error}", topic.source.path));
                found += 1;
            }
        }
    }
    assert!(found > 25, "{found}");
}
