//! Other machines: lists of hosts, and what ssh and a host say when a command ends.

use crate::target::{PLAIN, Target, choice, chosen, texts};
use fsarena_hosts::{Answer, Answers, Ending, Host, HostList, Ssh, quoted};
use fsarena_model::visible;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

pub(super) const HOST_ANSWERS: Target = Target {
    name: "host-answers",
    reads: "what scripts on another machine say of their work",
    seeds: || {
        texts([
            "Welcome\nT machine Linux x86_64\nT version fsarena 0.1.0\n",
            "T send\nT program /srv/fsarena/bin/fsarena-0.1.0\n",
            "T directory /tmp/fsarena-fleet-x\nT database 3\nabc",
        ])
    },
    run: host_answers,
    ..PLAIN
};

pub(super) const HOST_LIST: Target = Target {
    name: "host-list",
    reads: "hosts of an option and of a file, and the command line of ssh",
    seeds: || {
        texts([
            "a,ann@b,10.0.0.1,fe80::1%eth0",
            "# ours\na\n\n ann@b # old\r\nc\n",
            "-oProxyCommand=touch x,b",
            "ssh -F 'my config' -o \"Port=22\" \\\n",
        ])
    },
    run: host_list,
    ..PLAIN
};

pub(super) const SSH_MESSAGES: Target = Target {
    name: "ssh-messages",
    reads: "what ssh and a host say on standard error when a command ends",
    seeds: || {
        [
            (255, "ssh: connect to host a port 22: Connection refused\r\n"),
            (255, "ann@a: Permission denied (publickey,password).\n"),
            (255, "Host key verification failed.\n"),
            (127, "sh: 1: exec: fsarena: not found\n"),
            (126, "bash: line 1: /x: cannot execute binary file: Exec format error\n"),
            (1, "\u{1b}]0;title\u{7}\n"),
        ]
        .map(|(code, text)| chosen(code, text))
        .to_vec()
    },
    run: ssh_messages,
    ..PLAIN
};

/// Answers come to an end, and none goes over its line; what is none is an error without anything
/// of the host in it.
fn host_answers(input: &[u8]) {
    let mut answers = Answers::new(input, "T");
    for _ in 0..=input.len() {
        match answers.next_answer() {
            Ok(None) => return,
            Ok(Some(Answer::Machine(text) | Answer::Version(text) | Answer::Program(text))) => {
                assert!(!text.contains('\n'), "{text:?}");
            }
            Ok(Some(_)) => {}
            Err(error) => return assert!(!error.to_string().contains(char::is_control), "{error}"),
        }
    }
    panic!("more answers than bytes");
}

/// No host is an option of ssh or more than one word; a list is written and read the same; a
/// refusal names its place and hides nothing.
fn host_list(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for found in [HostList::from_names("--hosts", &text), HostList::from_file("f", &text)] {
        match found {
            Ok(list) => {
                let names: Vec<&str> = list.as_slice().iter().map(Host::as_str).collect();
                for name in &names {
                    assert!(!name.is_empty() && !name.contains("@-"), "{text:?}: {name:?}");
                    assert!(!name.starts_with('-'), "{text:?}: {name:?}");
                    assert_eq!(quoted(name).trim_matches('\''), *name, "{text:?}");
                    assert!(!name.contains(char::is_whitespace), "{text:?}: {name:?}");
                }
                let (one, other) = (names.join(","), names.join("\n"));
                assert_eq!(HostList::from_names("--hosts", &one).unwrap_or_else(refused), list);
                assert_eq!(HostList::from_file("f", &other).unwrap_or_else(refused), list);
            }
            Err(error) => {
                let error = error.to_string();
                assert!(error.starts_with("--hosts: ") || error.starts_with("f:"), "{error}");
                assert!(error.contains("; ") && !error.chars().any(visible::is_hidden), "{error}");
            }
        }
    }
    match Ssh::parse(&text) {
        Ok(ssh) => assert!(!ssh.program().is_empty(), "{text:?}"),
        Err(error) => assert!(!error.to_string().contains(char::is_control), "{error}"),
    }
}

fn refused(error: fsarena_hosts::HostListError) -> HostList {
    panic!("what was written is not read: {error}");
}

/// Whatever is said, it becomes one sentence that begins with the host and hides nothing.
fn ssh_messages(input: &[u8]) {
    let Some((code, text)) = choice(input) else { return };
    let code = i32::try_from(code).unwrap_or(255);
    let host = Host::parse("a").expect("a plain name");
    for status in [ExitStatus::from_raw(code << 8), ExitStatus::from_raw(code & 0x7f)] {
        for has_answered in [false, true] {
            let ending = Ending::new(status, &text, has_answered);
            let sentence = ending.sentence(&host, "fsarena");
            assert!(sentence.starts_with("a: "), "{sentence}");
            assert!(!sentence.chars().any(visible::is_hidden), "{sentence:?}");
            assert!(sentence.chars().count() < 500, "{sentence}");
            assert_eq!(ending == Ending::Done, status.success(), "{status}");
        }
    }
}
