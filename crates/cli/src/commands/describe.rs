//! `fsarena completions` and `fsarena man`: generated from the one definition in `args`.

use super::output_file;
use crate::args::Cli;
use crate::{complete, context};
use anyhow::Result;
use clap::{Command, CommandFactory as _};
use std::path::Path;

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<()> {
    context::print(&complete::script(shell)?)
}

/// Prints the manual page, or writes one for each subcommand into `dir`.
pub fn man(dir: Option<&Path>) -> Result<()> {
    let pages = pages()?;
    let Some(dir) = dir else {
        let (_, page) = &pages[0];
        return context::print(page);
    };
    output_file::create_dir("--dir", dir)?;
    for (name, page) in &pages {
        output_file::write(&dir.join(format!("{name}.1")), page)?;
    }
    say!("{} pages are in {}; man -l FILE shows one", pages.len(), dir.display());
    Ok(())
}

/// The definition without what users do not start: the generators would show it.
pub fn visible() -> Command {
    let whole = Cli::command();
    let subcommands = whole.get_subcommands().filter(|command| !command.is_hide_set());
    let text = |text: Option<&clap::builder::StyledStr>| text.cloned().unwrap_or_default();
    Command::new("fsarena")
        .version(env!("CARGO_PKG_VERSION"))
        .about(text(whole.get_about()))
        .long_about(text(whole.get_long_about()))
        .after_help(text(whole.get_after_help()))
        .args(whole.get_arguments().cloned())
        .subcommands(subcommands.cloned())
}

/// Every page with its name, that of the program first.
fn pages() -> Result<Vec<(String, String)>> {
    let mut whole = visible().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    add_pages(&whole, "fsarena", &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &Command, name: &str, pages: &mut Vec<(String, String)>) -> Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().display_name(name))
        .title(name.to_uppercase())
        .source(concat!("fsarena ", env!("CARGO_PKG_VERSION")))
        .manual("fsarena")
        .render(&mut page)?;
    pages.push((name.to_owned(), with_examples(&String::from_utf8(page)?)));
    for subcommand in command.get_subcommands() {
        add_pages(subcommand, &format!("{name}-{}", subcommand.get_name()), pages)?;
    }
    Ok(())
}

/// The text behind the options, which the generator calls EXTRA, under the headings of a manual.
fn with_examples(page: &str) -> String {
    let Some((above, extra)) = page.split_once("\n.SH EXTRA\n") else { return page.to_owned() };
    let (extra, rest) = match extra.split_once("\n.SH ") {
        Some((extra, rest)) => (extra, format!(".SH {rest}")),
        None => (extra, String::new()),
    };
    let (notes, examples) = extra.split_once("Examples:\n").unwrap_or((extra, ""));
    // Behind the examples of the program itself stands a text again.
    let (examples, more) = examples.split_once("\n\n").unwrap_or((examples, ""));
    let mut out = format!("{above}\n");
    for text in [notes, more].map(str::trim).into_iter().filter(|text| !text.is_empty()) {
        out.push_str(&format!(".SH NOTES\n{text}\n"));
    }
    if !examples.is_empty() {
        let examples: Vec<&str> = examples.lines().map(str::trim_start).collect();
        out.push_str(&format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", examples.join("\n")));
    }
    out.push_str(&rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;
    use clap_complete::Shell;

    /// Every visible command with its options, at any depth: `run`, `kernel delete`.
    fn names() -> Vec<(String, Vec<String>)> {
        fn below(command: &Command, before: &str, found: &mut Vec<(String, Vec<String>)>) {
            for sub in command.get_subcommands() {
                let long = sub.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned));
                let name = format!("{before}{}", sub.get_name());
                found.push((name.clone(), long.collect()));
                below(sub, &format!("{name} "), found);
            }
        }
        let mut found = Vec::new();
        below(&visible(), "", &mut found);
        found
    }

    /// What a shell is offered after these words and the beginning of another.
    fn offered(words: &[&str]) -> Vec<String> {
        let words: Vec<std::ffi::OsString> =
            ["fsarena"].iter().chain(words).map(std::ffi::OsString::from).collect();
        let at = words.len() - 1;
        let found = clap_complete::engine::complete(&mut visible(), words, at, None).unwrap();
        found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn completions_name_every_subcommand_and_option() {
        let names = names();
        assert!(names.iter().any(|(name, options)| name == "run" && options.len() > 25));
        let commands = offered(&[""]);
        for (name, options) in &names {
            let all = offered(&name.split(' ').chain(["--"]).collect::<Vec<_>>());
            for option in options {
                assert!(all.contains(&format!("--{option}")), "{name}: {option} is not in {all:?}");
            }
        }
        assert!(commands.len() > 20, "{commands:?}");
        assert!(!commands.iter().any(|name| name == "executor" || name == "worker"));
        for shell in Shell::value_variants() {
            let script = complete::script(*shell).unwrap();
            assert!(script.contains("FSARENA_COMPLETE"), "{shell}: {script}");
        }
    }

    #[test]
    fn names_are_offered_and_no_files() {
        assert_eq!(offered(&["run", "--fs", "ext4,xf"]), ["ext4,xfs"]);
        assert!(offered(&["run", "qui"]).contains(&"quick".to_owned()));
        assert!(offered(&["run", "--workload", "small"]).contains(&"small-files".to_owned()));
        assert_eq!(offered(&["experiments", "--db", "x", "qui"]), ["quick", "quick-all"]);
    }

    #[test]
    fn there_is_a_page_for_every_subcommand() {
        let pages = pages().unwrap();
        assert_eq!(pages.len(), names().len() + 1);
        assert_eq!(pages[0].0, "fsarena");
        for (name, options) in names() {
            let title = format!("fsarena-{}", name.replace(' ', "-"));
            let (_, page) = pages.iter().find(|(page, _)| *page == title).unwrap();
            assert!(page.contains("\n.SH EXAMPLES\n.nf\nfsarena "), "{name}\n{page}");
            assert!(!page.contains(".SH EXTRA"), "{name}");
            for option in options {
                let written = format!("\\-\\-{}", option.replace('-', "\\-"));
                assert!(page.contains(&written), "{name}: {option}");
            }
        }
        let (_, page) = &pages[0];
        assert!(page.contains(".SH NOTES\nExit codes: 0 done"), "{page}");
        assert!(page.contains(".SH EXAMPLES\n.nf\nfsarena run\n"), "{page}");
    }
}
