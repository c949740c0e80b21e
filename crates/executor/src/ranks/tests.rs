//! Hosts that are there and do not go on: scripts in the place of ssh.

use super::*;
use fsarena_model::work::Task;
use fsarena_testkit::records;
use std::time::Instant;

/// Says what it is, is ready, tells its clock, and does `on_go` when it is let go.
fn well_until(on_go: &str) -> String {
    format!(
        "echo \"$HELLO\"; read spec; echo '\"ready\"'; while read line; do case $line in \
         clock) echo '{{\"clock\":{{\"monotonic_ns\":1}}}}';; go) {on_go};; esac; done"
    )
}

/// How a phase of one rank on host `b` ends, which is `script`.
fn ended(script: &str) -> WorkerFailure {
    let _turn = crate::worker::alone();
    let dir = tempfile::tempdir().unwrap();
    let hello = HostHello { version: env!("CARGO_PKG_VERSION").to_owned(), ..HostHello::default() };
    let hello = serde_json::to_string(&WorkerSays::Host(hello)).unwrap();
    let host = RankHost {
        name: "b".to_owned(),
        argv: ["/bin/sh", "-c", &format!("HELLO='{hello}'; {script}")].map(str::to_owned).to_vec(),
        work_limit_ns: 300_000_000,
        agent: None,
    };
    let spec = records::worker_spec(dir.path(), Task::MakeDirs);
    let (stop, clients) = (Stop::default(), Clients::default());
    let over = (1, std::slice::from_ref(&host), &clients);
    let ranks = Ranks::start(&TrustedProgram::own(), &spec, over, &stop);
    match ranks.and_then(|mut ranks| ranks.go_until_durable()) {
        Ok(says) => panic!("{says:?}"),
        Err(failure) => failure,
    }
}

#[test]
fn a_host_that_does_not_go_on_is_waited_for_no_longer_than_its_limit() {
    for (script, awaited) in [
        ("exec sleep 100".to_owned(), "an answer"),
        ("echo \"$HELLO\"; exec sleep 100".to_owned(), "an answer"),
        ("echo \"$HELLO\"; printf '\"rea'; exec sleep 100".to_owned(), "an answer"),
        (well_until("exec sleep 100"), "that it has done its work"),
        (well_until("printf '\"dur'; exec sleep 100"), "an answer"),
        (well_until("echo '\"durable\"'; exec sleep 100"), "an answer"),
        (
            well_until("while :; do echo '{\"stonewall\":{\"most_ops\":1}}'; sleep 0.05; done"),
            "that it has done its work",
        ),
    ] {
        let began = Instant::now();
        let failure = ended(&script).to_string();
        let wanted = format!("rank 0 on b: it did not say {awaited} within 300 ms");
        assert!(failure.starts_with(&wanted), "{script}: {failure}");
        assert!(began.elapsed().as_secs() < 20, "{script}: {:?}", began.elapsed());
    }
}
