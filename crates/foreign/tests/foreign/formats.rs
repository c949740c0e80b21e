//! Forms of what versions write, what is the same work, what is the same measurement.

use crate::{import_text as text, terms};
use fsarena_foreign::import::{
    Given, ImportError, Imported, Terms, bonnie, fio, hyperfine, ior, mdtest, notices, phoronix,
};
use fsarena_model::record::{CacheState, PhaseRecord};
use fsarena_model::work::FreeQuantity;

type Import = fn(&[Given], &Terms) -> Result<Imported, ImportError>;

fn given(label: &str, name: &str, text: &str) -> Given {
    let label = (!label.is_empty()).then(|| label.to_owned());
    Given { label, path: name.into(), text: text.to_owned() }
}

fn one(import: Import, name: &str) -> Imported {
    import(&[given("", name, &text(name))], &terms()).unwrap()
}

fn import_text(import: Import, text: &str) -> Result<Imported, ImportError> {
    import(&[given("a", "x", text)], &terms())
}

fn refused(import: Import, files: &[Given]) -> String {
    let error = import(files, &terms()).unwrap_err().to_string();
    assert!(!error.contains('\n') && !error.chars().any(char::is_control), "{error:?}");
    assert!(error.chars().count() < 400, "{error}");
    error
}

fn phases(imported: &Imported) -> Vec<&PhaseRecord> {
    imported.records.iter().flat_map(|record| &record.phases).collect()
}

fn ns_per_op(imported: &Imported, phase: &str) -> f64 {
    let all = phases(imported);
    let phase = all.iter().find(|own| own.name == phase).unwrap();
    phase.clocks.returned_ns as f64 / phase.ops as f64
}

fn notice_texts(imported: &Imported, code: &str) -> Vec<String> {
    let all = imported.records[0].notices.iter().filter(|notice| notice.code == code);
    all.map(|notice| notice.text.clone()).collect()
}

fn labels(imported: &Imported) -> Vec<&str> {
    imported.header.plan.contenders.iter().map(|one| one.label.as_str()).collect()
}

fn near(one: f64, other: f64) {
    assert!((one / other - 1.0).abs() < 1e-6, "{one} {other}");
}

#[test]
fn times_and_rates_of_mdtest_point_the_same_way() {
    let times = one(mdtest, "mdtest_40_times.txt");
    near(ns_per_op(&times, "file-creation"), 125e3);
    near(ns_per_op(&times, "tree-creation"), 1.2e6);
    assert_eq!(notice_texts(&times, notices::TIME_PER_OP).len(), 1);
    let slower = text("mdtest_40_times.txt").replace("0.125", "0.250");
    assert!(ns_per_op(&import_text(mdtest, &slower).unwrap(), "file-creation") > 200e3);
    // Rates and times of one run: the rates are taken, the times are kept.
    let both = one(mdtest, "mdtest_41_both.txt");
    assert_eq!(both.records.len(), 1);
    near(ns_per_op(&both, "file-creation"), 1e9 / 106_325.732);
    let kept = &phases(&both).into_iter().find(|own| own.name == "file-creation").unwrap().program;
    assert_eq!(kept.as_ref().unwrap().figures["mean_ms_per_op"], "0.001");
    let older = one(mdtest, "mdtest_33_both.txt");
    near(ns_per_op(&older, "file-creation"), 1e9 / 24_633.726);
    // Version 3 heads seconds of the phase; what has no digits is left out by name.
    let seconds = one(mdtest, "mdtest_33_times.txt");
    assert_eq!(phases(&seconds)[0].clocks.returned_ns, 5_000_000);
    assert!(
        notice_texts(&seconds, notices::TOO_SOON).iter().any(|text| text.contains("file-stat"))
    );
}

#[test]
fn of_figures_per_rank_and_per_iteration_those_of_all_ranks_are_taken() {
    let all = one(mdtest, "mdtest_34_ranks.txt");
    near(ns_per_op(&all, "file-creation"), 1e9 / 84_093.570);
    let later = one(mdtest, "mdtest_41_ranks.txt");
    near(ns_per_op(&later, "file-creation"), 1e9 / 30_350.399);
    let figures = &phases(&later)[0].program.as_ref().unwrap().figures;
    assert!(figures.contains_key("rank_mean_per_s") && figures.contains_key("mean_per_s"));
    let alone = "SUMMARY rate: (of 1 iterations)\n Operation per Rank: Max Min Mean\n";
    let error = refused(mdtest, &[given("a", "x", alone)]);
    assert!(error.contains("figures of single ranks alone"), "{error}");
}

#[test]
fn every_run_of_a_file_is_a_trial() {
    let whole = text("mdtest_1.txt");
    let later = whole.replace("207763.596", "107763.596");
    let two = import_text(mdtest, &format!("{whole}{later}")).unwrap();
    assert_eq!((two.records.len(), two.header.plan.blocks), (2, 2));
    let ior_text = text("ior_1.txt");
    let later = ior_text.replace("0.002484", "0.002485");
    assert_eq!(import_text(ior, &format!("{ior_text}{later}")).unwrap().records.len(), 6);
    let (first, second) = (text("fio_a1.json"), text("fio_a2.json"));
    let two = import_text(fio, &format!("{first}\n{second}")).unwrap();
    assert_eq!(two.records.len(), 2);
    assert!(notice_texts(&two, notices::UNDER_WAY).is_empty());
    // A report that is cut off is not passed over.
    let cut = &first[..first.len() / 2];
    for text in [format!("{second}\n{cut}"), format!("{cut}\n{second}")] {
        let error = refused(fio, &[given("a", "x", &text)]);
        assert!(error.contains("cut off"), "{error}");
    }
}

#[test]
fn reports_of_a_run_under_way_are_no_results() {
    let imported = one(fio, "fio_333_status.json");
    assert_eq!(imported.records.len(), 1);
    let last = phases(&imported)[0];
    assert!(last.clocks.returned_ns >= 3_000_000_000, "{}", last.clocks.returned_ns);
    assert!(notice_texts(&imported, notices::UNDER_WAY)[0].contains("reports of the same run"));
    // A set rate leaves the latency free.
    assert_eq!(last.free, Some(FreeQuantity::Latency));
    assert!(last.program.as_ref().unwrap().p99_ns.is_some());
}

#[test]
fn jobs_of_one_name_in_two_groups_are_two_phases() {
    let imported = one(fio, "fio_333_groups.json");
    let names: Vec<&str> = phases(&imported).iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["t (group 0)", "t (group 1)"]);
}

#[test]
fn directions_in_one_and_jobs_of_servers_are_read() {
    for (name, written) in [("fio_333_mixed.json", None), ("fio_342_mixed.json", None)] {
        let imported = one(fio, name);
        let phase = phases(&imported)[0];
        assert_eq!((phase.ops, phase.asked_bytes), (128, 512 << 10), "{name}");
        assert_eq!(phase.asked_written_bytes, written);
        assert!(phase.program.as_ref().unwrap().figures.contains_key("mixed_p99_ns"));
    }
    let both = one(fio, "fio_333_both.json");
    assert_eq!(phases(&both)[0].ops, 128, "not counted twice");
    let client = one(fio, "fio_333_client.json");
    assert_eq!(phases(&client).len(), 1);
    assert_eq!(phases(&client)[0].asked_bytes, 2 << 20, "the sum of all clients is none of them");
}

/// Written by hand after `stat.c` of fio 2.18: KiB and µs.
#[test]
fn units_of_fio_2_are_those_of_fio_2() {
    let job = r#"{"jobname":"a","error":0,"read":{"io_bytes":1024,"bw":1024,"iops":256.0,
        "runtime":1000,"total_ios":256,"clat":{"min":10,"max":900,"mean":50.0,
        "percentile":{"99.000000":700,"0.00":0}}},"write":{"io_bytes":0,"total_ios":0},
        "trim":{"io_bytes":0,"total_ios":0}}"#;
    let text = format!(r#"{{"fio version":"fio-2.18","timestamp":1500000000,"jobs":[{job}]}}"#);
    let imported = import_text(fio, &text).unwrap();
    let phase = phases(&imported)[0];
    assert_eq!((phase.asked_bytes, phase.ops), (1 << 20, 256));
    let program = phase.program.as_ref().unwrap();
    assert_eq!(
        (program.p99_ns, program.figures["read_mean_ns"].as_str()),
        (Some(700_000), "50000")
    );
}

#[test]
fn other_options_are_other_work() {
    let small = text("fio_a1.json");
    let large = text("fio_a2.json").replace("\"bs\": \"64k\"", "\"bs\": \"256k\"");
    let files = [given("a", "a.json", &small), given("b", "b.json", &large)];
    let error = refused(fio, &files);
    assert!(error.starts_with("b.json: is of other work than a.json ("), "{error}");
    assert!(error.contains("\"262144\" in place of \"65536\""), "{error}");
    // Spelt otherwise it is the same, and so it is elsewhere.
    let spelt = text("fio_a2.json").replace("\"bs\": \"64k\"", "\"blocksize\": \"65536\"");
    let spelt = spelt.replace("/srv/fio", "/mnt/other");
    let files = [given("a", "a.json", &small), given("b", "b.json", &spelt)];
    assert_eq!(fio(&files, &terms()).unwrap().header.plan.workloads.len(), 1);
    // Where labels share a work, the rest is told.
    let also = text("fio_a3.json");
    let files =
        [given("a", "a.json", &small), given("b", "b.json", &large), given("b", "c.json", &also)];
    let imported = fio(&files, &terms()).unwrap();
    assert_eq!(imported.header.plan.workloads.len(), 2);
    let words = notice_texts(&imported, notices::OTHER_WORK);
    assert!(words[0].contains("2 kinds of work") && words[0].contains("262144"), "{words:?}");
    for (import, name, from, to) in [
        (mdtest as Import, "mdtest_1.txt", "'-n' '100'", "'-n' '500'"),
        (ior, "ior_1.txt", "xfersize            : 1 MiB", "xfersize            : 2 MiB"),
        (ior, "ior_1.txt", "-t 1m", "-t 1m -e"),
        (ior, "ior_41.csv", ",64.0000,", ",128.0000,"),
        (bonnie, "bonnie_197.csv", "16G", "8G"),
    ] {
        let whole = text(name);
        let other = whole.replace(from, to);
        assert_ne!(whole, other, "{name}");
        let error = refused(import, &[given("a", "a", &whole), given("b", "b", &other)]);
        assert!(error.contains("is of other work than"), "{name}: {error}");
    }
}

#[test]
fn equal_contents_are_one_trial() {
    for (import, name) in [
        (fio as Import, "fio_a1.json"),
        (mdtest, "mdtest_1.txt"),
        (ior, "ior_1.txt"),
        (bonnie, "bonnie_1.csv"),
        (hyperfine, "hf_two.json"),
        (phoronix, "phoronix_1.xml"),
    ] {
        let whole = text(name);
        let once = import(&[given("a", "a", &whole)], &terms()).unwrap().records.len();
        let again = format!("{whole}\n");
        let files = [given("a", "a", &whole), given("a", "b", &again), given("a", "c", &whole)];
        let imported = import(&files, &terms()).unwrap();
        assert_eq!(imported.records.len(), once, "{name}");
        let words = notice_texts(&imported, notices::SAME_CONTENTS);
        assert!(words[0].contains("equal contents are one trial: b"), "{words:?}");
        let error = refused(import, &[given("a", "a", &whole), given("b", "b", &whole)]);
        assert!(error.contains("is the same as a"), "{error}");
    }
    // Inside another file, too.
    let (first, second) = (text("fio_a1.json"), text("fio_a2.json"));
    let files = [given("a", "a", &first), given("a", "b", &format!("{second}\n{first}"))];
    assert_eq!(fio(&files, &terms()).unwrap().records.len(), 2);
}

#[test]
fn forms_of_ior_say_the_same() {
    let json = one(ior, "ior_41.json");
    let csv = one(ior, "ior_41.csv");
    for imported in [&json, &csv, &one(ior, "ior_33.txt")] {
        for phase in phases(imported) {
            assert!(["write", "read"].contains(&phase.name.as_str()));
            let mib = phase.asked_bytes as f64 / 1_048_576.0;
            assert!((mib - 0.5).abs() < 0.01, "two tasks of 256 KiB: {mib}");
        }
    }
    assert_eq!((json.records.len(), csv.records.len()), (3, 3));
    // Four digits of a second are fewer than the rate has.
    let written = phases(&json)[0].clocks.returned_ns as f64;
    assert!((written / (0.5e9 / 3125.4128) - 1.0).abs() < 1e-3, "{written}");
    let stonewalled = one(ior, "ior_41_stonewall.txt");
    assert_eq!(phases(&stonewalled)[0].free, Some(FreeQuantity::Bytes));
    let unknown = text("ior_1.txt").replace("bw(MiB/s)", "bw(furlong)");
    let error = refused(ior, &[given("a", "x", &unknown)]);
    assert!(error.contains("has a column \"bw(furlong)\", which is not known"), "{error}");
}

#[test]
fn fields_of_bonnie_are_those_of_its_version() {
    let older = one(bonnie, "bonnie_197.csv");
    let length = |name: &str| {
        phases(&older).into_iter().find(|own| own.name == name).unwrap().clocks.returned_ns as f64
    };
    near(length("put-block"), 16.0 * 1_048_576e9 / 120_000.0);
    near(length("seeks").round(), (8192e9_f64 / 400.5).round());
    let newer = text("bonnie_1.csv").lines().next().unwrap().to_owned();
    let shifted = newer.replacen("1.98", "1.97", 1);
    let error = refused(bonnie, &[given("a", "x", &shifted)]);
    assert!(error.contains("has 50 fields, and the form 1.97 has 48"), "{error}");
}

#[test]
fn runs_of_hyperfine_2_and_parameters_are_read() {
    let second = one(hyperfine, "hf_200.json");
    assert_eq!(labels(&second), ["one", "sleep 2"]);
    assert_eq!(second.records.len(), 6);
    assert_eq!(phases(&second)[0].clocks.returned_ns, 1_000_000_000);
    let millis = text("hf_200.json").replace("\"second\"", "\"millisecond\"");
    assert_eq!(phases(&import_text(hyperfine, &millis).unwrap())[0].clocks.returned_ns, 1_000_000);
    let unknown = millis.replace("millisecond", "fortnight");
    let error = refused(hyperfine, &[given("a", "x", &unknown)]);
    assert!(error.contains("in \"fortnight\", which is not known"), "{error}");
    let parameters = one(hyperfine, "hf_120_parameters.json");
    assert_eq!(labels(&parameters), ["0, 0.01", "0, 0.02", "1, 0.01", "1, 0.02"]);
    let same = |fs: &str| {
        format!(r#"{{"command":"./t.sh","times":[1.0,1.1],"parameters":{{"fs":"{fs}"}}}}"#)
    };
    let text = format!(r#"{{"results":[{},{}]}}"#, same("ext4"), same("xfs"));
    let imported = hyperfine(&[given("", "x", &text)], &terms()).unwrap();
    assert_eq!(labels(&imported), ["ext4", "xfs"]);
    assert_eq!(imported.header.plan.workloads.len(), 1);
}

#[test]
fn results_of_phoronix_are_told_apart_by_scale_and_direction() {
    let whole = text("phoronix_1.xml");
    let start = whole.find("  <Result>").unwrap();
    let end = whole.find("</Result>").unwrap() + "</Result>".len();
    let iops = whole[start..end].replace("MB/s", "IOPS");
    let both = format!("{}\n{iops}{}", &whole[..end], &whole[end..]);
    let imported = import_text(phoronix, &both).unwrap();
    let names: Vec<&str> =
        imported.header.plan.workloads.iter().map(|work| work.name.as_str()).collect();
    assert_eq!(names, ["Big File (MB/s)", "Big File (IOPS)", "Small Files"]);
    let free: Vec<FreeQuantity> =
        imported.header.plan.workloads.iter().map(|work| work.free(0)).collect();
    assert_eq!(free, [FreeQuantity::Bytes, FreeQuantity::Ops, FreeQuantity::Time]);
    let points = whole.replace("<Proportion>HIB</Proportion>", "<Proportion></Proportion>");
    let words = notice_texts(&import_text(phoronix, &points).unwrap(), notices::NO_TIME);
    assert!(words[0].contains("nothing says what is better"), "{words:?}");
}

#[test]
fn refusals_are_one_line_without_the_file() {
    let long = format!("\u{1b}[31m{}\n", "x".repeat(100_000));
    for import in [fio as Import, hyperfine, mdtest, ior, bonnie, phoronix] {
        let error = refused(import, &[given("a", "x\u{1b}y", &long)]);
        assert!(error.contains("x\\u{1b}y: is not what") && error.contains("…"), "{error}");
    }
    let named = text("hf_two.json").replace("sleep 0.02", "a\\u001bb");
    let imported = hyperfine(&[given("", "x", &named)], &terms()).unwrap();
    assert_eq!(labels(&imported)[0], "a\\u{1b}b");
}

#[test]
fn nesting_is_read_in_a_time_that_grows_with_its_length() {
    let lines = "{\"a\":\n".repeat(400_000);
    for nested in [&lines.replace('\n', ""), &lines, &lines.replace(":\n", ":[")] {
        let started = std::time::Instant::now();
        let error = refused(fio, &[given("a", "x", nested)]);
        assert!(error.contains("too many braces that begin no report"), "{error}");
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }
}

#[test]
fn what_a_run_cannot_hold_is_refused_before_it_is_compared() {
    let result = |number: usize| {
        format!("{{\"command\":\"c{number}\",\"mean\":1.0,\"times\":[1.0],\"exit_codes\":[0]}}")
    };
    let results = (0..40_000).map(result).collect::<Vec<_>>().join(",");
    let started = std::time::Instant::now();
    let error = refused(hyperfine, &[given("", "x", &format!("{{\"results\":[{results}]}}"))]);
    assert!(error.contains("more than 200 contenders"), "{error}");
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn nothing_is_said_of_caches() {
    for (import, name) in [(fio as Import, "fio_a1.json"), (hyperfine, "hf_two.json")] {
        let imported = one(import, name);
        assert!(phases(&imported).iter().all(|phase| phase.cache.state == CacheState::Unknown));
    }
}
