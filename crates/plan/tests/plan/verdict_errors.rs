//! What is wrong with what a RUN shall decide: the place, and what to do.

use crate::rules::{TestRules, file, plan};
use fsarena_plan::{Overrides, PlanError, expand, from_options};

fn shown(error: &PlanError) -> String {
    format!("{}: {}\n  {}", error.place, error.what, error.remedy)
}

/// The errors of files with each of these lines in `[run]`.
fn of_files(lines: &[&str]) -> String {
    let of = |line: &&str| {
        let factors = "fs = [\"ext4\", \"xfs:noatime\", \"btrfs\"]\ndevice = \"loop:2G\"";
        let text = file(factors).replace("[factors]", &format!("[run]\n{line}\n[factors]"));
        shown(&plan(&text).expect_err(line))
    };
    lines.iter().map(of).collect::<Vec<_>>().join("\n")
}

/// The error of a command line.
fn of_options(change: &dyn Fn(&mut Overrides)) -> String {
    let mut overrides = Overrides { fs: some("ext4,xfs"), ..Overrides::default() };
    change(&mut overrides);
    let done = from_options(&overrides).and_then(|e| expand(&e, &overrides, &TestRules));
    shown(&done.expect_err("a mistake"))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn of_the_rule() {
    let text = of_files(&[
        "cap = 10",
        "cap = 0",
        "cap = \"32\"",
        "blocks = 5\ncap = 8",
        "margin = 0",
        "margin = \"5\"",
        "margin = \"101%\"",
        "margin = \"-1%\"",
        "margin = \"some\"",
        "margin = true",
        "budget = 30",
        "budget = \"30\"",
        "budget = \"0 s\"",
        "steal_limit = \"all\"",
        "steal_limit = 1.5",
        "margins = \"5%\"",
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:4:7: at most 10 blocks
      a cap is one of 8, 12, 16, 24, 32, 48, 64, 96
    t.toml:4:7: at most 0 blocks
      a cap is one of 8, 12, 16, 24, 32, 48, 64, 96
    t.toml:4:7: `run.cap` is text, but has to be a whole number
      write it like 32
    t.toml:5:7: `run.blocks` and `run.cap` together
      keep `blocks` for a fixed number, or `cap` for as many as it takes
    t.toml:4:10: a margin of 0%
      write it like 5% or 0.05, above 0 and up to 100%
    t.toml:4:10: a margin of 500%
      write it like 5% or 0.05, above 0 and up to 100%
    t.toml:4:10: a margin of 101%
      write it like 5% or 0.05, above 0 and up to 100%
    t.toml:4:10: "-1%" cannot be a margin
      write it like 5% or 0.05, above 0 and up to 100%
    t.toml:4:10: "some" cannot be a margin
      write it like 5% or 0.05, above 0 and up to 100%
    t.toml:4:10: `run.margin` is true or false, but has to be a number
      write it like "5%"
    t.toml:4:10: `run.budget` is a number, but has to be text
      write it like "30 min"
    t.toml:4:10: "30": unknown unit ""
      use one of ns, us, ms, s, m, h
    t.toml:4:10: a budget of no time
      write it like 30 min, or leave it out
    t.toml:4:15: "all" cannot be a steal limit
      write it like 5% or 0.05, above 0 and up to 100%
    t.toml:4:15: a steal limit of 150%
      write it like 5% or 0.05, above 0 and up to 100%
    t.toml:4:1: unknown key in [run]: "margins"
      did you mean "margin"?
    "#);
}

#[test]
fn of_questions() {
    let text = of_files(&[
        "ask = \"create\"",
        "ask = \"small-files::cpu\"",
        "ask = \"small-files:create:time:durable:x\"",
        "ask = [\"small-files:create\", \"smal-files:create\"]",
        "ask = \"small-files:write\"",
        "ask = \"*:big-write\"",
        "ask = \"small-files:create:cpus\"",
        "ask = \"small-files:create:time:done\"",
        "ask = \"small-files:create:cpu:returned\"",
        "ask = []",
        "ask = 5",
        "headline = \"small-files:*\"",
        "headline = \"small-files:create:cpu\"",
        "ask = \"small-files:read\"\nheadline = \"small-files:create\"",
        "headline = \"big-file:big-write\"",
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:4:7: "create" is no question
      write it as WORKLOAD:PHASE, such as small-files:create; * is every phase, and :cpu, :task-clock, :written, :p99, :per-op, :per-mib or :time:returned may follow
    t.toml:4:7: "small-files::cpu" is no question
      write it as WORKLOAD:PHASE, such as small-files:create; * is every phase, and :cpu, :task-clock, :written, :p99, :per-op, :per-mib or :time:returned may follow
    t.toml:4:7: "small-files:create:time:durable:x" is no question
      write it as WORKLOAD:PHASE, such as small-files:create; * is every phase, and :cpu, :task-clock, :written, :p99, :per-op, :per-mib or :time:returned may follow
    t.toml:4:30: unknown workload "smal-files"
      did you mean "small-files"?
    t.toml:4:7: unknown timed phase "write"
      known: create, read, read-random, stat, delete
    t.toml:4:7: unknown timed phase "big-write"
      known: create, read, read-random, stat, delete
    t.toml:4:7: unknown metric "cpus"
      did you mean "cpu"?
    t.toml:4:7: unknown clock "done"
      known: returned, durable, drained
    t.toml:4:7: "small-files:create:cpu:returned": only the metric `time` takes a clock
      end it with :cpu
    t.toml:4:7: `run.ask` is an empty list
      give it a value, such as "small-files:create"
    t.toml:4:7: `run.ask` is a number, but has to be text
      write it like "small-files:create"
    t.toml:4:12: the headline "small-files:*" is more than one question
      write it as WORKLOAD:PHASE, such as small-files:create; * is every phase, and :cpu, :task-clock, :written, :p99, :per-op, :per-mib or :time:returned may follow
    t.toml:4:12: the headline "small-files:create:cpu" is not asked
      add it to `ask`, or choose one of small-files:create, small-files:read, small-files:read-random, small-files:stat, small-files:delete
    t.toml:5:12: the headline "small-files:create" is not asked
      add it to `ask`, or choose one of small-files:read
    t.toml:4:12: unknown workload "big-file"
      known: small-files
    "#);
}

#[test]
fn of_baselines() {
    let text = of_files(&["baseline = \"ext3\"", "baseline = \"\"", "baseline = 4"]);
    insta::assert_snapshot!(text, @r#"
    t.toml:4:12: no contender is called "ext3"
      it has to be one of "ext4", "xfs noatime", "btrfs"
    t.toml:4:12: no contender is called ""
      it has to be one of "ext4", "xfs noatime", "btrfs"
    t.toml:4:12: `run.baseline` is a number, but has to be text
      write it like "ext4"
    "#);
    let of = |factors: &str, baseline: &str| {
        let run = format!("[run]\nbaseline = \"{baseline}\"\n[factors]");
        shown(&plan(&file(factors).replace("[factors]", &run)).unwrap_err())
    };
    let text = [
        of("fs = [\"ext4\", \"ext4\"]\ndevice = \"loop:2G\"", "ext4"),
        of("fs = \"ext4\"\ndevice = [\"loop:2G\", \"ram:2G\"]", "ext4"),
        of("fs = [\"xfs\", \"ext4\"]\ndevice = [\"loop:200M\", \"ram:2G\"]", "xfs on loop:200M"),
    ]
    .join("\n");
    insta::assert_snapshot!(text, @r#"
    t.toml:4:12: "ext4" is the name of 2 contenders
      write one label: "ext4#1", "ext4#2"
    t.toml:4:12: "ext4" is the name of 2 contenders
      write one label: "ext4 on loop:2G", "ext4 on ram:2G"
    t.toml:4:12: the baseline "xfs on loop:200M" is not run: xfs needs a device of at least 300 MiB
      compare with another, or leave it out
    "#);
}

#[test]
fn of_the_command_line() {
    let error = of_options;
    let text = [
        error(&|o| (o.runs, o.cap) = (some("5"), Some(8))),
        error(&|o| o.cap = Some(33)),
        error(&|o| o.margin = some("0")),
        error(&|o| o.budget = some("soon")),
        error(&|o| o.baseline = some("btrfs")),
        error(&|o| o.ask = some("small-files:create,,big-file:*")),
        error(&|o| o.ask = some("small-files:nothing")),
        error(&|o| o.headline = some("small-files")),
        error(&|o| drop(o.levels.insert("handicap", "30".to_owned()))),
        error(&|o| drop(o.levels.insert("handicap", "2h".to_owned()))),
        error(&|o| drop(o.levels.insert("handicap", "1s,1000ms".to_owned()))),
    ]
    .join("\n");
    insta::assert_snapshot!(text, @r#"
    --cap: --runs and --cap together
      keep --runs for a fixed number, or --cap for as many as it takes
    --cap: at most 33 blocks
      a cap is one of 8, 12, 16, 24, 32, 48, 64, 96
    --margin: a margin of 0%
      write it like 5% or 0.05, above 0 and up to 100%
    --budget: "soon" has no number and unit
      write it like 100ms or 30 s
    --baseline: no contender is called "btrfs"
      it has to be one of "ext4", "xfs"
    --ask: "small-files:create,,big-file:*" has an empty element
      write the elements with one comma between them
    --ask: unknown timed phase "nothing"
      known: create, read, read-random, stat, delete
    --headline: "small-files" is no question
      write it as WORKLOAD:PHASE, such as small-files:create; * is every phase, and :cpu, :task-clock, :written, :p99, :per-op, :per-mib or :time:returned may follow
    --inject-delay: "30": unknown unit ""
      use one of ns, us, ms, s, m, h
    --inject-delay: an injected delay of 2h00m
      use up to 1h00m
    --inject-delay: the same level twice
      keep one of them (only file systems may be repeated, as A/A arms)
    "#);
}
