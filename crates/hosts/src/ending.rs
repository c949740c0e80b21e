//! What the end of an ssh means: whose fault it was, told from its exit code, what it said on
//! standard error, and whether the command on the host had said anything before.
//!
//! ssh itself ends with 255 for whatever is wrong with the connection. Shells end with 127 where
//! there is no such program and with 126 where it cannot be run.

use crate::list::Host;
use fsarena_model::visible;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Characters of a message of another machine that are shown.
const REASON_CHARS: usize = 200;

/// How a command on another machine came to its end. Reasons are one line each, from ssh or from
/// the host, with nothing hidden in them; they may be empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// With exit code 0.
    Done,
    /// With another exit code, of the command itself.
    Failed { code: i32, reason: String },
    /// There is no such program on the host.
    NotFound { reason: String },
    /// The program is there, and the host does not run it.
    NotExecutable { is_foreign: bool, reason: String },
    /// No connection came about.
    Unreachable { reason: String },
    /// The host lets nobody in without a password.
    PermissionDenied { reason: String },
    /// The key of the host is not known, or is another one than it was.
    HostKey { reason: String },
    /// The connection ended before the command did.
    Lost { reason: String },
    /// Somebody has killed ssh.
    Killed { signal: i32 },
}

impl Ending {
    /// The meaning of an end. `has_answered` says that the command on the host had said something.
    #[must_use]
    pub fn new(status: ExitStatus, stderr: &str, has_answered: bool) -> Self {
        let Some(code) = status.code() else {
            return Self::Killed { signal: status.signal().unwrap_or(0) };
        };
        let reason = reason(stderr);
        match code {
            0 => Self::Done,
            255 if has_answered => Self::Lost { reason },
            255 => Self::of_connection(stderr, reason),
            127 => Self::NotFound { reason },
            126 => {
                let is_foreign = stderr.to_ascii_lowercase().contains("exec format error");
                Self::NotExecutable { is_foreign, reason }
            }
            code => Self::Failed { code, reason },
        }
    }

    fn of_connection(stderr: &str, last: String) -> Self {
        let line_with = |words: &[&str]| {
            let mut lines = stderr.lines().rev();
            lines.find(|line| words.iter().any(|word| line.contains(word))).map(shown)
        };
        if let Some(reason) = line_with(&["Host key verification failed", "No matching host key"]) {
            return Self::HostKey { reason };
        }
        if let Some(reason) = line_with(&["Permission denied (", "Too many authentication fail"]) {
            return Self::PermissionDenied { reason };
        }
        Self::Unreachable { reason: last }
    }

    /// One sentence for people: the host, what happened, and what to do where that is known.
    /// `program` is what was to be run there.
    #[must_use]
    pub fn sentence(&self, host: &Host, program: &str) -> String {
        let program = visible::one_line(program);
        let with = |text: &str, reason: &str| match reason {
            "" => text.to_owned(),
            reason => format!("{text}: {reason}"),
        };
        let what = match self {
            Self::Done => "done".to_owned(),
            Self::Failed { code, reason } => {
                with(&format!("{program} ended with exit code {code}"), reason)
            }
            Self::NotFound { reason } => {
                format!(
                    "{}; name it with its path",
                    with(&format!("there is no {program}"), reason)
                )
            }
            Self::NotExecutable { is_foreign: true, .. } => {
                format!("{program} is of another architecture than the host; build it for that one")
            }
            Self::NotExecutable { is_foreign: false, reason } => {
                let text = with(&format!("{program} cannot be run"), reason);
                format!("{text}; its file must be executable, and its directory not noexec")
            }
            Self::Unreachable { reason } => {
                format!("{}; see that `ssh {host}` works", with("cannot be reached", reason))
            }
            Self::PermissionDenied { reason } => format!(
                "{}; a key or an agent is needed: `ssh -o BatchMode=yes {host} true` has to work",
                with("no one is let in without a password", reason)
            ),
            Self::HostKey { reason } => format!(
                "{}; `ssh {host}` by hand shows its key",
                with("its key is not known here, or has changed", reason)
            ),
            Self::Lost { reason } => with("the connection was lost", reason),
            Self::Killed { signal } => format!("ssh was killed by signal {signal}"),
        };
        format!("{host}: {what}")
    }
}

/// The last line that says something.
fn reason(stderr: &str) -> String {
    stderr.lines().rev().map(shown).find(|line| !line.is_empty()).unwrap_or_default()
}

/// A line as it is shown: nothing hidden, without a full stop, and not too long.
fn shown(line: &str) -> String {
    let line = visible::one_line(line.trim().trim_end_matches('.'));
    match line.char_indices().nth(REASON_CHARS) {
        None => line.into_owned(),
        Some((at, _)) => format!("{}…", &line[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i32, stderr: &str, has_answered: bool) -> Ending {
        Ending::new(ExitStatus::from_raw(code << 8), stderr, has_answered)
    }

    fn sentence(code: i32, stderr: &str, has_answered: bool) -> String {
        ended(code, stderr, has_answered).sentence(&Host::parse("a").unwrap(), "fsarena")
    }

    #[test]
    fn connections_that_do_not_come_about() {
        let refused = "ssh: connect to host a port 22: Connection refused\n";
        assert_eq!(
            sentence(255, refused, false),
            "a: cannot be reached: ssh: connect to host a port 22: Connection refused; see that \
             `ssh a` works"
        );
        let denied = "ann@a: Permission denied (publickey,password).\r\n";
        let text = sentence(255, denied, false);
        assert!(text.contains("without a password: ann@a: Permission denied (publickey"), "{text}");
        let unknown = "No ED25519 host key is known for a and you have requested strict checking.\n\
                       Host key verification failed.\n";
        assert!(matches!(ended(255, unknown, false), Ending::HostKey { .. }));
        let name = "ssh: Could not resolve hostname a: Name or service not known\n";
        assert!(matches!(ended(255, name, false), Ending::Unreachable { .. }));
        assert!(matches!(ended(255, "", false), Ending::Unreachable { .. }));
    }

    #[test]
    fn connections_that_end_too_early() {
        let lost = "Connection to a closed by remote host.\n";
        let text = sentence(255, lost, true);
        assert_eq!(text, "a: the connection was lost: Connection to a closed by remote host");
        // What the host has said before is no reason of ssh's.
        let denied = "Permission denied (x)\nTimeout, server a not responding.\n";
        assert!(sentence(255, denied, true).ends_with("not responding"));
        let killed = Ending::new(ExitStatus::from_raw(9), "", true);
        assert_eq!(killed, Ending::Killed { signal: 9 });
    }

    #[test]
    fn programs_that_do_not_run() {
        let text = sentence(127, "sh: 1: exec: fsarena: not found\n", false);
        assert!(text.starts_with("a: there is no fsarena: sh: 1: exec: fsarena: not"), "{text}");
        let foreign = "bash: line 1: /x: cannot execute binary file: Exec format error\n";
        assert!(sentence(126, foreign, false).contains("another architecture"));
        let text = sentence(126, "sh: 1: exec: fsarena: Permission denied\n", false);
        assert!(text.contains("cannot be run: sh: 1: exec: fsarena: Permission denied"), "{text}");
        assert_eq!(sentence(3, "", true), "a: fsarena ended with exit code 3");
        assert_eq!(ended(0, "anything\n", false), Ending::Done);
    }

    #[test]
    fn what_a_host_says_is_shown_as_escapes_and_cut() {
        let text = sentence(1, "\u{1b}]0;title\u{7}\u{202e}x\n\n", true);
        assert_eq!(text, "a: fsarena ended with exit code 1: \\u{1b}]0;title\\u{7}\\u{202e}x");
        let long = sentence(1, &"é".repeat(5000), true);
        assert!(long.chars().count() < 260 && long.ends_with('…'), "{long}");
    }
}
