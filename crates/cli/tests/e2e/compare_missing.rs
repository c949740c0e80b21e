//! `compare` where a contender has no figures: named in one line, in the document and in the CSV,
//! with exit codes that never take it for a pass.

use crate::support::{TestEnv, assert_nothing_left};
use serde_json::Value;

/// Three directories; in one of them the work fails.
struct Fixture {
    env: TestEnv,
    labels: [String; 3],
    experiment: String,
}

impl Fixture {
    fn new() -> Self {
        let env = TestEnv::new();
        let dirs = ["old", "new", "broken"].map(|name| env.make_dir(name));
        let text = format!(
            "schema = 1\nname = \"one-fails\"\n[run]\nblocks = 1\nseed = 1\n\
             baseline = \"directory on {}\"\n\
             [factors]\ndevice = {dirs:?}\ncache = \"warm\"\n\
             [[workload]]\nname = \"tool\"\ndataset = {{ small = 20 }}\n\
             [[workload.phases]]\nname = \"work\"\nop = \"command\"\n\
             run = \"case {{mnt}} in *broken*) exit 3;; esac; ls {{data}}\"\n\
             [[workload.phases]]\nname = \"again\"\nop = \"command\"\nrun = \"ls {{data}}\"\n",
            dirs[0]
        );
        let experiment = env.write("one-fails.toml", &text);
        Self { labels: dirs.map(|dir| format!("directory on {dir}")), env, experiment }
    }

    fn begin(&self) {
        let ran = self.env.run(&["run", &self.experiment, "--yes"]);
        assert!(matches!(ran.code, Some(0 | 1)), "{:?}: {}", ran.code, ran.stderr);
    }

    /// The exit code, and what is said of what is missing.
    fn compare(&self, args: &[&str], code: i32) -> (String, Vec<String>) {
        let ran = self.env.run(&[&["compare"], args].concat()).code(code);
        let about = |line: &&str| line.starts_with("not compared") || line.starts_with("nothing");
        let said = ran.stderr.lines().filter(about).map(str::to_owned).collect();
        (ran.stdout, said)
    }
}

#[test]
fn a_side_without_figures_is_never_a_pass() {
    let fixture = Fixture::new();
    let [old, new, broken] = &fixture.labels;
    fixture.begin();
    let pair = |a: &str| format!("{a},{old}");
    // One of two comparisons has figures, of one block: nothing is decided.
    for (args, code) in [
        (&["1"][..], 0),
        (&["1", "--fail-on", "slower"], 0),
        (&["1", "--fail-on", "missing"], 6),
        (&["1", "--fail-on", "slower,missing"], 6),
        (&["1", "--require-decision"], 4),
        (&["1", "--bisect"], 125),
    ] {
        let (_, said) = fixture.compare(args, code);
        assert_eq!(said.len(), 1, "{args:?}: {said:?}");
        let begin = format!("not compared: {broken} in tool:work (");
        assert!(said[0].starts_with(&begin), "{args:?}: {said:?}");
    }
    // Both have figures: only the verdict is open.
    let (both, open) = (pair(new), ["1", "--pair"]);
    let with = |more: &[&'static str]| [&open[..], &[both.as_str()], more].concat().join("\n");
    for (more, code) in [(&["--fail-on", "slower,missing"][..], 0), (&["--bisect"], 125)] {
        let args = with(more);
        let (_, said) = fixture.compare(&args.split('\n').collect::<Vec<_>>(), code);
        assert_eq!(said, [""; 0], "{more:?}");
    }
    // Neither: nothing was compared.
    for (more, code) in [(None, 6), (Some("--bisect"), 125)] {
        let none = pair(broken);
        let args: Vec<&str> = ["1", "--pair", &none].into_iter().chain(more).collect();
        let (_, said) = fixture.compare(&args, code);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[1].starts_with("nothing was compared: "), "{said:?}");
    }
    assert_nothing_left(&fixture.env);
}

#[test]
fn what_is_missing_is_in_the_document_and_in_the_csv() {
    let fixture = Fixture::new();
    let [old, new, broken] = &fixture.labels;
    fixture.begin();
    fixture.begin();
    for (args, kind) in [
        (&["1", "--all"][..], "compare-run"),
        (&["1", "2", "--all"], "compare-runs"),
        (&["--before", "1", "--after", "2", "--all"], "compare-sides"),
    ] {
        let (text, said) =
            fixture.compare(&[args, &["--json", "--fail-on", "missing"]].concat(), 6);
        assert_eq!(said.len(), 1, "{kind}: {said:?}");
        assert!(said[0].contains("in tool:work and tool:again ("), "{kind}: {said:?}");
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["kind"], kind);
        let missing = document["missing"].as_array().unwrap();
        let phases: Vec<&str> = missing.iter().filter_map(|one| one["phase"].as_str()).collect();
        assert_eq!(phases, ["work", "again"], "{kind}: {missing:?}");
        for one in missing {
            assert_eq!(one["workload"], "tool");
            assert!(one["contender"].as_str().unwrap().contains(broken.as_str()), "{kind}: {one}");
            assert!(!one["why"].as_str().unwrap().is_empty(), "{kind}: {one}");
        }
        let (csv, _) = fixture.compare(&[args, &["--csv"]].concat(), 0);
        let lines: Vec<&str> = csv.lines().collect();
        assert!(
            lines[0].starts_with("workload,phase,metric,clock,contender,compared_with,verdict")
        );
        let rows = lines.iter().filter(|line| line.contains(",UNDECIDED,")).count();
        // Both sides of a change are of each contender, and the baseline is one.
        assert_eq!(rows, if kind == "compare-sides" { 4 } else { 2 }, "{kind}: {csv}");
        assert_eq!(lines.len(), 1 + rows + missing.len(), "{kind}: {csv}");
        assert!(csv.contains(new.as_str()) && csv.contains(old.as_str()), "{kind}: {csv}");
    }
    let both = fixture.env.run(&["compare", "1", "--csv", "--json"]).code(2);
    both.says(&["--csv", "cannot be used with", "--json"]);
    assert_nothing_left(&fixture.env);
}
