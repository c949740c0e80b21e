//! What it takes to do the RUN again: the experiment file, the seed, the one command.

use crate::context::SectionContext;
use crate::render::html as parts;
use fsarena_model::run::RunHeader;
use maud::{Markup, html};

/// Experiment, seed and command.
pub(super) fn section(context: &SectionContext<'_>) -> Markup {
    let header = context.run.header;
    let id = format!("{}-command", context.prefix);
    let file = format!("{}-experiment", context.prefix);
    let command = crate::command(header);
    let elsewhere = context.measured_by();
    html! {
        (parts::heading("Doing it again"))
        @match elsewhere {
            Some(_) if context.is_watched() => p { "The command that watched:" },
            None => p { "The one command" (before(header)) ":" },
            Some(program) => p {
                "How " (program) " was called is in its own files. The command that brought them "
                "in:"
            },
        }
        pre tabindex="0" role="region" aria-label="The command" { code id=(id) { (command) } }
        div.tools { span data-copy=(id) {} }
        @if elsewhere.is_none() { (seed(header)) }
        @if command.contains('~') {
            (parts::note(
                "Names of home directories were taken out and stand as ~; put in your own."
            ))
        }
        @if elsewhere.is_none() { (experiment(header, &file)) }
    }
}

/// Its file, to be saved or copied.
fn experiment(header: &RunHeader, file: &str) -> Markup {
    html! {
        p {
            "The experiment"
            @if let Some(file) = crate::experiment_file(header) {
                ", to be saved as " code { (file) }
            }
            ":"
        }
        pre.tall tabindex="0" role="region" aria-label="The experiment file" {
            code id=(file) { (header.experiment_toml) }
        }
        div.tools {
            @let name = crate::file_name(header);
            span data-copy=(file) {}
            span data-save=(file) data-type="text/plain" data-name=(name)
                data-words="Save the file" {}
        }
    }
}

fn before(header: &RunHeader) -> &'static str {
    if crate::experiment_file(header).is_some() {
        ", with the experiment below saved in the same directory"
    } else {
        ""
    }
}

/// The number that the seed was made of, where it was stated.
fn number(header: &RunHeader) -> Option<String> {
    let given = crate::arguments(header);
    let after = given.iter().position(|one| one == "--seed").and_then(|at| given.get(at + 1));
    let joined = given.iter().find_map(|one| one.strip_prefix("--seed="));
    let stated = after.map(String::as_str).or(joined).map(str::to_owned);
    stated.or_else(|| {
        let table = header.experiment_toml.parse::<toml::Table>().ok()?;
        let seed = table.get("run")?.get("seed")?.as_integer()?;
        Some(seed.to_string())
    })
}

fn seed(header: &RunHeader) -> Markup {
    let seed = String::from(header.plan.seed);
    html! {
        @match number(header) {
            Some(number) => p {
                "The seed is " strong { (number) } ": the same order of trials, the same "
                "permutations and the same contents on every machine. As it is stored: "
                code { (seed) } "."
            },
            None => p {
                "No seed was stated, so one was drawn: " code { (seed) } ". The same command draws "
                "another one, and with it another order of the trials; "
                code { "--seed" } " states one."
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records::{contender, header, small_files};

    fn given(arguments: &[&str]) -> RunHeader {
        let mut header = header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
        header.arguments = arguments.iter().map(|&one| one.to_owned()).collect();
        header
    }

    #[test]
    fn a_file_is_to_be_saved_first() {
        assert_eq!(before(&given(&["fsarena", "run", "sample"])), "");
        let header = given(&["fsarena", "run", "mine"]);
        assert_eq!(before(&header), ", with the experiment below saved in the same directory");
        assert_eq!(number(&header), None);
    }

    #[test]
    fn a_seed_in_the_file_is_one() {
        let mut header = given(&["fsarena", "run", "mine.toml"]);
        header.experiment_toml = "name = \"a\"\n[run]\nseed = 2003\n".to_owned();
        assert_eq!(number(&header).as_deref(), Some("2003"));
        assert_eq!(number(&given(&["fsarena", "run", "a", "--seed=12"])).as_deref(), Some("12"));
    }
}
