//! The description of an application: one TOML file. `applications/README.md` has the format.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::de::DeTable;

/// The version of the format.
const SCHEMA: u32 = 1;
const NAME_MOST: usize = 64;
/// Longest of a check, seconds.
const CHECK_LIMIT_MOST_S: u64 = 3600;
/// Where the format is written down.
const FORMAT: &str = "applications/README.md has the format";

/// What is done, and how it is checked. Commands are for `/bin/sh`, in the root of the mounted file
/// system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Version of the format: 1.
    pub schema: u32,
    /// Small letters, digits and `-`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Where it is written what should be safe.
    pub source: String,
    #[serde(default)]
    pub notes: Vec<String>,
    /// Programs, each with the package of Debian that brings it.
    #[serde(default)]
    pub needs: BTreeMap<String, String>,
    /// Directories of programs besides those of `PATH`.
    #[serde(default)]
    pub path: Vec<PathBuf>,
    /// Made and synced before the power can go.
    #[serde(default)]
    pub setup: String,
    /// Prints a line for each unit of work, when it regards it as durable. Ends by itself.
    pub command: String,
    /// Ends with 0 where the data are whole, and prints `found N`.
    pub check: String,
    /// A check that takes longer has failed; in seconds.
    #[serde(default = "check_limit_s")]
    pub check_limit_s: u64,
}

fn check_limit_s() -> u64 {
    60
}

/// A description that cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}, line {line}: {what}; {remedy}")]
pub struct ApplicationError {
    pub file: String,
    pub line: usize,
    pub what: String,
    pub remedy: String,
}

/// A value that is not right: key, what, what to do.
type Fault = (&'static str, String, &'static str);

impl Application {
    /// Reads a description; `file` is its name in errors.
    ///
    /// # Errors
    /// What is not TOML, an unknown or missing key, and what cannot be run, with the line and what
    /// to do.
    pub fn parse(text: &str, file: &str) -> Result<Self, ApplicationError> {
        let error = |at: usize, what: String, remedy: &str| ApplicationError {
            file: file.to_owned(),
            line: text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1,
            what,
            remedy: remedy.to_owned(),
        };
        let read: Result<Self, toml::de::Error> = toml::from_str(text);
        let application = read.map_err(|fault| {
            let what = fault.message().lines().collect::<Vec<_>>().join(", ");
            error(fault.span().map_or(0, |span| span.start), what, FORMAT)
        })?;
        let refused = |(key, what, remedy): Fault| error(start_of(text, key), what, remedy);
        application.check_values().map_err(refused)?;
        Ok(application)
    }

    fn check_values(&self) -> Result<(), Fault> {
        if self.schema != SCHEMA {
            let what = format!("schema {} is not known", self.schema);
            return Err(("schema", what, "write `schema = 1`"));
        }
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let length = self.name.len();
        if length == 0 || length > NAME_MOST || !self.name.chars().all(is_letter) {
            let what = format!("{:?} is no name", self.name);
            return Err(("name", what, "use small letters, digits and `-`, up to 64"));
        }
        let line = |key, text: &str| {
            let is_line = !text.trim().is_empty() && !text.contains('\n');
            let what = || (key, format!("`{key}` is empty or has lines"), "write one line");
            is_line.then_some(()).ok_or_else(what)
        };
        line("title", &self.title)?;
        line("source", &self.source)?;
        for (key, text) in [("command", &self.command), ("check", &self.check)] {
            if text.trim().is_empty() {
                return Err((key, format!("`{key}` is empty"), "write a command of the shell"));
            }
        }
        for (key, text) in
            [("setup", &self.setup), ("command", &self.command), ("check", &self.check)]
        {
            if text.contains('\0') {
                return Err((key, format!("`{key}` has a zero byte"), "leave it out"));
            }
        }
        if self.needs.keys().any(|program| program.is_empty() || program.contains('/')) {
            let what = "`needs` has a program that is empty or a path".to_owned();
            return Err(("needs", what, "write `{ program = \"package of Debian\" }`"));
        }
        if !self.path.iter().all(|dir| dir.is_absolute()) {
            let what = "`path` has a directory that does not begin at `/`".to_owned();
            return Err(("path", what, "write it from `/`"));
        }
        if !(1..=CHECK_LIMIT_MOST_S).contains(&self.check_limit_s) {
            let what = format!("`check_limit_s` is {}, which cannot be", self.check_limit_s);
            return Err(("check_limit_s", what, "use 1 to 3600"));
        }
        Ok(())
    }
}

/// Where the value of a key begins.
fn start_of(text: &str, key: &str) -> usize {
    let Ok(document) = DeTable::parse(text) else { return 0 };
    document.get_ref().get(key).map_or(0, |value| value.span().start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "schema = 1\nname = \"a-1\"\ntitle = \"t\"\nsource = \"s\"\n\
                        command = \"echo 1\"\ncheck = \"echo found 1\"\n";

    fn refused(from: &str, to: &str) -> String {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT);
        Application::parse(&text, "a.toml").unwrap_err().to_string()
    }

    #[test]
    fn the_least_description_is_read() {
        let one = Application::parse(TEXT, "a.toml").unwrap();
        assert_eq!((one.check_limit_s, one.setup.as_str()), (60, ""));
        assert!(one.needs.is_empty() && one.path.is_empty() && one.notes.is_empty());
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Application>(&text).unwrap(), one);
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_line() {
        let name = refused("\"a-1\"", "\"A\"");
        assert_eq!(
            name,
            "a.toml, line 2: \"A\" is no name; use small letters, digits and `-`, up to 64"
        );
        assert!(refused("schema = 1", "schema = 2").starts_with("a.toml, line 1: schema 2"));
        assert!(refused("\"s\"", "\"\"").contains("line 4: `source` is empty or has lines"));
        assert!(refused("\"echo 1\"", "\" \"").contains("line 5: `command` is empty"));
        assert!(refused("schema = 1", "schema = 1\nsetpu = \"x\"").contains("unknown field"));
        assert!(refused("check = ", "chekc = ").contains("unknown field"));
        let missing = refused("check = \"echo found 1\"\n", "");
        assert!(missing.contains("missing field `check`"), "{missing}");
        let limit = refused("schema = 1", "schema = 1\ncheck_limit_s = 0");
        assert!(limit.contains("line 2: `check_limit_s` is 0"), "{limit}");
        let path = refused("schema = 1", "schema = 1\npath = [\"bin\"]");
        assert!(path.contains("line 2: `path`"), "{path}");
        let needs = refused("schema = 1", "schema = 1\nneeds = { \"/bin/x\" = \"x\" }");
        assert!(needs.contains("line 2: `needs`"), "{needs}");
        assert!(refused("title", "title = ").starts_with("a.toml, line 3: "));
    }
}
