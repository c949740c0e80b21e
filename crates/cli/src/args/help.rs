//! `fsarena --help`: the commands in groups, by what one wants to do.

use clap::Command;
use std::fmt::Write as _;

/// Every command that is shown, once.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Run", &["run", "advise", "fleet", "rank", "watch", "experiments", "dataset"]),
    ("Read", &["list", "show", "study", "report", "delete", "doc"]),
    ("Compare", &["compare", "history", "reference"]),
    ("Share", &["export", "article", "bundle", "import", "merge", "schema"]),
    ("Machine", &["doctor", "devices", "kernel", "programs", "selftest", "completions", "man"]),
    ("Crash", &["crash"]),
];

/// The command line, with that help.
pub fn grouped(command: Command) -> Command {
    let header = command.get_styles().get_header();
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        let _ = writeln!(template, "\n{header}{group}:{header:#}");
        for name in names {
            template.push_str(&line(&command, name));
        }
    }
    let _ = write!(template, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    command.help_template(template)
}

/// `  run          Run an experiment`
fn line(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about);
    let about = about.map(ToString::to_string).unwrap_or_default();
    let literal = command.get_styles().get_literal();
    format!("  {literal}{name}{literal:#}{:1$}{about}\n", "", 13 - name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
    }

    #[test]
    fn help_has_groups_with_what_each_command_does_and_the_options() {
        let help = grouped(Cli::command()).render_help().to_string();
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
        let order = ["Usage: fsarena", "\nRun:\n  run          Run an experiment\n", "\nRead:\n"];
        let order = order.map(at);
        assert!(order.is_sorted(), "{help}");
        assert!(at("\nCrash:\n") < at("\nOptions:\n") && at("--db") < at("Examples:"), "{help}");
        assert!(!help.contains("Commands:"), "{help}");
    }
}
