//! What `run` prints when nothing else is asked for: one screen, and progress beside it.

use crate::support::{PROGRAM, TestEnv, assert_nothing_left};
use fsarena_store::{RunId, Store};

/// As `quick` in small: two that are equal, so that something stays open, and one whose program is
/// not there; as many blocks as fit into the budget.
const SMALL_QUICK: &str = r#"
schema = 1
name = "small-quick"
[run]
blocks = "2..3"
budget = "40 s"
seed = 1
margin = "0.01%"
steal_limit = "none"
foreign_limit = "none"
sample_period = "0 ms"
[factors]
fs = ["ext4", "ext4", "nobody"]
device = "loop:128M"
cache = "cold"
[[workload]]
name = "few"
files = 200
size = "4 KiB"
phases = ["create", "read", "stat", "delete"]
[[filesystem]]
name = "nobody"
create = "mkfs.nobody {dev}"
mount = "mount -t ext4 {dev} {mnt}"
programs = ["mkfs.nobody"]
"#;

#[test]
fn a_run_answers_on_one_screen() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let file = env.write("small-quick.toml", SMALL_QUICK);
    // `TestEnv::command` asks for all tables; users do not.
    let mut command = env.command_of(PROGRAM, &["run", &file, "--yes"]);
    command.env("COLUMNS", "80");
    let ran = env.finish(command).good();
    let text = &ran.stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= 40, "{} lines\n{text}", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    assert!(lines[0].starts_with("small-quick: ") && lines[0].ends_with("RUN 1"), "{text}");
    let heads: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(heads[heads.len() - 2..], ["ext4#1", "ext4#2"], "{text}");
    for phase in ["create", "read", "stat", "delete"] {
        let is_row = |line: &&str| line.split_whitespace().take(2).any(|word| word == phase);
        assert_eq!(lines[2..6].iter().copied().filter(is_row).count(), 1, "{text}");
    }
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |words: &str| assert!(flat.contains(words), "{words:?} is not in\n{text}");
    says("ext4#2");
    says("Holds on this machine, this boot, in this minute;");
    says("not run: nobody (");
    says("mkfs.nobody");
    says("all figures: fsarena show 1");
    let page = lines.last().unwrap().split_whitespace().nth(1).unwrap();
    assert!(env.path(page).exists(), "{page} is where the screen says");

    let answer = &env.run(&["show", "1", "--json"]).good().json()["answer"];
    let undecided = &answer["undecided"];
    assert_eq!(undecided["asked"], 4, "{undecided}");
    // Noise decides now and then between equals, of so few blocks.
    if undecided["unknown"] != 0 {
        says(&format!("Not known yet: {} of 4", undecided["unknown"]));
    }
    says(undecided["sentence"].as_str().unwrap());
    if let Some(options) = undecided["options"].as_str() {
        says(options);
    }

    // The image is written within the budget.
    let store = Store::open_read_only(&env.db()).unwrap();
    let header = store.header(RunId(1)).unwrap();
    assert_eq!(header.plan.verdict.unwrap().begun_unix_ns, Some(header.created_unix_ns));

    // Beside it, where the eye is while it waits.
    let progress = |line: &&str| line.starts_with("block 2 of ") && line.contains(" left of 40s");
    assert!(ran.stderr.lines().any(|line| progress(&line)), "{}", ran.stderr);
    assert_nothing_left(&env);
}
