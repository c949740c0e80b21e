//! What is written reads back: everything that a file can say survives `to_toml`.

use crate::rules::TestRules;
use fsarena_plan::{Experiment, Overrides, expand, parse, to_toml};
use proptest::prelude::*;

fn size() -> impl Strategy<Value = String> {
    prop_oneof![
        (0u64..1 << 22).prop_map(|size| format!("{size}")),
        (0u64..9000, 0u64..9000).prop_map(|(min, more)| format!(
            "{{ uniform = {{ min = {min}, max = {} }} }}",
            min + more
        )),
        (1u64..9000, 0.001f64..10.0, 0u64..1 << 22).prop_map(|(median, sigma, more)| {
            let max = median + more;
            format!("{{ lognormal = {{ median = {median}, sigma = {sigma:?}, max = {max} }} }}")
        }),
        prop::collection::btree_map(0u64..1 << 20, 1u32..1000, 1..6).prop_map(|pairs| {
            let pairs: Vec<String> =
                pairs.iter().map(|(value, weight)| format!("[{value}, {weight}]")).collect();
            format!("{{ weighted = [{}] }}", pairs.join(", "))
        }),
    ]
}

fn files() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u64..3000).prop_map(|files| format!("files = {files}")),
        (1u64..300, 0u64..30, 1u32..6).prop_map(|(dirs, files, depth)| format!(
            "dirs = {dirs}\nper_dir = {files}\ndepth = {depth}"
        )),
        (1u64..300, 0u64..9, 1u64..30).prop_map(|(dirs, min, more)| {
            let max = min + more;
            format!("dirs = {dirs}\nper_dir = {{ uniform = {{ min = {min}, max = {max} }} }}")
        }),
        (10u64..300, 5u32..255).prop_map(|(dirs, length)| {
            format!("files = {}\ndirs = {dirs}\nname_length = {length}", dirs * 3)
        }),
    ]
}

fn phase() -> impl Strategy<Value = String> {
    let op = prop::sample::select(vec![
        "read",
        "stat",
        "overwrite",
        "append",
        "rename",
        "list",
        "big-read",
        "big-overwrite",
        "randread",
        "randwrite",
        "randrw",
        "delete",
    ]);
    let keys = prop::sample::subsequence(
        vec![
            "bs = \"8K\"",
            "timed = true",
            "order = \"random\"",
            "fsync = \"end\"",
            "threads = 2",
            "sharing = \"shared\"",
            "backend = \"io_uring\", iodepth = 7",
        ],
        0..4,
    );
    (op, keys).prop_map(|(op, keys)| {
        let keys: String = keys.iter().map(|key| format!(", {key}")).collect();
        format!("{{ op = \"{op}\"{keys} }}")
    })
}

fn factors() -> impl Strategy<Value = String> {
    prop::sample::subsequence(
        vec![
            "ssd = [\"none\", \"blkdiscard\", \"precondition\"]",
            "scheduler = [\"default\", \"none\", \"mq-deadline\"]",
            "read_ahead = [\"0 B\", \"128 KiB\", \"default\"]",
            "write_cache = \"write-back\"",
            "discard = \"on\"",
            "memory = [\"64M\", \"none\"]",
            "handicap = [\"0 ms\", \"1500 us\", \"2 s\"]",
        ],
        0..4,
    )
    .prop_map(|lines| lines.join("\n"))
}

/// How a RUN is decided; some questions are about phases that there may not be.
fn run() -> impl Strategy<Value = String> {
    let rule = prop::sample::select(vec!["", "blocks = 7", "cap = 8", "cap = 48"]);
    let keys = prop::sample::subsequence(
        vec![
            "budget = \"90 s\"",
            "ask = [\"w:*\", \"*:read:cpu\", \"w:*:time:returned\"]",
            "headline = \"w:read\"",
            "baseline = \"ext4\"",
            "steal_limit = \"none\"",
            "foreign_limit = \"none\"",
        ],
        0..5,
    );
    let margin = prop_oneof![
        Just(String::new()),
        (1u32..=100).prop_map(|percent| format!("margin = \"{percent}%\"")),
        (0.000_001f64..=1.0).prop_map(|share| format!("margin = {share:?}")),
    ];
    (rule, keys, margin)
        .prop_map(|(rule, keys, margin)| format!("{rule}\n{margin}\n{}", keys.join("\n")))
}

/// All that an experiment says, without the places where it says it.
fn facts(experiment: &Experiment) -> String {
    let workloads: Vec<_> = experiment.workloads.iter().map(|work| &work.value).collect();
    let plan = expand(experiment, &Overrides::default(), &TestRules);
    format!("{workloads:?}\n{:?}", plan.map_err(|error| error.what))
}

fn text((run, factors): (&str, &str), work: &str) -> String {
    format!(
        "schema = 1\nname = \"t\"\n[run]\n{run}\n[factors]\nfs = \"ext4\"\n\
         device = [\"loop:8G\", \"/dev/vdb\"]\n{factors}\n[[workload]]\nname = \"w\"\n{work}\n"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Many mixtures are illegal; those that are not read back as they were.
    #[test]
    fn an_experiment_that_is_read_is_written_and_read_the_same(
        run in run(),
        factors in factors(),
        files in files(),
        size in size(),
        phases in prop::collection::vec(phase(), 1..4),
        defaults in prop::sample::select(vec!["", "threads = 2\nsharing = \"shared\"", "bs = 512"]),
    ) {
        let phases = phases.join(", ");
        let work = format!("{files}\nsize = {size}\n{defaults}\nphases = [{phases}]");
        if let Ok(experiment) = parse(&text((&run, &factors), &work), "t.toml") {
            let written = to_toml(&experiment);
            let again = parse(&written, "again.toml");
            prop_assert!(again.is_ok(), "{}\n{written}", again.unwrap_err());
            let again = again.unwrap();
            prop_assert_eq!(facts(&again), facts(&experiment), "{}", written);
            prop_assert_eq!(to_toml(&again), written);
        }
    }

    /// Job files hold quotes, backslashes and braces.
    #[test]
    fn a_job_file_is_written_and_read_the_same(
        comment in "[ -~\t]{0,30}",
        quotes in prop::sample::select(vec!["", "'", "'''", "\"\"\"", "\\", "ü"]),
    ) {
        let jobs = format!("; {comment}{quotes}\n[a]\nrw=read\nsize=1m\n; {quotes}");
        let quoted = toml::Value::String(jobs.clone()).to_string();
        let experiment = parse(&text(("", ""), &format!("fio = {quoted}")), "t.toml").unwrap();
        prop_assert_eq!(experiment.workloads[0].value.fio.as_deref(), Some(jobs.as_str()));
        let again = parse(&to_toml(&experiment), "again.toml").unwrap();
        prop_assert_eq!(facts(&again), facts(&experiment));
    }
}
