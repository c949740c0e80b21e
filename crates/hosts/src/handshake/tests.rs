//! Both sides against each other, and each against somebody who does not know the secret.

use super::*;
use std::os::unix::net::UnixStream;
use std::thread;

const VERSION: &str = "0.1.0";

fn secret(text: &str) -> Secret {
    Secret::from_text("test", &text.repeat(8)).unwrap()
}

fn identity(rank: u32, size: u32) -> Identity {
    Identity { rank, size, process: Bytes32([7; 32]) }
}

fn host() -> HostHello {
    HostHello {
        hostname: "node1".to_owned(),
        version: VERSION.to_owned(),
        arch: "x86_64".to_owned(),
        ..HostHello::default()
    }
}

fn wanted(secret: &Secret) -> RunnerSide<'_> {
    RunnerSide { secret, size: 3, version: VERSION, arch: "x86_64" }
}

/// Does what an [`Admission`] asks for on a connection that is waited for.
fn admit(
    stream: &mut UnixStream,
    wanted: &RunnerSide<'_>,
    take: &dyn Fn(&Arrival) -> Result<(), String>,
) -> Admitted {
    let mut admission = Admission::default();
    let mut bytes = [0; 100];
    loop {
        let count = stream.read(&mut bytes).map_err(of_connection)?;
        if count == 0 {
            return Err(HandshakeError::Closed);
        }
        match admission.hear(&bytes[..count], wanted, take) {
            Ok(Step::Wait) => {}
            Ok(Step::Challenge(line)) => stream.write_all(&line).unwrap(),
            Ok(Step::Take(arrival, line)) => {
                stream.write_all(&line).unwrap();
                return Ok(*arrival);
            }
            Err(error) => {
                let _ = error.answer().map(|says| say(stream, &says));
                return Err(error);
            }
        }
    }
}

type Admitted = Result<Arrival, HandshakeError>;

/// What a runner with the secret "right" makes of what `rank` does at the other end.
fn admitted<T>(rank: impl FnOnce(&mut UnixStream) -> T) -> (Admitted, T) {
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let runner = thread::spawn(move || {
        let right = secret("right");
        admit(&mut far, &wanted(&right), &|_| Ok(()))
    });
    let done = rank(&mut near);
    drop(near);
    (runner.join().unwrap(), done)
}

fn introduced(secret: &Secret, identity: &Identity, host: &HostHello) -> (Admitted, String) {
    let (admitted, said) = admitted(|near| introduce(near, secret, identity, host));
    (admitted, said.err().map(|error| error.to_string()).unwrap_or_default())
}

#[test]
fn two_sides_with_one_secret_agree() {
    let (arrival, said) = introduced(&secret("right"), &identity(2, 3), &host());
    assert_eq!(arrival.unwrap(), Arrival { identity: identity(2, 3), host: host() });
    assert_eq!(said, "");
}

#[test]
fn a_rank_with_another_secret_is_refused() {
    let (refused, said) = introduced(&secret("wrong"), &identity(0, 3), &host());
    assert!(matches!(refused, Err(HandshakeError::WrongSecret)), "{refused:?}");
    assert!(said.contains("the secret is another one"), "{said}");
}

#[test]
fn a_runner_with_another_secret_is_not_obeyed() {
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let runner = thread::spawn(move || {
        // It takes whatever proof it gets, and proves what it cannot know.
        let RankSays::Greeting { rank, size, process, nonce, .. } = hear(&mut far).unwrap() else {
            panic!("no greeting");
        };
        let runner_nonce = Bytes32([1; 32]);
        say(&mut far, &RunnerSays::Challenge { protocol: PROTOCOL, nonce: runner_nonce }).unwrap();
        let _: RankSays = hear(&mut far).unwrap();
        let terms = Terms { rank_nonce: nonce, runner_nonce, process, rank, size };
        let proof = secret("wrong").proof(Role::Runner, &terms);
        say(&mut far, &RunnerSays::Taken { proof }).unwrap();
    });
    let error = introduce(&mut near, &secret("right"), &identity(0, 3), &host()).unwrap_err();
    assert!(matches!(error, HandshakeError::WrongSecret), "{error:?}");
    runner.join().unwrap();
}

/// Who has heard a rank once cannot say the same again, nor return a proof to its maker.
#[test]
fn a_proof_is_good_once_and_for_one_role() {
    let greeting = RankSays::Greeting {
        protocol: PROTOCOL,
        rank: 0,
        size: 3,
        process: Bytes32([7; 32]),
        nonce: Bytes32([9; 32]),
    };
    let terms = |runner_nonce| Terms {
        rank_nonce: Bytes32([9; 32]),
        runner_nonce,
        process: Bytes32([7; 32]),
        rank: 0,
        size: 3,
    };
    let with_proof = |proof: &dyn Fn(Bytes32) -> Bytes32| {
        let (admitted, ()) = admitted(|near| {
            say(near, &greeting).unwrap();
            let RunnerSays::Challenge { nonce, .. } = hear(near).unwrap() else { panic!() };
            say(near, &RankSays::Proof { proof: proof(nonce), host: host() }).unwrap();
            let _ = hear::<RunnerSays>(near);
        });
        admitted
    };
    let right = secret("right");
    let heard_before = right.proof(Role::Rank, &terms(Bytes32([3; 32])));
    assert!(matches!(with_proof(&|_| heard_before), Err(HandshakeError::WrongSecret)));
    let swapped = with_proof(&|nonce| right.proof(Role::Runner, &terms(nonce)));
    assert!(matches!(swapped, Err(HandshakeError::WrongSecret)));
    let other_rank = |nonce| right.proof(Role::Rank, &Terms { rank: 1, ..terms(nonce) });
    assert!(matches!(with_proof(&other_rank), Err(HandshakeError::WrongSecret)));
    assert!(with_proof(&|nonce| right.proof(Role::Rank, &terms(nonce))).is_ok());
}

/// A runner that is dialled by itself, or repeats what it hears, learns nothing to prove with.
#[test]
fn a_rank_does_not_take_its_own_proof() {
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let mirror = thread::spawn(move || {
        let RankSays::Greeting { nonce, .. } = hear(&mut far).unwrap() else { panic!() };
        say(&mut far, &RunnerSays::Challenge { protocol: PROTOCOL, nonce }).unwrap();
        let RankSays::Proof { proof, .. } = hear(&mut far).unwrap() else { panic!() };
        say(&mut far, &RunnerSays::Taken { proof }).unwrap();
    });
    let error = introduce(&mut near, &secret("right"), &identity(0, 3), &host()).unwrap_err();
    assert!(matches!(error, HandshakeError::WrongSecret), "{error:?}");
    mirror.join().unwrap();
}

#[test]
fn ranks_that_are_not_wanted_are_told_why() {
    let refused = |identity: Identity, host: HostHello, words: &str| {
        let (admitted, said) = introduced(&secret("right"), &identity, &host);
        let error = admitted.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(error, said, "both sides say the same");
    };
    refused(identity(0, 4), host(), "rank 0 on node1 is one of 4 and the runner has --ranks 3");
    refused(identity(3, 3), host(), "rank 3 on node1 is beyond 3 ranks");
    let old = HostHello { version: "0.0.1".to_owned(), ..host() };
    refused(identity(0, 3), old, "rank 0 on node1: fsarena 0.0.1 is there and 0.1.0 here");
    let other = HostHello { arch: "riscv64".to_owned(), ..host() };
    refused(identity(0, 3), other, "riscv64 is there and x86_64 here");
    let hidden = HostHello { hostname: "a\u{1b}[2J".to_owned(), ..host() };
    refused(identity(0, 3), hidden, "expected a plain host name");
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let taken = thread::spawn(move || {
        let right = secret("right");
        admit(&mut far, &wanted(&right), &|_| Err("rank 0 is there already".to_owned())).is_err()
    });
    let error = introduce(&mut near, &secret("right"), &identity(0, 3), &host()).unwrap_err();
    assert_eq!(error.to_string(), "rank 0 is there already");
    assert!(taken.join().unwrap());
}

#[test]
fn lines_that_are_cut_or_foreign_are_refused() {
    let said = |text: &[u8]| admitted(|near| near.write_all(text).unwrap()).0.unwrap_err();
    assert!(matches!(said(b""), HandshakeError::Closed));
    assert!(matches!(said(br#"{"greeting":{"protocol":1,"rank":0"#), HandshakeError::Closed));
    for text in ["GET / HTTP/1.1\r\n", "\n", "{}\n", "{\"begin\":null}\n", "\u{0}\u{1}\n"] {
        assert!(matches!(said(text.as_bytes()), HandshakeError::Foreign), "{text:?}");
    }
    assert!(matches!(said(&vec![b'x'; LINE_MOST_BYTES + 1]), HandshakeError::Foreign));
    let newer = format!(
        r#"{{"greeting":{{"protocol":2,"rank":0,"size":3,"process":"{0}","nonce":"{0}"}}}}"#,
        "00".repeat(32)
    );
    assert!(matches!(said(format!("{newer}\n").as_bytes()), HandshakeError::Protocol(2)));
    assert!(matches!(said(newer.replace("00\"", "0\"").as_bytes()), HandshakeError::Closed));
}

#[test]
fn whoever_says_more_than_one_line_at_once_is_no_rank() {
    let right = secret("right");
    let mut greeting = Vec::new();
    let nonce = Bytes32([9; 32]);
    let says = RankSays::Greeting { protocol: PROTOCOL, rank: 0, size: 3, process: nonce, nonce };
    say(&mut greeting, &says).unwrap();
    let hear = |admission: &mut Admission, bytes: &[u8]| {
        admission.hear(bytes, &wanted(&right), &|_| panic!("a proof by chance"))
    };
    let mut slow = Admission::default();
    for byte in &greeting[..greeting.len() - 1] {
        assert!(matches!(hear(&mut slow, &[*byte]), Ok(Step::Wait)));
    }
    assert!(!slow.has_greeted());
    assert!(matches!(hear(&mut slow, b"\n"), Ok(Step::Challenge(_))));
    assert!(slow.has_greeted());
    assert!(matches!(hear(&mut slow, &greeting), Err(HandshakeError::Foreign)), "twice");
    greeting.push(b'{');
    let error = hear(&mut Admission::default(), &greeting).unwrap_err();
    assert!(matches!(error, HandshakeError::Foreign));
}

#[test]
fn a_reason_is_shown_as_escapes_and_cut() {
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let reason = format!("\u{1b}[2J{}", "é".repeat(1000));
    say(&mut far, &RunnerSays::Refused(reason)).unwrap();
    let error = introduce(&mut near, &secret("right"), &identity(0, 3), &host()).unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with("\\u{1b}[2J") && error.chars().count() < 320, "{error}");
}
