//! What mdtest 4.1 and IOR 4.1 printed, and the RUNs that are made of it.

use crate::{import_text as text, terms};
use fsarena_foreign::import::{Given, ImportError, Imported, ior, mdtest, notices};

fn given(label: &str, text: &str) -> Given {
    Given { label: Some(label.to_owned()), path: "out.txt".into(), text: text.to_owned() }
}

/// Names of phases, and the length of each in the first record, ns.
fn lengths(imported: &Imported) -> Vec<(&str, u64)> {
    let phases = imported.records[0].phases.iter();
    phases.map(|phase| (phase.name.as_str(), phase.clocks.returned_ns)).collect()
}

fn error(result: Result<Imported, ImportError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn rows_of_mdtest_are_times_of_their_ops() {
    let whole = text("mdtest_1.txt");
    let other = whole.replace("207763.596", "100000.0");
    let third = whole.replace("207763.596", "300000.0");
    let files = [given("nfs", &whole), given("nfs", &other), given("local", &third)];
    let imported = mdtest(&files, &terms()).unwrap();
    let plan = &imported.header.plan;
    let labels: Vec<&str> = plan.contenders.iter().map(|one| one.label.as_str()).collect();
    assert_eq!((labels, plan.blocks), (vec!["nfs", "local"], 2));
    let of = |mean: f64| (200e9 / mean).round() as u64;
    let of_tree = |mean: f64| (1e12 / mean).round() as u64;
    let expected = [
        ("file-creation", of(207_763.596)),
        ("file-stat", of(909_026.431)),
        ("file-read", of(453_466.475)),
        ("file-removal", of(387_657.819)),
        ("tree-creation", of_tree(41_734.368)),
        ("tree-removal", of_tree(86_694.998)),
    ];
    assert_eq!(lengths(&imported), expected);
    let phase = &imported.records[0].phases[0];
    assert_eq!(phase.ops, 200);
    assert_eq!(phase.program.as_ref().unwrap().figures["std_dev_per_s"], "46978.916");
    let codes: Vec<&str> =
        imported.records[0].notices.iter().map(|notice| notice.code.as_str()).collect();
    assert!(codes.contains(&notices::RATES_ALONE) && codes.contains(&notices::FOREIGN));
}

#[test]
fn older_tables_of_mdtest_are_read_and_phases_that_were_left_out_are_not() {
    let old = "SUMMARY: (of 1 iterations)\n   Operation  Max Min Mean Std Dev\n   \
               File creation     :   2000.0  2000.0  2000.0  0.0\n   \
               File stat         :      0.0     0.0     0.0  0.0\n";
    let imported = mdtest(&[given("a", old)], &terms()).unwrap();
    assert_eq!(lengths(&imported), [("file-creation", 500_000_000)]);
}

#[test]
fn what_is_not_of_mdtest_is_refused_with_its_place() {
    let whole = text("mdtest_1.txt");
    let of = |text: &str| error(mdtest(&[given("a", &whole), given("a", text)], &terms()));
    for (text, words) in [
        ("", "is empty"),
        ("hello\n", "it has no table under SUMMARY; it begins with \"hello\""),
        (
            &whole.replace("207763.596", "-1"),
            "out.txt: line 14: has a mean of \"-1\", which cannot be",
        ),
        (&whole.replace("207763.596", "much"), "line 14: has a mean of \"much\", which cannot be"),
        (&whole.replace("   File removal", "   Other"), "line 17: has a row \"Other"),
        (&whole.replace("Std Dev", "Median"), "has a column \"Median\", which is not known"),
        (&whole.replace("ops/sec", "ops/min"), "heads a table \"SUMMARY rate (in ops/min)"),
    ] {
        let found = of(text);
        assert!(found.contains(words), "{words}: {found}");
    }
}

#[test]
fn iterations_of_ior_are_blocks() {
    let whole = text("ior_1.txt");
    let other = whole.replace("0.002484", "0.002485");
    let imported = ior(&[given("nfs", &whole), given("local", &other)], &terms()).unwrap();
    let plan = &imported.header.plan;
    assert_eq!((plan.contenders.len(), plan.blocks), (2, 3));
    assert_eq!(imported.records.len(), 6);
    let names: Vec<&str> = lengths(&imported).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["write", "read"]);
    for phase in imported.records.iter().flat_map(|record| &record.phases) {
        let mib = phase.asked_bytes as f64 / 1_048_576.0;
        assert!((mib - 8.0).abs() < 0.1, "two tasks of 4 MiB each: {mib}");
        let figures = &phase.program.as_ref().unwrap().figures;
        let seconds: f64 = figures["total(s)"].parse().unwrap();
        // The rate has more digits than the time.
        let returned_s = phase.clocks.returned_ns as f64 / 1e9;
        assert!((returned_s / seconds - 1.0).abs() < 1e-3, "{returned_s} {seconds}");
    }
}

#[test]
fn what_is_not_of_ior_is_refused_with_its_place() {
    let of = |text: &str| error(ior(&[given("a", text)], &terms()));
    assert!(of("").contains("is empty"));
    assert!(of("hello\n").contains("it has no table that begins with access"));
    assert!(of("access  bw(MiB/s)\n").contains("has no column total(s)"));
    let head = "access bw(MiB/s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter\n";
    assert!(of(head).contains("begins a table that has no lines of write or read"));
    let line = |rate: &str, seconds: &str| format!("{head}write {rate} 1 1 0 0 0 {seconds} 0\n");
    assert!(of(&line("10", "-1")).contains("line 2: has a rate or time that cannot be"));
    assert!(of(&line("x", "1")).contains("line 2: has no rate and time"));
    let twice = format!("{}write 10 1 1 0 0 0 1 0\n", line("10", "1"));
    assert!(of(&twice).contains("line 3: has \"write\" a second time for one iteration"));
}
