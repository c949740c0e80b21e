//! `fsarena history`: RUNs of a command that takes longer from one RUN on.

use crate::support::{TestEnv, assert_nothing_left};
use serde_json::Value;

/// A directory, and a command that takes as long as a file says.
struct Fixture {
    env: TestEnv,
    experiment: String,
}

impl Fixture {
    fn new() -> Self {
        let env = TestEnv::new();
        let dir = env.make_dir("target");
        let seconds = env.write("seconds", "0.1");
        let text = format!(
            "schema = 1\nname = \"nightly\"\n[run]\nblocks = 2\nseed = 1\n\
             [factors]\ndevice = [{dir:?}]\ncache = \"warm\"\n\
             [[workload]]\nname = \"tool\"\ndataset = {{ small = 20 }}\n\
             [[workload.phases]]\nname = \"work\"\nop = \"command\"\n\
             run = \"sleep $(cat {seconds}); ls {{data}}\"\n"
        );
        let experiment = env.write("nightly.toml", &text);
        Self { env, experiment }
    }

    /// RUNs of a command that takes so long.
    fn nights(&self, runs: usize, seconds: &str) {
        self.env.write("seconds", seconds);
        for _ in 0..runs {
            self.env.run(&["run", &self.experiment, "--yes", "--no-report"]).good();
        }
    }

    fn history(&self, args: &[&str]) -> crate::support::Ran {
        self.env.run(&[&["history"], args].concat())
    }
}

#[test]
fn a_planted_change_is_marked_and_before_it_nothing_is() {
    let fixture = Fixture::new();
    fixture.nights(3, "0.1");
    let before = fixture.history(&["tool"]).good();
    before.says(&["3 RUNs, on ", "No change is decided: it takes 3 RUNs on each side"]);
    // Ten times as long: other tests that run meanwhile make one of them longer by half a second.
    fixture.nights(3, "1");
    let text = fixture.history(&["tool:work"]).good();
    text.says(&["Between RUN 3 (", "and RUN 4 (", "SLOWER", "3 RUNs before and 3 RUNs after."]);
    let document = fixture.history(&["tool", "--json"]).good().json();
    assert_eq!(
        (document["kind"].as_str(), document["schema"].as_u64()),
        (Some("history"), Some(2))
    );
    let series = &document["history"]["questions"][0]["series"][0];
    assert_eq!(series["unit"], "run");
    assert_eq!(series["points"].as_array().map(Vec::len), Some(6));
    assert!(series["points"][3]["value_ns"].as_f64().is_some_and(|ns| ns > 1e9), "{series}");
    let change = &series["changes"][0];
    assert_eq!((&change["before"], &change["after"]), (&Value::from(2), &Value::from(3)));
    assert_eq!(change["verdict"], "SLOWER");
    assert!(change["ratio"].as_f64().is_some_and(|ratio| (3.0..30.0).contains(&ratio)), "{change}");
    let chart = fixture.env.path("work.svg").display().to_string();
    let written = fixture.history(&["tool", "--markdown", "-o", &chart]).good();
    assert!(written.stdout.contains("| RUN 4 |") && written.stderr.contains("chart: "));
    let svg = std::fs::read_to_string(&chart).unwrap();
    assert!(svg.starts_with("<?xml") && svg.contains("SLOWER, takes") && svg.contains("RUN 6 ("));
    assert_nothing_left(&fixture.env);
}

#[test]
fn what_cannot_be_shown_is_refused_in_one_sentence() {
    let fixture = Fixture::new();
    fixture.history(&["tool"]).code(2).says(&["there is no database yet"]);
    fixture.nights(1, "0.01");
    for (args, said) in [
        (&["tol"][..], "no RUN has the workload tol; did you mean tool?"),
        (&["small-files"], "no RUN has the workload small-files; there are tool"),
        (&["tool:wrok"], "WORKLOAD: unknown timed phase \"wrok\"; did you mean \"work\"?"),
        (&["tool:work:p99"], "a program does the work, and its ops are not timed"),
        (&["tool:work:size"], "WORKLOAD: "),
        (&["tool", "--contender", "zfs"], "no RUN has the contender zfs; there are "),
        (&["tool", "--since", "soon"], "--since soon: expected a day or a time in UTC"),
        (&["tool", "--since", "2100-01-01"], "have the workload tool began before it"),
        (&["tool", "--margin", "200%"], "--margin 200%: expected a share"),
        (&["tool", "-o", "/nowhere/x.svg"], "/nowhere/x.svg: cannot be written"),
    ] {
        let refused = fixture.history(args).code(2).says(&[said]);
        assert_eq!(refused.stdout, "", "{args:?}");
    }
    let one = fixture.history(&["tool", "--by", "kernel", "--since", "2020-01-01"]).good();
    one.says(&["there is one RUN"]);
    assert_nothing_left(&fixture.env);
}
