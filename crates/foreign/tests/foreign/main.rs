//! Files that other programs wrote: what is read from them, and the RUNs that are made of them.
#![allow(clippy::unwrap_used)] // helpers of tests

mod cluster_programs;
mod formats;
mod import;
mod suites;

use fsarena_foreign::fio::{Outcome, OutputError, Report};
use fsarena_foreign::import::Terms;
use std::path::Path;

fn fixture(name: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    std::fs::read_to_string(dir.join(name)).unwrap()
}

/// A file of `import`.
fn import_text(name: &str) -> String {
    fixture(&format!("import/{name}"))
}

fn terms() -> Terms {
    Terms {
        uid: "0123456789abcdef".to_owned(),
        now_unix_ns: 1_767_225_600_000_000_000,
        program_version: "0.1.0".to_owned(),
        arguments: vec!["import".to_owned()],
        margin: 0.05,
    }
}

fn outcome(name: &str) -> Outcome {
    Outcome::parse(&fixture(name), "").unwrap()
}

fn figure<'a>(outcome: &'a Outcome, name: &str) -> &'a str {
    outcome.figures.get(name).unwrap_or_else(|| panic!("{name}: {:?}", outcome.figures))
}

#[test]
fn random_reads() {
    let outcome = outcome("randread.json");
    assert_eq!((outcome.ops, outcome.asked_bytes, outcome.written_bytes), (256, 1 << 20, Some(0)));
    assert_eq!(outcome.version, "fio-3.33");
    assert_eq!(outcome.error, None);
    let latency = outcome.latency.as_ref().unwrap();
    assert_eq!((latency.precision_bits, latency.count()), (6, 256));
    assert!(latency.min_ns <= latency.quantile_ns(0.5).unwrap());
    assert!(latency.sum_ns >= latency.min_ns * 256 && latency.sum_ns <= latency.max_ns * 256);
    assert!(latency.buckets.is_sorted());
    assert_eq!(outcome.write_latency, None, "there are no writes");
    assert_eq!(figure(&outcome, "latency_kind"), "clat");
    assert_eq!(figure(&outcome, "read_ops"), "256");
    assert!(!outcome.figures.contains_key("write_ops"));
}

/// fio's own percentiles say the middle of a bucket, ours its upper end: within one bucket.
#[test]
fn quantiles_are_those_of_fio() {
    let text = fixture("randrw_fsync.json");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let clat = &json["jobs"][0]["write"]["clat_ns"];
    let writes = outcome("randrw_fsync.json").write_latency.unwrap();
    for (key, share) in [("50.000000", 0.5), ("90.000000", 0.9), ("99.000000", 0.99)] {
        let theirs = clat["percentile"][key].as_u64().unwrap();
        let ours = writes.quantile_ns(share).unwrap();
        assert!(ours.abs_diff(theirs) <= theirs / 64 + 1, "{key}: {ours} against {theirs}");
    }
    assert_eq!(writes.min_ns, clat["min"].as_u64().unwrap());
    assert_eq!(writes.max_ns, clat["max"].as_u64().unwrap());
    let mean = clat["mean"].as_f64().unwrap();
    assert!((writes.sum_ns as f64 / writes.count() as f64 - mean).abs() < 0.01);
}

#[test]
fn mixed_with_fsync() {
    let outcome = outcome("randrw_fsync.json");
    assert_eq!((outcome.ops, outcome.asked_bytes), (256, 1 << 20));
    let reads: u64 = figure(&outcome, "read_ops").parse().unwrap();
    let writes: u64 = figure(&outcome, "write_ops").parse().unwrap();
    assert_eq!((reads, reads + writes), (131, 256));
    assert_eq!(outcome.written_bytes, Some(writes * 4096));
    assert_eq!(outcome.latency.as_ref().unwrap().count(), 256);
    assert_eq!(outcome.write_latency.as_ref().unwrap().count(), writes);
    let p50: u64 = figure(&outcome, "sync_p50_ns").parse().unwrap();
    let p999: u64 = figure(&outcome, "sync_p99.9_ns").parse().unwrap();
    let syncs: u64 = figure(&outcome, "sync_ops").parse().unwrap();
    assert!(syncs > 0 && 0 < p50 && p50 <= p999);
}

#[test]
fn clones_alone_and_as_a_group() {
    let (alone, grouped) = (outcome("numjobs.json"), outcome("grouped.json"));
    for outcome in [&alone, &grouped] {
        assert_eq!((outcome.ops, outcome.asked_bytes), (64, 4 << 20));
        assert_eq!(outcome.written_bytes, Some(4 << 20));
        assert_eq!(outcome.latency.as_ref().unwrap().count(), 64);
        assert_eq!(outcome.write_latency, None, "all are writes");
    }
    assert_eq!((figure(&alone, "jobs"), figure(&grouped, "jobs")), ("4", "1"));
}

#[test]
fn a_fixed_time() {
    let outcome = outcome("time_based.json");
    assert!((990_000_000..1_100_000_000).contains(&outcome.own_ns), "{}", outcome.own_ns);
    assert!(outcome.ops > 1000);
}

#[test]
fn no_space_left() {
    let (out, err) = (fixture("enospc.json"), fixture("enospc.err"));
    let outcome = Outcome::parse(&out, &err).unwrap();
    let error = outcome.error.unwrap();
    assert_eq!((error.errno, error.call.as_str(), error.path.as_str()), (28, "write", "full.0.0"));
    assert_eq!(error.text, "fio job full: No space left on device");
    assert_eq!(error.op_index, outcome.ops, "what was done before it is kept");
    assert_eq!((outcome.ops, outcome.asked_bytes), (16, 1 << 20));
}

#[test]
fn a_later_version_with_fields_that_are_not_known() {
    let outcome = outcome("newer.json");
    assert_eq!(outcome.version, "fio-3.41");
    assert_eq!((outcome.ops, outcome.asked_bytes, outcome.written_bytes), (6, 20480, Some(8192)));
    let latency = outcome.latency.unwrap();
    assert_eq!(
        latency.buckets,
        [(100, 1), (127, 1), (25_088, 2), (1_064_960, 1), (1_073_741_824, 1)]
    );
    assert_eq!((latency.min_ns, latency.max_ns), (100, 1_080_000_000));
    assert_eq!(outcome.figures["latency_kind"], "lat");
    assert_eq!(outcome.figures["trim_ops"], "1");
    assert_eq!(outcome.own_ns, 9_000_000);
}

#[test]
fn output_without_a_result() {
    let error = Outcome::parse("", "Bad option <bananas=3>\nfio: job j1 dropped\n").unwrap_err();
    assert!(matches!(error, OutputError::NoJson(_)));
    assert!(error.to_string().contains("Bad option <bananas=3> / fio: job j1 dropped"), "{error}");
    let error = Outcome::parse("{\n  \"fio version\" : \n", "").unwrap_err();
    assert!(matches!(error, OutputError::Json(_)));
    assert!(Outcome::parse("", "").unwrap_err().to_string().contains("nothing"));
}

#[test]
fn words_before_and_after_the_json() {
    let text = format!("note: both iodepth >= 1\n{}\nbye\n", fixture("randread.json"));
    assert_eq!(Outcome::parse(&text, "").unwrap().ops, 256);
}

#[test]
fn json_on_one_line() {
    let value: serde_json::Value = serde_json::from_str(&fixture("randread.json")).unwrap();
    let line = value.to_string();
    let jobs = |text: &str| {
        let reports = Report::parse_all(text).unwrap();
        assert_eq!(reports.len(), 1);
        reports.into_iter().next().unwrap().jobs
    };
    let whole = jobs(&fixture("randread.json"));
    assert_eq!(jobs(&line), whole);
    let text = format!("note {{x}}: {{\"a\": {{}}}}\nfio: both iodepth >= 1 {line}\nbye {{x\n");
    assert_eq!(jobs(&text), whole, "whatever stands before it");
    assert_eq!(Outcome::parse(&text, "").unwrap().ops, 256);
}

#[test]
fn errors_quote_little_of_what_is_not_ours() {
    let long = "ä".repeat(5000);
    let foreign = [
        long.clone(),
        format!("{{\"a\": \"{long}\"}}"),
        format!("{{\"fio version\": \"fio-3.33\", \"jobs\": \"{long}\"}}"),
        format!("{{\"{long}"),
        [long.as_str(); 9].join("\n"),
    ];
    for text in foreign {
        let error = Report::parse_all(&text).unwrap_err().to_string();
        assert!(error.chars().count() < 220, "{error}");
        assert!(error.matches('ä').count() <= 100, "{error}");
    }
    let error = Report::parse_all("{\"a\": {\"b\": 1}}").unwrap_err().to_string();
    assert!(error.contains("missing field `fio version` at line 1 column"), "{error}");
}

/// A fio of one job whose reads have these ends of their latency and these bins.
fn reads(min: u64, max: u64, bins: &str) -> Outcome {
    let clat = format!(r#"{{"min":{min},"max":{max},"mean":100.0,"N":3,"bins":{{{bins}}}}}"#);
    let read = format!(r#"{{"io_bytes":4096,"total_ios":3,"runtime":5,"clat_ns":{clat}}}"#);
    let job = format!(r#"{{"jobname":"a","read":{read}}}"#);
    let text = format!(r#"{{"fio version":"fio-3.36","jobs":[{job}]}}"#);
    Outcome::parse(&text, "").unwrap()
}

#[test]
fn extremes_that_contradict_the_bins_are_taken_from_them() {
    let ends = |outcome: &Outcome| {
        let latency = outcome.latency.as_ref().unwrap();
        (latency.min_ns, latency.max_ns)
    };
    let exact = reads(90, 1041, r#""100":2,"1040":1"#);
    assert_eq!(ends(&exact), (90, 1041));
    for (min, max) in [(0, 0), (90, 0), (2000, 1000), (u64::MAX, 0)] {
        let outcome = reads(min, max, r#""100":2,"1040":1"#);
        assert_eq!(ends(&outcome), (100, 1055), "{min} {max}");
        assert_eq!(figure(&outcome, "read_min_ns"), "100");
        assert_eq!(figure(&outcome, "read_p99_ns"), "1055");
    }
    assert_eq!(ends(&reads(0, 0, r#""0":3"#)), (0, 0), "all of them took no time");
    let many = format!(r#""0":{0},"1":{0}"#, u64::MAX);
    assert_eq!(figure(&reads(0, 0, &many), "read_max_ns"), "1");
}
