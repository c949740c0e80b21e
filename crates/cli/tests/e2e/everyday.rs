//! Everyday use: what is installed with the program, and what it says to somebody who has
//! just met it. Every message says what to do next.

use crate::support::{PROGRAM, TestEnv, assert_nothing_left, is_root, store_by_hand, tool};
use fsarena_testkit::browser::{Browser, View, keep};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The text of a completion script, in a file.
fn script(env: &TestEnv, shell: &str) -> String {
    let text = env.run(&["completions", shell]).good().stdout;
    assert!(text.contains("FSARENA_COMPLETE"), "{shell} asks the program");
    env.write(&format!("fsarena.{shell}"), &text)
}

/// Whether a program of the machine takes a file; its words where it does not.
#[track_caller]
fn accepts(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said));
}

#[test]
fn bash_takes_its_completions() {
    let env = TestEnv::new();
    let file = script(&env, "bash");
    let Some(bash) = tool("bash") else { return };
    accepts(&bash, &["-n", &file]);
    // As a user gets them: after `fsarena sh` and the key.
    let program = Path::new(PROGRAM).parent().unwrap().display();
    let ask = format!(
        "PATH='{program}':$PATH; . '{file}'; COMP_WORDS=(fsarena sh); COMP_CWORD=1; COMP_TYPE=9; \
         _clap_complete_fsarena fsarena sh fsarena; echo \"${{COMPREPLY[*]}}\" | grep -qw show"
    );
    accepts(&bash, &["-c", &ask]);
}

/// RUNs are those of the database that the line names.
#[test]
fn completions_read_the_database_that_is_named() {
    let env = TestEnv::new();
    store_by_hand(&env.path("other.db"), |header| header.title = "from elsewhere".to_owned());
    let ask = |words: &[&str]| {
        let words = [&["--", "fsarena"], words, &[""]].concat();
        let mut command = env.command_of(PROGRAM, &words);
        let last = (words.len() - 2).to_string();
        command.env("FSARENA_COMPLETE", "fish").env("_CLAP_COMPLETE_INDEX", last);
        env.finish(command).good().stdout
    };
    let other = env.path("other.db").display().to_string();
    assert!(ask(&["show", "--db", &other]).contains("from elsewhere"), "{}", ask(&["show"]));
    assert!(ask(&["--db", &other, "report"]).contains("from elsewhere"));
    assert!(!ask(&["show"]).contains("from elsewhere"));
}

/// A page is opened by the program of the desktop, and not by root's.
#[test]
fn a_report_is_opened() {
    let env = TestEnv::new();
    let opened = env.write("opened", "");
    let opener = env.path("xdg-open");
    fsarena_testkit::write_script(&opener, &format!("echo \"$(id -un) $1\" >> '{opened}'"));
    fs::set_permissions(&opened, fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(env.dir(), fs::Permissions::from_mode(0o755)).unwrap();
    store_by_hand(&env.db(), |_| {});
    let page = env.path("x.html").display().to_string();
    let report = |sudo_user: Option<&str>| {
        let mut command = env.command_of(PROGRAM, &["report", "--open", "-o", &page]);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", env.dir().display())).env_remove("SUDO_USER");
        command.envs(sudo_user.map(|user| ("SUDO_USER", user)));
        env.finish(command)
    };
    if is_root() {
        let ran = report(None).code(1);
        ran.says(&["--open: a browser is not started as root", "x.html as a user of the desktop"]);
        report(Some("root")).code(1).says(&["a browser is not started as root"]);
        assert_eq!(fs::read_to_string(&opened).unwrap(), "");
        report(Some("nobody")).good().says(&["report: "]);
        assert_eq!(fs::read_to_string(&opened).unwrap(), format!("nobody {page}\n"));
    } else {
        report(None).good();
        assert!(fs::read_to_string(&opened).unwrap().ends_with(&format!(" {page}\n")));
    }
    let to_output = env.run(&["report", "--open", "-o", "-"]);
    to_output.refused(2, &["--open: -o - writes the page to standard output"]);
    fsarena_testkit::write_script(&opener, "exit 3");
    report(Some("nobody")).code(1).says(&["--open: ", "exit code 3", "open ", "-o FILE"]);
}

#[test]
fn zsh_takes_its_completions() {
    let env = TestEnv::new();
    let file = script(&env, "zsh");
    let Some(zsh) = tool("zsh") else { return };
    accepts(&zsh, &["-n", &file]);
}

#[test]
fn fish_takes_its_completions() {
    let env = TestEnv::new();
    let file = script(&env, "fish");
    let Some(fish) = tool("fish") else { return };
    accepts(&fish, &["-n", &file]);
}

#[test]
fn manual_pages_are_well_formed() {
    let env = TestEnv::new();
    env.run(&["man", "--dir", "man1"]).good().says(&["pages are in man1"]);
    let pages: Vec<String> = fs::read_dir(env.path("man1"))
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    assert!(pages.len() > 20, "{pages:?}");
    assert!(env.path("man1/fsarena-selftest-honesty.1").exists());
    assert!(!env.path("man1/fsarena-executor.1").exists());
    let whole = env.run(&["man"]).good().stdout;
    assert_eq!(whole, fs::read_to_string(env.path("man1/fsarena.1")).unwrap());
    let Some(mandoc) = tool("mandoc") else { return };
    for page in &pages {
        accepts(&mandoc, &["-Tlint", "-W", "error", page]);
    }
}

#[test]
fn manual_pages_make_no_warning_in_groff() {
    let env = TestEnv::new();
    env.run(&["man", "--dir", "man1"]).good();
    let Some(man) = tool("man") else { return };
    for name in ["fsarena", "fsarena-run", "fsarena-import-fio"] {
        let page = env.path(&format!("man1/{name}.1")).display().to_string();
        let mut command = Command::new(&man);
        command.args(["--warnings", "-l", &page]).env("LC_ALL", "C.UTF-8").env("MANPAGER", "cat");
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{name}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("EXAMPLES"), "{name}");
    }
}

#[test]
fn the_documentation_is_inside() {
    let env = TestEnv::new();
    let list = env.run(&["doc"]).good();
    list.says(&["guide", "verdict", "How to use fsarena", "fsarena doc TOPIC"]);
    let guide = env.run(&["doc", "guide"]).good().stdout;
    assert!(guide.starts_with("# Guide\n"), "plain where it is no terminal");
    assert!(!guide.contains('\u{1b}'));
    env.run(&["doc", "giude"]).refused(2, &["\"giude\"", "did you mean \"guide\"?", "There is"]);
}

#[test]
fn experiments_have_costs() {
    let env = TestEnv::new();
    let ran = env.run(&["experiments"]).good();
    ran.says(&[
        "What each costs here",
        "quick",
        "quick-all",
        "2003-linux-vs-freebsd",
        "assumed",
        "small-files",
        "mkfs.block_size",
        "next: `fsarena run quick --dry-run`",
    ]);
    let file = env.run(&["experiments", "quick"]).good().stdout;
    assert!(file.contains("\nschema = 1\n"), "{file}");
    env.run(&["experiments", "quik"]).refused(2, &["did you mean \"quick\"?", "small-files"]);
    assert!(!env.db().exists(), "nothing was made");
}

/// Of all that is written, and of the experiments that are read.
#[test]
fn every_schema_is_printed() {
    let env = TestEnv::new();
    let kinds = env.run(&["schema"]).good().stdout;
    let kinds: Vec<&str> = kinds.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(kinds.len() >= 12 && kinds.contains(&"experiment"), "{kinds:?}");
    for kind in kinds {
        let schema: serde_json::Value =
            serde_json::from_str(&env.run(&["schema", kind]).good().stdout).expect(kind);
        assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"), "{kind}");
        assert!(schema["properties"].as_object().unwrap().contains_key("schema"), "{kind}");
        // A factor is a key of an experiment without being listed anywhere.
        let factors = schema.pointer("/properties/factors").map(ToString::to_string);
        let experiment = serde_json::to_string(&schema).unwrap();
        assert_eq!(
            factors.is_some_and(|_| experiment.contains("nr_requests")),
            kind == "experiment"
        );
    }
    env.run(&["schema", "experimnt"]).refused(2, &["there is no such schema", "experiment, run"]);
}

/// Before the first RUN, and where a database holds none.
#[test]
fn who_has_nothing_yet_is_told_how_to_begin() {
    let env = TestEnv::new();
    let db = env.db().display().to_string();
    env.run(&["list"]).good().says(&["no RUNs yet in", &db, "`fsarena run` makes the first"]);
    for command in ["show", "study"] {
        env.run(&[command]).refused(2, &["there is no database yet", "`fsarena run` creates it"]);
    }
    drop(fsarena_store::Store::open(&env.db()).unwrap());
    for command in ["show", "study"] {
        let words = [&*db, "no RUN is stored there yet", "`fsarena run` makes the first"];
        env.run(&[command]).refused(2, &words);
    }
    env.run(&["list"]).good().says(&["no RUNs yet in", &db]);
}

#[test]
fn without_arguments_there_is_help_with_examples() {
    let env = TestEnv::new();
    let ran = env.run(&[]).code(2);
    for words in ["Usage: fsarena", "Examples:", "fsarena run\n", "fsarena doc guide"] {
        assert!(ran.stderr.contains(words), "{words}\n{}", ran.stderr);
    }
    assert_eq!(ran.stdout, "");
}

#[test]
fn one_contender_is_told_that_it_is_alone() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let args = ["run", "--dry-run", "--workload", "tiny-files", "--on", &target];
    env.run(&args).good().says(&["is the only contender", "--on DIR1,DIR2"]);
    let other = format!("{target},{}", env.make_dir("other"));
    let args = ["run", "--dry-run", "--workload", "tiny-files", "--on", &other];
    let ran = env.run(&args).good();
    assert!(!ran.stderr.contains("only contender"), "{}", ran.stderr);
}

/// `fsarena run 2>&1 | head`: what is measured is kept, whoever stops listening.
#[test]
fn a_run_goes_on_where_nobody_reads_what_it_says() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let mut command = env.command(&[
        "run",
        "--runs",
        "2",
        "--workload",
        "tiny-files",
        "--scale",
        "0.01",
        "--on",
        &target,
    ]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer);
    command.status().unwrap();
    let runs = env.runs();
    assert_eq!((runs.len(), runs[0].trials_done), (1, 2), "{PROGRAM}");
    assert_eq!(runs[0].state, fsarena_model::run::RunState::Done);
    assert_nothing_left(&env);
}

/// Two contenders would need root; one of them in a directory has everything that a page of a run
/// without rights can have.
#[test]
fn browser_opens_the_report_of_a_run() {
    let Some(browser) = Browser::for_test() else { return };
    let env = TestEnv::new();
    let target = env.make_dir("target <b>&amp;");
    let small = ["--workload", "tiny-files", "--scale", "0.02"];
    env.run_once(&[&["--on", &target], &small[..]].concat()).good();
    let file = env.path("copy of the report.html");
    env.run(&["report", "-o", &file.display().to_string()]).good();
    for view in [View::DESKTOP, View::PHONE.dark()] {
        let page = browser.open(&file, view).unwrap();
        assert_eq!(page.faults().unwrap(), [""; 0], "{view:?}");
        assert!(!page.charts().unwrap().is_empty());
        let text = page.text().unwrap();
        assert!(text.contains("tiny-files") && text.contains("The answer"), "{text}");
        keep(&format!("of-a-run-{}.png", view.width_px), &page.picture().unwrap()).unwrap();
    }
    let left = fs::read_dir(env.dir()).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".html"));
    assert_eq!(left.count(), 2, "the one that run has written, and ours");
    assert_nothing_left(&env);
}
