//! Names of hosts: of an option, separated by commas, or of a file, one a line.
//!
//! A name is handed to ssh as an argument. What begins with a dash would be an option there, and
//! could run anything (`-oProxyCommand=…`); so could what a `ProxyCommand` of the user's puts into
//! a shell. Only plain characters are taken: all else gets a name in ssh_config(5).

use fsarena_bounded::{Bounded, TooLong};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Hosts of one list, at most.
pub const HOSTS_MAX: usize = 1000;
/// Bytes of a host with its user, at most.
const NAME_MAX_BYTES: usize = 255;
/// Bytes of a file, at most.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// A machine as ssh is told of it: a name, an address or an alias, with a user or without:
/// `ann@db1`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Host(String);

impl Host {
    /// The host of this name.
    ///
    /// # Errors
    /// What is wrong with it and what to do, without the name.
    pub fn parse(name: &str) -> Result<Self, String> {
        let (user, host) = match name.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, name),
        };
        if name.is_empty() {
            return Err("a name is empty; write names with one comma between them".to_owned());
        }
        if name.len() > NAME_MAX_BYTES {
            return Err(format!("it is longer than {NAME_MAX_BYTES} bytes; no host is called so"));
        }
        if name.split('@').any(|part| part.starts_with('-')) {
            return Err(
                "it begins with a dash, and ssh would take it for an option; give the host \
                        another name in ssh_config(5)"
                    .to_owned(),
            );
        }
        if name.split('@').any(str::is_empty) {
            return Err("a name is missing; a user and a host are written ann@db1".to_owned());
        }
        let is_host = |c: char| c.is_ascii_alphanumeric() || "._-:%".contains(c);
        let is_user = |c: char| c.is_ascii_alphanumeric() || "._-+@".contains(c);
        let bad = host.chars().find(|c| !is_host(*c));
        match bad.or_else(|| user?.chars().find(|c| !is_user(*c))) {
            None => Ok(Self(name.to_owned())),
            Some(c) => Err(format!(
                "{c:?} is not taken; a host has letters, digits and . _ - : %, and anything else \
                 gets such a name in ssh_config(5)"
            )),
        }
    }

    /// As ssh is told of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Hosts in their order, each once; at least one and at most [`HOSTS_MAX`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostList(Vec<Host>);

/// A list of hosts that is none.
#[derive(Debug, thiserror::Error)]
pub enum HostListError {
    /// A name that is not taken.
    #[error("{place}: {name:?}: {why}")]
    Name {
        /// The option, or file and line.
        place: String,
        /// As it is written.
        name: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// A host that is in it already.
    #[error("{place}: {name:?} is named twice (before: {before}); leave one of them out")]
    Twice { place: String, name: String, before: String },
    /// More than a list may have.
    #[error("{place}: more than {HOSTS_MAX} hosts; split them into several lists")]
    TooMany { place: String },
    /// A list without a host.
    #[error("{place}: no host is named; write names, or a file with one on each line")]
    Empty { place: String },
    /// A file that cannot be read.
    #[error("{place}: {why}; name a file with one host on each line, or hosts: a,b,c")]
    File {
        /// The file.
        place: String,
        /// Why not.
        why: String,
    },
}

impl HostList {
    /// The value of an option: `a,b,ann@c`, or a file with one host on each line. A value with a
    /// slash is a file, and so is the name of one in the working directory.
    ///
    /// # Errors
    /// When it is no list, or the file cannot be read; names the option or the file and its line.
    pub fn from_option(option: &str, value: &str) -> Result<Self, HostListError> {
        let path = Path::new(value);
        if value.contains('/') || path.is_file() {
            return Self::from_file(value, &read(path, value)?);
        }
        Self::from_names(option, value)
    }

    /// Names with commas between them; `place` is where they are written.
    ///
    /// # Errors
    /// When one is not taken or is there twice, or there are too many.
    pub fn from_names(place: &str, text: &str) -> Result<Self, HostListError> {
        let names = text.split(',').map(|name| (place.to_owned(), name.trim()));
        Self::collect(place, names.filter(|_| !text.trim().is_empty()))
    }

    /// The text of a file: one host on each line; from a `#` on a line is a comment. `file` is its
    /// name.
    ///
    /// # Errors
    /// As [`HostList::from_names`]; places are `FILE:LINE`.
    pub fn from_file(file: &str, text: &str) -> Result<Self, HostListError> {
        let lines = text.lines().enumerate().map(|(at, line)| {
            let name = line.split('#').next().unwrap_or_default().trim();
            (format!("{file}:{}", at + 1), name)
        });
        Self::collect(file, lines.filter(|(_, name)| !name.is_empty()))
    }

    fn collect<'t>(
        whole: &str,
        names: impl Iterator<Item = (String, &'t str)>,
    ) -> Result<Self, HostListError> {
        let mut places: BTreeMap<&str, String> = BTreeMap::new();
        let mut hosts = Vec::new();
        for (place, name) in names {
            let host = Host::parse(name).map_err(|why| HostListError::Name {
                place: place.clone(),
                name: name.chars().take(NAME_MAX_BYTES).collect(),
                why,
            })?;
            if hosts.len() == HOSTS_MAX {
                return Err(HostListError::TooMany { place });
            }
            if let Some(before) = places.insert(name, place.clone()) {
                return Err(HostListError::Twice { place, name: name.to_owned(), before });
            }
            hosts.push(host);
        }
        match hosts.is_empty() {
            true => Err(HostListError::Empty { place: whole.to_owned() }),
            false => Ok(Self(hosts)),
        }
    }

    /// The hosts, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[Host] {
        &self.0
    }
}

/// The text of a file that is small enough.
fn read(path: &Path, place: &str) -> Result<String, HostListError> {
    let read = Bounded::open(path, FILE_MAX_BYTES).and_then(|mut file| file.whole_text());
    read.map_err(|found| {
        let why = match TooLong::in_error(&found) {
            Some(_) => "it is larger than 1 MiB".to_owned(),
            None => found.to_string(),
        };
        HostListError::File { place: place.to_owned(), why }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &HostList) -> Vec<&str> {
        list.as_slice().iter().map(Host::as_str).collect()
    }

    #[test]
    fn names_of_an_option() {
        let list = HostList::from_names("--hosts", "a, ann@b ,10.0.0.1,fe80::1%eth0,x_y").unwrap();
        assert_eq!(names(&list), ["a", "ann@b", "10.0.0.1", "fe80::1%eth0", "x_y"]);
        let refused = |text: &str| HostList::from_names("--hosts", text).unwrap_err().to_string();
        assert!(refused("").starts_with("--hosts: no host is named"), "{}", refused(""));
        assert!(refused("a,,b").contains("a name is empty"));
        assert!(refused("a,b,a").contains("\"a\" is named twice"));
        assert!(refused("ann@").contains("ann@db1") && refused("@a").contains("ann@db1"));
        assert!(refused(&"x".repeat(300)).contains("255 bytes"));
        let many: Vec<String> = (0..=HOSTS_MAX).map(|number| format!("h{number}")).collect();
        assert!(refused(&many.join(",")).contains("more than 1000 hosts"));
    }

    #[test]
    fn hostile_names_are_refused_and_shown_as_escapes() {
        for name in [
            "-oProxyCommand=touch /tmp/x",
            "-oProxyCommand=x@a",
            "ann@-oProxyCommand=x",
            "@-ann@b",
            "-l",
            "a b",
            "a;id",
            "$(id)",
            "`id`@a",
            "a\u{1b}[2J",
            "a\u{202e}b",
            "a'b",
            "a\\b",
            "ssh://a",
            "größer",
            "a=b",
        ] {
            let error = HostList::from_file("list", name).unwrap_err().to_string();
            assert!(error.starts_with("list:1: \""), "{error}");
            assert!(!error.chars().any(fsarena_model::visible::is_hidden), "{error}");
        }
    }

    #[test]
    fn a_file_has_one_host_on_each_line() {
        let text = "# ours\na\r\n\n  ann@b  # the old one\nc#x\n";
        assert_eq!(names(&HostList::from_file("f", text).unwrap()), ["a", "ann@b", "c"]);
        let refused = |text: &str| HostList::from_file("f", text).unwrap_err().to_string();
        assert!(refused("a\n\nb\na\n").starts_with("f:4: \"a\" is named twice (before: f:1)"));
        assert!(refused("a\nb c\n").starts_with("f:2: \"b c\": ' ' is not taken"));
        assert!(refused("# nothing\n").starts_with("f: no host is named"));
    }

    #[test]
    fn a_value_with_a_slash_is_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hosts");
        std::fs::write(&path, "a\nb\n").unwrap();
        let path = path.display().to_string();
        assert_eq!(names(&HostList::from_option("--hosts", &path).unwrap()), ["a", "b"]);
        let missing = HostList::from_option("--hosts", "/nonexistent/hosts").unwrap_err();
        assert!(missing.to_string().starts_with("/nonexistent/hosts: "), "{missing}");
        let directory = HostList::from_option("--hosts", "/tmp/").unwrap_err().to_string();
        assert!(directory.starts_with("/tmp/: "), "{directory}");
        std::fs::write(&path, "#".repeat(2 << 20)).unwrap();
        let large = HostList::from_option("--hosts", &path).unwrap_err().to_string();
        assert!(large.contains("larger than 1 MiB"), "{large}");
    }
}
