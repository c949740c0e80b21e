//! Tables, documents and pages as they are shown and published, over hand-made records.
#![allow(clippy::unwrap_used)] // helpers of tests

mod golden;
mod hostile;
mod page;

use fsarena_model::contender::DeviceLevel;
use fsarena_model::run::{NotRun, RunHeader, RunState};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{Rule, Stop, StopWhy};
use fsarena_report::schema::{KINDS, schema};
use fsarena_report::{
    AskedPhase, AskedPurpose, DeviceModel, DeviceModelAxis, DeviceModelCurve, DeviceModelCurveLine,
    DeviceModelLine, DeviceModelPoint, DeviceModelRow, MergedLine, PlanCost, PlanCostRow, PlanNeed,
    Run, RunLine, json,
};
use fsarena_study::study;
use fsarena_testkit::crash;
use fsarena_testkit::records::{self, contender};
use serde_json::Value;
use std::path::PathBuf;

fn published(kind: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    root.join(format!("{kind}.schema.json"))
}

#[test]
fn published_files_are_what_is_computed() {
    let writes = std::env::var_os("FSARENA_WRITE_SCHEMAS").is_some();
    let mut computed = 0;
    for (kind, _) in KINDS {
        // Of others the command line has the types.
        let Some(schema) = schema(kind) else { continue };
        computed += 1;
        let text = serde_json::to_string(&schema).unwrap() + "\n";
        if writes {
            std::fs::write(published(kind), &text).unwrap();
        }
        let known = std::fs::read_to_string(published(kind)).unwrap_or_default();
        let how = "write it anew: FSARENA_WRITE_SCHEMAS=1 cargo test -p fsarena-report";
        assert!(known == text, "docs/schemas/{kind}.schema.json is not what the types say; {how}");
    }
    let files = std::fs::read_dir(published("x").parent().unwrap()).unwrap().count();
    // And that of experiments, which `fsarena-plan` holds.
    assert_eq!(files, KINDS.len() + 1, "a file without a kind");
    assert_eq!(computed, 28);
    assert!(schema("nonsense").is_none());
}

/// Asserts that a document is what the schema of its kind says, and that the schema notices when a
/// part of it is missing.
fn is_valid(document: &Value) {
    let kind = document["kind"].as_str().unwrap();
    let schema = schema(kind).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(5)
        .collect();
    assert!(errors.is_empty(), "{kind}: {errors:#?}");
    for key in document.as_object().unwrap().keys() {
        if ["answer", "verdicts", "crash", "noise"].contains(&key.as_str()) {
            continue;
        }
        let mut less = document.clone();
        less.as_object_mut().unwrap().remove(key);
        assert!(!validator.is_valid(&less), "{kind}: {key} may be absent");
        let mut other = document.clone();
        other[key] = serde_json::json!({ "something": "else" });
        assert!(!validator.is_valid(&other), "{kind}: {key} may be anything");
    }
}

/// Every workload of the testkit on two file systems, four blocks, with questions.
fn sample() -> RunHeader {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let workloads = vec![
        records::small_files(),
        records::big_file(),
        records::metadata(),
        records::database(),
        records::fio_job(),
        records::real_work(),
    ];
    let mut header = records::header(contenders, workloads, 4);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 4 }));
    header.plan.not_run.push(NotRun {
        contender: 1,
        workload: Some(0),
        reason: "missing".to_owned(),
    });
    header
}

fn in_guest() -> DeviceLevel {
    DeviceLevel::Virtual {
        size_bytes: 1 << 30,
        model: "hdd-2007".to_owned(),
        kernel: "6.12.117-2df9cf6b7551".to_owned(),
        syscall_ns: 0,
    }
}

#[test]
fn runs_and_verdicts() {
    let header = sample();
    let records: Vec<_> =
        (0..header.plan.schedule.len() as u32).map(|at| records::record(&header, at)).collect();
    let sessions = [records::session("b", 0)];
    let study = study(&header, RunState::Done, &sessions, &records);
    let run = |verdicts| Run {
        id: 1,
        header: &header,
        sessions: &sessions,
        records: &records,
        study: &study,
        verdicts,
        crash: None,
        article: None,
    };
    is_valid(&json::show(&run(None)));
    let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    let stop = Some(Stop { blocks: 4, why: StopWhy::Cap });
    let verdicts = fsarena_verdict::verdicts(&header, &[], &scores, stop, &[]).unwrap();
    is_valid(&json::show(&run(Some(&verdicts))));
    is_valid(&json::verdicts(&verdicts));
    let asked = |workload: &str| AskedPurpose {
        name: "mail".to_owned(),
        title: "a mail server".to_owned(),
        phases: vec![AskedPhase { workload: workload.to_owned(), phase: "create".to_owned() }],
    };
    let asked = [asked(&header.plan.workloads[0].name), asked("nothing")];
    let advice = fsarena_report::advice(&run(Some(&verdicts)), &asked);
    is_valid(&json::document("advice", "purposes", &advice));
    let (header, sessions, records) = fsarena_report::anonymous(&header, &sessions, &records, &[]);
    let run = Run {
        id: 1,
        header: &header,
        sessions: &sessions,
        records: &records,
        study: &study,
        verdicts: None,
        crash: None,
        article: None,
    };
    is_valid(&json::show(&run));
    is_valid(&json::show(&Run { sessions: &[], records: &[], ..run }));
    let mut plan = header.plan.clone();
    plan.crash = Some(crash::plan());
    for contender in plan.contenders.iter_mut() {
        contender.levels.device = in_guest();
    }
    let header = RunHeader { plan, ..header.clone() };
    let traits = crash::Traits { loss_s: 40, damaged: 3, is_promised: true, ..Default::default() };
    let done = header.plan.crash_slots().into_iter();
    let mut done: Vec<_> = done.map(|slot| crash::run(&header, slot, traits)).collect();
    done[0] = crash::failed(done[0].slot, "the guest ended");
    let crash = fsarena_study::crash(&header.plan, &done).unwrap();
    assert_eq!((crash.rows.len() > 1, crash.failed.len()), (true, 1));
    let document = json::show(&Run { crash: Some(&crash), ..run });
    // The first contender has one run of this workload, and four power cuts alone have no interval.
    let window =
        |at: usize| document["crash"]["rows"][at]["figures"]["loss_window"]["p50_ns"].clone();
    assert!(window(0)["low"].is_null() && window(2)["low"].is_f64(), "{document}");
    is_valid(&document);
}

#[test]
fn plans_lists_and_merges() {
    let cost = PlanCost {
        rows: vec![PlanCostRow {
            contender: 0,
            workload: 0,
            trials: 4,
            least_trials: 4,
            expected_s: None,
            written_bytes: 1,
            source: "assumption".to_owned(),
        }],
        needs: vec![PlanNeed { workload: 0, needed_bytes: 1 }],
        ..PlanCost::default()
    };
    is_valid(&json::plan(&sample().plan, &cost));
    let line = RunLine {
        id: 1,
        uid: "0123456789abcdef".to_owned(),
        experiment: "quick".to_owned(),
        title: "t".to_owned(),
        has_own_title: false,
        created_unix_ns: 1,
        state: RunState::Interrupted,
        note: None,
        host: "h".to_owned(),
        trials_done: 1,
        trials_planned: 2,
        crash_runs_done: 0,
    };
    is_valid(&json::document("list", "runs", &[&line]));
    is_valid(&json::document("list", "runs", &Vec::<RunLine>::new()));
    let text = "taken".to_owned();
    let merged = MergedLine { there: line, here: Some(2), fate: text.clone(), text };
    is_valid(&json::merged(&[("other.db".to_owned(), vec![merged])]));
    is_valid(&json::document("datasets", "datasets", &Vec::<Value>::new()));
    is_valid(&json::doctor(&[], None));
}

#[test]
fn device_models() {
    let model = DeviceModelLine {
        name: "hdd-x".to_owned(),
        title: "A disk".to_owned(),
        kind: "rotating".to_owned(),
        capacity_bytes: 80_000_000_000,
        fitted: 1,
        held_out: 2,
        is_calibrated: true,
    };
    is_valid(&json::document("device-models", "models", &[&model]));
    let row = DeviceModelRow {
        probe: "seek, average".to_owned(),
        unit: "ms".to_owned(),
        measured: 8.1,
        published: None,
        deviation: None,
        role: None,
        source: None,
        is_near: None,
        remark: None,
    };
    let known = DeviceModelRow {
        published: Some(8.0),
        deviation: Some(0.0125),
        role: Some("fitted".to_owned()),
        source: Some("a data sheet".to_owned()),
        is_near: Some(true),
        ..row.clone()
    };
    let axis = DeviceModelAxis { words: "time".to_owned(), unit: "ms".to_owned(), is_log: false };
    let points = vec![DeviceModelPoint { at: 100.0, value: 15.8 }];
    let curve = DeviceModelCurve {
        name: "seek".to_owned(),
        title: "reads over their distance".to_owned(),
        along: axis.clone(),
        upright: axis,
        lines: vec![DeviceModelCurveLine { label: String::new(), points }],
    };
    let (rows, curves) = (vec![row, known], vec![curve]);
    let measured = DeviceModel { model, notes: Vec::new(), seed: 1, rows, curves };
    is_valid(&json::document("device-model", "device_model", &measured));
}
