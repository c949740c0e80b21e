//! The user's own ssh: which program it is, and a command on another machine.

use crate::list::Host;
use crate::quoting::quoted;

/// A host that does not answer is given up after 20 s, and a connection after a minute of silence.
const OPTIONS: [&str; 5] = [
    "BatchMode=yes",
    "ConnectTimeout=20",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=4",
    "ClearAllForwardings=yes",
];

/// How ssh is started: its program and the user's options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ssh {
    /// Never empty.
    words: Vec<String>,
}

/// A command line of ssh that is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SshError {
    /// Nothing is in it.
    #[error("it is empty; name a program, with its options: \"ssh -F FILE\"")]
    Empty,
    /// A quote is not closed, or a backslash is its last character.
    #[error("{0:?} has a quote that is not closed; quote as in a shell: \"ssh -i 'my key'\"")]
    Quotes(String),
}

impl Ssh {
    /// Program and options of one text, quoted as in a shell: `ssh -F "my config"`. Nothing in it
    /// is expanded.
    ///
    /// # Errors
    /// When it is empty or a quote is not closed.
    pub fn parse(text: &str) -> Result<Self, SshError> {
        let words = shlex::split(text).ok_or_else(|| SshError::Quotes(text.to_owned()))?;
        if words.first().is_none_or(String::is_empty) {
            return Err(SshError::Empty);
        }
        Ok(Self { words })
    }

    /// The program that is started.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.words[0]
    }

    /// The same with the program at this path, where it was found: what is started is not looked
    /// for again.
    #[must_use]
    pub fn at(mut self, path: String) -> Self {
        self.words[0] = path;
        self
    }

    /// Program and arguments that do `words` on `host`. Each of them is one word there, whatever is
    /// in it; the first is a program, and takes the place of the login shell.
    ///
    /// No terminal, no question, no forwarding. The user's own options come first, and the first of
    /// two is the one that ssh takes.
    #[must_use]
    pub fn command_line<W: AsRef<str>>(&self, host: &Host, words: &[W]) -> Vec<String> {
        let mut line = "exec".to_owned();
        for word in words {
            line.push(' ');
            line.push_str(&quoted(word.as_ref()));
        }
        let mut all = self.words.clone();
        all.extend(["-T", "-a", "-x"].map(str::to_owned));
        for option in OPTIONS {
            all.extend(["-o".to_owned(), option.to_owned()]);
        }
        // A host does not begin with a dash, and the line begins with `exec`: neither is an option.
        all.extend([host.as_str().to_owned(), line]);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_user_come_first_and_what_is_done_is_one_word() {
        let ssh = Ssh::parse("ssh -F 'my config' -o Port=2222").unwrap();
        let host = Host::parse("ann@a").unwrap();
        let words = ssh.command_line(&host, &["fsarena", "run", "it's.toml"]);
        assert_eq!(words[..5], ["ssh", "-F", "my config", "-o", "Port=2222"]);
        assert!(words.contains(&"BatchMode=yes".to_owned()));
        assert_eq!(words[words.len() - 2..], ["ann@a", r"exec fsarena run 'it'\''s.toml'"]);
        assert_eq!(Ssh::parse("ssh").unwrap().command_line(&host, &["true"])[0], "ssh");
        let found = ssh.at("/usr/bin/ssh".to_owned());
        assert_eq!(found.command_line(&host, &["true"])[..2], ["/usr/bin/ssh", "-F"]);
    }

    #[test]
    fn what_is_no_command_line_is_refused() {
        assert_eq!(Ssh::parse(" "), Err(SshError::Empty));
        assert_eq!(Ssh::parse("'' -v"), Err(SshError::Empty));
        let error = Ssh::parse("ssh -F 'my").unwrap_err().to_string();
        assert!(error.contains("not closed"), "{error}");
        assert_eq!(Ssh::parse("ssh").unwrap().program(), "ssh");
    }
}
