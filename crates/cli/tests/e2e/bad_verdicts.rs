//! Nonsense about what is decided and how: one error with its place and the remedy, exit code 2,
//! and nothing made. None of this needs a privilege.

use crate::support::{TestEnv, assert_nothing_left, store_by_hand};

const PAIR: [&str; 6] = ["--fs", "ext4,xfs", "--on", "loop:300M", "--workload", "small-files"];

/// What is wrong with an option: how it is refused.
const OPTIONS: [(&[&str], &[&str]); 17] = [
    (&["--margin", "0"], &["--margin: a margin of 0%", "write it like 5% or 0.05"]),
    (&["--margin", "x"], &["--margin: \"x\" cannot be a margin", "write it like 5% or 0.05"]),
    (&["--margin=-5%"], &["--margin: ", "write it like 5% or 0.05"]),
    (&["--margin", "nan"], &["--margin: ", "write it like 5% or 0.05"]),
    (&["--margin", "101%"], &["--margin: a margin of 101%", "up to 100%"]),
    (&["--cap", "10"], &["--cap: at most 10 blocks", "8, 12, 16, 24, 32, 48, 64, 96"]),
    (&["--cap", "0"], &["--cap: at most 0 blocks", "8, 12, 16, 24, 32, 48, 64, 96"]),
    (&["--cap", "8", "--runs", "3"], &["--cap: --runs and --cap together", "keep --runs"]),
    (&["--budget", "0"], &["--budget: \"0\"", "use one of ns, us, ms, s, m, h"]),
    (&["--budget", "0s"], &["--budget: a budget of no time", "write it like 30 min"]),
    (&["--baseline", "nosuch"], &["--baseline: no contender is called \"nosuch\"", "\"xfs\""]),
    (&["--ask", "nosuch:create"], &["--ask: unknown workload \"nosuch\"", "small-files"]),
    (&["--ask", "small-files:nosuch"], &["--ask: unknown timed phase \"nosuch\"", "create, read"]),
    (&["--ask", "small-files:create:speed"], &["--ask: unknown metric \"speed\"", "time"]),
    (&["--headline", "small-files"], &["--headline: \"small-files\" is no question"]),
    (
        &["--ask", "small-files:read", "--headline", "small-files:create"],
        &["--headline: the headline \"small-files:create\" is not asked", "small-files:read"],
    ),
    (&["--inject-delay", "0ms,0ms"], &["--inject-delay: the same level twice", "keep one of them"]),
];

#[track_caller]
fn assert_untouched(env: &TestEnv) {
    assert!(!env.db().exists() && !env.state().exists(), "something was made");
    assert_nothing_left(env);
}

#[test]
fn options() {
    let env = TestEnv::new();
    for (option, words) in OPTIONS {
        for more in [&[][..], &["--dry-run"]] {
            let ran = env.run(&[&["run"], &PAIR[..], option, more].concat());
            ran.refused(2, words);
        }
        assert_untouched(&env);
    }
}

/// Lines that are wrong, in the place of line 4: where in the file, and how it is refused.
const LINES: [(&str, &str, &[&str]); 15] = [
    ("margin = 0", "4:10", &["a margin of 0%", "write it like 5% or 0.05"]),
    ("margin = \"x\"", "4:10", &["\"x\" cannot be a margin", "write it like 5% or 0.05"]),
    ("margin = true", "4:10", &["\"5%\""]),
    ("cap = 10", "4:7", &["at most 10 blocks", "8, 12, 16, 24, 32, 48, 64, 96"]),
    ("cap = \"8\"", "4:7", &["32"]),
    ("cap = 8\nblocks = 3", "4:7", &["`run.blocks` and `run.cap` together", "keep `blocks`"]),
    ("blocks = 3\ncap = 8", "5:7", &["`run.blocks` and `run.cap` together", "keep `blocks`"]),
    ("budget = \"0\"", "4:10", &["\"0\"", "use one of ns, us, ms, s, m, h"]),
    ("budget = \"0 min\"", "4:10", &["a budget of no time", "write it like 30 min"]),
    ("baseline = \"nosuch\"", "4:12", &["no contender is called \"nosuch\"", "\"xfs\""]),
    ("ask = [\"*:read\", \"nosuch:read\"]", "4:18", &["unknown workload \"nosuch\""]),
    ("ask = [\"small-files:nosuch\"]", "4:8", &["unknown timed phase \"nosuch\"", "create"]),
    ("headline = \"small-files:*\"", "4:12", &["is more than one question", "WORKLOAD:PHASE"]),
    (
        "ask = [\"*:read\"]\nheadline = \"small-files:create\"",
        "5:12",
        &["the headline \"small-files:create\" is not asked", "small-files:read"],
    ),
    ("steal_limit = \"lots\"", "4:15", &["\"lots\""]),
];

fn file(line: &str) -> String {
    format!(
        "schema = 1\nname = \"mine\"\n[run]\n{line}\n[factors]\nfs = [\"ext4\", \"xfs\"]\n\
         device = \"loop:300M\"\n[[workload]]\nuse = \"small-files\"\n"
    )
}

#[test]
fn lines_of_a_file() {
    let env = TestEnv::new();
    for (line, at, words) in LINES {
        let path = env.write("mine.toml", &file(line));
        let place = format!("mine.toml:{at}: ");
        for more in [&[][..], &["--dry-run"]] {
            let ran = env.run(&[&["run", &path], more].concat());
            ran.refused(2, &[&[place.as_str()], words].concat());
        }
        assert_untouched(&env);
    }
}

/// A RUN that two names could mean is asked which; one that means none is not guessed.
#[test]
fn baselines_that_are_none() {
    let env = TestEnv::new();
    let on = ["run", "--on", "loop:300M", "--workload", "small-files", "--dry-run"];
    let run = |more: &[&str]| env.run(&[&on[..], more].concat());
    let both = ["--fs", "ext4,ext4", "--baseline", "ext4"];
    run(&both).refused(2, &["--baseline", "2 contenders", "\"ext4#1\", \"ext4#2\""]);
    run(&["--fs", "ext4,ext4", "--baseline", "ext4#2"]).good();
    let levels = ["--fs", "ext4,xfs", "--inject-delay", "0ms,9ms", "--baseline", "xfs"];
    run(&levels).refused(2, &["--baseline", "2 contenders", "\"xfs handicap=9ms\""]);
    assert_untouched(&env);
}

/// A RUN that asked nothing has no verdicts; every command that would say one says that.
#[test]
fn a_run_from_before_verdicts() {
    let env = TestEnv::new();
    store_by_hand(&env.db(), |_| ());
    let words = ["RUN 1 asked no question", "before there were verdicts", "`fsarena show 1`"];
    for args in [&["study"][..], &["study", "1"], &["study", "--json"], &["study", "latest"]] {
        env.run(args).refused(2, &words);
    }
    env.run(&["study", "--require-decision"]).refused(2, &words);
    let ran = env.run(&["compare", "1", "--json"]).code(2).says(&["RUN 1 asked no question"]);
    assert_eq!(ran.stdout, "");
    env.run(&["compare", "1", "--bisect"]).code(128).says(&["RUN 1 asked no question"]);
    let shown = env.run(&["show", "1"]).good();
    for word in ["FASTER", "SLOWER", "UNDECIDED"] {
        assert!(!shown.stdout.contains(word), "{}", shown.stdout);
    }
    assert_eq!(env.run(&["show", "--json"]).good().json().get("verdicts"), None);
    assert_nothing_left(&env);
}

/// Nothing to compare, and no such RUN.
#[test]
fn without_a_run() {
    let env = TestEnv::new();
    for command in ["study", "compare"] {
        env.run(&[command]).refused(2, &["there is no database yet", "fsarena run"]);
    }
    env.run(&["compare", "--bisect"]).refused(128, &["there is no database yet"]);
    assert_untouched(&env);
    let target = env.make_dir("target");
    let work = ["--on", &target, "--workload", "tiny-files", "--scale", "0.01"];
    env.run(&[&["run"], &work[..], &["--cap", "8", "--require-decision"]].concat()).good();
    assert_eq!(env.records(1).len(), 3, "one contender: there is nothing to decide");
    env.run(&["study", "9"]).code(1).says(&["no such RUN", "fsarena list"]);
    env.run(&["compare", "9"]).code(1).says(&["no such RUN", "fsarena list"]);
    for (args, words) in [
        (&["compare", "--pair", "directory"][..], &["--pair directory", "as in xfs,ext4"][..]),
        (&["compare", "--question", "create"], &["--question create", "WORKLOAD:PHASE"]),
        (&["compare", "--margin", "0"], &["--margin"]),
        (&["compare", "1", "1", "--margin", "0"], &["--margin 0", "such as 2%"]),
    ] {
        env.run(args).refused(2, words);
    }
    assert_nothing_left(&env);
}
