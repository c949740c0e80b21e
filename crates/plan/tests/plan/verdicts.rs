//! What a RUN asks, and by which rule.

use crate::levels::options;
use crate::rules::{TestRules, file, labels, plan};
use fsarena_model::clock::Clock;
use fsarena_model::run::{NotRun, RunPlan};
use fsarena_model::verdict::{METHOD_VERSION, Metric, Pairs, Rule, VerdictPlan};
use fsarena_plan::{
    Overrides, apply, builtin, expand, from_options, parse, schedule, settle_rule, to_toml,
};

const TWO: &str = "fs = [\"ext4\", \"xfs\"]\ndevice = \"loop:2G\"";

/// The plan of a file with these settings.
fn with(run: &str, factors: &str) -> RunPlan {
    let text = file(factors).replace("[factors]", &format!("[run]\n{run}\n[factors]"));
    plan(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn verdict(plan: &RunPlan) -> &VerdictPlan {
    plan.verdict.as_ref().expect("a new plan has verdicts")
}

/// The questions as they are written.
fn asked(plan: &RunPlan) -> Vec<String> {
    let name = |workload: usize| plan.workloads[workload].name.as_str();
    let questions = verdict(plan).questions.iter();
    questions.map(|one| one.text(name(one.workload), plan.compared_clock)).collect()
}

fn headline(plan: &RunPlan) -> String {
    asked(plan).swap_remove(verdict(plan).headline.expect("something is asked"))
}

#[test]
fn where_nothing_is_said_everything_timed_is_asked_in_up_to_32_blocks() {
    let plan = plan(&file(TWO)).unwrap();
    let phases = ["create", "read", "read-random", "stat", "delete"];
    assert_eq!(asked(&plan), phases.map(|phase| format!("small-files:{phase}")));
    assert_eq!(headline(&plan), "small-files:create");
    let verdict = verdict(&plan);
    assert_eq!((verdict.method, verdict.rule), (METHOD_VERSION, Rule::Looks { cap: 32 }));
    assert_eq!((verdict.margin, verdict.budget_ns, verdict.pairs), (0.05, None, Pairs::All));
    assert_eq!(verdict.limits.steal_share, Some(0.2));
    assert_eq!(verdict.limits.foreign_share, Some(0.2));
    assert!(verdict.questions.iter().all(|one| one.clock == Clock::Durable));
    assert_eq!((verdict.spare_blocks, plan.blocks, plan.schedule.len()), (4, 36, 72));
}

#[test]
fn a_cap_has_spare_blocks_and_a_fixed_number_has_none() {
    for (run, rule, spare, blocks) in [
        ("cap = 8", Rule::Looks { cap: 8 }, 2, 10),
        ("cap = 12", Rule::Looks { cap: 12 }, 2, 14),
        ("cap = 16", Rule::Looks { cap: 16 }, 4, 20),
        ("cap = 96", Rule::Looks { cap: 96 }, 4, 100),
        ("blocks = 5", Rule::Fixed { blocks: 5 }, 0, 5),
        ("blocks = 8", Rule::Fixed { blocks: 8 }, 0, 8),
    ] {
        let plan = with(run, TWO);
        let verdict = verdict(&plan);
        assert_eq!((verdict.rule, verdict.spare_blocks, plan.blocks), (rule, spare, blocks));
        assert_eq!(plan.schedule.len(), 2 * blocks as usize, "{run}");
    }
}

/// What the first blocks are does not depend on how many there may be.
#[test]
fn a_longer_schedule_begins_as_a_shorter_one() {
    let (short, long) = (with("blocks = 3\nseed = 1", TWO), with("seed = 1", TWO));
    assert_eq!(long.schedule[..short.schedule.len()], short.schedule);
    assert_eq!(long.schedule, schedule(&long.seed, 36, &[(0, 0), (0, 1)]));
}

#[test]
fn where_nothing_can_be_compared_nothing_is_looked_at() {
    let alone = "fs = \"ext4\"\ndevice = \"loop:2G\"";
    let cold_and_warm = "fs = [\"ext4\", \"tmpfs\"]\ndevice = \"loop:2G\"";
    let memories = "fs = \"ext4\"\ndevice = \"loop:2G\"\nmemory = [\"64M\", \"none\"]";
    for factors in [alone, cold_and_warm, memories] {
        for run in ["", "cap = 8"] {
            let plan = with(run, factors);
            assert_eq!(verdict(&plan).rule, Rule::Fixed { blocks: 3 }, "{factors}");
            assert_eq!((verdict(&plan).spare_blocks, plan.blocks), (0, 3));
            assert!(plan.schedule.iter().all(|slot| slot.block < 3));
        }
        assert_eq!(with("blocks = 7", factors).blocks, 7, "unless it is given");
    }
    let limits = "fs = \"ext4\"\ndevice = \"loop:2G\"\nmemory = [\"64M\", \"128M\"]";
    assert_eq!(verdict(&with("", limits)).rule, Rule::Looks { cap: 32 }, "both are limited");
}

#[test]
fn looks_go_where_contenders_turn_out_to_be_missing() {
    let mut plan = with("seed = 3", TWO);
    let whole = plan.clone();
    settle_rule(&mut plan);
    assert_eq!(plan, whole, "there is something to decide");
    let reason = "mkfs.xfs is missing".to_owned();
    plan.not_run.push(NotRun { contender: 1, workload: Some(0), reason });
    plan.schedule.retain(|slot| slot.contender == 0);
    settle_rule(&mut plan);
    assert_eq!((verdict(&plan).rule, plan.blocks), (Rule::Fixed { blocks: 3 }, 3));
    assert_eq!(plan.schedule.len(), 3);
}

#[test]
fn pairs_are_of_contenders_that_can_be_compared() {
    let plan = with("", "fs = [\"ext4\", \"tmpfs\", \"xfs\", \"btrfs\"]\ndevice = \"loop:2G\"");
    let pairs = |plan: &RunPlan| plan.asked_pairs(&verdict(plan).questions[0]);
    assert_eq!(pairs(&plan), [(0, 2), (0, 3), (2, 3)], "tmpfs is warm");
    let based =
        with("baseline = \"xfs\"", "fs = [\"ext4\", \"xfs\", \"btrfs\"]\ndevice = \"ram:2G\"");
    assert_eq!(pairs(&based), [(0, 1), (1, 2)]);
    let start = with("", "fs = \"ext4\"\ndevice = \"loop:2G\"\ncache = [\"cold-start\", \"warm\"]");
    let questions = &verdict(&start).questions;
    assert_eq!(start.asked_pairs(&questions[0]), [], "one is cold, the other warm");
    assert_eq!(start.asked_pairs(&questions[1]), [(0, 1)], "both are warm by then");
    assert_eq!(headline(&start), "small-files:read", "the first that has a pair");
}

#[test]
fn questions_are_asked_as_written_in_the_order_of_the_work() {
    let run = "ask = [\"small-files:stat:cpu\", \"small-files:*\", \"*:read:p99\", \
               \"small-files:create:time:returned\", \"small-files:delete:written\"]";
    let plan = with(run, TWO);
    let all = [
        "small-files:create",
        "small-files:create:time:returned",
        "small-files:read",
        "small-files:read:p99",
        "small-files:read-random",
        "small-files:stat:cpu",
        "small-files:stat",
        "small-files:delete",
        "small-files:delete:written",
    ];
    assert_eq!(asked(&plan), all);
    assert_eq!(headline(&plan), "small-files:stat:cpu", "the first as written");
    let clocks: Vec<(Metric, Clock)> =
        verdict(&plan).questions.iter().map(|one| (one.metric, one.clock)).collect();
    assert_eq!(clocks[3], (Metric::P99, Clock::Returned));
    assert_eq!(clocks[5], (Metric::Cpu, Clock::Durable));
    assert_eq!(clocks[8], (Metric::Written, Clock::Drained));
    let one = with("ask = \"small-files:stat\"\nheadline = \"small-files:stat\"", TWO);
    assert_eq!((asked(&one), headline(&one)), (vec![headline(&one)], headline(&one)));
    let returned = with("compare = \"returned\"\nask = \"*:read\"", TWO);
    assert_eq!(verdict(&returned).questions[0].clock, Clock::Returned);
}

#[test]
fn what_programs_do_has_no_latency_of_ops() {
    let work = "name = \"w\"\ndataset = \"small-1000\"\n\
                phases = [\"copy\", { name = \"by-engine\", op = \"copy\", by = \"engine\" }]";
    let text = file(TWO).replace("use = \"small-files\"", work);
    let text = text.replace("[factors]", "[run]\nask = [\"w:*:p99\"]\n[factors]");
    assert_eq!(asked(&plan(&text).unwrap()), ["w:by-engine:p99"]);
}

#[test]
fn a_baseline_is_a_label_or_a_file_system_as_written() {
    let of = |baseline: &str, factors: &str| {
        let plan = with(&format!("baseline = \"{baseline}\""), factors);
        let Pairs::Baseline { contender } = verdict(&plan).pairs else { panic!("no baseline") };
        plan.contenders[contender].label.clone()
    };
    let modes = "fs = [\"xfs:noatime\", \"ext4\"]\ndevice = \"loop:2G\"\n[factors.ext4]\n\
                 mount = [\"data=ordered\", \"data=writeback\"]";
    assert_eq!(of("xfs noatime", modes), "xfs noatime");
    assert_eq!(of("xfs:noatime", modes), "xfs noatime");
    assert_eq!(of("ext4 data=writeback", modes), "ext4 data=writeback");
    assert_eq!(of("ext4:data=writeback", modes), "ext4 data=writeback");
    let common = "fs = [\"ext4:noatime:data=ordered\", \"xfs:noatime\"]\ndevice = \"loop:2G\"";
    assert_eq!(of("ext4:noatime:data=ordered", common), "ext4 data=ordered", "as written");
    assert_eq!(of("ext4:data=ordered:noatime", common), "ext4 data=ordered", "in another order");
    assert_eq!(of("ext4#2", "fs = [\"ext4\", \"ext4\"]\ndevice = \"loop:2G\""), "ext4#2");
}

#[test]
fn options_take_the_place_of_the_file() {
    let text = file(TWO).replace(
        "[factors]",
        "[run]\ncap = 8\nbudget = \"4 min\"\nmargin = \"2%\"\nask = \"small-files:*\"\n\
         headline = \"small-files:stat\"\n[factors]",
    );
    let experiment = parse(&text, "t.toml").unwrap();
    let of = |overrides: Overrides| expand(&experiment, &overrides, &TestRules).unwrap();
    let fixed = of(Overrides { runs: Some("5".to_owned()), ..Overrides::default() });
    assert_eq!(verdict(&fixed).rule, Rule::Fixed { blocks: 5 });
    assert_eq!(verdict(&fixed).budget_ns, None, "five are five");
    let fit = of(Overrides { runs: Some("4..12".to_owned()), ..Overrides::default() });
    assert_eq!(verdict(&fit).rule, Rule::Fit { least: 4, most: 12 });
    assert_eq!(verdict(&fit).budget_ns, Some(240_000_000_000), "as many as fit into it");
    assert_eq!((verdict(&fit).spare_blocks, fit.blocks), (2, 14));
    let some = |text: &str| Some(text.to_owned());
    let longer = of(Overrides {
        cap: Some(48),
        budget: some("2h"),
        margin: some("0.1"),
        baseline: some("xfs"),
        ask: some("small-files:create, small-files:read:cpu"),
        ..Overrides::default()
    });
    let longer_verdict = verdict(&longer);
    assert_eq!(longer_verdict.rule, Rule::Looks { cap: 48 });
    assert_eq!(longer_verdict.budget_ns, Some(7_200_000_000_000));
    assert_eq!(longer_verdict.margin, 0.1);
    assert_eq!(longer_verdict.pairs, Pairs::Baseline { contender: 1 });
    assert_eq!(asked(&longer), ["small-files:create", "small-files:read:cpu"]);
    assert_eq!(headline(&longer), "small-files:create", "that of the file went with its list");
    let other = of(Overrides { headline: some("small-files:read"), ..Overrides::default() });
    assert_eq!(headline(&other), "small-files:read");
    let both = Overrides { runs: Some("5".to_owned()), budget: some("1h"), ..Overrides::default() };
    assert_eq!(verdict(&of(both)).budget_ns, Some(3_600_000_000_000));
    // Questions about a workload that is not picked go with it.
    let picked = of(Overrides { workloads: some("big-file"), ..Overrides::default() });
    assert_eq!(asked(&picked), ["big-file:big-write", "big-file:big-read"]);
    assert_eq!(headline(&picked), "big-file:big-write");
}

#[test]
fn the_command_line_alone_has_up_to_32_blocks_and_time() {
    let overrides = Overrides { runs: None, ..options("ext4,xfs", &["loop:2G"]) };
    let experiment = from_options(&overrides).unwrap();
    let lines: Vec<&str> = experiment.text.lines().skip_while(|line| *line != "[run]").collect();
    assert_eq!(lines[1..3], ["cap = 32", "seed = 7"]);
    assert!(!experiment.text.contains("budget"));
    let plan = expand(&experiment, &overrides, &TestRules).unwrap();
    assert_eq!(verdict(&plan).rule, Rule::Looks { cap: 32 });
    let again = expand(&parse(&experiment.text, "t").unwrap(), &Overrides::default(), &TestRules);
    assert_eq!(again.unwrap(), plan);
}

#[test]
fn quick_is_one_look_and_the_five_years_are_looked_at_within_an_hour() {
    for name in builtin::experiment_names() {
        let experiment = builtin::experiment(name).unwrap();
        let plan = expand(&experiment, &Overrides::default(), &TestRules).unwrap();
        let rule = match name {
            "quick" | "quick-all" => Rule::Fit { least: 4, most: 24 },
            "small-devices" | "io500-like" => Rule::Fixed { blocks: 4 },
            "2008-32-against-64" => Rule::Fixed { blocks: 4 },
            _ => Rule::Looks { cap: 32 },
        };
        assert_eq!(verdict(&plan).rule, rule, "{name}");
        if matches!(rule, Rule::Looks { .. }) {
            assert_eq!(verdict(&plan).budget_ns, Some(3_600_000_000_000), "{name}");
        }
    }
}

#[test]
fn a_handicap_is_a_level_with_a_label() {
    let both = plan(&file("fs = \"ext4\"\ndevice = \"loop:2G\"\nhandicap = [\"0 ms\", \"30 ms\"]"));
    let both = both.unwrap();
    assert_eq!(labels(&both), "ext4 handicap=0ms\next4 handicap=30ms");
    let levels: Vec<u64> = both.contenders.iter().map(|one| one.levels.handicap_ns).collect();
    assert_eq!(levels, [0, 30_000_000]);
    let none = plan(&file("fs = \"ext4\"\ndevice = \"loop:2G\"\nhandicap = \"0 ms\"")).unwrap();
    assert_eq!(labels(&none), "ext4");
    assert_eq!(none.contenders[0].id(), both.contenders[0].id(), "none is none");
    let one = plan(&file("fs = \"tmpfs\"\ndevice = \"loop:2G\"\nhandicap = \"1500 us\"")).unwrap();
    assert_eq!(labels(&one), "tmpfs handicap=1500us");
    let overrides = Overrides {
        levels: [("handicap", "0ms,2s".to_owned())].into(),
        baseline: Some("ext4 handicap=0ms".to_owned()),
        ..options("ext4", &["loop:2G"])
    };
    let plan = expand(&from_options(&overrides).unwrap(), &overrides, &TestRules).unwrap();
    assert_eq!(labels(&plan), "ext4 handicap=0ms\next4 handicap=2s");
    assert_eq!(verdict(&plan).pairs, Pairs::Baseline { contender: 0 });
}

/// As many blocks as fit are written and read the same, and three are enough where nothing can be
/// compared.
#[test]
fn a_range_of_blocks_is_a_rule_of_its_own() {
    let read = |blocks: &str| {
        let run = format!("[run]\nblocks = {blocks}\nbudget = \"4 min\"\n[factors]");
        parse(&file(TWO).replace("[factors]", &run), "t.toml")
    };
    let experiment = read("\" 4 .. 12 \"").unwrap();
    let plan = expand(&experiment, &Overrides::default(), &TestRules).unwrap();
    assert_eq!(verdict(&plan).rule, Rule::Fit { least: 4, most: 12 });
    let written = to_toml(&experiment);
    assert!(written.contains("\nblocks = \"4..12\"\n"), "{written}");
    let again = expand(&parse(&written, "t").unwrap(), &Overrides::default(), &TestRules);
    assert_eq!(again.unwrap(), plan);
    let alone = Overrides { fs: Some("ext4".to_owned()), ..Overrides::default() };
    let alone = expand(&experiment, &alone, &TestRules).unwrap();
    assert_eq!((verdict(&alone).rule, alone.blocks), (Rule::Fixed { blocks: 3 }, 3));
    for (number, blocks) in [("\"7\"", 7), ("7", 7), ("\"7..7\"", 7)] {
        let plan = expand(&read(number).unwrap(), &Overrides::default(), &TestRules).unwrap();
        assert_eq!(verdict(&plan).rule, Rule::Fixed { blocks }, "{number}");
    }
    for bad in ["\"12..4\"", "\"0..4\"", "\"4..1001\"", "\"4..\"", "\"a..b\"", "\"few\"", "true"] {
        let error = read(bad).unwrap_err().to_string();
        assert!(error.contains("blocks"), "{bad}: {error}");
    }
}

/// Everything that a file can say of verdicts is written back as it was.
#[test]
fn settings_are_written_and_read_the_same() {
    let overrides = Overrides {
        runs: None,
        cap: Some(16),
        margin: Some("12.5%".to_owned()),
        budget: Some("90 s".to_owned()),
        baseline: Some("xfs".to_owned()),
        ask: Some("small-files:*,small-files:read:cpu".to_owned()),
        headline: Some("small-files:read:cpu".to_owned()),
        levels: [("handicap", "0ms,1ms".to_owned())].into(),
        ..options("ext4", &["loop:2G"])
    };
    let experiment = apply(&builtin::experiment("quick").unwrap(), &overrides).unwrap();
    let written = to_toml(&experiment);
    let run: Vec<&str> = written
        .lines()
        .skip_while(|line| *line != "[run]")
        .take_while(|line| !line.is_empty())
        .collect();
    insta::assert_snapshot!(run.join("\n"), @r#"
    [run]
    cap = 16
    seed = 7
    scale = 0.25
    compare = "durable"
    sample_period = "100 ms"
    verify = false
    rate = "auto"
    margin = "12.5%"
    budget = "90s"
    baseline = "xfs"
    ask = ["small-files:*", "small-files:read:cpu"]
    headline = "small-files:read:cpu"
    "#);
    assert!(written.contains("handicap = [\"0ms\", \"1ms\"]"), "{written}");
    assert_eq!(to_toml(&parse(&written, "again.toml").unwrap()), written);
}
