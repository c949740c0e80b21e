//! Files that fio 3.33 and hyperfine 1.20 wrote, and what people make of them. Of fio's the tables
//! of queue depths and percentiles were taken out, which are not read.

use crate::{import_text as text, terms};
use fsarena_foreign::import::{Given, ImportError, Imported, Terms, fio, hyperfine, notices};
use fsarena_model::record::{CacheState, Outcome, TrialRecord};
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Rule};
use fsarena_model::work::FreeQuantity;

fn given(label: &str, name: &str, text: &str) -> Given {
    let label = (!label.is_empty()).then(|| label.to_owned());
    Given { label, path: name.into(), text: text.to_owned() }
}

/// `ext4=fio_a1.json`, or a name alone.
fn files(all: &[&str]) -> Vec<Given> {
    let one = |spec: &&str| {
        let (label, name) = spec.split_once('=').unwrap_or(("", spec));
        given(label, name, &text(name))
    };
    all.iter().map(one).collect()
}

fn labels(imported: &Imported) -> Vec<&str> {
    imported.header.plan.contenders.iter().map(|one| one.label.as_str()).collect()
}

fn has_notice(record: &TrialRecord, code: &str) -> bool {
    record.notices.iter().any(|notice| notice.code == code)
}

/// The parts of a plan fit each other and its records.
fn is_sound(imported: &Imported) {
    let plan = &imported.header.plan;
    assert_eq!(plan.schedule.len(), imported.records.len());
    for (record, slot) in imported.records.iter().zip(&plan.schedule) {
        assert_eq!(record.key.contender, plan.contenders[slot.contender].id());
        assert_eq!(record.key.workload, plan.workloads[slot.workload].name);
        assert_eq!((record.key.block, record.key.position), (slot.block, slot.position));
        assert_eq!(record.key.run, imported.header.uid);
        assert!(has_notice(record, notices::FOREIGN));
        for phase in &record.phases {
            assert_eq!(phase.clocks.durable_ns, None, "nothing says when it was safe");
            assert!(phase.windows.is_empty());
        }
    }
    let ids: std::collections::BTreeSet<_> = plan.contenders.iter().map(|one| one.id()).collect();
    assert_eq!(ids.len(), plan.contenders.len());
    let ask = plan.verdict.as_ref().unwrap();
    assert_eq!(ask.rule, Rule::Fixed { blocks: plan.blocks });
    assert!(ask.questions.iter().all(|question| question.clock == Clock::Returned));
    assert_eq!(imported.header.host, fsarena_model::host::Host::default());
}

#[test]
fn files_of_fio_are_blocks_of_their_labels() {
    let all = ["ext4=fio_a1.json", "ext4=fio_a2.json", "xfs=fio_b1.json", "ext4=fio_a3.json"];
    let imported = fio(&files(&all), &terms()).unwrap();
    is_sound(&imported);
    let plan = &imported.header.plan;
    assert_eq!((labels(&imported), plan.blocks), (vec!["ext4", "xfs"], 3));
    let phases: Vec<&str> = plan.workloads[0].phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(phases, ["write", "read"]);
    let blocks: Vec<u32> = imported.records.iter().map(|record| record.key.block).collect();
    assert_eq!(blocks, [0, 0, 1, 2]);
    // The same amounts everywhere: the times are those of the file.
    let file: serde_json::Value = serde_json::from_str(&text("fio_a1.json")).unwrap();
    let written = &imported.records[0].phases[0];
    let job = &file["jobs"][0]["write"];
    assert_eq!(written.clocks.returned_ns, job["runtime"].as_u64().unwrap() * 1_000_000);
    assert_eq!(written.asked_bytes, job["io_bytes"].as_u64().unwrap());
    assert_eq!(written.ops, job["total_ios"].as_u64().unwrap());
    assert_eq!(written.latency.as_ref().unwrap().count(), written.ops, "json+ has histograms");
    assert_eq!(plan.workloads[0].free(0), FreeQuantity::Time, "the same amounts everywhere");
    let digest = &imported.records[0].device["imported_sha256"];
    assert!(digest.len() == 64 && digest != &imported.records[1].device["imported_sha256"]);
    assert_eq!(written.cache.state, CacheState::Unknown);
    let started = imported.records[0].started_unix_ns;
    assert_eq!(started, file["timestamp_ms"].as_u64().unwrap() * 1_000_000);
    assert!(imported.records[1].phases[0].latency.is_none(), "json has none");
}

#[test]
fn jobs_that_ran_for_a_set_time_are_compared_by_rate() {
    let mut timed = files(&["a=fio_t1.json", "b=fio_t2.json"]);
    // Ops of other sizes, whatever the options say.
    timed[1].text = timed[1].text.replace("\"bs\": \"8k\"", "\"bs\": \"4k\"");
    let imported = fio(&timed, &terms()).unwrap();
    is_sound(&imported);
    let questions = &imported.header.plan.verdict.as_ref().unwrap().questions;
    assert!(questions.iter().all(|question| question.metric == Metric::PerMib), "{questions:?}");
    let alone = fio(&files(&["a=fio_t1.json"]), &terms()).unwrap();
    assert_eq!(alone.header.plan.workloads[0].free(0), FreeQuantity::Ops);
    for (record, name) in imported.records.iter().zip(["fio_t1.json", "fio_t2.json"]) {
        let file: serde_json::Value = serde_json::from_str(&text(name)).unwrap();
        let job = &file["jobs"][0]["read"];
        let (bytes, ms) = (job["io_bytes"].as_u64().unwrap(), job["runtime"].as_u64().unwrap());
        let phase = &record.phases[0];
        assert_eq!((phase.clocks.returned_ns, phase.asked_bytes), (ms * 1_000_000, bytes));
        assert!(has_notice(record, notices::ONE_RUN));
        let figures = &phase.program.as_ref().unwrap().figures;
        assert_eq!(figures["read_bytes"], bytes.to_string(), "what was measured is kept");
    }
}

#[test]
fn clones_of_a_job_are_one_phase() {
    let imported = fio(&files(&["fio_n1.json"]), &terms()).unwrap();
    is_sound(&imported);
    assert_eq!(labels(&imported), ["fio_n1"], "named by its file");
    let phase = &imported.records[0].phases[0];
    assert_eq!((phase.name.as_str(), phase.asked_bytes), ("many", 2 << 20));
}

#[test]
fn a_job_that_failed_is_a_failed_trial() {
    let imported = fio(&files(&["a=fio_e1.json"]), &terms()).unwrap();
    is_sound(&imported);
    assert!(matches!(imported.records[0].outcome, Outcome::Failed { .. }));
    assert!(!imported.records[0].phases[0].is_complete());
}

#[test]
fn warnings_before_the_json_of_fio_are_passed_over() {
    let noisy = format!("fio: this platform does not support it\n{}\n", text("fio_b1.json"));
    let quiet = fio(&files(&["a=fio_b1.json"]), &terms()).unwrap();
    let imported = fio(&[given("a", "fio_b1.json", &noisy)], &terms()).unwrap();
    assert_eq!(
        (imported.header, &imported.records[0].phases),
        (quiet.header, &quiet.records[0].phases)
    );
}

#[test]
fn commands_of_hyperfine_are_contenders() {
    let imported = hyperfine(&files(&["hf_two.json"]), &terms()).unwrap();
    is_sound(&imported);
    assert_eq!(labels(&imported), ["sleep 0.02", "sleep 0.03"]);
    assert_eq!((imported.header.plan.blocks, imported.records.len()), (6, 12));
    let file: serde_json::Value = serde_json::from_str(&text("hf_two.json")).unwrap();
    let seconds = file["results"][1]["times"][2].as_f64().unwrap();
    let third = imported.records.iter().filter(|record| record.key.block == 2).nth(1).unwrap();
    assert_eq!(third.phases[0].clocks.returned_ns, (seconds * 1e9).round() as u64);
    assert!(has_notice(third, notices::NOT_INTERLEAVED) && !has_notice(third, notices::ONE_RUN));
    let parameters = hyperfine(&files(&["hf_par.json"]), &terms()).unwrap();
    let figures = &parameters.records[0].phases[0].program.as_ref().unwrap().figures;
    assert_eq!(figures["parameter.t"], "0.01");
}

/// As if the same had been measured a second time.
fn again(text: &str) -> String {
    text.replace("\"user\": 0.", "\"user\": 0.0")
}

#[test]
fn labels_of_hyperfine_are_contenders_and_commands_their_work() {
    let mut two = files(&["ext4=hf_two.json", "xfs=hf_two.json"]);
    two[1].text = again(&two[1].text);
    let imported = hyperfine(&two, &terms()).unwrap();
    is_sound(&imported);
    assert_eq!(labels(&imported), ["ext4", "xfs"]);
    let names: Vec<&str> =
        imported.header.plan.workloads.iter().map(|work| work.name.as_str()).collect();
    assert_eq!(names, ["sleep 0.02", "sleep 0.03"]);
    let one = |command: &str| format!(r#"{{"results":[{{"command":"{command}","times":[1,2]}}]}}"#);
    let apart = [given("a", "a.json", &one("cp /a")), given("b", "b.json", &one("cp /b"))];
    let imported = hyperfine(&apart, &terms()).unwrap();
    is_sound(&imported);
    assert_eq!(imported.header.plan.workloads.len(), 1, "one command each is the same work");
    let more = one("x").replace("[1,2]", "[1,3]");
    let more = [given("a", "a.json", &one("x")), given("a", "a2.json", &more)];
    assert_eq!(hyperfine(&more, &terms()).unwrap().header.plan.blocks, 4, "runs go on");
}

#[test]
fn the_same_command_twice_is_a_comparison_of_equals() {
    let twice = r#"{"results":[{"command":"x","times":[1,2]},{"command":"x","times":[3,4]}]}"#;
    let imported = hyperfine(&[given("", "aa.json", twice)], &terms()).unwrap();
    is_sound(&imported);
    assert_eq!(labels(&imported), ["x#1", "x#2"]);
}

#[test]
fn runs_of_hyperfine_that_failed_are_failed_trials() {
    let imported = hyperfine(&files(&["hf_fail.json"]), &terms()).unwrap();
    is_sound(&imported);
    let failed = |record: &&TrialRecord| matches!(record.outcome, Outcome::Failed { .. });
    assert_eq!(imported.records.iter().filter(failed).count(), 4);
    let words = serde_json::to_string(&imported.records[1].outcome).unwrap();
    assert!(words.contains("false: ended with exit code 1"), "{words}");
}

/// What each program says to a text, which stands in `x.json`.
fn error_text(
    program: fn(&[Given], &Terms) -> Result<Imported, ImportError>,
    text: &str,
) -> String {
    program(&[given("a", "x.json", text)], &terms()).unwrap_err().to_string()
}

#[test]
fn bad_files_are_named_with_the_place() {
    let good = text("fio_b1.json");
    let cut = &good[..good.len() / 2];
    let nothing = good.replace("\"total_ios\": ", "\"total_ios\": 0, \"was\": ");
    for (text, part) in [
        ("", "x.json: is empty; fio writes such a file with --output-format=json"),
        ("nonsense", "it has no JSON; it begins with \"nonsense\""),
        ("{\n\"results\": []\n}\n", "missing field `fio version`"),
        ("{\n\"fio version\": \"fio-3\", \"jobs\": []\n}\n", "missing"),
        ("{\n\"fio version\": \"fio-3\",\n\"jobs\": []\n}\n", "it has no jobs"),
        (cut, "EOF while parsing"),
        (&nothing, "did nothing"),
    ] {
        let error_text = error_text(fio, text);
        assert!(error_text.starts_with("x.json: "), "{error_text}");
        assert!(error_text.contains(part) || part == "missing", "{error_text}");
    }
    for (text, part) in [
        ("", "is empty; hyperfine writes such a file with --export-json"),
        ("{}", "missing field `results`"),
        (r#"{"results":[]}"#, "it has no results"),
        (r#"{"results":[{"command":"x","times":[1"#, "line 1 column"),
        (
            r#"{"results":[{"command":"x"}]}"#,
            "result 1 (\"x\"): it has neither times nor measurements of single runs",
        ),
        (r#"{"results":[{"command":"x","times":[1,0]}]}"#, "run 2 took 0 s, which cannot be"),
        (r#"{"results":[{"command":"x","times":[-1]}]}"#, "run 1 took -1 s"),
        (r#"{"results":[{"command":"x","times":[1],"exit_codes":[]}]}"#, ""),
        (r#"{"results":[{"command":"x","times":[1],"exit_codes":[0,0]}]}"#, "1 times and 2 exit"),
    ] {
        if part.is_empty() {
            hyperfine(&[given("a", "x.json", text)], &terms()).unwrap();
            continue;
        }
        let error_text = error_text(hyperfine, text);
        assert!(error_text.starts_with("x.json: ") && error_text.contains(part), "{error_text}");
    }
}

#[test]
fn files_that_do_not_go_together_are_refused() {
    let error = fio(&files(&["a=fio_a1.json", "b=fio_t1.json"]), &terms()).unwrap_err().to_string();
    assert!(error.starts_with("fio_t1.json: is of other work than fio_a1.json ("), "{error}");
    let mixed = files(&["a=hf_two.json", "hf_par.json"]);
    let error = hyperfine(&mixed, &terms()).unwrap_err().to_string();
    assert!(error.contains("write LABEL= before each file or none"), "{error}");
    let mut apart = files(&["a=hf_two.json", "b=hf_two.json"]);
    apart[1].text = again(&apart[1].text.replace("sleep", "rest"));
    let error = hyperfine(&apart, &terms()).unwrap_err().to_string();
    assert!(error.contains("stand in the files of no other label"), "{error}");
    assert!(fio(&[], &terms()).is_err() && hyperfine(&[], &terms()).is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}", at in 0usize..4000) {
        let good = self::text("fio_b2.json");
        let cut: String = good.chars().take(at).collect();
        let _ = fio(&[given("a", "x", &text)], &terms());
        let _ = fio(&[given("a", "x", &cut)], &terms());
        let _ = hyperfine(&[given("", "x", &text)], &terms());
    }
}
