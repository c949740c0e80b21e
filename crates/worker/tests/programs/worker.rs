//! Tasks of real work in a worker process of its own: this test program runs itself as the worker.

use super::{CONTENTS, command, make_tree, new_root, snapshot, task};
use fsarena_model::job::{By, Job, JobKind, Origin, Source, SourcePlace};
use fsarena_model::work::{JobTask, Task, UserIds, WorkerReport, WorkerSays, WorkerSpec};
use fsarena_testkit::records;
use fsarena_worker::worker_main;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

const AS_WORKER: &str = "FSARENA_TEST_AS_WORKER";

/// Not a test by itself: what [`says`] runs. The answers go to standard error, since the test
/// harness writes to standard output.
#[test]
fn as_worker() {
    if std::env::var_os(AS_WORKER).is_some() {
        let input = std::io::BufReader::new(std::io::stdin());
        // Not unwind: the harness would print.
        std::process::exit(i32::from(worker_main(input, std::io::stderr()).is_err()));
    }
    println!("not run: the child of another test");
}

/// What a worker says in the end, after `ready` and `go` (or at once, where it refuses).
fn says(root: &Path, task: Task, user: Option<UserIds>) -> WorkerSays {
    says_of(&spec(root, task, user))
}

fn spec(root: &Path, task: Task, user: Option<UserIds>) -> WorkerSpec {
    WorkerSpec { user, ..records::worker_spec(root, task) }
}

fn says_of(spec: &WorkerSpec) -> WorkerSays {
    let mut worker = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker::as_worker", "--nocapture"])
        .env(AS_WORKER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = worker.stdin.take().unwrap();
    let mut answers = BufReader::new(worker.stderr.take().unwrap());
    let mut answer = || {
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    };
    writeln!(input, "{}", serde_json::to_string(spec).unwrap()).unwrap();
    let mut said = answer();
    if said == WorkerSays::Ready {
        writeln!(input, "go").unwrap();
        said = answer();
        if said == WorkerSays::Durable {
            said = answer();
        }
    }
    drop(input);
    assert!(worker.wait().unwrap().success());
    said
}

fn report(root: &Path, task: JobTask, user: Option<UserIds>) -> WorkerReport {
    match says(root, Task::Job(task), user) {
        WorkerSays::Done(report) => *report,
        other => panic!("{other:?}"),
    }
}

fn own(path: &Path) -> Source {
    Source {
        name: "own".to_owned(),
        origin: Origin::Own { path: path.to_owned() },
        place: SourcePlace::Same,
        archive: None,
        contents: CONTENTS,
    }
}

#[test]
fn a_source_is_staged_worked_on_and_compared() {
    let (root, elsewhere) = (new_root(), new_root());
    let path = elsewhere.path().join("tree");
    make_tree(&path);
    let source = own(&path);
    let stage = Task::Stage { source: source.clone(), from: Some(path.clone()) };
    assert_eq!(says(root.path(), stage, None), WorkerSays::Made);
    let staged = snapshot(&root.path().join("data"));
    assert_eq!(staged.keys().collect::<Vec<_>>(), snapshot(&path).keys().collect::<Vec<_>>());

    let by_program = report(root.path(), task(JobKind::Copy, "first", "data"), None);
    let engine = task(JobKind::Copy, "second", "data");
    let engine =
        JobTask { job: Job { by: By::Engine, ..engine.job.clone() }, latency: true, ..engine };
    let by_engine = report(root.path(), engine, None);
    assert_eq!((&by_program.error, &by_engine.error), (&None, &None));
    assert_eq!((by_program.ops, by_engine.ops), (9, 9));
    assert!(by_program.program.is_some() && by_engine.program.is_none());
    assert_eq!(by_engine.latency.unwrap().count(), 9);
    assert!(by_program.usage.system_ns + by_program.usage.user_ns > 0, "of the child");

    let pair = |copy: &str| (copy.into(), "data".into());
    let compare = |source: Source| {
        let task = Task::Compare { pairs: vec![pair("first"), pair("second")], source };
        match says(root.path(), task, None) {
            WorkerSays::Verified(report) => report,
            other => panic!("{other:?}"),
        }
    };
    let right = compare(source.clone());
    assert_eq!((right.bad_files, right.files), (0, 8), "{:?}", right.examples);
    fs::write(root.path().join("second/run"), "7654321").unwrap();
    let wrong = compare(source);
    assert_eq!(wrong.bad_files, 1, "{:?}", wrong.examples);
    assert!(wrong.examples[0].contains("run"), "{:?}", wrong.examples);
}

#[test]
fn a_handicap_makes_a_job_longer() {
    const HANDICAP_NS: u64 = 500_000_000;
    let root = new_root();
    make_tree(&root.path().join("data"));
    for by in [By::Program, By::Engine] {
        let copy = task(JobKind::Copy, &format!("{by:?}"), "data");
        let copy = JobTask { job: Job { by, ..copy.job.clone() }, ..copy };
        let spec = spec(root.path(), Task::Job(copy), None);
        let spec = WorkerSpec { handicap_ns: HANDICAP_NS, ..spec };
        let WorkerSays::Done(report) = says_of(&spec) else { panic!("no report") };
        assert_eq!((&report.error, report.ops), (&None, 9), "{by:?}");
        let length_ns = report.returned_monotonic_ns - report.start_monotonic_ns;
        assert!(length_ns >= HANDICAP_NS, "{by:?}: {length_ns} ns");
    }
    let spec = spec(root.path(), Task::Job(command("false")), None);
    let spec = WorkerSpec { handicap_ns: 3_600_000_000_000, ..spec };
    let WorkerSays::Done(report) = says_of(&spec) else { panic!("no report") };
    assert!(report.error.is_some(), "and it did not sleep for an hour");
}

#[test]
fn a_hook_answers_that_it_ran_or_what_failed() {
    let root = new_root();
    let hook = |text: &str| {
        let task = Task::Hook { command: text.to_owned(), data: "data".into() };
        says(root.path(), task, None)
    };
    assert_eq!(hook("echo {data} > {mnt}/made; sleep 100 &"), WorkerSays::Made);
    assert!(root.path().join("made").is_file());
    let refused = |text: &str| match hook(text) {
        WorkerSays::Refused(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused("echo why >&2; false"), "hook: sh ended with exit code 1: why");
    assert!(refused("echo {dev}").contains("{dev} has no meaning here"));
    assert!(super::at_work("sleep", root.path()).is_empty());
}

#[test]
fn what_is_missing_is_refused_before_anything_is_touched() {
    let root = new_root();
    let mut with = command("true");
    let JobKind::Command(shell) = &mut with.job.kind else { panic!() };
    shell.programs = vec!["no-such-program".to_owned()];
    let WorkerSays::Refused(reason) = says(root.path(), Task::Job(with), None) else { panic!() };
    assert!(reason.contains("no-such-program is not installed"), "{reason}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

/// Needs root: the worker becomes nobody.
#[test]
fn another_user_does_the_work_where_the_way_is_closed() {
    if !rustix::process::geteuid().is_root() {
        println!("not run: another_user_does_the_work_where_the_way_is_closed needs root");
        return;
    }
    let closed = new_root();
    let root = closed.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::set_permissions(&root, PermissionsExt::from_mode(0o777)).unwrap();
    fs::set_permissions(closed.path(), PermissionsExt::from_mode(0o700)).unwrap();
    let user = Some(UserIds { uid: 65_534, gid: 65_533 });
    let hook =
        "mkdir data; echo 'all: ; cp Makefile \"$(OUT)\"/x' > data/Makefile; id -u > data/id";
    let hook = Task::Hook { command: hook.to_owned(), data: "data".into() };
    assert_eq!(says(&root, hook, user), WorkerSays::Made);
    assert_eq!(fs::read_to_string(root.join("data/id")).unwrap(), "65534\n");
    // The way is closed: what is filled in leads over a descriptor, from wherever one is.
    let filled = "test -f data/id && cd {data} && cp id ../by-command && cd ../data && \
                  cd / && cp {data}/id {mnt}/by-mnt && cd {mnt} && cd data && \
                  test $(find {mnt} -name id | wc -l) = 1";
    assert_eq!(report(&root, command(filled), user).error, None);
    for made in ["by-command", "by-mnt"] {
        assert_eq!(fs::metadata(root.join(made)).unwrap().uid(), 65_534);
    }
    let hook = Task::Hook { command: "cp {data}/id {mnt}/by-hook".to_owned(), data: "data".into() };
    assert_eq!(says(&root, hook, user), WorkerSays::Made);
    let open =
        command(&format!("test {{mnt}} = '{}'", root.to_str().unwrap().replace('\'', r"'\''")));
    assert_eq!(report(&root, open, None).error, None, "in full, where the way is open");
    let copied = report(&root, task(JobKind::Copy, "copy", "data"), user);
    assert_eq!(copied.error, None);
    let file = fs::metadata(root.join("copy/Makefile")).unwrap();
    assert_eq!((file.uid(), file.gid()), (65_534, 65_533));
    let compile = task(JobKind::Compile { jobs: 1 }, "build", "data");
    if super::has(&compile) {
        assert_eq!(report(&root, compile, user).error, None);
        assert_eq!(fs::metadata(root.join("build/x")).unwrap().uid(), 65_534);
        let elsewhere = tempfile::tempdir().unwrap();
        fs::set_permissions(elsewhere.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let far = task(JobKind::Compile { jobs: 1 }, "far", elsewhere.path().to_str().unwrap());
        let WorkerSays::Refused(reason) = says(&root, Task::Job(far), user) else { panic!() };
        assert!(
            reason.contains(&format!("{} is closed to it", closed.path().display())),
            "{reason}"
        );
    }
    // A source elsewhere, behind the same door.
    let behind = closed.path().join("behind");
    fs::create_dir(&behind).unwrap();
    let far = task(JobKind::Copy, "far", behind.to_str().unwrap());
    let WorkerSays::Refused(reason) = says(&root, Task::Job(far), user) else { panic!() };
    assert!(reason.contains(&format!("may not read {}", behind.display())), "{reason}");
    assert!(reason.contains(&format!("{} is closed to it", closed.path().display())), "{reason}");
}
