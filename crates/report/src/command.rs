//! The command line that carries a RUN out again, for documents that are passed on.
//!
//! Where results went is left out, and an experiment that came from a file is named by the file
//! that it is to be saved in. So is every consent: who runs it gives their own, on their machine.

use fsarena_model::run::RunHeader;

/// Options that say where results go, not what is measured; each takes a value.
const PLACES: [&str; 5] = ["--db", "--color", "--report", "-o", "--output"];
/// Options by which somebody agrees to something; each takes a value.
const CONSENTS: [&str; 3] = ["--wipe", "--trust", "--allow-commands"];
/// The one without.
const YES: &str = "--yes";
/// Options of `run` that take no value: what follows them may be the experiment. A test of the
/// command line holds them equal to its definition.
pub const RUN_FLAGS: [&str; 12] = [
    "--require-decision",
    "--verify",
    "--account",
    "--dry-run",
    "--keep",
    "--yes",
    "--install-tools",
    "--quiet",
    "--json",
    "--full",
    "--raw",
    "--no-report",
];

/// The command in one line, for a shell.
#[must_use]
pub fn command(header: &RunHeader) -> String {
    let given = arguments(header);
    let file = place_of_file(header, &given);
    let own = |(at, argument): (usize, &String)| match file {
        Some(place) if place == at => quoted(&file_name(header)),
        _ => quoted(argument),
    };
    let words = given.iter().enumerate().map(own);
    std::iter::once("fsarena".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Name of the file that the experiment is to be saved in for [`command`]; `None` where it is a
/// built-in one.
#[must_use]
pub fn experiment_file(header: &RunHeader) -> Option<String> {
    place_of_file(header, &arguments(header)).map(|_| file_name(header))
}

/// Arguments after the name of the program, without those that say where results go or that agree
/// to something.
#[must_use]
pub fn arguments(header: &RunHeader) -> Vec<String> {
    let mut kept = Vec::new();
    let mut given = header.arguments.iter().skip(1);
    let left_out = || PLACES.iter().chain(&CONSENTS);
    while let Some(argument) = given.next() {
        if left_out().any(|one| argument == one) {
            given.next();
        } else if argument != YES && !left_out().any(|one| argument.starts_with(&format!("{one}=")))
        {
            kept.push(argument.clone());
        }
    }
    kept
}

/// Name that the experiment is saved under: letters, digits, `-`, `_` and `.` only.
#[must_use]
pub fn file_name(header: &RunHeader) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String =
        header.experiment.chars().map(|c| if is_plain(c) { c } else { '-' }).take(80).collect();
    format!("{}.toml", if name.is_empty() { "experiment" } else { &name })
}

/// Which of the arguments is the file of the experiment. A built-in experiment is called by the
/// name that the RUN has; a path with a `/` is none.
fn place_of_file(header: &RunHeader, given: &[String]) -> Option<usize> {
    let run = given.iter().position(|argument| argument == "run")?;
    let is_value = |at: usize| {
        let before = given[at - 1].as_str();
        at > run + 1
            && before.starts_with('-')
            && !before.contains('=')
            && !RUN_FLAGS.contains(&before)
    };
    let is_word = |&at: &usize| !given[at].starts_with('-') && !is_value(at);
    let at = (run + 1..given.len()).find(is_word)?;
    let named = given[at].as_str();
    (named.contains('/') || named != header.experiment).then_some(at)
}

/// A word as a shell takes it; a zero byte, which no argument can hold, is left out.
fn quoted(word: &str) -> String {
    let word = word.replace('\0', "");
    shlex::try_quote(&word).map_or_else(|_| word.clone(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records::{contender, header, small_files};

    fn given(experiment: &str, arguments: &[&str]) -> RunHeader {
        let mut header = header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
        header.experiment = experiment.to_owned();
        header.arguments = arguments.iter().map(|&one| one.to_owned()).collect();
        header
    }

    #[test]
    fn a_built_in_experiment_needs_no_file() {
        let start = ["target/release/fsarena", "--db", "/tmp/a b.db", "run", "quick"];
        let header = given("quick", &[&start[..], &["--report", "x.html", "--seed", "7"]].concat());
        assert_eq!(command(&header), "fsarena run quick --seed 7");
        assert_eq!(experiment_file(&header), None);
        let header = given("quick", &["fsarena", "run", "--fs", "ext4,xfs", "--on", "/dev/sdb"]);
        assert_eq!(command(&header), "fsarena run --fs 'ext4,xfs' --on /dev/sdb");
        assert_eq!(experiment_file(&header), None, "values of options are no files");
        let header = given("mine", &["fsarena", "run", "--no-report", "x.toml"]);
        assert_eq!(command(&header), "fsarena run --no-report mine.toml");
    }

    #[test]
    fn a_file_is_named_by_its_experiment_whatever_its_own_name_ends_in() {
        for file in ["~/my tests/mine.toml", "/dev/fd/63", "./mine", "mine", "mine.txt", "./sample"]
        {
            let header = given("sample", &["fsarena", "run", file, "--db=x", "--fs", "it's"]);
            assert_eq!(command(&header), "fsarena run sample.toml --fs \"it's\"", "{file}");
            assert_eq!(experiment_file(&header).as_deref(), Some("sample.toml"), "{file}");
        }
        let header =
            given("sample", &["fsarena", "run", "--yes", "--seed", "3", "--on=/x", "mine"]);
        assert_eq!(command(&header), "fsarena run --seed 3 '--on=/x' sample.toml");
    }

    #[test]
    fn a_consent_is_not_handed_on() {
        let all = ["fsarena", "run", "quick", "--wipe", "/dev/sdb=ext4", "--trust=/x=ann", "--yes"];
        let header = given("quick", &[&all[..], &["--on", "/dev/sdb"]].concat());
        assert_eq!(command(&header), "fsarena run quick --on /dev/sdb");
    }

    #[test]
    fn names_of_files_are_plain() {
        let name = |experiment: &str| file_name(&given(experiment, &["fsarena"]));
        assert_eq!([name("../a<b>"), name("")], ["---a-b-.toml", "experiment.toml"]);
    }

    #[test]
    fn other_commands_stand_as_they_are() {
        let header = given("import-fio", &["fsarena", "import", "a/b.json"]);
        assert_eq!(command(&header), "fsarena import a/b.json");
        assert_eq!(command(&given("", &[])), "fsarena");
    }
}
