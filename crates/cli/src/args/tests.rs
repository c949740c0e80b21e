//! The definition against what is promised of it: every subcommand has a line, examples that parse,
//! completions and a manual page.

use super::*;
use clap::CommandFactory as _;

/// The commands of a line of shell that start fsarena: without redirections, split at `|` and `&&`.
pub(crate) fn commands_in(line: &str) -> Vec<Vec<String>> {
    let words = shlex::split(line).unwrap_or_else(|| panic!("not closed: {line}"));
    let commands = words.split(|word| word == "|" || word == "&&");
    let plain = commands.map(|words| {
        let kept = words.iter().take_while(|word| !word.starts_with(['>', '<']) && *word != "2>");
        kept.cloned().collect::<Vec<_>>()
    });
    plain.filter(|words| words.first().is_some_and(|word| word == "fsarena")).collect()
}

/// Whether the parser takes a command; help and version count as taken.
pub(crate) fn parses(words: &[String]) -> Result<(), String> {
    match Cli::try_parse_from(words) {
        Ok(_) => Ok(()),
        Err(error) if !error.use_stderr() => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Every visible subcommand at any depth, by its words.
fn visible() -> Vec<(String, clap::Command)> {
    fn below(name: &str, command: &clap::Command, found: &mut Vec<(String, clap::Command)>) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let name = format!("{name} {}", sub.get_name());
            below(&name, sub, found);
            found.push((name, sub.clone()));
        }
    }
    let whole = Cli::command();
    let mut found = Vec::new();
    below("fsarena", &whole, &mut found);
    found
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_subcommand_and_option_says_what_it_is() {
    assert!(visible().len() >= 20, "{}", visible().len());
    for (name, command) in visible() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(about.len() > 10, "{name} has no line: {about:?}");
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            assert!(argument.get_help().is_some(), "{name}: {} has no line", argument.get_id());
        }
    }
}

#[test]
fn every_subcommand_has_examples_of_its_own_that_parse() {
    for (name, command) in visible() {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let (_, examples) =
            text.split_once("Examples:\n").unwrap_or_else(|| panic!("{name}: none"));
        let mut own = 0;
        // Behind them may stand where there are more.
        for line in examples.lines().filter(|line| line.starts_with("  ")) {
            let commands = commands_in(line);
            assert!(!commands.is_empty(), "{name}: not a command: {line:?}");
            for words in commands {
                own += usize::from(words.join(" ").starts_with(&name));
                parses(&words).unwrap_or_else(|error| panic!("{name}: {line}\n{error}"));
            }
        }
        assert!(own > 0, "{name}: no example starts with it\n{examples}");
    }
    let whole = Cli::command().get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples: Vec<&str> = whole.lines().filter(|line| line.starts_with("  fsarena ")).collect();
    assert!(examples.len() >= 3, "{whole}");
    for line in examples {
        assert!(commands_in(line).iter().all(|words| parses(words).is_ok()), "{line}");
    }
}

#[test]
fn the_short_help_of_run_is_one_screen_in_groups_and_the_long_one_has_all() {
    let (_, mut run) = visible().into_iter().find(|(name, _)| name == "fsarena run").unwrap();
    run = run.term_width(80);
    let short = run.render_help().to_string();
    assert!(short.lines().count() <= 40, "{} lines:\n{short}", short.lines().count());
    let headings = ["What to compare:", "Where:", "How long:", "Safety and recovery:", "Output:"];
    let places: Vec<Option<usize>> = headings.iter().map(|head| short.find(head)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{short}");
    let long = run.render_long_help().to_string();
    for argument in run.get_arguments().filter_map(clap::Arg::get_long) {
        assert!(long.contains(&format!("--{argument}")), "{argument}");
    }
    // Not broken between words as on a terminal.
    let long = run.get_after_long_help().unwrap().to_string();
    let (_, examples) = long.split_once("Examples:\n").unwrap();
    assert!(examples.lines().count() >= 10, "{examples}");
    for line in examples.lines() {
        commands_in(line).iter().for_each(|words| parses(words).unwrap());
    }
}

#[test]
fn the_old_word_for_power_cuts_is_understood_and_not_shown() {
    for words in ["fsarena safety --fs ext4", "fsarena safety states", "fsarena show --csv"] {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(parses(&words).is_ok(), words[1] == "safety", "{words:?}");
    }
    let help = Cli::command().render_long_help().to_string();
    assert!(help.contains("  crash ") && !help.contains("  safety "), "{help}");
}

/// What other tests stand on: a wrong example is found.
#[test]
fn a_wrong_example_is_refused() {
    let wrong = |line: &str| commands_in(line).iter().any(|words| parses(words).is_err());
    assert!(wrong("fsarena show --rwa"));
    assert!(wrong("fsarena list && fsarena lst"));
    assert!(!wrong("fsarena show --json | jq .nonsense > x"));
    assert!(!wrong("fsarena run --help"));
}

#[test]
fn the_flags_of_run_are_those_that_a_repeated_command_knows() {
    let (_, run) = visible().into_iter().find(|(name, _)| name == "fsarena run").expect("it");
    let takes_none =
        |one: &&clap::Arg| one.get_long().is_some() && !one.get_action().takes_values();
    let own: Vec<String> = run
        .get_arguments()
        .filter(takes_none)
        .filter_map(|one| Some(format!("--{}", one.get_long()?)))
        .filter(|flag| !["--help", "--version"].contains(&flag.as_str()))
        .collect();
    assert_eq!(own, fsarena_report::RUN_FLAGS);
}

/// The arguments of a `run`.
pub(crate) fn run_args(words: &[&str]) -> RunArgs {
    let all = ["fsarena", "run"].iter().chain(words);
    match Cli::try_parse_from(all).unwrap().command {
        Command::Run(args) => *args,
        other => panic!("not a run: {other:?}"),
    }
}

#[test]
fn every_crash_workload_is_named_where_people_look() {
    let mut command = Cli::command();
    let help = command.find_subcommand_mut("crash").unwrap().render_long_help().to_string();
    let places = [
        help.as_str(),
        include_str!("../../../plan/FORMAT.md"),
        include_str!("../../../../docs/crash-safety.md"),
    ];
    for kind in fsarena_crash::workload::Kind::all() {
        assert!(places.iter().all(|text| text.contains(kind.name())), "{}", kind.name());
    }
}
