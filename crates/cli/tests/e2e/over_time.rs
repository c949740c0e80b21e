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
    shown.says(&["over time", "longest op", "ops/s", "\u{d7} 10.0 ms"]);
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
