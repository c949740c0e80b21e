//! Ops and latencies over the time of a phase.

use crate::support::{TestEnv, assert_nothing_left};

const EXPERIMENT: &str = r#"
schema = 1
name = "over-time"

[run]
blocks = 1

[factors]
device = "DIR"

[[workload]]
name = "blocks"
files = 1
size = "1 MiB"
bs = "4 KiB"
phases = [
    { op = "big-write", name = "make" },
    { op = "randwrite", name = "writes", ops = 1000, rate = 2000, latency_period = "10 ms" },
]
"#;

#[test]
fn periods_are_in_tables_json_and_the_page() {
    let env = TestEnv::new();
    let dir = env.make_dir("one");
    let file = env.write("over-time.toml", &EXPERIMENT.replace("DIR", &dir));
    let shown = env.run(&["run", &file]).good();
    shown.says(&["over time", "longest op", "ops/s", "\u{d7} 10.0"]);
    let json = env.run(&["show", "--json"]).good().json();
    let phase = &json["records"][0]["phases"][1];
    let periods = phase["latency_series"]["periods"].as_array().unwrap();
    // 500 ms at the set rate.
    assert!(periods.len() >= 50, "{periods:?}");
    let ops: u64 = periods.iter().map(|one| one["ops"].as_u64().unwrap()).sum();
    assert_eq!(ops, 1000);
    let page = env.path("page.html").display().to_string();
    env.run(&["report", "-o", &page]).good();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("longest op of a period, ms"), "a panel of the time series");
    assert_nothing_left(&env);
}

/// For hours: a phase that ends by the clock, with its ops and latencies over that time.
#[test]
fn random_ops_go_on_for_a_stated_time() {
    let env = TestEnv::new();
    let dir = env.make_dir("one");
    let of_time = EXPERIMENT.replace("ops = 1000, rate = 2000", "runtime = \"700 ms\"");
    let file = env.write("over-time.toml", &of_time.replace("DIR", &dir));
    let shown = env.run(&["run", &file, "--verify"]).good();
    shown.says(&["runtime of 700 ms", "time of an op", "over time"]);
    let record = env.records(1).remove(0);
    assert_eq!(record.verify.as_ref().map(|verify| verify.bad_files), Some(0));
    let phase = &record.phases[1];
    let returned_ns = phase.clocks.returned_ns;
    assert!((700_000_000..10_000_000_000).contains(&returned_ns), "{returned_ns}");
    assert!(phase.ops > 256, "more than each block once: {}", phase.ops);
    assert_eq!(phase.asked_bytes, phase.ops * 4096);
    // By the command line, of a workload that names a number of ops.
    let on = ["run", "--on", &dir, "--workload", "random-io", "--scale", "0.01", "--runs", "1"];
    env.run(&[&on[..], &["--runtime", "200ms"]].concat()).good();
    let record = env.records(2).remove(0);
    let timed: Vec<_> = record.phases.iter().filter(|p| p.io.runtime_ns.is_some()).collect();
    assert!(!timed.is_empty() && timed.iter().all(|p| p.clocks.returned_ns >= 200_000_000));
    let other = ["run", "--on", &dir, "--workload", "small-files", "--runtime", "1s"];
    env.run(&other).refused(2, &["--runtime: no timed phase is of random ops"]);
    assert_nothing_left(&env);
}

#[test]
fn a_period_that_cannot_be_is_refused_with_its_place() {
    let env = TestEnv::new();
    let dir = env.make_dir("one");
    let text = EXPERIMENT.replace("DIR", &dir);
    for (from, to, words) in [
        ("\"10 ms\"", "\"1 ms\"", "a latency period of 1.00 ms; use 10 ms to 1 h"),
        ("latency_period", "ranks = 2, threads = 2, latency_period", "with 2 ranks"),
        ("rate = 2000,", "threads = 65,", "with 65 threads"),
    ] {
        let file = env.write("bad.toml", &text.replace(from, to));
        env.run(&["run", &file]).refused(2, &["bad.toml", words]);
    }
}
