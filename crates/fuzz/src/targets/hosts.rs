//! Other machines: lists of hosts, what ssh and a host say when a command ends, and what ranks and
//! their runner say to each other before either knows who the other is.

use crate::target::{PLAIN, Target, choice, chosen, texts};
use fsarena_hosts::allocation::{Position, listening_address, runner_address};
use fsarena_hosts::handshake::{
    Admission, Bytes32, HandshakeError, Identity, RankSays, RunnerSays, RunnerSide, Step, hear,
    introduce, say,
};
use fsarena_hosts::{Answer, Answers, Ending, Host, HostList, Secret, Ssh, quoted};
use fsarena_model::visible;
use fsarena_model::work::HostHello;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
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

pub(super) const RANK_MESSAGES: Target = Target {
    name: "rank-messages",
    reads: "what a rank and a runner say before they know each other, and what a launcher says",
    seeds: || {
        let digits = "0123456789abcdef".repeat(4);
        let greeting = format!(
            "{{\"greeting\":{{\"protocol\":1,\"rank\":0,\"size\":2,\"process\":\"{digits}\",\
             \"nonce\":\"{digits}\"}}}}\n"
        );
        let host =
            "{\"hostname\":\"a\",\"boot_id\":\"\",\"version\":\"1\",\"arch\":\"x\",\"unix_ns\":1}";
        let proof = format!("{{\"proof\":{{\"proof\":\"{digits}\",\"host\":{host}}}}}\n");
        let challenge = format!("{{\"challenge\":{{\"protocol\":1,\"nonce\":\"{digits}\"}}}}\n");
        let taken = format!("{{\"taken\":{{\"proof\":\"{digits}\"}}}}\n");
        let whole = [greeting + &proof, challenge + &taken];
        let short = [
            "{\"refused\":\"\u{1b}[2J\"}\n",
            "\"begin\"\n",
            "{\"end\":{\"done\":true}}\n",
            "[fe80::1%eth0]:7727",
            "7727",
            "4",
        ];
        [texts(short), whole.map(String::into_bytes).to_vec()].concat()
    },
    run: rank_messages,
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

/// The other side of a connection: it has said all of this, whatever it hears.
struct Other<'a>(&'a [u8]);

impl Read for Other<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for Other<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Nobody is taken who cannot know the secret; a refusal hides nothing; a message, an address and a
/// position are written and read the same.
fn rank_messages(input: &[u8]) {
    let secret = Secret::random().expect("random numbers");
    let shown = |error: HandshakeError| {
        let text = error.to_string();
        assert!(!text.chars().any(visible::is_hidden), "{text:?}");
        // A reason of the other side is cut, before its hidden characters are escapes.
        assert!(text.chars().count() < 4000, "{text}");
    };
    let wanted = RunnerSide { secret: &secret, size: 2, version: "1", arch: "x" };
    let mut admission = Admission::default();
    for piece in input.split_inclusive(|byte| *byte == b'\n') {
        match admission.hear(piece, &wanted, &|_| panic!("a proof by chance")) {
            Ok(Step::Take(..)) => panic!("a rank that cannot know the secret"),
            Ok(Step::Wait | Step::Challenge(_)) => {}
            Err(error) => {
                shown(error);
                break;
            }
        }
    }
    let identity = Identity { rank: 0, size: 2, process: Bytes32([1; 32]) };
    let taken = introduce(&mut Other(input), &secret, &identity, &HostHello::default());
    shown(taken.expect_err("a runner that cannot know the secret"));
    said_again::<RankSays>(input);
    said_again::<RunnerSays>(input);
    let text = String::from_utf8_lossy(input);
    let hides_nothing = |error: &dyn std::fmt::Display| {
        let error = error.to_string();
        assert!(error.contains("; ") && !error.chars().any(visible::is_hidden), "{error:?}");
    };
    match runner_address(Some(&text), |_| None) {
        Ok(address) => {
            assert_eq!(runner_address(None, |_| Some(address.clone())), Ok(address.clone()))
        }
        Err(error) => hides_nothing(&error),
    }
    match listening_address(&text) {
        Ok((address, _)) => assert!(!address.is_some_and(|address| address.is_empty())),
        Err(error) => hides_nothing(&error),
    }
    match Position::of_environment(|_| Some(text.clone().into_owned())) {
        // Rank and size are one number here.
        Ok(position) => panic!("{position}"),
        Err(error) => hides_nothing(&error),
    }
}

fn said_again<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(input: &[u8]) {
    let Ok(message) = hear::<T>(&mut Other(input)) else { return };
    let mut text = Vec::new();
    say(&mut text, &message).expect("a buffer takes everything");
    // Escapes may be longer than what they stand for.
    match hear::<T>(&mut Other(&text)) {
        Ok(again) => assert_eq!(again, message),
        Err(error) => assert!(text.len() > 4096, "{error}: {}", String::from_utf8_lossy(&text)),
    }
}
